"""Clusters of word vectors: words with the same neighbours get bit strings with a long common prefix.

A word's vector is computed from its neighbours: the positive pointwise mutual information of the word and each
frequent word before and after it, projected to the directions with most of its variance (Levy, Goldberg and Dagan 2015,
"Improving distributional similarity with lessons learned from word embeddings"). The words are then split in two, and
the parts again, by 2-means ("bisecting k-means", Steinbach, Karypis and Kumar 2000). The path of splits is a bit string
whose prefixes are coarser clusters, as that of a Brown cluster.

No routine of a linear algebra library is called whose sums depend on its number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document
from spanloom.features.clusters import Clusters, check_sizes
from spanloom.features.counting import TextCounts, count_words, frequent_words
from spanloom.features.letters import learn_letters
from spanloom.sparse import SparseMatrix

Vectors = NDArray[np.float64]

_CONTEXTS: Final = 4000  # the most frequent words, beside which others are counted
_DIMENSIONS: Final = 100
_SPARE: Final = 10  # more dimensions than wanted make few passes precise
_PASSES: Final = 4
_NOTHING: Final = 1e-20  # of a square: rounding
_SMOOTHING: Final = 0.75  # power of the contexts' counts: rare ones would have too much information
_TURNS: Final = 10  # of power iteration: a direction to begin with need not be exact
_ROUNDS: Final = 20  # of 2-means, at most


def induce_vectors(
    documents: Iterable[Document], clusters: int, min_count: int = 1, *,
    progress: Callable[[int, int], object] = lambda done, all: None,
) -> Clusters:  # fmt: skip
    """Induce clusters of the word vectors of a stream of documents, and classes of letters for the words they lack.

    No text is kept: memory grows with the distinct words and pairs of words. The same text gives the same clusters.

    Args:
        documents: read once; tokens and sentences are made where they are missing.
        clusters: the number of clusters, at least 2; fewer where vectors cannot be distinguished.
        min_count: rarer words get their bits by their letters, as unknown words do.
        progress: called with how many clusters there are, and how many there will be.

    Raises:
        UsageError: ``clusters`` or ``min_count`` is too small.
        DataError: fewer than two words occur so often.

    >>> text = "the old dog sleeps. the old cat sleeps. a young dog eats. a young cat eats."
    >>> clusters = induce_vectors([Document(text)], clusters=6)
    >>> clusters["dog"] == clusters["cat"], clusters["dog"] == clusters["the"]
    (True, False)
    """
    check_sizes(clusters, min_count)
    words = frequent_words(count_words(documents), min_count)
    vectors = word_vectors(words)
    codes = split_vectors(vectors, np.sqrt(words.counts), clusters, progress)
    paths = dict(zip(words.words, codes, strict=True))
    counts = dict(zip(words.words, words.counts.tolist(), strict=True))
    return Clusters(paths, counts, learn_letters(paths, counts))


def word_vectors(words: TextCounts, dimensions: int = _DIMENSIONS, passes: int = _PASSES) -> Vectors:
    """Return the vectors (V, D) of V words, each of length 1, or 0 where a word has no neighbour.

    With the singular value decomposition U S V' of the words' information, they are the first columns of U S^(1/2):
    weaker directions count for more than with U S, and for less than with U (Levy et al. 2015, section 3.3).

    Args:
        words: their counts and neighbours.
        dimensions: D, at most; no more than there are words, or contexts.
        passes: of the iteration that finds the directions; more are more precise.
    """
    information = _information(words)
    size, contexts = len(information.ptr) - 1, information.width
    transposed = information.transposed()
    directions = np.random.default_rng(0).standard_normal((contexts, min(dimensions + _SPARE, size, contexts)))
    for _ in range(passes):
        directions = _orthonormal(transposed @ (information @ directions))
    vectors = (information @ directions)[:, :dimensions]
    vectors = _over(vectors, np.sqrt(np.sqrt(_squares(vectors.T))))
    return _over(vectors.T, np.sqrt(_squares(vectors))).T.copy()


def _information(words: TextCounts) -> SparseMatrix:
    """Return positive pointwise mutual information (V, 2 C): of contexts behind a word, then before it."""
    left, right, times = words.neighbours.left, words.neighbours.right, words.neighbours.times
    size = len(words.words)
    contexts = min(size, _CONTEXTS)
    behind, before = right < contexts, left < contexts
    row = np.concatenate([left[behind], right[before]])
    column = np.concatenate([right[behind], left[before] + contexts])
    times = np.concatenate([times[behind], times[before]]).astype(float)
    near = np.bincount(row, times, size)
    common = np.bincount(column, times, 2 * contexts) ** _SMOOTHING
    value = np.log(times * common.sum() / (near[row] * common[column]))
    kept = value > 0
    return SparseMatrix.build(row[kept], column[kept], value[kept], (size, 2 * contexts))


def _orthonormal(columns: Vectors) -> Vectors:
    """Return an orthonormal basis of columns, by Gram and Schmidt's method, twice; 0 for a column that adds nothing."""
    rows = columns.T.copy()
    for i, row in enumerate(rows):
        before = np.einsum("n,n->", row, row)
        for _ in range(2):
            row -= np.einsum("d,dn->n", np.einsum("dn,n->d", rows[:i], row), rows[:i])
        left = np.einsum("n,n->", row, row)
        row *= 1 / np.sqrt(left) if left > _NOTHING * before else 0
    return rows.T.copy()


def _over(columns: Vectors, divisors: Vectors) -> Vectors:
    """Return columns divided by one number each; 0 stays 0."""
    return columns / np.where(divisors > 0, divisors, 1)


def split_vectors(
    vectors: Vectors, weights: Vectors, clusters: int,
    progress: Callable[[int, int], object] = lambda done, all: None,
) -> list[str]:  # fmt: skip
    """Split V vectors in two, then the part with the most, until there are so many parts; return each one's path.

    Args:
        vectors: (V, D).
        weights: (V,) how much each counts for the centre of its part.
        clusters: how many parts; there are fewer where equal vectors are left.
        progress: called with how many parts there are, and how many are wanted.

    Returns:
        Bits, 0 for the side of the first of a part's vectors; parts that are split no further share a path.

    >>> split_vectors(np.array([[1.0, 0], [0, 1], [0.9, 0.1], [0, 1]]), np.ones(4), 3)
    ['00', '1', '01', '1']
    """
    paths = [""] * len(vectors)
    parts = [(-len(vectors), 0, np.arange(len(vectors)))]
    found = 1
    while parts and found < clusters:
        _, _, part = heappop(parts)
        second = _second_side(vectors[part], weights[part])
        if not second.any():
            continue
        for bit, members in (("0", part[~second]), ("1", part[second])):
            for member in members.tolist():
                paths[member] += bit
            heappush(parts, (-len(members), int(members[0]), members))
        found += 1
        progress(found, clusters)
    return [path or "0" for path in paths]


def _second_side(vectors: Vectors, weights: Vectors) -> NDArray[np.bool_]:
    """Return which vectors are in the second of two clusters, that without the first vector; none where all are equal.

    2-means, begun from the two sides of the direction in which the vectors differ most (Boley 1998, "Principal
    direction divisive partitioning"): nothing is drawn, and the parts are of more even size than from two of the words.
    """
    second = _principal(vectors - _mean(vectors, weights), weights) > 0
    for _ in range(_ROUNDS):
        if second.all() or not second.any():
            return np.zeros(len(vectors), bool)
        centre, other = (_mean(vectors[side], weights[side]) for side in (~second, second))
        nearer = _squares(vectors - other) < _squares(vectors - centre)
        if (nearer == second).all():
            break
        second = nearer
    return ~second if second[0] else second


def _principal(centred: Vectors, weights: Vectors) -> Vectors:
    """Return the first principal component of vectors (V, D), one number (V,) each, by power iteration."""
    direction = centred[np.argmax(_squares(centred))]
    for _ in range(_TURNS):
        direction = np.einsum("v,vd->d", weights * np.einsum("vd,d->v", centred, direction), centred)
        direction = direction / (np.sqrt(np.einsum("d,d->", direction, direction)) or 1)
    found: Vectors = np.einsum("vd,d->v", centred, direction)
    return found


def _mean(vectors: Vectors, weights: Vectors) -> Vectors:
    total: Vectors = np.einsum("v,vd->d", weights, vectors)
    return total / float(weights.sum())


def _squares(vectors: Vectors) -> Vectors:
    """Return the squared length of each vector."""
    found: Vectors = np.einsum("vd,vd->v", vectors, vectors)
    return found
