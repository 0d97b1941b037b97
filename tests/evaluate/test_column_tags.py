"""Columns compared token by token."""

from __future__ import annotations

import pytest

from spanloom.document import Document
from spanloom.errors import DataError
from spanloom.evaluate import evaluate_tags


def document(*rows, id=""):
    """Sentences of one-letter tokens, from the letters of their tags."""
    tags = "".join(rows)
    ends = [sum(map(len, rows[: i + 1])) for i in range(len(rows))]
    sentences = list(zip([0, *ends], ends, strict=False))
    return Document(
        "x" * len(tags), id=id, tokens=[(i, i + 1) for i in range(len(tags))], sentences=sentences,
        columns={"pos": list(tags)},
    )  # fmt: skip


def test_a_hand_case():
    gold = [document("NVN", "", "N", id="1"), document("DN", id="2"), Document("", tokens=[], sentences=[])]
    found = [document("NNN", "", "N", id="1"), document("DV", id="2"), Document("", tokens=[], sentences=[])]
    report = evaluate_tags(gold, found)
    assert (report.tokens, report.correct, report.accuracy) == (6, 4, 4 / 6)
    assert report.low < report.accuracy < report.high
    assert report.to_text().startswith("pos: accuracy 66.67 (95 % interval ")
    assert report.to_dict()["correct"] == 4
    assert evaluate_tags(gold[:2], found[:2][::-1]) == evaluate_tags(gold[:2], found[:2])  # paired by their ids


def test_a_perfect_column_has_no_spread():
    report = evaluate_tags([document("NV", "D")], [document("NV", "D")])
    assert (report.low, report.accuracy, report.high) == (1, 1, 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"columns": {}}, "no column 'pos'"),
        ({"columns": {"pos": ["N"]}}, "1 values in column 'pos'"),
        ({"tokens": [(0, 2)]}, "tokens are not those of gold"),
        ({"tokens": None}, "no tokens"),
        ({"text": "yyyy"}, "differs"),
    ],
)
def test_what_does_not_match_is_refused(change, said):
    gold = document("NV", "DN", id="7")
    with pytest.raises(DataError, match=said) as caught:
        evaluate_tags([gold], [gold.copy(**change)])
    assert "'7'" in str(caught.value)


def test_no_tokens():
    with pytest.raises(DataError, match="no tokens"):
        evaluate_tags([], [])
