"""Cells of a table that hold mentions, tags or words, in the ways in which programs write them there."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from spanloom.formats import read, validate
from spanloom.formats.csv_rows import value_of

TEXT = "She had chest pain."
SPANS = [[8, 18, "P"]]
OBJECT = {"start": 8, "end": 18, "label": "P"}


def table(path: Path, header: list[str], *rows: list[object]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",").writerows([header, *rows])
    return path


READ = {
    "doccano": (["id", "data", "label"], [1, TEXT, json.dumps(SPANS)]),
    "a text of another name": (["key", "note_body", "annotations"], [1, TEXT, str([OBJECT])]),
    "the annotation of spaCy": (["id", "text", "spacy"], [1, TEXT, json.dumps({"entities": SPANS})]),
    "JSON of JSON": (["id", "text", "entities"], [1, TEXT, json.dumps(json.dumps(SPANS))]),
    "tuples with the text first": (["text", "ner"], [TEXT, "[('chest pain', 'P', 8, 18)]"]),
    "tuples with the type first": (["text", "ner"], [TEXT, "[('P', 'chest pain', 8, 18)]"]),
    "numbers of NumPy": (["text", "ents"], [TEXT, str([OBJECT | {"score": 1}]).replace("1}", "np.float32(0.9)}")]),
    "lists of NumPy": (["text", "ents"], [TEXT, f"[{OBJECT}]"]),
    "mentions in rows": (["id", "text", "start_char", "end_char", "entity_type"], [1, TEXT, 8, 18, "P"]),
}


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize("name", READ)
def test_mentions_in_cells(tmp_path: Path, name: str, suffix: str) -> None:
    header, row = READ[name]
    [document] = read(table(tmp_path / f"a{suffix}", header, row))
    assert document.text == TEXT
    assert [(mention.type, *mention.spans) for mention in document.mentions] == [("P", (8, 18))]


def test_the_text_of_mentions_may_show_in_a_later_row(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", ["id", "data", "label"], [1, "No pain.", "[]"], [2, TEXT, json.dumps(SPANS)])
    assert [(one.text, len(one.mentions)) for one in read(path)] == [("No pain.", 0), (TEXT, 1)]


def test_words_and_tags_in_cells(tmp_path: Path) -> None:
    rows = (['["She", "had", "pain"]', '["O", "O", "B-P"]'], ["['She' 'had' 'pain']", "['O' 'O' 'B-P']"])
    documents = list(read(table(tmp_path / "a.csv", ["tokens", "ner_tags"], *rows)))
    assert [(one.text, one.mentions[0].spans) for one in documents] == [("She had pain", ((8, 12),))] * 2
    numbers = table(tmp_path / "b.csv", ["tokens", "ner_tags"], ["['She' 'had'\n 'pain']", "[0 0 1]"])
    [document] = read(numbers, tag_names="O,B-P")
    assert document.mentions[0].spans == ((8, 12),)


UNREAD = {
    "cut off": ("label", "[[8, 18, 'P'", "looks like annotation and is not read: \"[[8, 18, 'P'\""),
    "another notation": ("labels", "8:18:P;0:3:Q", "the cell of 'labels' looks like annotation"),
    "texts": ("ner", "{'P': ['chest pain']}", "the field 'ner' looks like annotation and is not read; it gives texts"),
    "offsets alone": ("problems", "[[8, 18]]", "describe it: --columns mentions=problems"),
    "another name": (
        "my_ents",
        str([OBJECT]),
        "--columns mentions=my_ents,start=start,end=end,type=label",
    ),
}


@pytest.mark.parametrize("name", UNREAD)
def test_cells_that_are_not_read_are_reported(tmp_path: Path, name: str) -> None:
    column, cell, message = UNREAD[name]
    path = table(tmp_path / "a.csv", ["id", "text", column], [1, TEXT, cell])
    [problem] = validate(path)
    assert message in problem.message
    if "--columns " in message:  # as the message advises
        columns = dict(pair.split("=") for pair in message.partition("--columns ")[2].split(","))
        [document] = read(path, columns=columns)
        assert document.mentions[0].spans == ((8, 18),)


@pytest.mark.parametrize("cell", ["positive", "nan", "3", "sad, angry", "2 of 3", ""])
def test_other_cells_are_not(tmp_path: Path, cell: str) -> None:
    assert not list(validate(table(tmp_path / "a.csv", ["id", "text", "label"], [1, TEXT, cell])))


@pytest.mark.parametrize("cell", ["[" * 90_000, "[1 " * 90_000, "['a' " * 90_000, '"' * 90_000, "[np.float(" * 90_000])
def test_hostile_cells_are_no_values(cell: str) -> None:
    assert value_of(cell) is None
