"""The objective of papers 003, 000 and 001: minus the log-likelihood plus lambda times the squared weights; convex.

Where the target is not one structure but soft counts, the cross entropy takes the place of the log-likelihood.
"""

from __future__ import annotations

import numpy as np

from spanloom.hypergraph import Singles
from spanloom.learn.data import TrainingSet
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import Weights, role_gradient, role_scores, transpose

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
    """

    def __init__(self, data: TrainingSet, l2: float, run: Executor = SERIAL) -> None:
        self.data = data
        self.l2 = l2
        self.run = run
        self._transposed = transpose(data.matrix, len(data.group_sizes))
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
        potentials = role_scores(data.matrix, weights, run=self.run)
        found = data.residual(potentials, data.offsets, run=self.run)
        cut = weights.features.size
        rows = gradient[:cut].reshape(weights.features.shape)
        role_gradient(self._transposed, found.roles, rows, self.run)
        shrink = (2 * self.l2 / data.group_sizes).astype(np.float32)[:, None, None]
        rows += shrink * weights.features
        rows *= self._scale
        constants = found.constants + 2 * self.l2 * weights.constants
        gradient[cut:] = (constants * self._constant_scale).ravel()
        return found.loss + self._penalty(weights)

    def _penalty(self, weights: Weights) -> float:
        squares = np.einsum("frk,frk,f->", *(weights.features,) * 2, 1 / self.data.group_sizes, dtype=np.float64)
        return self.l2 * float(squares + np.square(weights.constants, dtype=np.float64).sum())
