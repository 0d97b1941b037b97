from __future__ import annotations

import numpy as np
import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError
from spanloom.text import prepare, section_names


def test_a_complete_document_is_returned_itself():
    document = Document("No pain", tokens=[[0, 7]], sentences=[[0, 1]])
    assert prepare(document) is document


def test_given_tokens_and_columns_are_kept():
    document = Document("No pain. No fever.", tokens=[[0, 2], [3, 8], [9, 11], [12, 18]], columns={"pos": list("DNDN")})
    prepared = prepare(document)
    assert np.array_equal(prepared.tokens, document.tokens)
    assert prepared.sentences.tolist() == [[0, 2], [2, 4]]
    assert prepared.columns == document.columns
    assert document.sentences is None


def test_missing_tokens_are_computed_and_the_rest_is_kept():
    mention = Mention("problem", [(3, 7)])
    document = Document("No pain", id="d", mentions=[mention], meta={"a": 1})
    prepared = prepare(document)
    assert prepared.words == ["No", "pain"]
    assert (prepared.id, prepared.mentions, prepared.meta) == ("d", [mention], {"a": 1})
    assert document.tokens is None


@pytest.mark.parametrize("text", ["", " \n ", "\x00"])
def test_no_tokens_at_all(text):
    prepared = prepare(Document(text))
    assert prepared.tokens.shape == prepared.sentences.shape == (0, 2)
    assert prepared.tokens.dtype == prepared.sentences.dtype == np.int64
    assert section_names(prepared) == []


def test_sections_of_an_article():
    text = "A title\n\nAbstract\n\nBone grows. It does.\n\nMaterials and Methods\n\nMice were bred.\n\nA finding: none."
    expected = ["", "abstract", "abstract", "abstract", "methods", "methods", "methods"]
    assert section_names(prepare(Document(text))) == expected


def test_sections_by_other_rules():
    document = prepare(Document("Befund: unauffällig.\n\nPlan: keiner.\n\nbefund:\nnormal"))
    assert section_names(document, {"findings": "befund"}) == ["findings", "", "findings", "findings"]


def test_sections_need_sentences():
    with pytest.raises(DataError, match="document 'd' has no tokens or no sentences; prepare it first"):
        section_names(Document("x", id="d"))
