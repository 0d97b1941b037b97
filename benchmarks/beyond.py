"""Training on more text than fits in memory: GENIA's training text many times, with a folder and in memory.

    python benchmarks/beyond.py --data DATA [--work FOLDER] [--copies 20] [--case adagrad]

Each training is a process of its own. What its largest memory is, is asked of the system while it runs: all resident
memory, in which pages of the folder's files count that were looked at lately, and of it what is anonymous, that of the
program alone. Before that a model of GENIA itself is trained both ways, and the files of both must be the same bytes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import Result, corpus, options, say, timed
from spanloom import Document, Recognizer, read
from spanloom.recognize import Progress

LIMIT = 4.0  # GB, 2^30 bytes
EVERY = 0.05  # seconds from one look at a process to the next
CASES: dict[str, dict[str, Any]] = {
    "adagrad": {"optimizer": "adagrad", "epochs": 2},
    "lbfgs": {"optimizer": "lbfgs", "iterations": 5},
    "rescored": {"optimizer": "adagrad", "epochs": 2, "rescore": True},
}


def recognizer(case: str, jobs: int) -> Recognizer:
    """Untrained."""
    settings = {"rescore": False, "l2": 1.0, "pos": None, "min_count": 2, **CASES[case]}
    return Recognizer("separators", "genia", n_jobs=jobs, **settings)


def copies(folder: Path, times: int, limit: int | None) -> Iterator[Document]:
    """GENIA's training text so many times, one document at a time."""
    for number in range(times):
        for at, document in enumerate(read(folder / "genia" / "train.jsonl")):
            if limit is not None and at >= limit:
                break
            yield document.copy(id=f"{number}-{document.id}")


def train(chosen: argparse.Namespace) -> None:
    """Train in this process, and print what it took as JSON."""
    dev = corpus(chosen.data, "genia", "dev", chosen.limit)
    steps: list[dict[str, Any]] = []

    def note(step: Progress) -> None:
        steps.append({"stage": step.stage, "step": step.step, "seconds": round(step.seconds, 1)})

    model, text = recognizer(chosen.case, chosen.jobs), copies(chosen.data, chosen.times, chosen.limit)
    seconds, _ = timed(lambda: model.fit(text, dev=dev, progress=note, work=chosen.folder))
    report = model.report_
    model.save(chosen.model)
    print(json.dumps({"seconds": seconds.wall, "tokens": report.tokens, "sentences": report.sentences,
                      "rows": report.rows, "f1": report.dev_f1, "steps": steps}))  # fmt: skip


def measure(chosen: argparse.Namespace, case: str, times: int, model: Path, folder: Path | None) -> dict[str, Any]:
    """Train in a process of its own, and look at its memory meanwhile."""
    given = ["--data", chosen.data, "--case", case, "--times", times, "--model", model, "--jobs", chosen.jobs]
    given += [] if folder is None else ["--folder", folder]
    given += [] if chosen.limit is None else ["--limit", chosen.limit]
    line = [sys.executable, __file__, *map(str, given)]
    peak = {"resident": 0.0, "anonymous": 0.0, "folder": 0.0}
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            for name, found in memory(process.pid).items():
                peak[name] = max(peak[name], found)
            if folder is not None:
                peak["folder"] = max(peak["folder"], size(folder))
            time.sleep(EVERY)
        assert process.stdout is not None
        out = process.stdout.read()
    if process.returncode:
        raise SystemExit(f"{case}, {times} times: exit code {process.returncode}")
    found = {**json.loads(out), **peak}
    say(f"{case}, {times} times, {'folder' if folder else 'memory'}: {found}")
    return found


def memory(process: int) -> dict[str, float]:
    """All resident memory of a process, and what of it is anonymous, in GB (2^30 bytes)."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:  # it has just ended
        return {}
    values = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    fields = {"resident": "VmRSS", "anonymous": "RssAnon"}
    return {name: int(values[field][0]) / 2**20 for name, field in fields.items() if field in values}


def size(folder: Path) -> float:
    """What the files of a folder take, in GB."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except OSError:  # it has just been removed
            continue
    return total / 2**30


def report(chosen: argparse.Namespace) -> None:
    """GENIA itself both ways, then many times."""
    result, rows, found = Result("Training on more text than fits in memory", chosen.seed), [], {}
    place = Path(tempfile.mkdtemp(dir=chosen.work))
    try:
        for case in chosen.cases:
            runs = [(1, True), (1, False), (chosen.copies, True), *([(chosen.memory, False)] if chosen.memory else [])]
            for times, on_disk in runs:
                name = f"{case}-{times}-{'folder' if on_disk else 'memory'}"
                folder = place / f"{name}-work" if on_disk else None
                found[name] = one = measure(chosen, case, times, place / name, folder)
                told = [one[key] for key in ("sentences", "tokens", "resident", "anonymous", "folder", "seconds")]
                rows.append([case, times, "folder" if on_disk else "memory", *told, 100 * one["f1"]])
            same = files(place / f"{case}-1-folder") == files(place / f"{case}-1-memory")
            result.at_least(f"{case}: GENIA's model is the same bytes with a folder and in memory", float(same), 1)
            peak = found[f"{case}-{chosen.copies}-folder"]["resident"]
            result.at_most(f"{case}, {chosen.copies} times, with a folder: resident memory, GB", peak, LIMIT)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    result.table(
        "Largest memory, GB (2^30 bytes)",
        ("training", "times GENIA", "held in", "sentences", "tokens", "resident", "of it anonymous", "folder", "s",
         "development F1"),
        rows,
        f"Preset `genia`, separators, features of two tokens at least, {chosen.jobs} thread(s). All copies are alike, "
        "so there are as many features as in GENIA; more text of its kind has more, whose weights are in memory. "
        "AdaGrad makes 2 passes, L-BFGS 5 iterations.",
    )  # fmt: skip
    result.data["runs"] = found
    result.save(chosen.out)


def files(folder: Path) -> dict[str, bytes]:
    """The files of a model."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--copies", type=int, default=20, help="of GENIA's training text, with a folder [20]")
    parser.add_argument("--memory", type=int, default=4, help="of it, in memory; 0 for none [4]")
    parser.add_argument("--cases", nargs="*", default=["adagrad"], choices=[*CASES], help="[adagrad]")
    parser.add_argument("--work", type=Path, help="where folders are made [that of temporary files]")
    parser.add_argument("--jobs", type=int, default=1, help="threads [1]")
    parser.add_argument("--limit", type=int, help="use only so many sentences, to try the script")
    for hidden in ("--case", "--folder", "--model", "--times"):
        parser.add_argument(hidden, type=int if hidden == "--times" else str, help=argparse.SUPPRESS)


def main() -> None:
    """Measure, or be measured."""
    chosen = options("beyond", __doc__, _more)
    if chosen.case:
        train(chosen)
    else:
        report(chosen)


if __name__ == "__main__":
    main()
