"""Vocabulary files that attack, lie or are cut off, and indexes that are damaged: one line, and nothing is done."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save

from spanloom.errors import DataError, ModelError, SpanloomError
from spanloom.vocabulary import Concept, Vocabulary, read_vocabulary

ROW = "<Row><DiseaseName>{}</DiseaseName><DiseaseID>1</DiseaseID></Row>"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
ROWS = f"<RowSet>{ROW.format('heart')}\n{ROW.format('lung').replace('>1<', '>2<')}</RowSet>"
DECLARED = '<?xml version="1.0" encoding="{}"?>\n'


def refused(path: str | Path, *words: str, kind: type[SpanloomError] = DataError) -> None:
    with pytest.raises(kind) as caught:
        read_vocabulary(path)
    message = str(caught.value)
    assert message.startswith(str(path)) and "\n" not in message and len(message) < 600
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            f'<!DOCTYPE RowSet [<!ENTITY l0 "ha">{LAUGHS}]>\n{ROW.format("&l9;")}',
            ":1: found a declaration of the entity 'l0'",
        ),
        (
            f'<!DOCTYPE RowSet [\n<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<RowSet>{ROW.format("&x;")}</RowSet>',
            ":2: found a declaration of the entity 'x'",
        ),
        ('<!DOCTYPE RowSet [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x.dtd"> %x;]><RowSet/>', "of the entity 'x'"),
        (
            f'<!DOCTYPE RowSet SYSTEM "http://127.0.0.1:9/x.dtd">\n<RowSet>{ROW.format("&x;")}</RowSet>',
            ":2: found the entity 'x', which is not declared here",
        ),
        (f"<RowSet>{ROW.format('&x;')}</RowSet>", "undefined entity"),
        ("<RowSet>" + "<a>" * 200, "found more than 100 elements within each other"),
        (ROWS[:-20], ":2: found no well-formed XML"),
        (ROWS[: ROWS.index("\n") + 1], ":2: found no well-formed XML in column 1 (no element found)"),
        (ROWS + "<RowSet/>", "junk after document element"),
        (ROWS.replace("lung", "lu\0ng"), ":2: found no well-formed XML"),
        (ROWS.replace("lung", "&#0;"), ":2: found no well-formed XML"),
        (ROWS.replace("lung", "&#xD800;"), ":2: found no well-formed XML"),
        (
            DECLARED.format("UTF-8").encode() + ROWS.replace("lung", "p\xf6ng").encode("latin-1"),
            ":3: found no well-formed",
        ),
        (DECLARED.format("UTF-16") + ROWS, ":1: found no well-formed XML"),
        (DECLARED.format("UTF-8").encode("utf-16") + ROWS.encode("utf-16-le"), "found no well-formed XML"),
        (DECLARED.format("klingon") + ROWS, ":1: found "),
        (DECLARED.format("shift_jis") + ROWS, ":1: found an encoding that cannot be read"),
        (DECLARED.format("rot13") + ROWS, ":1: found "),
    ],
)
def test_hostile_xml(tmp_path, content, words) -> None:
    (tmp_path / "a.xml").write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(tmp_path / "a.xml", words)


def test_a_dtd_elsewhere_is_not_fetched(tmp_path) -> None:
    (tmp_path / "a.xml").write_text(f'<!DOCTYPE RowSet SYSTEM "http://127.0.0.1:9/x.dtd">{ROWS}')
    assert [concept.name for concept in read_vocabulary(tmp_path / "a.xml")] == ["heart", "lung"]


def test_imports_of_an_ontology_are_not_fetched(tmp_path) -> None:
    (tmp_path / "a.obo").write_text("format-version: 1.4\nimport: http://127.0.0.1:9/x.obo\n[Term]\nid: X:1\nname: a\n")
    assert [str(note) for note in read_vocabulary(tmp_path / "a.obo").notes] == [
        "imports, not followed: 1, such as http://127.0.0.1:9/x.obo"
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "id\tname\n1\tSj\xf6gren\n".encode("latin-1")),
        ("a.tsv", "\ufeffid\tname\n1\theart\n".encode("utf-16-le")),
        ("a.obo", "\ufeff[Term]\nid: X:1\nname: a\n".encode("utf-16-be")),
        ("a.json", '\ufeff{"graphs": []}'.encode("utf-16-le")),
        ("a.csv", "\ufeff# DiseaseName,DiseaseID\na,1\n".encode("utf-16-le")),
        ("a.tsv", b"id\tname\n1\t\xed\xa0\x80\n"),
        ("a.tsv", b"\0" * 100),
        ("a.csv", b'# DiseaseName,DiseaseID\n"' + b"a" * 200_000 + b'",1\n'),
    ],
)
def test_other_encodings_and_contents(tmp_path, name, content) -> None:
    (tmp_path / name).write_bytes(content)
    refused(tmp_path / name)


def test_devices_and_folders(tmp_path) -> None:
    refused("/proc/self/mem", "cannot be read")
    refused(tmp_path, "found a folder")


@pytest.fixture(scope="session")
def saved(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("index") / "index"
    concepts = [Concept("1", "heart", ("cor",), ("2",), ("9",), "a pump", "organ"), Concept("3", "lung")]
    Vocabulary.build(concepts).save(path)
    return path


@pytest.fixture
def index(saved, tmp_path) -> Path:
    shutil.copytree(saved, tmp_path / "index")
    return tmp_path / "index"


def describe(path: Path, **changes: object) -> None:
    file = path / "model.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def weigh(path: Path, **changes: np.ndarray | None) -> None:
    arrays = load_file(path / "weights.safetensors")
    arrays |= {name.replace("__", "."): array for name, array in changes.items() if array is not None}
    data = save({name: array for name, array in arrays.items() if changes.get(name.replace(".", "__"), 0) is not None})
    (path / "weights.safetensors").write_bytes(data)
    describe(path, sha256=hashlib.sha256(data).hexdigest())


def test_the_untouched_index_opens(index) -> None:
    assert Vocabulary.open(index).find("2") == 0


@pytest.mark.parametrize("keep", [0, 7, 100, -1])
def test_a_truncated_index(index, keep) -> None:
    data = (index / "weights.safetensors").read_bytes()[:keep]
    (index / "weights.safetensors").write_bytes(data)
    refused(index, "checksum", kind=ModelError)
    describe(index, sha256=hashlib.sha256(data).hexdigest())
    refused(index, "damaged", kind=ModelError)


@pytest.mark.parametrize("file", ["model.json", "weights.safetensors"])
def test_half_an_index(index, file) -> None:
    (index / file).unlink()
    with pytest.raises(SpanloomError):
        read_vocabulary(index)
    with pytest.raises(ModelError, match="missing"):
        Vocabulary.open(index)


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def text(value: bytes) -> np.ndarray:
    return np.frombuffer(value, dtype=np.uint8)


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("ids.ends", None, "'ids.ends' is missing"),
        ("ids.ends", ints(1), "'ids.ends' does not rise from 0 to 2"),
        ("ids.ends", ints(2, 1), "'ids.ends' does not rise"),
        ("ids.ends", ints(-1, 2), "'ids.ends' does not rise"),
        ("ids.ends", ints(3, 2), "'ids.ends' does not rise"),
        ("ids.ends", ints(1, 1, 2), "its columns are of different lengths"),
        ("ids.ends", np.array([1, 2], dtype=np.int32), "is int32 of shape (2,), expected int64"),
        ("ids.ends", np.array([[1, 2]]), "is int64 of shape (1, 2), expected int64"),
        ("ids.text", text(b"\xff3"), "'ids.text' is not UTF-8"),
        ("names.text", text(b""), "'names.ends' does not rise from 0 to 0"),
        ("names.last", ints(3, 3), "or a concept has no name"),
        ("names.last", ints(2, 9), "'names.last' does not rise from 0 to 3"),
        ("names.last", ints(3), "its columns are of different lengths"),
        ("parents.last", ints(2**62, 1), "'parents.last' does not rise"),
        ("categories.ends", ints(), "'categories.ends' does not rise"),
    ],
)
def test_arrays_that_no_vocabulary_has(index, name, array, words) -> None:
    weigh(index, **{name.replace(".", "__"): array})
    refused(index, words, kind=ModelError)


def test_an_index_of_nothing(index) -> None:
    empty = {name.replace(".", "__"): array[:0] for name, array in load_file(index / "weights.safetensors").items()}
    weigh(index, **empty)
    refused(index, "or a concept has no name", kind=ModelError)


@pytest.mark.parametrize(
    "notes", [7, [7], [["a", 1]], [["a", "b", []]], [["a", 1, [7]]], [["a", 1, 7]], ["abc"], {"a": 1}]
)
def test_notes_that_are_none(index, notes) -> None:
    describe(index, notes=notes)
    refused(index, kind=ModelError)
