"""The same document in every format: literal files, read and compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanloom.document import Mention
from spanloom.formats import read, validate

DATA = Path(__file__).parent / "data"
TEXT = "No infarctions either watershed or embolic.\nPain – mild.\n"
MENTIONS = [
    Mention("problem", [(3, 14), (22, 31)], "T1", (3, 14), ("SPL:0001",)),
    Mention("problem", [(3, 14), (35, 42)], "T2", (3, 14), ("SPL:0002", "SPL:0003")),
    Mention("problem", [(44, 55)], "T3", (44, 48), (), 0.875),
    Mention("severity", [(51, 55)], "T4"),
]
FLAT = [Mention("problem", [(44, 55)]), Mention("severity", [(51, 55)])]
WORDS = ["No", "infarctions", "either", "watershed", "or", "embolic", ".", "Pain", "–", "mild", "."]


@pytest.mark.parametrize("path", sorted(str(p.relative_to(DATA)) for p in DATA.glob("*/*.*")))
def test_every_file_is_sound(path: str) -> None:
    assert {problem.kind for problem in validate(DATA / path)} <= {"marks of gaps in a text"}


def test_native() -> None:
    (document,) = read(DATA / "native/note.jsonl")
    assert (document.text, document.id, document.meta) == (TEXT, "note", {"ward": "B"})
    assert document.mentions == MENTIONS
    assert document.words == WORDS
    assert document.columns["pos"][:2] == ["DT", "NNS"]
    assert document.sentences is not None
    assert document.sentences.tolist() == [[0, 7], [7, 11]]


def test_brat() -> None:
    (document,) = read(DATA / "brat")
    assert (document.text, document.id) == (TEXT, "note")
    assert document.mentions == MENTIONS
    assert document.tokens is None


def test_bigbio() -> None:
    (document,) = read(DATA / "bigbio/note.jsonl")
    assert document.text == TEXT.strip().replace("\n", " ")
    assert document.id == "note"
    assert document.mentions == [mention.replace(head=None, score=None) for mention in MENTIONS]
    assert document.meta["record_id"] == "0"
    assert document.meta["passages"][0] == {"id": "0-p0", "type": "finding", "offsets": [[0, 43]]}
    assert document.meta["relations"][0]["type"] == "grade"


def test_prodigy() -> None:
    (document,) = read(DATA / "prodigy/note.jsonl")
    assert (document.text, document.words, document.mentions) == (TEXT, WORDS, FLAT)
    assert document.meta == {"source": "ward", "_input_hash": -1, "_task_hash": 2, "answer": "accept"}


def test_doccano() -> None:
    first, second, third = read(DATA / "doccano/note.jsonl")
    assert [document.id for document in (first, second, third)] == ["1", "2", "3"]
    assert first.text == second.text == third.text == TEXT
    assert first.mentions == second.mentions == FLAT
    assert third.mentions == [FLAT[0].replace(id="7"), FLAT[1].replace(id="8")]
    assert third.meta == {"relations": []}


@pytest.mark.parametrize("name", ["bio.conll", "iob1.bio", "bilou.iob2", "bioes.conll"])
def test_columns(name: str) -> None:
    (document,) = read(DATA / "columns" / name)
    assert document.words == WORDS
    assert document.text == " ".join(WORDS[:7]) + "\n" + " ".join(WORDS[7:])
    assert document.columns == {"column2": ["DT", "NNS", "CC", "NN", "CC", "JJ", ".", "NN", ":", "JJ", "."]}
    assert [(m.type, m.text(document.text)) for m in document.mentions] == [
        ("problem", "Pain – mild"),
        ("severity", "mild"),
    ]


def test_pubtator() -> None:
    (document,) = read(DATA / "pubtator/note.pubtator")
    assert (document.text, document.id) == (TEXT.strip(), "123")
    assert document.mentions == [FLAT[0].replace(concepts=("SPL:0001", "SPL:0002")), FLAT[1]]


@pytest.mark.parametrize("name", ["note.xml", "note.json"])
def test_bioc(name: str) -> None:
    (document,) = read(DATA / "bioc" / name)
    assert (document.text, document.id) == (TEXT.strip().replace("\n", " "), "note")
    assert document.mentions == [mention.replace(head=None, score=None) for mention in MENTIONS]
    (other,) = read(DATA / "bioc/note.json")
    assert document.meta == other.meta


def test_text() -> None:
    (document,) = read(DATA / "text/note.txt")
    assert (document.text, document.id, document.mentions) == (TEXT, "note", [])


def test_a_folder_is_read_file_by_file() -> None:
    assert len(list(read(DATA / "columns"))) == 4
    assert [document.id for document in read(DATA / "native")] == ["note"]
