"""The objective of papers 003, 000 and 001: minus the log-likelihood plus lambda times the squared weights; convex."""

from __future__ import annotations

import numpy as np

from spanloom.hypergraph import Singles
from spanloom.hypergraph.threads import Map, serial
from spanloom.learn.data import TrainingSet
from spanloom.scoring import Weights, role_gradient, role_scores, transpose


class Objective:
    """The objective and its gradient, for optimizers that see the whole corpus at each step.

    The point is one vector: the weights of features, each divided by the square root of its group's size g, then those
    of constants. So lambda times the vector's square is the penalty of all g features of each group, and the
    problem is as well conditioned as if they stood apart.

    Lu and Roth (2015), equations 2 and 3; with either way of counting, gold structures are counted as all others are.

    Args:
        data: the corpus.
        l2: lambda.
        n_jobs: threads of the engine; results do not depend on it.
        run: how pieces of the products are run.
    """

    def __init__(self, data: TrainingSet, l2: float, n_jobs: int | None = 1, run: Map = serial) -> None:
        self.data = data
        self.l2 = l2
        self.n_jobs = n_jobs
        self.run = run
        self._transposed = transpose(data.matrix, len(data.group_sizes))
        self._scale = np.sqrt(data.group_sizes)[:, None, None]
        self._weights = data.zeros

    @property
    def size(self) -> int:
        """The number of weights."""
        return self._weights.features.size + self._weights.constants.size

    def weights(self, point: Singles) -> Weights:
        """The weights at a point; the arrays are reused by the next call."""
        features, constants = self._weights
        cut = features.size
        np.multiply(point[:cut].reshape(features.shape), self._scale, out=features)
        constants[:] = point[cut:].reshape(constants.shape)
        return self._weights

    def point(self, weights: Weights) -> Singles:
        """The point of given weights."""
        features = weights.features / self._scale
        return np.concatenate([features.ravel(), weights.constants.ravel()]).astype(np.float32)

    def value_and_gradient(self, point: Singles, gradient: Singles) -> float:
        """The objective at a point; its gradient is written to ``gradient``."""
        data = self.data
        weights = self.weights(point)
        potentials = role_scores(data.matrix, weights, run=self.run)
        sums = data.engine.expectations(potentials, data.offsets, self.n_jobs)
        gold = float(np.einsum("trk,trk->", potentials.roles, data.gold_roles, dtype=np.float64))
        gold += float((weights.constants * data.gold_constants).sum())
        residual = np.subtract(sums.roles, data.gold_roles, out=sums.roles)
        cut = weights.features.size
        rows = gradient[:cut].reshape(weights.features.shape)
        role_gradient(self._transposed, residual, rows, self.run)
        rows *= self._scale
        gradient[cut:] = (sums.constants - data.gold_constants).ravel()
        gradient += np.float32(2 * self.l2) * point
        penalty = self.l2 * float(np.einsum("i,i->", point, point, dtype=np.float64))
        return float(sums.log_partition.sum()) - gold + penalty
