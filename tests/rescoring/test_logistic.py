"""Logistic regression, against SciPy's optimum of the same objective."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from spanloom.features import Sparse
from spanloom.parallel import threads
from spanloom.rescoring import logistic
from spanloom.rescoring.logistic import Regression, fit_regression, linear_scores


def problem(rows: int = 300, features: int = 12) -> tuple[Sparse, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    dense = random.random((rows, features)) < 0.3
    indices = np.concatenate([np.flatnonzero(row) for row in dense]).astype(np.int32)
    matrix = Sparse(indices, np.append(0, dense.sum(1).cumsum()))
    numbers = np.stack([np.ones(rows), random.normal(size=rows)], 1)
    truth = dense @ random.normal(size=features) + numbers[:, 1]
    right = random.random(rows) < 1 / (1 + np.exp(-truth))
    return matrix, numbers, right, random.integers(1, 4, features).astype(np.float32), dense


def test_the_weights_are_those_of_the_largest_penalized_likelihood() -> None:
    matrix, numbers, right, sizes, dense = problem()
    columns = np.concatenate([dense.astype(float), numbers], 1)
    penalty = np.concatenate([2.0 / sizes, np.full(2, logistic._RIDGE)])

    def objective(w: np.ndarray) -> float:
        return float(np.logaddexp(0, np.where(right, -1, 1) * (columns @ w)).sum() + (penalty * w**2).sum())

    best = minimize(objective, np.zeros(14), method="BFGS", options={"gtol": 1e-6})
    found = fit_regression(matrix, numbers, right, sizes, 2.0)
    np.testing.assert_allclose(np.concatenate(found), best.x, atol=2e-3)
    assert objective(np.concatenate(found)) < best.fun * (1 + 1e-5)


def test_the_weights_do_not_depend_on_threads_or_much_on_the_start() -> None:
    matrix, numbers, right, sizes, _ = problem(5000)
    one, three = (fit_regression(matrix, numbers, right, sizes, 1.0, run=run) for run in (threads(1), threads(3)))
    assert all(np.array_equal(a, b) for a, b in zip(one, three, strict=True))
    again = fit_regression(matrix, numbers, right, sizes, 1.0, start=one)
    np.testing.assert_allclose(np.concatenate(again), np.concatenate(one), atol=2e-3)


def test_scores_of_no_rows() -> None:
    empty = Sparse(np.zeros(0, np.int32), np.zeros(1, np.int64))
    assert linear_scores(empty, np.zeros((0, 2)), Regression.zeros(3, 2)).shape == (0,)
