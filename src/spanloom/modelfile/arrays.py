"""The arrays of a file of safetensors: read into memory, or mapped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from mmap import ACCESS_COPY, mmap
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Final

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

from spanloom.modelfile.part import Array

__all__ = ["read_arrays"]

_KINDS: Final[Mapping[str, type[np.generic]]] = MappingProxyType(
    {
        "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I16": np.int16,
        "I8": np.int8, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
    }
)  # fmt: skip
_SIZE: Final = 8  # bytes before the header, which say how long it is


def read_arrays(file: Path, stream: BinaryIO, *, mapped: bool) -> dict[str, Array]:
    """Return the arrays of a file; what they raise if it is damaged, the caller tells.

    Args:
        file: of safetensors.
        stream: the same, open.
        mapped: leave them in the file. Processes that map the same file have its pages in memory once. What is written
            to such an array stays in this process.
    """
    if not mapped:
        return load_file(file)
    with safe_open(file, "numpy"):  # checks the header
        memory = mmap(stream.fileno(), 0, access=ACCESS_COPY)
    begin = _SIZE + int.from_bytes(memory[:_SIZE], "little")
    header = json.loads(memory[_SIZE:begin])
    header.pop("__metadata__", None)
    return {name: _array(memory, begin, **said) for name, said in header.items()}


def _array(memory: mmap, begin: int, dtype: str, shape: list[int], data_offsets: list[int]) -> Array:
    if dtype not in _KINDS:
        raise ValueError(f"data type {dtype!r} not understood")
    array: Array = np.ndarray(shape, _KINDS[dtype], memory, begin + data_offsets[0])
    return array if array.flags.aligned else array.copy()
