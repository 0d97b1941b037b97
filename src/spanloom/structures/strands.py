"""Strands: mentions as paths, and the readings of paths as mentions.

Muis and Lu (2016), section 3.3 and supplement, section 3, name two readings: ``enough`` is as few mentions as use every
arc, ``all`` is every path. `spanloom.structures.strand_paths` says how they are computed. What has no choice, a run of
arcs from a start to an end, is read for the whole batch at once; only what branches is walked.

Both readings rely on a valid strand: every place with links is reached, and leads to an end. `draw` gives one, and so
does every sub-hypergraph of a template.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from spanloom.hypergraph import Ints
from spanloom.structures.base import Crowd, MentionTable, no_heads
from spanloom.structures.steps import ADVANCE, END, STAY, Steps
from spanloom.structures.strand_paths import Path, branches, enough, every, number
from spanloom.structures.strand_runs import Runs, Strand, contract


class Found(NamedTuple):
    """M paths, sorted by sentence, first token, longest first, type.

    Those that are equal so far come with longer components and shorter gaps first; on a strand of heads, with later and
    then with shorter heads first.

    Args:
        sentence: (M,).
        kind: (M,) the type's number.
        size: (M,) how many bounds each has.
        bounds: (M, P + 1) tokens in the sentence, as `spanloom.structures.strand_runs` says; -1 where there are fewer.
    """

    sentence: Ints
    kind: Ints
    size: Ints
    bounds: Ints


def draw(way: Steps, base: Ints, kind: Ints, shape: tuple[int, int, int], heads: bool = False) -> Strand:
    """The union of the paths of mentions.

    Args:
        way: the steps of M mentions.
        base: (M,) the first token of each mention's sentence.
        kind: (M,) the type's number.
        shape: T, K, P.
        heads: whether the positions are those of heads.
    """
    start, links = np.zeros(shape[:2], np.uint8), np.zeros(shape, np.uint8)
    token, types = base[way.mention] + way.token, kind[way.mention]
    for bit in (STAY, ADVANCE, END):
        on = way.link == bit
        links[token[on], types[on], way.position[on]] |= bit
    begins = np.diff(way.mention, prepend=-1) > 0
    for position in np.unique(way.position[begins]).tolist():
        on = begins & (way.position == position)
        start[token[on], types[on]] |= 1 << position
    return Strand(start, links, heads)


def find_enough(strand: Strand, offsets: Ints) -> Found:
    """As few paths as use every start, link and end; nested rather than crossing, but parallel across gaps.

    Args:
        strand: valid.
        offsets: (N + 1,) first token of each sentence.
    """
    runs = contract(strand, offsets)
    return _found(runs, enough(branches(runs)), offsets)


def find_all(strand: Strand, offsets: Ints, most: int) -> Found:
    """Every path, but of each sentence and type no more than the first ``most``, in the order of the result.

    Args:
        strand: valid.
        offsets: (N + 1,) first token of each sentence.
        most: at least 1.
    """
    runs = contract(strand, offsets)
    found = _found(runs, list(every(branches(runs), offsets, most)), offsets)
    kept = _rank(found) < most
    return found if kept.all() else Found(*(column[kept] for column in found))


def ranges(found: Found) -> MentionTable:
    """Paths as mentions with gaps: each two bounds are a range."""
    pairs = found.bounds[np.arange(found.bounds.shape[1]) < found.size[:, None]]
    ptr = np.concatenate([[0], np.cumsum(found.size // 2)])
    heads = no_heads(len(found.sentence))
    return MentionTable(found.sentence, found.kind, ptr, pairs[0::2].copy(), pairs[1::2].copy(), heads)


def crowded(strand: Strand, offsets: Ints, most: int) -> list[Crowd]:
    """Where more than ``most`` paths are; they are counted exactly, however many.

    Args:
        strand: valid.
        offsets: (N + 1,) first token of each sentence.
        most: as for `find_all`.

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


def _found(runs: Runs, paths: Sequence[Path], offsets: Ints) -> Found:
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
    bounds, sentence = bounds[order], sentence[order]
    bounds = np.where(bounds < 0, -1, bounds - offsets[sentence, None])
    return Found(sentence, kind[order], size[order], bounds)


def _order(bounds: Ints, kind: Ints) -> Ints:
    """By first token, longest first, type, then what `Found` says; -1 is no bound."""
    ties = [bounds[:, at] if at % 2 == 0 else -bounds[:, at] for at in reversed(range(1, bounds.shape[1]))]
    return np.lexsort((*ties, kind, -bounds.max(axis=1), bounds[:, 0]))


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, np.int64)


def _rank(found: Found) -> Ints:
    """How many paths of the same sentence and type stand before each."""
    order = np.lexsort((found.kind, found.sentence))
    same = (np.diff(found.sentence[order]) == 0) & (np.diff(found.kind[order]) == 0)
    place = np.arange(len(order))
    rank = np.empty(len(order), np.int64)
    rank[order] = place - np.maximum.accumulate(np.where(np.append([False], same)[: len(order)], 0, place))
    return rank
