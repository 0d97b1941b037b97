"""The objective of papers 003, 000 and 001: minus the log-likelihood plus lambda times the squared weights; convex.

Where the target is not one structure but soft counts, the cross entropy takes the place of the log-likelihood.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spanloom.features import Sparse
from spanloom.hypergraph import Ints, Singles
from spanloom.learn.data import TrainingSet
from spanloom.learn.target import PIECE_TOKENS
from spanloom.parallel import SERIAL, Executor, whole_ranges
from spanloom.scoring import Transposed, Weights, role_gradient, role_scores, transpose

_VARIANCE = 0.03  # v, the mean of p (1 - p) over roles and tokens; its order of magnitude is all that matters
_POWER = 0.2


class Objective:
    """The objective and its gradient, for optimizers that see the whole corpus at each step.

    The point is one vector, the weights of features and then those of constants, each divided by a scale: the root of
    its group's size g, times a power of about the second derivative of one of the g features, 2 lambda + v n g for a
    feature of n tokens. The first makes merged features as well conditioned as single ones; the second makes frequent
    and rare features more equally steep. The power -1/2 would make them equal and begins best, but doubles the steps
    near the optimum; -1/5 halves the steps at the start and costs none at the end.

    Lu and Roth (2015), equations 2 and 3; with either way of counting, gold structures are counted as all others are.

    Args:
        data: the corpus.
        l2: lambda.
        run: how pieces of the work are run; results do not depend on it.
        piece: tokens whose potentials and residuals are held at once, about: a larger corpus is gone over in pieces.
    """

    def __init__(self, data: TrainingSet, l2: float, run: Executor = SERIAL, piece: int = PIECE_TOKENS) -> None:
        self.data = data
        self.l2 = l2
        self.run = run
        ranges = whole_ranges(data.offsets, piece) or [(0, 0)]
        self._pieces = [_Piece.of(data, f"transposed-{l2!r}-{number}", *each) for number, each in enumerate(ranges)]
        self._weights = data.zeros
        steep = 2 * l2 + _VARIANCE * data.counts * data.group_sizes
        self._scale = (np.sqrt(data.group_sizes) * steep**-_POWER).astype(np.float32)[:, None, None]
        uses = data.offsets[-1] / max(1, len(self._weights.constants))
        self._constant_scale = np.float32((2 * l2 + _VARIANCE * uses) ** -_POWER) if uses else np.float32(1)

    @property
    def size(self) -> int:
        """The number of weights."""
        return self._weights.features.size + self._weights.constants.size

    def weights(self, point: Singles) -> Weights:
        """The weights at a point; the arrays are reused by the next call."""
        features, constants = self._weights
        cut = features.size
        np.multiply(point[:cut].reshape(features.shape), self._scale, out=features)
        np.multiply(point[cut:].reshape(constants.shape), self._constant_scale, out=constants)
        return self._weights

    def point(self, weights: Weights) -> Singles:
        """The point of given weights."""
        features, constants = weights.features / self._scale, weights.constants / self._constant_scale
        return np.concatenate([features.ravel(), constants.ravel()]).astype(np.float32)

    def value_and_gradient(self, point: Singles, gradient: Singles) -> float:
        """The objective at a point; its gradient is written to ``gradient``."""
        data = self.data
        weights = self.weights(point)
        cut = weights.features.size
        rows = gradient[:cut].reshape(weights.features.shape)
        rows[:] = 0
        loss, constants = 0.0, np.zeros(weights.constants.shape)
        for piece in self._pieces:
            potentials = role_scores(data.matrix, weights, piece.tokens, self.run)
            found = data.residual(potentials, piece.offsets, piece.sentences, piece.tokens, self.run)
            role_gradient(piece.transposed, found.roles, rows, self.run, add=True)
            loss += found.loss
            constants += found.constants
            data.scratch.release()
        shrink = (2 * self.l2 / data.group_sizes).astype(np.float32)[:, None, None]
        rows += shrink * weights.features
        rows *= self._scale
        constants += 2 * self.l2 * weights.constants
        gradient[cut:] = (constants * self._constant_scale).ravel()
        return loss + self._penalty(weights)

    def _penalty(self, weights: Weights) -> float:
        squares = np.einsum("frk,frk,f->", *(weights.features,) * 2, 1 / self.data.group_sizes, dtype=np.float64)
        return self.l2 * float(squares + np.square(weights.constants, dtype=np.float64).sum())


class _Piece(NamedTuple):
    """Some sentences of a corpus.

    Args:
        sentences: their numbers; ``None`` for all.
        tokens: the numbers of their tokens; ``None`` for all.
        offsets: first token of each sentence, counted among these.
        transposed: the tokens of each feature, counted alike.
    """

    sentences: Ints | None
    tokens: Ints | None
    offsets: Ints
    transposed: Transposed

    @classmethod
    def of(cls, data: TrainingSet, name: str, first: int, end: int) -> _Piece:
        features = len(data.group_sizes)
        if end - first == len(data.offsets) - 1:
            return cls(None, None, data.offsets, transpose(data.matrix, features, data.scratch, name))
        begin, stop = data.offsets[[first, end]].tolist()
        indices, offsets, _, dense = data.matrix
        own = Sparse(
            indices[offsets[begin] : offsets[stop]], offsets[begin : stop + 1] - offsets[begin],
            dense=None if dense is None else dense._replace(rows=dense.rows[begin:stop]),
        )  # fmt: skip
        transposed = transpose(own, features, data.scratch, name)
        data.scratch.release()
        return cls(np.arange(first, end), np.arange(begin, stop), data.offsets[first : end + 1] - begin, transposed)
