"""Mentions as columns in memory, by way of pandas, Arrow and plain mappings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from spanloom.data import clinical
from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.formats import from_columns, read, to_columns

NOTE = Document("Mild or severe pain.", id="n1")
TABLES: list[Callable[[dict[str, list[Any]]], Any]] = [dict, pd.DataFrame, pa.table]
ROW: dict[str, list[Any]] = {"doc_id": ["n1"], "start": [0], "end": [4], "type": ["x"]}


@pytest.mark.parametrize("table", TABLES)
def test_the_bundled_notes_come_back(table: Callable[[dict[str, list[Any]]], Any]) -> None:
    documents = list(read(clinical() / "dev"))
    assert from_columns(table(to_columns(documents)), documents) == documents
    bare = [document.copy(mentions=[]) for document in documents]
    assert from_columns(table(to_columns(documents)), bare) == documents


@pytest.mark.parametrize("table", TABLES)
def test_scores_that_some_lack_and_documents_without_names(table: Callable[[dict[str, list[Any]]], Any]) -> None:
    mentions = [Mention("x", [(0, 4)], score=0.5, concepts=["C:1"]), Mention("y", [(0, 4), (15, 19)], head=(15, 19))]
    documents = [Document(NOTE.text), NOTE.copy(id="", mentions=mentions), Document("", id="empty")]
    columns = to_columns(documents)
    assert (columns["doc_id"], columns["text"]) == (["document-000002"] * 2, ["Mild", "Mild pain"])
    assert from_columns(table(columns), documents) == documents


def test_a_frame_of_somebody_else() -> None:
    frame = pd.DataFrame({"type": ["x", "y"], "doc_id": [7, 7], "start": [0, 5], "end": [4.0, None], "who": ["a", "b"]})
    [document] = from_columns(frame.dropna(), [NOTE.copy(id="7")])
    assert document.mentions == [Mention("x", [(0, 4)])]
    with pytest.raises(DataError, match="row 1: "):
        from_columns(frame, [NOTE.copy(id="7")])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": ["0"]}, 'row 0: start is "0", expected a number of characters, from 0'),
        ({"start": [0.5]}, "row 0: start is 0.5, expected a number of characters"),
        ({"start": [True]}, "row 0: start is true"),
        ({"start": [10**30]}, r"row 0: spans is \[\[10+"),
        ({"start": [float("inf")]}, "row 0: start is Infinity, expected"),
        ({"end": [99]}, "row 0: span 0-99 is outside the text of 20 characters"),
        ({"type": [""]}, "row 0: the type is empty"),
        ({"start": [None]}, "row 0: start is missing, expected a number"),
        ({"type": [3]}, "row 0: type is 3, expected a string"),
        ({"score": [2]}, "row 0: score 2.0 is no probability"),
        ({"score": ["x"]}, 'row 0: score is "x", expected a number from 0 to 1'),
        ({"spans": [[[0, 4], [2, 6]]]}, "row 0: span 2-6 starts before 4"),
        ({"spans": [[]]}, r"row 0: spans is \[\], expected"),
        ({"spans": [[1, 2]]}, r"row 0: spans is \[1, 2\], expected .start, end. pairs of integers"),
        ({"head": [[0]]}, r"row 0: head is \[0\], expected .start, end., two integers"),
        ({"concepts": ["C:1"]}, 'row 0: concepts is "C:1", expected a list of strings'),
        ({"doc_id": [None]}, "row 0: doc_id is missing"),
        ({"text": ["Milk"]}, "row 0: the text is 'Milk', but 'Mild' is at 0-4"),
        ({"doc_id": ["n2"]}, "row 0: no document is called 'n2'"),
    ],
)
def test_wrong_rows(changes: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        from_columns({**ROW, **changes}, [NOTE])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1], "the table is a list, expected a data frame or a mapping of columns"),
        ({"doc_id": [], "type": []}, "the table has no column 'start'; it has: 'doc_id', 'type'"),
        ({**ROW, "type": 3}, "a column of the table is a int, expected a list"),
        (pd.DataFrame([[1, 2]], columns=["start", "start"]), "the table has two columns called 'start'"),
        ({**ROW, "type": ["x", "y"]}, "the columns of the table are of different lengths"),
    ],
)
def test_wrong_tables(table: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        from_columns(table, [NOTE])
    assert message in str(caught.value)


def test_two_documents_of_one_name() -> None:
    with pytest.raises(DataError, match="two documents are called 'n1'"):
        from_columns(ROW, [NOTE, NOTE])


def test_what_is_no_document_and_no_table_is_told() -> None:
    table: dict[str, list[Any]] = {"doc_id": ["a"], "start": [0], "end": [4], "type": ["p"]}
    note: Any = Document("Mild pain.", id="a")
    polars: Any = pytest.importorskip("polars")
    for call, message in (
        (lambda: from_columns(table, note), "documents is a Document, expected a list"),
        (lambda: from_columns(table, ["Mild pain."]), "documents holds a str"),  # type: ignore[list-item]
        (lambda: to_columns([None]), "documents holds a NoneType"),  # type: ignore[list-item]
        (lambda: from_columns(polars.DataFrame(table).lazy(), [note]), "call its collect"),
    ):
        with pytest.raises(UsageError, match=message):
            call()
