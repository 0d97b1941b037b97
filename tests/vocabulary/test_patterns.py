"""Patterns of spaCy and Prodigy: names of a vocabulary, and rules of `spanloom label`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spanloom.document import Document
from spanloom.errors import DataError, DataWarning
from spanloom.formats import read
from spanloom.label import label, read_label_rules
from spanloom.vocabulary import read_vocabulary
from spanloom.vocabulary.json_records import names_of

PATTERNS: list[dict[str, Any]] = [
    {"label": "DRUG", "pattern": "Aspirin"},
    {"label": "DRUG", "pattern": [{"lower": "acetylsalicylic"}, {"lower": "acid"}]},
    {"label": "PROBLEM", "pattern": [{"LOWER": {"IN": ["mild", "severe"]}}, {"ORTH": "pain"}], "id": "C1"},
    {"label": "PROBLEM", "pattern": [{"LOWER": "chest", "OP": "?"}, {"LOWER": "tightness"}], "id": "C1"},
    {"label": "PROBLEM", "pattern": [{"LEMMA": "be"}]},
    {"label": "PROBLEM", "pattern": [{"TEXT": {"REGEX": "x"}}]},
]


@pytest.fixture(params=["a.jsonl", "a.json"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    made = tmp_path / request.param
    lines = "".join(json.dumps(one) + "\n" for one in PATTERNS)
    made.write_text(lines if made.suffix == ".jsonl" else json.dumps(PATTERNS))
    return made


def test_a_vocabulary_of_patterns(path: Path) -> None:
    with pytest.warns(DataWarning, match="patterns whose names cannot be listed, left out: 2, such as"):
        vocabulary = read_vocabulary(path)
    assert [(one.id, one.names, one.category) for one in vocabulary] == [
        ("Aspirin", ("Aspirin",), "DRUG"),
        ("acetylsalicylic acid", ("acetylsalicylic acid",), "DRUG"),
        ("C1", ("mild pain", "chest tightness", "severe pain", "tightness"), "PROBLEM"),
    ]


def test_rules_of_patterns(path: Path) -> None:
    with pytest.warns(DataWarning, match="2 patterns that cannot be read as phrases, such as"):
        rules = read_label_rules(path)
    text = "Severe pain, tightness; Aspirin, aspirin, Acetylsalicylic acid."
    [document] = label([Document(text)], rules)
    assert [(one.type, one.text(text)) for one in document.mentions] == [
        ("PROBLEM", "Severe pain"),
        ("PROBLEM", "tightness"),
        ("DRUG", "Aspirin"),
        ("DRUG", "Acetylsalicylic acid"),
    ]


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        [],
        [{}],
        ["pain"],
        7,
        [{"LOWER": ""}],
        [{"LOWER": 7}],
        [{"LOWER": {"IN": []}}],
        [{"LOWER": {"NOT_IN": ["x"]}}],
        [{"LOWER": "x", "OP": "+"}],
        [{"LOWER": "x", "POS": "NOUN"}],
        [{"LOWER": "x", "OP": "?"}, {"LOWER": "y", "OP": "*"}],
        [{"LOWER": {"IN": ["a", "b"]}}] * 30,
        [{"LOWER": "x", "OP": "?"}] * 400,
    ],
)
def test_patterns_whose_names_cannot_be_listed(pattern: Any) -> None:
    assert names_of(pattern) is None


def test_other_files_are_no_rules_and_patterns_are_no_documents(tmp_path: Path, path: Path) -> None:
    (tmp_path / "b.jsonl").write_text('{"text": "pain"}\n{"text": "fever"}\n')
    with pytest.raises(DataError, match=r"b\.jsonl:1: found the fields 'text', expected patterns such as"):
        read_label_rules(tmp_path / "b.jsonl")
    with pytest.raises(DataError, match="it is a pattern: spanloom label PATTERNS TEXTS"):
        list(read(path))


@pytest.mark.parametrize(
    ("content", "names", "note"),
    [
        ({"concepts": [{"id": "1", "name": "pain"}], "version": "2"}, ("pain",), ""),
        ([{"id": "1", "name": "pain", "synonyms": {"en": ["ache"], "de": "Schmerz"}}], ("pain", "ache", "Schmerz"), ""),
        ([{"id": "1", "name": "pain", "synonyms": [{"name": "ache", "scope": "EXACT"}]}], ("pain", "ache"), ""),
        ([{"id": "1", "name": "pain", "synonyms": [{"en": {"x": "ache"}}]}], ("pain",), "values that are not read: 1"),
    ],
)
@pytest.mark.filterwarnings("ignore::spanloom.errors.DataWarning")
def test_names_in_objects(tmp_path: Path, content: Any, names: tuple[str, ...], note: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(content))
    vocabulary = read_vocabulary(tmp_path / "a.json")
    assert [one.names for one in vocabulary] == [names]
    assert note in " ".join(map(str, vocabulary.notes))
