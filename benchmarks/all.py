"""Make the records of speed and memory anew, one after the other, all on one commit.

    python benchmarks/all.py --data DATA --work WORK [--only speed,growth] [--minutes 120]

Nothing else should run on the machine. The checkout must hold what is committed, so that a record's commit says what
was measured. A script that has been recorded on this commit is not run again, so that the command can be given again
after an interruption; ``--minutes`` begins no script after so many. At the end it tells which targets are met, beside
those of the records before, and the exit code is 1 where a script failed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from common import RESULTS, commit, say

# those of times first: they want a machine that has done nothing else
SCRIPTS: dict[str, tuple[str, ...]] = {
    "fresh": (),
    "engine": (),
    "speed": (),
    "growth": (),
    "gaps": (),
    "serving": (),
    "memory": (),
    "segmentation": ("--cache",),
    "linking": ("--cache",),
}
WITHOUT_CORPORA = ("engine", "serving")
Claims = dict[str, dict[str, Any]]


def record(name: str) -> dict[str, Any]:
    """What a script found last; nothing where it has never run."""
    path = RESULTS / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


def line(name: str, data: Path, work: Path) -> list[str]:
    """The command of a script."""
    script = str(Path(__file__).with_name(f"{name}.py"))
    corpora = [] if name in WITHOUT_CORPORA else ["--data", str(data)]
    cache = [part for option in SCRIPTS[name] for part in (option, str(work / name))]
    return [sys.executable, script, *corpora, *cache]


def checks(found: dict[str, Any]) -> Claims:
    """The targets of a record, by what they claim."""
    return {check["claim"]: check for check in found.get("checks", ())}


def told(name: str, before: Claims, after: Claims) -> None:
    """Say which targets are met, and what was found before."""
    for claim, check in after.items():
        old = f", before {before[claim]['found']:.4g}" if claim in before else ""
        met = "met   " if check["met"] else "MISSED"
        say(f"{met} {name}: {claim}: {check['found']:.4g}, {check['target']}{old}")


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path, help="the folder that holds the corpora")
    parser.add_argument("--work", required=True, type=Path, help="a folder for predictions that are kept")
    parser.add_argument("--only", default=",".join(SCRIPTS), help="names of scripts, with commas [all]")
    parser.add_argument("--minutes", type=float, help="begin no script after so many")
    chosen = parser.parse_args()
    names = chosen.only.split(",")
    if unknown := sorted(set(names) - set(SCRIPTS)):
        parser.error(f"no script {', '.join(unknown)}; there are {', '.join(SCRIPTS)}")
    head, began = commit(), time.monotonic()
    if not head or head.endswith("changed"):
        parser.error("source or scripts differ from what is committed; commit first, then measure")
    failed, work = [], chosen.work / head  # what other commits predicted is not what this one does
    for name in names:
        before = record(name)
        if before.get("commit") == head:
            say(f"{name}: recorded on {head} already")
            continue
        if chosen.minutes is not None and time.monotonic() - began > 60 * chosen.minutes:
            say(f"{name}: not begun, {chosen.minutes:g} minutes are over; give the command again")
            continue
        say(f"\n== {name}, on {head}")
        (work / name).mkdir(parents=True, exist_ok=True)
        if subprocess.run(line(name, chosen.data, work), check=False).returncode:
            failed.append(name)
        told(name, checks(before), checks(record(name)))
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
