"""Hostile campaigns in their long form: nothing torn, lost or left behind, no exception that nobody expected.

    python benchmarks/hostile.py [--sections kills-by-clock kills] [--count models=100]

The sections are those of `tests/hostile/campaign`. Kills: runs of every verb that writes are killed, terminated or
interrupted at random moments, of the clock and of the program, over an old output or over none. Faults: every step
with which an output is written fails, or is the last that the process makes. After each the output has to be the old
one or the new, for whoever reads it with Spanloom, and the next run has to remove whatever was left.

Readers: damaged files of every format and vocabulary are read, or refused in one line; some of what was read is written
in another format and read again. Models: values of saved models are changed and the checksum made right; they are
refused, or used without harm, in a process each. Round trips: random documents through every pair of formats; what is
not the same afterwards was told by a writer.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from common import Result, options, say, timed

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "hostile"))

from campaign.frame import Record, section
from campaign.judge import PROMISES

# of faults, all cases; of damaged files and models so many of each kind; of documents so many through every pair
COUNTS = {
    "kills-by-clock": 200, "kills": 200, "faults": 1000, "faults-models": 1000, "readers": 10_000, "models": 1000,
    "round-trips": 500,
}  # fmt: skip
INPUTS = ("readers", "models", "round-trips")


def campaign(name: str, chosen: argparse.Namespace) -> tuple[Record, float]:
    """A section's record, and the seconds that it took."""
    own = dict(pair.split("=") for pair in chosen.count)
    count = min(COUNTS[name], int(own.get(name, COUNTS[name])))
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        seconds, record = timed(lambda: section(name)(range(count), chosen.seed, Path(folder)))
    say(f"{name}: {seconds.wall:.0f} s\n{record}")
    return record, seconds.wall


def report(chosen: argparse.Namespace) -> None:
    """All sections that are asked for."""
    result = Result("Runs that are killed, disks that fail, files and models that are damaged", chosen.seed)
    records = {name: campaign(name, chosen) for name in chosen.sections}
    for name, (record, seconds) in records.items():
        outcomes = sorted(record.outcomes)
        result.at_most(f"{name}: broken promises", len(record.broken), 0)
        if name in INPUTS:
            rows = [[group, *(counts[one] for one in outcomes)] for group, counts in sorted(record.counts.items())]
            note = f"{record.outcomes.total():,} cases in {seconds:.0f} s."
            result.table(f"{name}: what came of them", ["", *outcomes], rows, note)
            result.data[name] = record.values()
            continue
        result.table(
            f"{name}: runs by what happened to them and by what was there afterwards",
            ["", *outcomes],
            [[group, *(counts[outcome] for outcome in outcomes)] for group, counts in sorted(record.counts.items())],
            f"{record.outcomes.total():,} runs in {seconds:.0f} s. `none`, `old` and `new` are whole; `undone` is what "
            "stood there before, put back by the next reader.",
        )
        for promise in PROMISES:
            result.at_most(f"{name}: {promise}", record.outcomes[promise], 0)
        result.data[name] = record.values()
    result.save(chosen.out)


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sections", nargs="+", choices=COUNTS, default=list(COUNTS), help="these alone")
    parser.add_argument("--count", nargs="+", default=[], metavar="SECTION=N", help="cases of a section, at most")
    parser.add_argument("--folder", help="where outputs are written, such as a folder on the disk to be tried")


def main() -> None:
    """Run them."""
    report(options("hostile", __doc__, _more, corpora=False))


if __name__ == "__main__":
    main()
