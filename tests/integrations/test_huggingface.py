"""Hugging Face datasets: the same columns as Parquet files, in and out, without a network or a cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import datasets
import pytest

from spanloom.data import chinese_clinical, clinical
from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.formats import read, to_record, write
from spanloom.integrations.huggingface import from_dataset, to_dataset
from spanloom.recognize import load


@pytest.fixture(scope="module")
def gold() -> list[Document]:
    return [*read(clinical() / "dev"), *read(chinese_clinical() / "dev.jsonl")]


def test_nothing_is_lost(gold: list[Document]) -> None:
    records = [to_record(document) for document in gold]
    dataset = to_dataset(iter(gold))
    assert dataset.num_rows == len(gold)
    assert [to_record(document) for document in from_dataset(dataset)] == records
    assert [to_record(document) for document in from_dataset(dataset.to_iterable_dataset())] == records
    assert [to_record(document) for document in from_dataset(dataset.with_format("numpy"))] == records
    assert dataset["document_id"][:] == [document.id for document in gold]


def test_datasets_are_edited_and_saved(gold: list[Document], tmp_path: Path) -> None:
    short = to_dataset(gold).filter(lambda row: len(row["entities"]) > 20).shuffle(seed=1)
    assert 0 < short.num_rows < len(gold)
    short.save_to_disk(tmp_path / "saved")
    short.to_parquet(tmp_path / "saved.parquet")
    expected = [to_record(document) for document in from_dataset(short)]
    assert [to_record(one) for one in from_dataset(datasets.load_from_disk(tmp_path / "saved"))] == expected
    assert [to_record(one) for one in read(tmp_path / "saved.parquet")] == expected


def test_parquet_files_are_datasets(gold: list[Document], tmp_path: Path) -> None:
    write(gold, tmp_path / "a.parquet")
    dataset = datasets.Dataset.from_parquet(str(tmp_path / "a.parquet"), cache_dir=str(tmp_path / "cache"))
    assert dataset.features == to_dataset(gold).features
    assert [to_record(document) for document in from_dataset(dataset)] == [to_record(document) for document in gold]


def test_arrow_files_of_datasets_are_read(gold: list[Document], tmp_path: Path) -> None:
    to_dataset(gold).save_to_disk(tmp_path / "saved")  # in Arrow's stream format
    assert [document.id for document in read(tmp_path / "saved")] == [document.id for document in gold]


def test_a_model_marks_up_a_dataset(model: Path) -> None:
    dataset = datasets.Dataset.from_dict({"text": ["No chest pain today.", "The left atrium is dilated."]})
    found = to_dataset(load(model).predict(from_dataset(dataset)))
    entities = [entity for row in found for entity in row["entities"]]
    assert {"chest pain", "left atrium"} <= {" ".join(entity["text"]) for entity in entities}
    assert all(0 < entity["score"] <= 1 for entity in entities)


def test_no_documents() -> None:
    empty = to_dataset([])
    assert empty.num_rows == 0
    assert "entities" in empty.column_names
    assert list(from_dataset(empty)) == []


def test_problems_name_the_row() -> None:
    rows = {"text": ["mild", "pain"], "spans": [[], [{"start": 0, "end": 9, "label": "x"}]]}
    documents = from_dataset(datasets.Dataset.from_dict(rows))
    assert next(documents).text == "mild"
    with pytest.raises(DataError, match=r"^dataset:2: spans\[0\]: span 0-9 is outside the text of 4 characters"):
        next(documents)
    with pytest.raises(UsageError, match="several datasets: train, test; choose one"):
        from_dataset(datasets.DatasetDict(train=to_dataset([]), test=to_dataset([])))
    with pytest.raises(DataError, match="document 'x'"):
        to_dataset([Document("a\ud800", id="x", mentions=[Mention("x", [(0, 1)])])])


BLOCKED = """
import sys
sys.modules["datasets"] = None
from spanloom import SpanloomError
from spanloom.integrations.huggingface import to_dataset
try:
    to_dataset([])
except SpanloomError as error:
    print(type(error).__name__, error)
"""


def test_without_datasets_the_message_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == (
        'UsageError a Hugging Face dataset needs datasets; install it with: pip install "spanloom[datasets]"\n'
    )
