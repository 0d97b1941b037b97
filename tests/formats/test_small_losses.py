"""What a file cannot say is counted, however small: nothing is other than it was without a word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.formats import read, write
from spanloom.formats.base import UNNAMED


def note(**fields: object) -> Document:
    mention = Mention("problem", [(0, 4)]).replace(**fields)
    return Document("mild pain", "7", [[0, 4], [5, 9]], [[0, 2]], mentions=[mention])  # type: ignore[arg-type]


def meta(**fields: object) -> Document:
    return Document("mild pain", "7", meta=fields)


LOST = "mention identifiers"
STRIPPED = "concepts with white space at their ends"
TWICE = "concepts that occur twice"
TOUCHING = "spans that touch, or only white space parts, written as one"


@pytest.mark.parametrize(
    ("document", "name", "loss"),
    [
        (note(id=""), "a.xml", LOST),
        (note(id=""), "a.json", LOST),
        (note(id=""), "tasks.json", LOST),
        (note(id=""), "a.ann", LOST),
        (note(concepts=["X:1 "]), "a.pubtator", STRIPPED),
        (note(concepts=["X\0"]), "a.ann", "concepts with white space or NUL"),
        (note(concepts=["X\0"]), "a.pubtator", "concepts"),
        (note(concepts=["X:1", "X:1"]), "a.ann", TWICE),
        (note(concepts=["X:1", "X:1"]), "tasks.json", TWICE),
        (note(concepts=["X:1|X:2"]), "a.pubtator", "concepts that read back in another way"),
        (note(concepts=["-1"]), "a.pubtator", "concepts that read back in another way"),
        (note(spans=[(0, 2), (2, 4)]), "a.pubtator", TOUCHING),
        (note(spans=[(0, 4), (5, 9)]), "a.conll", TOUCHING),
        (note(spans=[(0, 4), (5, 9)]), "a.conllu", TOUCHING),
        (note(spans=[(0, 4), (5, 9)]), "a.chars", TOUCHING),
        (note().copy(id=" 7"), "a.xml", "document identifiers with white space at their ends"),
        (note().copy(id="7\t8"), "a.conllu", "document identifiers with white space"),
        (note().copy(id="7 "), "a.conll", "document identifiers with white space"),
        (meta(bioc={"mine": 1}), "a.json", "fields of meta.bioc"),
        (meta(bioc={"unread": {"x": 1}}), "a.xml", "fields of meta.bioc"),
        (meta(brat={"mine": 1}), "a.ann", "fields of meta.brat"),
        (meta(pubtator={"mine": 1}), "a.pubtator", "fields of meta.pubtator"),
        (meta().copy(id=""), "a.pubtator", UNNAMED),
    ],
)
def test_a_loss_is_counted(tmp_path: Path, document: Document, name: str, loss: str) -> None:
    path, kind = tmp_path / name, {"a.json": "bioc-json", "tasks.json": "label-studio"}.get(name)
    losses = write([document], path, format=kind).counts
    assert losses[loss] == 1
    [found] = read(path.with_suffix(".txt") if name == "a.ann" else path, format="brat" if name == "a.ann" else kind)
    same = (found.id, found.mentions) == (
        document.id,
        document.mentions,
    ) and document.meta.items() <= found.meta.items()
    assert not same  # else the count would be wrong
    if loss != LOST:
        assert LOST not in losses


@pytest.mark.parametrize("kind", ["brat", "xmi", "text"])
def test_folders_name_documents_that_have_no_name(tmp_path: Path, kind: str) -> None:
    assert write([meta().copy(id="")], tmp_path / kind, format=kind).counts[UNNAMED] == 1
    assert [document.id for document in read(tmp_path / kind)] == ["document-000001"]
    assert not write([meta()], tmp_path / f"{kind}2", format=kind).counts[UNNAMED]


@pytest.mark.parametrize("name", ["a.xml", "a.json", "a.pubtator", "a.ann", "tasks.json"])
def test_nothing_is_counted_where_nothing_is_lost(tmp_path: Path, name: str) -> None:
    document = note(concepts=["MESH:D010146", "OMIM:1"]).copy(tokens=None, sentences=None)
    kind = {"a.json": "bioc-json", "tasks.json": "label-studio"}.get(name)
    assert not write([document], tmp_path / name, format=kind)
    [found] = read(tmp_path / name, format=kind)
    assert found.mentions[0].replace(id=None) == document.mentions[0]
    assert not write([found], tmp_path / name, format=kind, force=True)


@pytest.mark.parametrize(
    ("document", "name", "message"),
    [
        (meta().copy(id="7\0"), "a.pubtator", "a tab, a line end or NUL in it"),
        (meta().copy(tokens=[[0, 4]], columns={"pos": [1]}), "a.jsonl", r"columns\['pos'\]: holds 1, expected texts"),
    ],
)
def test_what_would_not_be_read_is_not_written(tmp_path: Path, document: Document, name: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        write([document], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (meta(), "documents is of type Document, expected a list of documents"),
        (["mild pain"], "item 0 of documents is 'mild pain', expected a Document"),
        (7, "documents is of type int, expected a list"),
    ],
)
def test_what_is_no_document_is_not_written(tmp_path: Path, documents: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        write(documents, tmp_path / "a.jsonl")  # type: ignore[arg-type]


_MARKED = "<Drug>Aspirin</Drug> for <Problem>chest pain</Problem>.\n"


@pytest.mark.parametrize(("text", "format", "found", "line", "mark"), [
    ("He has <disease>cancer now.", None, 0, 1, "<disease>"),
    ("One.\nHe has cancer</disease> now.", None, 0, 2, "</disease>"),
    ("He has [cancer](disease and fever.", None, 0, 1, "[cancer](disease and fever"),
    ("He has <START:disease> cancer now.", None, 0, 1, "<START:disease>"),
    ("Dear <NAME>, seen on <date> at [1] (see a < b).", None, 0, 0, ""),
    (_MARKED + "He has <disease>cancer now.", "markup", 2, 2, "<disease>"),
    (_MARKED.replace("</Drug>", "</Problem>", 1), "markup", 1, 1, ""),
    ("[Aspirin](Drug) for [chest pain](Problem), [cough](Problem and fever", "markup", 2, 1, "[cough](Problem and"),
    ("[Aspirin](Drug) for [chest pain](Problem).\nNo cancer](disease) now.", "markup", 2, 2, "](disease)"),
    ("take <START:Drug> Aspirin <END> .\nno <START:Drug> aspirin", "markup", 1, 2, "<START:Drug>"),
    ("take <START:Drug> Aspirin <END> .\nno aspirin <END>", "markup", 1, 2, "<END>"),
    ("[PER Jan Novak ] met [PER Kim Lee ] and [PER Bo left.", "markup", 2, 1, "[PER"),
    ("@@Aspirin## for\n@@pain.", "markup", 1, 2, "@@"),
])  # fmt: skip
def test_marks_without_their_other_half_are_reported(tmp_path, text, format, found, line, mark) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)
    heard: list[str] = []
    [document] = read(path, format, notice=heard.append)
    told = [one for one in heard if "other half" in one]
    assert (bool(told), len(document.mentions)) == (bool(line), found)
    assert all(mark in one and (f"a.txt:{line}: " in one or f"in line {line} " in one) for one in told)
    record = tmp_path / "a.jsonl"
    record.write_text(json.dumps({"text": text}))
    heard.clear()
    [_] = read(record, notice=heard.append)
    assert any("marks around mentions" in one for one in heard) == bool(line) or format == "markup"
