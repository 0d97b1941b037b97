"""Gold structures beside soft counts: what is wanted, sentences with weights, and what small counts are worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learn_helpers import TYPES, corpus, random_gold

from spanloom.errors import UsageError
from spanloom.features import Sparse
from spanloom.hypergraph import ENGINES, Potentials
from spanloom.learn import (
    CorpusTarget,
    CountTarget,
    EdgeTarget,
    Objective,
    SoftCounts,
    TrainingSet,
    adagrad,
)
from spanloom.learn.subsets import subset
from spanloom.structures import STRUCTURES

KNOWN, RAW = [4, 0, 3], [5, 1, 0, 6]
LENGTHS = [*KNOWN, *RAW]
OFFSETS = np.cumsum([0, *LENGTHS])
CUT, SENTENCES = sum(KNOWN), len(KNOWN)
NAMES = ["bio", "separators", "mention_hypergraph"]  # one with constants, one without, one that nests


def mixed(name: str, counting: str, seed: int = 0, weight: float = 1.0) -> tuple[TrainingSet, CountTarget]:
    """A corpus whose first sentences are annotated, the others taught; and the same target as dense counts."""
    structure, rng = STRUCTURES[name], np.random.default_rng(seed)
    engine, lanes = ENGINES[counting](structure.template(TYPES)), structure.lanes(TYPES)
    template = engine.template
    scores = Potentials(
        rng.normal(0, 2, (sum(RAW), len(template.roles), lanes)).astype(np.float32),
        rng.normal(0, 1, (len(template.constants), lanes)).astype(np.float32),
    )
    known, raw = OFFSETS[: SENTENCES + 1], OFFSETS[SENTENCES:] - CUT
    edges = structure.encode(random_gold(rng, KNOWN), known, TYPES).edges
    gold, taught = EdgeTarget(engine, known, edges), CountTarget.expected(engine, scores, raw)
    taught = CountTarget(taught.roles.astype(np.float16).astype(np.float32), taught.constants)
    target = CorpusTarget(gold, SoftCounts.of(taught.roles, taught.constants, raw))
    counts = gold.as_counts()
    dense = CountTarget(
        *(np.concatenate([getattr(one, x) for one in (counts, taught)]) for x in ("roles", "constants"))
    )
    tokens = int(OFFSETS[-1])
    rows = rng.integers(0, 6, tokens).astype(np.int32)  # a few features, so that gold and raw sentences share them
    weights = None if weight == 1 else np.repeat([1.0, weight], [SENTENCES, len(RAW)])
    used = np.maximum(np.bincount(rows, minlength=6), 1).astype(np.int32)
    matrix = Sparse(rows, np.arange(tokens + 1))
    return TrainingSet(engine, matrix, OFFSETS, target, np.ones(6, np.float32), used, weights), dense


def evaluate(objective: Objective, point: np.ndarray) -> tuple[float, np.ndarray]:
    gradient = np.full(objective.size, np.nan, np.float32)
    return objective.value_and_gradient(point.astype(np.float32), gradient), gradient


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_wanted_is_gold_and_then_the_counts(name, counting):
    data, dense = mixed(name, counting)
    rng = np.random.default_rng(1)
    template = data.engine.template
    for chosen in (None, np.array([5, 0, 3, 2]), np.array([1, 0]), np.array([4, 3])):
        tokens = None if chosen is None else np.concatenate([np.arange(*OFFSETS[n : n + 2]) for n in chosen])
        size = int(OFFSETS[-1]) if tokens is None else len(tokens)
        scores = Potentials(
            rng.normal(0, 1, (size, len(template.roles), dense.shape[4])).astype(np.float32),
            rng.normal(0, 1, (len(template.constants), dense.shape[4])).astype(np.float32),
        )
        found, expected = (one.target_counts(scores, chosen, tokens) for one in (data.target, dense))
        np.testing.assert_array_equal(found.roles, expected.roles)
        np.testing.assert_allclose(found.constants, expected.constants, atol=1e-12)
        np.testing.assert_allclose(found.score, expected.score, rtol=1e-6, atol=1e-6)
    assert data.target.shape == dense.shape


@pytest.mark.parametrize("weight", [1.0, 0.3, 2.5])
@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_of_the_mixed_objective_is_the_difference_quotient(name, counting, weight):
    data, _ = mixed(name, counting, weight=weight)
    objective, rng = Objective(data, l2=0.1), np.random.default_rng(1)
    point = rng.normal(0, 1, objective.size)
    _, gradient = evaluate(objective, point)
    for _ in range(3):
        direction = rng.normal(0, 1, objective.size)
        direction /= np.linalg.norm(direction)
        at = {step: evaluate(objective, point + step * direction)[0] for step in (-0.2, -0.1, 0.1, 0.2)}
        slope = (8 * (at[0.1] - at[-0.1]) - (at[0.2] - at[-0.2])) / 1.2
        assert gradient @ direction == pytest.approx(slope, abs=5e-3)


@pytest.mark.parametrize("name", NAMES)
def test_the_objective_is_that_of_gold_plus_weight_times_that_of_raw_text(name):
    weight = 0.25
    data, _ = mixed(name, "subgraphs", weight=weight)
    point = np.random.default_rng(2).normal(0, 1, Objective(data, 0).size)
    weights = Objective(data, 0).weights(point.astype(np.float32))
    scores = weights.features[data.matrix.indices]
    parts = []
    for first, end in ((0, SENTENCES), (SENTENCES, len(LENGTHS))):
        own, tokens = np.arange(first, end), np.arange(OFFSETS[first], OFFSETS[end])
        bounds = OFFSETS[first : end + 1] - OFFSETS[first]
        plain = replace(data, weights=None)
        parts.append(plain.residual(Potentials(scores[tokens], weights.constants), bounds, own, tokens))
    found = data.residual(Potentials(scores, weights.constants), OFFSETS)
    assert found.loss == pytest.approx(parts[0].loss + weight * parts[1].loss)
    np.testing.assert_allclose(found.roles[CUT:], weight * parts[1].roles, atol=1e-6)
    np.testing.assert_allclose(found.roles[:CUT], parts[0].roles, atol=1e-6)
    np.testing.assert_allclose(found.constants, parts[0].constants + weight * parts[1].constants, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_weight_of_two_is_each_sentence_twice(name):
    data, _ = mixed(name, "subgraphs")
    double = replace(data, weights=np.full(len(LENGTHS), 2.0))
    one, two = Objective(data, 0.5), Objective(double, 1.0)
    point = np.random.default_rng(3).normal(0, 1, one.size).astype(np.float32)
    values = [objective.value_and_gradient(objective.point(one.weights(point)), np.empty(one.size, np.float32))
              for objective in (one, two)]  # fmt: skip
    assert 2 * values[0] == pytest.approx(values[1], rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_teacher_that_is_certain_teaches_as_gold_does(name):
    """The limit: counts of one structure, sparse, behind gold sentences, train to the very weights of gold alone."""
    gold, _, _ = corpus(name, "subgraphs", 4, [4, 0, 3, 6, 2, 5])
    counts, cut = gold.target.as_counts(), 3
    tokens = int(gold.offsets[cut])
    known = EdgeTarget(gold.engine, gold.offsets[: cut + 1], gold.target.edges[:tokens])
    soft = SoftCounts.of(counts.roles[tokens:], counts.constants[cut:], gold.offsets[cut:] - tokens)
    taught = replace(gold, target=CorpusTarget(known, soft))
    settings = {"l2": 0.5, "epochs": 2, "rate": 0.1, "batch": 2, "seed": 3}
    for weights, others in zip(adagrad(gold, **settings), adagrad(taught, **settings), strict=True):
        np.testing.assert_array_equal(weights, others)


@pytest.mark.parametrize("name", NAMES)
def test_a_part_of_a_mixed_corpus_has_its_targets_and_weights(name):
    data, dense = mixed(name, "subgraphs", weight=0.5)
    chosen = np.array([2, 0, 6, 3])
    part = subset(data, data.target.gold.edges, chosen)
    tokens = np.concatenate([np.arange(*OFFSETS[n : n + 2]) for n in chosen])
    scores = Potentials(
        np.zeros((len(tokens), *dense.roles.shape[1:]), np.float32), np.zeros(dense.constants.shape[1:], np.float32)
    )
    found, expected = part.target.target_counts(scores), dense.target_counts(scores, chosen, tokens)
    np.testing.assert_array_equal(found.roles, expected.roles)
    np.testing.assert_allclose(found.constants, expected.constants)
    assert part.weights is not None and part.weights.tolist() == [1, 1, 0.5, 0.5]


def test_counts_are_kept_to_three_digits_and_large_ones_whole():
    counts = np.array([0, 1e-6, 1e-3, 0.1234567, 0.9999, 1, 3.7], np.float32).reshape(-1, 1, 1)
    soft = SoftCounts.of(counts, np.zeros((1, 0, 1)), np.array([0, 7]))
    np.testing.assert_allclose(soft.dense(np.arange(7)), counts, rtol=5e-4, atol=1e-7)
    assert soft.roles.nbytes == counts.nbytes // 2
    counts[3] = 7e7
    np.testing.assert_array_equal(SoftCounts.of(counts, np.zeros((1, 0, 1)), np.array([0, 7])).roles, counts)


def test_parts_are_joined_in_order():
    data, _ = mixed("bio", "subgraphs")
    soft = data.target.soft
    numbers = np.arange(len(RAW))
    joined = SoftCounts.join([soft.take(part) for part in (numbers[:1], numbers[1:1], numbers[1:])])
    for one, other in zip(joined, soft, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_does_not_fit_is_refused():
    data, _ = mixed("separators", "subgraphs")
    other, _ = mixed("bio", "subgraphs")
    with pytest.raises(UsageError, match="give a teacher of the same structure and types"):
        CorpusTarget(data.target.gold, other.target.soft)
    for counts in (-1, np.nan, np.inf):
        with pytest.raises(UsageError, match="roles hold one that is below 0 or no number"):
            SoftCounts.of(np.full((2, 3, 1), counts, np.float32), np.zeros((1, 0, 1)), np.array([0, 2]))
    for wrong in (np.ones(3), np.full(len(LENGTHS), -1.0), np.full(len(LENGTHS), np.nan)):
        with pytest.raises(UsageError, match=f"expected {len(LENGTHS)} numbers, none of them below 0"):
            replace(data, weights=wrong)
