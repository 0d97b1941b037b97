"""Cosine of character trigrams, over all names at once, by an inverted index.

A text is the bag of the trigrams of its folded words, each word with two blanks before and one behind, so the order of
words does not matter. Trigrams weigh log((M + 1) / n), where n of the M indexed names have them. Two kinds of vectors:

- ``close``: trigrams of the closely folded words;
- ``both``: those, and trigrams of the loosely folded words, and each of these words itself, which counts `WORD` times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import UsageError
from spanloom.hashing import hashes
from spanloom.native import Kernel
from spanloom.sparse import found_in, row_offsets
from spanloom.vocabulary.folding import FoldedPieces, fold_word
from spanloom.vocabulary.key_table import Hits, damaged, take
from spanloom.vocabulary.store import take_numbers, take_ptr

_vectors, _nearest = Kernel("vectors"), Kernel("nearest")
KINDS: Final = ("close", "both")
WORD: Final = 2.0
_LOW: Final = np.uint64(21)  # bits of a code point
_IS_WORD: Final = np.uint64(1 << 63)


class Vectors(NamedTuple):
    """Q sparse vectors of length 1, or 0 for a text without words.

    Args:
        ptr: (Q + 1,) int64.
        features: int64, numbers of `TermWeights`.
        weights: float32.
    """

    ptr: NDArray[np.int64]
    features: NDArray[np.int64]
    weights: NDArray[np.float32]


class TermWeights:
    """The features that names have, and their weights.

    Args:
        kind: of the vectors: ``close`` or ``both``.
        codes: (features,) uint64, ascending.
        weights: (features,) float32.
        other: the weight of a feature that no name has.
    """

    def __init__(self, kind: str, codes: NDArray[np.uint64], weights: NDArray[np.float32], other: float) -> None:
        if kind not in KINDS:
            raise UsageError(f"found the kind of vectors {kind!r}, expected one of {', '.join(KINDS)}")
        self.kind, self.codes, self.weights, self.other = kind, codes, weights, np.float32(other)

    @classmethod
    def of(cls, kind: str, words: FoldedPieces) -> TermWeights:
        """The weights for some names."""
        blank = cls(kind, np.zeros(0, np.uint64), np.zeros(0, np.float32), 1)
        codes, ptr, numbers, _ = blank._count(words)
        frequency = np.bincount(numbers, minlength=len(codes))
        size = np.float64(len(ptr))  # M + 1
        return cls(kind, codes, np.log(size / np.maximum(frequency, 1)).astype(np.float32), float(np.log(size)))

    def vectors(self, words: FoldedPieces) -> Vectors:
        """Texts as vectors; a feature that no name has counts in the length only."""
        codes, ptr, numbers, counts = self._count(words)
        known = found_in(self.codes, codes)
        weights = np.append(self.weights, self.other)[known]
        values = (counts * weights[numbers]).astype(np.float32)
        owner = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
        length = np.sqrt(np.bincount(owner, values.astype(np.float64) ** 2, len(ptr) - 1))
        keep = known[numbers] >= 0
        kept = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep)])
        return Vectors(
            kept[ptr], known[numbers][keep], (values / np.maximum(length, 1e-30)[owner]).astype(np.float32)[keep]
        )

    def _count(
        self, words: FoldedPieces
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Codes of all features that occur; and for each text which it has (numbers of codes), and how often."""
        word_ptr, raw, amounts = word_features(words.distinct, self.kind)
        codes, numbers = np.unique(raw, return_inverse=True)
        sizes = np.diff(word_ptr)[words.ids]
        room = int(sizes.sum())
        ptr = np.empty(len(words.ptr), np.int64)
        features, counts = np.empty(room, np.int64), np.empty(room, np.float32)
        _vectors(words.ids, words.ptr, word_ptr, numbers.astype(np.int64), amounts, len(codes), ptr, features, counts)
        return codes, ptr, features[: ptr[-1]].copy(), counts[: ptr[-1]].copy()


def word_features(words: Sequence[str], kind: str) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float32]]:
    """The features of each of D words: where they begin (D + 1,), their codes, how often each counts.

    A trigram's code is its three code points, 21 bits each; a word's is its hash with the highest bit set.

    >>> ptr, codes, counts = word_features(["Renal"], "both")
    >>> "".join(chr(int(codes[2]) >> shift & 0x1FFFFF) for shift in (42, 21, 0)), ptr.tolist(), counts.tolist()[-2:]
    ('ren', [0, 14], [1.0, 2.0])
    """
    folded = list(map(fold_word, words))
    parts = [close + loose if kind == "both" else close for close, loose in folded]
    whole = [loose if kind == "both" else [] for _, loose in folded]
    sizes = (np.array([len(one) for one in several], np.int64) for several in (parts, whole))
    owners, whole_owners = (np.repeat(np.arange(len(words)), own) for own in sizes)
    trigram_owners, codes = _trigrams(list(chain.from_iterable(parts)), owners)
    owner = np.concatenate([trigram_owners, whole_owners])
    codes = np.concatenate([codes, hashes(list(chain.from_iterable(whole))) | _IS_WORD])
    counts = np.ones(len(codes), np.float32)
    counts[len(trigram_owners) :] = WORD
    order = np.argsort(owner, kind="stable")
    ptr = np.searchsorted(owner[order], np.arange(len(words) + 1)).astype(np.int64)
    return ptr, codes[order], counts[order]


def _trigrams(texts: Sequence[str], owners: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """The trigrams of all texts, with the owners of the texts."""
    if not texts:
        return np.zeros(0, np.int64), np.zeros(0, np.uint64)
    joined = "".join(f"  {text} " for text in texts)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.dtype("<u4")).astype(np.uint64)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts)) + 3
    last = np.zeros(len(points), np.bool_)  # of each text the last two places begin no trigram
    ends = np.cumsum(sizes)
    last[ends - 1] = last[ends - 2] = True
    codes = points[:-2] << (_LOW + _LOW) | points[1:-1] << _LOW | points[2:]
    return np.repeat(owners, sizes)[~last], codes[~last[:-2]]


@dataclass(frozen=True, slots=True)
class CosineIndex:
    """An inverted index of rows: names of concepts.

    Args:
        weights: of the features.
        row_concept: (rows,) int32, ascending: the concept of each row.
        ptr: (features + 1,) int64, where the postings of each feature begin.
        postings: int32, rows, ascending for each feature.
        values: float32, the feature's value in the row's vector.
    """

    weights: TermWeights
    row_concept: NDArray[np.int32]
    ptr: NDArray[np.int64]
    postings: NDArray[np.int32]
    values: NDArray[np.float32]

    @classmethod
    def build(cls, words: FoldedPieces, row_concept: NDArray[np.int32], weights: TermWeights) -> CosineIndex:
        """An index of rows.

        Args:
            words: their texts.
            row_concept: their concepts, ascending.
            weights: of the features; those that it lacks count in the length only.

        >>> from spanloom.vocabulary.folding import pieces
        >>> words = pieces(["renal failure", "heart failure"])
        >>> index = CosineIndex.build(words, np.array([0, 1], np.int32), TermWeights.of("close", words))
        >>> found = index.find(index.weights.vectors(pieces(["failure of the heart", "renal"])), 2)
        >>> found.ptr.tolist(), found.name.tolist(), [round(score, 2) for score in found.score.tolist()]
        ([0, 2, 3], [1, 0, 0], [1.0, 0.15, 0.92])
        """
        vectors = weights.vectors(words)
        order = np.argsort(vectors.features, kind="stable")
        rows = np.repeat(np.arange(len(row_concept), dtype=np.int32), np.diff(vectors.ptr))
        ptr = row_offsets(vectors.features, len(weights.codes))
        return cls(weights, row_concept, ptr, rows[order], vectors.weights[order])

    def find(self, vectors: Vectors, k: int) -> Hits:
        """The rows of the k nearest concepts of some texts, by each one's nearest name; exact, cosines above 0 only."""
        size = len(vectors.ptr) - 1
        ptr, rows, scores = np.empty(size + 1, np.int64), np.empty(size * k, np.int32), np.empty(size * k, np.float32)
        _nearest(*vectors, self.ptr, self.postings, self.values, self.row_concept, k, ptr, rows, scores)
        return Hits(ptr, rows[: ptr[-1]].copy(), scores[: ptr[-1]].copy())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that it holds, to be saved."""
        weights = self.weights
        postings: dict[str, NDArray[Any]] = {"ptr": self.ptr, "postings": self.postings, "values": self.values}
        return {"codes": weights.codes, "weights": weights.weights, "other": np.array([weights.other]), **postings}

    @classmethod
    def from_arrays(cls, kind: str, arrays: Mapping[str, NDArray[Any]], row_concept: NDArray[np.int32]) -> CosineIndex:
        """Restore an index from the result of `arrays`, for vectors of this kind and rows of these concepts.

        Raises:
            ModelError: the arrays are not from `arrays`.
        """
        codes = take(arrays, "codes", np.uint64)
        if (codes[1:] <= codes[:-1]).any():
            raise damaged("codes", "is not ascending")
        weights, other = take(arrays, "weights", np.float32, len(codes)), take(arrays, "other", np.float32, 1)
        postings = take_numbers(arrays, "postings", np.int32, len(row_concept))
        values = take(arrays, "values", np.float32, len(postings))
        ptr = take_ptr(arrays, len(codes), len(postings))
        for name, numbers in (("weights", weights), ("other", other), ("values", values)):
            if not np.isfinite(numbers).all():
                raise damaged(name, "holds numbers that are not finite")
        return cls(TermWeights(kind, codes, weights, float(other[0])), row_concept, ptr, postings, values)
