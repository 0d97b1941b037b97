"""Parts of composite mentions in BioC: which mention each belongs to, in time that grows with their number alone."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple


class Extent(NamedTuple):
    """The type of a mention or a part, and where it begins and ends."""

    type: str
    start: int
    end: int


def covering(parts: Sequence[Extent], wholes: Sequence[Extent]) -> list[int | None]:
    """For each part the number of the shortest whole of its type that covers it; of equals the first.

    >>> wholes = [Extent("D", 0, 30), Extent("D", 0, 20), Extent("E", 5, 10), Extent("D", 10, 30)]
    >>> covering([Extent("D", 5, 10), Extent("D", 12, 25), Extent("D", 25, 40)], wholes)
    [1, 3, None]
    """
    found: list[int | None] = [None] * len(parts)
    of_type: dict[str, tuple[list[int], list[int]]] = {}
    for which, extents in enumerate((parts, wholes)):
        for number, extent in enumerate(extents):
            of_type.setdefault(extent.type, ([], []))[which].append(number)
    for inner, outer in of_type.values():
        shortest = _Shortest([wholes[number].end for number in outer])
        outer.sort(key=lambda number: wholes[number].start, reverse=True)
        for number in sorted(inner, key=lambda number: parts[number].start):
            while outer and wholes[outer[-1]].start <= parts[number].start:
                whole = outer.pop()
                shortest.add(wholes[whole].end, wholes[whole].end - wholes[whole].start, whole)
            found[number] = shortest.ending_at(parts[number].end)
    return found


class _Shortest:
    """The shortest of those wholes that end at a place or behind it: minima in a binary indexed tree (Fenwick 1994).

    Args:
        ends: where wholes may end.
    """

    def __init__(self, ends: Sequence[int]) -> None:
        self._ends = sorted(set(ends))
        self._minima: list[tuple[int, int] | None] = [None] * (len(self._ends) + 1)

    def add(self, end: int, length: int, number: int) -> None:
        at = len(self._ends) - bisect_left(self._ends, end)  # counted from the last end, from 1
        while at < len(self._minima):
            self._minima[at] = min(self._minima[at] or (length, number), (length, number))
            at += at & -at

    def ending_at(self, end: int) -> int | None:
        at, best = len(self._ends) - bisect_left(self._ends, end), None
        while at:
            known = self._minima[at]
            best = known if best is None or (known is not None and known < best) else best
            at -= at & -at
        return None if best is None else best[1]
