"""What a rule has found in a batch, as arrays, and which of it stays where it overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Literal, NamedTuple, get_args

import numpy as np

from spanloom.hashing import Int64
from spanloom.sparse import gathered

Overlaps = Literal["longest", "all"]
"""Which of a rule's overlapping matches stay: the longest, of equally long ones the first; or all."""
OVERLAPS: Final[tuple[Overlaps, ...]] = get_args(Overlaps)
Ranges = tuple[tuple[int, int], ...]
"""Token ranges of one match, half-open, in text order, none touching the next."""


class Matches(NamedTuple):
    """M matches with P parts in all.

    Args:
        parts: (P, 2) first token and end of each part.
        ptr: (M + 1,) where the parts of each match begin.
    """

    parts: Int64
    ptr: Int64

    def __len__(self) -> int:  # of a named tuple it would be the number of fields
        return len(self.ptr) - 1

    @property
    def first(self) -> Int64:
        """(M,) the first token of each."""
        found: Int64 = self.parts[self.ptr[:-1], 0]
        return found

    @property
    def end(self) -> Int64:
        """(M,) the end of each."""
        found: Int64 = self.parts[self.ptr[1:] - 1, 1]
        return found

    def take(self, kept: Int64) -> Matches:
        """Return some of the matches."""
        rows, ptr = gathered(self.ptr, kept)
        return Matches(self.parts[rows], ptr)

    def ranges(self) -> list[Ranges]:
        """Return the parts of each match."""
        pairs = [(first, end) for first, end in self.parts.tolist()]
        ptr = self.ptr.tolist()
        return [tuple(pairs[a:b]) for a, b in pairwise(ptr)]

    def covered(self, tokens: int) -> Int64:
        """Return (T,) 1 where a token is in a match, else 0."""
        steps = np.bincount(self.parts[:, 0], minlength=tokens + 1) - np.bincount(
            self.parts[:, 1], minlength=tokens + 1
        )
        return (steps.cumsum()[:tokens] > 0).astype(np.int64)

    def touching(self, marked: Int64) -> Int64:
        """Return (M,) how many of each match's tokens are marked.

        Args:
            marked: (T,) 1 or 0.
        """
        sums = np.append(0, marked.cumsum())
        each = np.append(0, (sums[self.parts[:, 1]] - sums[self.parts[:, 0]]).cumsum())
        found: Int64 = each[self.ptr[1:]] - each[self.ptr[:-1]]
        return found


def contiguous(first: Int64, end: Int64) -> Matches:
    """Return matches without gaps.

    >>> matches = contiguous(np.array([0, 1, 4]), np.array([2, 4, 5]))
    >>> longest(matches).ranges()
    [((1, 4),), ((4, 5),)]
    """
    return Matches(np.stack([first, end], 1).astype(np.int64), np.arange(len(first) + 1))


def gapped(found: Sequence[Ranges]) -> Matches:
    """Return matches of some parts each."""
    parts = [part for ranges in found for part in ranges]
    sizes = np.array([len(ranges) for ranges in found], np.int64)
    return Matches(np.array(parts, np.int64).reshape(-1, 2), np.append(0, sizes.cumsum()))


def none() -> Matches:
    """Return no match."""
    return gapped([])


def longest(matches: Matches) -> Matches:
    """Return matches that share no token: of those that do the longest, of equally long ones the first.

    Args:
        matches: in any order.
    """
    if not len(matches):
        return matches
    order = np.lexsort((matches.end, matches.first))
    matches = matches.take(order)
    reach = np.maximum.accumulate(matches.end)
    alone = np.append(True, matches.first[1:] >= reach[:-1])  # begins behind all that came before
    group = np.cumsum(alone) - 1
    crowded = np.bincount(group)[group] > 1
    kept = np.flatnonzero(~crowded).tolist()
    rows = np.flatnonzero(crowded)
    parts = np.diff(np.append(0, (matches.parts[:, 1] - matches.parts[:, 0]).cumsum())[matches.ptr])
    taken: set[int] = set()
    crowd = matches.take(rows)
    first, end, ptr = crowd.parts[:, 0].tolist(), crowd.parts[:, 1].tolist(), crowd.ptr.tolist()
    for at in np.lexsort((matches.first[rows], -parts[rows])).tolist():
        own = range(ptr[at], ptr[at + 1])
        if all(taken.isdisjoint(range(first[i], end[i])) for i in own):
            for i in own:
                taken.update(range(first[i], end[i]))
            kept.append(int(rows[at]))
    return matches.take(np.array(sorted(kept), np.int64))
