"""JSON files with a list of records or one record, and Label Studio's JSON-MIN."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.formats import read, validate, write

NATIVE = {"id": "1", "text": "Mild pain", "mentions": [{"type": "x", "spans": [[5, 9]]}]}
PRODIGY = {"text": "Mild pain", "spans": [{"start": 5, "end": 9, "label": "x"}]}
TAGGED = {"tokens": ["Mild", "pain"], "ner_tags": ["O", "B-x"]}
MIN = {
    "id": 1,
    "text": "Mild or severe pain",
    "sentiment": "bad",
    "ner": [
        {"start": 15, "end": 19, "text": "pain", "labels": ["x", "y"]},
        {"start": 0, "end": 4, "text": "Mild", "labels": ["x"]},
    ],
    "annotator": 1,
    "annotation_id": 7,
    "lead_time": 1.5,
}


def written(folder: Path, value: object, name: str = "a.json") -> Path:
    (folder / name).write_text(json.dumps(value, indent=1), encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("record", [NATIVE, PRODIGY, TAGGED])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.ndjson"])
def test_lists_of_records(tmp_path: Path, record: object, name: str) -> None:
    for document in read(written(tmp_path, [record, record], name)):
        assert (document.text, document.mentions) == ("Mild pain", [Mention("x", [(5, 9)])])


def test_one_record(tmp_path: Path) -> None:
    assert len(list(read(written(tmp_path, NATIVE)))) == 1
    (tmp_path / "bom.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(NATIVE).encode())
    assert len(list(read(tmp_path / "bom.json"))) == 1


def test_there_and_back(tmp_path: Path) -> None:
    documents = [Document("No \u2028x pain.", id="é", mentions=[Mention("x", [(0, 2), (6, 10)])]), Document("")]
    for given in ([], documents[:1], documents):
        assert not write(given, tmp_path / "a.json", format="json", force=True)
        assert json.loads((tmp_path / "a.json").read_text())[:1] == json.loads((tmp_path / "a.json").read_text())[:1]
        if given:
            assert list(read(tmp_path / "a.json", format="json")) == given


def test_labels_of_json_min(tmp_path: Path) -> None:
    [document] = read(written(tmp_path, [MIN]))
    assert document.mentions == [Mention("x", [(15, 19)]), Mention("y", [(15, 19)]), Mention("x", [(0, 4)])]
    assert (document.id, document.meta["annotation_id"], document.meta["sentiment"]) == ("1", 7, "bad")
    [document] = read(written(tmp_path, [{**MIN, "ner": []}]))
    assert document.mentions == []


def test_wrong_texts_of_json_min_are_told(tmp_path: Path) -> None:
    region = {"start": 14, "end": 18, "text": "pain", "labels": ["x"]}
    path = written(tmp_path, [MIN, {**MIN, "ner": [region]}])
    [problem] = [problem for problem in validate(path) if problem.severity == "error"]
    assert str(problem).startswith(f"{path}: error: records[1]: ner[0]: the text is 'pain', but")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "the file holds no document; expected a list of records"),
        ('[{"text": "a"}', "a.json:1: not JSON: expecting ',' delimiter"),
        ('[\n{"text": "a"},\n]', "a.json:3: not JSON"),
        ('[{"text": "a"}, 7]', "records[1]: the line is 7, expected a JSON object"),
        ('[{"text": "a"}, {"text": 1}]', "records[1]: text is 1, expected the document's text"),
        ('[{"text": "a", "mentions": 1}]', "records[0]: mentions is 1, expected a list"),
        ("[" * 100_000, "nested too deeply"),
        ('"text"', 'the line is "text", expected'),
    ],
)
def test_hostile_files(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(DataError) as caught:
        list(read(tmp_path / "a.json", format="json"))
    assert message in str(caught.value)


def test_a_bad_record_leaves_the_others(tmp_path: Path) -> None:
    path = written(tmp_path, [NATIVE, {"text": 1}, NATIVE])
    assert len(list(read(path, on_error=lambda problem: None))) == 2


def test_an_empty_list_is_a_list_of_records(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the file holds no document; expected a list of records"):
        list(read(written(tmp_path, [])))


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("labels.json", [{"id": 12, "text": "problem"}, {"id": 13, "text": "sign"}]),
        ("label_config.json", [{"text": "problem", "suffixKey": "p", "backgroundColor": "#f00", "textColor": "#fff"}]),
        ("span_types.json", [{"id": 1, "text": "problem", "prefix_key": None, "suffix_key": "p"}]),
    ],
)
def test_labels_of_doccano_are_no_documents(tmp_path: Path, name: str, labels: list) -> None:
    written(tmp_path, [{"text": "no pain", "label": [[3, 7, "problem"]]}])
    (tmp_path / name).write_text(json.dumps(labels))
    told: list[str] = []
    assert [document.text for document in read(tmp_path, notice=told.append)] == ["no pain"]
    assert len(told) == 1
    assert f"{name}: not read: a list of the labels of doccano, not documents" in told[0]
    with pytest.raises(UsageError, match=f"{name} is not read: a list of the labels"):
        read(tmp_path / name)
    assert len(list(read(tmp_path / name, "json"))) == len(labels)


def test_short_texts_are_no_labels(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text('[{"id": 1, "text": "no pain"}]')
    assert [document.text for document in read(tmp_path / "notes.json")] == ["no pain"]


def test_lines_of_records_are_read_whatever_the_file_is_called(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"text": "a"}\n{"text": "b"}\n{"text": 1}\n')
    problems: list[str] = []
    found = list(read(tmp_path / "a.json", on_error=lambda problem: problems.append(str(problem))))
    assert [document.text for document in found] == ["a", "b"]
    assert len(problems) == 1 and "a.json:3" in problems[0]


@pytest.mark.parametrize(("subject", "object"), [("T1", "T2"), ("T2", "T1")])
def test_chained_fragments_of_pubannotation_are_parts_of_a_mention(tmp_path: Path, subject: str, object: str) -> None:
    record = {
        "text": "left and right atrial enlargement",
        "denotations": [
            {"id": "T1", "span": {"begin": 0, "end": 4}, "obj": "_FRAGMENT"},
            {"id": "T2", "span": {"begin": 15, "end": 33}, "obj": "problem"},
            {"id": "T3", "span": {"begin": 9, "end": 33}, "obj": "problem"},
        ],
        "relations": [{"id": "R1", "pred": "_lexicallyChainedTo", "subj": subject, "obj": object}],
    }
    [document] = read(written(tmp_path, record))
    spans = [((0, 4), (15, 33)), ((9, 33),)]
    assert [(mention.type, mention.spans) for mention in document.mentions] == [("problem", one) for one in spans]


def test_fragments_with_ids_that_are_not_unique_lose_no_mention(tmp_path: Path) -> None:
    parts = [("T1", 0, 4, "_FRAGMENT"), ("T2", 9, 14, "a"), ("T2", 15, 33, "b")]
    record = {
        "text": "left and right atrial enlargement",
        "denotations": [{"id": name, "span": {"begin": b, "end": e}, "obj": kind} for name, b, e, kind in parts],
        "relations": [{"id": "R1", "pred": "_lexicallyChainedTo", "subj": "T2", "obj": "T1"}],
    }
    [document] = read(written(tmp_path, record))
    assert sorted(mention.type for mention in document.mentions) == ["_FRAGMENT", "a", "b"]
