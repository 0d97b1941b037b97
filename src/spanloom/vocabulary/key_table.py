"""Values by 64-bit key: what a `Lexicon` looks texts up in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import ModelError
from spanloom.hashing import Slots
from spanloom.modelfile import ModelPart
from spanloom.native import Kernel
from spanloom.sparse import changes, found_in, places_of

Keys = NDArray[np.uint64]
Places = NDArray[np.int64]
_runs = Kernel("runs")


class Hits(NamedTuple):
    """Texts that fit each of Q texts.

    Args:
        ptr: (Q + 1,) int64.
        name: (hits,) int32; ascending for each text, or best first where there are scores.
        score: (hits,) float32, of similarity, or ``None``.
    """

    ptr: Places
    name: NDArray[np.int32]
    score: NDArray[np.float32] | None = None


class Spans(NamedTuple):
    """Runs of tokens that have a key, in the order of their first tokens, the shorter before the longer.

    Args:
        first, end: (S,) int64, half-open.
        ptr: (S + 1,) int64, where the texts of each run begin in ``name``.
        name: (hits,) int32, ascending for each run.
    """

    first: Places
    end: Places
    ptr: Places
    name: NDArray[np.int32]


@dataclass(frozen=True)
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
        return found_in(self.keys, keys)

    @cached_property
    def slots(self) -> Slots:
        """The place of each key, for kernels."""
        return Slots.numbering(self.keys)

    def spans(self, values: Keys, sentences: Places, longest: int) -> Spans:
        """Return the runs of tokens within a sentence that begin and end with a value other than 0, and sum to a key.

        Args:
            values: (T,) of the tokens.
            sentences: (N + 1,) first tokens, and T.
            longest: tokens of a run at most, 1 or more.
        """
        room = len(values) + 16
        while True:
            first, end, key = (np.empty(room, np.int64) for _ in range(3))
            size = _runs(values, sentences, longest, self.keys, *self.slots, first, end, key)
            if size <= room:
                return Spans(first[:size], end[:size], *self.gather(key[:size]))
            room = size

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
        rows, ptr = self.rows(places)
        return ptr, self.values[rows]

    def rows(self, places: Places) -> tuple[Places, Places]:
        """The numbers of the values at some places, and where those of each place begin."""
        sizes = np.where(places >= 0, np.diff(self.ptr, append=self.ptr[-1:])[places], 0)
        return places_of(self.ptr[places], sizes)


Array = NDArray[Any]
Int64s = NDArray[np.int64]


def best_elsewhere(key: Array, value: Array, place: Int64s, sought: Array, at: Int64s) -> Int64s:
    """Return for each question the row of the largest value with its key that is not at its place; -1 for none.

    Args:
        key, value, place: (M,) of each row; of equal values the first counts.
        sought, at: (Q,) key and place of each question.

    >>> key, place = np.array([7, 7, 8], np.uint64), np.array([0, 5, 9])
    >>> best_elsewhere(key, np.array([0.9, 0.4, 0.8]), place, key, place).tolist()
    [1, 0, -1]
    """
    if not len(key) or not len(sought):
        return np.full(len(sought), -1)
    order = np.lexsort((-value, key))
    groups, start, member = np.unique(key[order], return_index=True, return_inverse=True)
    top = order[start]
    others = order[place[order] != place[top][member]]
    second = np.full(len(groups), -1)
    left, start = np.unique(key[others], return_index=True)
    second[np.searchsorted(groups, left)] = others[start]
    group = found_in(groups, sought)
    best = np.where(place[top[group]] == at, second[group], top[group])
    return np.where(group >= 0, best, -1)


# Many strings as two arrays, so that a vocabulary is saved and opened without a parser.


class Strings:
    """A column of S strings.

    Args:
        text: all of them, one behind the other.
        ends: where each ends in ``text``, in characters; shape (S,).

    >>> column = Strings.of(["heart", "", "Mitralklappe"])
    >>> len(column), column[2], column.to_list()
    (3, 'Mitralklappe', ['heart', '', 'Mitralklappe'])
    """

    __slots__ = ("ends", "text")

    def __init__(self, text: str, ends: Int64s) -> None:
        self.text = text
        self.ends = ends

    @classmethod
    def of(cls, strings: Iterable[str]) -> Strings:
        """The column of some strings."""
        values = list(strings)
        return cls("".join(values), np.cumsum([len(value) for value in values], dtype=np.int64))

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: int) -> str:
        return self.text[int(self.ends[number - 1]) if number else 0 : int(self.ends[number])]

    def to_list(self) -> list[str]:
        """All strings."""
        ends = self.ends.tolist()
        return [self.text[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def arrays(self, name: str) -> dict[str, Array]:
        """The column as arrays, ``name.text`` in UTF-8 and ``name.ends``."""
        return {f"{name}.text": np.frombuffer(self.text.encode(), dtype=np.uint8), f"{name}.ends": self.ends}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], name: str) -> Strings:
        """Restore the column of which `arrays` gave these arrays.

        Raises:
            ModelError: an array is missing, or is not from `arrays`.
        """
        raw = take(arrays, f"{name}.text", np.uint8)
        try:
            text = raw.tobytes().decode()
        except UnicodeDecodeError as error:
            raise damaged(f"{name}.text", f"is not UTF-8 ({error.reason})") from None
        return cls(text, take_bounds(arrays, f"{name}.ends", len(text)))


def take(arrays: Mapping[str, Array], name: str, dtype: Any, size: int | None = None) -> Array:
    """An array with one axis.

    Args:
        arrays: all of them.
        name: of the array.
        dtype: of its numbers.
        size: how many there must be, if that is known.

    Raises:
        ModelError: it is missing, is of another kind, or has another length.
    """
    return ModelPart(arrays=arrays).array(name, dtype, size)


def take_bounds(arrays: Mapping[str, Array], name: str, total: int) -> Int64s:
    """Take ends that never decrease, the last of them the total.

    Raises:
        ModelError: the array is missing or invalid.
    """
    ends = take(arrays, name, np.int64)
    steps = np.diff(ends, prepend=0)
    if (steps < 0).any() or steps.sum() != total:
        raise damaged(name, f"does not rise from 0 to {total}")
    return ends


def damaged(name: str, what: str) -> ModelError:
    """The error for an array that cannot be used."""
    return ModelError(f"the array {name!r} {what}: the index is damaged, or of another vocabulary; build it again")
