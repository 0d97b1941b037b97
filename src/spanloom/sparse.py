"""Sparse matrices of float64, by rows: sums of values at equal places, products with dense matrices."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from spanloom.native import Kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_N = TypeVar("_N", bound=np.generic)
_product, _match = Kernel("sparse_product"), Kernel("match")


class SparseMatrix(NamedTuple):
    """A sparse matrix of R rows and C columns.

    Args:
        ptr: (R + 1,) where the entries of each row begin.
        columns: of the entries, ascending in a row.
        values: of the entries.
        width: C.

    >>> matrix = SparseMatrix.build(np.array([1, 0, 1]), np.array([2, 0, 2]), np.array([0.5, 1, 1]), (2, 3))
    >>> matrix.dense().tolist(), (matrix @ np.ones((3, 1))).tolist(), matrix.transposed().ptr.tolist()
    ([[1.0, 0.0, 0.0], [0.0, 0.0, 1.5]], [[1.0], [1.5]], [0, 1, 1, 2])
    """

    ptr: Ints
    columns: Ints
    values: Floats
    width: int

    @classmethod
    def build(cls, rows: Ints, columns: Ints, values: Floats, shape: tuple[int, int]) -> SparseMatrix:
        """Return the matrix with these values at places; those at one place are added."""
        places, where = np.unique(rows * shape[1] + columns, return_inverse=True)
        row, column = np.divmod(places, max(shape[1], 1))
        sums = np.bincount(where, values, len(places)).astype(np.float64)
        return cls(row_offsets(row, shape[0]), column, sums, shape[1])

    def __matmul__(self, other: Floats) -> Floats:
        result = np.empty((len(self.ptr) - 1, other.shape[1]))
        _product(self.ptr, self.columns, self.values, other, result)
        return result

    def transposed(self) -> SparseMatrix:
        """Return the transpose."""
        order = np.argsort(self.columns, kind="stable")
        rows = np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))
        ptr = row_offsets(self.columns, self.width)
        return SparseMatrix(ptr, rows[order], self.values[order], len(self.ptr) - 1)

    def dense(self) -> Floats:
        """Return the whole matrix."""
        found = np.zeros((len(self.ptr) - 1, self.width))
        found[np.repeat(np.arange(len(found)), np.diff(self.ptr)), self.columns] = self.values
        return found


def row_offsets(rows: NDArray[Any], count: int) -> Ints:
    """Return where each of ``count`` rows begins among entries sorted by row, and the end of the last."""
    return np.append(0, np.cumsum(np.bincount(rows, minlength=count))).astype(np.int64)


def largest_matching(rows: Ints, columns: Ints, shape: tuple[int, int]) -> Ints:
    """Return (R,) the column of each row in a largest matching of the pairs that are given; -1 for none.

    >>> largest_matching(np.array([0, 0, 1]), np.array([0, 1, 0]), (2, 2)).tolist()
    [1, 0]
    """
    order = np.lexsort((columns, rows))
    partner = np.empty(shape[0], np.int64)
    _match(row_offsets(rows, shape[0]), columns[order], shape[1], partner)
    return partner


def ascending(*columns: Ints) -> Ints:
    """Return the order (N,) by the first column, where that is equal by the second, and so on; ties keep their order.

    It is that of `numpy.lexsort` with the columns reversed. Columns whose values fit into 63 bits together are sorted
    as one, so most orders take one pass in place of one for each column.

    >>> ascending(np.array([2, 1, 1]), np.array([0, -3, -5])).tolist()
    [2, 1, 0]
    """
    keys: list[Ints] = []
    room = 1
    for column in columns if len(columns[0]) else ():
        least = int(column.min())
        span = int(column.max()) - least + 1
        column = column.astype(np.int64, copy=False)
        if span == 1 and keys:
            continue
        room *= span
        if keys and room < 1 << 63:
            keys[-1] = keys[-1] * span + (column - least)
        else:
            keys.append(column - least if span < 1 << 63 else column)
            room = span
    if len(keys) == 1 and room * len(keys[0]) < 1 << 63:  # with numbers none are equal, and any sort keeps their order
        return np.argsort(keys[0] * len(keys[0]) + np.arange(len(keys[0])))
    return np.lexsort(keys[::-1]) if keys else np.arange(0)


def distinct(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], Ints]:
    """Return the distinct keys, ascending, and where each occurs first.

    It is what `numpy.unique` returns, in a quarter of the time: an order of equal keys is not needed.

    >>> [found.tolist() for found in distinct(np.array([7, 5, 7], np.uint64))]
    [[5, 7], [1, 0]]
    """
    order = np.argsort(keys)
    ordered = keys[order]
    starts = np.flatnonzero(changes(ordered))
    return ordered[starts], np.minimum.reduceat(order, starts) if len(starts) else starts


def distinct_numbers(numbers: NDArray[_N]) -> NDArray[_N]:
    """Return the distinct numbers, ascending: what `numpy.unique` returns, which imports much for it.

    >>> distinct_numbers(np.array([7, 5, 7])).tolist()
    [5, 7]
    """
    ordered = np.sort(numbers)
    found: NDArray[_N] = ordered[changes(ordered)]
    return found


def found_in(known: NDArray[Any], sought: NDArray[Any]) -> Ints:
    """Return the place of each number among ascending distinct ones; -1 for one that is not there.

    >>> found_in(np.array([3, 5]), np.array([5, 4])).tolist()
    [1, -1]
    """
    if not len(known):
        return np.full(len(sought), -1)
    at = np.minimum(np.searchsorted(known, sought), len(known) - 1)
    return np.where(known[at] == sought, at, -1)


def changes(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (N,) whether an entry differs in a column from the one before; the first does.

    >>> changes(np.array([1, 1, 2]), np.array([5, 6, 6])).tolist()
    [True, True, True]
    """
    new = np.ones(len(columns[0]), np.bool_)
    new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return new


def gathered(ptr: Ints, items: Ints) -> tuple[Ints, Ints]:
    """Return the rows of some items, one after the other, and where those of each begin.

    Args:
        ptr: (N + 1,) where the rows of each of N items begin.
        items: (M,) numbers of items.

    >>> rows, own = gathered(np.array([0, 2, 2, 3]), np.array([2, 0]))
    >>> rows.tolist(), own.tolist()
    ([2, 0, 1], [0, 1, 3])
    """
    starts = ptr[items]
    return places_of(starts, ptr[items + 1] - starts)


def places_of(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Return the numbers in some ranges, one range after the other, and where those of each begin.

    Args:
        starts: (M,) the first number of each range.
        sizes: (M,) how many numbers it has.

    >>> [found.tolist() for found in places_of(np.array([7, 2]), np.array([1, 3]))]
    [[7, 2, 3, 4], [0, 1, 4]]
    """
    own = np.append(0, np.cumsum(sizes))
    return np.repeat(starts - own[:-1], sizes) + np.arange(own[-1]), own
