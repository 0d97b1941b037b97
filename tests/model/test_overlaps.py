"""Rules of overlap, and the best set, against enumeration."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document, Mention
from spanloom.errors import DataWarning, ModelError
from spanloom.evaluate import evaluate
from spanloom.model import overlaps
from spanloom.model.choices import Overlap
from spanloom.model.overlaps import OverlapRules, best_set, rules_of
from spanloom.model.pairs import CROSSING, NESTED, NEXT, SAME, SHARING, Pairs, overlapping
from spanloom.models import load
from spanloom.recognize import Recognizer
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
    assert len(overlapping(MentionTable.build([(0, 0, ((0, 1),)), (0, 1, ((0, 1),))]), rules.allowed)[0].one) == 0


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
    rules = OverlapRules.of_ways((), 1)
    pairs = overlapping(table, rules.allowed)[0]
    assert len(pairs.one) <= NEXT * count
    assert best_set(np.ones(count), pairs).any()


def test_a_type_has_gaps_where_training_shows_or_could_not_show_them() -> None:
    gapped = [(n, 0, ((0, 1), (2, 3))) for n in range(20)]
    rows = [*gapped, *((n, 1, ((4, 5),)) for n in range(20)), (20, 2, ((0, 1),))]
    rules = OverlapRules.learn(MentionTable.build(rows), 3)
    assert rules.gaps.tolist() == [True, False, True]
    asked = MentionTable.build([(0, 0, ((0, 1), (2, 3))), (0, 1, ((4, 5), (6, 7))), (0, 1, ((8, 9),))])
    assert rules.consistent(asked, np.ones(3)).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("name", "kept"), [("free", [1, 1, 1]), ("nested", [1, 0, 1]), ("none", [1, 0, 0]), ("learned", [1, 0, 0])]
)
def test_rules_by_name(name: Overlap, kept: list[int]) -> None:
    alone = MentionTable.build([(n, 0, ((0, 1),)) for n in range(20)])
    table = MentionTable.build([(0, 0, ((0, 4),)), (0, 0, ((2, 6),)), (0, 0, ((3, 4),))])
    rules = rules_of(name, alone, 1)
    assert rules.consistent(table, np.array([3.0, 2.0, 1.0])).tolist() == [bool(keep) for keep in kept]


KNEES = ((0, 0, ((0, 1), (3, 4))), (0, 0, ((2, 4),)))  # left ... knee, and right knee, in: left and right knee


def test_mentions_that_share_a_part_beside_a_gap_do_not_nest() -> None:
    gold = MentionTable.build([(n, *mention[1:]) for n in range(40) for mention in KNEES])
    rules = OverlapRules.learn(gold, 1)
    assert (rules.allowed[SHARING, 0, 0], rules.allowed[NESTED, 0, 0]) == (True, False)
    assert len(overlapping(MentionTable.build(KNEES), rules.allowed)[0].one) == 0
    assert overlapping(MentionTable.build([(0, 0, ((0, 4),)), (0, 0, ((3, 4),))]), rules.allowed)[0].way.tolist() == [
        NESTED
    ]
    inside = MentionTable.build([(0, 0, ((0, 1), (3, 4))), (0, 0, ((1, 2),))])
    assert len(overlapping(inside, rules.allowed)[0].one) == 0, "what lies in a gap has no token of the mention"


@pytest.mark.parametrize(
    ("count", "nested", "may"), [(4419, 3, False), (4419, 200, True), (50, 1, True), (800, 3, False), (800, 4, True)]
)
def test_few_nested_mentions_of_one_type_among_many_are_slips(count: int, nested: int, may: bool) -> None:
    rows = [(n, 0, ((0, 3),)) for n in range(count - nested)] + [(n, 0, ((1, 2),)) for n in range(nested)]
    assert OverlapRules.learn(MentionTable.build(sorted(rows)), 1).allowed[NESTED, 0, 0] == may


def test_rules_of_older_models_let_share_what_could_nest() -> None:
    rules = OverlapRules.of_ways((NESTED,), 2)
    part = rules.to_part()
    older = replace(part, arrays={**part.arrays, "allowed": part.arrays["allowed"][:SHARING]})
    again = OverlapRules.from_part(older, 2)
    assert again.allowed[:SHARING].tolist() == rules.allowed[:SHARING].tolist()
    assert again.allowed[SHARING].all()


def test_what_training_contradicts_is_counted() -> None:
    gold = MentionTable.build([(0, 0, ((0, 4),)), (0, 0, ((2, 6),)), (1, 0, ((0, 4),)), (1, 0, ((0, 2),))])
    told = rules_of("none", gold, 1).report("none", gold)
    assert told.against == {"nest": 1, "cross": 1}
    assert [*told.lines()] == [
        "overlaps, none: no two have the same tokens, no two nest, no two cross, no two share a part",
        "against training: 1 pair of mentions that nest, 1 pair of mentions that cross",
    ]
    assert not rules_of("learned", gold, 1).report("learned", gold).against


NESTED_NOTES = [
    Document("the chest pain here", mentions=[Mention("problem", [(4, 14)]), Mention("body", [(4, 9)])]),
    Document("no chest pain", mentions=[Mention("problem", [(3, 13)])]),
] * 30


def trained(overlap: Overlap) -> Recognizer:
    features = ["bias", "w[-1..1]"]
    return Recognizer(features=features, rescore=False, overlap=overlap, epochs=5).fit(NESTED_NOTES, dev=NESTED_NOTES)


def test_one_stage_keeps_the_mentions_that_are_expected_to_be_right_most() -> None:
    with pytest.warns(DataWarning, match="overlap 'none' forbids what training has: 30 pairs of mentions that nest"):
        none = trained("none")
    free = trained("free")
    assert none.report_.dev_f1 < free.report_.dev_f1 == 1
    text = "the chest pain here"
    assert len(free.predict(text).mentions) == 2
    [kept] = none.predict(text).mentions
    [dropped] = next(none.alternatives(text)).mentions
    both = Document(text, mentions=free.predict(text).mentions)
    exact = dict(zip([m.type for m in both.mentions], free.marginals(both, calibrated=False), strict=True))
    assert exact[kept.type] >= exact[dropped.type]
    assert evaluate(NESTED_NOTES, none.predict(NESTED_NOTES)).overall.f1 == none.report_.dev_f1
    assert [e.mention.type for e in none.explain(text)] == [kept.type]


def test_the_answer_is_that_of_what_is_kept() -> None:
    with pytest.warns(DataWarning, match="nest"):
        none = trained("none")
    text = "the chest pain here"
    best = none.predict(text, answers=True)
    exact = np.exp(none.log_likelihood(Document(text, mentions=best.mentions)).sum())
    answer = best.meta["answer"]["probability"]
    assert answer == pytest.approx(none.fitted.scalings.answers(np.array([exact]))[0], rel=1e-4)


def test_rules_are_saved_and_models_without_have_none(tmp_path: Path) -> None:
    model = trained("learned")
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").overlaps_.allowed.tolist() == model.overlaps_.allowed.tolist()
    part = model.to_part()
    older = Recognizer.from_part(replace(part, parts={k: v for k, v in part.parts.items() if k != "overlaps"}))
    assert older.overlaps_ is None
    assert older.predict(NESTED_NOTES[:2]) == model.predict(NESTED_NOTES[:2])
