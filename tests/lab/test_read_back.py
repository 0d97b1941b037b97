"""What is lost when gold mentions are encoded and read back: Muis and Lu (2016), section 5.5."""

from __future__ import annotations

import json

import pytest

from spanloom import Document, Mention
from spanloom.structures import STRUCTURES, structure_of
from spanloom.structures.base import GAP
from spanloom_lab import read_back
from spanloom_lab.reading_back import BATCH_TOKENS

# Figure 4, second and third example, and what no model holds
INFARCTIONS = Document(
    "Infarctions either water shed or embolic",
    mentions=[Mention("d", spans) for spans in ([(0, 11)], [(0, 11), (19, 29)], [(0, 11), (33, 40)])],
)
CROSSING = Document("a b c d", mentions=[Mention("x", [(0, 3)]), Mention("x", [(2, 5)])])
LOSSES = Document(
    "One chest pain. Two.",
    tokens=[[0, 3], [4, 9], [10, 14], [14, 15], [16, 19], [19, 20]],
    sentences=[[0, 4], [4, 6]],
    mentions=[
        Mention("x", [(4, 7), (10, 14)]),  # inside a token
        Mention("x", [(10, 14), (16, 19)]),  # across sentences
        Mention("x", [(4, 9)]),
        Mention("x", [(4, 9)]),  # again
        Mention("y", [(10, 14)]),
        Mention("x", [(16, 19)]),
    ],
)


def result(name, *documents, components=3):
    return read_back(documents, structure_of(name, components=components))


def test_shared_reads_the_second_example_of_figure_4_without_error():
    for name in ("shared", "split"):
        found = result(name, INFARCTIONS).subsets["discontiguous"]
        assert (found.sentences, found.gold, found.lost) == (1, 3, {})
        assert {(score.precision, score.recall) for score in found.scores.values()} == {(1.0, 1.0)}


def test_seven_tags_do_not():
    found = result("seven_tag", INFARCTIONS).subsets["all"]
    assert found.scores["enough"].correct < 3  # section 3.1: Infarctions alone cannot be deduced


@pytest.mark.parametrize("name", ["separators", "mention_hypergraph", "shared", "split"])
def test_crossing_mentions_are_read_as_nested(name):
    whole = result(name, CROSSING).subsets["all"].to_dict()["readings"]
    assert whole["enough"]["misread"] == 2
    assert whole["all"] == {
        "decoded": 4, "correct": 2, "misread": 0, "precision_error": 0.5, "recall_error": 0.0,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["separators", "shared", "seven_tag"])
def test_what_is_lost_and_why(name):
    found = result(name, LOSSES, components=2)
    assert (found.documents, found.duplicates, found.crowded) == (1, 1, 0)
    whole, gaps = (found.subsets[subset] for subset in ("all", "discontiguous"))
    reasons = {"it begins or ends inside a token": 1, "it is not within one sentence": 1}
    assert (whole.sentences, whole.gold, whole.lost) == (2, 5, reasons)
    assert (gaps.sentences, gaps.gold, gaps.lost) == (1, 4, reasons)
    for subset in (whole, gaps):
        score = subset.scores["all"]
        assert (score.correct, score.predicted) == (subset.gold - 2, subset.gold - 2)


def test_more_components_than_allowed_are_recall_errors():
    document = Document("a b c d e", mentions=[Mention("x", [(0, 1), (4, 5), (8, 9)]), Mention("x", [(0, 1)])])
    for components, lost in ((2, 1), (3, 0)):
        found = result("shared", document, components=components).subsets["all"]
        assert sum(found.lost.values()) == lost
        assert found.scores["all"].recall == (2 - lost) / 2
    assert result("separators", document).subsets["all"].lost == {GAP: 1}


def test_overlap_of_types_in_a_chain():
    document = Document("mild pain", mentions=[Mention("x", [(0, 9)]), Mention("y", [(5, 9)])])
    assert sum(result("bio", document).subsets["all"].lost.values()) == 1
    assert result("separators", document).subsets["all"].lost == {}


def test_spans_that_only_white_space_parts_are_no_gap():
    document = Document("mild pain", mentions=[Mention("x", [(0, 4), (5, 9)]), Mention("x", [(0, 9)])])
    found = result("separators", document)
    assert found.duplicates == 1
    assert found.subsets["discontiguous"].sentences == 0
    assert found.subsets["all"].scores["enough"].f1 == 1


@pytest.mark.parametrize(
    "documents",
    [[], [Document("")], [Document("No pain.")], [Document("", mentions=[Mention("x", [(0, 1)])])], [Document("  ")]],
    ids=["none", "empty", "no mention", "a mention outside", "blank"],
)
def test_nothing_to_read(documents):
    found = read_back(documents, STRUCTURES["separators"]).to_dict()
    readings = found["subsets"]["all"]["readings"]
    assert readings["all"]["precision_error"] is None
    gold = sum(len(document.mentions) for document in documents)
    assert readings["all"]["recall_error"] == (1.0 if gold else None)
    assert sum(found["subsets"]["all"]["lost"].values()) == found["subsets"]["all"]["gold"] == gold


def test_batches_add_up():
    one = result("separators", CROSSING, LOSSES)
    copies = BATCH_TOKENS // 10 + 10
    many = read_back((document for _ in range(copies) for document in (CROSSING, LOSSES)), STRUCTURES["separators"])
    assert many.documents == copies * one.documents
    for name, subset in one.subsets.items():
        assert many.subsets[name].lost == {reason: copies * number for reason, number in subset.lost.items()}
        for reading, score in subset.scores.items():
            assert many.subsets[name].scores[reading].correct == copies * score.correct


def test_all_loses_no_recall_on_notes(notes):
    """But for mentions of more components than allowed, and those that tokens or sentences cut."""
    for name in ("shared", "split"):
        found = result(name, *notes.dev)
        for subset in found.subsets.values():
            assert subset.to_dict()["readings"]["all"]["misread"] == 0
            assert subset.scores["all"].predicted >= subset.scores["enough"].predicted
    json.dumps(found.to_dict())
