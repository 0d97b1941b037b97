"""What candidates of one sentence are to one another: which contain, cross or share parts, and how likely those are."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Floats
from spanloom.model.pairs import NEXT
from spanloom.native import Kernel
from spanloom.rescoring.candidates import CandidateMentions

_strongest = Kernel("strongest")
_BOTH = ("same", "other")  # types
RELATIONS: Final = (
    "twin",
    *(f"{way}.{edge}.{types}" for way in ("outer", "inner") for edge in ("start", "end", "middle") for types in _BOTH),
    *(f"crossing.{types}" for types in _BOTH),
    *(f"{way}.{types}" for way in ("part", "whole", "hull", "sibling") for types in _BOTH),
)
"""What another candidate is to one, and whether it has the same type; `native/rescoring.c` numbers them so.

``twin``: the same ranges, with another type. ``outer``, ``inner``: contains it or is contained, and begins with it,
ends with it, or neither. ``crossing``: overlaps in part. Where one of both has gaps: ``part``, it is one of the ranges;
``whole``, one of its ranges is this one; ``hull``, it covers the same from end to end; ``sibling``, they share a range.
"""


class _Candidates(NamedTuple):
    """C candidates, by sentence and first token.

    Args:
        sentence, kind: (C,).
        ptr: (C + 1,) where the ranges of each begin.
        first, end: tokens of each range.
        odds: (C,) log-odds.
        given: (C,) whether it is only given, and so nothing to others.
    """

    sentence: NDArray[np.int64]
    kind: NDArray[np.int64]
    ptr: NDArray[np.int64]
    first: NDArray[np.int64]
    end: NDArray[np.int64]
    odds: NDArray[np.float64]
    given: NDArray[np.bool_]


def strongest(candidates: CandidateMentions) -> Floats:
    """Return the largest log-odds of the candidates that are something to each, (`RELATIONS`, C); -inf for none.

    Candidates that are only given are nothing to others.
    """
    sentence, kind, ptr, first, end, _ = candidates.table
    found = np.empty((len(RELATIONS), len(candidates)))
    table = _Candidates(sentence, kind, ptr, first, end, candidates.odds, ~candidates.proposed)
    _strongest(table, NEXT, found)
    return found
