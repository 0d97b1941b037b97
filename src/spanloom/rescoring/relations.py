"""What candidates of one sentence are to one another: which contain, cross or share parts, and how likely those are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from spanloom.hypergraph import Floats, Ints
from spanloom.rescoring.candidates import GIVEN, CandidateMentions
from spanloom.structures import MentionTable

__all__ = ["CROSSING", "NESTED", "NEXT", "RELATIONS", "SAME", "Pairs", "joined", "overlapping", "strongest"]

_BOTH = ("same", "other")  # types
RELATIONS: Final = (
    "twin",
    *(f"{way}.{edge}.{types}" for way in ("outer", "inner") for edge in ("start", "end", "middle") for types in _BOTH),
    *(f"crossing.{types}" for types in _BOTH),
    *(f"{way}.{types}" for way in ("part", "whole", "hull", "sibling") for types in _BOTH),
)
"""What another candidate is to one, and whether it has the same type.

``twin``: the same ranges, with another type. ``outer``, ``inner``: contains it or is contained, and begins with it,
ends with it, or neither. ``crossing``: overlaps in part. Where one of both has gaps: ``part``, it is one of the ranges;
``whole``, one of its ranges is this one; ``hull``, it covers the same from end to end; ``sibling``, they share a range.
"""
_FIRST = {name.split(".")[0]: number for number, name in reversed([*enumerate(RELATIONS)])}
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


def strongest(candidates: CandidateMentions) -> Floats:
    """Return the largest log-odds of the candidates that are something to each, (C, `RELATIONS`); -inf for none.

    CandidateMentions that are only given are nothing to others.
    """
    found = np.full((len(candidates), len(RELATIONS)), -np.inf)
    for pairs in overlapping(candidates.table):
        _note(candidates, pairs, found)
        _note(candidates, Pairs(pairs.other, pairs.one, pairs.way), found)
    return found


def _note(candidates: CandidateMentions, pairs: Pairs, found: Floats) -> None:
    """Note what the others of some pairs are to the first."""
    kept = candidates.level[pairs.other] < GIVEN
    one, other, way = (column[kept] for column in pairs)
    table, first, end, odds = candidates.table, candidates.first, candidates.end, candidates.odds
    stranger = (table.kind[one] != table.kind[other]).astype(np.int64)  # the second of two relations
    outer = (end - first)[other] > (end - first)[one]
    edge = np.where(first[one] == first[other], 0, np.where(end[one] == end[other], 1, 2))
    nested = np.where(outer, _FIRST["outer"], _FIRST["inner"]) + 2 * edge
    relation = np.choose(way, [_FIRST["hull"], nested, _FIRST["crossing"]]) + stranger
    gaps = ~table.contiguous
    shared = _shared_ranges(table, one, other)
    sizes = np.diff(table.ptr)
    relation[(way == SAME) & (shared == sizes[one]) & (shared == sizes[other])] = _FIRST["twin"]
    np.maximum.at(found, (one, relation), odds[other])
    for name, holds in (
        ("part", gaps[one] & ~gaps[other]), ("whole", gaps[other] & ~gaps[one]), ("sibling", gaps[one] & gaps[other]),
    ):  # fmt: skip
        rows = np.flatnonzero(holds & (shared > 0) & (relation != _FIRST["twin"]))
        np.maximum.at(found, (one[rows], _FIRST[name] + stranger[rows]), odds[other[rows]])


def _shared_ranges(table: MentionTable, one: Ints, other: Ints) -> Ints:
    """Return how many ranges of the first mention of each pair are ranges of the other."""
    sizes = np.diff(table.ptr)
    found = np.zeros(len(one), np.int64)
    for i in range(int(sizes[one].max(initial=0))):
        for j in range(int(sizes[other].max(initial=0))):
            rows = np.flatnonzero((sizes[one] > i) & (sizes[other] > j))
            a, b = table.ptr[one[rows]] + i, table.ptr[other[rows]] + j
            found[rows] += (table.first[a] == table.first[b]) & (table.end[a] == table.end[b])
    return found
