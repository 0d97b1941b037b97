"""Boundaries, type and head: what counts, the errors, and what is refused."""

from __future__ import annotations

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.evaluate import calibration, evaluate, heads, paired_test, score

TEXT = "the old house of the mayor"
HOUSE = Mention("place", [(0, 26)], head=(8, 13), score=0.75)
MAYOR = Mention("person", [(17, 26)], head=(21, 26), score=0.75)
GOLD = Document(TEXT, id="1", mentions=[HOUSE, MAYOR])


def predicted(*mentions):
    return [GOLD.copy(mentions=list(mentions))]


@pytest.mark.parametrize(
    ("mention", "errors", "exact", "partial"),
    [
        (HOUSE, {}, 2, 2.0),
        (HOUSE.replace(head=(21, 26)), {"head": 1}, 2, 1.5),
        (HOUSE.replace(head=None), {"head": 1}, 2, 1.5),
        (HOUSE.replace(spans=[(4, 26)]), {"boundary": 1}, 1, 1.5),
        (HOUSE.replace(type="person", spans=[(0, 16)]), {"missed": 1, "spurious": 1}, 1, 1.0),
        (HOUSE.replace(type="thing"), {"type": 1}, 1, 1.0),
    ],
)
def test_errors(mention, errors, exact, partial):
    report = evaluate([GOLD], predicted(mention, MAYOR), match="heads", keys=("exact",), bootstrap=0)
    correct = 2 if mention is HOUSE else 1
    assert (report.match, report.overall.correct, report.keys["exact"].correct) == ("heads", correct, exact)
    assert report.partial.correct == partial
    assert {kind: count for kind, count in report.errors.items() if count} == errors
    assert report.to_dict()["match"] == "heads"
    assert report.to_text().splitlines()[1].startswith("heads ")
    assert "head" not in evaluate([GOLD], predicted(mention, MAYOR), bootstrap=0).errors


def test_two_heads_of_one_span_are_two_mentions():
    both = GOLD.copy(mentions=[HOUSE, HOUSE.replace(head=(21, 26))])
    assert score([both], predicted(HOUSE), key=heads).recall == 0.5
    assert score([both], predicted(HOUSE)).recall == 1


def test_tables_intervals_tests_and_calibration_are_those_of_heads():
    wrong = HOUSE.replace(head=(0, 3))
    gold = [GOLD.copy(id=str(i)) for i in range(8)]
    right, off = gold, [document.copy(mentions=[wrong, MAYOR]) for document in gold]
    report = evaluate(gold, off, match="heads")
    assert (report.types["place"].f1, report.types["person"].f1) == (0, 1)
    assert report.overall.intervals.f1 == (0.5, 0.5)
    test = paired_test(gold, right, off, key=heads)
    assert (test.difference, test.p_value) == (0.5, 2 / 2**8)
    assert paired_test(gold, right, off).difference == 0
    assert calibration(gold, off, key=heads).accuracy == 0.5


@pytest.mark.parametrize(
    "call",
    [
        lambda gold, found: evaluate(gold, found, match="heads"),
        lambda gold, found: score(gold, found, key=heads),
        lambda gold, found: paired_test(gold, found, found, key=heads),
    ],
)
def test_gold_without_heads_is_refused(call):
    gold = [GOLD.copy(mentions=[HOUSE, MAYOR.replace(head=None)])]
    with pytest.raises(
        DataError, match=r"document '1', characters 17-26: the gold mention of type 'person' has no head"
    ):
        call(gold, predicted(HOUSE))


def test_an_unknown_match():
    with pytest.raises(UsageError, match="expected one of exact, boundaries, heads"):
        evaluate([GOLD], [GOLD], match="tails")
