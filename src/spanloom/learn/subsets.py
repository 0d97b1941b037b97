"""Some sentences of a corpus as a corpus of their own, for models that are trained on folds."""

from __future__ import annotations

import numpy as np

from spanloom.features import Sparse
from spanloom.hypergraph import Edges, Ints
from spanloom.learn.corpus_target import CorpusTarget
from spanloom.learn.data import TrainingSet
from spanloom.learn.density import DensityTarget
from spanloom.learn.readings import ReadingsTarget
from spanloom.learn.target import EdgeTarget, Target, tokens_of
from spanloom.native import Kernel

_count = Kernel("count")


def subset(data: TrainingSet, edges: Edges, sentences: Ints) -> TrainingSet:
    """Return the part of a corpus that some sentences are; features that only the others have keep their rows.

    Args:
        data: the corpus.
        edges: its gold structures, (T, K, D).
        sentences: their numbers.
    """
    offsets, tokens = tokens_of(data.offsets, sentences)
    own = data.matrix.offsets
    begins = np.append(0, np.cumsum(own[tokens + 1] - own[tokens]))
    bounds = own[data.offsets]  # of whole sentences: indices of single numbers would take several times as long
    parts = [data.matrix.indices[bounds[n] : bounds[n + 1]] for n in sentences.tolist()]
    indices = np.concatenate([data.matrix.indices[:0], *parts])
    counts = np.zeros(len(data.counts), np.int64)
    _count(indices, counts)
    dense = data.matrix.dense
    if dense is not None:
        counts[len(counts) - dense.width :] = len(tokens)
        dense = dense._replace(rows=dense.rows[tokens])
    matrix = Sparse(indices, begins, dense=dense)
    weights = None if data.weights is None else data.weights[sentences]
    target: Target
    if isinstance(data.target, CorpusTarget | ReadingsTarget | DensityTarget):
        target = data.target.take(sentences)
    else:
        target = EdgeTarget(data.engine, offsets, edges[tokens])
    silent = None if data.silent is None else data.silent[sentences]
    some = np.maximum(counts, 1).astype(np.int32)
    return TrainingSet(data.engine, matrix, offsets, target, data.group_sizes, some, weights, silent)
