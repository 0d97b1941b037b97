"""Logistic regression, against SciPy's optimum of the same objective."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from spanloom.features import Sparse
from spanloom.native import Kernel
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
    for tolerance, distance in ((5e-5, 2e-2), (1e-7, 1e-3)):
        found = np.concatenate(fit_regression(matrix, numbers, right, sizes, 2.0, tolerance=tolerance).weights)
        np.testing.assert_allclose(found, best.x, atol=distance)
        assert objective(found) < best.fun * (1 + tolerance)


def test_a_regression_goes_on_from_another_and_leaves_it_alone() -> None:
    *rows, _ = problem(5000)
    first, second = (fit_regression(*rows, l2, tolerance=1e-6) for l2 in (1.0, 2.0))
    kept = [array.copy() for array in (*first.weights, first.duals)]
    again = fit_regression(*rows, 2.0, first, tolerance=1e-6)
    np.testing.assert_allclose(np.concatenate(again.weights), np.concatenate(second.weights), atol=2e-3)
    for array, before in zip((*first.weights, first.duals), kept, strict=True):
        np.testing.assert_array_equal(array, before)


def test_rows_without_features_and_answers_that_are_all_the_same() -> None:
    empty = Sparse(np.zeros(0, np.int32), np.zeros(51, np.int64))
    found = fit_regression(empty, np.ones((50, 1)), np.ones(50, np.bool_), np.ones(3, np.float32), 1.0, tolerance=1e-9)
    assert found.weights.sparse.tolist() == [0, 0, 0]
    bias = float(found.weights.dense[0])
    assert 2 * logistic._RIDGE * bias == pytest.approx(50 / (1 + np.exp(bias)), rel=1e-4)


def test_the_kernel_takes_the_pass_that_is_written_in_plain_python() -> None:
    matrix, numbers, right, sizes, _ = problem(200)
    random = np.random.default_rng(3)
    order, duals = random.permutation(200)[:150], random.random(200)
    ones = np.stack([random.normal(size=12), sizes / 4], 1).astype(np.float32)
    others, lengths = random.random((2, 2)), random.random(200).astype(np.float32)
    expected, plain, dense, gap, loss = duals.copy(), ones.astype(float), others.copy(), 0.0, 0.0
    for row in order:
        own = matrix.indices[matrix.offsets[row] : matrix.offsets[row + 1]]
        sign = 1 if right[row] else -1
        margin = sign * (plain[own, 0].sum() + numbers[row] @ dense[:, 0])
        chance, dual = 1 / (1 + np.exp(margin)), expected[row]
        spread = max(chance * (1 - chance), dual * (1 - dual))
        gap += (chance - dual) ** 2 / (2 * spread)
        loss += np.logaddexp(0, -margin)
        most = 0.25 if (chance - 0.5) * (dual - 0.5) < 0 else spread
        step = (chance - dual) / (1 + lengths[row] * most)
        expected[row] += step
        plain[own, 0] += sign * step * plain[own, 1]
        dense[:, 0] += sign * step * numbers[row] * dense[:, 1]
    sums = np.empty(2)
    Kernel("ascend")(*matrix[:2], numbers, right, lengths, order, duals, ones, others, sums)
    np.testing.assert_allclose(duals, expected, rtol=1e-4)
    np.testing.assert_allclose(ones, plain, atol=1e-4)
    np.testing.assert_allclose(others, dense, atol=1e-4)
    np.testing.assert_allclose(sums, [gap, loss], rtol=1e-4)


def test_scores_of_no_rows() -> None:
    empty = Sparse(np.zeros(0, np.int32), np.zeros(1, np.int64))
    assert linear_scores(empty, np.zeros((0, 2)), Regression.zeros(3, 2)).shape == (0,)
