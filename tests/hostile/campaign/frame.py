"""What the sections share: their list, seeded cases, a record of outcomes, and the command line."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

# section -> the module whose `run` is a `Section`, imported when it is asked for
SECTIONS: dict[str, str] = {}


@dataclass
class Record:
    """What came of the cases.

    Args:
        section: which.
        seed: of all cases.
        counts: group (a verb, a format) -> outcome -> cases.
        broken: a line for each case that broke a promise: its number and what was found.
    """

    section: str
    seed: int
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def add(self, group: str, outcome: str, count: int = 1) -> None:
        """Count what was to be expected."""
        self.counts.setdefault(group, Counter())[outcome] += count

    def fail(self, group: str, outcome: str, case: int, found: str) -> None:
        """Count a broken promise, and keep how to see it again."""
        self.add(group, outcome)
        self.broken.append(f"case {case}: {group}: {outcome}: {found}")

    @property
    def outcomes(self) -> Counter[str]:
        """Outcome -> cases, over all groups."""
        return sum(self.counts.values(), Counter())

    def values(self) -> dict[str, Any]:
        """For JSON."""
        return {"section": self.section, "seed": self.seed, "counts": self.counts, "broken": self.broken}

    def __str__(self) -> str:
        names = sorted(self.outcomes)
        rows = [["", *names]] + [
            [group, *(str(counts[name] or "-") for name in names)] for group, counts in sorted(self.counts.items())
        ]
        rows.append(["all", *(str(self.outcomes[name]) for name in names)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([*lines, *self.broken])


Section = Callable[[Iterable[int], int, Path], Record]
"""``run(cases, seed, folder)``: the numbers of the cases, the seed of all of them, an empty folder to work in."""


def generator(section: str, seed: int, case: int) -> random.Random:
    """The random numbers of one case, whichever others are run."""
    return random.Random(f"{section} {seed} {case}")


def section(name: str) -> Section:
    """A section by its name."""
    found: Section = import_module(SECTIONS[name]).run
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one section and print its record; 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="campaign", description="Try to break a promise of Spanloom.")
    parser.add_argument("section", choices=sorted(SECTIONS))
    parser.add_argument("--count", type=int, default=100, help="cases [100]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, metavar="CASE", help="run this case alone")
    given = parser.parse_args(arguments)
    cases = range(given.count) if given.only is None else [given.only]
    with tempfile.TemporaryDirectory() as folder:
        record = section(given.section)(cases, given.seed, Path(folder))
    print(record)
    return int(bool(record.broken))


if __name__ == "__main__":
    sys.exit(main())
