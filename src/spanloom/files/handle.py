"""Handles: values whose big arrays are files of a folder, small enough to be sent to other processes.

A receiver opens the files where they are: on this machine, or on another that sees the folder by the same name.
What processes then exchange in files is complete before it has its name, and no name is used twice.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spanloom.errors import DataError, reason_of
from spanloom.files.scratch import FolderScratch, Scratch, filling
from spanloom.parallel import SERIAL, Executor, even_ranges


class Handle(NamedTuple):
    """A value for other processes.

    Args:
        folder: where its arrays are.
        token: no two handles have the same.
        pickled: the value, with the places of its arrays.
    """

    folder: str
    token: str
    pickled: bytes

    @classmethod
    def of(cls, value: object, scratch: FolderScratch) -> Handle:
        """Return the handle of a value whose big arrays a scratch has made; other arrays travel with it."""
        scratch.flush()
        file = io.BytesIO()
        _Pickler(file, scratch).dump(value)
        return cls(str(scratch.folder.absolute()), token_hex(8), file.getvalue())


@lru_cache(maxsize=1)
def opened(handle: Handle) -> Any:
    """Return the value of a handle, which stays open in this process until another is opened.

    Raises:
        DataError: an array cannot be read.
    """
    return _Unpickler(handle).load()


def mapped(path: Path, dtype: DTypeLike, shape: tuple[int, ...], offset: int = 0) -> NDArray[Any]:
    """Return an array in a file; what this process writes to it stays its own.

    Raises:
        DataError: it cannot be read.
    """
    return _Opened(path.parent).array(path.name, dtype, shape, offset)


def read_into(array: NDArray[Any], path: Path, offset: int = 0) -> None:
    """Fill an array from a file, from so many bytes on.

    Raises:
        DataError: it cannot be read.
    """
    with _reading(path), path.open("rb") as file:
        file.seek(offset)
        if file.readinto(array.data) != array.nbytes:
            raise ValueError("it is too short")


def write_whole(path: Path, *arrays: NDArray[Any], over: Path | None = None, run: Executor = SERIAL) -> None:
    """Write arrays to a file, one behind the other; it has its name when it is whole.

    Args:
        path: of the file.
        arrays: what it is to hold.
        over: an unused file of about the same size, if it is there: its room is used again, which
            takes a fraction of the time that new room does.
        run: how pieces of an array are written.

    Raises:
        DataError: there is no room.
    """
    part = path.with_name(f"{path.name}.{token_hex(8)}.part")
    with filling(path.parent):
        try:
            if over is not None:
                with suppress(FileNotFoundError):
                    over.replace(part)  # from now on nobody else's
            if not part.exists():
                part.touch(exist_ok=False)
            place = 0
            for array in arrays:
                numbers = np.ascontiguousarray(array).reshape(-1)
                run.map(partial(_write_at, part, place, numbers), even_ranges(len(numbers), run.workers))
                place += numbers.nbytes
            os.truncate(part, place)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)  # a disk that is full is to have its room again
            raise


def _write_at(path: Path, place: int, numbers: NDArray[Any], piece: tuple[int, int]) -> None:
    """Write some of the numbers of an array whose first is at a place of the file."""
    with path.open("r+b") as file:
        file.seek(place + piece[0] * numbers.itemsize)
        file.write(numbers[slice(*piece)].data)


class _Opened(Scratch):
    """Files of a folder that another process has made."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._maps: dict[str, mmap.mmap] = {}

    def array(self, name: str, dtype: DTypeLike, shape: tuple[int, ...], offset: int) -> NDArray[Any]:
        """Return an array in one of them."""
        size, path = int(np.prod(shape)), self._folder / name
        if not size:  # which no system maps
            return np.empty(shape, dtype)
        with _reading(path):
            if name not in self._maps:
                with path.open("rb") as file:
                    self._maps[name] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            return np.frombuffer(self._maps[name], dtype, size, offset).reshape(shape)

    def release(self) -> None:
        """As `Scratch.release`, where the system can."""
        if sys.platform != "win32":
            for one in self._maps.values():
                one.madvise(mmap.MADV_DONTNEED)


class _Pickler(pickle.Pickler):
    """Writes the places of arrays that are in files."""

    def __init__(self, file: io.BytesIO, scratch: FolderScratch) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._scratch = scratch

    def persistent_id(self, value: object) -> tuple[Any, ...] | None:
        """Return what stands for a value, if anything does."""
        if value is self._scratch:
            return ()
        return self._scratch.place(value) if type(value) is np.ndarray else None


class _Unpickler(pickle.Unpickler):
    """Opens arrays at their places."""

    def __init__(self, handle: Handle) -> None:
        super().__init__(io.BytesIO(handle.pickled))
        self._opened = _Opened(Path(handle.folder))

    def persistent_load(self, place: tuple[Any, ...]) -> object:
        """Return what a place stands for."""
        return self._opened.array(*place) if place else self._opened


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise DataError(
            f"cannot be read: {reason_of(error)}; name a folder (work) that all workers see, and leave it alone",
            path=path,
        ) from None
