"""Many strings as two arrays, so that a vocabulary is saved and opened without a parser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import ModelError

Array = NDArray[Any]
Int64s = NDArray[np.int64]


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
            raise _damaged(f"{name}.text", f"is not UTF-8 ({error.reason})") from None
        return cls(text, take_bounds(arrays, f"{name}.ends", len(text)))


def take(arrays: Mapping[str, Array], name: str, dtype: Any) -> Array:
    """An array with one axis.

    Raises:
        ModelError: it is missing, or is of another kind.
    """
    array = arrays.get(name)
    if array is None:
        raise _damaged(name, "is missing")
    if array.ndim != 1 or array.dtype != dtype:
        found = f"{array.dtype} with {array.ndim} axes"
        raise _damaged(name, f"is {found}, expected {np.dtype(dtype)} with one")
    return array


def take_bounds(arrays: Mapping[str, Array], name: str, total: int) -> Int64s:
    """Take ends that never decrease, the last of them the total.

    Raises:
        ModelError: the array is missing or invalid.
    """
    ends = take(arrays, name, np.int64)
    whole = ends[-1] == total if len(ends) else total == 0
    if not whole or (len(ends) and ends[0] < 0) or (np.diff(ends) < 0).any():
        raise _damaged(name, f"does not rise from 0 to {total}")
    return ends


def _damaged(name: str, what: str) -> ModelError:
    return ModelError(f"the vocabulary is damaged: {name!r} {what}; make it again from its source")
