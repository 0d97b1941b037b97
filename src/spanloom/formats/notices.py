"""Notices of a reader: data that it changed or left out, counted by kind and reported once, at the end.

A reader reports each as a `Problem` whose ``altered`` is true: fragments that were sorted, a word that the
text does not show, a file of no known format. `spanloom.formats.validate` lists them all; `read` reports
the first of each kind and their number.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from spanloom.document.validate import Problem
from spanloom.errors import DataWarning

Notice = Callable[[str], None]


@dataclass(slots=True)
class _Kind:
    """Problems of one kind: the first, their number, and the number of files."""

    first: Problem
    count: int = 0
    files: set[str | None] = field(default_factory=set)


@dataclass(slots=True)
class Notices:
    """Problems by kind; those that are not ``altered`` are ignored.

    >>> notices = Notices()
    >>> repaired = Problem("warning", "order", "the fragments were sorted", "mention T1", path="a.ann", altered=True)
    >>> notices.add([repaired, repaired, Problem("warning", "odd", "is odd", path="a.ann")])
    >>> list(notices.lines())
    ['a.ann: mention T1: the fragments were sorted (2 such; spanloom validate lists them)']
    """

    kinds: dict[str, _Kind] = field(default_factory=dict)

    def add(self, problems: Iterable[Problem]) -> None:
        """Count data that were changed."""
        for problem in problems:
            if problem.altered:
                self._count(problem.kind, problem)

    def leave_out(self, problem: Problem) -> None:
        """Count a record that was left out because of an error."""
        self._count("", problem)

    def _count(self, name: str, problem: Problem) -> None:
        kind = self.kinds.setdefault(name, _Kind(problem))
        kind.count += 1
        kind.files.add(problem.path)

    def lines(self) -> Iterator[str]:
        """Yield one line for each kind."""
        for name, kind in self.kinds.items():
            line = ("" if name else "left out: ") + str(kind.first.to_error())
            if kind.count > 1:
                files = f" in {len(kind.files):,} files" if len(kind.files) > 1 else ""
                line += f" ({kind.count:,} such{files}; spanloom validate lists them)"
            yield line

    def tell(self, notice: Notice | None) -> None:
        """Pass each line to ``notice``; without one, issue a `DataWarning`."""
        for line in self.lines():
            if notice is not None:
                notice(line)
            elif not sys.is_finalizing():  # a reader that nobody finished may end with the interpreter
                warnings.warn(line, DataWarning, stacklevel=3)
