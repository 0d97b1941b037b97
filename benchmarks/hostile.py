"""Hostile campaigns in their long form: nothing torn, lost or left behind, no exception that nobody expected.

    python benchmarks/hostile.py [--only kills-by-clock kills] [--count models=100]

The sections are those of `tests/hostile/campaign`. Kills: runs of every verb that writes are killed, terminated or
interrupted at random moments, of the clock and of the program, over an old output or over none. Faults: every step
with which an output is written fails, or is the last that the process makes. After each the output has to be the old
one or the new, and the next run has to remove whatever was left. Reading changes nothing.

Readers: damaged files of every format and vocabulary are read, or refused in one line; some of what was read is written
in another format and read again. Models: values of saved models are changed and the checksum made right; they are
refused, or used without harm, in a process each. Round trips: random documents through every pair of formats; what is
not the same afterwards was told by a writer. Encoders, ready models: as models, of those with an encoder or a graph of
ONNX, and of those that are installed as packages.

Lakes: jobs are killed when some fragments are done and others are not; the next gives the bytes of an undisturbed one.
Strangers: downloads with made-up journals, ledgers, leases, checkpoints and work folders are read and written to, while
Python's audit events (and, traced, all system calls, by strace) show that nothing outside the output is changed.
Requests: 5,000 to one server, whose memory may not grow.

Sections are kept in the record: with --only, others stay as they are, with the commit that they were run on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from common import Result, commit, machine, options, run_cases, say, timed

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "hostile"))

from campaign.frame import section
from campaign.judge import PROMISES

# of faults, all cases; of damaged files and models so many of each kind; of documents so many through every pair
COUNTS = {
    "kills-by-clock": 200, "kills": 200, "kills-models": 110, "faults": 1000, "faults-models": 1000, "readers": 10_000,
    "models": 1000, "round-trips": 500, "encoders": 1000, "ready-models": 1000, "lakes": 30, "strangers": 1000,
    "strangers-traced": 140, "requests": 5000,
}  # fmt: skip
INPUTS = (
    "readers", "models", "round-trips", "encoders", "ready-models", "lakes", "strangers", "strangers-traced",
    "requests",
)  # fmt: skip


class Section(NamedTuple):
    """A part of the record.

    Args:
        name: of the section.
    """

    name: str


def measured(name: str, chosen: argparse.Namespace) -> dict[str, Any]:
    """A section's record, when and on which commit it was run, and the seconds that it took."""
    own = dict(pair.split("=") for pair in chosen.count)
    count = min(COUNTS[name], int(own.get(name, COUNTS[name])))
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        seconds, record = timed(lambda: section(name)(range(count), chosen.seed, Path(folder)))
    say(f"{name}: {seconds.wall:.0f} s\n{record}")
    return {
        "commit": commit(), "date": date.today().isoformat(), "seconds": seconds.wall,
        "processor": machine()["processor"], **record.values(),
    }  # fmt: skip


def written(kept: Mapping[str, Any], chosen: argparse.Namespace) -> None:
    """The tables and the targets of all sections that are in the record."""
    result = Result("Runs that are killed, disks that fail, files and models that are damaged", chosen.seed)
    result.table(
        "Sections", ("section", "cases", "seconds", "date", "commit", "seed", "processor"),
        [
            [name, sum(sum(counts.values()) for counts in one["counts"].values()), round(one["seconds"]), one["date"],
             one["commit"], one["seed"], one.get("processor", "not noted")]
            for name in COUNTS
            if (one := kept.get(name)) is not None
        ],
    )  # fmt: skip
    for name in (name for name in COUNTS if name in kept):
        tell(result, name, kept[name])
    result.data["cases"] = kept
    result.save(chosen.out)


def tell(result: Result, name: str, one: Mapping[str, Any]) -> None:
    """The table of a section, and its targets."""
    outcomes: Counter[str] = sum(map(Counter, one["counts"].values()), Counter())
    result.at_most(f"{name}: broken promises", len(one["broken"]), 0)
    title, notes = "what came of them", one["broken"]
    if name not in INPUTS:
        for promise in PROMISES:
            result.at_most(f"{name}: {promise}", outcomes[promise], 0)
        title = "runs by what happened to them and by what was there afterwards"
        whole = "`none`, `old` and `new` are whole; `undone` is what stood there before, put back by the next writer."
        notes = [whole, *notes]
    shown = sorted(outcomes)
    rows = [[group, *(counts.get(one, 0) for one in shown)] for group, counts in sorted(one["counts"].items())]
    result.table(f"{name}: {title}", ["", *shown], rows, *notes)


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", nargs="+", choices=COUNTS, help="these sections; the record keeps the others")
    parser.add_argument("--count", nargs="+", default=[], metavar="SECTION=N", help="cases of a section, at most")
    parser.add_argument("--folder", help="where outputs are written, such as a folder on the disk to be tried")


def main() -> None:
    """Run them."""
    chosen = options("hostile", __doc__, _more, corpora=False)
    run_cases(chosen, map(Section, COUNTS), lambda one: measured(one.name, chosen), lambda kept: written(kept, chosen))


if __name__ == "__main__":
    main()
