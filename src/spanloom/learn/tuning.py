"""Tuning one number after training: the mention penalty of Lu and Roth (2015), section 3.7."""

from __future__ import annotations

from collections.abc import Callable

_COARSE = 10  # steps of the first sweep are so many times longer


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
    tried: dict[int, float] = {}

    def best(places: range) -> int:
        for place in places:
            if place not in tried:
                tried[place] = measure(place * step)
        return max(sorted(tried, key=lambda place: (abs(place), place)), key=tried.__getitem__)

    end = round(limit / step)
    high = min(round(reach / step), end)
    low = -high
    top = best(range(low, high + 1, _COARSE))
    while high < end and (abs(top) == high or len(set(tried.values())) == 1):
        low, high = max(2 * low, -end), min(2 * high, end)
        top = best(range(low, high + 1, _COARSE))
    return round(best(range(max(top - _COARSE, -end), min(top + _COARSE, end) + 1)) * step, 10)
