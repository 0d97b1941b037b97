"""Some sentences of a corpus as a corpus of their own, for models that are trained on folds."""

from __future__ import annotations

import numpy as np

from spanloom.features import Sparse
from spanloom.hypergraph import Edges, Ints
from spanloom.learn.data import TrainingSet
from spanloom.learn.target import EdgeTarget

__all__ = ["subset", "tokens_of"]


def subset(data: TrainingSet, edges: Edges, sentences: Ints) -> TrainingSet:
    """Return the part of a corpus that some sentences are; features that only the others have keep their rows.

    Args:
        data: the corpus.
        edges: its gold structures, (T, K, D).
        sentences: their numbers.
    """
    offsets, tokens = tokens_of(data.offsets, sentences)
    begin, sizes = data.matrix.offsets[tokens], np.diff(data.matrix.offsets)[tokens]
    ends = sizes.cumsum()
    places = np.repeat(begin - (ends - sizes), sizes) + np.arange(ends[-1] if len(ends) else 0)
    indices = data.matrix.indices[places]
    counts = np.bincount(indices, minlength=len(data.counts)).astype(np.int32)
    target = EdgeTarget(data.engine, offsets, edges[tokens])
    dense = data.matrix.dense
    if dense is not None:
        counts[len(counts) - dense.width :] = len(tokens)
        dense = dense._replace(rows=dense.rows[tokens])
    matrix = Sparse(indices, np.append(0, ends), dense=dense)
    return TrainingSet(data.engine, matrix, offsets, target, data.group_sizes, np.maximum(counts, 1))


def tokens_of(offsets: Ints, sentences: Ints) -> tuple[Ints, Ints]:
    """Return the offsets of some sentences among their own tokens, and the numbers of these.

    >>> tokens_of(np.array([0, 2, 5, 6]), np.array([1, 2]))
    (array([0, 3, 4]), array([2, 3, 4, 5]))
    """
    sizes = offsets[sentences + 1] - offsets[sentences]
    own = np.append(0, sizes.cumsum())
    return own, np.repeat(offsets[sentences] - own[:-1], sizes) + np.arange(own[-1])
