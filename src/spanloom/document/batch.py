"""Documents as arrays, made once for features, models and the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pkgutil import resolve_name
from string import ascii_letters, digits
from typing import Any, Final, NamedTuple, overload

import numpy as np

from spanloom.document.document import Document, Offsets
from spanloom.errors import DataError, clip
from spanloom.parallel import grouped, whole_ranges


class SentenceNumber(NamedTuple):
    """Number of a sentence's document in the batch, and of the sentence in the document."""

    document: int
    sentence: int


class Picked(Sequence[Document]):
    """Some documents of others, which stay where they are.

    Args:
        documents: the others.
        numbers: of those that are picked.
    """

    def __init__(self, documents: Sequence[Document], numbers: Sequence[int]) -> None:
        self._documents, self._numbers = documents, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> Document: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Document]: ...

    def __getitem__(self, at: int | slice) -> Document | Sequence[Document]:
        if isinstance(at, slice):
            return Picked(self._documents, self._numbers[at])
        return self._documents[self._numbers[at]]


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """D documents with T tokens in N sentences.

    The tokens are those of the documents, or smaller ones, such as characters.

    Args:
        documents: the documents, unchanged.
        tokens: (T, 2) start and end of each token in the text of its document.
        sentences: (N + 1,) first token of each sentence, and T.
        firsts: (D + 1,) first sentence of each document, and N.
        columns: values of columns, one for each of the T tokens, in place of those of the documents.

    Attributes: ``derived``, what was computed from the tokens and is kept, by name.

    >>> batch = Batch.of([Document("No pain.", tokens=[[0, 2], [3, 7], [7, 8]], sentences=[[0, 3]])])
    >>> batch.sentences.tolist(), batch.firsts.tolist(), batch.words
    ([0, 3], [0, 1], ['No', 'pain', '.'])
    """

    documents: Sequence[Document]
    tokens: Offsets
    sentences: Offsets
    firsts: Offsets
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    derived: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Batch:
        """Make the arrays of prepared documents.

        Raises:
            DataError: a document without tokens or sentences, tokens outside its text, or sentences that do not
                partition its tokens.
        """
        given, bounded = [np.zeros((0, 2), np.int64)], [np.zeros((0, 2), np.int64)]
        for document in documents:
            if document.tokens is None or document.sentences is None:
                missing = "tokens; tokenize it" if document.tokens is None else "sentences; split it into sentences"
                raise DataError(f"document {clip(document.id)} has no {missing} first")
            given.append(document.tokens)
            bounded.append(document.sentences)
        tokens, bounds = np.concatenate(given), np.concatenate(bounded)
        lengths = np.array([len(document.text) for document in documents], np.int64)
        sizes, counts = (np.array([len(rows) for rows in arrays[1:]], np.int64) for arrays in (given, bounded))
        length = np.repeat(lengths, sizes)
        if ((tokens[:, 0] < 0) | (tokens[:, 1] < tokens[:, 0]) | (tokens[:, 1] > length)).any():
            _refuse(documents)
        begin, end = np.repeat(sizes.cumsum() - sizes, counts), np.repeat(sizes.cumsum(), counts)
        firsts, ends = begin + bounds[:, 0], begin + bounds[:, 1]
        offsets = np.concatenate([np.zeros(1, np.int64), ends])
        apart = (firsts != offsets[:-1]) | (firsts < begin) | (ends < firsts) | (ends > end)
        if apart.any() or offsets[-1] != len(tokens):
            _refuse(documents)
        return cls(tuple(documents), tokens, offsets, np.append(0, counts.cumsum()))

    @property
    def starts(self) -> Offsets:
        """(D + 1,) first token of each document, and T."""
        return np.asarray(self.sentences[self.firsts], np.int64)

    @property
    def owners(self) -> Offsets:
        """(T,) number of the document of each token."""
        return np.repeat(np.arange(len(self.documents)), np.diff(self.starts))

    def token_ranges(self, documents: Offsets, spans: Offsets) -> tuple[Offsets, Offsets]:
        """Return the first token and the end of spans, counted in the batch; T and 0 where none begins or ends so.

        Args:
            documents: (S,) number of the document of each span.
            spans: (S, 2) characters.

        >>> batch = Batch.of([Document("No pain.", tokens=[[0, 2], [3, 7], [7, 8]], sentences=[[0, 3]])])
        >>> batch.token_ranges(np.zeros(2, int), np.array([[0, 7], [4, 8]]))
        (array([0, 3]), array([2, 3]))
        """
        size = 1 + max(self.tokens.max(initial=0), spans.max(initial=0))
        found = []
        for side, none in ((0, len(self.tokens)), (1, -1)):
            places = np.append(self.owners * size + self.tokens[:, side], -1)
            order = np.argsort(places, kind="stable")
            sought = documents * size + spans[:, side]
            at = order[np.searchsorted(places, sought, side="right", sorter=order) - 1]
            found.append(np.where(places[at] == sought, at, none))
        return found[0], found[1] + 1

    @property
    def words(self) -> list[str]:
        """The text of each token."""
        return list(self.stream_words())

    def stream_words(self) -> Iterator[str]:
        """Yield the text of each token."""
        for document, (first, last) in zip(self.documents, pairwise(self.starts.tolist()), strict=True):
            text = document.text
            yield from (text[start:end] for start, end in self.tokens[first:last].tolist())

    def has(self, column: str) -> bool:
        """Return whether all documents that have tokens have a column."""
        return column in self.columns or not any(self.lacking(column))

    def lacking(self, column: str) -> Iterator[Document]:
        """Yield the documents with tokens that lack a column."""
        if column not in self.columns:
            for document, size in zip(self.documents, np.diff(self.starts).tolist(), strict=True):
                if size and column not in document.columns:
                    yield document

    def column(self, name: str) -> Sequence[str]:
        """Return the T values of a column that all documents have.

        Raises:
            DataError: a document has more or fewer values than tokens.
        """
        if name in self.columns:
            return self.columns[name]
        values: list[str] = []
        for document, size in zip(self.documents, np.diff(self.starts).tolist(), strict=True):
            values.extend(column_of(document, name, size) if size else ())
        return values

    def with_columns(self, columns: Mapping[str, Sequence[str]]) -> Batch:
        """Return the batch with further columns of T values each."""
        return replace(self, columns={**self.columns, **columns})

    def take(self, rows: Sequence[int]) -> Batch:
        """Return some of the documents; those that are not in memory stay where they are."""
        starts, firsts = self.starts, self.firsts
        tokens = _ranges(starts, rows)
        lengths = np.diff(self.sentences)[_ranges(firsts, rows)]
        columns = {name: [values[at] for at in tokens.tolist()] for name, values in self.columns.items()}
        documents = self.documents
        return Batch(
            tuple(documents[i] for i in rows) if isinstance(documents, tuple) else Picked(documents, rows),
            self.tokens[tokens], np.append(0, lengths.cumsum()),
            np.append(0, np.diff(firsts)[list(rows)].cumsum()), columns,
        )  # fmt: skip

    def part(self, first: int, end: int) -> Batch:
        """Return documents ``first`` to ``end``; their tokens are not copied."""
        tokens = slice(*self.starts[[first, end]].tolist())
        firsts = self.firsts[first : end + 1]
        return Batch(
            self.documents[first:end], self.tokens[tokens],
            self.sentences[firsts[0] : firsts[-1] + 1] - tokens.start, firsts - firsts[0],
            {name: values[tokens] for name, values in self.columns.items()},
        )  # fmt: skip

    def blocks(self, tokens: int) -> Iterator[Batch]:
        """Return the documents in order, in parts of at most so many tokens; a larger document is a part of its own.

        >>> documents = [Document("a b", tokens=[[0, 1], [2, 3]], sentences=[[0, 2]])] * 3
        >>> [len(part.documents) for part in Batch.of(documents).blocks(5)]
        [2, 1]
        """
        return (self.part(first, end) for first, end in whole_ranges(self.starts, tokens))

    def split(self, values: Sequence[str]) -> Iterator[Sequence[str]]:
        """Yield the part of T values that belongs to each document."""
        return (values[first:last] for first, last in pairwise(self.starts.tolist()))

    def view(self, i: int) -> Document:
        """Return a document with the tokens, sentences and columns of the batch."""
        first, last = self.starts[i : i + 2].tolist()
        bounds = self.sentences[self.firsts[i] : self.firsts[i + 1] + 1] - first
        columns = {name: list(values[first:last]) for name, values in self.columns.items()}
        return self.documents[i].copy(
            tokens=self.tokens[first:last],
            sentences=np.stack([bounds[:-1], bounds[1:]], 1),
            columns={**self.documents[i].columns, **columns},
        )

    def views(self) -> list[Document]:
        """Return `view` of each document."""
        return [self.view(i) for i in range(len(self.documents))]

    def locate(self, sentence: int) -> SentenceNumber:
        """Return the document of a sentence of the batch, and its number there."""
        at = int(np.searchsorted(self.firsts, sentence, side="right")) - 1
        return SentenceNumber(at, sentence - int(self.firsts[at]))


def column_of(document: Document, name: str, size: int) -> list[str]:
    """Return the values of a column that a document of ``size`` tokens has.

    Raises:
        DataError: it has more or fewer values.
    """
    own = document.columns[name]
    if len(own) != size:
        found = f"document {clip(document.id)} has {len(own)} values in column {name!r}"
        raise DataError(f"{found}, expected {size}, one a token")
    return own


_OF_WORDS: Final = (ascii_letters + digits).encode() + bytes(range(0xC2, 0xE0))
"""Letters and digits of ASCII in UTF-8, and the first bytes of characters of two bytes."""


def batches(
    documents: Iterable[Document], tokens: int, ready: Callable[[list[Document]], list[Document]] = list
) -> Iterator[list[Document]]:
    """Return lists of documents of about so many tokens, as ``ready`` makes them; tokens to be made are estimated."""
    return map(ready, grouped(documents, _expected_tokens, tokens))


def _expected_tokens(document: Document) -> int:
    """Return the number of tokens; of a document that is not tokenized, an estimate.

    Each character counts that is no ASCII letter or digit and not of an alphabet whose letters have two bytes in
    UTF-8: an ideograph has three bytes, of which two are more than a character.
    """
    if document.tokens is not None:
        return len(document.tokens)
    data = document.text.encode("utf-8", "replace")
    return len(data.translate(None, _OF_WORDS)) - (len(data) - len(document.text)) + 1


def _ranges(bounds: Offsets, rows: Sequence[int]) -> Offsets:
    """Return the concatenated ranges ``bounds[i]`` to ``bounds[i + 1]`` of some rows i."""
    return np.concatenate([np.zeros(0, np.int64), *(np.arange(bounds[i], bounds[i + 1]) for i in rows)])


def _refuse(documents: Sequence[Document]) -> None:
    """Raise a `DataError` for the first document whose tokens or sentences are invalid, so that it fails alone, too."""
    if len(documents) > 1:
        for document in documents:
            Batch.of([document])
    resolve_name("spanloom.document.validate:checked")(documents[0], "tokens", "sentences")
