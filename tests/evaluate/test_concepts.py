"""Concepts: sets of documents, mentions, accuracy where recognized; alternatives; tests and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.evaluate import concept_test, evaluate, evaluate_concepts
from spanloom.evaluate.concept_report import t_test
from spanloom.vocabulary import Concept, Vocabulary

TEXT = "colon and lung cancer, colon cancer, pain"
VOCABULARY = Vocabulary.build([
    Concept("MESH:D015179", "Colorectal Neoplasms", alternatives=("OMIM:114500",)),
    Concept("MESH:D008175", "Lung Neoplasms"),
    Concept("MESH:D010146", "Pain"),
])  # fmt: skip


def document(*mentions: tuple[int, int, str], kind: str = "Disease", name: str = "1") -> Document:
    found = [Mention(kind, [(start, end)], concepts=ids.split()) for start, end, ids in mentions]
    return Document(TEXT, id=name, mentions=found)


GOLD = document((0, 21, "D015179 D008175"), (23, 35, "OMIM:114500"), (37, 41, ""))
PREDICTED = document((0, 21, "MESH:D008175"), (23, 35, "D015179"), (37, 41, "D010146"), (29, 35, "D009369"))


def test_documents_are_sets_of_concepts() -> None:
    plain = evaluate_concepts([GOLD], [PREDICTED], bootstrap=0).documents
    assert (plain.correct, plain.predicted, plain.gold) == (2, 4, 3)
    resolved = evaluate_concepts([GOLD], [PREDICTED], vocabulary=VOCABULARY, bootstrap=0).documents
    assert (resolved.correct, resolved.predicted, resolved.gold) == (2, 4, 2)
    assert (resolved.precision, resolved.recall) == (0.5, 1)


def test_broader_concepts_count_in_part() -> None:
    tree = Vocabulary.build([
        Concept("X:1", "disease"),
        Concept("X:2", "cancer", parents=("X:1", "X:9")),
        Concept("X:3", "colon cancer", alternatives=("Y:3",), parents=("X:2",)),
        Concept("X:4", "lung cancer", parents=("X:2",)),
        Concept("X:5", "one", parents=("X:6",)),
        Concept("X:6", "other", parents=("X:5",)),
    ])  # fmt: skip
    gold, predicted = document((0, 21, "Y:3 X:5")), document((0, 21, "X:4 X:6"))
    report = evaluate_concepts([gold], [predicted], vocabulary=tree, bootstrap=0)
    assert report.documents.correct == 0 and report.broader is not None
    # of 3, 2, 1, 9, 5, 6 and 4, 2, 1, 9, 5, 6, all but the first are in both; 9 is not in the vocabulary
    assert (report.broader.correct, report.broader.predicted, report.broader.gold) == (5, 6, 6)
    assert "documents, with broader concepts" in report.to_text()
    assert report.to_dict()["broader"]["found"] == 5
    for vocabulary in (None, VOCABULARY):  # nothing is broader
        flat = evaluate_concepts([GOLD], [PREDICTED], vocabulary=vocabulary, bootstrap=0)
        assert flat.broader is None and "broader" not in flat.to_text()


def test_sets_do_not_know_types_but_rows_do() -> None:
    gold = GOLD.copy(mentions=[*GOLD.mentions, Mention("Modifier", [(23, 28)], concepts=["D015179"])])
    report = evaluate_concepts([gold], [gold], vocabulary=VOCABULARY, bootstrap=0)
    assert report.documents.gold == 2
    assert {kind: rows["documents"].gold for kind, rows in report.types.items()} == {"Disease": 2, "Modifier": 1}
    assert {kind: rows["mentions"].gold for kind, rows in report.types.items()} == {"Disease": 3, "Modifier": 1}


def test_mentions_need_all_their_concepts() -> None:
    report = evaluate_concepts([GOLD], [PREDICTED], vocabulary=VOCABULARY, bootstrap=0)
    assert (report.mentions.correct, report.mentions.predicted, report.mentions.gold) == (1, 4, 3)
    linked, unlinked = report.accuracy["linked"], report.accuracy["unlinked"]
    assert (linked.found, linked.gold, linked.recall) == (1, 2, 0.5)
    assert (unlinked.found, unlinked.gold) == (0, 1)
    assert (report.several, report.none) == ({"gold": 1, "predicted": 0}, {"gold": 1, "predicted": 0})
    same = evaluate_concepts([GOLD], [GOLD], bootstrap=0)
    assert (same.mentions.f1, same.accuracy["unlinked"].recall) == (1, 1)


def test_what_the_vocabulary_lacks_is_listed_and_counts() -> None:
    report = evaluate_concepts([GOLD], [PREDICTED], vocabulary=VOCABULARY, bootstrap=0)
    assert report.lacking == {"gold": {}, "predicted": {"Disease": {"MESH:D009369": 1}}}
    assert "not in the vocabulary, in gold: none" in report.to_text()
    assert "not in the vocabulary, Disease in predicted: MESH:D009369 (1)" in report.to_text()
    assert evaluate_concepts([GOLD], [PREDICTED], bootstrap=0).lacking is None
    both = evaluate_concepts([PREDICTED], [PREDICTED], vocabulary=VOCABULARY, bootstrap=0)
    assert both.documents.f1 == 1


def test_spans_that_white_space_separates_are_one() -> None:
    split = GOLD.copy(mentions=[Mention("Disease", [(23, 28), (29, 35)], concepts=["D015179"])])
    report = evaluate_concepts([GOLD], [split], vocabulary=VOCABULARY, bootstrap=0)
    assert (report.mentions.correct, report.accuracy["linked"].recall) == (1, 1)


def test_a_mention_twice_has_the_concepts_of_both() -> None:
    twice = GOLD.copy(mentions=[Mention("Disease", [(0, 21)], concepts=[name]) for name in ("D015179", "D008175")])
    assert evaluate_concepts([GOLD], [twice], bootstrap=0).accuracy["linked"].recall == 1


def test_without_anything() -> None:
    empty = Document("pain", id="1")
    report = evaluate_concepts([empty], [empty], vocabulary=VOCABULARY)
    assert (report.documents.f1, report.types, report.accuracy["linked"].gold) == (0, {}, 0)
    assert "recognized: none of 0 with the right concepts" in report.to_text()
    assert evaluate_concepts([], [], bootstrap=0).count == 0
    with pytest.raises(DataError, match="the predicted text differs"):
        evaluate_concepts([GOLD], [empty])
    with pytest.raises(UsageError, match="bootstrap is -1, expected a whole number from 0"):
        evaluate_concepts([GOLD], [GOLD], bootstrap=-1)


def test_documents_with_one_name_stay_apart() -> None:
    report = evaluate_concepts([GOLD, GOLD], [GOLD, GOLD.copy(mentions=[])], bootstrap=0)
    assert (report.documents.gold, report.documents.found) == (6, 3)


def test_intervals_are_over_documents() -> None:
    gold = [document((37, 41, "D010146"), name=str(i)) for i in range(40)]
    found = [one if i % 4 else one.copy(mentions=[]) for i, one in enumerate(gold)]
    report = evaluate_concepts(gold, found, seed=3)
    assert report.documents.intervals is not None
    assert report.documents.intervals.recall.low < 0.75 < report.documents.intervals.recall.high
    assert report.documents.intervals.precision == (1, 1)
    assert report == evaluate_concepts(gold, found, seed=3)
    assert report.to_dict()["accuracy"]["linked"] == {
        "right": 30,
        "mentions": 30,
        "accuracy": 1.0,
        "interval": [1.0, 1.0],
    }


def test_paired_tests() -> None:
    gold = [document((37, 41, "D010146"), (0, 21, "D015179 D008175"), name=str(i)) for i in range(12)]
    worse = [one.copy(mentions=one.mentions[: 1 + i % 2]) for i, one in enumerate(gold)]
    test = concept_test(gold, gold, worse)
    assert test.documents.difference > 0
    assert (test.documents.p_value, test.documents.enumerated, test.documents.unit) == (2**-5, True, "document")
    of_documents = [1.0 if i % 2 else 0.5 for i in range(12)]
    assert test.documents_t == pytest.approx(ttest_rel([1.0] * 12, of_documents).pvalue)
    same = concept_test(gold, worse, worse)
    assert (same.documents.p_value, same.documents_t, same.mentions_t) == (1, 1, 1)
    assert test.to_dict()["mentions"]["t_test"] == test.mentions_t
    with pytest.raises(UsageError, match="expected at least one"):
        concept_test([], [], [])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=12))
def test_the_t_test_is_scipys(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs, np.float64).T
    change = a - b
    expected = 1.0 if not change.any() else 0.0 if np.ptp(change) == 0 else ttest_rel(a, b).pvalue
    assert t_test(a, b) == pytest.approx(expected)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_concepts_of_mentions_are_never_found_more_often_than_mentions(data: st.DataObject) -> None:
    ids = st.lists(st.sampled_from(["D1", "D2", "D3"]), max_size=2)
    places = st.sampled_from([(0, 5), (10, 14), (23, 28), (37, 41)])
    mention = st.builds(lambda place, names: Mention("Disease", [place], concepts=names), places, ids)
    sides = [
        [Document(TEXT, str(i), mentions=data.draw(st.lists(mention, max_size=4))) for i in range(3)] for _ in "gp"
    ]
    gold, predicted = sides
    report = evaluate_concepts(gold, predicted, bootstrap=0)
    exact = evaluate(gold, predicted, bootstrap=0).overall
    found = report.accuracy["linked"].gold + report.accuracy["unlinked"].gold
    assert found == exact.correct
    expected = [{name for m in one.mentions for name in m.concepts} for one in gold]
    got = [{name for m in one.mentions for name in m.concepts} for one in predicted]
    assert report.documents.correct == sum(len(a & b) for a, b in zip(expected, got, strict=True))
