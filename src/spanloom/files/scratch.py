"""Scratch: where training makes its big arrays, in memory, or as files of a folder that are mapped into it.

Code that makes arrays asks a `Scratch` for them, and the code is the same for both. Pages of a mapped file that were
looked at count as memory of the process until `Scratch.release` hands them back; what was written to them is in the
file, or on its way there, and is read again when it is needed.
"""

from __future__ import annotations

import errno
import hashlib
import io
import mmap
import os
import pickle
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spanloom.errors import DataError, reason_of
from spanloom.parallel import SERIAL, Executor, even_ranges

SUFFIX: Final = ".array"
"""How names of files with arrays end."""
WORK_FOLDER: Final = "spanloom-training"
"""The folder in which a training keeps what does not fit in memory; it is no input."""
_FULL: Final = frozenset(getattr(errno, name) for name in ("ENOSPC", "EFBIG", "EDQUOT") if hasattr(errno, name))
_ZEROS: Final = 1 << 20  # bytes written at once where files cannot be given room otherwise


def digest_of(array: NDArray[Any]) -> str:
    """Return SHA-256 of the numbers of a contiguous array."""
    return hashlib.sha256(array.data).hexdigest()


class Growing(Protocol):
    """An array of one axis that grows at its end."""

    def append(self, values: NDArray[Any]) -> None:
        """Add values."""

    def array(self) -> NDArray[Any]:
        """Return all of them, when there are no more to come."""


class Scratch:
    """Arrays in memory.

    >>> offsets = MEMORY.growing("offsets", np.int64)
    >>> offsets.append(np.array([0]))
    >>> offsets.append(np.array([2, 3]))
    >>> offsets.array().tolist()
    [0, 2, 3]
    """

    def empty(self, name: str, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array whose content is not set.

        Args:
            name: no two arrays have the same.
            shape: of the array.
            dtype: of its elements.

        Raises:
            DataError: there is no room for it.
        """
        return np.empty(shape, dtype)

    def zeros(self, name: str, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array of zeros; the arguments are those of `empty`."""
        return np.zeros(shape, dtype)

    def growing(self, name: str, dtype: DTypeLike) -> Growing:
        """Return an array that grows at its end; the arguments are those of `empty`."""
        return _Blocks(dtype)

    def trimmed(self, array: NDArray[Any], size: int) -> NDArray[Any]:
        """Return the first elements of an array, the others of which are not needed any more."""
        return array[:size].copy()

    _maps: Collection[mmap.mmap] = ()

    def release(self) -> None:
        """Hand back memory that holds what is also in files, where the system can."""
        if sys.platform != "win32":
            for mapped in self._maps:
                mapped.madvise(mmap.MADV_DONTNEED)


class _Blocks:
    """`Growing` in memory."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._blocks = [np.empty(0, dtype)]

    def append(self, values: NDArray[Any]) -> None:
        self._blocks.append(values)

    def array(self) -> NDArray[Any]:
        found: NDArray[Any] = self._blocks[1] if len(self._blocks) == 2 else np.concatenate(self._blocks)
        self._blocks = []
        return found


MEMORY: Final = Scratch()


Place = tuple[str, str, tuple[int, ...], int]
"""Where an array is: name of the file, type of elements, shape, and bytes before it."""


class FolderScratch(Scratch):
    """Arrays as files of a folder.

    A file has all its room on the disk before it is mapped: a full disk is an error here, and not a signal later.

    Args:
        folder: that is there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._maps: list[mmap.mmap] = []
        self._places: list[tuple[int, int, str]] = []  # first byte, and the one after the last, of each; its file

    def empty(self, name: str, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """As `Scratch.empty`."""
        sizes = (shape,) if isinstance(shape, int) else shape
        size = int(np.prod(sizes, dtype=np.int64)) * np.dtype(dtype).itemsize
        with filling(self.folder), _new(self._path(name)) as file:
            _make_room(file, size)
            return self._mapped(file, dtype).reshape(sizes)

    def zeros(self, name: str, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """As `Scratch.zeros`: room that was never written to reads as zeros."""
        return self.empty(name, shape, dtype)

    def written(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        """Return an array that holds these values."""
        found = self.empty(name, values.shape, values.dtype)
        found[...] = values
        return found

    def again(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array that a process before made, or its first elements.

        Raises:
            DataError: the file is not there, or shorter.
        """
        path, size = self._path(name), int(np.prod(shape, dtype=np.int64))
        try:
            with path.open("rb+") as file:
                found = self._mapped(file, dtype)
        except (OSError, ValueError) as error:
            raise DataError(f"is damaged: {reason_of(error)}; delete the folder to start over", path=path) from None
        if len(found) < size:
            raise DataError(
                f"is damaged: {len(found):,} elements, expected {size:,}; delete the folder to start over", path=path
            )
        return found[:size].reshape(shape)

    def growing(self, name: str, dtype: DTypeLike) -> Growing:
        """As `Scratch.growing`."""
        return _Appended(self, self._path(name), np.dtype(dtype))

    def trimmed(self, array: NDArray[Any], size: int) -> NDArray[Any]:
        """As `Scratch.trimmed`; the file stays as long as it is."""
        return array[:size]

    def place(self, array: NDArray[Any]) -> Place | None:
        """Return where an array that this has made is, or a part of it that is in one piece; ``None`` for others."""
        at = array.ctypes.data
        for first, end, name in self._places if array.flags.c_contiguous and array.size else ():
            if first <= at and at + array.nbytes <= end:
                return name, array.dtype.str, array.shape, at - first
        return None

    def flush(self) -> None:
        """Wait until all that was written is on the disk.

        Raises:
            DataError: the system refused.
        """
        with filling(self.folder):
            for mapped in self._maps:
                mapped.flush()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{SUFFIX}"

    def _mapped(self, file: BinaryIO, dtype: DTypeLike) -> NDArray[Any]:
        size = os.fstat(file.fileno()).st_size
        if not size:  # which no system maps
            return np.empty(0, dtype)
        mapped = mmap.mmap(file.fileno(), size)
        self._maps.append(mapped)
        found = np.frombuffer(mapped, dtype)
        self._places.append((found.ctypes.data, found.ctypes.data + size, Path(file.name).name))
        return found


@contextmanager
def written_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file in a folder of arrays; errors of the system are those of `filling`."""
    with filling(path.parent):
        file = _new(path)
    try:
        yield file
        with filling(path.parent):
            file.close()
    finally:
        with suppress(OSError):  # still open only if a failure is on its way up already
            file.close()


class _Appended:
    """`Growing` in a file, which is mapped when it is whole."""

    def __init__(self, scratch: FolderScratch, path: Path, dtype: np.dtype[Any]) -> None:
        self._scratch, self._dtype = scratch, dtype
        with filling(scratch.folder):
            self._file = _new(path)

    def append(self, values: NDArray[Any]) -> None:
        with filling(self._scratch.folder):
            self._file.write(np.ascontiguousarray(values, self._dtype).data)

    def array(self) -> NDArray[Any]:
        with filling(self._scratch.folder), self._file as file:
            file.flush()
            return self._scratch._mapped(file, self._dtype)


@contextmanager
def filling(folder: Path) -> Iterator[None]:
    """Turn errors of the system into one line that names the folder.

    Raises:
        DataError: there was one, such as a full disk.
    """
    try:
        yield
    except OSError as error:
        full = error.errno in _FULL
        hint = "make room, or name a folder of another disk" if full else "name another folder"
        raise DataError(
            f"cannot be written: {reason_of(error)}; {hint} for what training holds (work)", path=folder
        ) from error


def _new(path: Path) -> BinaryIO:
    path.unlink(missing_ok=True)  # to shorten a file that is still mapped would end the process
    return path.open("xb+")


def _make_room(file: BinaryIO, size: int) -> None:
    """Give a new file so many bytes, all of them zero."""
    if not size:
        return
    if sys.platform == "linux":
        try:
            os.posix_fallocate(file.fileno(), 0, size)
            return
        except OSError as error:  # a file system that cannot
            if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
                raise
    zeros = bytes(_ZEROS)
    for first in range(0, size, _ZEROS):
        file.write(zeros[: size - first])
    file.flush()


# Handles: values whose big arrays are files of a folder, small enough to be sent to other processes.
#
# A receiver opens the files where they are: on this machine, or on another that sees the folder by the same name.
# What processes then exchange in files is complete before it has its name, and no name is used twice.


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
                    over.replace(part)  # from now on ours alone
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
        self._folder, self._by_name = folder, dict[str, mmap.mmap]()
        self._maps = self._by_name.values()

    def array(self, name: str, dtype: DTypeLike, shape: tuple[int, ...], offset: int) -> NDArray[Any]:
        """Return an array in one of them."""
        size, path = int(np.prod(shape)), self._folder / name
        if not size:  # which no system maps
            return np.empty(shape, dtype)
        with _reading(path):
            if name not in self._by_name:
                with path.open("rb") as file:
                    self._by_name[name] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            return np.frombuffer(self._by_name[name], dtype, size, offset).reshape(shape)


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
