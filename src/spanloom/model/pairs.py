"""Pairs of mentions of one sentence that overlap, and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from spanloom.hypergraph import Ints
from spanloom.structures import MentionTable

SAME, NESTED, CROSSING, SHARING = range(4)
"""How two mentions overlap, by the tokens that they consist of: a gap is no part of a mention.

They have the same tokens, or the first has all of the second and more, or each has some of its own: they cross if both
are contiguous, else they share a part, as *left ... knee* and *right knee* do in *left and right knee*.
"""
NEXT: Final = 64
"""How many mentions that begin next, or that begin with it and are shorter, each is compared with, at most.

Where more than so many overlap, as a model may make of one word again and again, time would grow with their square.
"""
_BLOCK = 1 << 20  # pairs that are held at once


class Pairs(NamedTuple):
    """P ordered pairs of mentions of one sentence that overlap.

    Args:
        one, other: (P,) their numbers.
        way: (P,) `SAME`, `NESTED` (the first contains the other, which is shorter), `CROSSING` or `SHARING`.
    """

    one: Ints
    other: Ints
    way: Ints


def joined(parts: Iterable[Pairs]) -> Pairs:
    """Return several lists of pairs as one."""
    return Pairs(*map(np.concatenate, zip(*parts, strict=True)))


def overlapping(table: MentionTable) -> Iterator[Pairs]:
    """Yield the pairs of mentions that have a token in common, each pair once; a million or so at once.

    Each is compared with the `NEXT` that follow. Of a pair, the first has more tokens, and of equally long ones the
    smaller number.

    Args:
        table: by sentence and first token.

    >>> table = MentionTable.build([(0, 0, ((0, 3),)), (0, 1, ((1, 2),)), (0, 0, ((2, 5),)), (1, 0, ((0, 1),))])
    >>> [[column.tolist() for column in pairs] for pairs in overlapping(table)]
    [[[0, 0], [1, 2], [1, 2]]]
    >>> knees = MentionTable.build([(0, 0, ((0, 1), (3, 4))), (0, 0, ((1, 2),)), (0, 0, ((2, 4),)), (0, 1, ((3, 4),))])
    >>> [[column.tolist() for column in pairs] for pairs in overlapping(knees)]
    [[[2, 0, 0], [3, 2, 3], [1, 3, 1]]]
    """
    first, end = table.first[table.ptr[:-1]], table.end[table.ptr[1:] - 1]
    reach = int(end.max(initial=0)) + 1
    begins = table.sentence * reach + first
    count = np.searchsorted(begins, table.sentence * reach + end) - np.arange(len(first)) - 1
    count = np.minimum(count, NEXT)
    total = count.cumsum()
    cuts = np.unique(np.searchsorted(total, np.arange(_BLOCK, int(total[-1]) if len(total) else 0, _BLOCK)))
    gapped = ~table.contiguous
    for rows in np.split(np.arange(len(first)), cuts):
        pairs = _pairs(first, end, rows, count[rows])
        gaps = gapped[pairs.one] | gapped[pairs.other]
        if not gaps.any():
            yield pairs
            continue
        kept = Pairs(*(column[~gaps] for column in pairs))
        yield joined((kept, _with_gaps(table, pairs.one[gaps], pairs.other[gaps])))


def _pairs(first: Ints, end: Ints, rows: Ints, count: Ints) -> Pairs:
    """Return the pairs of some mentions with so many that follow each."""
    one = np.repeat(rows, count)
    other = one + 1 + np.arange(len(one)) - np.repeat(count.cumsum() - count, count)
    longer = (end - first)[other] > (end - first)[one]
    one, other = np.where(longer, other, one), np.where(longer, one, other)
    within = (first[one] <= first[other]) & (end[other] <= end[one])
    equal = (first[one] == first[other]) & (end[other] == end[one])
    return Pairs(one, other, np.where(equal, SAME, np.where(within, NESTED, CROSSING)))


def _with_gaps(table: MentionTable, one: Ints, other: Ints) -> Pairs:
    """Return those pairs that have a token in common, of pairs of which a mention has a gap."""
    # 1. Each part of one mention with each part of the other: pair, part, part.
    size = np.diff(table.ptr)
    rows = size[one] * size[other]
    pair = np.repeat(np.arange(len(one)), rows)
    number = np.arange(len(pair)) - np.repeat(rows.cumsum() - rows, rows)
    mine = table.ptr[one][pair] + number // size[other][pair]
    theirs = table.ptr[other][pair] + number % size[other][pair]
    # 2. The tokens that two parts have in common, summed by pair.
    common = np.minimum(table.end[mine], table.end[theirs]) - np.maximum(table.first[mine], table.first[theirs])
    shared = np.bincount(pair, np.maximum(common, 0), len(one)).astype(np.int64)
    # 3. One of the two is contained if it has no token beside these.
    tokens = np.add.reduceat(table.end - table.first, table.ptr[:-1])
    one, other = np.where(tokens[other] > tokens[one], (other, one), (one, other))
    same, nested = shared == tokens[one], shared == tokens[other]
    way = np.where(same, SAME, np.where(nested, NESTED, SHARING))
    kept = shared > 0
    return Pairs(one[kept], other[kept], way[kept])
