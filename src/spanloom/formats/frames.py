"""Mentions as columns of a table in memory, and back: for pandas, Polars, Arrow, or any mapping of columns.

None of them is imported: a mapping of lists is what their constructors take, and columns of theirs are known by their
methods.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, NoReturn

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError, clip
from spanloom.formats.attributes import to_json_text
from spanloom.formats.base import Beside, Scanned, name_of
from spanloom.formats.notices import Notices
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

    >>> note = Document("Mild pain.", id="n1", mentions=[Mention("problem", [(5, 9)], score=0.5)])
    >>> {name: values for name, values in to_columns([note]).items() if name in ("doc_id", "start", "text", "spans")}
    {'doc_id': ['n1'], 'start': [5], 'text': ['pain'], 'spans': [[[5, 9]]]}
    """
    table: dict[str, list[Any]] = {name: [] for name in (*_COLUMNS, *_FURTHER)}
    for number, document in _numbered(documents):
        for mention in document.mentions:
            row = (
                name_of(document, number), mention.start, mention.end, mention.type, mention.text(document.text),
                mention.score, [list(span) for span in mention.spans], list(mention.concepts),
                None if mention.head is None else list(mention.head), mention.id, to_json_text(mention) or None,
                json.dumps(mention.attribute_scores) if mention.attribute_scores else None,
                list(mention.concept_scores) or None,
            )  # fmt: skip
            for values, value in zip(table.values(), row, strict=True):
                values.append(value)
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
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return [_plain(value) for value in getattr(column, method)()]
    if isinstance(column, str) or not isinstance(column, Iterable):
        raise UsageError(f"a column of the table is a {type(column).__name__}, expected a list")
    return [_plain(value) for value in column]


def _plain(value: Any) -> Any:
    """Return a value; what a table writes for one that is missing becomes ``None``, an array a list."""
    if isinstance(value, list | tuple) or getattr(value, "ndim", False):
        return [_plain(item) for item in value]
    missing = type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and math.isnan(value))
    return None if missing else value


def _with_rows(document: Document, rows: list[tuple[int, dict[str, Any]]]) -> Scanned:
    mentions = [_mention(row, number) for number, row in rows]
    surfaces = [surface if isinstance(surface := row.get("text"), str) else None for _, row in rows]
    beside = Beside(surfaces, names=[f"row {number}" for number, _ in rows])
    return Scanned(document.copy(mentions=mentions), [], "", beside=beside)


def _mention(row: dict[str, Any], number: int) -> Mention:
    """Return the mention of a row.

    Raises:
        DataError: an invalid value for its column; the message names the row and the column.
    """
    cells = _Cells(row, number)
    spans = [(cells.offset("start"), cells.offset("end"))] if row.get("spans") is None else cells.spans()
    return Mention(
        cells.text("type"), spans, None if row.get("id") is None else str(row["id"]), cells.head(),
        cells.concepts(), cells.score(), cells.mapping("attributes"), cells.mapping("attribute_scores"),
        row.get("concept_scores") or (),
    )  # fmt: skip


class _Cells(NamedTuple):
    """The values of a row by column, with its number for messages."""

    row: Mapping[str, Any]
    number: int

    def text(self, name: str) -> str:
        value = self.row[name]
        return value if isinstance(value, str) else self._refuse(name, "a string")

    def offset(self, name: str) -> int:
        value = _whole(self.row.get(name))
        return self._refuse(name, "a number of characters, from 0") if value is None else value

    def spans(self) -> list[tuple[int, int]]:
        given = self.row["spans"]
        pairs = [_pair(value) for value in given] if isinstance(given, list) else [None]
        if None in pairs:
            self._refuse("spans", "a list of pairs of offsets, such as [[12, 18], [25, 30]]")
        return sorted(pair for pair in pairs if pair is not None)

    def head(self) -> tuple[int, int] | None:
        value = self.row.get("head")
        return None if value is None else _pair(value) or self._refuse("head", "a pair of offsets, such as [12, 18]")

    def concepts(self) -> list[str]:
        value = self.row.get("concepts") or []
        return [str(one) for one in value] if isinstance(value, list) else self._refuse("concepts", "a list")

    def mapping(self, name: str) -> dict[str, Any]:
        value = self.row.get(name)
        try:
            found = json.loads(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            found = ()
        expected = 'an object, as JSON, such as {"negated": true}'
        return {} if found is None else found if isinstance(found, dict) else self._refuse(name, expected)

    def score(self) -> float | None:
        value = self.row.get("score")
        if value is None:
            return None
        if isinstance(value, str | bool | list):
            self._refuse("score", "a number from 0 to 1")
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            self._refuse("score", "a number from 0 to 1")

    def _refuse(self, name: str, expected: str) -> NoReturn:
        value = self.row.get(name)
        found = "missing" if value is None else clip(value) if isinstance(value, str) else clip(repr(value))[1:-1]
        raise DataError(f"row {self.number}: {name} is {found}, expected {expected}")


def _pair(value: Any) -> tuple[int, int] | None:
    """Return a pair of offsets, if it is one."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    start, end = map(_whole, value)
    return None if start is None or end is None else (start, end)


def _whole(value: Any) -> int | None:
    """Return an offset, or ``None`` if it is invalid."""
    if isinstance(value, str | bool):
        return None
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number == value and -(2**62) < number < 2**62 else None
