"""The tokens of a batch as code points, and their numbers and hashes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.features import columns
from spanloom.features import kernels_columns as kernels

UInt64 = NDArray[np.uint64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Tokens(NamedTuple):
    """The tokens of a batch, one after the other.

    Args:
        text: all documents' texts, joined.
        codes: its code points (uint32).
        starts, ends: (T,) each token in ``codes``.
    """

    text: str
    codes: NDArray[np.uint32]
    starts: Int64
    ends: Int64


def flatten(batch: Batch) -> Tokens:
    """Return the tokens of a batch in the joined text of its documents.

    >>> from spanloom.document import Document
    >>> tokens = flatten(Batch.of([Document("No pain.", tokens=[[0, 2], [3, 7], [7, 8]], sentences=[[0, 3]])]))
    >>> tokens.starts.tolist(), tokens.ends.tolist()
    ([0, 3, 7], [2, 7, 8])
    """
    text = "".join(document.text for document in batch.documents)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4")).astype(np.uint32)
    lengths = np.array([len(document.text) for document in batch.documents], np.int64)
    shift = np.repeat(lengths.cumsum() - lengths, np.diff(batch.starts))
    return Tokens(text, codes, batch.tokens[:, 0] + shift, batch.tokens[:, 1] + shift)


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
