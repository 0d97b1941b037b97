"""The objective and its gradient: against enumeration, against differences, and with equal features merged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learn_helpers import TYPES, Oracle, corpus, oracle_point

from spanloom.files.scratch import FolderScratch
from spanloom.hypergraph import ENGINES
from spanloom.hypergraph.reference import listable
from spanloom.learn import Objective, minimize
from spanloom.parallel import Threads
from spanloom.scoring import Weights, role_scores
from spanloom.structures import STRUCTURES

SEEDS = st.integers(0, 2**32 - 1)


def evaluate(objective: Objective, point: np.ndarray) -> tuple[float, np.ndarray]:
    gradient = np.full(objective.size, np.nan, np.float32)
    value = objective.value_and_gradient(point.astype(np.float32), gradient)
    return value, gradient


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", STRUCTURES)
@given(seed=SEEDS, data=st.data(), l2=st.sampled_from([0.0, 0.5, 20.0]))
@settings(max_examples=4, deadline=None)
def test_agrees_with_enumeration(name, counting, seed, data, l2):
    longest = listable(STRUCTURES[name].template(TYPES), 210)
    lengths = data.draw(st.lists(st.integers(0, longest), min_size=1, max_size=3).filter(any))
    training, _, _ = corpus(name, counting, seed, lengths, vocabulary=3)
    objective, oracle = Objective(training, l2), Oracle(training, l2)
    assert objective.size == oracle.size
    point = np.random.default_rng(seed).normal(0, 1, objective.size).astype(np.float32)
    value, gradient = evaluate(objective, point)
    there = oracle_point(objective, point)
    expected, slope = oracle(there)
    assert value == pytest.approx(expected, rel=1e-5, abs=1e-4)
    scale = there / point  # the chain rule: each coordinate is the oracle's, scaled
    np.testing.assert_allclose(gradient / scale, slope, rtol=1e-4, atol=5e-4)


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", STRUCTURES)
def test_gradient_is_the_difference_quotient(name, counting):
    """Longer sentences than enumeration can list; differences of fourth order, since scores are single precision."""
    training, _, _ = corpus(name, counting, seed=3, lengths=[12, 1, 7, 0, 9], vocabulary=8)
    assert (training.group_sizes > 1).any()
    objective, rng = Objective(training, l2=0.3), np.random.default_rng(5)
    point = rng.normal(0, 0.5, objective.size)
    _, gradient = evaluate(objective, point)
    for _ in range(4):
        direction = rng.normal(0, 1, objective.size)
        direction /= np.linalg.norm(direction)
        near, far = (
            evaluate(objective, point + step * direction)[0] - evaluate(objective, point - step * direction)[0]
            for step in (0.1, 0.2)
        )
        assert gradient @ direction == pytest.approx((8 * near - far) / 1.2, rel=5e-3, abs=5e-3)


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", ["bio", "mention_hypergraph", "separators"])
def test_merged_features_lose_nothing(name, counting):
    """g equal features with weights w each are one row with the weight g w: same values, same optimum."""
    lengths = [3, 5, 2, 6]
    merged, keys, index = corpus(name, counting, 11, lengths, vocabulary=5)
    apart, _, _ = corpus(name, counting, 11, lengths, vocabulary=5, merged=False)
    assert len(merged.group_sizes) < len(apart.group_sizes)
    one, many = Objective(merged, 0.7), Objective(apart, 0.7)
    row = index.rows(np.unique(keys.ids))
    rng = np.random.default_rng(1)

    def spread(point: np.ndarray) -> Weights:
        weights = one.weights(point.astype(np.float32))
        return Weights((weights.features / merged.group_sizes[:, None, None])[row], weights.constants)

    for _ in range(3):
        point = rng.normal(0, 1, one.size).astype(np.float32)
        assert evaluate(one, point)[0] == pytest.approx(evaluate(many, many.point(spread(point)))[0], rel=1e-5)

    found = [
        minimize(o.value_and_gradient, np.zeros(o.size, np.float32), iterations=300, tolerance=1e-9)
        for o in (one, many)
    ]
    assert evaluate(one, found[0])[0] == pytest.approx(evaluate(many, found[1])[0], rel=1e-5)
    for weights, others in zip(spread(found[0]), many.weights(found[1]), strict=True):
        np.testing.assert_allclose(weights, others, atol=5e-3)


@pytest.mark.parametrize("name", ["bio", "separators", "shared"])
@pytest.mark.parametrize("piece", [1, 9])
def test_pieces_of_a_corpus_add_up(name: str, piece: int, tmp_path: Path) -> None:
    training, _, _ = corpus(name, "subgraphs", 4, [9, 3, 0, 14, 2] * 3, vocabulary=20)
    point = np.random.default_rng(0).normal(0, 1, Objective(training, 1.0).size)
    whole = evaluate(Objective(training, 1.0), point)
    on_disk = replace(training, scratch=FolderScratch(tmp_path))
    found, again = (evaluate(Objective(data, 1.0, shard=piece), point) for data in (training, on_disk))
    assert found[0] == pytest.approx(whole[0], rel=1e-6)
    np.testing.assert_allclose(found[1], whole[1], rtol=1e-5, atol=1e-4)
    assert again[0] == found[0] and again[1].tobytes() == found[1].tobytes()


def test_point_and_weights_are_inverse():
    training, _, _ = corpus("bio", "subgraphs", 2, [4, 3])
    objective = Objective(training, 1.0)
    point = np.random.default_rng(0).normal(0, 1, objective.size).astype(np.float32)
    np.testing.assert_allclose(objective.point(objective.weights(point)), point, rtol=1e-6)


@pytest.mark.parametrize("jobs", [2, 5])
def test_any_number_of_threads_gives_the_same_bytes(jobs):
    training, _, _ = corpus("separators", "subgraphs", 4, [9, 3, 0, 14, 2] * 8, vocabulary=20)
    point = np.random.default_rng(0).normal(0, 1, Objective(training, 1.0).size)
    alone = evaluate(Objective(training, 1.0), point)
    with Threads(jobs) as run:
        together = evaluate(Objective(training, 1.0, run), point)
    assert alone[0] == together[0]
    assert alone[1].tobytes() == together[1].tobytes()


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", STRUCTURES)
@given(seed=SEEDS, spread=st.sampled_from([0.0, 0.3, 3.0, 30.0]))
@settings(max_examples=5, deadline=None)
def test_no_gold_structure_is_more_than_certain(name, counting, seed, spread):
    training, _, _ = corpus(name, counting, seed, [5, 1, 0, 8], vocabulary=4)
    objective = Objective(training, 0.0)
    point = np.random.default_rng(seed).normal(0, spread, objective.size).astype(np.float32)
    weights = objective.weights(point)
    potentials = role_scores(training.matrix, weights)
    likelihood = training.engine.log_probability(potentials, training.offsets, training.target.edges)
    assert likelihood.shape == (4, STRUCTURES[name].lanes(TYPES))
    scale = 1 + float(np.abs(potentials.roles).max(initial=0))
    assert (likelihood <= 1e-6 * scale * 8).all()
    assert evaluate(objective, point)[0] == pytest.approx(-likelihood.sum(), rel=1e-5, abs=1e-5 * scale)


@pytest.mark.parametrize("counting", ENGINES)
def test_gold_that_is_certain_has_probability_one(counting):
    """The optimum without a penalty makes the gold structures certain, and no more."""
    training, _, _ = corpus("separators", counting, 8, [4, 3], vocabulary=40)
    objective = Objective(training, 1e-4)
    point = minimize(objective.value_and_gradient, np.zeros(objective.size, np.float32), iterations=200, tolerance=1e-6)
    potentials = role_scores(training.matrix, objective.weights(point))
    likelihood = training.engine.log_probability(potentials, training.offsets, training.target.edges)
    assert (likelihood <= 1e-6).all()
    assert (likelihood > -0.05).all()
