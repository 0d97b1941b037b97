"""Record batches in and out: what is found is what `predict` finds, and no row is an error."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanloom
from spanloom.data import chinese_clinical, clinical
from spanloom.document import Document, Mention
from spanloom.errors import ModelError, UsageError
from spanloom.formats import read
from spanloom.lake import Annotator
from spanloom.lake.annotator import column_of_arrays, column_of_documents, texts_of
from spanloom_lab import Cascade
from spanloom_lab.lm.language_model import LanguageModel

KINDS = ("recognizer", "second", "heads", "cascade", "linker", "segmenter")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, notes: Any) -> dict[str, Path]:
    """A model of each kind that finds mentions."""
    folder = tmp_path_factory.mktemp("annotators")
    train, dev = notes.train, notes.dev
    chinese, held = (list(read(chinese_clinical() / f"{part}.jsonl")) for part in ("train", "dev"))
    small = ["bias", "low[-1..1]", "suffix(2..3)"]
    second = spanloom.Recognizer("separators", small, rate=0.3, l2=0.1, epochs=3).fit(train, dev=dev)
    assert second.second_ is not None
    made = {
        "recognizer": spanloom.Recognizer("shared", small, rescore=False, epochs=3).fit(train, dev=dev),
        "second": second,
        "heads": spanloom.Recognizer("heads", small, headless="whole", epochs=2).fit(train, dev=dev),
        "cascade": Cascade(features=small, epochs=1).fit(train[:8], dev=dev[:3]),
        "linker": spanloom.Linker("small", types=["problem"], iterations=1, folds=2, evidence=False).fit(
            train, dev=dev, vocabulary=clinical() / "vocabulary.tsv"
        ),
        "segmenter": spanloom.Segmenter(features=["bias", "w[-1..1]"], epochs=2).fit(chinese[:60], dev=held[:20]),
    }
    for name, model in made.items():
        model.save(folder / name)
    return {name: folder / name for name in made}


@pytest.fixture(scope="module")
def texts() -> list[str]:
    found = [document.text for document in read(clinical() / "test")]
    found += [document.text for document in read(chinese_clinical() / "test.jsonl")][:5]
    return [*found, "", " \n", "😀 No chest pain, left\u0301 atrium 🇩🇪 is dilated."]


def rows(batches: Any) -> list[Any]:
    return [row for batch in batches for row in batch["mentions"].to_pylist()]


def expected(document: Document) -> list[dict[str, Any]]:
    def pair(span: Any) -> Any:
        return None if span is None else {"start": span[0], "end": span[1]}

    return [
        {
            "type": m.type,
            "spans": [pair(span) for span in m.spans],
            "head": pair(m.head),
            "score": m.score,
            "concepts": list(m.concepts),
            "concept_scores": list(m.concept_scores),
            "attributes": json.dumps(dict(m.attributes)) if m.attributes else None,
            "attribute_scores": json.dumps(dict(m.attribute_scores)) if m.attribute_scores else None,
        }
        for m in document.mentions
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threshold", [0.0, 0.6])
def test_it_finds_what_predict_finds(kind: str, threshold: float, models: dict[str, Path], texts: list[str]) -> None:
    if kind == "linker" and threshold:
        return
    model = spanloom.load(models[kind])
    asked = {"threshold": threshold} if threshold else {}
    wanted = [expected(document) for document in model.predict(texts, **asked)]
    assert any(wanted)
    annotator = Annotator(models[kind], id=None, threshold=threshold)
    whole = pa.record_batch({"text": texts})
    assert rows(annotator([whole])) == wanted
    assert annotator.counts == {"rows": len(texts), "mentions": sum(map(len, wanted)), "problems": 0}
    if kind != "linker":  # what it finds in a text may depend on the texts beside it
        assert rows(annotator(whole.slice(i, 1) for i in range(len(texts)))) == wanted


@pytest.mark.parametrize("rescore", [False, True])
def test_expansions_are_those_of_predict(tmp_path: Path, notes: Any, rescore: bool) -> None:
    texts = ["no chest pain and back pain", "no fever", "no right and left arm pain"]
    whole = [Document(text, mentions=[Mention("problem", [(3, len(text))])]) for text in texts]
    small = ["bias", "low[-1..1]", "suffix(2..3)"]
    model = spanloom.Recognizer("separators", small, rescore=rescore, rate=0.3, l2=0.1, epochs=3)
    model.fit([*notes.train, *whole * 20], dev=notes.dev).save(tmp_path / "model")
    assert (model.second_ is not None) == rescore
    wanted = [expected(document) for document in model.predict(texts, expand=True)]
    found = [expected(document) for document in model.predict(texts)]
    added = [len(more) - len(mentions) for more, mentions in zip(wanted, found, strict=True)]
    assert added == [2, 0, 2]
    annotator = Annotator(tmp_path / "model", id=None, expand=True)
    assert rows(pickle.loads(pickle.dumps(annotator))([pa.record_batch({"text": texts})])) == wanted
    assert rows(Annotator(tmp_path / "model", id=None)([pa.record_batch({"text": texts})])) == found


@pytest.mark.parametrize("kind", ["recognizer", "second", "heads"])
def test_arrays_are_the_mentions_of_the_documents(kind: str, models: dict[str, Path], texts: list[str]) -> None:
    model = spanloom.load(models[kind])
    by_arrays = pa.concat_arrays([column_of_arrays(found) for found in model.stream_arrays(texts, threshold=0.3)])
    asked = {"attributes": "none"} if "attributes" in model.capable else {}  # which arrays have not
    assert by_arrays.equals(column_of_documents(model.predict(texts, threshold=0.3, **asked)))
    assert spanloom.load(models["heads"]).predict(texts)[0].mentions[0].head is not None
    with pytest.raises(UsageError, match="threshold is 2"):
        model.stream_arrays(texts, threshold=2)


def test_poison_is_a_problem_and_never_an_error(model: Path) -> None:
    column = pa.array([b"No chest pain today.", None, b"\xff\xfe", b"x" * 2000, b"", b"Chest pain."], pa.binary())
    for kind in (pa.binary(), pa.large_binary(), pa.dictionary(pa.int32(), pa.binary())):
        texts = column.dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)
        annotator = Annotator(model, longest=1000)
        [found] = annotator([pa.record_batch({"id": range(6), "text": texts})])
        assert found["problem"].to_pylist() == [
            None,
            "the text is missing",
            "the text is not UTF-8",
            "the text has 2,000 bytes, expected 1,000 at most",
            None,
            None,
        ]
        assert [None if row is None else len(row) for row in found["mentions"].to_pylist()] == [
            2,
            None,
            None,
            None,
            0,
            2,
        ]
        assert found["id"].to_pylist() == list(range(6))
        assert annotator.counts == {"rows": 6, "mentions": 4, "problems": 3}


def test_strings_that_are_no_strings(model: Path) -> None:
    damaged = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.array([0, 1, 6], pa.int32()).buffers()[1], pa.py_buffer(b"\xffcough")]
    )
    [found] = Annotator(model, id=None)([pa.record_batch({"text": damaged})])
    assert found["problem"].to_pylist() == ["the text is not UTF-8", None]


def test_a_column_of_something_else_is_told_beforehand_and_a_problem_where_it_comes(model: Path) -> None:
    annotator = Annotator(model)
    batch = pa.record_batch({"id": ["a"], "text": [7]})
    with pytest.raises(UsageError, match="column 'text' is int64, expected text"):
        annotator.schema(batch.schema)
    [found] = annotator([batch])
    assert found["problem"].to_pylist() == ["the column is int64, expected text"]
    [found] = annotator([pa.record_batch({"id": ["a"], "text": pa.nulls(1)})])
    assert found["problem"].to_pylist() == ["the text is missing"]


def test_a_text_that_fails_leaves_the_others_alone(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = spanloom.Recognizer.stream_arrays

    def failing(self: Any, X: Any, **options: Any) -> Any:
        documents = list(X)
        if any("boom" in document.text for document in documents):
            raise MemoryError("no room\nfor it")
        return whole(self, documents, **options)

    texts = ["No chest pain today."] * 9
    texts[4] = "boom"
    wanted = rows(Annotator(model, id=None)([pa.record_batch({"text": texts})]))
    monkeypatch.setattr(spanloom.Recognizer, "stream_arrays", failing)
    [found] = Annotator(model, id=None)([pa.record_batch({"text": texts})])
    assert found["problem"].to_pylist() == [None] * 4 + ["not annotated: no room for it"] + [None] * 4
    assert found["mentions"].to_pylist() == [*wanted[:4], None, *wanted[5:]]


def test_the_schema_is_known_beforehand(model: Path) -> None:
    given = pa.schema([("text", pa.string()), ("note", pa.int16()), ("ward", pa.dictionary(pa.int8(), pa.string()))])
    annotator = Annotator(model, id="note", keep=["ward"])
    schema = annotator.schema(given)
    assert schema.names == ["note", "ward", "mentions", "problem"]
    assert [schema.field(name).type for name in ("note", "ward")] == [pa.int16(), given.field("ward").type]
    empty = pa.Table.from_batches([], given)
    assert annotator.table(empty).schema == schema
    assert [batch.schema for batch in annotator(pa.Table.from_pylist([], given).to_batches())] in ([], [schema])
    full = pa.Table.from_pylist([{"text": "Chest pain.", "note": 1, "ward": "A"}], given)
    assert annotator.table(full).schema == schema
    assert annotator.table(full).drop_columns(["mentions"]).to_pylist() == [{"note": 1, "ward": "A", "problem": None}]


def test_what_are_no_record_batches_is_told(model: Path) -> None:
    annotator = Annotator(model)
    table = pa.table({"id": ["1"], "text": ["Chest pain."]})
    others: tuple[Any, ...] = (table, [table], 7, None, ["text"])
    for batches, found in zip(others, ("Table", "Table", "int", "NoneType", "str"), strict=True):
        with pytest.raises(UsageError, match=f"found a {found}.*, expected record batches of Arrow"):
            list(annotator(batches))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "body"}, "a table without 'body'; found 'id', 'text', 'mentions'"),
        ({"id": "key"}, "a table without 'key'"),
        ({"keep": ["mentions"]}, "column 'mentions' would occur twice"),
        ({"keep": ["id"]}, "column 'id' would occur twice"),
        ({"keep": "id"}, r"keep is 'id', expected a list of columns: \['id'\]"),
        ({"keep": [None]}, "keep has None, expected names of columns"),
        ({"keep": 7}, "keep is 7, expected a list of columns"),
        ({"text": None}, "text is None, expected the name of the column of texts"),
        ({"id": 7}, "id is 7, expected the name of a column, or None"),
        ({"threshold": "high"}, "threshold is 'high', expected a probability"),
        ({"longest": 1.5}, r"longest is 1\.5, expected a number of bytes"),
        ({"encoder": 7}, "encoder is 7, expected the folder of an encoder"),
        ({"expand": 1}, "expand is 1, expected True or False"),
        ({"threshold": True}, "threshold is True, expected a probability"),
        ({"longest": 0}, "longest is 0"),
        ({"threshold": 1.5}, "threshold is 1.5"),
    ],
)
def test_wrong_usage(options: dict[str, Any], message: str, model: Path) -> None:
    batch = pa.record_batch({"id": ["a"], "text": ["b"], "mentions": ["c"]})
    with pytest.raises(UsageError, match=message):
        list(Annotator(model, **options)([batch]))


def test_models_that_find_nothing(models: dict[str, Path], tmp_path: Path) -> None:
    LanguageModel.train(list(read(clinical() / "dev"))).save(tmp_path / "words")
    with pytest.raises(UsageError, match="is a language model, which finds no mentions"):
        Annotator(tmp_path / "words")
    with pytest.raises(ModelError, match="no model here"):
        Annotator(tmp_path / "nothing")
    with pytest.raises(UsageError, match="expected the folder of a model"):
        Annotator(spanloom.load(models["recognizer"]))  # type: ignore[arg-type]


def test_a_pickle_holds_the_path_and_the_digest_and_not_the_model(model: Path) -> None:
    annotator = Annotator(model)
    list(annotator([pa.record_batch({"id": ["a"], "text": ["Chest pain."]})]))
    data = pickle.dumps(annotator)
    assert len(data) < 1000
    again = pickle.loads(data)
    assert again == annotator
    assert not again.counts
    assert again.digest == annotator.digest


def test_pandas_is_not_imported(model: Path, tmp_path: Path) -> None:
    batch = pa.record_batch({"id": ["a"], "text": ["Chest pain."]})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as file:
        file.write(batch)
    code = """
import sys
import pyarrow as pa
from spanloom.lake import Annotator
[found] = Annotator(sys.argv[1])([pa.ipc.open_file(sys.argv[2]).get_batch(0)])
print(found.num_rows, "pandas" in sys.modules)
"""
    line = [sys.executable, "-c", code, str(model), str(tmp_path / "a.arrow")]
    done = subprocess.run(line, capture_output=True, encoding="utf-8", timeout=300, check=True)
    assert done.stdout.split() == ["1", "False"]


def test_a_replaced_model_is_one_clear_error(models: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(models["recognizer"], tmp_path / "model")
    annotator = Annotator(tmp_path / "model", id=None)
    (tmp_path / "job").write_bytes(pickle.dumps(annotator))
    shutil.rmtree(tmp_path / "model")
    shutil.copytree(models["heads"], tmp_path / "model")
    code = """
import pickle, sys
import pyarrow as pa
annotator = pickle.loads(open(sys.argv[1], "rb").read())
list(annotator([pa.record_batch({"text": ["a", "b", None]})]))
"""
    line = [sys.executable, "-c", code, str(tmp_path / "job")]
    done = subprocess.run(line, capture_output=True, encoding="utf-8", timeout=300, check=False)
    message = done.stderr.strip().splitlines()[-1]
    assert message.startswith("spanloom.errors.ModelError: ")
    assert "the model was replaced while the job runs" in message
    assert annotator.digest in message
    assert Annotator(tmp_path / "model").digest in message
    assert len(list(annotator([pa.record_batch({"text": ["a"]})]))) == 1  # who has opened it, goes on with it


def test_big_batches_come_back_in_parts(model: Path) -> None:
    batch = pa.record_batch({"id": range(2500), "text": ["Chest pain."] * 2500})
    parts = list(Annotator(model)([batch]))
    assert len(parts) > 2
    assert [key for part in parts for key in part["id"].to_pylist()] == list(range(2500))


VALUES = st.lists(st.none() | st.binary(max_size=12) | st.text(max_size=12).map(str.encode), max_size=8)


@given(VALUES, st.integers(1, 12), st.sampled_from([pa.binary(), pa.large_binary(), pa.binary_view()]))
def test_each_row_has_a_text_or_a_problem(values: list[bytes | None], longest: int, kind: pa.DataType) -> None:
    column = pa.array(values, pa.binary()).cast(kind)
    texts, problems = texts_of(column, longest)
    assert [text is None for text in texts] == [problem is not None for problem in problems]
    for value, text in zip(values, texts, strict=True):
        if text is not None:
            assert value is not None
            assert text.encode() == value
            assert len(value) <= longest
