"""Overlaps of mentions: nested, crossing and discontiguous ones, by their characters, without regard to types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Mention, Span

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


class Overlaps(NamedTuple):
    """Kinds of overlap of M mentions; a mention may be of several kinds.

    Two mentions *overlap* if they share a character. If one of them then covers all that the other covers, both are
    *nested* (also two mentions of the same characters and different types); if not, both are *crossing*. A mention in
    the gap of another shares no character with it, and is neither.

    Args:
        nested: (M,) contains a mention, or is contained in one.
        crossing: (M,) shares characters with a mention, and neither contains the other.
        discontiguous: (M,) has more than one span.
    """

    nested: Bools
    crossing: Bools
    discontiguous: Bools

    @property
    def overlapping(self) -> Bools:
        """(M,) bool, the mention shares a character with another."""
        return self.nested | self.crossing

    @property
    def flat(self) -> Bools:
        """(M,) bool, the mention is of none of the three kinds."""
        return ~(self.nested | self.crossing | self.discontiguous)


def overlaps(mentions: Sequence[Mention]) -> Overlaps:
    """Find the nested, the crossing and the discontiguous ones among the mentions of one text.

    The mentions are sorted by their start; each is compared, in numpy, to those whose extent (first start to last
    end) meets its own, which are found by bisection. Time is O(M log M) plus the pairs compared.

    Args:
        mentions: M different ones (no two with the same type and spans); spans joined as by `join_spans`.

    >>> pain, chest, chest_pain = [(6, 10)], [(0, 5)], [(0, 10)]
    >>> found = overlaps([Mention("problem", pain), Mention("part", chest), Mention("problem", chest_pain)])
    >>> found.nested.tolist(), found.crossing.tolist()
    ([True, True, True], [False, False, False])
    """
    nested = np.zeros(len(mentions), np.bool_)
    crossing = np.zeros(len(mentions), np.bool_)
    discontiguous = np.array([len(mention.spans) > 1 for mention in mentions], np.bool_)
    if not len(mentions):
        return Overlaps(nested, crossing, discontiguous)
    order = np.argsort([mention.start for mention in mentions], kind="stable")
    ordered = [mentions[i] for i in order.tolist()]
    spans, first = flatten(ordered)
    size = np.add.reduceat(spans[:, 1] - spans[:, 0], first)
    bounds = np.append(first, len(spans))
    # the range of the mentions that the extent of each may meet
    starts, ends = (np.array([getattr(one, side) for one in ordered], np.int64) for side in ("start", "end"))
    low = np.searchsorted(np.maximum.accumulate(ends), starts, side="right")
    high = np.searchsorted(starts, ends, side="left")
    for i in np.flatnonzero(high - low > 1).tolist():
        window = slice(low[i], high[i])
        common = shared(spans[bounds[low[i]] : bounds[high[i]]], first[window] - first[low[i]], ordered[i].spans)
        common[i - low[i]] = 0
        contains = (common == size[i]) | (common == size[window])
        nested[order[i]] = bool(np.any(contains & (common > 0)))
        crossing[order[i]] = bool(np.any(~contains & (common > 0)))
    return Overlaps(nested, crossing, discontiguous)


def flatten(mentions: Sequence[Mention]) -> tuple[Ints, Ints]:
    """Return the spans of M mentions in one array.

    Returns:
        (S, 2) start and end of each span; (M,) the row of each mention's first span.
    """
    spans = np.array([span for mention in mentions for span in mention.spans], np.int64).reshape(-1, 2)
    sizes = [len(mention.spans) for mention in mentions]
    return spans, np.cumsum([0, *sizes[:-1]])


def shared(spans: Ints, first: Ints, own: Sequence[Span]) -> Ints:
    """Count the characters (M,) that each of the flattened mentions shares with one mention of the spans ``own``."""
    common = np.zeros(len(spans), np.int64)
    for start, end in own:
        common += np.maximum(np.minimum(spans[:, 1], end) - np.maximum(spans[:, 0], start), 0)
    return np.asarray(np.add.reduceat(common, first), np.int64)
