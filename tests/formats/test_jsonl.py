"""Native records: nothing is lost, and what is not known is kept."""

from __future__ import annotations

import io
import json
import re
import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document, Mention, Section, Span
from spanloom.document.surfaces import trimmed
from spanloom.errors import DataError
from spanloom.formats import from_record, read, to_record, validate, write
from spanloom.formats.json_text import to_json
from spanloom.formats.record import KINDS, MENTION, RECORD, record_text

TEXTS_OF = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXTS = st.text(TEXTS_OF, min_size=1, max_size=30)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS)
    mentions = []
    for i in range(draw(st.integers(0, 4))):
        bounds = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
        spans = list(zip(bounds[::2], bounds[1::2], strict=False))
        concepts = draw(st.lists(TEXTS, max_size=2))
        attributes = draw(st.dictionaries(TEXTS, st.booleans() | st.text(TEXTS_OF, max_size=5), max_size=2))
        mentions.append(
            Mention(
                draw(TEXTS),
                spans,
                draw(st.sampled_from([None, f"T{i}", f"x{i}"])),
                draw(st.sampled_from([None, *spans])),
                concepts,
                draw(st.none() | st.floats(0, 1)),
                attributes,
                draw(st.fixed_dictionaries({}, optional={name: st.floats(0, 1) for name in attributes})),
                draw(st.sampled_from([(), tuple(0.5 for _ in concepts)])),
            )
        )
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2)))
    tokens = np.array(list(pairwise(cuts)))
    sentences = draw(st.sampled_from([None, np.array([[0, len(tokens)]])]))
    tags = draw(st.lists(TEXTS, min_size=len(tokens), max_size=len(tokens)))
    sections = [Section(draw(TEXTS), Span(*sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))))]
    sections *= draw(st.integers(0, 1))
    return Document(text, draw(TEXTS), tokens, sentences, {"pos": tags}, mentions, {"more": draw(TEXTS)}, sections)


@given(documents(), st.lists(st.tuples(*[st.integers(-(2**63), 2**63 - 1)] * 2), max_size=4))
def test_the_text_of_a_record_is_that_of_its_values(document: Document, pairs: list[tuple[int, int]]) -> None:
    assert record_text(document) == to_json(to_record(document))
    odd = document.copy(tokens=np.array(pairs, np.int64).reshape(-1, 2))
    assert record_text(odd) == to_json(to_record(odd))


@given(documents())
def test_records_are_stable(document: Document) -> None:
    document.mentions = [trimmed(mention, document.text) or mention for mention in document.mentions]
    record = json.loads(json.dumps(to_record(document)))
    assert to_record(from_record(record)) == record
    assert from_record(record).mentions == document.mentions
    assert from_record(record).sections == document.sections


def test_files_are_stable(tmp_path: Path) -> None:
    mentions = [Mention("x", [(0, 1)], score=np.float32(0.1), head=(np.int64(0), np.int64(1)))]  # type: ignore[arg-type]
    document = Document("𝒳\u2028\x85\r\nö", tokens=np.zeros((0, 2)), mentions=mentions)
    write([document, Document("b")], tmp_path / "a.jsonl")
    write(read(tmp_path / "a.jsonl"), tmp_path / "b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    first, second = read(tmp_path / "b.jsonl")
    assert first.text == document.text
    assert first.mentions[0].score == float(np.float32(0.1))
    assert first.tokens is not None and first.tokens.shape == (0, 2)
    assert second.tokens is None


def test_absent_fields_are_left_out() -> None:
    assert to_record(Document("a")) == {"text": "a", "mentions": []}


def test_unknown_fields_are_kept() -> None:
    record = {"text": "pain", "source": 3, "mentions": [{"type": "x", "spans": [[0, 4]], "colour": "red"}]}
    assert from_record(record).meta == {"source": 3, "unread": {"mentions[0].colour": "red"}}


def test_labels_of_the_whole_text_are_no_mentions() -> None:
    assert from_record({"text": "pain", "label": ["sad"]}).meta == {"label": ["sad"]}


def test_null_is_absent() -> None:
    nothing = {"id": None, "tokens": None, "sentences": None, "columns": None, "mentions": None, "meta": None}
    assert to_record(from_record({"text": "a"} | nothing)) == {"text": "a", "mentions": []}


def test_byte_order_mark_crlf_and_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"text":"a"}\r\n\r\n{"text":"b"}')
    assert [document.text for document in read(tmp_path / "a.jsonl")] == ["a", "b"]


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream:
        buffer = io.BytesIO(b'{"text":"a"}\n')

    class Out:
        buffer = io.BytesIO()

    monkeypatch.setattr("sys.stdin", Stream)
    monkeypatch.setattr("sys.stdout", Out)
    assert not write(read("-", format="jsonl"), "-", format="jsonl")
    assert Out.buffer.getvalue() == b'{"text":"a","mentions":[]}\n'


def test_reading_takes_constant_memory(tmp_path: Path) -> None:
    line = json.dumps({"text": "pain " * 200, "tokens": [[i * 5, i * 5 + 4] for i in range(200)]})
    (tmp_path / "a.jsonl").write_text((line + "\n") * 600)
    reader = read(tmp_path / "a.jsonl")
    next(reader)
    tracemalloc.start()
    count = sum(1 for _ in reader)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 599
    assert peak < 500_000  # the file has 2 million bytes


def test_what_json_cannot_hold(tmp_path: Path) -> None:
    for meta in ({"a": {1, 2}}, {"a": float("nan")}, {"a": "\ud800"}):
        with pytest.raises(DataError, match=r"out\.jsonl"):
            write([Document("a", meta=meta)], tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == []


PRODIGY = (
    b'{"text":"Rejected chest pain.","spans":[{"start":9,"end":19,"label":"problem"}],"answer":"reject"}\n'
    b'{"text":"mild pain","spans":[{"start":5,"end":9,"label":"problem"}],"answer":"accept"}\n'
    b'{"text":"who knows","spans":[{"start":5,"end":99,"label":"problem"}],"answer":"ignore"}\n'
)


def test_rejected_and_ignored_answers_are_no_gold(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    file.write_bytes(PRODIGY)
    told: list[str] = []
    [document] = read(file, notice=told.append)
    assert (document.text, document.meta) == ("mild pain", {"answer": "accept"})
    assert told == [
        f"{file}:1: the answer is 'reject', so the record is no gold; it is left out "
        "(2 such; spanloom validate lists them)"
    ]
    assert [(problem.line, problem.altered) for problem in validate(file)] == [(1, True), (3, True)]
    assert [document.text for document in read(file, mentions=False)] == [
        "Rejected chest pain.", "mild pain", "who knows",
    ]  # fmt: skip
    with pytest.raises(DataError, match="the answer is 'reject', so the record is no gold"):
        from_record({"text": "a", "answer": "reject"})


def test_an_answer_of_a_native_record_is_only_a_field() -> None:
    assert from_record({"text": "a", "mentions": [], "answer": "reject"}).meta == {"answer": "reject"}


def test_every_field_that_the_tables_name_is_written_in_their_order_and_checked() -> None:
    whole = Document("mild pain", id="a", tokens=[[0, 4], [5, 9]], columns={"pos": ["JJ", "NN"]}, sentences=[[0, 2]])
    whole.mentions = [
        Mention("problem", [(5, 9)], "T1", (5, 9), ("X:1",), 0.5, {"negated": True}, {"negated": 0.75}, (0.25,))
    ]
    whole.sections, whole.meta = [Section("plan", Span(0, 9))], {"kept": 1}
    written = to_record(whole)
    assert list(written) == list(RECORD)
    assert list(written["mentions"][0]) == list(MENTION)
    for name, kind in RECORD.items():
        expected = "the document's text" if name == "text" else KINDS[kind.kind].expected
        with pytest.raises(DataError, match=f"{name} is true, expected {re.escape(expected)}"):
            from_record(written | {name: True})
    for name, kind in MENTION.items():
        with pytest.raises(DataError, match=f"{name} is true, expected {re.escape(KINDS[kind.kind].expected)}"):
            from_record({"text": "mild pain", "mentions": [written["mentions"][0] | {name: True}]})


def test_attributes_and_sections() -> None:
    mention = {"type": "problem", "spans": [[5, 9]], "attributes": {"negated": True, "stage": 2, "course": ["a", "b"]}}
    document = from_record({"text": "mild pain", "mentions": [mention], "sections": [{"name": "plan", "span": [0, 9]}]})
    assert document.mentions[0].attributes == {"negated": True, "stage": "2", "course": "a|b"}
    assert document.sections == [Section("plan", Span(0, 9))] and document.meta == {}
    with pytest.raises(DataError, match=r"mentions\[0\]: concept_scores is \[0.5\], expected a number for each"):
        from_record({"text": "mild pain", "mentions": [{**mention, "concept_scores": [0.5]}]})
    with pytest.raises(DataError, match=r"attributes is .*, expected an object of values: true, false or a string"):
        from_record({"text": "mild pain", "mentions": [{**mention, "attributes": {"negated": {"by": "no"}}}]})


def test_sections_of_another_tool_are_kept_as_they_are() -> None:
    document = from_record({"text": "mild pain", "label": [[5, 9, "problem"]], "sections": ["plan"]})
    assert (document.sections, document.meta) == ([], {"sections": ["plan"]})
    with pytest.raises(DataError, match=r"sections is .*, expected a list of objects with a name"):
        from_record({"text": "mild pain", "sections": [{"name": 3, "span": [0, 9]}]})
