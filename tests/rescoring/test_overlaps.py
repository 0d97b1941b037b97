"""Rules of overlap, and the best set, against enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.errors import ModelError
from spanloom.rescoring import overlaps
from spanloom.rescoring.overlaps import OverlapRules, best_set
from spanloom.rescoring.relations import CROSSING, NESTED, NEXT, SAME, Pairs
from spanloom.structures import MentionTable

PAIRS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] != pair[1]), max_size=16)


def conflicts(pairs: list[tuple[int, int]]) -> Pairs:
    one, other = np.array(pairs, np.int64).reshape(-1, 2).T
    return Pairs(one, other, np.zeros(len(one), np.int64))


@given(st.lists(st.integers(-3, 9), min_size=8, max_size=8), PAIRS)
def test_the_best_set_is_that_of_all_sets(weights: list[int], pairs: list[tuple[int, int]]) -> None:
    chosen = best_set(np.array(weights, float), conflicts(pairs))
    assert not any(chosen[i] and chosen[j] for i, j in pairs)
    totals = [
        sum(weight for weight, held in zip(weights, subset, strict=True) if held)
        for subset in product((0, 1), repeat=8)
        if not any(subset[i] and subset[j] for i, j in pairs)
    ]
    assert sum(np.array(weights)[chosen]) == max(totals)
    assert all(weights[i] > 0 for i in np.flatnonzero(chosen))


def test_a_tangle_too_large_to_search_ends_with_a_set_without_conflicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlaps, "_MOST_STEPS", 50)
    random = np.random.default_rng(0)
    pairs = [(i, j) for i in range(60) for j in range(i) if random.random() < 0.2]
    chosen = best_set(random.random(60) + 1, conflicts(pairs))
    assert chosen.any()
    assert not any(chosen[i] and chosen[j] for i, j in pairs)


def test_rules_allow_what_training_shows_and_what_it_could_not_show() -> None:
    nested = [(n, 0, ((0, 3),)) for n in range(30)] + [(n, 1, ((1, 2),)) for n in range(30)]
    rules = OverlapRules.learn(MentionTable.build([*nested, (30, 2, ((0, 1),))]), 3)
    assert rules.allowed[NESTED, 0, 1]
    assert not rules.allowed[NESTED, 1, 0], "30 pairs, and never this way round"
    assert not rules.allowed[NESTED, 0, 0]
    assert rules.allowed[NESTED, 0, 2], "one mention of the third type is too few to say"
    assert not rules.allowed[SAME].any()
    assert not rules.allowed[CROSSING].any()


def test_twins_may_stand_either_way_round() -> None:
    twins = [(n, kind, ((0, 1),)) for n in range(30) for kind in (1, 0)]
    rules = OverlapRules.learn(MentionTable.build(twins), 2)
    assert rules.allowed[SAME].tolist() == [[False, True], [True, False]]
    assert len(rules.conflicts(MentionTable.build([(0, 0, ((0, 1),)), (0, 1, ((0, 1),))])).one) == 0


def test_rules_of_another_model_are_refused() -> None:
    part = OverlapRules.free(2).to_part()
    assert OverlapRules.from_part(part, 2).allowed.all()
    with pytest.raises(ModelError, match="allowed"):
        OverlapRules.from_part(part, 3)


def test_more_than_are_searched_take_the_heaviest_first() -> None:
    chain = [(i, i + 1) for i in range(199)]
    weights = np.array([2.0, 3.0] * 100)
    assert best_set(weights, conflicts(chain)).tolist() == [False, True] * 100


def test_time_of_many_that_overlap_grows_with_their_number() -> None:
    count = 20_000
    table = MentionTable.build([(0, 0, ((i, i + count),)) for i in range(count)])
    rules = OverlapRules(np.zeros((3, 1, 1), np.bool_))
    pairs = rules.conflicts(table)
    assert len(pairs.one) <= NEXT * count
    assert best_set(np.ones(count), pairs).any()
