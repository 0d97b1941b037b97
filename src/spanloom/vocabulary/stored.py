"""Arrays of a saved index, checked when they are read: kernels follow their numbers without looking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import ModelError
from spanloom.vocabulary.strings import take


def take_ptr(arrays: Mapping[str, NDArray[Any]], name: str, size: int, total: int) -> NDArray[np.int64]:
    """Take the array with the begin of each of some parts, and the end of the last.

    Args:
        arrays: all of them.
        name: of the array.
        size: the number of parts.
        total: the length of all parts together.

    Raises:
        ModelError: the array is missing or invalid.

    >>> take_ptr({"ptr": np.array([0, 2, 2, 3])}, "ptr", 3, 3).tolist()
    [0, 2, 2, 3]
    """
    ptr = take(arrays, name, np.int64)
    if len(ptr) != size + 1 or ptr[0] != 0 or ptr[-1] != total or (np.diff(ptr) < 0).any():
        raise damaged(name, f"does not part {total} entries into {size}")
    return ptr


def take_numbers(arrays: Mapping[str, NDArray[Any]], name: str, dtype: Any, limit: int) -> NDArray[Any]:
    """Whole numbers from 0 to below a limit.

    Raises:
        ModelError: the array is missing, is of another kind, or holds other numbers.
    """
    numbers = take(arrays, name, dtype)
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= limit):
        raise damaged(name, f"holds numbers from {numbers.min()} to {numbers.max()}, expected 0 to {limit - 1}")
    return numbers


def take_ascending(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.uint64]:
    """Distinct 64-bit codes in their order.

    Raises:
        ModelError: the array is missing, is of another kind, or is not ascending.
    """
    codes = take(arrays, name, np.uint64)
    if (codes[1:] <= codes[:-1]).any():
        raise damaged(name, "is not ascending")
    return codes


def same_length(arrays: Mapping[str, NDArray[Any]], name: str, dtype: Any, size: int) -> NDArray[Any]:
    """One number for each of some things.

    Raises:
        ModelError: the array is missing, is of another kind, or has another length.
    """
    values = take(arrays, name, dtype)
    if len(values) != size:
        raise damaged(name, f"has {len(values)} entries, expected {size}")
    return values


def damaged(name: str, what: str) -> ModelError:
    """The error for an array that cannot be used."""
    return ModelError(f"the array {name!r} {what}: the index is damaged, or of another vocabulary; build it again")
