"""Attributes, probabilities of them and of concepts, and sections: values of mentions and documents."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from spanloom import Document, Mention, Section, Span
from spanloom.document.span import attribute_value, found_mention
from spanloom.document.validate import validate
from spanloom.errors import DataError

NEGATED = Mention("problem", [(3, 7)], None, None, ("D1",), 0.9, {"negated": True}, {"negated": 0.8}, (0.7,))


def test_values_are_true_false_or_text() -> None:
    given = {"a": True, "b": np.bool_(False), "c": 2, "d": 2.5, "e": ["x", True, 1], "f": None, "g": [], "h": "yes"}
    expected = {"a": True, "b": False, "c": "2", "d": "2.5", "e": "x|true|1", "h": "yes"}
    assert Mention("problem", [(0, 1)], attributes=given).attributes == expected
    assert attribute_value(np.int32(3)) == "3"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attributes": "negated"}, "its attributes are 'negated', expected a mapping"),
        ({"attributes": {1: True}}, "its attributes have the name 1, expected a text"),
        ({"attributes": {"": True}}, "its attributes have the name '', expected a text"),
        ({"attributes": {"negated": {}}}, "'negated' is '{}', expected true, false, a text, a number or a list"),
        ({"attribute_scores": {"negated": "high"}}, "its attribute_scores are .*expected probabilities by name"),
        ({"concept_scores": [0.5]}, "its concept_scores are .*expected a number for each of its 0 concepts"),
        ({"concept_scores": ["a"], "concepts": ["D1"]}, "expected a number for each of its 1 concepts"),
    ],
)
def test_other_values_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Mention("problem", [(0, 1)], **changes)  # type: ignore[arg-type]


def test_attributes_count_for_equality_and_are_kept_by_copies() -> None:
    plain = Mention("problem", [(3, 7)], None, None, ("D1",), 0.9)
    assert plain != NEGATED and len({plain, NEGATED, NEGATED.replace()}) == 2
    for other in (pickle.loads(pickle.dumps(NEGATED)), copy.deepcopy(NEGATED), NEGATED.replace(score=0.9)):
        assert other == NEGATED
    assert NEGATED.replace(concepts=("D2", "D3")).concept_scores == ()
    assert NEGATED.replace(attributes={}) == plain.replace(concept_scores=(0.7,))
    assert repr(plain).endswith("score=0.9)") and "attributes={'negated': True}" in repr(NEGATED)
    with pytest.raises(TypeError, match="cannot be changed"):
        NEGATED.attributes["negated"] = False  # type: ignore[index]


def test_mentions_without_attributes_share_one_empty_mapping() -> None:
    made = found_mention("problem", [(3, 7)], None, (), None)
    given = Mention("problem", [(3, 7)], attributes={}, attribute_scores={})
    assert made.attributes is given.attributes is made.attribute_scores is pickle.loads(pickle.dumps(made)).attributes
    whole = found_mention("problem", [(3, 7)], None, ("D1",), 0.9, None, {"negated": True}, {"negated": 0.8}, (0.7,))
    assert whole == NEGATED and hash(whole) == hash(NEGATED)


def test_sections() -> None:
    document = Document("Plan: rest.", sections=[("Plan", [6, 11])])
    assert document.sections == [Section("Plan", Span(6, 11))] == document.copy().sections
    assert document != Document("Plan: rest.")
    for wrong in (["Plan"], [("Plan", 3)], [("Plan", ("a", "b"))]):
        with pytest.raises(DataError, match="expected names and spans"):
            Document("Plan: rest.", sections=wrong)  # type: ignore[arg-type]


def test_validation() -> None:
    document = Document("no pain", mentions=[NEGATED], sections=[("a", (0, 7))])
    assert validate(document) == []
    odd = NEGATED.replace(attribute_scores={"negated": 1.5, "other": 0.5}, concept_scores=(-1.0,))
    document = Document("no pain", mentions=[odd], sections=[("a", (0, 8)), ("", (3, 2))])
    assert [str(problem) for problem in validate(document)] == [
        "error: mentions[0]: the score of attribute 'negated' is 1.5; expected a number from 0 to 1",
        "error: mentions[0]: attribute 'other' has a score and no value; expected both",
        "error: mentions[0]: the score of a concept is -1.0; expected a number from 0 to 1",
        "error: sections[0]: section 0-8 is outside the text of 7 characters, or ends first",
        "error: sections[1]: section 3-2 is outside the text of 7 characters, or ends first",
        "error: sections[1]: the name is empty; give it one",
    ]
