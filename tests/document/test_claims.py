"""Claims about mentions that are not simply there: read and refused."""

from __future__ import annotations

from typing import Any

import pytest

from spanloom import Document, Mention
from spanloom.document import Batch
from spanloom.document.annotation import claims_of, completeness
from spanloom.document.validate import validate
from spanloom.errors import DataError
from spanloom.text import prepare

TEXT = "p53 binds MDM2 in cells."


def document(annotation: Any, *mentions: Mention) -> Document:
    return Document(TEXT, id="d", mentions=list(mentions), meta={"annotation": annotation})


def test_claims_of_all_kinds() -> None:
    given = {
        "default": "at-least",
        "not": [{"spans": [[18, 23]], "types": ["gene"]}],
        "some": [{"spans": [[10, 14], [0, 3]]}],
        "either": [[[{"type": "cell", "spans": [[18, 23]]}], []]],
    }
    found = claims_of(document(given), ("cell", "gene"))
    assert [claim.kind for claim in found] == ["not", "some", "either"]
    assert found[0].readings == ((Mention("gene", [(18, 23)]),),)
    assert found[1].readings == tuple((Mention(name, [(0, 3), (10, 14)]),) for name in ("cell", "gene"))
    assert found[2].readings == ((Mention("cell", [(18, 23)]),), ())


@pytest.mark.parametrize("annotation", [None, "at-least", {"default": "complete"}])
def test_annotation_without_claims(annotation: Any) -> None:
    assert claims_of(document(annotation), ("gene",)) == []


def test_complete_annotation_with_claims_is_not_simply_complete() -> None:
    said = completeness(Batch.of([prepare(document({"some": [{"spans": [[0, 3]]}]}))]), ("gene",))
    assert said is not None
    assert not said.any()


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        ({"not": {}}, "annotation.not is {}, expected a list"),
        ({"not": [[0, 3]]}, "annotation.not, number 1 is [0, 3], expected a mapping with spans"),
        ({"not": [{"spans": [[0, 3]], "type": "gene"}]}, "expected a mapping with spans and perhaps types"),
        ({"some": [{"spans": []}]}, "annotation.some, number 1, spans is [], expected [[start, end], ...]"),
        ({"some": [{"spans": [[0, 99]]}]}, "in the text's 24 characters"),
        ({"some": [{"spans": [[3, 3]]}]}, "expected [[start, end]"),
        ({"some": [{"spans": [[True, 3]]}]}, "expected [[start, end]"),
        ({"some": [{"spans": [[0, 5], [3, 8]]}]}, "expected spans that do not overlap"),
        ({"some": [{"spans": [[0, 3]], "types": []}]}, "types is [], expected a list of types"),
        ({"some": [{"spans": [[0, 3]], "types": [["gene"]]}]}, "expected a list of types"),
        (
            {"some": [{"spans": [[0, 3]], "types": ["drug"]}]},
            "a type is 'drug', expected one of the training data: gene",
        ),
        ({"either": [[[]]]}, "expected a list of two or more readings"),
        ({"either": [[[], {}]]}, "expected a list of two or more readings"),
        ({"either": [[[], [{"spans": [[0, 3]]}]]]}, "expected a mention with type and spans"),
        ({"either": [[[], []]]}, "expected readings that differ"),
    ],
)
def test_what_is_no_claim(annotation: Any, told: str) -> None:
    with pytest.raises(DataError) as caught:
        claims_of(document(annotation), ("gene",))
    assert told in str(caught.value)
    assert str(caught.value).startswith("document 'd': annotation.")


def test_a_mention_that_is_given_and_denied() -> None:
    given = document({"not": [{"spans": [[0, 3]]}]}, Mention("gene", [(0, 3)]))
    with pytest.raises(
        DataError, match=r"characters 0-3 are annotated as a mention of type 'gene', and annotation\.not"
    ):
        claims_of(given, ("gene",))


@pytest.mark.parametrize("annotation", ["often", {"not": 3}, {"some": [{"spans": [[0, 99]]}]}])
def test_validation_warns_of_what_training_refuses(annotation: Any) -> None:
    [problem] = validate(document(annotation))
    assert (problem.severity, problem.place) == ("warning", "meta.annotation")
    assert "training will refuse it" in problem.message


def test_validation_warns_of_a_mention_that_is_given_and_denied() -> None:
    [problem] = validate(document({"not": [{"spans": [[0, 3]]}]}, Mention("gene", [(0, 3)])))
    assert "annotation.not excludes them" in problem.message
    assert validate(document({"not": [{"spans": [[0, 3]], "types": ["cell"]}]}, Mention("gene", [(0, 3)]))) == []


def test_validation_takes_any_type() -> None:
    assert validate(document({"some": [{"spans": [[0, 3]], "types": ["drug"]}, {"spans": [[10, 14]]}]})) == []
