"""Targets: soft counts in place of gold structures, from a teacher or from several annotators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learn_helpers import TYPES, corpus, random_gold

from spanloom.errors import UsageError
from spanloom.features import Sparse
from spanloom.hypergraph import ENGINES, Engine, Potentials
from spanloom.learn import AllowedTarget, CountTarget, EdgeTarget, Objective, TrainingSet, adagrad, minimize
from spanloom.scoring import role_scores
from spanloom.structures import STRUCTURES

LENGTHS = [5, 0, 3, 7, 1]
OFFSETS = np.cumsum([0, *LENGTHS])


def random_scores(engine: Engine, types: int, seed: int, spread: float = 1.0) -> Potentials:
    rng, template = np.random.default_rng(seed), engine.template
    roles = rng.normal(0, spread, (OFFSETS[-1], len(template.roles), types)).astype(np.float32)
    return Potentials(roles, rng.normal(0, spread, (len(template.constants), types)).astype(np.float32))


def evaluate(objective: Objective, point: np.ndarray) -> tuple[float, np.ndarray]:
    gradient = np.full(objective.size, np.nan, np.float32)
    return objective.value_and_gradient(point.astype(np.float32), gradient), gradient


def taught(name: str, counting: str, seed: int = 0) -> tuple[TrainingSet, Potentials]:
    """A corpus each of whose tokens has a feature of its own, so that a student can do whatever its teacher does."""
    structure = STRUCTURES[name]
    engine = ENGINES[counting](structure.template(TYPES))
    teacher = random_scores(engine, structure.lanes(TYPES), seed)
    tokens = int(OFFSETS[-1])
    matrix, ones = Sparse(np.arange(tokens, dtype=np.int32), np.arange(tokens + 1)), np.ones(tokens, np.float32)
    target = CountTarget.expected(engine, teacher, OFFSETS)
    return TrainingSet(engine, matrix, OFFSETS, target, ones, ones.astype(np.int32)), teacher


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", ["bio", "separators", "mention_hypergraph"])
def test_the_counts_of_a_teacher_are_its_expectations(name, counting):
    data, teacher = taught(name, counting)
    expected = data.engine.expectations(teacher, OFFSETS)
    wanted = data.target.target_counts(teacher)
    np.testing.assert_array_equal(wanted.roles, expected.roles)
    np.testing.assert_allclose(wanted.constants, expected.constants, atol=1e-9)
    some, tokens = np.array([3, 0]), np.r_[8:15, 0:5]
    part = data.target.target_counts(Potentials(teacher.roles[tokens], teacher.constants), some, tokens)
    alone = data.engine.expectations(Potentials(teacher.roles[tokens], teacher.constants), np.array([0, 7, 12]))
    np.testing.assert_allclose(part.roles, alone.roles, atol=1e-6)
    np.testing.assert_allclose(part.constants, alone.constants, atol=1e-9)


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", ["bio", "separators", "mention_hypergraph"])
def test_the_best_student_expects_what_its_teacher_expects(name, counting):
    data, teacher = taught(name, counting)
    objective = Objective(data, l2=0.0)
    start = np.zeros(objective.size, np.float32)
    point = minimize(objective.value_and_gradient, start, iterations=500, tolerance=1e-12)
    _, before = evaluate(objective, start)
    _, gradient = evaluate(objective, point)
    assert np.abs(gradient).max() < 0.01 * np.abs(before).max()
    student = role_scores(data.matrix, objective.weights(point))
    found, expected = (data.engine.expectations(each, OFFSETS) for each in (student, teacher))
    np.testing.assert_allclose(found.roles, expected.roles, atol=0.01)
    np.testing.assert_allclose(found.constants, expected.constants, atol=0.05)


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", ["bio", "separators"])
def test_the_gradient_under_counts_is_the_difference_quotient_and_the_objective_is_convex(name, counting):
    data, _ = taught(name, counting)
    objective, rng = Objective(data, l2=0.1), np.random.default_rng(1)
    point = rng.normal(0, 1, objective.size)
    value, gradient = evaluate(objective, point)
    for _ in range(4):
        direction = rng.normal(0, 1, objective.size)
        direction /= np.linalg.norm(direction)
        at = {step: evaluate(objective, point + step * direction)[0] for step in (-0.2, -0.1, 0.1, 0.2)}
        assert gradient @ direction == pytest.approx((8 * (at[0.1] - at[-0.1]) - (at[0.2] - at[-0.2])) / 1.2, abs=5e-3)
        assert at[0.2] + at[-0.2] > 2 * value


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", STRUCTURES)
def test_counts_of_one_gold_structure_train_as_the_structure_does(name, counting):
    gold, _, _ = corpus(name, counting, 4, [4, 0, 3, 6, 2, 5])
    counts = TrainingSet(gold.engine, gold.matrix, gold.offsets, gold.target.as_counts(), gold.group_sizes, gold.counts)
    objectives = Objective(gold, 0.5), Objective(counts, 0.5)
    point = np.random.default_rng(2).normal(0, 1, objectives[0].size)
    (one, slope), (other, same) = (evaluate(objective, point) for objective in objectives)
    assert one == other
    np.testing.assert_array_equal(slope, same)
    settings = {"l2": 0.5, "epochs": 2, "rate": 0.1, "batch": 2, "seed": 3}
    for weights, others in zip(adagrad(gold, **settings), adagrad(counts, **settings), strict=True):
        np.testing.assert_array_equal(weights, others)


def test_two_annotators_who_differ_are_expected_half_and_half():
    """The mean of their counts: the optimum lies between, and at the role that only one has, at one half."""
    structure, types = STRUCTURES["separators"], TYPES
    data, _ = taught("separators", "subgraphs")
    annotators = [
        EdgeTarget(
            data.engine, OFFSETS, structure.encode(random_gold(np.random.default_rng(n), LENGTHS), OFFSETS, types).edges
        ).as_counts()
        for n in (1, 2)
    ]
    mean = CountTarget(*(sum(getattr(each, name) for each in annotators) / 2 for name in ("roles", "constants")))
    both = TrainingSet(data.engine, data.matrix, OFFSETS, mean, data.group_sizes, data.counts)
    objective = Objective(both, l2=1e-3)
    point = minimize(objective.value_and_gradient, np.zeros(objective.size, np.float32), iterations=500, tolerance=1e-9)
    found = both.engine.expectations(role_scores(both.matrix, objective.weights(point)), OFFSETS).roles
    differ = annotators[0].roles != annotators[1].roles
    assert differ.any()
    np.testing.assert_allclose(found[differ], 0.5, atol=0.1)
    np.testing.assert_allclose(found, mean.roles, atol=0.1)


def test_counts_that_are_none_are_refused():
    data, _ = taught("bio", "subgraphs")
    roles, constants = data.target.roles, data.target.constants
    for wrong in (-roles, roles * np.nan, np.where(roles > 0, np.inf, roles)):
        with pytest.raises(UsageError, match="roles hold one that is below 0 or no number"):
            CountTarget(wrong, constants)
    with pytest.raises(UsageError, match="constants hold one that is below 0"):
        CountTarget(roles, constants - 1)
    with pytest.raises(UsageError, match=r"have the shapes .*, expected \(tokens, roles, types\)"):
        CountTarget(roles, constants.sum(0))
    other, _ = taught("separators", "subgraphs")
    with pytest.raises(UsageError, match="give the target of this corpus and this structure"):
        TrainingSet(data.engine, data.matrix, OFFSETS, other.target, data.group_sizes, data.counts)
    with pytest.raises(UsageError, match="give the target of this corpus"):
        TrainingSet(data.engine, data.matrix, OFFSETS[:-1], data.target, data.group_sizes, data.counts)


def allowing(name: str, counting: str, forbidden: float) -> tuple[TrainingSet, AllowedTarget]:
    """The corpus of `taught`, of whose structures some are allowed: those of its gold, and more."""
    data, teacher = taught(name, counting)
    best = data.engine.viterbi(teacher, OFFSETS).edges
    lanes = best.shape[1]
    allowed = np.random.default_rng(3).random((OFFSETS[-1], len(data.engine.template.edges) + 1, lanes)) >= forbidden
    np.put_along_axis(allowed, best.transpose(0, 2, 1).astype(int), True, axis=1)
    target = AllowedTarget(data.engine, OFFSETS, np.ascontiguousarray(allowed[:, :-1]))
    return replace(data, target=target), target


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", ["bio", "separators", "mention_hypergraph", "shared"])
def test_the_gradient_under_a_mask_is_the_difference_quotient(name, counting):
    data, _ = allowing(name, counting, 0.3)
    objective, rng = Objective(data, l2=0.1), np.random.default_rng(1)
    point = rng.normal(0, 1, objective.size)
    _, gradient = evaluate(objective, point)
    for _ in range(4):
        step = rng.normal(0, 1, objective.size)
        step *= 2.0**-6 / np.linalg.norm(step)
        quotient = evaluate(objective, point + step)[0] - evaluate(objective, point - step)[0]
        assert quotient == pytest.approx(2 * gradient.astype(float) @ step, rel=0.02, abs=2e-4)


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", ["bio", "separators", "shared"])
def test_one_allowed_structure_is_gold(name, counting):
    data, target = allowing(name, counting, 1.0)
    edges = data.engine.viterbi(taught(name, counting)[1], OFFSETS).edges
    gold = EdgeTarget(data.engine, OFFSETS, edges)
    model = random_scores(data.engine, edges.shape[1], 5)
    wanted, own = gold.target_counts(model), target.target_counts(model)
    np.testing.assert_allclose(own.roles, wanted.roles, atol=1e-5)
    np.testing.assert_allclose(own.constants, wanted.constants, atol=1e-5)
    assert sum(own.score) == pytest.approx(sum(wanted.score), rel=1e-5)
    some, tokens = np.array([3, 0]), np.r_[8:15, 0:5]
    part = Potentials(model.roles[tokens], model.constants)
    np.testing.assert_allclose(target.target_counts(part, some, tokens).roles, wanted.roles[tokens], atol=1e-5)
    np.testing.assert_array_equal(target.take(some).allowed, target.allowed[tokens])


def test_a_mask_that_leaves_no_structure():
    data, target = allowing("separators", "subgraphs", 0.0)
    allowed = target.allowed.copy()
    allowed[9, :, 1] = False
    with pytest.raises(UsageError, match="no structure of sentence 3 and type 1 is allowed"):
        AllowedTarget(data.engine, OFFSETS, allowed)
