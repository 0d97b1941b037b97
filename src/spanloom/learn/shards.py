"""Shards: ranges of sentences, which the text alone decides, and each one's share of the loss and its gradient.

A gradient is added up shard after shard, and within one token after token. So it is the same bytes whether one process
goes over all shards, or each is the work of another and what they found is added in their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.features import Sparse
from spanloom.hypergraph import Floats, Ints, Singles
from spanloom.learn.data import TrainingSet
from spanloom.learn.target import PIECE_TOKENS
from spanloom.parallel import SERIAL, Executor, whole_ranges
from spanloom.scoring import Transposed, Weights, role_gradient, role_scores, transpose

_LEAST: Final = 1 << 15  # tokens; less is done in half a second, and has a larger share of all features
_MANY: Final = 64  # shards, where they do not become too large: enough for many workers, and few to add up


class Share(NamedTuple):
    """What some sentences add to an objective.

    Args:
        loss: of them.
        constants: (C, K) the gradient in the constants.
    """

    loss: float
    constants: Floats


def shard_tokens(tokens: int) -> int:
    """Return how many tokens a shard of a corpus has, at most, unless one sentence has more.

    >>> [shard_tokens(tokens) for tokens in (450_000, 9_000_000, 1_000_000_000)]
    [32768, 140626, 1048576]
    """
    return min(max(_LEAST, tokens // _MANY + 1), PIECE_TOKENS)


@dataclass(frozen=True)
class Shards:
    """A corpus in shards.

    Args:
        data: the corpus.
        rows: F, all features.
        ranges: (S + 1,) first sentence of each shard.
        tokens: of each feature of each shard, counted among the shard's; as in `Transposed`.
        ptr: those of all shards, one after the other.
        features: likewise.
        firsts: (S + 1,) where those of each shard begin.
    """

    data: TrainingSet
    rows: int
    ranges: Ints
    tokens: NDArray[np.int32]
    ptr: Ints
    features: NDArray[np.int32]
    firsts: Ints

    @classmethod
    def of(cls, data: TrainingSet, name: str, most: int) -> Shards:
        """Cut a corpus.

        Args:
            data: the corpus.
            name: of what is made, for its scratch.
            most: tokens of a shard.
        """
        scratch, matrix, rows, firsts = data.scratch, data.matrix, len(data.group_sizes), [0]
        ranges = np.array([0, *(end for _, end in whole_ranges(data.offsets, most))])
        tokens = scratch.empty(name, len(matrix.indices), np.int32)
        ptr, features = scratch.growing(f"{name}-offsets", np.int64), scratch.growing(f"{name}-features", np.int32)
        for begin, end in pairwise(data.offsets[ranges].tolist()):
            own = _rows(matrix, begin, end)
            found = transpose(own, rows, tokens[matrix.offsets[begin] : matrix.offsets[end]])
            ptr.append(found.ptr)
            features.append(found.features)
            firsts.append(firsts[-1] + len(found.features))
            scratch.release()
        return cls(data, rows, ranges, tokens, ptr.array(), features.array(), np.array(firsts))

    def __len__(self) -> int:
        return len(self.ranges) - 1

    def features_of(self, number: int) -> NDArray[np.int32]:
        """Return the features that a shard has, ascending: the rows of its gradient."""
        first, end = self.firsts[number : number + 2].tolist()
        dense, features = self.data.matrix.dense, self.features[first:end]
        if dense is None:
            return features
        return np.append(features, np.arange(self.rows - dense.width, self.rows, dtype=np.int32))

    def add(self, number: int, weights: Weights, gradient: Singles, run: Executor = SERIAL) -> Share:
        """Return a shard's share, and add its gradient in features to ``gradient``, (F, R, K)."""
        return self._add(number, self._transposed(number), weights, gradient, run)

    def alone(self, number: int, weights: Weights) -> tuple[Share, Singles]:
        """Return a shard's share, and its gradient in `features_of` it, (A, R, K)."""
        transposed = self._transposed(number)
        gradient = np.zeros((len(self.features_of(number)), *weights.features.shape[1:]), np.float32)
        own = transposed._replace(features=np.arange(len(transposed.features), dtype=np.int32))
        return self._add(number, own, weights, gradient, SERIAL), gradient

    def _add(self, number: int, transposed: Transposed, weights: Weights, gradient: Singles, run: Executor) -> Share:
        data, (first, end) = self.data, self.ranges[number : number + 2].tolist()
        begin, stop = data.offsets[[first, end]].tolist()
        every = len(self) == 1  # where nothing need be picked
        sentences, tokens = (None, None) if every else (np.arange(first, end), np.arange(begin, stop))
        potentials = role_scores(data.matrix, weights, tokens, run)
        found = data.residual(potentials, data.offsets[first : end + 1] - begin, sentences, tokens, run)
        role_gradient(transposed, found.roles, gradient, run, add=True)
        data.scratch.release()
        return Share(found.loss, found.constants)

    def _transposed(self, number: int) -> Transposed:
        first, end = self.firsts[number : number + 2].tolist()
        begin, stop = self.data.offsets[self.ranges[number : number + 2]].tolist()
        own, matrix = self.data.matrix.offsets, self.data.matrix
        return Transposed(
            self.tokens[own[begin] : own[stop]], self.ptr[first + number : end + number + 1], self.features[first:end],
            _rows(matrix, begin, stop).dense,
        )  # fmt: skip


def _rows(matrix: Sparse, begin: int, end: int) -> Sparse:
    """Return some rows of a matrix."""
    indices, offsets, dense = matrix.indices, matrix.offsets, matrix.dense
    return Sparse(
        indices[offsets[begin] : offsets[end]], offsets[begin : end + 1] - offsets[begin],
        dense=None if dense is None else dense._replace(rows=dense.rows[begin:end]),
    )  # fmt: skip
