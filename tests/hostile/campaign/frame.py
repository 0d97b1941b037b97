"""What the sections share: their list, seeded cases, a record of outcomes, and the command line."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

# section -> its `Section`, imported when it is asked for
SECTIONS = {
    "faults": "campaign.faults:run",
    "faults-models": "campaign.faults:run_models",
    "independence": "campaign.independence:run",
    "kills": "campaign.kills:run",
    "models": "campaign.models:run",
    "readers": "campaign.readers:run",
    "round-trips": "campaign.roundtrips:run",
    "kills-by-clock": "campaign.kills:by_clock",
    "kills-models": "campaign.kills:of_models",
    "strangers": "campaign.strangers:run",
    "strangers-traced": "campaign.strangers:traced",
    "lakes": "campaign.lakes:run",
    "requests": "campaign.requests:run",
    "encoders": "campaign.models:run_encoders",
    "ready-models": "campaign.models:run_ready",
}
_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # the order of steps counts, and not the disk


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
    found: Section = resolve_name(SECTIONS[name])
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one section and print its record; 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="campaign", description="Try to break a promise of Spanloom.")
    parser.add_argument("section", choices=sorted(SECTIONS))
    parser.add_argument("--count", type=int, default=100, help="cases [100]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="+", metavar="CASE", help="run these cases alone")
    parser.add_argument("--folder", metavar="DIR", default=_MEMORY, help="where to work [in memory, if there is such]")
    given = parser.parse_args(arguments)
    cases = given.only or range(given.count)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        record = section(given.section)(cases, given.seed, Path(folder))
    print(record)
    return int(bool(record.broken))


if __name__ == "__main__":
    sys.exit(main())
