"""Kernels in C, and their binding.

`spanloom.h` declares each kernel with the types, sizes and directions of its arguments. `Kernel` reads them there and
checks every argument before a call: type, number of axes, sizes that belong together, layout, and whether what is
written to may be written to. So a kernel can rely on its arguments; indices that come from a file are checked where the
file is read, or by the kernel.

There is one library for any processor and, on x86-64, another for processors with AVX2. Both give the same results, to
the byte. The environment variable ``SPANLOOM_KERNELS`` names another file to load, for tests of other builds.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from operator import index
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spanloom.errors import SpanloomError, UsageError

__all__ = ["Kernel", "keep_memory", "library"]

_FOLDER = Path(__file__).parent
_NO_MEMORY, _BAD_INDEX = -(1 << 63), -(1 << 63) + 1
_TYPES = {
    "f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u32": np.uint32, "u64": np.uint64,
}  # fmt: skip
_PACKED = {kind: struct.Struct(code).pack for kind, code in (("int64_t", "q"), ("uint64_t", "Q"), ("double", "d"))}
_WORD = struct.Struct("q").unpack
_ADDRESS, _NOTHING = ctypes.addressof, (ctypes.c_char * 0).from_buffer
_TRUTH, _BYTE = np.dtype(np.bool_), np.dtype(np.uint8)
_FIXED = {"1": 1, "2": 2, "3": 3, "4": 4}  # sizes that are numbers
_FIELD = re.compile(r"^ *(\w+) (\w+);(?: *// *(.*?))?$", re.MULTILINE)
_BLOCK = re.compile(r"^typedef struct \{\n(.*?)^\} (\w+);|^KERNEL\((\w+),.*?\n(.*?)^\)", re.MULTILINE | re.DOTALL)


class _Array(NamedTuple):
    """An array argument. ``axes``: for each, the letter of its size, empty for any size, and a constant added to it."""

    name: str
    dtype: np.dtype[Any]
    axes: tuple[tuple[str, int], ...]
    written: bool


class _Number(NamedTuple):
    """A number among the arguments, of type ``int64_t``, ``uint64_t`` or ``double``."""

    name: str
    kind: str


class _Struct(NamedTuple):
    """A tuple of arguments that belong together."""

    name: str
    fields: tuple[Any, ...]


@cache
def _declared() -> dict[str, tuple[Any, ...]]:
    """The arguments of each kernel and of each structure, as the header declares them."""
    found: dict[str, tuple[Any, ...]] = {}
    for match in _BLOCK.finditer((_FOLDER / "spanloom.h").read_text(encoding="utf-8")):
        body, name = (match[1], match[2]) if match[2] else (match[4], f"spanloom_{match[3]}")
        found[name] = tuple(_argument(kind, field, sizes, found) for kind, field, sizes in _FIELD.findall(body))
    return found


def _argument(kind: str, name: str, sizes: str, known: dict[str, tuple[Any, ...]]) -> Any:
    if kind in ("int64_t", "uint64_t", "double"):
        return _Number(name, kind)
    if kind in known:
        return _Struct(name, known[kind])
    words = sizes.partition(":")[0].split()
    written = "out" in words
    axes = []
    for word in words:
        if word == "out":
            continue
        letter, _, more = word.partition("+")
        axes.append(("" if letter == "*" else letter, int(more or 0)))
    of, _, count = kind.partition("_")
    if len(axes) != int(count):
        raise RuntimeError(f"spanloom.h: {name} is {kind} and has {len(axes)} sizes")
    return _Array(name, np.dtype(_TYPES[of]), tuple(axes), written)


@cache
def library() -> ctypes.CDLL:
    """Load the kernels for this processor.

    Raises:
        SpanloomError: they are not there, or do not fit the system.
    """
    try:
        if other := os.environ.get("SPANLOOM_KERNELS"):
            return ctypes.CDLL(other)
        basic, fast = (_FOLDER / f"kernels-{level}.bin" for level in ("baseline", "avx2"))
        found = ctypes.CDLL(str(basic))
        return ctypes.CDLL(str(fast)) if found.spanloom_has_avx2() and fast.exists() else found
    except OSError as error:
        raise SpanloomError(
            f"{_FOLDER}: the compiled kernels are missing or do not fit this system ({error}); install spanloom again, "
            "or in a checkout run python hatch_build.py"
        ) from error


def keep_memory() -> None:
    """Let this process keep memory for its next arrays, instead of giving it to the system and asking for it again.

    It is for a process that does the same with one batch after the other, and saves 3 % of its time.
    """
    library().spanloom_keep_memory()


class Kernel:
    """A kernel: call it with arrays, numbers, and tuples of them, in the order of its declaration.

    Arrays that are only read may have any layout; those that are not in C order are copied.

    Args:
        name: as declared, without ``spanloom_``.

    Raises:
        UsageError: an argument is not of the declared type, or sizes do not fit together.
        SpanloomError: an index leads out of its table.
        MemoryError: there is no memory for what the kernel needs.

    >>> numbers = np.zeros(2, np.int64)
    >>> Kernel("find_numbers")(np.ones(2, np.uint64), np.zeros(4, np.uint64), 62, np.zeros(0, np.uint64), numbers)
    0
    >>> numbers.tolist()
    [-1, -1]
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._fields = _declared()[f"spanloom_{name}"]
        self._function: Any = None
        self._words: Callable[[tuple[Any, ...]], array[int] | None]

    def __call__(self, *arguments: Any) -> int:
        """Check the arguments and run the kernel; see its declaration for what it returns."""
        if self._function is None:
            function = getattr(library(), f"spanloom_{self.name}")
            function.argtypes, function.restype = (ctypes.c_void_p,), ctypes.c_int64
            self._words = _unrolled(self._fields)
            self._function = function
        held: list[Any] = []
        try:
            words = self._words(arguments)
        except (AttributeError, BufferError, TypeError, ValueError, struct.error):
            words = None
        if words is None:  # an argument is wrong, of a type that is equal but another object, read-only or to be copied
            words = array("q")
            self._add(arguments, self._fields, words, held)
        found: int = self._function(words.buffer_info()[0])
        if found <= _BAD_INDEX:
            if found == _NO_MEMORY:
                raise MemoryError(f"{self.name}: not enough memory")
            raise SpanloomError(
                f"{self.name}: an index leads out of its table; the model file or an argument is damaged"
            )
        return found

    def _add(self, values: Sequence[Any], fields: tuple[Any, ...], words: array[int], held: list[Any]) -> None:
        """Add the words of arguments, in the order of the structure in C: pointers and sizes, and numbers."""
        values = tuple(values)  # a tuple of arrays may have a length of its own
        if len(values) != len(fields):
            raise UsageError(f"{self.name}: {len(values)} arguments, expected {len(fields)}")
        sizes = dict(_FIXED)
        for value, field in zip(values, fields, strict=True):
            if type(field) is _Number:
                words.append(_word(value, field.kind))
                continue
            if type(field) is _Struct:
                self._add(value, field.fields, words, held)
                continue
            name, dtype, axes, written = field
            shape = value.shape
            own = value.dtype
            if (own is not dtype and own != dtype and (own != _TRUTH or dtype != _BYTE)) or len(shape) != len(axes):
                raise UsageError(
                    f"{self.name}: {name} is an array of {own} of shape {shape}, expected {dtype} with {len(axes)} axes"
                )
            try:
                words.append(_address(value, written, held))
            except (TypeError, ValueError, BufferError):
                raise UsageError(f"{self.name}: {name} is written to, and is read-only or not in C order") from None
            for size, (letter, more) in zip(shape, axes, strict=True):
                words.append(size)
                size -= more
                if size < 0 or (letter and sizes.setdefault(letter, size) != size):
                    expected = " ".join(f"{each or '*'}+{plus}" if plus else each or "*" for each, plus in axes)
                    value_of_letter = f" with {letter} = {sizes[letter]}" if letter in sizes else ""
                    raise UsageError(f"{self.name}: {name} is of shape {shape}, expected {expected}{value_of_letter}")


def _unrolled(fields: tuple[Any, ...]) -> Callable[[tuple[Any, ...]], array[int] | None]:
    """Return `Kernel._add` for these fields without its loops, which take longer than most kernels on a short text.

    The function returns ``None``, or raises, where an argument is not as declared, or is read-only or not in C order;
    `Kernel._add` then reports it, or copies it.
    1. The arguments are unpacked into names, those of tuples nested.
    2. Each array's type and sizes are compared. Sizes with one letter are equal within one tuple.
    3. The words are collected in the order of the structure in C.
    """
    checks: list[str] = []
    words: list[str] = []

    def unpacked(fields: tuple[Any, ...], prefix: str) -> str:
        known = {letter: letter for letter in _FIXED}
        names = []
        for i, field in enumerate(fields):
            name = f"{prefix}_{i}"
            if type(field) is _Struct:
                names.append(unpacked(field.fields, name))
                continue
            names.append(name)
            if type(field) is _Number:
                plain = f"{name} if {name}.__class__ is int else " if field.kind == "int64_t" else ""
                words.append(f"{plain}_WORD(_PACKED[{field.kind!r}]({name}))[0]")
                continue
            also = f" and {name}.dtype is not _TRUTH" if field.dtype == _BYTE else ""
            checks.append(f"if {name}.dtype is not {field.dtype.name}{also}: return None")
            sizes = [f"{name}_{axis}" for axis in range(len(field.axes))]
            checks.append(f"({''.join(f'{size}, ' for size in sizes)}) = {name}.shape")
            words.extend([f"_ADDRESS(_NOTHING({name}))", *sizes])
            for size, (letter, more) in zip(sizes, field.axes, strict=True):
                if more:
                    checks.append(f"if {size} < {more}: return None")
                if letter in known:
                    checks.append(f"if {size} - {more} != {known[letter]}: return None")
                elif letter:
                    known[letter] = f"({size} - {more})"
        return f"({''.join(f'{name}, ' for name in names)})"

    code = [f"{unpacked(fields, 'a')} = arguments", *checks, f"return array('q', ({', '.join(words)},))"]
    scope = {name: np.dtype(type_) for type_ in _TYPES.values() for name in [np.dtype(type_).name]}
    found: dict[str, Any] = globals() | scope
    exec("def words(arguments):\n    " + "\n    ".join(code), found)  # made of the header alone
    function: Callable[[tuple[Any, ...]], array[int] | None] = found["words"]
    return function


def _address(value: Any, written: bool, held: list[Any]) -> int:
    """Return where an array begins; one that is read-only or not in C order is copied, or refused if written to."""
    try:
        return _ADDRESS(_NOTHING(value))
    except (TypeError, ValueError, BufferError):
        if written:
            raise
        value = np.ascontiguousarray(value)
        held.append(value)
        where: int = value.__array_interface__["data"][0]
        return where


def _word(value: Any, kind: str) -> int:
    """Return a number's 64 bits, as of an int64."""
    number = value if kind == "double" else int(value) if isinstance(value, np.bool_) else index(value)
    word: int = _WORD(_PACKED[kind](number))[0]
    return word
