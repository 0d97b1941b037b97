"""Strands: mentions with gaps as paths, and the readings of paths as mentions.

Muis and Lu (2016), section 3.3 and supplement, section 3, name two readings: ``enough`` is as few mentions as use every
arc, ``all`` is every path. `spanloom.structures.strand_paths` says how they are computed. What has no choice, a run of
arcs from a start to an end, is read for the whole batch at once; only what branches is walked.

Both readings rely on a valid strand: every place with links is reached, and leads to an end. `lay` gives one, and so
does every sub-hypergraph of a template.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Ints
from spanloom.structures.base import Crowd, MentionTable
from spanloom.structures.strand_paths import Path, branches, enough, every, number
from spanloom.structures.strand_runs import ADVANCE, END, STAY, Runs, Strand, contract

__all__ = ["ADVANCE", "END", "STAY", "Strand", "crowded", "lay", "read_all", "read_enough"]


def lay(mentions: MentionTable, offsets: Ints, types: int, components: int) -> Strand:
    """The union of the paths of mentions.

    Args:
        mentions: M mentions with at most ``components`` ranges each, in order and with a gap between any two.
        offsets: (N + 1,) first token of each sentence.
        types: K.
        components: the most ranges that a mention may have.

    >>> table = MentionTable.build([(0, 0, ((0, 1), (2, 3))), (0, 0, ((2, 3),))])
    >>> strand = lay(table, np.array([0, 3]), types=1, components=2)
    >>> strand.start[:, 0].tolist(), strand.links[:, 0].tolist()
    ([True, False, True], [[2, 0, 0], [0, 2, 0], [4, 0, 4]])
    """
    positions = 2 * components - 1
    start = np.zeros((int(offsets[-1]), types), bool)
    links = np.zeros((int(offsets[-1]), types, positions), np.uint8)
    if not len(mentions):
        return Strand(start, links)
    owner = np.repeat(np.arange(len(mentions)), np.diff(mentions.ptr))  # of each range
    base, kind = offsets[mentions.sentence][owner], mentions.kind[owner]
    position = 2 * (np.arange(len(owner)) - mentions.ptr[owner])
    first, last = base + mentions.first, base + mentions.end - 1
    final = np.zeros(len(owner), bool)
    final[mentions.ptr[1:] - 1] = True

    begins = mentions.ptr[:-1]
    start[first[begins], kind[begins]] = True
    before = np.flatnonzero(~final)  # the ranges before a gap
    _stay(links, first, last, kind, position)
    _stay(links, last[before] + 1, first[before + 1] - 1, kind[before], position[before] + 1)
    links[last[before], kind[before], position[before]] |= ADVANCE
    links[first[before + 1] - 1, kind[before], position[before] + 1] |= ADVANCE
    links[last[final], kind[final], position[final]] |= END
    return Strand(start, links)


def _stay(links: NDArray[np.uint8], first: Ints, last: Ints, kind: Ints, position: Ints) -> None:
    """Set `STAY` from each ``first`` up to the token before ``last``."""
    size = last - first
    step = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    links[np.repeat(first, size) + step, np.repeat(kind, size), np.repeat(position, size)] |= STAY


def read_enough(strand: Strand, offsets: Ints) -> MentionTable:
    """As few mentions as use every start, link and end; nested rather than crossing, but parallel across gaps.

    Args:
        strand: valid.
        offsets: (N + 1,) first token of each sentence.

    Returns:
        Sorted by sentence, first token, longest first, type; then longer components and shorter gaps first.

    >>> table = MentionTable.build([(0, 0, ((0, 1), (3, 4))), (0, 0, ((1, 2), (4, 5)))])
    >>> read_enough(lay(table, np.array([0, 5]), types=1, components=2), np.array([0, 5])).rows()
    [(0, 0, ((0, 1), (3, 4))), (0, 0, ((1, 2), (4, 5)))]
    """
    runs = contract(strand, offsets)
    return _table(runs, enough(branches(runs)), offsets)


def read_all(strand: Strand, offsets: Ints, most: int) -> MentionTable:
    """Every path, but of each sentence and type no more than the first ``most``, in the order of the result.

    Args:
        strand: valid.
        offsets: (N + 1,) first token of each sentence.
        most: at least 1.

    Returns:
        Sorted as `read_enough` does.

    >>> table = MentionTable.build([(0, 0, ((0, 1), (3, 4))), (0, 0, ((1, 2), (4, 5)))])
    >>> len(read_all(lay(table, np.array([0, 5]), types=1, components=2), np.array([0, 5]), most=1000))
    4
    """
    runs = contract(strand, offsets)
    found = _table(runs, list(every(branches(runs), offsets, most)), offsets)
    rank = _rank(found)
    return found.take(rank < most) if (rank >= most).any() else found


def crowded(strand: Strand, offsets: Ints, most: int) -> list[Crowd]:
    """Where more than ``most`` paths are; they are counted exactly, however many.

    Args:
        strand: valid.
        offsets: (N + 1,) first token of each sentence.
        most: as for `read_all`.

    Returns:
        In order of sentences and types.
    """
    runs = contract(strand, offsets)
    graph = branches(runs)
    whole = _whole(runs)
    keys = list(zip(runs.sentence[whole].tolist(), runs.kind[whole].tolist(), strict=True))
    keys += [(graph.sentence[run], graph.kind[run]) for run in graph.begins]
    found: dict[tuple[int, int], int] = {}
    for key, paths in zip(keys, [1] * len(whole) + number(graph), strict=True):
        found[key] = found.get(key, 0) + paths
    return [Crowd(*key, paths) for key, paths in sorted(found.items()) if paths > most]


def _whole(runs: Runs) -> Ints:
    """The runs that are mentions."""
    return np.flatnonzero((runs.tail < 0) & (runs.head < 0))


def _table(runs: Runs, paths: Sequence[Path], offsets: Ints) -> MentionTable:
    """The runs that are mentions, and paths, sorted."""
    whole = _whole(runs)
    said = np.zeros(len(runs.tail), bool)
    said[whole] = True
    sizes = np.diff(runs.ptr)
    size = np.concatenate([sizes[whole], _ints(len(path.bounds) for path in paths)])
    row = np.repeat(np.arange(len(size)), size)
    column = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
    bounds = np.full((len(size), int(size.max(initial=2))), -1)
    bounds[row, column] = np.concatenate(
        [runs.bounds[np.repeat(said, sizes)], _ints(bound for path in paths for bound in path.bounds)]
    )
    sentence = np.concatenate([runs.sentence[whole], _ints(path.sentence for path in paths)])
    kind = np.concatenate([runs.kind[whole], _ints(path.kind for path in paths)])
    order = _order(bounds, kind)
    bounds, sentence = bounds[order] - offsets[sentence[order], None], sentence[order]
    pairs = bounds[np.arange(bounds.shape[1]) < size[order, None]]
    ptr = np.concatenate([[0], np.cumsum(size[order] // 2)])
    return MentionTable(sentence, kind[order], ptr, pairs[0::2].copy(), pairs[1::2].copy())


def _order(bounds: Ints, kind: Ints) -> Ints:
    """By first token, longest first, type, then longer components and shorter gaps first; -1 is no bound."""
    ties = [bounds[:, at] if at % 2 == 0 else -bounds[:, at] for at in reversed(range(1, bounds.shape[1]))]
    return np.lexsort((*ties, kind, -bounds.max(axis=1), bounds[:, 0]))


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, np.int64)


def _rank(mentions: MentionTable) -> Ints:
    """How many mentions of the same sentence and type stand before each."""
    order = np.lexsort((mentions.kind, mentions.sentence))
    same = (np.diff(mentions.sentence[order]) == 0) & (np.diff(mentions.kind[order]) == 0)
    place = np.arange(len(order))
    rank = np.empty(len(order), np.int64)
    rank[order] = place - np.maximum.accumulate(np.where(np.append([False], same)[: len(order)], 0, place))
    return rank
