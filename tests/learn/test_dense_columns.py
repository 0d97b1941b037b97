"""Dense columns in training: against enumeration, differences and the same columns as sparse features; any threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learn_helpers import Oracle, corpus, oracle_point

from spanloom.features import Dense, Sparse
from spanloom.hypergraph import ENGINES
from spanloom.learn import Objective, TrainingSet, adagrad, minimize
from spanloom.learn.subsets import subset
from spanloom.parallel import threads
from spanloom.scoring import Weights, role_scores

POSITIONS = 2


def added(training: TrainingSet, dense: Dense) -> TrainingSet:
    """A corpus with dense columns behind its features."""
    more = dense.width
    return replace(
        training,
        matrix=training.matrix._replace(dense=dense),
        group_sizes=np.append(training.group_sizes, np.ones(more)).astype(np.float32),
        counts=np.append(training.counts, np.full(more, len(dense.rows))).astype(np.int32),
    )


def random_dense(tokens: int, words: int = 5, size: int = 3, seed: int = 0) -> Dense:
    rng = np.random.default_rng(seed)
    table = rng.normal(0, 1, (words, size)).astype(np.float32)
    return Dense(table, rng.integers(0, words, (tokens, POSITIONS)).astype(np.int32))


def values(dense: Dense) -> np.ndarray:
    """(T, P D)."""
    return dense.table[dense.rows].reshape(len(dense.rows), -1)


def with_random_dense(
    name: str, counting: str, lengths: list[int], seed: int = 3, vocabulary: int = 4
) -> tuple[TrainingSet, Dense]:
    dense = random_dense(sum(lengths), seed=seed)
    return added(corpus(name, counting, seed, lengths, vocabulary)[0], dense), dense


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize(("name", "lengths"), [("bio", [3, 2, 3]), ("separators", [4, 1]), ("mention_hypergraph", [3])])
def test_the_objective_is_that_of_enumeration(name, counting, lengths):
    training, dense = with_random_dense(name, counting, lengths)
    objective, oracle = Objective(training, 0.4), Oracle(training, 0.4)
    oracle.matrix[:, -dense.width :] = values(dense)
    point = np.random.default_rng(1).normal(0, 1, objective.size).astype(np.float32)
    gradient = np.full(objective.size, np.nan, np.float32)
    value = objective.value_and_gradient(point, gradient)
    there = oracle_point(objective, point)
    expected, slope = oracle(there)
    assert value == pytest.approx(expected, rel=1e-5, abs=1e-4)
    np.testing.assert_allclose(gradient / (there / point), slope, rtol=1e-4, atol=5e-4)


@pytest.mark.parametrize("name", ["separators", "bilou", "shared"])
def test_the_gradient_of_dense_weights_is_the_difference_quotient(name):
    training, dense = with_random_dense(name, "subgraphs", [12, 1, 300, 0, 9], vocabulary=8)  # more than one block
    objective, rng = Objective(training, 0.3), np.random.default_rng(5)
    point = rng.normal(0, 0.3, objective.size).astype(np.float32)
    gradient = np.empty_like(point)
    objective.value_and_gradient(point, gradient)
    each = training.zeros.features[0].size
    own = slice((len(training.group_sizes) - dense.width) * each, len(training.group_sizes) * each)
    for _ in range(4):
        direction = np.zeros(objective.size, np.float32)
        direction[own] = rng.normal(0, 1, own.stop - own.start)
        direction /= np.linalg.norm(direction)
        scratch = np.empty_like(point)
        near, far = (
            objective.value_and_gradient((point + step * direction).astype(np.float32), scratch)
            - objective.value_and_gradient((point - step * direction).astype(np.float32), scratch)
            for step in (0.1, 0.2)
        )
        assert gradient @ direction == pytest.approx((8 * near - far) / 1.2, rel=1e-2, abs=2e-2)


def one_hot(lengths: list[int], words: int = 6) -> tuple[TrainingSet, TrainingSet]:
    """A corpus with a feature for each word, and the same with a dense column for each, beside a sparse bias."""
    plain, _, _ = corpus("separators", "subgraphs", 2, lengths)
    tokens = sum(lengths)
    word = np.random.default_rng(0).integers(0, words, tokens).astype(np.int32)
    word[:words] = np.arange(words)  # each stands there
    counts = np.append(np.bincount(word, minlength=words), tokens).astype(np.int32)[[words, *range(words)]]
    sizes = np.ones(words + 1, np.float32)
    both = np.stack([np.zeros(tokens, np.int32), word + 1], axis=1).astype(np.int32).ravel()
    sparse = replace(plain, matrix=Sparse(both, np.arange(tokens + 1) * 2), group_sizes=sizes, counts=counts)
    columns = Dense(np.eye(words, dtype=np.float32), word[:, None])
    bias = Sparse(np.zeros(tokens, np.int32), np.arange(tokens + 1), dense=columns)
    return sparse, replace(sparse, matrix=bias)


def test_one_hot_vectors_are_features_of_words():
    """With L-BFGS the same optimum; with AdaGrad the same steps, where all batches have all words or lambda is 0."""
    sparse, dense = one_hot([6, 4, 5, 7, 3])
    found = []
    for data in (sparse, dense):
        objective = Objective(data, 0.3)
        point = minimize(
            objective.value_and_gradient, np.zeros(objective.size, np.float32), iterations=200, tolerance=1e-9
        )
        found.append(objective.weights(point).features.copy())
    np.testing.assert_allclose(*found, atol=5e-3)
    assert np.abs(found[0][1:]).max() > 0.1
    for l2, batch in ((0.0, 2), (0.7, 5)):
        one, other = (adagrad(data, l2=l2, epochs=4, rate=0.1, seed=1, batch=batch) for data in (sparse, dense))
        np.testing.assert_allclose(one.features, other.features, atol=1e-5)


def test_adagrad_goes_where_the_gradient_points():
    """A first step is the rate times the sign of the gradient, here by differences of the objective."""
    training, dense = with_random_dense("separators", "subgraphs", [6, 4, 5])
    objective = Objective(training, 0.0)
    weights = adagrad(training, l2=0.0, epochs=1, rate=0.1, seed=0, batch=3).features[-dense.width :].ravel()
    each = training.zeros.features[0].size
    first = (len(training.group_sizes) - dense.width) * each
    zero, scratch = np.zeros(objective.size, np.float32), np.empty(objective.size, np.float32)
    for i in range(len(weights)):
        ahead, back = zero.copy(), zero.copy()
        ahead[first + i], back[first + i] = 0.1, -0.1
        slope = objective.value_and_gradient(ahead, scratch) - objective.value_and_gradient(back, scratch)
        if abs(slope) > 1e-3:
            assert weights[i] == pytest.approx(-0.1 * np.sign(slope), rel=1e-3)


def test_the_penalty_of_a_step_is_that_of_the_corpus_over_its_batches():
    """Without evidence, weights that begin elsewhere go to 0 as fast as the penalty pulls them."""
    training, dense = with_random_dense("separators", "subgraphs", [4] * 6)
    zero = training.matrix.dense._replace(table=np.zeros_like(dense.table))
    training = replace(training, matrix=training.matrix._replace(dense=zero))
    start = training.zeros
    start.features[-dense.width :] = 1.0
    found = adagrad(training, l2=0.5, epochs=1, rate=0.1, seed=0, batch=6, start=start).features[-dense.width :]
    np.testing.assert_allclose(found, 0.9, atol=1e-6)


@pytest.mark.parametrize("name", ["separators", "shared"])
def test_any_number_of_threads_gives_the_same_bytes(name):
    training, _ = with_random_dense(name, "subgraphs", [4, 3, 6, 9, 2, 8] * 60, vocabulary=30)
    found = []
    for number in (1, 2, 3):
        run = threads(number)
        objective = Objective(training, 0.3, run)
        gradient = np.empty(objective.size, np.float32)
        point = np.random.default_rng(2).normal(0, 1, objective.size).astype(np.float32)
        value = objective.value_and_gradient(point, gradient)
        scores = role_scores(training.matrix, objective.weights(point), run=run).roles
        weights = adagrad(training, l2=0.3, epochs=2, rate=0.1, seed=1, run=run)
        found.append((value, gradient.tobytes(), scores.tobytes(), *(array.tobytes() for array in weights)))
    assert found[0] == found[1] == found[2]


def test_scores_do_not_depend_on_how_many_tokens_are_asked_for():
    """Where tokens outnumber words, each word is scored once; the bytes are the same."""
    training, dense = with_random_dense("separators", "subgraphs", [50, 40])
    rng = np.random.default_rng(0)
    zeros = training.zeros
    weights = Weights(rng.normal(size=zeros.features.shape).astype(np.float32), zeros.constants)
    whole = role_scores(training.matrix, weights).roles
    assert len(whole) > len(dense.table)
    for rows in (np.array([7]), np.array([3, 80, 3])):
        assert (role_scores(training.matrix, weights, rows).roles == whole[rows]).all()
    plain = role_scores(training.matrix._replace(dense=None), weights).roles
    expected = np.einsum("tc,crk->trk", values(dense), weights.features[-dense.width :])
    np.testing.assert_allclose(whole - plain, expected, atol=1e-4)


def test_a_part_of_a_corpus_has_its_own_rows():
    training, dense = with_random_dense("separators", "subgraphs", [4, 3, 6, 5])
    part = subset(training, training.target.edges, np.array([1, 3]))
    assert (part.matrix.dense.rows == dense.rows[[4, 5, 6, 13, 14, 15, 16, 17]]).all()
    assert (part.counts[-dense.width :] == 8).all()
