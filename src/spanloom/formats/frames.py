"""Mentions as columns of a table in memory, and back: for pandas, Polars, Arrow, or any mapping of columns.

None of them is imported: a mapping of lists is what their constructors take, and columns of theirs are known by their
methods.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from spanloom.document import Document
from spanloom.document.validate import Problem
from spanloom.errors import DataError, UsageError, clip
from spanloom.formats.base import Beside, Notices, Scanned, name_of
from spanloom.formats.dialects import Native
from spanloom.formats.json_text import not_as_expected
from spanloom.formats.record import AS_TEXT, MENTION, mention_of, mention_record
from spanloom.formats.settling import settled

_COLUMNS: Final = ("doc_id", "start", "end", "type", "text", "score", "spans", "concepts", "head", "id")
_FURTHER: Final = ("attributes", "attribute_scores", "concept_scores")  # columns that are left out where they are empty
_REQUIRED: Final = ("doc_id", "type")


def to_columns(documents: Iterable[Document]) -> dict[str, list[Any]]:
    """Return the mentions of documents as columns, a row for each: ``pandas.DataFrame(to_columns(documents))``.

    Args:
        documents: a document without an ``id`` is called ``document-000001`` and so on.

    Returns:
        The columns ``doc_id``, ``start``, ``end``, ``type``, ``text``, ``score``, ``spans`` (a list of pairs),
        ``concepts`` (a list), ``head`` (a pair) and ``id``; what a mention lacks is ``None``. Where mentions have them,
        ``attributes`` and ``attribute_scores`` (an object of JSON, as text) and ``concept_scores`` (a list).

    >>> from spanloom import Mention
    >>> note = Document("Mild pain.", id="n1", mentions=[Mention("problem", [(5, 9)], score=0.5)])
    >>> {name: values for name, values in to_columns([note]).items() if name in ("doc_id", "start", "text", "spans")}
    {'doc_id': ['n1'], 'start': [5], 'text': ['pain'], 'spans': [[[5, 9]]]}
    """
    table: dict[str, list[Any]] = {name: [] for name in (*_COLUMNS, *_FURTHER)}
    for number, document in _numbered(documents):
        for mention in document.mentions:
            row = {"concepts": [], **mention_record(mention), "doc_id": name_of(document, number)}
            row |= {"start": mention.start, "end": mention.end, "text": mention.text(document.text)}
            row |= {name: json.dumps(row[name], ensure_ascii=False) for name in AS_TEXT if name in row}
            for name, values in table.items():
                values.append(row.get(name))
    return {name: values for name, values in table.items() if name in _COLUMNS or any(values)}


def from_columns(table: Any, documents: Iterable[Document]) -> list[Document]:
    """Return documents with the mentions of a table, such as that of `to_columns`.

    Args:
        table: a data frame, an Arrow table, or a mapping of columns. ``doc_id`` and ``type`` are required, and
            ``start`` and ``end``, or ``spans``; a ``text`` is checked against the text at the offsets.
        documents: the texts; mentions that they have are replaced.

    Raises:
        UsageError: a table without a column that is required, or with columns of different lengths; no documents.
        DataError: a row that is wrong, or about no document, with its number from 0.

    What was repaired, such as blanks at the ends of a mention, is a `DataWarning`.

    >>> table = {"doc_id": ["n1"], "start": [5], "end": [9], "type": ["problem"]}
    >>> from_columns(table, [Document("Mild pain.", id="n1")])
    [Document('Mild pain.', id='n1', mentions=[Mention('problem', [(5, 9)])])]
    """
    columns = _read(table)
    rows: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for number, values in enumerate(zip(*columns.values(), strict=True)):
        row = dict(zip(columns, values, strict=True))
        if row["doc_id"] is None:
            raise DataError(f"row {number}: doc_id is missing, expected the identifier of a document")
        rows.setdefault(str(row["doc_id"]), []).append((number, row))
    found, names = [], set()
    for number, document in _numbered(documents):
        name = name_of(document, number)
        if name in names:
            raise DataError(f"two documents are called {clip(name)}; give each an identifier of its own")
        names.add(name)
        found.append(_with_rows(document, rows.pop(name, [])))
    if rows:
        name, left = next(iter(rows.items()))
        raise DataError(f"row {left[0][0]}: no document is called {clip(name)}; give all that the table is about")
    notices, read = Notices(), []
    for scanned in settled(found):
        for problem in scanned.problems:
            if problem.severity == "error":
                raise problem.to_error()
        notices.add(scanned.problems)
        read += [] if scanned.document is None else [scanned.document]
    notices.tell(None)
    return read


def _numbered(documents: Iterable[Document]) -> Iterator[tuple[int, Document]]:
    """Yield documents with their numbers from 1.

    Raises:
        UsageError: something else.
    """
    if not isinstance(documents, Iterable):
        raise UsageError(f"documents is a {type(documents).__name__}, expected a list of documents")
    for number, document in enumerate(documents, start=1):
        if not isinstance(document, Document):
            raise UsageError(f"documents holds a {type(document).__name__}, expected documents")
        yield number, document


def _read(table: Any) -> dict[str, list[Any]]:
    """Return the known columns of a table as lists."""
    if type(table).__name__ == "LazyFrame":
        raise UsageError("the table is a LazyFrame, which is not computed yet; call its collect()")
    names = getattr(table, "column_names", getattr(table, "columns", None))
    names = list(table) if isinstance(table, Mapping) else None if names is None else [str(name) for name in names]
    if names is None:
        raise UsageError(f"the table is a {type(table).__name__}, expected a data frame or a mapping of columns")
    twice = next((name for name in _COLUMNS if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"the table has two columns called {clip(twice)}; rename one")
    lacking = [name for name in _REQUIRED if name not in names]
    if "spans" not in names:
        lacking += [name for name in ("start", "end") if name not in names]
    if lacking:
        raise UsageError(f"the table has no column {clip(lacking[0])}; it has: {', '.join(map(clip, names[:20]))}")
    columns = {name: _values(table[name]) for name in (*_COLUMNS, *_FURTHER) if name in names}
    if len(set(map(len, columns.values()))) > 1:
        raise UsageError("the columns of the table are of different lengths")
    return columns


def _values(column: Any) -> list[Any]:
    method = next((name for name in ("to_pylist", "to_list", "tolist") if hasattr(column, name)), None)
    values = column if method is None else getattr(column, method)()
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise UsageError(f"a column of the table is a {type(column).__name__}, expected a list")
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: what a table writes for one that is missing is ``None``, an array a list."""
    if isinstance(value, list | tuple) or getattr(value, "ndim", False):
        return [_plain(item) for item in value]
    if type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    value = value.item() if hasattr(value, "item") else value  # of NumPy
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _with_rows(document: Document, rows: list[tuple[int, dict[str, Any]]]) -> Scanned:
    """Return a document with the mentions of its rows.

    Raises:
        DataError: an invalid value for its column; the message names the row and the column.
    """
    mentions, problems = [], list[Problem]()
    for number, row in rows:
        mention = mention_of(_item(row, f"row {number}"), f"row {number}", Native({}), problems)
        if mention is None:
            raise problems[0].to_error()
        mentions.append(mention)
    surfaces = [surface if isinstance(surface := row.get("text"), str) else None for _, row in rows]
    beside = Beside(surfaces, names=[f"row {number}" for number, _ in rows])
    return Scanned(document.copy(mentions=mentions), [], "", beside=beside)


def _item(row: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the mention of a row as a native record has it; what is wrong with it is left to its reader."""
    item = {name: value for name, value in row.items() if name in MENTION and value is not None}
    if "spans" not in item:
        for name in ("start", "end"):
            if type(row[name]) is not int:
                raise DataError(f"{place}: {not_as_expected(name, row[name], 'a number of characters, from 0')}")
        item["spans"] = [[row["start"], row["end"]]]
    if "id" in item:
        item["id"] = str(item["id"])
    for name in AS_TEXT:
        if isinstance(item.get(name), str):
            with suppress(ValueError, RecursionError):
                item[name] = json.loads(item[name])
    return item
