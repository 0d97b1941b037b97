"""The objective of papers 003, 000 and 001: minus the log-likelihood plus lambda times the squared weights; convex.

Where the target is not one structure but soft counts, the cross entropy takes the place of the log-likelihood.
"""

from __future__ import annotations

import numpy as np

from spanloom.hypergraph import Singles
from spanloom.learn.data import TrainingSet
from spanloom.learn.shards import Shards, shard_tokens
from spanloom.learn.sums import Here, Penalty, Spread
from spanloom.parallel import SERIAL, Executor, even_ranges
from spanloom.scoring import Weights

_VARIANCE = 0.03  # v, the mean of p (1 - p) over roles and tokens; its order of magnitude is all that matters
_POWER = 0.2


class Objective:
    """The objective and its gradient, for optimizers that see the whole corpus at each step.

    The point is one vector, the weights of features and then those of constants, each divided by a scale: the root of
    its group's size g, times a power of about the second derivative of one of the g features, 2 lambda + v n g for a
    feature of n tokens. The first makes merged features as well conditioned as single ones; the second makes frequent
    and rare features more equally steep. The power -1/2 would make them equal and begins best, but doubles the steps
    near the optimum; -1/5 halves the steps at the start and costs none at the end.

    Lu and Roth (2015), equations 2 and 3; with both ways of counting, gold structures are counted like all others.

    Args:
        data: the corpus.
        l2: lambda.
        run: executor of the pieces of work; results do not depend on it.
        shard: the maximum number of tokens of a shard; potentials and residuals of one shard at a time are in memory.
            From the corpus when ``None``.
        workers: executor of shards, in place of this process; they share the folder of the corpus, whose ``scratch``
            is a folder. Results do not depend on it.

    Raises:
        UsageError: workers without shared memory, with a corpus in memory.
    """

    def __init__(
        self, data: TrainingSet, l2: float, run: Executor = SERIAL, shard: int | None = None,
        workers: Executor | None = None,
    ) -> None:  # fmt: skip
        self.data = data
        self.l2 = l2
        self._run = run
        tokens = int(data.offsets[-1])
        shards = Shards.of(data, f"transposed-{l2!r}", shard or shard_tokens(tokens))
        self._weights = data.zeros
        steep = 2 * l2 + _VARIANCE * data.counts * data.group_sizes
        scale = (np.sqrt(data.group_sizes) * steep**-_POWER).astype(np.float32)
        self._scale = scale[:, None, None]
        uses = tokens / max(1, len(self._weights.constants))
        self._constant_scale = np.float32((2 * l2 + _VARIANCE * uses) ** -_POWER) if uses else np.float32(1)
        penalty = Penalty(l2, data.group_sizes, scale)
        self._sums: Here | Spread
        if workers is None or workers.shared is workers:
            self._sums = Here(shards, penalty, workers or run)
        else:
            self._sums = Spread(shards, penalty, workers, run)

    @property
    def size(self) -> int:
        """The number of weights."""
        return self._weights.features.size + self._weights.constants.size

    def weights(self, point: Singles) -> Weights:
        """The weights at a point; the arrays are reused by the next call."""
        features, constants = self._weights
        cut = features.size
        given = point[:cut].reshape(features.shape)

        def scaled(piece: tuple[int, int]) -> None:
            own = slice(*piece)
            np.multiply(given[own], self._scale[own], out=features[own])

        self._run.map(scaled, even_ranges(len(features), self._run.workers))
        np.multiply(point[cut:].reshape(constants.shape), self._constant_scale, out=constants)
        return self._weights

    def point(self, weights: Weights) -> Singles:
        """The point of given weights."""
        features, constants = weights.features / self._scale, weights.constants / self._constant_scale
        return np.concatenate([features.ravel(), constants.ravel()]).astype(np.float32)

    def value_and_gradient(self, point: Singles, gradient: Singles) -> float:
        """The objective at a point; its gradient is written to ``gradient``."""
        weights = self.weights(point)
        cut = weights.features.size
        loss, constants, squares = self._sums(weights, gradient[:cut].reshape(weights.features.shape))
        constants += 2 * self.l2 * weights.constants
        gradient[cut:] = (constants * self._constant_scale).ravel()
        return loss + self.l2 * (squares + float(np.square(weights.constants, dtype=np.float64).sum()))
