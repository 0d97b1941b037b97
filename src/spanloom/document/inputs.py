"""Conversion of the inputs of estimators to documents: a text, a document, several, or a column of a table.

Neither pandas nor pyarrow is imported: a column is recognized by its methods.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar, cast

from spanloom.document.document import Document
from spanloom.document.span import Mention, Span
from spanloom.errors import DataError, UsageError, clip

One: TypeAlias = str | Document
"""A text, or a document."""
Several: TypeAlias = Iterable[str | Document]
"""A list, an iterator, or a column of pandas, Arrow or NumPy."""
Given: TypeAlias = One | Several
Dev: TypeAlias = Given | tuple[Several, Iterable[Any]]
"""Development data: documents that hold their gold, or a pair of texts and gold, as ``X`` and ``y`` are."""

Answer = TypeVar("Answer")

_EXPECTED = "expected a text, a Document, or a list or a column of them"


def is_one(X: object) -> bool:
    """Return whether X is one text or document, for which one result is returned."""
    return isinstance(X, str | Document)


def answer(X: Given, found: Iterable[Answer]) -> Answer | list[Answer]:
    """Return the results for the input X: one ``Answer`` for one text or document, a list otherwise."""
    answers = list(found)
    return answers[0] if is_one(X) else answers


def documents_of(X: Given, name: str = "X") -> Iterator[Document]:
    """Yield the input as documents; a `Document` is passed on unchanged.

    Args:
        X: a text, a document, several of them, or a column of texts.
        name: the name of X in error messages.

    Raises:
        UsageError: at once: a table, a mapping, a path or another value without texts; when it is reached: an item
            that is neither text nor document.
        DataError: when it is reached: an item that is missing.

    >>> [document.text for document in documents_of(["no pain", Document("fever")])]
    ['no pain', 'fever']
    >>> list(documents_of(["no pain", None]))
    Traceback (most recent call last):
    spanloom.errors.DataError: item 1 of X is missing, expected a text; leave such rows out, as X.dropna() does
    """
    if isinstance(X, str | Document):
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


def asked_of(mentions: Iterable[Mention] | None) -> list[Mention] | None:
    """Return the mentions that are asked about; ``None`` for those that the model predicts.

    Raises:
        UsageError: something else than a list of mentions.

    >>> asked_of("problem")
    Traceback (most recent call last):
    spanloom.errors.UsageError: mentions is the str 'problem', expected a list of Mention
    """
    if mentions is None:
        return None
    given: object = mentions
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageError(f"mentions is {_short(given)}, expected a list of Mention")
    found = list(given)
    odd = next((i for i, mention in enumerate(found) if not isinstance(mention, Mention)), None)
    if odd is not None:
        raise UsageError(f"item {odd} of mentions is {_short(found[odd])}, expected a Mention")
    return found


def training_of(X: Given, y: Iterable[Any] | None = None, name: str = "X") -> Iterator[Document]:
    """Yield documents with their gold mentions.

    Args:
        X: as of `documents_of`.
        y: the mentions of each text, each a `Mention` or ``(type, start, end)``, in place of those that documents have;
            ``None`` if documents have them.
        name: the name of X in error messages.

    Raises:
        UsageError: a y of another length, or that holds no lists of mentions.
        DataError: a text that is missing, or a mention outside its text.

    >>> [document] = training_of(["no pain"], [[("problem", 3, 7)]])
    >>> document.mentions[0].spans
    (Span(start=3, end=7),)
    """
    if y is None:
        return documents_of(X, name)
    own = "mentions: a list of Mention or (type, start, end)"
    pairs = paired(X, y, own, name)
    return (
        document.copy(mentions=[_mention(value, document.text, i, own) for value in mentions])
        for i, (document, mentions) in enumerate(pairs)
    )


def paired(X: Given, y: Iterable[Any], own: str, name: str = "X") -> list[tuple[Document, list[Any]]]:
    """Return pairs of a document and its list in ``y``.

    Args:
        own: the expected items of ``y``, in words, for error messages.

    Raises:
        UsageError: a y of another length, or that holds no lists.
    """
    documents = list(documents_of(X, name))
    if isinstance(y, str | bytes | Document | Mapping) or not isinstance(y, Iterable):
        raise UsageError(f"y is {_short(y)}, expected for each text its {own}; development data are given as dev=")
    rows = [y] if is_one(X) else _items(y, "y")
    lists = []
    for i, row in enumerate(rows):
        if isinstance(row, Document):
            raise UsageError(
                f"item {i} of y is a Document, expected for each text its {own}; development data are given as dev="
            )
        if isinstance(row, str | Mention | Mapping) or not isinstance(row, Iterable):
            raise UsageError(f"item {i} of y is {_short(row)}, expected for each text its {own}")
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
    if _missing(item):
        advice = f"leave such rows out, as {name}.dropna() does"
        raise DataError(f"item {i} of {name} is missing, expected a text; {advice}")
    raise UsageError(f"item {i} of {name} is {_short(item)}, expected a text or a Document")


def _items(X: object, name: str) -> Iterable[Any]:
    if hasattr(X, "iterchunks"):  # a column of an Arrow table
        return (item for chunk in X.iterchunks() for item in chunk.to_pylist())
    if hasattr(X, "to_pylist") and not hasattr(X, "column_names"):  # an Arrow array
        return cast(Iterable[Any], X.to_pylist())
    columns = getattr(X, "column_names", getattr(X, "columns", None))
    if columns is not None:
        names = ", ".join(map(str, columns)) if isinstance(columns, Iterable) else ""
        raise UsageError(f"{name} is a {_named(X)}; name the column that holds its texts, as {name}[...]: {names}")
    if isinstance(X, bytes | Mapping) or not isinstance(X, Iterable):
        path = "; spanloom.read(...) gives the documents of files" if hasattr(X, "__fspath__") else ""
        raise UsageError(f"{name} is {_short(X)}, {_EXPECTED}{path}")
    return X


def _mention(value: object, text: str, i: int, own: str) -> Mention:
    if isinstance(value, Mention):
        found = value
    elif (
        isinstance(value, tuple | list)
        and len(value) == 3
        and isinstance(value[0], str)
        and all(hasattr(at, "__index__") for at in value[1:])
    ):
        found = Mention(value[0], (Span(int(value[1]), int(value[2])),))
    else:
        raise UsageError(f"item {i} of y holds {_short(value)}, expected {own}")
    if not all(0 <= start < end <= len(text) for start, end in found.spans):
        raise DataError(
            f"item {i} of y: the mention of type {clip(found.type)} at {_places(found)} does not lie in its text of "
            f"{len(text)} characters; give start and end as text[start:end]"
        )
    return found


def _places(mention: Mention) -> str:
    return ", ".join(f"{start}-{end}" for start, end in mention.spans)


def _missing(item: object) -> bool:
    if isinstance(item, float):
        return math.isnan(item)
    return item is None or type(item).__name__ == "NAType"


def _named(value: object) -> str:
    return type(value).__name__


def _short(value: object) -> str:
    """Return a value's type and, if it is short, its text, for error messages."""
    shown = repr(value).partition("\n")[0]
    return f"the {_named(value)} {shown}" if len(shown) <= 40 else f"a {_named(value)}"
