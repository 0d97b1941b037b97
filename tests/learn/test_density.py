"""A density as a term of training: its gradient is the covariance, as enumeration has it, for whatever structure."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from learn_helpers import TYPES, Oracle, corpus

from spanloom.errors import UsageError
from spanloom.hypergraph import ENGINES, Potentials
from spanloom.learn import AllowedTarget, DensityTarget, Objective, TrainingSet, minimize
from spanloom.learn.corpus_target import CorpusTarget, SoftCounts
from spanloom.learn.subsets import subset
from spanloom.scoring import role_scores
from spanloom.structures import STRUCTURES

LENGTHS = [3, 0, 2, 1]


def starts_of(name: str, data: TrainingSet) -> np.ndarray:
    return np.flatnonzero([role in STRUCTURES[name].start_roles(TYPES) for role in data.engine.template.roles])


def anything(data: TrainingSet) -> AllowedTarget:
    tokens, types = data.target.shape[1], data.target.shape[-1]
    return AllowedTarget(data.engine, data.offsets, np.ones((tokens, len(data.engine.template.edges), types), bool))


def of_scores(data: TrainingSet, seed: int = 0) -> Potentials:
    rng, (_, tokens, roles, constants, types) = np.random.default_rng(seed), data.target.shape
    return Potentials(
        rng.normal(0, 1, (tokens, roles, types)).astype(np.float32),
        rng.normal(0, 1, (constants, types)).astype(np.float32),
    )


def enumerated(data: TrainingSet, scores: Potentials, starts: np.ndarray) -> tuple[np.ndarray, ...]:
    """The expected starts (K,), and their covariances with roles (T, R, K) and constants (C, K), by listing."""
    number = np.zeros(scores.roles.shape[2])
    of_roles, of_constants = np.zeros(scores.roles.shape), np.zeros(scores.constants.shape)
    for rows, k, counts, _ in Oracle(data, 0.0).cells:
        values = counts @ np.concatenate([scores.roles[rows, :, k].ravel(), scores.constants[:, k]])
        chances = np.exp(values - values.max())
        chances /= chances.sum()
        split = counts.shape[1] - len(scores.constants)
        begun = counts[:, :split].reshape(len(counts), -1, scores.roles.shape[1])[:, :, starts].sum((1, 2))
        number[k] += chances @ begun
        covariance = (chances * (begun - chances @ begun)) @ counts
        of_roles[rows, :, k] += covariance[:split].reshape(-1, scores.roles.shape[1])
        of_constants[:, k] += covariance[split:]
    return number, of_roles, of_constants


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", STRUCTURES)
def test_the_pull_is_the_covariance(name, counting):
    data, _, _ = corpus(name, counting, 1, LENGTHS)
    starts, scores, free = starts_of(name, data), of_scores(data), anything(data)
    number, of_roles, of_constants = enumerated(data, scores, starts)
    tokens = sum(LENGTHS)
    for share in (0.5, 2.0):
        wanted = share * number
        target = DensityTarget(data.engine, data.offsets, free, starts, wanted / tokens, weight=3.0, tolerance=0.1)
        plain, found = free.target_counts(scores), target.target_counts(scores)
        beyond = number - wanted * (1.1 if share < 1 else 0.9)
        slope = 3.0 * beyond / wanted
        scale = np.abs(slope * of_roles).max()
        np.testing.assert_allclose(plain.roles - found.roles, slope * of_roles, atol=2e-3 * scale)
        np.testing.assert_allclose(
            plain.constants - found.constants, slope * of_constants, rtol=2e-3, atol=2e-3 * scale
        )
        assert plain.score[0] - found.score[0] == pytest.approx((1.5 * beyond**2 / wanted).sum(), rel=1e-3)
        assert plain.score[1] == found.score[1]


def test_what_is_tolerated_and_what_has_no_density_is_left_alone():
    data, _, _ = corpus("separators", "subgraphs", 1, LENGTHS)
    starts, scores, free = starts_of("separators", data), of_scores(data), anything(data)
    number, of_roles, _ = enumerated(data, scores, starts)
    density = number / sum(LENGTHS)
    near = DensityTarget(data.engine, data.offsets, free, starts, 1.05 * density)
    assert near.target_counts(scores).score == free.target_counts(scores).score
    np.testing.assert_array_equal(near.target_counts(scores).roles, free.target_counts(scores).roles)
    one = DensityTarget(data.engine, data.offsets, free, starts, np.array([np.nan, 2.0]) * density)
    changed = one.target_counts(scores).roles - free.target_counts(scores).roles
    assert not changed[:, :, 0].any()
    assert np.corrcoef(changed[:, :, 1].ravel(), of_roles[:, :, 1].ravel())[0, 1] > 0.999


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", ["bio", "separators", "shared"])
def test_the_gradient_is_the_difference_quotient(name, counting):
    data, _, _ = corpus(name, counting, 2, [4, 0, 3, 5])
    density = np.full(data.target.shape[-1], 0.02)
    target = DensityTarget(data.engine, data.offsets, anything(data), starts_of(name, data), density, tolerance=0.0)
    objective, rng = Objective(replace(data, target=target), l2=0.1), np.random.default_rng(1)
    point, gradient = rng.normal(0, 1, objective.size), np.empty(objective.size, np.float32)
    objective.value_and_gradient(point.astype(np.float32), gradient)
    for _ in range(4):
        step = rng.normal(0, 1, objective.size)
        step *= 2.0**-5 / np.linalg.norm(step)
        ends = [
            objective.value_and_gradient((point + side * step).astype(np.float32), np.empty_like(gradient))
            for side in (1, -1)
        ]
        assert ends[0] - ends[1] == pytest.approx(2 * gradient.astype(float) @ step, rel=0.02, abs=1e-3)


@pytest.mark.parametrize("wanted", ["what is allowed", "counts"])
def test_training_comes_to_the_density(wanted):
    """Of targets that say too little, and too much: the expected number ends where it is tolerated."""
    data, _, _ = corpus("separators", "subgraphs", 3, [6, 4, 0, 5, 7, 3])
    starts, density = starts_of("separators", data), np.array([0.05, 0.6])
    soft = data.engine.expectations(of_scores(data), data.offsets)
    counts = CorpusTarget(
        replace(data.target, offsets=data.offsets[:1], edges=data.target.edges[:0]),
        SoftCounts.of(soft.roles, soft.each, data.offsets),
    )
    plain = anything(data) if wanted == "what is allowed" else counts
    target = DensityTarget(data.engine, data.offsets, plain, starts, density, weight=1000.0)
    objective = Objective(replace(data, target=target), l2=1e-3)
    start = np.zeros(objective.size, np.float32)
    point = minimize(objective.value_and_gradient, start, iterations=300, tolerance=1e-9)
    model = role_scores(data.matrix, objective.weights(point))
    found = data.engine.expectations(model, data.offsets).roles[:, starts].sum((0, 1)) / data.offsets[-1]
    assert (np.abs(found / density - 1) < 0.15).all()


def test_a_part_of_the_sentences_is_a_corpus_of_its_own():
    data, _, _ = corpus("separators", "subgraphs", 2, [4, 0, 3, 5])
    starts, scores = starts_of("separators", data), of_scores(data)
    density = np.array([0.05, 0.4])
    target = DensityTarget(data.engine, data.offsets, anything(data), starts, density)
    sentences, bounds = np.array([3, 0]), list(pairwise(data.offsets.tolist()))
    tokens = np.concatenate([np.arange(*bounds[n]) for n in sentences])
    part = Potentials(scores.roles[tokens], scores.constants)
    own = subset(replace(data, target=target), data.target.edges, sentences).target
    np.testing.assert_array_equal(own.target_counts(part).roles, target.target_counts(part, sentences, tokens).roles)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"density": np.array([0.1])}, "expected 2 numbers of starts a token, above 0"),
        ({"density": np.array([0.1, 0.0])}, "expected 2 numbers of starts a token, above 0"),
        ({"weight": -1.0}, "weight is -1.0, expected a number that is not below 0"),
        ({"tolerance": np.inf}, "tolerance is inf, expected"),
    ],
)
def test_what_is_refused(changed, told):
    data, _, _ = corpus("separators", "subgraphs", 1, LENGTHS)
    settings = {"density": np.array([0.1, 0.1]), **changed}
    with pytest.raises(UsageError) as error:
        DensityTarget(data.engine, data.offsets, anything(data), starts_of("separators", data), **settings)
    assert told in str(error.value)
