"""Pairs of mentions of one sentence that overlap, and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from spanloom.hypergraph import Ints
from spanloom.structures import MentionTable

__all__ = ["CROSSING", "NESTED", "NEXT", "SAME", "Pairs", "joined", "overlapping"]

SAME, NESTED, CROSSING = range(3)
"""How two mentions overlap, by the tokens from the first to the last of each."""
NEXT: Final = 64
"""How many mentions that begin next, or that begin with it and are shorter, each is compared with, at most.

Where more than so many overlap, as a model may make of one word again and again, time would grow with their square.
"""
_BLOCK = 1 << 20  # pairs that are held at once


class Pairs(NamedTuple):
    """P ordered pairs of mentions of one sentence that overlap.

    Args:
        one, other: (P,) their numbers.
        way: (P,) `SAME`, `NESTED` (the first contains the other, which is shorter) or `CROSSING`.
    """

    one: Ints
    other: Ints
    way: Ints


def joined(parts: Iterable[Pairs]) -> Pairs:
    """Return several lists of pairs as one."""
    return Pairs(*map(np.concatenate, zip(*parts, strict=True)))


def overlapping(table: MentionTable) -> Iterator[Pairs]:
    """Yield the pairs of mentions that overlap, from first to last token, each pair once; a million or so at once.

    Each is compared with the `NEXT` that follow. Of a pair, the first is the longer one, and of equally long ones that
    of the smaller number.

    Args:
        table: by sentence and first token.

    >>> table = MentionTable.build([(0, 0, ((0, 3),)), (0, 1, ((1, 2),)), (0, 0, ((2, 5),)), (1, 0, ((0, 1),))])
    >>> [[column.tolist() for column in pairs] for pairs in overlapping(table)]
    [[[0, 0], [1, 2], [1, 2]]]
    """
    first, end = table.first[table.ptr[:-1]], table.end[table.ptr[1:] - 1]
    reach = int(end.max(initial=0)) + 1
    begins = table.sentence * reach + first
    count = np.searchsorted(begins, table.sentence * reach + end) - np.arange(len(first)) - 1
    count = np.minimum(count, NEXT)
    total = count.cumsum()
    cuts = np.unique(np.searchsorted(total, np.arange(_BLOCK, int(total[-1]) if len(total) else 0, _BLOCK)))
    for rows in np.split(np.arange(len(first)), cuts):
        yield _pairs(first, end, rows, count[rows])


def _pairs(first: Ints, end: Ints, rows: Ints, count: Ints) -> Pairs:
    """Return the pairs of some mentions with so many that follow each."""
    one = np.repeat(rows, count)
    other = one + 1 + np.arange(len(one)) - np.repeat(count.cumsum() - count, count)
    longer = (end - first)[other] > (end - first)[one]
    one, other = np.where(longer, other, one), np.where(longer, one, other)
    within = (first[one] <= first[other]) & (end[other] <= end[one])
    equal = (first[one] == first[other]) & (end[other] == end[one])
    return Pairs(one, other, np.where(equal, SAME, np.where(within, NESTED, CROSSING)))
