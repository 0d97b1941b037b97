"""A dictionary of names by their folded words: exact look-up of texts, and of all runs of tokens in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document
from spanloom.errors import DataError, clip
from spanloom.vocabulary import kernels_candidates as kernels
from spanloom.vocabulary.folding import Pieces, numbered, pieces, text_keys, word_keys
from spanloom.vocabulary.key_table import KeyTable
from spanloom.vocabulary.stored import take_ascending, take_numbers, take_ptr

CLOSE: Final = 0
LOOSE: Final = 1
_DEGREES: Final = ("close", "loose")
_LEAST_BITS, _MOST_BITS = 10, 22


class Hits(NamedTuple):
    """Names that fold like each of Q texts.

    Args:
        ptr: (Q + 1,) int64.
        name: (hits,) int32, ascending for each text.
    """

    ptr: NDArray[np.int64]
    name: NDArray[np.int32]


class Spans(NamedTuple):
    """Runs of tokens that fold like names, in the order of their first tokens, the shorter before the longer.

    Args:
        first, end: (S,) int64, half-open, in the tokens of all documents, one after the other.
        ptr: (S + 1,) int64, where the names of each run begin in ``name``.
        name: (hits,) int32, ascending for each run.
    """

    first: NDArray[np.int64]
    end: NDArray[np.int64]
    ptr: NDArray[np.int64]
    name: NDArray[np.int32]


class Dictionary(NamedTuple):
    """The names of one degree of folding.

    Args:
        table: numbers of names by key.
        bits: (2^b,) uint8, 1 at the upper b bits of each key.
    """

    table: KeyTable
    bits: NDArray[np.uint8]


class FoldedNames:
    """Names by their folded words, closely and loosely; see `spanloom.vocabulary.folding`.

    A name that folds to nothing ("of the") is never found.

    Args:
        names: M strings, or their keys as `text_keys` gives them.

    >>> names = FoldedNames(["Diabetes Mellitus, Type 2", "Renal Neoplasms", "Parkinson Disease"])
    >>> hits = names.find(["type II diabetes mellitus", "kidney tumour", "fever"], LOOSE)
    >>> hits.ptr.tolist(), hits.name.tolist()
    ([0, 1, 2, 2], [0, 1])
    >>> from spanloom.text import prepare
    >>> document = prepare(Document("Four had Parkinson's disease or renal neoplasms."))
    >>> spans = names.spans([document])
    >>> [" ".join(document.words[first:end]) for first, end in zip(spans.first, spans.end)], spans.name.tolist()
    (["Parkinson 's disease", 'renal neoplasms'], [2, 1])
    """

    def __init__(self, names: Sequence[str] | NDArray[np.uint64]) -> None:
        keys = names if isinstance(names, np.ndarray) else text_keys(pieces(names))
        numbers = np.arange(keys.shape[1], dtype=np.int32)
        self._dictionaries = tuple(_with_bits(KeyTable.build(row, numbers)) for row in keys)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], size: int) -> FoldedNames:
        """What `arrays` gave.

        Args:
            arrays: those.
            size: M, the number of names.

        Raises:
            ModelError: they are none that `arrays` gives.
        """
        made = cls.__new__(cls)
        made._dictionaries = tuple(_read(arrays, degree, size) for degree in _DEGREES)
        return made

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that it holds, to be saved."""
        return {
            f"{degree}.{part}": array
            for degree, (table, _) in zip(_DEGREES, self._dictionaries, strict=True)
            for part, array in (("keys", table.keys), ("ptr", table.ptr), ("names", table.values))
        }

    def find(self, texts: Sequence[str] | Pieces, degree: int = CLOSE) -> Hits:
        """The names that fold like some texts.

        Args:
            texts: Q of them.
            degree: ``CLOSE`` or ``LOOSE``; what folds alike closely does so loosely, too.
        """
        words = texts if isinstance(texts, Pieces) else pieces(texts)
        return self.find_keys(text_keys(words)[degree], degree)

    def find_keys(self, keys: NDArray[np.uint64], degree: int = CLOSE) -> Hits:
        """As `find`, of texts whose keys are known: a row of `text_keys`."""
        table = self._dictionaries[degree].table
        return Hits(*table.gather(table.find(keys)))

    def spans(self, documents: Sequence[Document], longest: int = 8, degree: int = CLOSE) -> Spans:
        """All runs of tokens within a sentence that fold like names.

        Punctuation and words that fold to nothing may stand inside a run, and neither begin nor end it.

        Args:
            documents: with tokens and sentences.
            longest: tokens of a run at most, 1 or more.
            degree: ``CLOSE`` or ``LOOSE``.

        Raises:
            DataError: a document without tokens or sentences.
        """
        table, bits = self._dictionaries[degree]
        values, bounds = _values(documents, degree), sentence_bounds(documents)
        room = len(values) + 16
        while True:
            first, end, key = (np.empty(room, np.int64) for _ in range(3))
            size = kernels.runs(values, bounds, longest, table.keys, bits, first, end, key)
            if size <= room:
                break
            room = size
        return Spans(first[:size], end[:size], *table.gather(key[:size]))


def _read(arrays: Mapping[str, NDArray[Any]], degree: str, size: int) -> Dictionary:
    keys, names = take_ascending(arrays, f"{degree}.keys"), take_numbers(arrays, f"{degree}.names", np.int32, size)
    ptr = take_ptr(arrays, f"{degree}.ptr", len(keys), len(names))
    return _with_bits(KeyTable(keys, ptr, names, np.ones(len(names), np.int32)))


def _with_bits(table: KeyTable) -> Dictionary:
    # 32 places a key: one sum in 32 that is no key goes on to the search
    size = min(max(_LEAST_BITS, (32 * len(table.keys)).bit_length()), _MOST_BITS)
    bits = np.zeros(1 << size, np.uint8)
    bits[table.keys >> np.uint64(64 - size)] = 1
    return Dictionary(table, bits)


def _values(documents: Sequence[Document], degree: int) -> NDArray[np.uint64]:
    """The key of each token."""
    distinct, ids = numbered(list(chain.from_iterable(document.words for document in documents)))
    return np.array([word_keys(word)[degree] for word in distinct], np.uint64)[ids]


def sentence_bounds(documents: Sequence[Document]) -> NDArray[np.int64]:
    """(N + 1,) where sentences begin in the tokens of all documents, one after the other.

    Raises:
        DataError: a document without tokens or sentences.
    """
    parts, tokens = [np.zeros(1, np.int64)], 0
    for document in documents:
        if document.tokens is None or document.sentences is None:
            missing = "tokens; tokenize it" if document.tokens is None else "sentences; split it into sentences"
            raise DataError(f"document {clip(document.id)} has no {missing} first")
        parts.append(document.sentences[:, 1] + tokens)
        tokens += len(document.tokens)
    return np.concatenate(parts)
