"""A fresh machine: how soon the command answers, the first time and afterwards.

    python benchmarks/fresh.py --data DATA

Each verb is run as a program of its own, twice: first with no compiled bytecode of Python, then with what that left.
The big model is trained on GENIA; as it uses parts of speech, its sentence comes with them, in a native record.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from common import Result, Seconds, corpus, options, say
from spanloom.data import clinical
from spanloom.formats import write

SENTENCE = "IL-2 gene expression and NF-kappa B activation through CD28 require reactive oxygen production.\n"
FIRST_LIMIT, PREDICT_LIMIT, HELP_LIMIT = 5.0, 1.5, 0.5  # seconds


def spanloom(arguments: Sequence[str | Path], cache: Path) -> Seconds:
    """Seconds of a run of the command, with this folder as cache of Python's bytecode.

    Raises:
        SystemExit: the command failed.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    command = [sys.executable, "-m", "spanloom.cli", *map(str, arguments)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return Seconds(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def first_runs(result: Result, folder: Path) -> None:
    """Each verb with an empty cache, then with a full one."""
    notes, model, sentence = clinical(), folder / "clinical", folder / "sentence.txt"
    sentence.write_text(SENTENCE, encoding="utf-8")
    training = ["--train", notes / "train", "--dev", notes / "dev", "--output", model, "--force", "--quiet"]
    verbs: dict[str, list[str | Path]] = {
        "train recognizer (the bundled notes)": ["train", "recognizer", *training],
        "predict (one sentence)": ["predict", model, sentence, "--output", folder / "found.jsonl", "--force"],
        "evaluate --model (the bundled notes)": ["evaluate", notes / "test", "--model", model],
        "demo": ["demo", "--quiet"],
    }
    table = []
    for number, (name, arguments) in enumerate(verbs.items()):
        cache = folder / f"cache{number}"
        first, second = spanloom(arguments, cache), spanloom(arguments, cache)
        table.append([name, first.wall, second.wall, first.wall - second.wall, first.cpu, second.cpu])
        say(f"{name}: {first.wall:.1f} s, then {second.wall:.1f} s")
    result.table(
        "The first run and the second, seconds", ("verb", "first", "second", "difference", "first, CPU", "second, CPU"),
        table,
    )  # fmt: skip
    for name, first, second, *_ in table:
        result.at_most(f"the first run of {name} over the second, seconds", first - second, FIRST_LIMIT)
    result.data["first runs"] = table


def answering(result: Result, chosen: argparse.Namespace, folder: Path) -> None:
    """Warm: one sentence with a small and with a big model, and the help."""
    cache, big, sentence = folder / "warm", folder / "genia", folder / "sentence.txt"
    train, dev, record = folder / "train.jsonl", folder / "dev.jsonl", folder / "record.jsonl"
    write(corpus(chosen.data, "genia", "train", chosen.limit), train)
    write(corpus(chosen.data, "genia", "dev", chosen.limit), dev)
    write(corpus(chosen.data, "genia", "test", 1), record)
    seconds = spanloom(
        ["train", "recognizer", "--train", train, "--dev", dev, "--output", big, "--features", "genia", "--clusters",
         "100", "--epochs", "2", "--quiet"], cache,
    )  # fmt: skip
    say(f"trained the GENIA model in {seconds.wall:.0f} s")
    size = sum(path.stat().st_size for path in big.iterdir()) / 1e6
    runs: dict[str, Callable[[], Seconds]] = {
        "--help": lambda: spanloom(["--help"], cache),
        "--version": lambda: spanloom(["--version"], cache),
        "predict, model of the bundled notes": lambda: spanloom(["predict", folder / "clinical", sentence], cache),
        f"predict, model of GENIA ({size:.0f} MB)": lambda: spanloom(["predict", big, record], cache),
    }
    for run in runs.values():
        run()
    timed = {name: [run() for _ in range(chosen.repeats)] for name, run in runs.items()}
    rows = [
        [name, *(statistics.median(s[i] for s in some) for i in (0, 1)), max(s.wall for s in some)]
        for name, some in timed.items()
    ]
    result.table("Warm: seconds until the command has answered", ("command", "median", "CPU", "slowest"), rows)
    for name, wall, *_ in rows:
        result.at_most(f"warm: {name}, seconds", wall, PREDICT_LIMIT if "predict" in name else HELP_LIMIT)
    result.data["answering"] = {name: [s._asdict() for s in some] for name, some in timed.items()}


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repeats", type=int, default=7, help="of the warm commands [7]")
    parser.add_argument("--limit", type=int, help="train the big model on so many sentences only, to try the script")


def main() -> None:
    """Measure, write."""
    chosen = options("fresh", __doc__, _more)
    result = Result("A fresh machine", chosen.seed)
    with tempfile.TemporaryDirectory() as name:
        first_runs(result, Path(name))
        answering(result, chosen, Path(name))
    result.save(chosen.out)


if __name__ == "__main__":
    main()
