"""Mentions as columns of a table in memory, and back: for pandas, Polars, Arrow, or any mapping of columns.

None of them is imported: a mapping of lists is what their constructors take, and columns of theirs are known by their
methods.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from spanloom.document import Document, Mention
from spanloom.document.validate import OffsetUnits, find_errors
from spanloom.errors import DataError, UsageError, clip
from spanloom.formats.record import surface_problem

_COLUMNS: Final = ("doc_id", "start", "end", "type", "text", "score", "spans", "concepts", "head", "id")
_REQUIRED: Final = ("doc_id", "type")


def to_columns(documents: Iterable[Document]) -> dict[str, list[Any]]:
    """Return the mentions of documents as columns, a row for each: ``pandas.DataFrame(to_columns(documents))``.

    Args:
        documents: a document without an ``id`` is called ``document-000001`` and so on.

    Returns:
        The columns ``doc_id``, ``start``, ``end``, ``type``, ``text``, ``score``, ``spans`` (a list of pairs),
        ``concepts`` (a list), ``head`` (a pair) and ``id``; what a mention lacks is ``None``.

    >>> note = Document("Mild pain.", id="n1", mentions=[Mention("problem", [(5, 9)], score=0.5)])
    >>> {name: values for name, values in to_columns([note]).items() if name in ("doc_id", "start", "text", "spans")}
    {'doc_id': ['n1'], 'start': [5], 'text': ['pain'], 'spans': [[[5, 9]]]}
    """
    table: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for number, document in _numbered(documents):
        for mention in document.mentions:
            row = (
                _name(document, number), mention.start, mention.end, mention.type, mention.text(document.text),
                mention.score, [list(span) for span in mention.spans], list(mention.concepts),
                None if mention.head is None else list(mention.head), mention.id,
            )  # fmt: skip
            for values, value in zip(table.values(), row, strict=True):
                values.append(value)
    return table


def from_columns(table: Any, documents: Iterable[Document]) -> list[Document]:
    """Return documents with the mentions of a table, such as that of `to_columns`.

    Args:
        table: a data frame, an Arrow table, or a mapping of columns. ``doc_id`` and ``type`` are required, and
            ``start`` and ``end``, or ``spans``; a ``text`` is checked against the text at the offsets.
        documents: the texts; mentions that they have are replaced.

    Raises:
        UsageError: a table without a column that is required, or with columns of different lengths; no documents.
        DataError: a row that is wrong, or about no document, with its number from 0.

    >>> table = {"doc_id": ["n1"], "start": [5], "end": [9], "type": ["problem"]}
    >>> from_columns(table, [Document("Mild pain.", id="n1")])
    [Document('Mild pain.', id='n1', mentions=[Mention('problem', [(5, 9)])])]
    """
    columns = _read(table)
    rows: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for number, values in enumerate(zip(*columns.values(), strict=True)):
        row = dict(zip(columns, values, strict=True))
        rows.setdefault(str(row["doc_id"]), []).append((number, row))
    found, names = [], set()
    for number, document in _numbered(documents):
        name = _name(document, number)
        if name in names:
            raise DataError(f"two documents are called {clip(name)}; give each an identifier of its own")
        names.add(name)
        found.append(_with_rows(document, rows.pop(name, [])))
    if rows:
        name, left = next(iter(rows.items()))
        raise DataError(f"row {left[0][0]}: no document is called {clip(name)}; give all that the table is about")
    return found


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


def _name(document: Document, number: int) -> str:
    return document.id or f"document-{number:06d}"


def _read(table: Any) -> dict[str, list[Any]]:
    """Return the known columns of a table as lists."""
    if type(table).__name__ == "LazyFrame":
        raise UsageError("the table is a LazyFrame, which is not computed yet; call its collect()")
    names = getattr(table, "column_names", getattr(table, "columns", None))
    names = list(table) if isinstance(table, Mapping) else None if names is None else [str(name) for name in names]
    if names is None:
        raise UsageError(f"the table is a {type(table).__name__}, expected a data frame or a mapping of columns")
    lacking = [name for name in _REQUIRED if name not in names]
    if "spans" not in names:
        lacking += [name for name in ("start", "end") if name not in names]
    if lacking:
        raise UsageError(f"the table has no column {clip(lacking[0])}; it has: {', '.join(map(clip, names[:20]))}")
    columns = {name: _values(table[name]) for name in _COLUMNS if name in names}
    if len(set(map(len, columns.values()))) > 1:
        raise UsageError("the columns of the table are of different lengths")
    return columns


def _values(column: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return [_plain(value) for value in getattr(column, method)()]
    return [_plain(value) for value in column]


def _plain(value: Any) -> Any:
    """Return a value; what a table writes for one that is missing becomes ``None``, an array a list."""
    if isinstance(value, list | tuple) or getattr(value, "ndim", False):
        return [_plain(item) for item in value]
    missing = type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and math.isnan(value))
    return None if missing else value


def _with_rows(document: Document, rows: list[tuple[int, dict[str, Any]]]) -> Document:
    units = OffsetUnits(document.text)
    kept = document.copy(mentions=[_mention(row, number) for number, row in rows])
    for problem in find_errors(kept):
        where = "" if problem.mention is None else f"row {rows[problem.mention][0]}"
        raise replace(problem, place=where).to_error()
    for mention, (number, row) in zip(kept.mentions, rows, strict=True):
        surface = row.get("text")
        wrong = None if not isinstance(surface, str) else surface_problem(surface, mention, units, f"row {number}")
        if wrong is not None:
            raise wrong.to_error()
    return kept


def _mention(row: dict[str, Any], number: int) -> Mention:
    try:
        spans = row.get("spans")
        pairs = [(row.get("start"), row.get("end"))] if spans is None else spans
        ends = [(_whole(start), _whole(end)) for start, end in pairs]
        head, score, kind = row.get("head"), row.get("score"), row["type"]
        if not isinstance(kind, str):
            raise ValueError(f"type is {clip(str(kind))}, expected a string")
        return Mention(
            kind, sorted(ends), None if row.get("id") is None else str(row["id"]),
            None if head is None else (_whole(head[0]), _whole(head[1])),
            [str(concept) for concept in row.get("concepts") or ()],
            None if score is None else float(score),
        )  # fmt: skip
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        raise DataError(f"row {number}: {clip(str(error))}; expected offsets, a type and perhaps a score") from None


def _whole(value: Any) -> int:
    number = int(value)
    if isinstance(value, str | bool) or number != value or not -(2**62) < number < 2**62:
        raise ValueError(f"{value!r} is no offset")
    return number
