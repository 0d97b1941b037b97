"""Dual decomposition: its certificate against enumeration, its answers, and its generality."""

from __future__ import annotations

import numpy as np
import pytest
from segment_helpers import TYPES, enumerate_joint, joined, scored_at_random, untrained

from spanloom.hypergraph import Floats, Ints
from spanloom.segment import OracleAnswer, solve
from spanloom.segment.constraints import constraints_of
from spanloom.segment.dual import solve_chains
from spanloom.structures.product import Bools, Labels, allowed_pairs

CONSTRAINTS = constraints_of(TYPES, ["drug"])


@pytest.mark.parametrize("seed", range(12))
def test_certified_answers_are_the_best_and_others_are_within_their_gap(seed: int) -> None:
    random = np.random.default_rng(seed)
    offsets = np.array([0, 4, 4, 5, 9])
    words, mentions = scored_at_random(untrained(), 9, random)
    weight = 1.0 if seed % 2 else 0.4
    solution = solve_chains(words, mentions, offsets, CONSTRAINTS, weight)
    allowed = allowed_pairs(CONSTRAINTS, TYPES)
    assert allowed[solution.first, solution.second].all()
    for n, span in enumerate(zip(offsets.tolist(), offsets[1:].tolist(), strict=False)):
        if span[0] == span[1]:
            assert solution.optimal[n]
            continue
        every = enumerate_joint(words, mentions, CONSTRAINTS, span, weight)
        best = max(every)
        answer = tuple(solution.first[slice(*span)].tolist()), tuple(solution.second[slice(*span)].tolist())
        [own] = [joint.score for joint in every if joint[1:] == answer]
        assert own == pytest.approx(solution.score[n], abs=1e-4)
        assert solution.bound[n] >= best.score - 1e-4
        assert solution.gap[n] >= best.score - own - 1e-3
        if solution.optimal[n]:
            assert answer == best[1:]
            assert solution.gap[n] == 0


def test_on_many_long_sentences_it_equals_the_product() -> None:
    random = np.random.default_rng(3)
    constraints = constraints_of(TYPES)
    chains = untrained()
    offsets = np.append(0, random.integers(1, 40, 200).cumsum())
    sides = scored_at_random(chains, int(offsets[-1]), random, 1.5)
    exact = joined(chains, sides, constraints).best(offsets)
    solution = solve_chains(*sides, offsets, constraints)
    assert solution.optimal.mean() > 0.5  # of random scores, not of trained ones
    assert (solution.iterations > 1).mean() > 0.8
    certified = np.repeat(solution.optimal, np.diff(offsets))
    found = Labels(solution.first, solution.second)
    for one, other in zip(found, exact, strict=True):
        assert (one == other)[certified].all()


def test_agreement_alone_is_no_certificate() -> None:
    # One position, two values on either side; both indicators hold of value 1. At u = 3 both models say 0: they agree,
    # as Box 1 of Xu et al. (2014) asks, but 1 with 0 scores more.
    first, second = _Table([0.0, 2.0]), _Table([0.0, 1.0])
    once = np.array([0])
    high = np.full((1, 1), 3.0)
    assert not (first(once, high).indicators | second(once, high).indicators).any()
    solution = solve(first, second, np.array([0, 1]))
    assert (solution.first.tolist(), solution.second.tolist(), solution.optimal.tolist()) == ([1], [0], [True])
    assert solution.score.tolist() == [2.0]


def test_without_enough_iterations_the_gap_is_told() -> None:
    solution = solve(_Table([0.0, 2.0]), _Table([0.0, 1.0]), np.array([0, 1]), iterations=1)
    assert solution.optimal.tolist() == [False]
    assert (solution.score.tolist(), solution.bound.tolist(), solution.gap.tolist()) == ([2.0], [3.0], [1.0])


def test_nothing_to_solve() -> None:
    solution = solve(_Table([0.0, 2.0]), _Table([0.0, -1.0]), np.array([0]))
    assert len(solution.first) == len(solution.score) == 0


class _Table:
    """An oracle of one position a sentence, with a score for each of two values; value 1 is what is indicated."""

    def __init__(self, scores: list[float]) -> None:
        self._scores = np.array(scores)

    def __call__(
        self, sentences: Ints, penalties: Floats | None = None, forbidden: Bools | None = None
    ) -> OracleAnswer:
        scores = np.repeat(self._scores[None], len(sentences), axis=0)
        if penalties is not None:
            scores[:, 1] -= penalties[:, 0]
        if forbidden is not None:
            scores[forbidden[:, 0], 1] = -np.inf
        best = scores.argmax(1)
        return OracleAnswer(scores.max(1), (best == 1)[:, None], best)
