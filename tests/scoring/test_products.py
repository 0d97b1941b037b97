"""The sparse product and its transpose against dense matrices; the same bytes for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.features import Sparse
from spanloom.native import Kernel
from spanloom.parallel import Threads
from spanloom.scoring import Weights, role_gradient, role_scores, transpose

SEEDS = st.integers(0, 2**32 - 1)


def random_matrix(rng: np.random.Generator, tokens: int, features: int, density: float) -> Sparse:
    """Rows of any length, empty ones too; an index may occur twice in a row, as it does after a look-up."""
    lengths = rng.binomial(2 * features, density / 2, tokens) if features else np.zeros(tokens, int)
    indices = rng.integers(0, max(features, 1), int(lengths.sum())).astype(np.int32)
    return Sparse(indices, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def dense(matrix: Sparse, features: int) -> np.ndarray:
    """(T, F) how often each feature stands at each token."""
    rows = np.repeat(np.arange(len(matrix.offsets) - 1), np.diff(matrix.offsets))
    table = np.zeros((len(matrix.offsets) - 1, features))
    np.add.at(table, (rows, matrix.indices), 1)
    return table


def random_weights(rng: np.random.Generator, features: int, roles: int, types: int) -> Weights:
    constants = rng.normal(size=(3, types)).astype(np.float32)
    return Weights(rng.normal(size=(features, roles, types)).astype(np.float32), constants)


@given(
    seed=SEEDS,
    tokens=st.integers(0, 40),
    features=st.integers(0, 30),
    roles=st.integers(1, 5),
    types=st.integers(1, 3),
    density=st.floats(0, 1),
)
@settings(max_examples=60, deadline=None)
def test_products_are_those_of_dense_matrices(seed, tokens, features, roles, types, density):
    rng = np.random.default_rng(seed)
    matrix, weights = random_matrix(rng, tokens, features, density), random_weights(rng, features, roles, types)
    table = dense(matrix, features)
    scores = role_scores(matrix, weights)
    assert scores.roles.dtype == np.float32
    assert scores.constants is weights.constants
    np.testing.assert_allclose(scores.roles, np.einsum("tf,frk->trk", table, weights.features), rtol=1e-4, atol=1e-4)

    rows = rng.integers(0, tokens, 7) if tokens else np.zeros(0, np.int64)
    np.testing.assert_array_equal(role_scores(matrix, weights, rows).roles, scores.roles[rows])

    residual = rng.normal(size=(tokens, roles, types)).astype(np.float32)
    gradient = np.full((features, roles, types), np.nan, np.float32)
    role_gradient(transpose(matrix, features), residual, gradient)
    np.testing.assert_allclose(gradient, np.einsum("tf,trk->frk", table, residual), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("width", [1, 3, 7, 8, 11, 16, 20, 30, 46])
def test_scores_are_added_up_one_after_the_other(width):
    """To the byte, wherever a column lies in a vector, and onto what is there."""
    rng = np.random.default_rng(width)
    matrix, table = random_matrix(rng, 9, 30, 0.3), rng.normal(size=(30, width)).astype(np.float32)
    rows, scores = rng.permutation(9), rng.normal(size=(9, width)).astype(np.float32)
    expected = scores.copy()
    for place, row in enumerate(rows.tolist()):
        for feature in matrix.indices[matrix.offsets[row] : matrix.offsets[row + 1]]:
            expected[place] += table[feature]
    Kernel("multiply")(matrix.indices, matrix.offsets, rows, table, 0, 9, scores)
    np.testing.assert_array_equal(scores, expected)


@given(seed=SEEDS, tokens=st.integers(0, 30), features=st.integers(1, 20))
@settings(max_examples=30, deadline=None)
def test_the_transpose_lists_the_tokens_of_each_feature(seed, tokens, features):
    matrix = random_matrix(np.random.default_rng(seed), tokens, features, 0.3)
    transposed, table = transpose(matrix, features), dense(matrix, features)
    assert transposed.ptr[0] == 0
    assert transposed.ptr[-1] == len(matrix.indices)
    assert transposed.features.tolist() == np.flatnonzero(table.any(0)).tolist()
    lists = dict(zip(transposed.features.tolist(), np.split(transposed.tokens, transposed.ptr[1:-1]), strict=False))
    for feature in range(features):
        listed = lists[feature].tolist() if feature in lists else []
        assert listed == np.repeat(np.arange(tokens), table[:, feature].astype(int)).tolist()


@pytest.mark.parametrize("tokens", [0, 1, 5, 300])
def test_any_number_of_threads_gives_the_same_bytes(tokens):
    rng = np.random.default_rng(tokens)
    matrix, weights = random_matrix(rng, tokens, 200, 0.1), random_weights(rng, 200, 4, 2)
    residual = rng.normal(size=(tokens, 4, 2)).astype(np.float32)
    results = []
    for jobs in (1, 2, 7):
        gradient = np.empty((200, 4, 2), np.float32)
        with Threads(jobs) as run:
            scores = role_scores(matrix, weights, run=run).roles
            role_gradient(transpose(matrix, 200), residual, gradient, run)
        results.append((scores.tobytes(), gradient.tobytes()))
    assert results[0] == results[1] == results[2]


def test_a_few_features_have_nearly_all_tokens():
    """Work is cut by tokens, not by features: pieces may be single features, and none may be left out."""
    indices = np.concatenate([np.zeros(500, np.int32), np.full(400, 7, np.int32), np.array([9], np.int32)])
    matrix = Sparse(indices, np.arange(len(indices) + 1))
    residual = np.ones((len(indices), 1, 1), np.float32)
    gradient = np.full((12, 1, 1), np.nan, np.float32)
    role_gradient(transpose(matrix, 12), residual, gradient)
    assert gradient.ravel().tolist() == [500, 0, 0, 0, 0, 0, 0, 400, 0, 1, 0, 0]
