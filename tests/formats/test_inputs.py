"""What estimators accept: texts, documents, several of them, columns of tables; and what they say to all else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from spanloom.document import Document, Mention, Span
from spanloom.errors import DataError, UsageError
from spanloom.formats.inputs import answer, development_of, documents_of, one_of, training_of

TEXTS = ["no pain", "fever"]


@pytest.mark.parametrize(
    "given",
    [
        TEXTS,
        tuple(TEXTS),
        iter(TEXTS),
        ["no pain", Document("fever")],
        np.array(TEXTS),
        np.array(TEXTS, object),
        pd.Series(TEXTS, index=[7, 9]),
        pd.Series(TEXTS, dtype="category"),
        pa.array(TEXTS),
        pa.chunked_array([["no pain"], ["fever"]]),
        pa.array(TEXTS).dictionary_encode(),
        pa.table({"text": TEXTS})["text"],
        dict.fromkeys(TEXTS).keys(),
    ],
    ids=lambda given: type(given).__name__,
)
def test_several(given: Any) -> None:
    documents = list(documents_of(given))
    assert [document.text for document in documents] == TEXTS
    assert {type(document.text) for document in documents} == {str}


def test_one_gives_one_and_several_give_a_list() -> None:
    note = Document("fever")
    assert next(documents_of(note)) is note
    assert [document.text for document in documents_of("fever")] == ["fever"]
    assert answer("fever", iter([1])) == answer(note, iter([1])) == 1
    assert answer(["fever"], iter([1])) == [1]
    assert answer([], iter([])) == []
    assert one_of(note) is note
    with pytest.raises(UsageError, match="X is a list, expected one text or one Document; for several, ask for each"):
        one_of(["fever"])  # type: ignore[arg-type]


def test_iterators_are_read_as_they_are_asked() -> None:
    def endless() -> Iterator[str]:
        while True:
            yield "fever"

    assert next(documents_of(endless())).text == "fever"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pd.DataFrame({"note": TEXTS}), "X is a DataFrame; name the column that holds its texts, as X[...]: note"),
        (pa.table({"note": TEXTS}), "X is a Table; name the column that holds its texts, as X[...]: note"),
        ({"a": 1}, "X is the dict {'a': 1}, expected a text, a Document, or a list or a column of them"),
        (b"abc", "X is the bytes b'abc', expected a text"),
        (None, "X is the NoneType None, expected a text"),
        (3, "X is the int 3, expected a text"),
        (Path("a"), "spanloom.read(...) gives the documents of files"),
    ],
)
def test_what_holds_no_texts_is_refused_at_once(given: Any, message: str) -> None:
    with pytest.raises(UsageError) as error:
        documents_of(given)
    assert message in str(error.value)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_texts_are_refused_with_their_place(missing: object) -> None:
    with pytest.raises(DataError, match=r"item 1 of X is missing, expected a text; leave such rows out"):
        list(documents_of(["fever", missing]))  # type: ignore[list-item]


@pytest.mark.parametrize("column", [pd.Series(["fever", None]), pa.array(["fever", None])])
def test_missing_texts_of_columns(column: Any) -> None:
    with pytest.raises(DataError, match="item 1 of X is missing"):
        list(documents_of(column))


@pytest.mark.parametrize("item", [3, 1.5, b"a", [], [1], {"note": "a"}, ("a", 1)])
def test_items_that_are_no_texts(item: Any) -> None:
    with pytest.raises(UsageError, match=r"item 1 of X is .*, expected a text, a Document or a record"):
        list(documents_of(["fever", item]))


PAIN = [Mention("problem", [(3, 7)])]


@pytest.mark.parametrize(
    "item",
    [
        {"text": "no pain", "mentions": [{"type": "problem", "spans": [[3, 7]]}]},
        {"text": "no pain", "label": [[3, 7, "problem"]]},
        ("no pain", {"entities": [(3, 7, "problem")]}),
        ["no pain", {"entities": [[np.int64(3), np.int64(7), "problem"]]}],
        [("no", "O"), ("pain", "B-problem")],
        (["no", "pain"], ["O", "B-problem"]),
        {"tokens": ["no", "pain"], "ner_tags": ["O", "B-problem"]},
        {"tokens": ("no", "pain"), "tags": np.array(["O", "B-problem"])},
    ],
)
def test_records_are_documents(item: Any) -> None:
    for given in ([item], (item,)):
        [document] = training_of(given)
        assert (document.text, document.mentions) == ("no pain", PAIN)


def test_one_record_is_one_document() -> None:
    assert one_of({"text": "no pain"}).text == "no pain"
    assert answer({"text": "no pain"}, [1]) == 1
    assert one_of({"tokens": ["no", "pain"]}).words == ["no", "pain"]
    with pytest.raises(DataError, match=r"item 0 of X: entities\[0\]: span 3-70 is outside the text of 7 characters"):
        list(documents_of([{"text": "no pain", "entities": [[3, 70, "problem"]]}]))


@pytest.mark.parametrize(
    "mentions",
    [
        [(3, 7, "problem")],
        [[3, 7, "problem"]],
        [{"start": 3, "end": 7, "label": "problem"}],
        [{"begin": 3, "end": 6, "type": "problem", "text": "pain"}],
        [{"type": "problem", "spans": [(3, 7)]}],
        {"entities": [(3, 7, "problem")]},
        ["O", "B-problem"],
        np.array(["O", "B-problem"]),
        [(np.int64(3), np.int64(7), "problem")],
    ],
)
def test_gold_in_other_forms(mentions: Any) -> None:
    [document] = training_of(["no pain"], [mentions])
    assert document.mentions == PAIN


def test_gold_of_several_forms() -> None:
    y = [[Mention("a", [(0, 2)]), (3, 7, "b"), {"start": 0, "end": 7, "label": "c"}, ("d", 0, 2)]]
    [document] = training_of(["no pain"], y)
    assert [(m.type, m.start, m.end) for m in document.mentions] == [
        ("a", 0, 2), ("b", 3, 7), ("c", 0, 7), ("d", 0, 2),
    ]  # fmt: skip
    [document] = training_of([["no", "pain"]], [["O", "B-problem"]])
    assert (document.text, document.mentions) == ("no pain", PAIN)


def test_gold_mentions_beside_texts() -> None:
    mention = Mention("problem", [Span(0, 5)])  # type: ignore[arg-type]
    y = [[("problem", 3, 7)], [mention, ["test", np.int64(0), np.int64(2)]]]
    first, second = training_of(TEXTS, y)
    assert [m.key for m in first.mentions] == [("problem", (Span(3, 7),))]
    assert second.mentions == [mention, Mention("test", (Span(0, 2),))]
    [again] = training_of([second], [[]])
    assert (again.mentions, len(second.mentions)) == ([], 2)
    column = pd.Series(y, index=[3, 4])
    assert [len(document.mentions) for document in training_of(pd.Series(TEXTS), column)] == [1, 2]
    [one] = training_of("no pain", [("problem", 3, 7)])
    assert one.mentions == first.mentions


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[]], "X has 2 texts and y has 1 lists, expected as many of each"),
        ([Document("a"), Document("b")], "item 0 of y is a Document, expected for each text its mentions"),
        (iter([Document("a")]), "development data are given as dev="),
        (Document("a"), "y is the Document Document('a'), expected"),
        (["problem", "problem"], "item 0 of y is the str 'problem', expected for each text its mentions"),
        ([1, 2], "item 0 of y is the int 1, expected for each text its mentions"),
        (5, "y is the int 5, expected for each text"),
        ([[("problem", 0)], []], "item 0 of y holds the tuple ('problem', 0), expected mentions"),
        ([[], [("problem", "0", "1")]], "item 1 of y holds"),
        (pd.DataFrame({"a": [1, 2]}), "y is a DataFrame; name the column"),
    ],
)
def test_gold_that_is_none(y: Any, message: str) -> None:
    with pytest.raises(UsageError) as error:
        list(training_of(TEXTS, y))
    assert message in str(error.value)


def test_gold_outside_its_text() -> None:
    with pytest.raises(
        DataError, match=r"item 1 of y: the mention of type 'problem' at 0-9 does not lie in its text of 5"
    ):
        list(training_of(TEXTS, [[], [("problem", 0, 9)]]))


def test_development_data_are_documents_or_a_pair() -> None:
    notes = [Document("a"), Document("b")]
    assert development_of(notes) == (notes, None)
    assert development_of((notes[0], notes[1])) == ((notes[0], notes[1]), None)
    assert development_of((TEXTS, [[], []])) == (TEXTS, [[], []])
