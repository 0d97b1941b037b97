"""The sets of mentions that two layers hold, see `spanloom_lab.two_layer`: as many mentions as possible.

A mention that overlaps or interleaves with no other of its sentence and type is a set of one. For the others, a
solution is a row of *sets* that neither overlap nor interleave: one contiguous mention, or mentions that share a part
and have another each. From left to right, the best row up to a token is that up to the token before it, or ends in a
set that ends there. A set is composed in the same way: other parts on the left of the shared one that do not overlap,
the shared part, other parts on its right. So each part that may be shared is visited once, with the mentions that have
it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import numpy as np

from spanloom.hypergraph import Ints
from spanloom.structures.base import MentionTable

Range: TypeAlias = tuple[int, int]
Ranges: TypeAlias = tuple[Range, ...]


class TwoLayerSets(NamedTuple):
    """The sets of a batch; a place is a token of the batch, plus T for each type before.

    Args:
        whole: (C, 2) the places of contiguous mentions.
        shared: (S, 2) those of the shared parts of other sets.
        owner: (P,) for each other part, its set.
        other: (P, 2) the places of the other parts.
    """

    whole: Ints
    shared: Ints
    owner: Ints
    other: Ints


class _Row(NamedTuple):
    """A row of sets.

    Args:
        value: of its mentions, added up.
        last: the number of the mention that was added last.
        rest: the row before it, ``None`` where there is no mention.
    """

    value: int
    last: int = -1
    rest: _Row | None = None

    def mentions(self) -> Iterator[int]:
        """The numbers of its mentions."""
        row = self
        while row.rest is not None:
            yield row.last
            row = row.rest


_NONE = _Row(-1)  # worse than any


class _Side:
    """The best rows whose last mention has its other part on one side of the shared one, by where that part ends."""

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._rows: list[_Row] = []

    def best(self, token: int) -> _Row:
        """The best row that ends at a token or before."""
        place = bisect_right(self._ends, token)
        return self._rows[place - 1] if place else _NONE

    def add(self, end: int, row: _Row) -> None:
        """Note a row; ends come in ascending order."""
        self._rows.append(_better(self.best(end), row))
        self._ends.append(end)


class _Family:
    """The mentions that have one part, which they may share.

    Args:
        shared: the part.
    """

    def __init__(self, shared: Range) -> None:
        self.shared = shared
        self.apart: list[tuple[Range, int]] = []  # the other parts of mentions with a gap, and the mentions' numbers
        self.touching: list[tuple[Range, int]] = []  # those of contiguous mentions, on its right
        self.before: list[tuple[int, int]] = []  # where contiguous mentions that end in it begin
        self.left, self.right = _Side(), _Side()
        self.base = _NONE  # the best row up to the shared part and with it


def arrange(mentions: MentionTable, few: Ints, offsets: Ints) -> tuple[TwoLayerSets, list[int]]:
    """The sets of mentions, and the numbers of the mentions that are in none.

    Args:
        mentions: M of them.
        few: the numbers of those that have one range or two.
        offsets: (N + 1,) first token of each sentence.

    >>> table = MentionTable.build([(0, 0, ((0, 1), (2, 3))), (0, 0, ((1, 2),)), (0, 1, ((1, 2),))])
    >>> sets, apart = arrange(table, np.arange(3), np.array([0, 3]))
    >>> sets.whole.tolist(), sets.shared.tolist(), sets.other.tolist(), apart
    ([[4, 5]], [[0, 1]], [[2, 3]], [1])
    """
    begin, end = mentions.ptr[few], mentions.ptr[few + 1] - 1
    parts = np.stack([np.stack([mentions.first[i], mentions.end[i]], 1) for i in (begin, end)], 1)
    parts += (mentions.kind * int(offsets[-1]) + offsets[mentions.sentence])[few, None, None]
    order = np.lexsort((parts[:, 1, 1], parts[:, 0, 0]))
    few, parts = few[order], parts[order]  # (F, 2, 2): the places of the first part and of the last, or twice of one
    reached = np.maximum.accumulate(parts[:, 1, 1])
    cluster = np.append(0, (parts[1:, 0, 0] >= reached[:-1]).cumsum())[: len(few)]
    alone = np.bincount(cluster)[cluster] == 1
    whole = parts[:, 0, 0] == parts[:, 1, 0]
    pair = parts[alone & ~whole]
    crowded = np.flatnonzero(~alone)
    more, apart = _untangle(
        [tuple(dict.fromkeys((first, end) for first, end in rows)) for rows in parts[crowded].tolist()],
        np.split(np.arange(len(crowded)), np.flatnonzero(np.diff(cluster[crowded])) + 1),
    )
    sets = TwoLayerSets(
        np.concatenate([parts[alone & whole][:, 0], more.whole]),
        np.concatenate([pair[:, 0], more.shared]),
        np.concatenate([np.arange(len(pair)), more.owner + len(pair)]),
        np.concatenate([pair[:, 1], more.other]),
    )
    return sets, few[crowded[apart]].tolist()


def _untangle(mentions: Sequence[Ranges], clusters: Sequence[Ints]) -> tuple[TwoLayerSets, list[int]]:
    """As `arrange`, of mentions by the places of their parts.

    Args:
        mentions: the same ranges are the same mention.
        clusters: numbers of mentions; those of two clusters neither overlap nor interleave.
    """
    whole: list[Range] = []
    shared: list[Range] = []
    owner: list[int] = []
    other: list[Range] = []
    apart: list[int] = []
    for cluster in clusters:
        different = list(dict.fromkeys(mentions[i] for i in cluster.tolist()))
        kept = {different[i] for i in held_together(different)}
        apart += [i for i in cluster.tolist() if mentions[i] not in kept]
        for part, others in sets_of(sorted(kept)):
            if not others:
                whole.append(part)
                continue
            owner += [len(shared)] * len(others)
            shared.append(part)
            other += others
    return TwoLayerSets(_places(whole), _places(shared), np.array(owner, np.int64), _places(other)), apart


def _places(ranges: Sequence[Range]) -> Ints:
    return np.array(ranges, np.int64).reshape(-1, 2)


def held_together(mentions: Sequence[Ranges]) -> list[int]:
    """Choose the most mentions that two layers hold together; of as many, those with most tokens.

    Args:
        mentions: of one sentence and one type, each once, of one or two ranges.

    Returns:
        Their numbers, sorted.

    >>> held_together([((0, 1), (2, 3)), ((0, 1), (4, 5)), ((1, 6),)])
    [0, 1]
    >>> held_together([((0, 2),), ((1, 3),)]), held_together([((0, 2),), ((0, 3),)])
    ([0, 1], [1])
    """
    return sorted(_Search(mentions).run().mentions())


def sets_of(mentions: Sequence[Ranges]) -> list[tuple[Range, list[Range]]]:
    """Cut sorted mentions that are held together into sets: a contiguous mention, or a shared part and the other parts.

    >>> sets_of([((0, 1), (2, 3)), ((0, 1), (4, 5)), ((6, 7),)])
    [((0, 1), [(2, 3), (4, 5)]), ((6, 7), [])]
    """
    sets: list[list[Ranges]] = []
    reached = 0
    for ranges in mentions:
        if not sets or ranges[0][0] >= reached:
            sets.append([])
        sets[-1].append(ranges)
        reached = max(reached, ranges[-1][1])
    return [_parts(own) for own in sets]


def _parts(mentions: Sequence[Ranges]) -> tuple[Range, list[Range]]:
    """The shared part of a set, and the other parts; the first is shared where there is one mention."""
    if len(mentions) == 1:
        return mentions[0][0], list(mentions[0][1:])
    gap = next((ranges for ranges in mentions if len(ranges) > 1), None)
    if gap is None:  # two that cross
        shared = first, end = mentions[1][0][0], mentions[0][0][1]
    else:
        covering = (part for part in gap if all(any(a <= part[0] and part[1] <= b for a, b in own) for own in mentions))
        shared = first, end = next(covering)
    others = []
    for ranges in mentions:
        if len(ranges) > 1:
            others.append(ranges[ranges[0] == shared])
        else:
            [(start, stop)] = ranges
            others.append((end, stop) if start == first else (start, first))
    return shared, others


def _better(one: _Row, two: _Row) -> _Row:
    return two if two.value > one.value else one


class _Search:
    """The search of `held_together`, from token to token."""

    def __init__(self, mentions: Sequence[Ranges]) -> None:
        size = [sum(end - first for first, end in ranges) for ranges in mentions]
        self._gain = [sum(size) + 1 + tokens for tokens in size]
        self._whole = [(ranges[0], i) for i, ranges in enumerate(mentions) if len(ranges) == 1]
        self._families = _families(mentions, self._whole)
        self._best: dict[int, _Row] = {}  # by token: the best row of whole sets that end there or before
        self._top = _Row(0)
        self._ended: list[tuple[int, int, _Row]] = []  # of contiguous mentions: where each ends, begins; the best row

    def run(self) -> _Row:
        """The best row."""
        ending = defaultdict[int, list[Callable[[], None]]](list)
        starts = {start for family in self._families for start, _ in family.before}
        for part, i in self._whole:
            ending[part[1]].append(partial(self._stand, part, i))
            starts.add(part[0])
        for family in self._families:
            ending[family.shared[1]].append(partial(self._share, family))
            starts.add(family.shared[0])
            for part, i in family.apart + family.touching:
                ending[part[1]].append(partial(self._extend, family, part, i))
                starts.add(part[0])
        for token in sorted(starts | ending.keys()):
            for step in ending.get(token, ()):
                step()
            self._best[token] = self._top
        return self._top

    def _stand(self, part: Range, mention: int) -> None:
        """Add a contiguous mention by itself, or with one that it crosses."""
        first, stop = part
        row = self._with(self._best[first], mention)
        self._offer(row)
        crossed = _NONE
        for end, start, other in self._ended[bisect_right(self._ended, first, key=itemgetter(0)) :]:
            if start < first and end < stop:
                crossed = _better(crossed, other)
        self._offer(self._with(crossed, mention))
        self._ended.append((stop, first, row))

    def _with(self, row: _Row, mention: int) -> _Row:
        return _NONE if row is _NONE else _Row(row.value + self._gain[mention], mention, row)

    def _offer(self, row: _Row) -> None:
        self._top = _better(self._top, row)

    def _share(self, family: _Family) -> None:
        """Go past the shared part, with or without a contiguous mention that ends in it."""
        start = family.shared[0]
        others = family.left.best(start)
        family.base = _better(self._best[start], others)
        for token, i in family.before:
            row = self._with(_better(self._best[token], family.left.best(token)), i)
            others = _better(others, row)
        family.base = _better(family.base, others)
        self._offer(others)

    def _extend(self, family: _Family, part: Range, mention: int) -> None:
        """Add a mention by its other part."""
        start, end = part
        if start < family.shared[0]:
            before = _better(self._best[start], family.left.best(start))
            family.left.add(end, self._with(before, mention))
        else:
            row = self._with(_better(family.base, family.right.best(start)), mention)
            family.right.add(end, row)
            self._offer(row)


def _families(mentions: Sequence[Ranges], whole: Sequence[tuple[Range, int]]) -> list[_Family]:
    """A family for each part of a mention with a gap."""
    families = {part: _Family(part) for ranges in mentions if len(ranges) > 1 for part in ranges}
    for i, ranges in enumerate(mentions):
        if len(ranges) > 1:
            families[ranges[0]].apart.append((ranges[1], i))
            families[ranges[1]].apart.append((ranges[0], i))
    starting, stopping = (defaultdict[int, list[tuple[Range, int]]](list) for _ in "se")
    for part, i in whole:
        starting[part[0]].append((part, i))
        stopping[part[1]].append((part, i))
    for (first, end), family in families.items():
        family.touching = [((end, stop), i) for (_, stop), i in starting[first] if stop > end]
        family.before = [(start, i) for (start, _), i in stopping[end] if start < first]
    return list(families.values())
