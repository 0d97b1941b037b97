"""Values by 64-bit key: what a `Lexicon` looks texts up in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import ModelError
from spanloom.sparse import changes

Keys = NDArray[np.uint64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class KeyTable:
    """Values by key.

    Args:
        keys: (Q,) ascending, distinct.
        ptr: (Q + 1,) where the values of each begin.
        values: int32.
        counts: int32, one for each value.

    Raises:
        ModelError: arrays that do not belong together.
    """

    keys: Keys
    ptr: Places
    values: NDArray[np.int32]
    counts: NDArray[np.int32]

    def __post_init__(self) -> None:
        sound = (
            self.keys.dtype == np.uint64 and self.ptr.dtype == np.int64 and self.values.dtype == np.int32
            and self.counts.dtype == np.int32 and len(self.ptr) == len(self.keys) + 1 and self.ptr[0] == 0
            and self.ptr[-1] == len(self.values) == len(self.counts) and (np.diff(self.ptr) >= 0).all()
            and (self.keys[1:] > self.keys[:-1]).all()
        )  # fmt: skip
        if not sound:
            raise ModelError("a table of phrases does not hold together; the model is damaged")

    @classmethod
    def build(
        cls, keys: Keys, values: NDArray[np.int32], most: int | None = None, counts: NDArray[np.int32] | None = None
    ) -> KeyTable:
        """Return a table from pairs of keys and values; equal pairs are counted, key 0 is left out.

        Args:
            keys: one for each value.
            values: they will be ascending within a key.
            most: keys with more distinct values than this are left out, as they are uninformative.
            counts: the number of occurrences of each pair; 1 by default.

        >>> table = KeyTable.build(np.array([7, 5, 7], np.uint64), np.array([1, 2, 1], np.int32))
        >>> table.keys.tolist(), table.values.tolist(), table.counts.tolist()
        ([5, 7], [2, 1], [1, 2])
        """
        times = np.ones(len(keys), np.int32) if counts is None else counts
        order = np.lexsort((values, keys))[(keys == 0).sum() :]
        keys, values, times = keys[order], np.asarray(values, np.int32)[order], times[order]
        starts = np.flatnonzero(changes(keys, values))
        counts = np.add.reduceat(times, starts, dtype=np.int32) if len(starts) else times
        keys, values = keys[starts], values[starts]
        distinct, sizes = np.unique(keys, return_counts=True)
        if most is not None:
            keep = np.repeat(sizes <= most, sizes)
            values, counts = values[keep], counts[keep]
            distinct, sizes = distinct[sizes <= most], sizes[sizes <= most]
        ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(distinct, ptr, values, counts)

    def find(self, keys: Keys) -> Places:
        """The place of each key, -1 if it is not there."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def gather(self, places: Places) -> tuple[Places, NDArray[np.int32]]:
        """The values at some places, one after the other.

        Args:
            places: P of them, as `find` gives them.

        Returns:
            (P + 1,) where the values of each place begin, and the values; a place of -1 has none.

        >>> table = KeyTable.build(np.array([7, 5, 7], np.uint64), np.array([1, 2, 3], np.int32))
        >>> ptr, values = table.gather(table.find(np.array([7, 6, 5], np.uint64)))
        >>> ptr.tolist(), values.tolist()
        ([0, 2, 2, 3], [1, 3, 2])
        """
        sizes = np.where(places >= 0, np.diff(self.ptr, append=self.ptr[-1:])[places], 0)
        ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        starts = np.repeat(self.ptr[places] - ptr[:-1], sizes)
        return ptr, self.values[starts + np.arange(ptr[-1])]
