"""Logistic regression over sparse features and a few numbers, by L-BFGS."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.features import Sparse
from spanloom.hypergraph import Floats, Ints, Singles
from spanloom.learn.lbfgs import minimize
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import Weights, role_gradient, role_scores, transpose

_ITERATIONS = 200
_RIDGE = 0.1  # on the weights of numbers: they are few, and seen by all
ROUGH = 1e-3  # tolerance of regressions that are only used to choose


class Regression(NamedTuple):
    """Weights of F features and of D numbers.

    Args:
        sparse: (F,) float32.
        dense: (D,) float32.
    """

    sparse: Singles
    dense: Singles

    @classmethod
    def zeros(cls, features: int, numbers: int) -> Regression:
        """Return weights that are all 0."""
        return cls(np.zeros(features, np.float32), np.zeros(numbers, np.float32))

    def single(self, group_sizes: Singles) -> Regression:
        """Return the weights of single features, where those of a row, shared by so many, are the sums of theirs."""
        return Regression(self.sparse / group_sizes, self.dense)


def linear_scores(matrix: Sparse, numbers: Floats, weights: Regression, run: Executor = SERIAL) -> Floats:
    """Return the score of each of C rows, (C,).

    Args:
        matrix: (C, F) binary.
        numbers: (C, D).
        weights: of each feature's every occurrence, and of the numbers.
        run: how pieces of the work are run.
    """
    sums = role_scores(matrix, Weights(weights.sparse[:, None, None], np.zeros((0, 1), np.float32)), run=run)
    found: Floats = np.einsum("cd,d->c", numbers, weights.dense)
    found += sums.roles[:, 0, 0]
    return found


def fit_regression(
    matrix: Sparse, numbers: Floats, right: NDArray[np.bool_], group_sizes: Singles, l2: float,
    start: Regression | None = None, run: Executor = SERIAL, tolerance: float = 1e-5,
) -> Regression:  # fmt: skip
    """Return the weights of the largest likelihood, less ``l2`` times their squares.

    Args:
        matrix: (C, F) binary.
        numbers: (C, D), the first of them 1.
        right: (C,) the answers.
        group_sizes: (F,) how many features share each weight, whose penalty is divided by it.
        l2: lambda.
        start: where to begin.
        run: how pieces of the work are run; the result does not depend on it.
        tolerance: the relative improvement below which it ends.
    """
    features, columns = len(group_sizes), numbers.shape[1]
    transposed = transpose(matrix, features)
    scale = np.sqrt(group_sizes)
    sign = np.where(right, -1.0, 1.0)

    def weights(point: Singles) -> Regression:
        return Regression(point[:features] * scale, point[features:])

    def value(point: Singles, gradient: Singles) -> float:
        odds, sparse = linear_scores(matrix, numbers, weights(point), run), gradient[:features]
        odds *= sign  # of the wrong answer
        loss = np.logaddexp(0.0, odds)
        odds -= loss
        slope = np.exp(odds, out=odds)
        slope *= sign
        role_gradient(transposed, slope.astype(np.float32)[:, None, None], sparse[:, None, None], run)
        sparse *= scale
        sparse += np.float32(2 * l2) * point[:features]
        gradient[features:] = np.einsum("c,cd->d", slope, numbers) + 2 * _RIDGE * point[features:]
        squares = np.square(point, dtype=np.float64)
        return float(loss.sum() + l2 * squares[:features].sum() + _RIDGE * squares[features:].sum())

    if start is None:
        begin = np.zeros(features + columns, np.float32)
    else:
        begin = np.concatenate([start.sparse / scale, start.dense])
    return weights(minimize(value, begin, iterations=_ITERATIONS, tolerance=tolerance, run=run))


class Rows(NamedTuple):
    """What regressions are fitted to: C things, such as candidates.

    Args:
        matrix: (C, F), without dense columns.
        numbers: (C, D).
        right: (C,) the answers.
        sizes: (F,) how many features share each weight.
    """

    matrix: Sparse
    numbers: Floats
    right: NDArray[np.bool_]
    sizes: Singles

    def take(self, kept: NDArray[np.bool_]) -> Rows:
        """Return some of them."""
        sizes = np.diff(self.matrix.offsets)
        matrix = Sparse(self.matrix.indices[np.repeat(kept, sizes)], np.append(0, sizes[kept].cumsum()))
        return Rows(matrix, self.numbers[kept], self.right[kept], self.sizes)

    def odds_by_others(
        self, fold: Ints, l2: float, run: Executor, parts: dict[int, Regression] | None = None
    ) -> Floats:
        """Return log-odds by regressions that are fitted to the other folds, (C,).

        Args:
            fold: (C,) of each.
            l2: lambda.
            run: how pieces of the work are run.
            parts: of each fold the regression to begin with, which becomes the fitted one.
        """
        odds, parts = np.empty(len(fold)), {} if parts is None else parts
        for number in np.unique(fold).tolist():
            own, others = self.take(fold == number), self.take(fold != number)
            parts[number] = fit_regression(*others, l2, parts.get(number), run, ROUGH)
            odds[fold == number] = linear_scores(own.matrix, own.numbers, parts[number].single(self.sizes), run)
        return odds
