"""The tokens of a batch as code points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.features import columns
from spanloom.hashing import Int32, Int64, UInt64, code_points, hash_values, intern

_ASCII: Final = 127
_LARGE: Final = 1 << 17  # tokens of a batch of which nothing is kept
T = TypeVar("T")


class CharacterTable(NamedTuple):
    """Properties of ASCII and of the other code points that occur, from Python's Unicode tables; 0 of others.

    Args:
        maps: (4, code points) uint32: itself, its lower case, the same with digits as 0, and its kind in a word shape
            (below 128).
        flags: (code points,) uint8: bits of UPPER, TITLE, LOWER, DIGIT, ALNUM, MARK.
    """

    maps: NDArray[np.uint32]
    flags: NDArray[np.uint8]


class Tokens(NamedTuple):
    """The tokens of a batch, one after the other.

    Args:
        text: all documents' texts, joined.
        codes: its code points (uint32).
        starts, ends: (T,) each token in ``codes``.
        plain: whether the text is that of the documents, in its own letter case.
    """

    text: str
    codes: NDArray[np.uint32]
    starts: Int64
    ends: Int64
    plain: bool = True


def once(batch: Batch, name: str, make: Callable[[], T]) -> T:
    """Return what is made of a batch's tokens; the same object the next time, unless the batch is as large as a corpus.

    Args:
        batch: whose tokens they are.
        name: of what is made.
        make: makes it.
    """
    if len(batch.tokens) > _LARGE:
        return make()
    if name not in batch.derived:
        batch.derived[name] = make()
    found: T = batch.derived[name]
    return found


def flatten(batch: Batch) -> Tokens:
    """Return the tokens of a batch in the joined text of its documents.

    >>> from spanloom.document import Document
    >>> tokens = flatten(Batch.of([Document("No pain.", tokens=[[0, 2], [3, 7], [7, 8]], sentences=[[0, 3]])]))
    >>> tokens.starts.tolist(), tokens.ends.tolist()
    ([0, 3, 7], [2, 7, 8])
    """
    text = "".join(document.text for document in batch.documents)
    codes = code_points(text)
    lengths = np.array([len(document.text) for document in batch.documents], np.int64)
    shift = np.repeat(lengths.cumsum() - lengths, np.diff(batch.starts))
    return Tokens(text, codes, batch.tokens[:, 0] + shift, batch.tokens[:, 1] + shift)


class DistinctWords(NamedTuple):
    """The distinct ones of T words.

    Args:
        ids: (T,) the number of each word.
        hashes: of each distinct one.
        starts, ends: where it first occurs in the text.
        characters: properties of the text's code points.
    """

    ids: Int32
    hashes: UInt64
    starts: Int64
    ends: Int64
    characters: CharacterTable

    @classmethod
    def of(cls, tokens: Tokens) -> DistinctWords:
        """Number the words of some tokens in the order of their first occurrence."""
        ids, hashes, first = intern(tokens.codes, tokens.starts, tokens.ends)
        others = tokens.codes.compress(tokens.codes > _ASCII)  # which are few, or all are marked in ten times the time
        highest = int(others.max(initial=_ASCII))
        seen = np.zeros(highest + 1, np.bool_)
        seen[: _ASCII + 1] = seen[others] = True
        points = np.flatnonzero(seen)
        table = np.array([_character(chr(point)) for point in points.tolist()], np.int64).T
        maps, flags = np.zeros((4, highest + 1), np.uint32), np.zeros(highest + 1, np.uint8)
        maps[:, points], flags[points] = table[:4], table[4]
        return cls(ids, hashes, tokens.starts[first], tokens.ends[first], CharacterTable(maps, flags))


class StreamedWords:
    """The distinct words of a stream of batches, numbered as they come.

    Args:
        known: words that have the first numbers.

    >>> from spanloom.document import Document
    >>> words = StreamedWords(["<s>"])
    >>> batch = Batch.of([Document("No, no", tokens=[[0, 2], [2, 3], [4, 6]], sentences=[[0, 3]])])
    >>> words.numbers(batch).tolist(), words.numbers(batch).tolist(), words.words
    ([1, 2, 3], [1, 2, 3], ['<s>', 'No', ',', 'no'])
    """

    def __init__(self, known: Sequence[str] = ()) -> None:
        self.words = list(known)
        self._numbers = dict(zip(hash_values(self.words).tolist(), range(len(self.words)), strict=True))

    def numbers(self, batch: Batch) -> Int64:
        """Return the number of each of a batch's T tokens, (T,)."""
        tokens = flatten(batch)
        ids, hashes, first = intern(tokens.codes, tokens.starts, tokens.ends)
        own = np.empty(len(hashes), np.int64)
        for i, (value, at) in enumerate(zip(hashes.tolist(), first.tolist(), strict=True)):
            own[i] = self._numbers.setdefault(value, len(self.words))
            if own[i] == len(self.words):
                self.words.append(tokens.text[tokens.starts[at] : tokens.ends[at]])
        numbers: Int64 = own[ids]
        return numbers


@lru_cache(maxsize=4096)
def _character(character: str) -> tuple[int, int, int, int, int]:
    low = columns.lower(character)
    upper = character.isupper()
    holds = (
        upper, character.istitle() and not upper, character.islower(), character.isdigit(), character.isalnum(),
        columns.is_mark(character),
    )  # fmt: skip
    flags = sum(true << bit for bit, true in enumerate(holds))
    return ord(character), ord(low), ord(columns.normal(character)), ord(columns.kind(character)), flags
