"""Documents: text, tokens, sentences, columns and mentions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import index
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spanloom.document.markup import shorten
from spanloom.document.span import Mention, Section, Span
from spanloom.errors import DataError, UsageError, clip

Offsets = NDArray[np.int64]
OffsetsLike = Offsets | Sequence[Sequence[int]]
_LISTED = 5  # mentions that are shown
_WHOLE = np.dtype(np.int64)


@dataclass(slots=True, eq=False, repr=False)
class Document:
    """A text with its tokens, sentences, token columns and mentions.

    Only ``text`` is required. Missing fields are ``None`` (tokens, sentences) or empty. Documents are equal
    if all that they hold is; since they can be changed, they cannot be keys of a dictionary. A notebook shows a
    drawing.

    Args:
        text: the exact text; nothing is normalized away.
        id: the document's name.
        tokens: (T, 2) start and end of each token in characters; ``None`` if not tokenized.
        sentences: (N, 2) first token and end token of each sentence, half-open; ``None`` if not split.
        columns: name -> one value for each token, such as ``"pos"``.
        mentions: in no particular order.
        meta: further data of the file.
        sections: named parts of the text, in no particular order; they may lie in one another.

    Raises:
        DataError: a text or an id that is no string, meta or columns that are no dictionary, a mention that is no
            `Mention`, or a section that is no name and span.

    >>> from spanloom import Document, Mention
    >>> document = Document("No acute distress.", tokens=[[0, 2], [3, 8], [9, 17], [17, 18]])
    >>> document.words
    ['No', 'acute', 'distress', '.']
    >>> Document("No acute distress.", id="a", mentions=[Mention("problem", [(3, 17)])])
    Document('No acute distress.', id='a', mentions=[Mention('problem', [(3, 17)])])
    """

    text: str
    id: str = ""
    tokens: Offsets | None = None
    sentences: Offsets | None = None
    columns: dict[str, list[str]] = field(default_factory=dict)
    mentions: list[Mention] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    sections: list[Section] = field(default_factory=list)

    if TYPE_CHECKING:  # what is taken is wider than what is kept

        def __init__(
            self, text: str, id: str = "", tokens: OffsetsLike | None = None, sentences: OffsetsLike | None = None,
            columns: dict[str, list[str]] = ..., mentions: list[Mention] = ..., meta: dict[str, Any] = ...,
            sections: Sequence[tuple[str, Sequence[int]]] = ...,
        ) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise DataError(f"the text of a document is of type {type(self.text).__name__}, expected str")
        if not isinstance(self.id, str):
            raise DataError(f"the id of a document is {shorten(repr(self.id))}, expected a str")
        if type(self.columns) is not dict or type(self.meta) is not dict:
            for name in ("columns", "meta"):
                if not isinstance(value := getattr(self, name), dict):
                    raise DataError(f"{name} of a document is {shorten(repr(value))}, expected a dict")
        for name, offsets in (("tokens", self.tokens), ("sentences", self.sentences)):
            if offsets is not None and not (
                type(offsets) is np.ndarray and offsets.dtype is _WHOLE and offsets.shape[1:] == (2,)
            ):
                setattr(self, name, _pairs(offsets, name))
        if type(self.mentions) is not list or self.mentions:
            given: object = self.mentions
            if not isinstance(given, Sequence):
                raise DataError(
                    f"mentions of a document are {shorten(repr(given))}, expected a list of Mention objects"
                )
            for number, mention in enumerate(given):
                if not isinstance(mention, Mention):
                    expected = "a Mention, such as Mention('problem', [(0, 3)])"
                    raise DataError(f"mentions[{number}] is {shorten(repr(mention))}, expected {expected}")
        if type(self.sections) is not list or self.sections:
            try:
                self.sections = [Section(name, Span(*map(index, span))) for name, span in self.sections]
            except (TypeError, ValueError):
                found = shorten(repr(self.sections))
                message = f"sections of a document are {found}, expected names and spans: [('Plan', (0, 9))]"
                raise DataError(message) from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Document):
            return NotImplemented
        own, others = (
            (d.text, d.id, _listed(d.tokens), _listed(d.sentences), d.columns, d.mentions, d.meta, d.sections)
            for d in (self, other)
        )
        return own == others

    def __repr__(self) -> str:
        parts = [shorten(repr(self.text))]
        if self.id:
            parts.append(f"id={self.id!r}")
        if self.mentions:
            shown = [repr(mention) for mention in self.mentions[:_LISTED]]
            more = len(self.mentions) - len(shown)
            parts.append(f"mentions=[{', '.join(shown)}{f', … {more:,} more' if more else ''}]")
        return f"Document({', '.join(parts)})"

    def _repr_html_(self) -> str:
        """Return the drawing that a notebook shows."""
        return str(resolve_name("spanloom.view.mentions:drawing")(self))

    @property
    def words(self) -> list[str]:
        """The text of each token."""
        return [] if self.tokens is None else [self.text[start:end] for start, end in self.tokens.tolist()]

    @property
    def token_count(self) -> int:
        """The number of tokens; 0 in a document that is not tokenized."""
        return 0 if self.tokens is None else len(self.tokens)

    @property
    def sentence_count(self) -> int:
        """The number of sentences; 0 in a document that is not split."""
        return 0 if self.sentences is None else len(self.sentences)

    def copy(self, **changes: Any) -> Document:
        """Return a copy with lists and dictionaries of its own, and some fields changed."""
        made = object.__new__(Document)  # the dataclass's own `__init__` takes twice the time of all of this
        made.text, made.id, made.tokens, made.sentences = self.text, self.id, self.tokens, self.sentences
        made.columns, made.mentions = self.columns.copy(), list(self.mentions)
        made.meta, made.sections = self.meta.copy(), list(self.sections)
        for name, value in changes.items():
            setattr(made, name, value)
        made.__post_init__()
        return made


def _pairs(offsets: OffsetsLike, name: str) -> Offsets:
    """Return offsets as an array, (N, 2).

    Raises:
        DataError: something else.
    """
    try:
        pairs = np.asarray(offsets)
        if not pairs.size:
            return np.zeros((0, 2), np.int64)
        if pairs.dtype.kind == "O":  # as of a table of pandas
            pairs = np.array(pairs.tolist())
        return pairs.reshape(-1, 2).astype(np.int64, casting="same_kind")
    except (TypeError, ValueError):  # lists of different lengths, or no integers
        found = shorten(repr(offsets))
        raise DataError(f"{name} of a document are {found}, expected pairs of offsets: [(0, 2), (3, 8)]") from None


def check_documents(documents: object, name: str) -> None:
    """Check that a value is a list of documents, or another collection of them.

    Raises:
        UsageError: one document, an iterator such as that of `spanloom.read`, or an item that is not a document.

    >>> check_documents((Document(text) for text in ["no pain"]), "gold")
    Traceback (most recent call last):
    spanloom.errors.UsageError: gold is of type generator, expected a list of documents, as list(read(...)) gives
    """
    if not hasattr(documents, "__len__") or not isinstance(documents, Iterable) or isinstance(documents, str):
        expected = "expected a list of documents, as list(read(...)) gives"
        raise UsageError(f"{name} is of type {type(documents).__name__}, {expected}")
    for number, document in enumerate(documents):
        check_document(document, number, name)


def check_document(document: object, number: int, name: str) -> None:
    """Check that an item of a list is a document.

    Raises:
        UsageError: something else, such as a text.
    """
    if not isinstance(document, Document):
        raise UsageError(f"item {number} of {name} is {shorten(repr(document))}, expected a Document")


def _listed(offsets: Offsets | None) -> list[list[int]] | None:
    return None if offsets is None else offsets.tolist()


def named(document: Document) -> str:
    """Return how a message names a document: by its id, or else by its text.

    >>> named(Document("No pain.", "note-1")), named(Document("No pain."))
    ("document 'note-1'", "text 'No pain.'")
    """
    return f"document {clip(document.id)}" if document.id else f"text {clip(document.text)}"
