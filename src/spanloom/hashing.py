"""The one family of 64-bit hashes: of strings, of values together, and tables of such keys.

A hash is made in steps, one value after the other; 0 means that a value is absent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.native import Kernel

UInt64 = NDArray[np.uint64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
FILLING = 0.6  # of a hash table; above, linear probing takes long
BATCH = 32  # keys that kernels look up together
MULTIPLIER, START = 0x9E3779B97F4A7C15, 0x243F6A8885A308D3
_FINISHER = 0xBF58476D1CE4E5B9
LOW, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)  # of a word of a table: its number, and where the key's part begins
_intern, enter_rows, find_numbers = Kernel("intern"), Kernel("fill"), Kernel("find_numbers")
_MASK = (1 << 64) - 1


def mix(state: int, value: int) -> int:
    """One step of the hash; for a fixed value a bijection of the state, and the other way round."""
    state = ((state ^ value) * MULTIPLIER) & _MASK
    return state ^ (state >> 32)


@lru_cache(maxsize=1 << 14)  # names of templates come again with each batch
def hash_text(text: str) -> int:
    """The 64-bit hash of a string; never 0, which means that a value is absent.

    64 bits are enough: among ten million distinct features, two collide with probability 3e-6.

    >>> hex(hash_text("IL-2"))
    '0xc2beadefcc662023'
    """
    state = START
    for character in text:
        state = mix(state, ord(character))
    return mix(state, _FINISHER) or 1


def hash_values(values: Sequence[str]) -> UInt64:
    """The hash of each of some *distinct* strings, as `hash_text` gives it; 0, absent, for the empty string."""
    codes = code_points("".join(values))
    lengths = np.array([len(value) for value in values], np.int64)
    ends = lengths.cumsum()
    _, hashes, _ = intern(codes, ends - lengths, ends)
    hashes[lengths == 0] = 0
    return hashes


def numbered(words: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct ones of W words in the order of their first occurrence, and (W,) the number of each word.

    >>> distinct, ids = numbered(["no", "fever", "no"])
    >>> distinct, ids.tolist()
    (['no', 'fever'], [0, 1, 0])
    """
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    ids = np.fromiter(map(numbers.__getitem__, words), np.int64, len(words))
    return list(numbers), ids


def hashes(words: Sequence[str]) -> NDArray[np.uint64]:
    """(W,) the hash of each word; see `hash_values`."""
    distinct, ids = numbered(words)
    return hash_values(distinct)[ids]


def code_points(text: str) -> NDArray[np.uint32]:
    """The characters of a text as numbers."""
    if text.isascii():  # in a quarter of the time
        return np.frombuffer(text.encode(), np.uint8).astype(np.uint32)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4")).astype(np.uint32)


def intern(codes: NDArray[np.uint32], starts: Int64, ends: Int64) -> tuple[Int32, UInt64, Int64]:
    """Number of each string, and the hash and the first occurrence of each distinct one."""
    size = len(starts)
    hashes, first, ids = np.empty(size, np.uint64), np.empty(size, np.int64), np.empty(size, np.int32)
    distinct = _intern(codes, starts, ends, ids, *Slots.empty(size), hashes, first)
    return ids, hashes[:distinct].copy(), first[:distinct].copy()


def mixed(template: int | Int64, *columns: NDArray[np.generic]) -> UInt64:
    """(N,) the key of a template, or of one for each row, with the values of some columns at N rows; never 0.

    >>> a = np.array([1, 2, 1])
    >>> keys = mixed(7, a)
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    state = np.full(len(columns[0]), START, np.uint64)
    for column in (np.broadcast_to(template, len(state)), *columns):
        value = column.astype(np.int64).view(np.uint64) if column.dtype != np.uint64 else column
        state = (state ^ value) * np.uint64(MULTIPLIER)
        state ^= state >> HALF
    state[state == 0] = 1
    return state


class RangeHashes:
    """Hashes of ranges of values, each in constant time: polynomials modulo 2^64.

    Args:
        values: (T,) hashes.
        base: odd, so that it has an inverse.

    >>> hashes = RangeHashes(np.array([5, 6, 7, 5, 6], np.uint64))
    >>> one, other, third = hashes.of(np.array([0, 3, 1]), np.array([2, 5, 3]))
    >>> bool(one == other), bool(one == third)
    (True, False)
    """

    def __init__(self, values: UInt64, base: int = MULTIPLIER) -> None:
        self._up, self._down = (
            np.multiply.accumulate(np.append(np.uint64(1), np.full(len(values), factor, np.uint64)))
            for factor in (base, pow(base, -1, 1 << 64))
        )
        self._sums = np.append(np.uint64(0), np.cumsum(values * self._down[:-1]))

    def of(self, first: Int64, end: Int64, before: Int64 | None = None) -> UInt64:
        """Return the hash of each range, (N,); ranges of one whole, one behind the other, add up to its hash.

        Args:
            first, end: (N,) ranges, half-open.
            before: (N,) number of values of the whole before each range; 0 when ``None``.
        """
        own = (self._sums[end] - self._sums[first]) * self._up[first]
        return own if before is None else own * self._down[before]

    def find(self, keys: UInt64, sizes: Iterable[int], begins: Int64, limit: Int64) -> tuple[Int64, Int64, Int64]:
        """Return first value, end and key number of each range whose hash and size are among the keys, by size.

        Args:
            keys: (P,) ascending, each ``mixed(0, hash, size)`` of a range.
            sizes: those that there are.
            begins: ascending values at which a range may begin.
            limit: (T,) where a range that begins at each value must have ended.
        """
        found = [np.zeros((3, 0), np.int64)]
        for size in sizes if len(keys) else ():
            first = begins[begins + size <= limit[begins]]
            sought = mixed(0, self.of(first, first + size), np.full(len(first), size))
            at = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
            there = keys[at] == sought
            found.append(np.stack([first[there], first[there] + size, at[there]]))
        first, end, key = np.concatenate(found, axis=1)
        return first, end, key


class RangeTable(NamedTuple):
    """Phrases, as ranges of values, that are looked for among other values; P distinct ones.

    Args:
        keys: (P,) ascending, as `RangeHashes.find` takes them.
        sizes: the sizes that there are.
        firsts: the first values.
    """

    keys: UInt64
    sizes: tuple[int, ...]
    firsts: UInt64

    @classmethod
    def of(cls, values: UInt64, sizes: Int64) -> tuple[RangeTable, Int64]:
        """Return the table of ranges, one behind the other, and the number of each one's key."""
        end = sizes.cumsum()
        first = end - sizes
        keys, numbers = np.unique(mixed(0, RangeHashes(values).of(first, end), sizes), return_inverse=True)
        return cls(keys, tuple(np.unique(sizes).tolist()), np.unique(values[first])), numbers

    def find(self, hashes: RangeHashes, limit: Int64) -> tuple[Int64, Int64, Int64]:
        """Return first value, end and key number of all occurrences among T values, by size; see `RangeHashes.find`."""
        places = np.arange(len(limit))
        begins = places[np.isin(hashes.of(places, places + 1), self.firsts)]
        return hashes.find(self.keys, self.sizes, begins, limit)


class Slots(NamedTuple):
    """A hash table: the number of each of some keys; see `native/hashing.h`.

    Args:
        table: uint64, a power of two of words, 0 where empty.
        shift: 64 minus its binary logarithm.
    """

    table: UInt64
    shift: np.uint64

    @classmethod
    def of(cls, table: UInt64) -> Slots:
        """With the shift of a table."""
        return cls(table, np.uint64(65 - len(table).bit_length()))

    @classmethod
    def empty(cls, entries: int) -> Slots:
        """Room for so many keys, filled to `FILLING` at most; at least 256 slots."""
        bits = max(8, int(entries / FILLING).bit_length())
        return cls(np.zeros(1 << bits, np.uint64), np.uint64(64 - bits))

    @classmethod
    def numbering(cls, keys: UInt64, size: int | None = None) -> Slots:
        """The numbers of distinct keys in their order; with room for ``size`` of them."""
        slots = cls.empty(len(keys) if size is None else size)
        enter_rows(keys, np.arange(len(keys), dtype=np.int32), *slots)
        return slots
