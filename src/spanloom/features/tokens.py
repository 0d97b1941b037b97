"""A batch of documents as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document
from spanloom.errors import DataError, clip
from spanloom.features import columns
from spanloom.features import kernels_columns as kernels

UInt64 = NDArray[np.uint64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Tokens(NamedTuple):
    """The tokens of a batch of documents, one after the other.

    Args:
        text: all documents' texts, joined.
        codes: its code points (uint32).
        starts, ends: (T,) each token in ``codes``.
        sentences: (N + 1,) first token of each sentence, and T.
    """

    text: str
    codes: NDArray[np.uint32]
    starts: Int64
    ends: Int64
    sentences: Int64


def flatten(documents: Sequence[Document]) -> Tokens:
    """A batch of documents as flat arrays.

    Raises:
        DataError: a document without tokens or sentences, tokens outside its text, or sentences that do not
            partition its tokens.

    >>> tokens = flatten([Document("No pain.", tokens=[[0, 2], [3, 7], [7, 8]], sentences=[[0, 3]])])
    >>> tokens.starts.tolist(), tokens.sentences.tolist()
    ([0, 3, 7], [0, 3])
    """
    for document in documents:
        if document.tokens is None or document.sentences is None:
            missing = "tokens; tokenize it" if document.tokens is None else "sentences; split it into sentences"
            raise DataError(f"document {clip(document.id)} has no {missing} first")
    text = "".join(document.text for document in documents)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4")).astype(np.uint32)
    lengths = np.array([len(document.text) for document in documents], np.int64)
    offsets, sizes = _stack([document.tokens for document in documents])
    bounds, counts = _stack([document.sentences for document in documents])
    length = np.repeat(lengths, sizes)
    if ((offsets[:, 0] < 0) | (offsets[:, 1] < offsets[:, 0]) | (offsets[:, 1] > length)).any():
        _refuse(documents)
    begin, end = np.repeat(sizes.cumsum() - sizes, counts), np.repeat(sizes.cumsum(), counts)
    starts, ends = begin + bounds[:, 0], begin + bounds[:, 1]
    edges = np.concatenate([np.zeros(1, np.int64), ends])
    if ((starts != edges[:-1]) | (starts < begin) | (ends < starts) | (ends > end)).any() or edges[-1] != len(offsets):
        _refuse(documents)
    shift = np.repeat(lengths.cumsum() - lengths, sizes)
    return Tokens(text, codes, offsets[:, 0] + shift, offsets[:, 1] + shift, edges)


def _stack(arrays: Sequence[Int64 | None]) -> tuple[Int64, Int64]:
    given = [array for array in arrays if array is not None]
    rows = np.concatenate(given) if given else np.zeros((0, 2), np.int64)
    return rows, np.array([len(array) for array in given], np.int64)


def _refuse(documents: Sequence[Document]) -> None:
    """Name the first document whose tokens or sentences cannot be."""
    for document in documents:
        tokens = [] if document.tokens is None else document.tokens.tolist()
        for i, (start, end) in enumerate(tokens):
            if not 0 <= start <= end <= len(document.text):
                raise DataError(
                    f"document {clip(document.id)}: token {i} is [{start}, {end}], expected offsets in the text of "
                    f"{len(document.text)} characters; run `spanloom validate`"
                )
        sentences = [] if document.sentences is None else document.sentences.tolist()
        expected = 0
        for first, end in [*sentences, (len(tokens), len(tokens))]:
            if first != expected or not first <= end <= len(tokens):
                raise DataError(
                    f"document {clip(document.id)}: its sentences are not a partition of its {len(tokens)} "
                    "tokens: found "
                    f"[{first}, {end}], expected a sentence from token {expected}; run `spanloom validate`"
                )
            expected = end


def hash_values(values: Sequence[str]) -> UInt64:
    """The hash of each of some *distinct* strings, as `columns.hash_text` gives it; 0, absent, for the empty string."""
    text = "".join(values)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4")).astype(np.uint32)
    lengths = np.array([len(value) for value in values], np.int64)
    ends = lengths.cumsum()
    _, hashes, _ = intern(codes, ends - lengths, ends)
    hashes[lengths == 0] = 0
    return hashes


def intern(codes: NDArray[np.uint32], starts: Int64, ends: Int64) -> tuple[Int32, UInt64, Int64]:
    """Number of each string, and the hash and the first occurrence of each distinct one."""
    size = len(starts)
    ids, slots = np.empty(size, np.int32), np.zeros(1 << (2 * size + 1).bit_length(), np.int32)
    hashes, first = np.empty(size, np.uint64), np.empty(size, np.int64)
    distinct = kernels.intern(codes, starts, ends, ids, slots, hashes, first)
    return ids, hashes[:distinct].copy(), first[:distinct].copy()


def characters(codes: NDArray[np.uint32]) -> kernels.Characters:
    """What Python's Unicode tables say of the code points that occur."""
    highest = int(codes.max()) if len(codes) else 0
    seen = np.zeros(highest + 1, np.bool_)
    seen[codes] = True
    points = np.flatnonzero(seen)
    rows = [_character(chr(point)) for point in points.tolist()]
    maps, flags = np.zeros((4, highest + 1), np.uint32), np.zeros(highest + 1, np.uint8)
    if rows:
        table = np.array(rows, np.int64).T
        maps[:, points], flags[points] = table[:4], table[4]
    return kernels.Characters(maps, flags)


def _character(character: str) -> tuple[int, int, int, int, int]:
    low = columns.lower(character)
    flags = (
        kernels.UPPER * character.isupper()
        | kernels.TITLE * (character.istitle() and not character.isupper())
        | kernels.LOWER * character.islower()
        | kernels.DIGIT * character.isdigit()
        | kernels.ALNUM * character.isalnum()
        | kernels.MARK * columns.is_mark(character)
    )
    return ord(character), ord(low), ord(columns.normal(character)), ord(columns.kind(character)), flags
