"""Parquet and Arrow: nothing is lost, BigBIO is read, and a damaged file is one line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tracemalloc
from datetime import date
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.data import chinese_clinical, clinical
from spanloom.document import Document, Mention
from spanloom.document.surfaces import trimmed
from spanloom.errors import DataError, UsageError
from spanloom.formats import from_record, read, to_record, validate, write
from spanloom.formats.arrow import from_row, native_file
from spanloom.formats.record import scan_record
from spanloom.formats.settling import settled_one
from spanloom.vocabulary import read_vocabulary

SUFFIXES = (".parquet", ".arrow", ".feather")
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
LEAVES = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | TEXTS
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=4)
RELATION = {"id": "R1", "type": "CID", "arg1_id": "T1", "arg2_id": "T2", "normalized": [{"db_name": "a", "db_id": "b"}]}


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS | st.just(""))
    mentions = []
    for i in range(draw(st.integers(0, 3)) if len(text) > 1 else 0):
        bounds = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
        spans = list(zip(bounds[::2], bounds[1::2], strict=False))
        concepts = draw(st.lists(TEXTS | st.sampled_from(["", ":", "a:", ":b", "MESH:D1", "a:b:c"]), max_size=3))
        name, head = draw(st.sampled_from([None, f"T{i}"])), draw(st.sampled_from([None, *spans]))
        mentions.append(Mention(draw(TEXTS), spans, name, head, concepts, draw(st.none() | st.floats(0, 1))))
    tokens = draw(st.none() | st.sets(st.integers(0, len(text)), max_size=4))
    pairs = None if tokens is None else np.array(list(pairwise(sorted(tokens))), dtype=np.int64).reshape(-1, 2)
    count = 0 if pairs is None else len(pairs)
    tags = st.lists(TEXTS, min_size=count, max_size=count)
    columns = draw(st.dictionaries(TEXTS, tags, max_size=2)) if pairs is not None else {}
    sentences = draw(st.sampled_from([None, np.array([[0, count]])])) if count else None
    middle = draw(st.integers(0, len(text)))
    passages = [{"id": "p1", "type": "title", "offsets": [[0, middle]]}]
    passages += [{"id": "p2", "type": "abstract", "offsets": [[middle, len(text)]]}]
    known = {"passages": st.just(passages) | JSON, "relations": st.just([RELATION]) | JSON, "events": JSON}
    meta = draw(st.fixed_dictionaries({}, optional=known)) | draw(st.dictionaries(TEXTS.map("x".__add__), JSON))
    return Document(text, draw(TEXTS | st.just("")), pairs, sentences, columns, mentions, meta)


@settings(deadline=None)
@given(st.lists(documents(), min_size=1, max_size=3), st.sampled_from(SUFFIXES))
def test_nothing_is_lost(tmp_path_factory: pytest.TempPathFactory, given: list[Document], suffix: str) -> None:
    path = tmp_path_factory.getbasetemp() / f"round{suffix}"
    assert write(given, path, force=True).counts == {}
    for one in given:
        one.mentions = [trimmed(mention, one.text) or mention for mention in one.mentions]
    assert [to_record(document) for document in read(path)] == [to_record(document) for document in given]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_bundled_corpora_come_back(tmp_path: Path, suffix: str) -> None:
    for corpus in (clinical() / "dev", chinese_clinical() / "dev.jsonl"):
        gold = list(read(corpus))
        assert not write(gold, tmp_path / f"a{suffix}", force=True)
        assert [to_record(one) for one in read(tmp_path / f"a{suffix}")] == [to_record(one) for one in gold]


def test_the_columns_are_those_of_bigbio(tmp_path: Path) -> None:
    mentions = [Mention("problem", [(0, 4), (15, 19)], "T1", (15, 19), ["MESH:D1", "7"], 0.5)]
    write([Document("mild or severe pain", id="n1", mentions=mentions)], tmp_path / "a.parquet")
    [row] = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert list(row)[:7] == ["id", "document_id", "passages", "entities", "events", "coreferences", "relations"]
    assert row["passages"] == [
        {"id": "text", "type": "text", "text": ["mild or severe pain"], "offsets": [[0, 19]]},
    ]
    assert row["entities"] == [
        {
            "id": "T1", "type": "problem", "text": ["mild", "pain"], "offsets": [[0, 4], [15, 19]],
            "normalized": [{"db_name": "MESH", "db_id": "D1"}, {"db_name": "", "db_id": "7"}],
            "head": [15, 19], "score": 0.5, "attributes": None, "attribute_scores": None, "concept_scores": None,
        }
    ]  # fmt: skip
    assert row["events"] == row["coreferences"] == row["relations"] == []


BIGBIO = {
    "id": "7", "document_id": "PMID-7",
    "passages": [
        {"id": "7-t", "type": "title", "text": ["Mild pain"], "offsets": [[0, 9]]},
        {"id": "7-a", "type": "abstract", "text": ["No fever."], "offsets": [[10, 19]]},
    ],
    "entities": [
        {
            "id": "e", "type": "x", "text": ["Mild pain"], "offsets": [[0, 9]],
            "normalized": [{"db_name": "MESH", "db_id": "D1"}],
        }
    ],
    "events": [], "coreferences": [], "relations": [RELATION],
}  # fmt: skip


def test_bigbio_is_read_and_written_back(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist([BIGBIO]), tmp_path / "a.parquet")
    [document] = read(tmp_path / "a.parquet")
    assert (document.id, document.text) == ("PMID-7", "Mild pain No fever.")
    assert document.mentions == [Mention("x", [(0, 9)], "e", None, ["MESH:D1"])]
    write([document], tmp_path / "b.parquet")
    [row] = pq.read_table(tmp_path / "b.parquet").to_pylist()
    assert {name: row[name] for name in ("passages", "relations")} == {
        name: BIGBIO[name] for name in ("passages", "relations")
    }


@pytest.mark.parametrize(
    "row",
    [
        {"text": "mild pain", "spans": [{"start": 5, "end": 9, "label": "x"}]},
        {"text": "mild pain", "mentions": [{"type": "x", "spans": [[5, 9]]}]},
        {"text": "mild pain", "label": [{"start_offset": 5, "end_offset": 9, "label": "x"}]},
    ],
)
def test_other_records_in_tables(tmp_path: Path, row: dict[str, Any]) -> None:
    pq.write_table(pa.Table.from_pylist([row, dict.fromkeys(row) | {"text": "no"}]), tmp_path / "a.parquet")
    first, second = read(tmp_path / "a.parquet")
    assert [mention.key for mention in first.mentions] == [("x", ((5, 9),))]
    assert (second.text, second.mentions) == ("no", [])


def test_values_that_json_has_not_become_text(tmp_path: Path) -> None:
    row = {"text": "a", "day": date(2020, 2, 29), "x": [{"y": float("nan"), "z": b"\xff"}]}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "a.parquet")
    [document] = read(tmp_path / "a.parquet")
    assert document.meta == {"day": "2020-02-29", "x": [{"y": "nan", "z": {"base64": "/w=="}}]}
    write([document], tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    "kind", [pa.binary(), pa.large_binary(), pa.dictionary(pa.int8(), pa.binary()), pa.binary(7)], ids=str
)
def test_bytes_of_utf_8_are_text_in_any_column(tmp_path: Path, kind: Any) -> None:
    values = pa.array([b"no pain", b"fe\xffver."]).cast(kind)
    pq.write_table(pa.table({"id": pa.array([b"a", b"b"]), "note": values, "scan": values}), tmp_path / "a.parquet")
    rows = read(tmp_path / "a.parquet", columns="text=note")
    document = next(rows)
    assert (document.id, document.text, document.meta) == ("a", "no pain", {"scan": "no pain"})
    with pytest.raises(DataError, match=r":2: text is .*xff.*, expected the document's text"):
        next(rows)
    pq.write_table(pa.table({"text": ["a"], "scan": pa.array([b"\xff"])}), tmp_path / "b.parquet")
    assert next(read(tmp_path / "b.parquet")).meta == {"scan": {"base64": "/w=="}}
    pq.write_table(pa.table({"text": ["a"], "image": [{"path": "a.png", "bytes": b"\x89PNG"}]}), tmp_path / "c.parquet")
    [document] = read(tmp_path / "c.parquet")
    assert document.meta == {"image": {"path": "a.png", "bytes": {"base64": "iVBORw=="}}}
    write([document], tmp_path / "d.parquet")
    assert list(read(tmp_path / "d.parquet")) == [document]
    assert from_record({"text": "a", "note": b"seen", "scan": b"\xff"}).meta == {
        "note": "seen",
        "scan": {"base64": "/w=="},
    }


def test_bytes_within_values_are_text_or_one_line(tmp_path: Path) -> None:
    def rows(kind: bytes) -> pa.Table:
        entity = {"type": kind, "start": 3, "end": 7, "note": b"x"}
        return pa.Table.from_pylist([{"text": "No pain", "entities": [entity]}])

    pq.write_table(rows(b"problem"), tmp_path / "a.parquet")
    [document] = read(tmp_path / "a.parquet")
    assert (document.mentions[0].type, document.meta) == ("problem", {"unread": {"entities[0].note": "x"}})
    pq.write_table(pa.table({"tokens": [[b"No", b"pain"]], "ner_tags": [[b"O", b"B-x"]]}), tmp_path / "b.parquet")
    assert next(read(tmp_path / "b.parquet")).mentions == [Mention("x", [(3, 7)])]
    pq.write_table(rows(b"\xff"), tmp_path / "c.parquet")
    with pytest.raises(DataError, match=r"c.parquet:1: entities holds the bytes .*xff.*, expected text in UTF-8; dec"):
        list(read(tmp_path / "c.parquet"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_types_like_tags_come_back(tmp_path: Path, suffix: str) -> None:
    given = Document("No pain", mentions=[Mention("B-x", [(0, 2)]), Mention("I-x", [(3, 7)])])
    write([given], tmp_path / f"a{suffix}")
    assert next(read(tmp_path / f"a{suffix}")).mentions == given.mentions


def test_streams_of_arrow_are_read(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([{"text": "mild"}, {"text": "pain"}])
    with pa.ipc.new_stream(str(tmp_path / "a.arrow"), table.schema) as writer:
        writer.write_table(table)
    assert [document.text for document in read(tmp_path / "a.arrow")] == ["mild", "pain"]


def test_standard_streams(command: Any, process: Any, tmp_path: Path) -> None:
    write([Document("mild pain", id="a")], tmp_path / "a.parquet")
    line = f"{sys.executable} -m spanloom.cli convert - - --input-format parquet --format arrow < {tmp_path}/a.parquet"
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    (tmp_path / "b.arrow").write_bytes(done.stdout)
    assert command("convert", tmp_path / "b.arrow", "-", "--format", "jsonl").stdout == (
        '{"id":"a","text":"mild pain","mentions":[]}\n'
    )


def table(**columns: list[Any]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def arrow(**columns: pa.Array) -> bytes:
    buffer = io.BytesIO()
    whole = pa.table(columns)
    with pa.ipc.new_file(buffer, whole.schema) as writer:
        writer.write_table(whole)
    return buffer.getvalue()


def beyond() -> bytes:
    """A file whose offsets point past its data."""
    data = arrow(text=pa.array(["mild pain", "fever"]))
    offsets = np.array([0, 9, 14], dtype=np.int32).tobytes()
    assert data.count(offsets) == 1
    return data.replace(offsets, np.array([0, 9, 2_000_000_000], dtype=np.int32).tobytes())


WHOLE = table(text=["mild pain"] * 50)
HOSTILE = {
    "no Parquet.parquet": (b"hello", "found a damaged file, or one of another kind"),
    "empty.parquet": (b"", "found a damaged file"),
    "cut.parquet": (WHOLE[:-20], "found a damaged file"),
    "rot.parquet": (WHOLE[:8] + b"\xff" * 20 + WHOLE[28:], "found a damaged file"),
    "foot.parquet": (WHOLE[:-60] + b"\xff" * 40 + WHOLE[-20:], "found a damaged file"),
    "cut.arrow": (arrow(text=pa.array(["a"] * 500))[:300], "found a damaged file"),
    "empty.arrow": (b"", "found a damaged file"),
    "beyond.arrow": (beyond(), "found a damaged file"),
    "bytes.arrow": (arrow(text=pa.array([b"\xff"]).view(pa.string())), "found a damaged file"),
    "none.parquet": (table(text=pa.array([], pa.string())), "the file holds no document"),
    "numbers.parquet": (table(text=[1]), ":1: text is 1, expected the document's text"),
    "other.parquet": (table(words=["a"]), ":1: text is missing"),
    "tokens.parquet": (table(text=["ab"], tokens=[[[0.0, 2.0]]]), ":1: tokens[0]: it is [0.0, 2.0], expected"),
    "null.parquet": (table(text=["a", None]), ":2: text is missing"),
    "meta.parquet": (table(text=["a"], meta=["{"]), ":1: meta: not JSON"),
    "meta list.parquet": (table(text=["a"], meta=["[1]"]), ":1: meta is [1], expected an object"),
    "columns.parquet": (table(text=["a"], columns=[[{"name": "pos"}]]), ":1: columns is [{"),
    "outside.parquet": (
        table(text=["ab"], entities=[[{"type": "x", "offsets": [[0, 9]]}]]),
        ":1: entities[0]: span 0-9 is outside",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_one_line(tmp_path: Path, name: str) -> None:
    data, message = HOSTILE[name]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError) as error:
        list(read(path))
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert any(message.lstrip(":12 ").split(": ")[-1] in problem.message for problem in validate(path))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_damage_is_told(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    write(read(clinical() / "test"), path)
    whole = path.read_bytes()
    generator = np.random.default_rng(7)
    for position in generator.integers(0, len(whole), 60).tolist():
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1 :])
        assert all("\n" not in str(problem) for problem in validate(path))  # and no crash
        path.write_bytes(whole[:position])
        assert any(problem.severity == "error" for problem in validate(path))


NAMES = st.sampled_from(["id", "type", "text", "offsets", "name", "values", "normalized"])
ODD = st.recursive(
    st.none() | st.integers(-3, 9) | st.floats() | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
)
FIELDS = [
    "id",
    "document_id",
    "passages",
    "entities",
    "tokens",
    "sentences",
    "columns",
    "meta",
    "text",
    "events",
    "more",
]


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), ODD))
def test_whatever_stands_in_a_row_is_read_or_told(row: dict[str, Any]) -> None:
    try:
        [(document, problems, *_)] = map(settled_one, scan_record(from_row(row)))
    except DataError as error:
        assert "\n" not in str(error)
    else:
        assert problems or (document is not None and document.text == from_record(from_row(row)).text)


def test_threads_of_arrow_read_a_file_without_the_interpreter(tmp_path: Path) -> None:
    path = tmp_path / "notes.arrow"
    write(read(clinical()), path)
    with path.open("rb") as file:
        assert type(native_file(file, path)) is pa.OSFile


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_small_file_that_holds_gigabytes_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bomb{suffix}"
    batch = pa.record_batch({"text": ["a" * (1 << 20)] * 200})
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_batches([batch] * 2), path, compression="zstd")
    else:
        with pa.ipc.new_file(path, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
            file.write_batch(batch)
    with pytest.raises(DataError, match=f"{path.name}: .*holds more than 200 times its size"):
        list(read(path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_pipe_is_read(tmp_path: Path, suffix: str) -> None:
    notes = list(read(clinical()))[:3]
    write(notes, tmp_path / f"notes{suffix}")
    pipe = tmp_path / f"pipe{suffix}"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=((tmp_path / f"notes{suffix}").read_bytes(),))
    writer.start()
    assert list(read(pipe)) == notes
    writer.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name")
@pytest.mark.parametrize("name", ["pipe", "pipe.json", "pipe.xml", "pipe.tsv"])
def test_a_pipe_whose_format_only_its_content_shows_is_refused(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)  # nobody writes to it: opened, it would block
    with pytest.raises(UsageError, match=rf"{name} is a pipe, which can be read only once, .*--input-format"):
        read(tmp_path / name)
    with pytest.raises(DataError, match=rf"{name}: found a pipe, which can be read only once; write it to a file"):
        read_vocabulary(tmp_path / name)


def test_what_no_table_holds_is_an_error_that_names_the_document(tmp_path: Path) -> None:
    for document in (Document("a\ud800", id="x"), Document("a", id="x", meta={"set": {1}})):
        with pytest.raises(DataError, match=r"a\.parquet: document 'x'"):
            write([Document("fine"), document], tmp_path / "a.parquet")
        assert list(tmp_path.iterdir()) == []


def test_failures_leave_nothing(tmp_path: Path) -> None:
    def failing() -> Any:
        yield from [Document("a")] * 300
        raise KeyboardInterrupt

    for suffix in SUFFIXES:
        with pytest.raises(KeyboardInterrupt):
            write(failing(), tmp_path / f"a{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk() -> None:
    with pytest.raises(DataError, match=r"^/dev/full: cannot be written: No space left on device"):
        write([Document("a" * 100_000)], "/dev/full", format="parquet", force=True)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_reading_takes_the_memory_of_a_batch(tmp_path: Path, suffix: str) -> None:
    write((Document(f"{i}{'a' * 15_000}", id=str(i)) for i in range(2000)), tmp_path / f"a{suffix}")
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    most = 0
    for _ in read(tmp_path / f"a{suffix}"):
        most = max(most, pa.total_allocated_bytes() - before)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most + peak < 25_000_000  # the texts are 30 MB, a batch of them 4 MB


BLOCKED = """
import sys
sys.modules["pyarrow"] = None
from spanloom import Document, SpanloomError, read, write
for attempt in (lambda: write([Document("a")], "a.parquet"), lambda: list(read(sys.argv[1]))):
    try:
        attempt()
    except SpanloomError as error:
        print(type(error).__name__, error)
"""


def test_without_pyarrow_the_message_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "b.arrow").write_bytes(b"")
    line = [sys.executable, "-c", BLOCKED, str(tmp_path / "b.arrow")]
    done = subprocess.run(line, capture_output=True, encoding="utf-8", check=True, cwd=tmp_path)
    assert done.stdout.splitlines() == [
        'UsageError a Parquet file needs pyarrow; install it with: pip install "spanloom[arrow]"',
        'UsageError an Arrow file needs pyarrow; install it with: pip install "spanloom[arrow]"',
    ]
    assert [file.name for file in tmp_path.iterdir()] == ["b.arrow"]


def test_files_with_meta_as_an_object(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist([{"text": "a", "meta": {"source": "x"}}]), tmp_path / "a.parquet")
    assert [document.meta for document in read(tmp_path / "a.parquet")] == [{"source": "x"}]
    assert json.dumps(next(read(tmp_path / "a.parquet")).meta)


def test_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the format parquet has no option 'scheme'"):
        write([], tmp_path / "a.parquet", scheme="bio")
