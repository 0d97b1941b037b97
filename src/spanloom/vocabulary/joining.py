"""Results of several ways of searching, joined into candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.sparse import changes

EXACT, FOLDED, MEMORY, TRIGRAM, EDIT, LOOSELY = 1, 2, 4, 8, 16, 32


class Candidates(NamedTuple):
    """C candidates of Q queries: best first within a query, of equal ones the concept with the lower number first.

    Args:
        ptr: (Q + 1,) int64, where the candidates of each query begin.
        concept: (C,) int32, numbers of concepts.
        score: (C,) float32, between 0 and 1; not a probability.
        source: (C,) uint8, which searches found it, as bits: ``EXACT`` a name as written except for case, ``FOLDED`` a
            closely folded name, ``LOOSELY`` a loosely folded one, ``MEMORY`` a training mention, as written or folded,
            ``TRIGRAM`` the cosine of trigrams, with a name or a training mention, ``EDIT`` equation 2.
        name: (C,) int32, the number of the name that matched best; -1 if only the memory knew the concept.
        share: (C,) float32, the share of the training mentions with this text that was linked to the concept: of those
            with the text as written if there are any, else folded closely, else loosely; 0 without any.
    """

    ptr: NDArray[np.int64]
    concept: NDArray[np.int32]
    score: NDArray[np.float32]
    source: NDArray[np.uint8]
    name: NDArray[np.int32]
    share: NDArray[np.float32]


class FoundPairs(NamedTuple):
    """Results of searching for some texts, F pairs of a text, or a query, and a concept.

    Args:
        text: (F,) int64, numbers of texts.
        concept: (F,) int32.
        score: (F,) float64, between 0 and 1.
        source: the bit of the way; after joining (F,) uint8, all bits of each pair.
        name: (F,) int32, -1 where no name of the vocabulary was matched.
        share: (F,) float64.
    """

    text: NDArray[np.int64]
    concept: NDArray[np.int32]
    score: NDArray[np.float64]
    source: Any
    name: NDArray[np.int32]
    share: NDArray[np.float64]


def join(
    ways: Sequence[FoundPairs], query: NDArray[np.int64], text: NDArray[np.int64], queries: int, k: int
) -> Candidates:
    """Return the best k candidates of each query.

    Within a text, a concept gets ``1 - product of (1 - score)`` over the ways, with its best score in each way; a query
    with two texts, a mention and its long form, gets the better one.

    Args:
        ways: the findings of each way.
        query, text: pairs that assign texts to queries; several queries may share a text.
        queries: Q.
        k: the number of candidates.
    """
    best = [_distinct(way, one=True) for way in ways]
    joined = FoundPairs(*(np.concatenate(column) for column in zip(*best, strict=True)))
    texts = _distinct(joined, one=False)
    # each query takes the rows of its texts
    first, end = (np.searchsorted(texts.text, text, side) for side in ("left", "right"))
    sizes = end - first
    rows = np.repeat(first - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    taken = FoundPairs(np.repeat(query, sizes), *(column[rows] for column in texts[1:]))
    return _top(_distinct(taken, one=True), queries, k)


def _distinct(rows: FoundPairs, *, one: bool) -> FoundPairs:
    """One row for each group and concept: all sources, the best named row's name, the best score, or all joined."""
    order = np.lexsort((-rows.score, rows.name < 0, rows.concept, rows.text))
    text, concept, score = rows.text[order], rows.concept[order], rows.score[order]
    source = np.full(len(order), rows.source, np.uint8)[order]
    at = np.flatnonzero(changes(text, concept))
    if not len(at):
        return FoundPairs(text, concept, score, source, rows.name, rows.share)
    joined = np.maximum.reduceat(score, at) if one else 1 - np.multiply.reduceat(1 - score, at)
    sources, share = np.bitwise_or.reduceat(source, at), np.maximum.reduceat(rows.share[order], at)
    return FoundPairs(text[at], concept[at], joined, sources, rows.name[order][at], share)


def _top(rows: FoundPairs, queries: int, k: int) -> Candidates:
    """The k best rows of each group."""
    score = rows.score.astype(np.float32)  # compared as it is given, so that ties are ties
    order = np.lexsort((rows.concept, -score, rows.text))
    sizes = np.bincount(rows.text, minlength=queries)
    begin = np.cumsum(sizes) - sizes
    order = order[np.arange(len(order)) - begin[rows.text[order]] < k]
    ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.minimum(sizes, k))])
    share = rows.share.astype(np.float32)
    return Candidates(ptr, rows.concept[order], score[order], rows.source[order], rows.name[order], share[order])
