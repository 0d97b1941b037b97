"""Tuning one number after training: an offset of the score of whatever starts, such as the mention penalty."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Ints

_COARSE = 10  # steps of the first sweep are so many times longer

Chosen = NDArray[np.bool_]


class Envelope:
    """The best results under each of several offsets, in less time than decoding for each of them takes.

    The score of a structure is linear in the offset, so the best one is the upper envelope of lines: what is best at
    two offsets is best at all between them. Unit by unit, what comes out alike at two offsets comes out so between, and
    only the others are decoded again. A search that may lose the best structure, such as a beam, may break the rule.

    Args:
        decode: gives (T, ...) what is best under an offset for the units that are wanted, (U,); the rest of its result
            is not looked at.
        owner: (T,) number of each token's unit, such as its sentence or document.

    Two units of one token, which change at 0.5 and at 2.5; at 1 and at 2 neither of them differs from 0 or 3:

    >>> asked = []
    >>> def decode(offset, wanted):
    ...     asked.append((offset, int(wanted.sum())))
    ...     return (offset > np.array([0.5, 2.5])).astype(int)
    >>> [(offset, found.tolist()) for offset, found in Envelope(decode, np.array([0, 1])).over([0, 1, 2, 3])]
    [(0, [0, 0]), (3, [1, 1]), (2, [1, 0]), (1, [1, 0])]
    >>> asked
    [(0, 2), (3, 2), (2, 2), (1, 1)]
    """

    def __init__(self, decode: Callable[[float, Chosen], NDArray[Any]], owner: Ints) -> None:
        self._decode, self._owner, self._units = decode, owner, int(owner.max(initial=-1)) + 1
        self._known: dict[float, NDArray[Any]] = {}

    def at(self, offset: float) -> NDArray[Any]:
        """Return what is best under an offset, (T, ...)."""
        if offset not in self._known:
            below = max((known for known in self._known if known < offset), default=None)
            above = min((known for known in self._known if known > offset), default=None)
            if below is None or above is None:
                self._known[offset] = self._decode(offset, np.ones(self._units, bool))
            else:
                self._known[offset] = self._between(offset, self._known[below], self._known[above])
        return self._known[offset]

    def _between(self, offset: float, below: NDArray[Any], above: NDArray[Any]) -> NDArray[Any]:
        chosen = np.zeros(self._units, bool)
        chosen[self._owner[(below != above).any(tuple(range(1, below.ndim)))]] = True
        new = chosen[self._owner].reshape(-1, *(1,) * (below.ndim - 1))
        return np.where(new, self._decode(offset, chosen), below)

    def over(self, offsets: Sequence[float]) -> Iterator[tuple[float, NDArray[Any]]]:
        """Yield each of some ascending offsets with what is best under it: the lowest, the highest, and by halves."""
        for number in _by_halves(0, len(offsets) - 1):
            yield offsets[number], self.at(offsets[number])


def _by_halves(low: int, high: int) -> Iterator[int]:
    yield from dict.fromkeys((low, high))
    todo = [(low, high)]
    while todo:
        low, high = todo.pop()
        if high - low > 1:
            middle = (low + high + 1) // 2
            yield middle
            todo += (middle, high), (low, middle)


def nearest_best(values: Mapping[float, float]) -> float:
    """Return the offset of the largest value; of equal ones the one nearest to 0, and of two such the lower.

    >>> nearest_best({-1: 0.5, 0: 0.4, 1: 0.5})
    -1
    """
    return max(sorted(values, key=lambda offset: (abs(offset), offset)), key=values.__getitem__)


def smooth_best(offsets: Sequence[float], values: Sequence[float]) -> float:
    """Return the offset of the largest value, each averaged with its neighbours; of equal ones that nearest to 0.

    Args:
        offsets: ascending; the first and the last are only neighbours.
        values: at the offsets.

    >>> smooth_best([-1, 0, 1, 2, 3, 4], [0, 9, 0, 6, 7, 6])
    3
    """
    inner = np.convolve(values, (0.25, 0.5, 0.25), "valid").round(9).tolist()
    return nearest_best(dict(zip(offsets[1:-1], inner, strict=True)))


def search_step(
    measure: Callable[[float], float], *, step: float = 0.01, reach: float = 1.0, limit: float = 10.0
) -> float:
    """The value that measures best, on a grid of a fixed step around 0.

    A sweep with steps ten times as long goes from -reach to reach, and on for as long as the best value lies at an end
    or all are equal; then all steps around the best are tried. Of equal values the one nearest to 0 wins.

    Args:
        measure: such as development F1 at a mention penalty.
        step: of the grid.
        reach: of the first sweep.
        limit: never go beyond it.

    >>> search_step(lambda x: -(x - 1.23) ** 2)
    1.23
    """
    tried: dict[float, float] = {}

    def best(places: range) -> int:
        for number in _by_halves(0, len(places) - 1):  # as an `Envelope` likes it
            if places[number] not in tried:
                tried[places[number]] = measure(places[number] * step)
        return int(nearest_best(tried))

    end = round(limit / step)
    high = min(round(reach / step), end)
    low = -high
    top = best(range(low, high + 1, _COARSE))
    while high < end and (abs(top) == high or len(set(tried.values())) == 1):
        low, high = max(2 * low, -end), min(2 * high, end)
        top = best(range(low, high + 1, _COARSE))
    return round(best(range(max(top - _COARSE, -end), min(top + _COARSE, end) + 1)) * step, 10)
