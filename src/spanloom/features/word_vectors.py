"""Word vectors as dense columns: real numbers of the words around a token.

A word is looked up unchanged, in lower case, and in lower case with every digit as 0; the words of the file are folded
in the same way. A word without a vector gets 0, which is the mean of the training text's words, and an indicator
column. The weight of that column in each role is the learned score of an unknown word. The objective stays convex,
which it would not be with a learned vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from spanloom.document import Batch
from spanloom.errors import DataError, ModelError
from spanloom.features.columns import lower, normal
from spanloom.features.letter_case import feature_tokens
from spanloom.hashing import Int32, Int64, UInt64, hashes, intern, mixed
from spanloom.modelfile import Array, ModelPart
from spanloom.sparse import found_in

VECTOR_COLUMN: Final = "vector"
LENGTH: Final = 1.0
"""Root of the mean squared length of the vectors at the words of the training text: that of one binary feature."""
_FOLDED: Final = 1  # seed of the keys of folded words
_DIGITS: Final = str.maketrans("123456789", "000000000")

Table = NDArray[np.floating[Any]] | NDArray[np.int8]
Float32 = NDArray[np.float32]


class Dense(NamedTuple):
    """Dense columns of T tokens: at each of P positions a row of a table, side by side, (T, P D).

    Args:
        table: (V, D) float32.
        rows: (T, P) int32, rows of the table.
    """

    table: Float32
    rows: Int32

    @property
    def width(self) -> int:
        """The number of columns, P D."""
        return int(self.rows.shape[1] * self.table.shape[1])

    def at(self, token: int) -> Float32:
        """Return the values at a token, (P, D)."""
        found: Float32 = self.table[self.rows[token]]
        return found


class TokenVectors(Protocol):
    """A source of dense columns: vectors of words, or of tokens in their sentence."""

    @property
    def size(self) -> int:
        """The numbers of a vector, D."""

    def columns(self, batch: Batch, positions: Sequence[int]) -> Dense:
        """Return the vectors at P positions around each of T tokens, with marks of missing ones, (T, P (D + 1))."""

    def share(self, words: Iterable[str]) -> float | None:
        """Return the share of words that have a vector, 0 to 1; ``None`` where words are not looked up."""

    def describe(self) -> str:
        """Describe them for `spanloom inspect`."""

    def to_part(self) -> ModelPart:
        """Return them as a part of a model file."""


class Grid(NamedTuple):
    """How vectors of 8 bits are decoded: a number is multiplied by the scale of its column, and its shift is added.

    Args:
        scale, shift: (D,) float32.
    """

    scale: Float32
    shift: Float32


class WordVectors:
    """Vectors of words.

    Args:
        keys: hashes of words, and of folded words with a seed, ascending.
        rows: int32, the vector of each key.
        table: (V, D); in a model of half precision, or of 8 bits with a grid.
        grid: how numbers of 8 bits are decoded.

    >>> vectors = WordVectors.of(["pain", "IL-2"], np.eye(2))
    >>> vectors.find(["pain", "Pain", "il-4", "fever"]).tolist()
    [0, 0, 1, -1]
    """

    def __init__(self, keys: UInt64, rows: Int32, table: Table, grid: Grid | None = None) -> None:
        self.keys, self.rows, self.table, self.grid = keys, rows, table, grid

    @classmethod
    def of(cls, words: Sequence[str], vectors: Table) -> WordVectors:
        """Return the vectors of distinct words, (V, D)."""
        folded: dict[str, int] = {}
        for row, word in enumerate(words):
            folded.setdefault(_fold(word), row)
        # a word in lower case that its folded form finds needs no key
        own = [row for row, word in enumerate(words) if _lower(word) != word or folded[_fold(word)] != row]
        keys = np.concatenate([hashes([words[row] for row in own]), mixed(_FOLDED, hashes(list(folded)))])
        rows = np.array([*own, *folded.values()], np.int32)
        keys, first = np.unique(keys, return_index=True)
        return cls(keys, rows[first], vectors)

    @classmethod
    def english(cls) -> WordVectors:
        """Return the vectors that come with Spanloom: of frequent English words, general and biomedical.

        >>> vectors = WordVectors.english()
        >>> (vectors.find(["Infarction", "Tuesday", "xyzzyq"]) >= 0).tolist()
        [True, True, False]
        """
        return cls.from_part(ModelPart({}, load_file(str(files("spanloom.data") / "english.safetensors"))))

    def __len__(self) -> int:
        """Return the number of vectors, V."""
        return len(self.table)

    def at(self, rows: Int32) -> Float32:
        """Return the vectors of some rows, (R, D)."""
        found = self.table[rows].astype(np.float32)
        return found if self.grid is None else found * self.grid.scale + self.grid.shift

    @property
    def size(self) -> int:
        """The numbers of a vector, D."""
        return int(self.table.shape[1])

    def find(self, words: Sequence[str]) -> Int32:
        """Return the row of each word's vector, or -1."""
        found = self._rows(hashes(words))
        for form, seed in ((_lower, None), (_fold, _FOLDED)):
            missing = np.flatnonzero(found < 0)
            keys = hashes([form(words[i]) for i in missing.tolist()])
            found[missing] = self._rows(keys if seed is None else mixed(seed, keys))
        return found

    def _rows(self, keys: UInt64) -> Int32:
        place = found_in(self.keys, keys)
        return np.where(place >= 0, self.rows[place], np.int32(-1))

    def share(self, words: Iterable[str]) -> float:
        """Return the share of the words of a text that have a vector, 0 to 1; 1 where there is no word."""
        counts = Counter(words)
        known = self.find(list(counts)) >= 0
        return float(np.fromiter(counts.values(), float)[known].sum() / max(1, counts.total())) if counts else 1.0

    def standardized(self, words: Iterable[str]) -> WordVectors:
        """Return the same words with vectors of mean 0 and root mean squared length `LENGTH` at the words of a text.

        All are moved by one vector and multiplied by one number, so what is near stays near. They are rounded to half
        precision here, before training, so that a stored model is the one that was trained.

        Args:
            words: of the training text; those without a vector do not count.

        Raises:
            DataError: a vector is too long beside those of the text.
        """
        counts = Counter(words)
        found = self.find(list(counts))
        times = np.fromiter(counts.values(), float)[found >= 0]
        own = self.at(found[found >= 0]).astype(float)
        total = times.sum() or 1.0
        mean = np.einsum("v,vd->d", times, own) / total
        own -= mean
        spread = np.sqrt(np.einsum("v,vd,vd->", times, own, own) / total) or 1.0
        moved, factor = mean.astype(np.float32), np.float32(LENGTH / spread)
        if self.grid is not None:
            grid = Grid(self.grid.scale * factor, (self.grid.shift - moved) * factor)
            return WordVectors(self.keys, self.rows, self.table, grid)
        table = (self.table - moved) * factor
        largest = float(np.abs(table).max(initial=0))
        if not largest < float(np.finfo(np.float16).max):  # half precision would not hold the number itself
            raise DataError(
                f"found a vector with a number {largest:g} times as large as is usual at the words of the training "
                "text, expected fewer than 65,504 times; leave such vectors out"
            )
        return WordVectors(self.keys, self.rows, table.astype(np.float16))

    def columns(self, batch: Batch, positions: Sequence[int]) -> Dense:
        """Return the vectors at some positions around each token, and whether a word there is unknown.

        Args:
            batch: T tokens.
            positions: P distances to the right of the token; outside the sentence all columns are 0.
        """
        tokens = feature_tokens(batch)
        ids, _, first = intern(tokens.codes, tokens.starts, tokens.ends)
        bounds = zip(tokens.starts[first].tolist(), tokens.ends[first].tolist(), strict=True)
        found = self.find([tokens.text[start:end] for start, end in bounds])
        table = np.zeros((len(found) + 1, self.size + 1), np.float32)
        known = np.flatnonzero(found >= 0)
        table[known, :-1] = self.at(found[known])
        table[np.flatnonzero(found < 0), -1] = 1
        return Dense(table, around(ids, batch.sentences, positions, len(found)))

    def describe(self) -> str:
        """Describe them for `spanloom inspect`."""
        return f"{len(self):,} words, {self.size} numbers each"

    def to_part(self) -> ModelPart:
        """Return the arrays of a model file; they hold no word."""
        arrays: dict[str, Array] = {"vector_keys": self.keys, "vector_rows": self.rows}
        if self.grid is None:
            return ModelPart({}, arrays | {"vectors": self.table.astype(np.float16, copy=False)})
        scale, shift = self.grid
        return ModelPart({}, arrays | {"vectors": self.table, "vector_scale": scale, "vector_shift": shift})

    @classmethod
    def from_part(cls, part: ModelPart) -> WordVectors:
        """Return what `to_part` gave.

        Raises:
            ModelError: inconsistent arrays.
        """
        grid = None
        if "vector_scale" in part.arrays:
            table: Table = part.array("vectors", np.int8, None, None)
            names = ("vector_scale", "vector_shift")
            grid = Grid(*(part.array(name, np.float32, table.shape[1]) for name in names))
        else:
            table = part.array("vectors", np.float16, None, None)
        keys = part.array("vector_keys", np.uint64, None)
        rows = part.array("vector_rows", np.int32, len(keys))
        if not len(keys) or (keys[1:] <= keys[:-1]).any() or rows.min() < 0 or rows.max() >= len(table):
            raise ModelError("keys of word vectors are not in order, or name vectors that are not there")
        return cls(keys, rows, table, grid)


def around(ids: Int32, sentences: Int64, positions: Sequence[int], outside: int) -> Int32:
    """Return the numbers (T, P) of the tokens at some positions around each token.

    Args:
        ids: (T,) the number of each token's word.
        sentences: (N + 1,) the first token of each sentence.
        positions: P distances to the right.
        outside: the number where the sentence has no such token.

    >>> around(np.array([5, 6, 7], np.int32), np.array([0, 2, 3]), [-1, 0], 9).tolist()
    [[9, 5], [5, 6], [9, 7]]
    """
    lengths = np.diff(sentences)
    first, end = np.repeat(sentences[:-1], lengths), np.repeat(sentences[1:], lengths)
    rows = np.full((len(ids), len(positions)), outside, np.int32)
    for column, distance in enumerate(positions):
        at = np.arange(len(ids)) + distance
        inside = np.flatnonzero((at >= first) & (at < end))
        rows[inside, column] = ids[at[inside]]
    return rows


def _lower(word: str) -> str:
    """Return a word as `lower` does; most words are ASCII."""
    return word.lower() if word.isascii() else lower(word)


def _fold(word: str) -> str:
    """Return a word as `normal` does; most words are ASCII."""
    return word.lower().translate(_DIGITS) if word.isascii() else normal(word)
