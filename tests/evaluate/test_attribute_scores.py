"""Attributes are compared where gold and the prediction have the same mention."""

from __future__ import annotations

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.evaluate import evaluate_attributes

TEXT = "no pain, fever or cough; old stroke"
PLACES = {"pain": (3, 7), "fever": (9, 14), "cough": (18, 23), "stroke": (29, 35)}


def note(**attributes: dict[str, bool | str]) -> Document:
    found = [Mention("problem", [PLACES[word]], attributes=given) for word, given in attributes.items()]
    return Document(TEXT, id="a", mentions=found)


def test_a_mention_without_a_binary_attribute_is_false() -> None:
    gold = note(pain={"negated": True}, fever={"negated": True}, cough={}, stroke={"negated": False})
    found = note(pain={"negated": True}, fever={}, cough={"negated": True}, stroke={})
    report = evaluate_attributes([gold], [found], bootstrap=0)
    scores = report.attributes["negated"]
    assert (report.mentions, scores.accuracy.found, scores.accuracy.gold) == (4, 2, 4)
    true, false = scores.values["true"], scores.values["false"]
    assert (true.correct, true.predicted, true.gold) == (1, 2, 2)
    assert (false.correct, false.predicted, false.gold) == (1, 2, 2)


def test_texts_and_no_value() -> None:
    gold = note(pain={"course": "acute"}, fever={"course": "acute"}, cough={"course": "old"}, stroke={})
    found = note(pain={"course": "acute"}, fever={"course": "old"}, cough={}, stroke={})
    scores = evaluate_attributes([gold], [found], bootstrap=0).attributes["course"]
    assert (scores.accuracy.found, scores.accuracy.gold) == (2, 4)  # of acute, and of no value
    assert {name: (one.correct, one.predicted, one.gold) for name, one in scores.values.items()} == {
        "acute": (1, 1, 2), "old": (0, 1, 1),
    }  # fmt: skip


def test_only_mentions_of_both_count_and_spans_are_joined() -> None:
    gold = Document("chest  pain", mentions=[Mention("x", [(0, 5), (7, 11)], attributes={"negated": True})])
    found = gold.copy(mentions=[Mention("x", [(0, 11)]), Mention("x", [(0, 5)], attributes={"negated": True})])
    report = evaluate_attributes([gold], [found], bootstrap=0)
    assert (report.mentions, report.attributes["negated"].values["true"].recall) == (1, 0)
    other = evaluate_attributes([gold], [gold.copy(mentions=[Mention("y", [(0, 11)])])], bootstrap=0)
    assert (other.mentions, other.attributes) == (0, {})
    assert other.to_text() == "attributes: none in gold and in the prediction, of 0 mentions that both have\n"


def test_the_text_and_json() -> None:
    gold = [note(pain={"negated": True, "course": "acute"}, fever={}).copy(id=str(i)) for i in range(6)]
    found = [note(pain={"negated": True, "course": "old"}, fever={}).copy(id=str(i)) for i in range(6)]
    report = evaluate_attributes(gold, found)
    assert report.to_text() == (
        "values of attributes        P       R      F1     gold   pred.  95 % interval of F1\n"
        "course: acute               -    0.00    0.00        6       0  0.00 to 0.00\n"
        "course: old              0.00       -    0.00        0       6  0.00 to 0.00\n"
        "negated: true          100.00  100.00  100.00        6       6  100.00 to 100.00\n"
        "negated: false         100.00  100.00  100.00        6       6  100.00 to 100.00\n"
        "\n"
        "of 12 mentions that gold and the prediction have:\n"
        "  course: accuracy 50.00 % (50.00 to 50.00)\n"
        "  negated: accuracy 100.00 % (100.00 to 100.00)\n"
    )
    values = report.to_dict()
    assert (values["mentions"], values["count"], values["attributes"]["course"]["accuracy"]) == (12, 6, 0.5)
    assert values["attributes"]["negated"]["values"]["true"]["f1"] == 1


def test_chosen_attributes_and_errors() -> None:
    gold = note(pain={"negated": True, "course": "acute"})
    assert list(evaluate_attributes([gold], [gold], attributes=["course"], bootstrap=0).attributes) == ["course"]
    with pytest.raises(UsageError, match="bootstrap is -1, expected a whole number from 0"):
        evaluate_attributes([gold], [gold], bootstrap=-1)
    with pytest.raises(DataError):
        evaluate_attributes([gold], [Document("other", id="a")])


def test_a_thousand_values() -> None:
    found = [Mention("x", [(i, i + 1)], attributes={"note": str(i)}) for i in range(1000)]
    document = Document("a" * 1000, mentions=found)
    report = evaluate_attributes([document], [document], bootstrap=0)
    assert report.attributes["note"].accuracy.recall == 1
    assert len(report.to_text().splitlines()) == 24 and "980 rarer values are not shown" in report.to_text()
