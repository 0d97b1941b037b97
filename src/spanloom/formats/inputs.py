"""Conversion of inputs in memory: texts, records and columns to documents, and tables of mentions.

Estimators take a text, a document, a record, several, or a column of a table.

A record is what a file of records holds, native or of another tool: a dictionary, a pair of a text and its annotation
as spaCy has it, or a list of words, alone or with their tags. Neither pandas nor pyarrow is imported: a column is
recognized by its methods.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias, TypeVar, cast

from spanloom.document import Document, Mention
from spanloom.document.validate import Problem, checked
from spanloom.errors import DataError, UsageError, clip
from spanloom.formats.base import Beside, Notices, Scanned, accepted, name_of
from spanloom.formats.dialects import Native
from spanloom.formats.entries import entries_of
from spanloom.formats.json_text import not_as_expected, some
from spanloom.formats.layouts import OF_TEXT, OF_WORDS, PRESUMED, named
from spanloom.formats.record import AS_TEXT, MENTION, as_object, from_record, mention_of, mention_record
from spanloom.formats.settling import settled

One: TypeAlias = str | Document | Mapping[str, Any]
"""A text, a document, or a record."""
Several: TypeAlias = Iterable[str | Document | Mapping[str, Any] | Sequence[Any]]
"""A list, an iterator, or a column of pandas, Arrow or NumPy; of records, too."""
Given: TypeAlias = One | Several
Dev: TypeAlias = Given | tuple[Several, Iterable[Any]]
"""Development data: documents that hold their gold, or a pair of texts and gold, as ``X`` and ``y`` are."""

Answer = TypeVar("Answer")

_EXPECTED = "expected a text, a Document, or a list or a column of them"
MENTIONS = "mentions: a list of Mention, (start, end, type), (type, start, end) or dictionaries"


def is_one(X: object) -> bool:
    """Return whether X is one text, document or record, for which one result is returned."""
    return isinstance(X, str | Document) or _is_record(X)


def _is_record(value: object) -> bool:
    """Return whether a value is a dictionary with a text or words."""
    return isinstance(value, dict) and any(named(value, (*OF_TEXT, *OF_WORDS)))


def answer(X: Given, found: Iterable[Answer]) -> Answer | list[Answer]:
    """Return the results for the input X: one ``Answer`` for one text or document, a list otherwise."""
    answers = list(found)
    return answers[0] if is_one(X) else answers


def documents_of(X: Given, name: str = "X") -> Iterator[Document]:
    """Yield the input as documents; a `Document` is passed on unchanged.

    Args:
        X: a text, a document, a record, several of them, or a column of texts.
        name: the name of X in error messages.

    Raises:
        UsageError: at once: a table, a mapping without a text, a path or another value without texts; when it is
            reached: an item that is neither text nor document nor record.
        DataError: when it is reached: an item that is missing, or a record with an error.

    >>> [document.text for document in documents_of(["no pain", Document("fever"), {"text": "cough"}])]
    ['no pain', 'fever', 'cough']
    >>> [document.mentions for document in documents_of([("no pain", {"entities": [(3, 7, "problem")]})])]
    [[Mention('problem', [(3, 7)])]]
    >>> list(documents_of(["no pain", None]))
    Traceback (most recent call last):
    spanloom.errors.DataError: item 1 of X is missing, expected a text; leave such rows out, as X.dropna() does
    """
    if is_one(X):
        return iter([_document(X, 0, name)])
    return (_document(item, i, name) for i, item in enumerate(_items(X, name)))


def one_of(X: One, name: str = "X") -> Document:
    """Return one document: the input itself, or a new one of a text.

    Raises:
        UsageError: something else, such as a list.
    """
    if not is_one(X):
        raise UsageError(f"{name} is a {_named(X)}, expected one text or one Document; for several, ask for each")
    return _document(X, 0, name)


def requested_mentions(document: Document, mentions: Iterable[Mention] | None) -> list[Mention] | None:
    """Return the mentions of a document that are asked about; ``None`` for those that the model predicts.

    Raises:
        UsageError: something else than a list of mentions, or one outside the text.

    >>> requested_mentions(Document("No pain"), "problem")
    Traceback (most recent call last):
    spanloom.errors.UsageError: mentions is the str 'problem', expected a list of Mention
    """
    if mentions is None:
        return None
    given: object = mentions
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageError(f"mentions is {_short(given)}, expected a list of Mention")
    found = list(given)
    if (odd := next((i for i, mention in enumerate(found) if not isinstance(mention, Mention)), None)) is not None:
        raise UsageError(f"item {odd} of mentions is {_short(found[odd])}, expected a Mention")
    for start, end in (mention.spans[-1] for mention in found):
        if end > len(document.text):
            raise UsageError(f"characters {start} to {end} are outside the text, which has {len(document.text):,}")
    return found


def training_of(X: Given, y: Iterable[Any] | None = None, name: str = "X") -> Iterator[Document]:
    """Yield documents with their gold mentions.

    Args:
        X: as of `documents_of`.
        y: the mentions of each text, each a `Mention`, ``(start, end, type)``, ``(type, start, end)`` or a dictionary
            with the usual names, or a tag for each word, in place of those that documents have; ``None`` if documents
            have them.
        name: the name of X in error messages.

    Raises:
        UsageError: a y of another length, or that holds no lists of mentions.
        DataError: a text that is missing, or a document with an error, such as a mention outside its text.

    >>> [document] = training_of(["no pain"], [[("problem", 3, 7)]])
    >>> document.mentions[0].spans
    (Span(start=3, end=7),)
    >>> [document] = training_of([["no", "pain"]], [["O", "B-problem"]])
    >>> document.mentions[0].spans
    (Span(start=3, end=7),)
    """
    if y is None:
        return map(checked, documents_of(X, name))
    pairs = enumerate(paired(X, y, MENTIONS, name))
    return (checked(document.copy(mentions=_mentions(values, document, i))) for i, (document, values) in pairs)


def documents_given(values: Any, name: str) -> Any:
    """Return documents in place of records in a list; all else unchanged.

    >>> documents_given([{"text": "no pain", "entities": [[3, 7, "problem"]]}], "gold")
    [Document('no pain', mentions=[Mention('problem', [(3, 7)])])]
    """
    if not isinstance(values, list | tuple) or all(isinstance(value, Document) for value in values):
        return values
    if not all(isinstance(value, Document | dict | tuple | list) for value in values):
        return values
    return [_document(value, i, name) for i, value in enumerate(values)]


def paired(X: Given, y: Iterable[Any], own: str, name: str = "X") -> list[tuple[Document, list[Any]]]:
    """Return pairs of a document and its list in ``y``.

    Args:
        own: the expected items of ``y``, in words, for error messages.

    Raises:
        UsageError: a y of another length, or that holds no lists.
    """
    documents, expected = list(documents_of(X, name)), f"expected for each text its {own}"
    if isinstance(y, str | bytes | Document | Mapping) or not isinstance(y, Iterable):
        raise UsageError(f"y is {_short(y)}, {expected}; development data are given as dev=")
    lists = []
    for i, row in enumerate([y] if is_one(X) else _items(y, "y")):
        if isinstance(row, Document):
            raise UsageError(f"item {i} of y is a Document, {expected}; development data are given as dev=")
        if isinstance(row, Mapping) and isinstance(row.get("entities"), Iterable):  # the second half of spaCy's pairs
            row = row["entities"]
        if isinstance(row, str | Mention | Mapping) or not isinstance(row, Iterable):
            raise UsageError(f"item {i} of y is {_short(row)}, {expected}")
        lists.append(list(row))
    if len(lists) != len(documents):
        raise UsageError(f"{name} has {len(documents)} texts and y has {len(lists)} lists, expected as many of each")
    return list(zip(documents, lists, strict=True))


def development_of(dev: Dev) -> tuple[Given, Iterable[Any] | None]:
    """Return development data as X and y; y is ``None`` for documents with gold mentions."""
    if isinstance(dev, tuple) and len(dev) == 2 and not any(isinstance(part, str | Document) for part in dev):
        texts, gold = dev
        return cast(Several, texts), cast(Iterable[Any], gold)
    return cast(Several, dev), None


def _document(item: object, i: int, name: str) -> Document:
    if isinstance(item, Document):
        return item
    if isinstance(item, str):
        return Document(str(item))
    if (record := _record(item)) is not None:
        try:
            return from_record(record)
        except DataError as error:
            raise DataError(f"item {i} of {name}: {error.message}") from None
    if item is None or type(item).__name__ == "NAType" or (isinstance(item, float) and math.isnan(item)):
        advice = f"leave such rows out, as {name}.dropna() does"
        raise DataError(f"item {i} of {name} is missing, expected a text; {advice}")
    raise UsageError(f"item {i} of {name} is {_short(item)}, expected a text, a Document or a record")


def _record(item: object) -> Any:
    """Return the record of an item (a dictionary, a pair or a list of words) as plain values; ``None`` for others."""
    if isinstance(item, Mapping):
        return _plain(item) if _is_record(dict(item)) else None
    if not isinstance(item, tuple | list):
        return None
    plain = _plain(item)
    if some(plain, str):
        return {"tokens": plain}
    return plain if some(plain, list) or as_object(plain) is not plain else None


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; numbers of NumPy become those of Python, and mentions become records."""
    if isinstance(value, Mention):
        return mention_record(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list | set) or getattr(value, "ndim", False):
        return [_plain(part) for part in value]
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    return value.item() if hasattr(value, "item") else value


def _items(X: object, name: str) -> Iterable[Any]:
    if hasattr(X, "iterchunks"):  # a column of an Arrow table
        return (item for chunk in X.iterchunks() for item in chunk.to_pylist())
    if hasattr(X, "to_pylist") and not hasattr(X, "column_names"):  # an Arrow array
        return cast(Iterable[Any], X.to_pylist())
    if (columns := getattr(X, "column_names", getattr(X, "columns", None))) is not None:
        names = ", ".join(map(str, columns)) if isinstance(columns, Iterable) else ""
        raise UsageError(f"{name} is a {_named(X)}; name the column that holds its texts, as {name}[...]: {names}")
    if isinstance(X, bytes | Mapping) or not isinstance(X, Iterable):
        path = "; spanloom.read(...) gives the documents of files" if hasattr(X, "__fspath__") else ""
        raise UsageError(f"{name} is {_short(X)}, {_EXPECTED}{path}")
    return X


def _mentions(values: list[Any], document: Document, i: int) -> list[Mention]:
    """Return the mentions of a text, given in any form."""
    if values and all(isinstance(value, str) for value in values):
        words = {} if document.tokens is None else {"tokens": document.words}
        found = _of_record({"text": document.text, **words, "tags": values}, i)
        if not found and any(value != "O" for value in values):
            raise UsageError(f"item {i} of y is a list of texts, expected {MENTIONS}, or a tag for each word")
    elif len(typed := [mention for mention in map(_typed, values) if mention is not None]) == len(values):
        found = typed
    else:
        items = [_plain(value) for value in values]
        odd = next((place for place, item in enumerate(items) if not entries_of([item], "y", PRESUMED).entries), None)
        if odd is not None:
            raise UsageError(f"item {i} of y holds {_short(values[odd])}, expected {MENTIONS}")
        found = _of_record({"text": document.text, "entities": items}, i)
    for mention in found:
        if not all(0 <= start < end <= len(document.text) for start, end in mention.spans):
            places = ", ".join(f"{start}-{end}" for start, end in mention.spans)
            message = f"item {i} of y: the mention of type {clip(mention.type)} at {places} does not lie in its text of"
            raise DataError(f"{message} {len(document.text)} characters; give start and end as text[start:end]")
    return found


def _of_record(record: dict[str, Any], i: int) -> list[Mention]:
    try:
        return from_record(record).mentions
    except DataError as error:
        raise DataError(f"item {i} of y: {error.message}") from None


def _typed(value: object) -> Mention | None:
    """Return a mention, or that of ``(type, start, end)``; ``None`` for another value."""
    match value:
        case [str(kind), start, end] if hasattr(start, "__index__") and hasattr(end, "__index__"):
            return Mention(kind, [(int(start), int(end))])
    return value if isinstance(value, Mention) else None


def _named(value: object) -> str:
    return type(value).__name__


def _short(value: object) -> str:
    """Return a value's type and, if it is short, its text, for error messages."""
    shown = repr(value).partition("\n")[0]
    return f"the {_named(value)} {shown}" if len(shown) <= 40 else f"a {_named(value)}"


# Mentions as columns of a table in memory, and back: for pandas, Polars, Arrow, or any mapping of columns.
#
# None of them is imported: a mapping of lists is what their constructors take, and columns of theirs are known by their
# methods.

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
    notices = Notices()
    read = list(accepted(settled(found), notices))
    notices.report(None)
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
    if (twice := next((name for name in _COLUMNS if names.count(name) > 1), None)) is not None:
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
    return [_plain_cell(value) for value in values]


def _plain_cell(value: Any) -> Any:
    """Return a value as JSON has it: what a table writes for one that is missing is ``None``, an array a list."""
    if isinstance(value, list | tuple) or getattr(value, "ndim", False):
        return [_plain_cell(item) for item in value]
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
        if (mention := mention_of(_item(row, f"row {number}"), f"row {number}", Native({}), problems)) is None:
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
