"""AdaGrad (Duchi et al. 2011): reaches the accuracy of the optimum in a few passes over the corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from spanloom.hypergraph import Ints, Singles
from spanloom.hypergraph.threads import Map, even_ranges, serial
from spanloom.learn import kernels_learn as kernels
from spanloom.learn.data import TrainingSet
from spanloom.scoring import Weights, role_scores

_PIECES = 4  # of a batch's features; fixed, so that the work is cut the same way for any number of threads


class Epoch(NamedTuple):
    """The end of a pass.

    Args:
        number: from 1.
        objective: summed while the weights changed, so above that of the weights at the end.
        weights: the mean of the weights at the end of each pass so far; reused: copy to keep.
    """

    number: int
    objective: float
    weights: Weights


def adagrad(
    data: TrainingSet,
    *,
    l2: float,
    epochs: int,
    rate: float,
    batch: int,
    seed: int | Sequence[int],
    run: Map = serial,
    callback: Callable[[Epoch], bool] | None = None,
    start: Weights | None = None,
) -> Weights:
    """Weights after some passes over the corpus, in an order drawn from the seed: the mean over the ends of all passes.

    The mean of a few passes does better on new text than the last pass does (on GENIA by 0.3 points of F1).

    A weight that stands for g equal ones takes sqrt(g) times the step, as if they stood apart with their length kept.
    The penalty of a feature is spread over the batches that have it, so that a batch touches only its own features.

    Args:
        data: the corpus.
        l2: lambda of the whole corpus' objective.
        epochs: passes.
        rate: the length of a first step.
        batch: sentences a step.
        seed: of the order, one number or several.
        run: how pieces of the work are run; results do not depend on it.
        callback: called after each pass; a true result stops.
        start: where to begin; at zero when ``None``.
    """
    weights = data.zeros if start is None else start
    mean = Weights(weights.features, weights.constants)
    state = _State(data, weights, l2, rate, batch)
    random = np.random.default_rng(seed)
    filled = np.flatnonzero(np.diff(data.offsets))
    for number in range(1, epochs + 1):
        order = random.permutation(filled)
        objective = sum(state.step(order[i : i + batch], run) for i in range(0, len(order), batch))
        if number == 1 and epochs > 1:
            mean = Weights(*(array.copy() for array in weights))
        elif number > 1:
            for average, array in zip(mean, weights, strict=True):
                average += (array - average) / np.float32(number)
        if callback is not None and callback(Epoch(number, objective + state.penalty(), mean)):
            break
    return mean


class _State:
    """The squares of past gradients, and scratch memory."""

    def __init__(self, data: TrainingSet, weights: Weights, l2: float, rate: float, batch: int) -> None:
        self.data, self.weights, self.l2, self.rate = data, weights, l2, rate
        self.flat = weights.features.reshape(-1, weights.features.shape[1] * weights.features.shape[2])
        self.squares = np.zeros_like(self.flat)
        self.constant_squares = np.zeros_like(weights.constants)
        batches = -(-(len(data.offsets) - 1) // batch)
        self.shrink = (2 * l2 / data.group_sizes / np.minimum(batches, data.counts)).astype(np.float32)
        self.shrink_constants = np.float32(2 * l2 / batches)
        self.stretch = np.sqrt(data.group_sizes)
        self.mark = np.full(len(self.flat), -1, np.int32)

    def penalty(self) -> float:
        """Lambda times the squared weights."""
        squares = np.einsum("fr,fr,f->", self.flat, self.flat, 1 / self.data.group_sizes, dtype=np.float64)
        return self.l2 * float(squares + np.square(self.weights.constants, dtype=np.float64).sum())

    def step(self, sentences: Ints, run: Map) -> float:
        """One step; returns the batch's minus log-likelihood before it."""
        data = self.data
        tokens, offsets = _tokens(data.offsets, sentences)
        potentials = role_scores(data.matrix, self.weights, tokens, run)
        sums = data.engine.expectations(potentials, offsets)
        gold = data.gold_roles[tokens]
        loss = float(sums.log_partition.sum()) - float(np.einsum("trk,trk->", potentials.roles, gold, dtype=np.float64))
        residual = np.subtract(sums.roles, gold, out=gold).reshape(len(tokens), -1)
        self._update(tokens, residual, run)
        if len(sums.constants):
            counted = data.constant_counts(sentences)
            loss -= float((self.weights.constants * counted).sum())
            self._update_constants((sums.constants - counted).astype(np.float32))
        return loss

    def _update(self, tokens: Ints, residual: Singles, run: Map) -> None:
        matrix = self.data.matrix
        size = int((matrix.offsets[tokens + 1] - matrix.offsets[tokens]).sum())
        features, places = np.empty(size, np.int32), np.empty(size, np.int32)
        ptr = np.empty(size + 2, np.int64)
        found = kernels.batch_features(matrix.indices, matrix.offsets, tokens, self.mark, features, ptr, places)
        run(
            lambda piece: kernels.adagrad(
                features, ptr, places, residual, self.shrink, self.stretch, self.rate, *piece, self.flat, self.squares,
                np.empty(residual.shape[1], np.float32),
            ),
            even_ranges(found, _PIECES),
        )  # fmt: skip

    def _update_constants(self, gradient: Singles) -> None:
        constants = self.weights.constants
        gradient += self.shrink_constants * constants
        self.constant_squares += gradient * gradient
        constants -= np.float32(self.rate) * gradient / (np.sqrt(self.constant_squares) + np.float32(1e-8))


def _tokens(offsets: Ints, sentences: Ints) -> tuple[Ints, Ints]:
    """The tokens of some sentences, and the sentences' offsets among them."""
    lengths = offsets[sentences + 1] - offsets[sentences]
    begin = np.concatenate([[0], np.cumsum(lengths)])
    tokens = np.repeat(offsets[sentences] - begin[:-1], lengths) + np.arange(begin[-1])
    return tokens, begin
