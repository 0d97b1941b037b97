"""Pairs of mentions of one sentence that overlap, and how."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Ints
from spanloom.native import Kernel
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
_overlaps = Kernel("overlaps")


class Pairs(NamedTuple):
    """P ordered pairs of mentions of one sentence that overlap.

    Args:
        one, other: (P,) their numbers.
        way: (P,) `SAME`, `NESTED` (the first contains the other, which is shorter), `CROSSING` or `SHARING`.
    """

    one: Ints
    other: Ints
    way: Ints


def overlapping(table: MentionTable, allowed: NDArray[np.bool_]) -> tuple[Pairs, Ints]:
    """Return the pairs of mentions that have a token in common and are not allowed, each once; and how many there are.

    Each is compared with the `NEXT` that follow. Of a pair, the first has more tokens, and of equally long ones the
    smaller number.

    Args:
        table: by sentence and first token.
        allowed: (4, K, K) of each way and the types of both.

    Returns:
        The pairs, and (4, K, K) the number of all, allowed or not.

    >>> none = np.zeros((4, 2, 2), np.bool_)
    >>> table = MentionTable.build([(0, 0, ((0, 3),)), (0, 1, ((1, 2),)), (0, 0, ((2, 5),)), (1, 0, ((0, 1),))])
    >>> [column.tolist() for column in overlapping(table, none)[0]]
    [[0, 0], [1, 2], [1, 2]]
    >>> knees = MentionTable.build([(0, 0, ((0, 1), (3, 4))), (0, 0, ((1, 2),)), (0, 0, ((2, 4),)), (0, 1, ((3, 4),))])
    >>> [column.tolist() for column in overlapping(knees, none)[0]]
    [[0, 0, 2], [2, 3, 3], [3, 1, 1]]
    """
    found, seen = np.empty((0, 3), np.int64), np.empty(allowed.shape, np.int64)
    while len(found) != (count := _overlaps(table, allowed, NEXT, found, seen)):  # first to count them
        found = np.empty((count, 3), np.int64)
    return Pairs(*found.T), seen
