"""Records with words and tags, as on the Hugging Face hub; OMOP's notes; names that the user gives to fields."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document, Mention, to_bilou, to_bio
from spanloom.errors import DataError, UsageError
from spanloom.formats import from_record, read
from spanloom.formats.arrow import class_names
from spanloom.integrations.huggingface import from_dataset

RECORD = {"id": "0", "tokens": ["EU", "rejects", "German", "call"], "ner_tags": ["B-ORG", "O", "B-MISC", "I-MISC"]}


def jsonl(folder: Path, *records: object) -> Path:
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_words_and_tags() -> None:
    document = from_record({**RECORD, "pos_tags": ["N", "V", "A", "N"], "lang": "en"})
    assert (document.text, document.id, document.words) == ("EU rejects German call", "0", RECORD["tokens"])
    assert [(mention.type, mention.text(document.text)) for mention in document.mentions] == [
        ("ORG", "EU"),
        ("MISC", "German call"),
    ]
    assert document.sentences is not None
    assert (document.sentences.tolist(), document.columns) == ([[0, 4]], {"pos": ["N", "V", "A", "N"]})
    assert document.meta == {"lang": "en"}


@pytest.mark.parametrize(("words", "tags"), [("tokens", "tags"), ("words", "ner"), ("words", "labels")])
def test_other_names(words: str, tags: str) -> None:
    [mention] = from_record({words: ["No", "pain"], tags: ["O", "U-x"]}).mentions
    assert mention == Mention("x", [(3, 7)])


def test_types_without_letters_are_joined() -> None:
    document = from_record({"tokens": ["a", "b", "c", "d"], "ner_tags": ["art", "art", "person", "O"]})
    assert document.mentions == [Mention("art", [(0, 3)]), Mention("person", [(4, 5)])]


def test_a_text_that_the_words_make_up_is_taken() -> None:
    document = from_record({"text": "No pain.", "tokens": ["No", "pain", "."], "tags": ["O", "B-x", "O"]})
    assert (document.text, document.mentions) == ("No pain.", [Mention("x", [(3, 7)])])
    document = from_record({"text": "other", "tokens": ["No", "pain"], "tags": ["O", "B-x"]})
    assert (document.text, document.meta) == ("No pain", {"record_text": "other"})


def test_numbers_need_names(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"tokens": ["No", "pain"], "ner_tags": [0, 1]})
    message = (
        r"a.jsonl:1: ner_tags holds the number 0, which has no name; give the names of all tags in the order of their"
    )
    with pytest.raises(DataError, match=message):
        list(read(path))
    assert [one.text for one in read(path, mentions=False)] == ["No pain"]
    for names in ("O, B-x", ["O", "B-x"], ["O", "x"]):
        assert next(read(path, tag_names=names)).mentions == [Mention("x", [(3, 7)])]
    with pytest.raises(DataError, match="holds the number 1, which has no name"):
        list(read(path, tag_names=["O"]))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"tokens": ["a"], "tags": []}, "tags has 0 items, expected one for each of the 1 of tokens"),
        ({"tokens": ["a", "b"], "tags": ["B-x", "x"]}, "tags[1]: found the tag 'x', expected O or a letter of BIO"),
        ({"tokens": ["a"], "tags": [""]}, "tags[0]: found the tag '', expected O or"),
        ({"tokens": ["a"], "tags": [-100]}, "tags holds the number -100"),
        ({"tokens": ["a\0"], "tags": ["O"]}, "NUL character at offset 1"),
        ({"tokens": ["a"], "tags": ["B-"]}, "tags[0]: found the tag 'B-', expected O or one such as PER"),
        ({"tokens": ["a", 1], "tags": ["O", "O"]}, "tokens[1] is 1, expected a word"),
        ({"tokens": ["a", None], "ner_tags": ["O", "O"]}, "tokens[1] is null, expected a word"),
        ({"tokens": ["a", "b"], "tags": ["O", None]}, "tags[1] is null, expected a tag"),
        ({"tokens": "a", "tags": ["O"]}, "text is missing"),
    ],
)
def test_wrong_records(record: object, message: str) -> None:
    with pytest.raises(DataError) as caught:
        from_record(record)
    assert message in str(caught.value)


def test_empty_words_are_left_out_and_told(tmp_path: Path) -> None:
    told: list[str] = []
    path = jsonl(tmp_path, {"tokens": ["a", "", "b"], "tags": ["B-x", "I-x", "I-x"]}, {"tokens": [], "tags": []})
    first, second = read(path, notice=told.append)
    assert (first.words, first.mentions, second.text) == (["a", "b"], [Mention("x", [(0, 3)])], "")
    assert told == [f"{path}:1: tokens[1]: empty words, which are left out with their tags"]


@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=5), st.sampled_from(["", "x", "y-z"])), max_size=12), st.booleans()
)
def test_all_tags_come_back(pairs: list[tuple[str, str]], bilou: bool) -> None:
    words = ["".join(word.replace("\0", "a").split()) or "b" for word, _ in pairs]  # blanks at the ends are left out
    words = [word.encode("utf-8", "replace").decode() for word in words]
    mentions = [(place, place + 1, kind) for place, (_, kind) in enumerate(pairs) if kind]
    tags = (to_bilou if bilou else to_bio)(mentions, len(words))
    document = from_record({"tokens": words, "ner_tags": tags})
    assert document.words == words
    assert document.tokens is not None
    starts = {start: place for place, (start, _) in enumerate(document.tokens.tolist())}
    assert [(starts[mention.start], mention.type) for mention in document.mentions] == [
        (a, kind) for a, _, kind in mentions
    ]


@pytest.mark.parametrize("names", [("note_id", "note_text"), ("NOTE_ID", "NOTE_TEXT")])
def test_notes_of_omop(tmp_path: Path, names: tuple[str, str]) -> None:
    number, text = names
    path = jsonl(tmp_path, {number: 7, text: "No pain.", "person_id": 3})
    assert list(read(path)) == [Document("No pain.", id="7", meta={"person_id": 3})]
    table = pa.table({number: [7], text: ["No pain."], "person_id": [3]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert list(read(tmp_path / "a.parquet")) == [Document("No pain.", id="7", meta={"person_id": 3})]


def test_fields_that_the_user_names(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"id": 1, "mrn": 7, "text": "x", "body": "No pain."})
    expected = Document("No pain.", id="7", meta={"record_id": 1, "record_text": "x"})
    assert list(read(path, columns=["text=body", "id=mrn"])) == [expected]
    with pytest.raises(DataError, match=r"a.jsonl:1: there is no field 'nope'; the record has: 'id', 'mrn'"):
        list(read(path, columns={"text": "nope"}))
    with pytest.raises(UsageError, match="this format has no column 'begin'; expected one of: id, text, tokens, tags"):
        list(read(path, columns={"begin": "nope"}))


def test_names_of_tags_in_files_of_datasets(tmp_path: Path) -> None:
    tags = datasets.Sequence(datasets.ClassLabel(names=["O", "B-ORG", "B-MISC", "I-MISC"]))
    features = datasets.Features({"tokens": datasets.Sequence(datasets.Value("string")), "ner_tags": tags})
    rows = [{"tokens": RECORD["tokens"], "ner_tags": [1, 0, 2, 3]}, {"tokens": [], "ner_tags": []}]
    dataset = datasets.Dataset.from_list(rows, features=features)
    dataset.to_parquet(tmp_path / "a.parquet")
    expected = [Mention("ORG", [(0, 2)]), Mention("MISC", [(11, 22)])]
    assert [one.mentions for one in read(tmp_path / "a.parquet")] == [expected, []]
    assert [one.mentions for one in from_dataset(dataset)] == [expected, []]
    assert [one.mentions for one in from_dataset(dataset.to_iterable_dataset())] == [expected, []]


@pytest.mark.parametrize(
    "metadata", [b"x", b"[]", b'{"info": 1}', b'{"info": {"features": {"a": [], "b": {"names": 1}}}}']
)
def test_metadata_that_say_nothing(metadata: bytes) -> None:
    assert class_names({b"huggingface": metadata}) == {}


@pytest.mark.parametrize(
    ("rows", "expected", "told"),
    [
        (
            [["O", "B-cell"], ["O", "protein"], ["B-cell", "O"]],
            ["B-cell", "protein", "B-cell"],
            "B-cell' is read as a type",
        ),
        ([["O", "B-cell"], ["B-cell", "I-cell"]], ["cell", "cell"], ""),
        ([["O", "B-cell"], ["O", "B-gene"]], ["cell", "gene"], ""),
        ([["Other", "Drug"], ["Other", "Other"], ["Drug", "Other"]], ["Drug", "Drug"], ""),
        ([["Drug", "Drug"], ["None", "Drug"]], ["Drug", "Drug"], ""),
        ([["O", "W-Drug"], ["B-Drug", "E-Drug"]], ["Drug", "Drug"], ""),
        ([["O", "PER-B"], ["PER-B", "PER-I"]], ["PER", "PER"], "tags are read as a type and a letter"),
        ([["O", "B-a|B-b"], ["B-a", "I-a"]], ["a", "b", "a"], "several tags with | between them"),
    ],
)
def test_tags_are_read_alike_in_all_records_of_a_source(tmp_path, rows, expected, told) -> None:
    records = [{"tokens": ["one", "two"], "ner_tags": row} for row in rows]
    entries = [
        {"text": "one two", "entities": [[4 * i, 4 * i + 3, tag] for i, tag in enumerate(row) if tag != "O"]}
        for row in rows
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (tmp_path / "a.json").write_text(json.dumps(records))
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.json", "a.parquet"):
        heard: list[str] = []
        found = list(read(tmp_path / name, notice=heard.append))
        assert [mention.type for document in found for mention in document.mentions] == expected
        assert told in " ".join(heard) and bool(heard) == bool(told)
    if expected[0].endswith("cell"):  # mentions of single tokens
        (tmp_path / "e.jsonl").write_text("".join(json.dumps(record) + "\n" for record in entries))
        found = list(read(tmp_path / "e.jsonl", notice=lambda _: None))
        assert [mention.type for document in found for mention in document.mentions] == expected


def test_the_kind_of_tags_can_be_declared(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens": ["a", "b"], "ner_tags": ["B-cell", "O"]}\n{"tokens": ["a"], "ner_tags": ["T-cell"]}\n')
    for rows, tagging in ((["B-cell"], "types"), (["cell"], "letters")):
        found = list(islice(read(path, columns={"tagging": tagging}, on_error="skip", notice=lambda _: None), 1))
        assert [mention.type for document in found for mention in document.mentions] == rows
    with pytest.raises(DataError, match=r"a\.jsonl:2: ner_tags\[0\]: found the tag 'T-cell', .*tagging=types"):
        list(read(path, columns={"tagging": "letters"}))
    with pytest.raises(UsageError, match="tagging is 'x', expected one of: letters, types"):
        list(read(path, columns={"tagging": "x"}))
    path.write_text(
        '{"tokens": ["a"], "ner_tags": ["T-cell"]}\n{"tokens": ["O"], "ner_tags": ["O"]}\n' + path.read_text()
    )
    assert [len(one.mentions) for one in read(path, notice=lambda _: None)] == [1, 0, 1, 1]
