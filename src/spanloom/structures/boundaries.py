"""Starts, continuations and ends: what the mention hypergraph and the multigraph both say about a token and a type."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Ints
from spanloom.structures.base import MentionTable, TokenMention

Flags = NDArray[np.bool_]


class Boundaries(NamedTuple):
    """For each token and type, whether a mention starts there, goes on to the next token, or ends there: (T, K)."""

    start: Flags
    go_on: Flags
    end: Flags


def boundaries(mentions: MentionTable, offsets: Ints, types: int) -> Boundaries:
    """The boundaries of mentions that have one range each."""
    shape = (int(offsets[-1]), types)
    start, end = np.zeros(shape, bool), np.zeros(shape, bool)
    first = offsets[mentions.sentence] + mentions.first
    last = offsets[mentions.sentence] + mentions.end - 1
    start[first, mentions.kind] = True
    end[last, mentions.kind] = True
    change = np.zeros((shape[0] + 1, types), np.int32)
    np.add.at(change, (first, mentions.kind), 1)
    np.add.at(change, (last, mentions.kind), -1)
    return Boundaries(start, change[:-1].cumsum(0) > 0, end)


def read_nested(found: Boundaries, offsets: Ints) -> MentionTable:
    """Mentions that nest and never cross, as few as use every start, continuation and end.

    From left to right, an end closes the latest start that is still open. A start is closed once, unless it is the only
    one left and something goes on to the next token: then it stays open. Where nothing goes on, all open starts end.
    Where several nested sets explain the boundaries, this takes the one whose inner mentions close first.
    """
    mentions: list[TokenMention] = []
    for sentence, kind, events in _events(found, offsets):
        opened: list[int] = []
        for token, starts, goes_on, ends in events:
            if starts:
                opened.append(token)
            if ends and goes_on:
                mentions.append((sentence, kind, ((opened[-1], token + 1),)))
                if len(opened) > 1:
                    opened.pop()
            elif ends:
                mentions += [(sentence, kind, ((first, token + 1),)) for first in reversed(opened)]
                opened.clear()
    return _sorted(mentions)


def read_all(found: Boundaries, offsets: Ints, most: int | None = None) -> MentionTable:
    """Every mention that has a path: from each start to each end that it reaches.

    Args:
        found: the boundaries.
        offsets: (N + 1,) first token of each sentence.
        most: of each sentence and type only so many, the first in the order of the result.
    """
    mentions: list[TokenMention] = []
    for sentence, kind, events in _events(found, offsets):
        own = (((first, end + 1),) for starts, ends in _chains(events) for first, end in _reached(starts, ends))
        mentions += [(sentence, kind, pieces) for pieces in islice(own, most)]
    return _sorted(mentions)


def count_all(found: Boundaries, offsets: Ints) -> Iterator[tuple[int, int, int]]:
    """Sentence, type, and how many mentions have a path there."""
    for sentence, kind, events in _events(found, offsets):
        paths = (len(ends) - bisect_left(ends, first) for starts, ends in _chains(events) for first in starts)
        yield sentence, kind, sum(paths)


def _chains(events: list[tuple[int, bool, bool, bool]]) -> Iterator[tuple[list[int], list[int]]]:
    """The starts and the ends of each stretch of tokens that mentions join, ascending."""
    starts: list[int] = []
    ends: list[int] = []
    for token, begins, goes_on, stops in events:
        if begins:
            starts.append(token)
        if stops:
            ends.append(token)
        if stops and not goes_on:
            yield starts, ends
            starts, ends = [], []


def _reached(starts: list[int], ends: list[int]) -> Iterator[tuple[int, int]]:
    """Each start with each end that is not before it, the last first."""
    for first in starts:
        for at in reversed(range(bisect_left(ends, first), len(ends))):
            yield first, ends[at]


def readings(found: Boundaries) -> Iterator[tuple[tuple[int, int], ...]]:
    """Every set of mentions of one sentence and one type that has exactly these boundaries, as sorted ranges.

    Args:
        found: (T, 1) flags. The number of readings grows exponentially with the number of overlapping mentions.

    >>> flags = boundaries(MentionTable.build([(0, 0, ((0, 2),)), (0, 0, ((1, 3),))]), np.array([0, 3]), 1)
    >>> list(readings(flags))[:2]  # Lu and Roth (2015), Figure 3: nested and crossing look the same
    [((0, 3), (1, 2)), ((0, 2), (1, 3))]
    """
    offsets = np.array([0, len(found.start)])
    every = [ranges[0] for _, _, ranges in read_all(found, offsets).rows()]
    for size in range(len(every) + 1):
        for chosen in combinations(every, size):
            table = MentionTable.build([(0, 0, (piece,)) for piece in chosen])
            again = boundaries(table, offsets, 1)
            if all(np.array_equal(a, b) for a, b in zip(again, found, strict=True)):
                yield chosen


def _events(found: Boundaries, offsets: Ints) -> Iterator[tuple[int, int, list[tuple[int, bool, bool, bool]]]]:
    """For each sentence and type with mentions: its tokens where one starts or ends, in order."""
    kind, token = np.nonzero((found.start | found.end).T)
    sentence = np.searchsorted(offsets, token, side="right") - 1
    at = token, kind
    rows = zip(
        (token - offsets[sentence]).tolist(), *(flags[at].tolist() for flags in found), strict=True
    )  # fmt: skip
    groups: dict[tuple[int, int], list[tuple[int, bool, bool, bool]]] = {}
    for key, row in zip(zip(sentence.tolist(), kind.tolist(), strict=True), rows, strict=True):
        groups.setdefault(key, []).append(row)
    for (n, k), events in groups.items():
        yield n, k, events


def _sorted(mentions: list[TokenMention]) -> MentionTable:
    return MentionTable.build(sorted(mentions, key=lambda m: (m[0], m[2][0][0], -m[2][-1][1], m[1])))
