"""Logistic regression over sparse features and a few numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.features import Sparse
from spanloom.hypergraph import Floats, Ints, Singles
from spanloom.native import Kernel
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import Weights, role_scores

_PASSES = 200
_ascend = Kernel("ascend")
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


class Fitted(NamedTuple):
    """A fitted regression, with which another one can begin.

    Args:
        weights: of each feature's every occurrence, and of the numbers.
        duals: (C,) about the chance of the wrong answer.
        l2: lambda.
    """

    weights: Regression
    duals: Floats
    l2: float


def fit_regression(
    matrix: Sparse, numbers: Floats, right: NDArray[np.bool_], group_sizes: Singles, l2: float,
    start: Fitted | None = None, tolerance: float = 5e-5,
) -> Fitted:  # fmt: skip
    """Return the weights of the largest likelihood, less ``l2`` times their squares.

    By dual coordinate ascent (Yu, Huang and Lin 2011), in a new order in each pass, as it hardly converges in the same
    one. 20 passes come as close as 120 steps of L-BFGS. The weights are always the sum of rows, each times its dual.

    Args:
        matrix: (C, F) binary.
        numbers: (C, D), the first of them 1.
        right: (C,) the answers.
        group_sizes: (F,) how many features share each weight, whose penalty is divided by it.
        l2: lambda.
        start: of the same rows, where to begin.
        tolerance: it ends when the gap between primal and dual is about this part of the loss.
    """
    sparse, dense = group_sizes / np.float32(2 * l2), np.full(numbers.shape[1], 1 / (2 * _RIDGE))
    lengths = linear_scores(matrix, np.square(numbers), Regression(sparse, dense.astype(np.float32)))
    if start is None:
        duals, weights = np.zeros(len(numbers)), Regression.zeros(len(sparse), len(dense))
    else:
        duals = start.duals.copy()
        weights = Regression(start.weights.sparse * np.float32(start.l2 / l2), start.weights.dense)
    ones, others, sums = np.stack([weights.sparse, sparse], 1), np.stack([weights.dense, dense], 1), np.empty(2)
    random = np.random.default_rng(0)
    for _ in range(_PASSES):
        order = random.permutation(len(numbers))
        _ascend(*matrix[:2], numbers, right, lengths.astype(np.float32), order, duals, ones, others, sums)
        if sums[0] <= tolerance * sums[1]:
            break
    return Fitted(Regression(ones[:, 0].copy(), others[:, 0].astype(np.float32)), duals, l2)


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

    def odds_by_others(self, fold: Ints, l2: float, run: Executor, parts: dict[int, Fitted] | None = None) -> Floats:
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
            parts[number] = fit_regression(*others, l2, parts.get(number), ROUGH)
            weights = parts[number].weights.single(self.sizes)
            odds[fold == number] = linear_scores(own.matrix, own.numbers, weights, run)
        return odds
