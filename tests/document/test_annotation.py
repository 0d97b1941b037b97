"""What annotation says of a text: read, refused, and laid on tokens."""

from __future__ import annotations

from typing import Any

import pytest

from spanloom import Document
from spanloom.document import Batch
from spanloom.document.annotation import completeness, zones_of
from spanloom.errors import DataError
from spanloom.text import prepare

TEXT = "p53 binds MDM2 in cells."


def said(annotation: Any, default: str = "complete") -> list[list[int]] | None:
    meta = {} if annotation is None else {"annotation": annotation}
    found = completeness(Batch.of([prepare(Document(TEXT, id="d", meta=meta))]), ("cell", "gene"), default)
    return None if found is None else found.tolist()


def test_a_word_for_all() -> None:
    assert said(None) is None
    assert said("complete") is None
    assert said("at-least") == [[1, 1]] * 6
    assert said(None, "unknown") == [[2, 2]] * 6
    assert said("complete", "unknown") is None


def test_what_is_said_later_counts() -> None:
    zones = [
        {"start": 0, "end": 14, "annotation": "complete", "types": ["gene"]},
        {"start": 10, "end": 11, "annotation": "at-least"},
    ]
    assert said({"default": "at-least", "types": {"gene": "unknown"}, "zones": zones}) == [
        [1, 0],
        [1, 0],
        [1, 1],  # a zone of one character
        [1, 2],
        [1, 2],
        [1, 2],
    ]


def test_zones_of_a_document_that_says_nothing() -> None:
    [zone] = zones_of(Document(TEXT), "at-least")
    assert (zone.start, zone.end, zone.types, zone.status) == (0, len(TEXT), None, "at-least")


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        ("often", "annotation is 'often', expected complete, at-least or unknown"),
        (
            ["complete"],
            "expected complete, at-least, unknown, or a mapping with default, either, not, some, types, zones",
        ),
        ({"zone": []}, "expected complete, at-least, unknown, or a mapping"),
        ({"default": None}, "annotation is None, expected complete"),
        ({"default": ["complete"]}, "annotation is ['complete'], expected complete"),
        ({"types": ["gene"]}, "annotation.types is ['gene'], expected a mapping"),
        ({"types": {"gene": 1}}, "annotation.types.gene is 1, expected complete"),
        ({"types": {"drug": "unknown"}}, "a type of its annotation is 'drug', expected one of the training data: cell"),
        ({"zones": "all"}, "annotation.zones is 'all', expected a list"),
        ({"zones": ["all"]}, "annotation, zone 1 is 'all', expected a mapping with start"),
        ({"zones": [{"start": 0, "end": 99, "annotation": "complete"}]}, "zone 1 is '0 to 99', expected characters"),
        ({"zones": [{"start": 3, "end": 3, "annotation": "complete"}]}, "zone 1 is '3 to 3', expected characters"),
        ({"zones": [{"start": 0, "end": True, "annotation": "complete"}]}, "zone 1 is '0 to True', expected"),
        ({"zones": [{"start": 0, "end": 3.0, "annotation": "complete"}]}, "zone 1 is '0 to 3.0', expected"),
        ({"zones": [{"start": 0, "end": 3, "annotation": "yes"}]}, "zone 1 is 'yes', expected complete"),
        ({"zones": [{"start": 0, "end": 3, "annotation": "complete", "types": "gene"}]}, "zone 1, types is 'gene'"),
    ],
)
def test_what_is_wrong(annotation: Any, told: str) -> None:
    with pytest.raises(DataError) as error:
        said(annotation)
    assert told in str(error.value)
    assert "document 'd'" in str(error.value)
