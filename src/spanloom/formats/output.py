"""Output that is whole or not there: written beside, then renamed.

A file or folder under its final name is always complete. Whatever goes wrong while it is written (bad input, a full
disk, Ctrl-C), what was written so far is removed, and what stood there before stays as it was.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from spanloom.errors import DataError, UsageError
from spanloom.formats.base import STDIO


class Sink:
    """A file to write to, whose failures name the final file.

    Args:
        file: open for writing bytes.
        name: what messages call it.
    """

    def __init__(self, file: BinaryIO, name: str | Path) -> None:
        self._file = file
        self._name = name

    def write(self, data: str | bytes) -> None:
        """Write text as UTF-8, or bytes as they are.

        Raises:
            DataError: the system refused (a full disk), or the text has no UTF-8 form.
        """
        with writing(self._name):
            self._file.write(data.encode("utf-8") if isinstance(data, str) else data)


@contextmanager
def writing(name: str | Path) -> Iterator[None]:
    """Turn the system's refusals into one line that names the output.

    A closed pipe is left alone: that is for the command line to end quietly.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}; nothing was kept", path=name) from error
    except UnicodeEncodeError as error:
        message = f"cannot be written: half of a surrogate pair at offset {error.start} has no UTF-8 form"
        raise DataError(message, path=name) from error


@contextmanager
def output_file(path: str | Path, *, force: bool = False) -> Iterator[Sink]:
    """A file to write, there in full or not at all; ``-`` is standard output.

    Args:
        path: the final name. A device or a pipe is written to directly.
        force: replace a file that is there.

    Raises:
        UsageError: the file is there and ``force`` is false, or its folder is missing.
        DataError: the system refused to write.
    """
    if str(path) == STDIO:
        yield Sink(sys.stdout.buffer, "standard output")
        with writing("standard output"):
            sys.stdout.buffer.flush()
        return
    target = Path(path)
    if _is_special(target):
        with _opened(target, "wb", path) as sink:
            yield sink
        return
    target = check_free(target, force=force)
    if target.is_dir():
        raise UsageError(f"{path} is a folder; name a file")
    part = _beside(target)
    with _removed_on_failure(part):
        with _opened(part, "xb", path) as sink:
            yield sink
        with writing(path):
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)


@contextmanager
def output_folder(
    path: str | Path, *, force: bool = False, may_replace: Callable[[Path], bool] = lambda file: False
) -> Iterator[Path]:
    """A folder to fill, there in full or not at all. Fill the folder that is given; it is renamed at the end.

    Args:
        path: the final name. An empty folder that is there is used without ``force``.
        force: replace a folder that is there, if every file in it may be replaced.
        may_replace: whether a file in the old folder may go; keeps ``--force`` from emptying somebody's home.

    Raises:
        UsageError: the folder is there and may not be replaced, or its parent is missing.
        DataError: the system refused to write.
    """
    target = Path(path)
    empty = target.is_dir() and not any(target.iterdir())
    target = check_free(target, force=force or empty)
    if target.exists() and not target.is_dir():
        raise UsageError(f"{path} is a file; name a folder")
    if target.is_dir():
        kept = next((file for file in sorted(target.rglob("*")) if not file.is_dir() and not may_replace(file)), None)
        if kept is not None:
            raise UsageError(f"{path} holds {kept.name}, which is none of its output; name another folder")
    part = _beside(target)
    with writing(path):
        part.mkdir()
    with _removed_on_failure(part):
        yield part
        with writing(path):
            _swap(part, target)


@contextmanager
def scratch_file(path: str | Path) -> Iterator[BinaryIO]:
    """A nameless file that vanishes when done, beside an output that needs two passes; refusals name the output."""
    target = Path(path).absolute()
    folder = None if str(path) == STDIO or _is_special(target) or not target.parent.is_dir() else target.parent
    with writing(path):
        file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
    try:
        yield file
    finally:
        with suppress(OSError):  # nothing in it is needed any more
            file.close()


def check_free(path: str | Path, *, force: bool) -> Path:
    """The path that will be written, links followed.

    Raises:
        UsageError: something is there and ``force`` is false, or the folder around it is missing.
    """
    target = Path(path)
    if target.exists() and not force:
        raise UsageError(f"{path} is there already; name another output, or overwrite it with --force (force=True)")
    target = target.resolve() if target.is_symlink() else target
    if not target.absolute().parent.is_dir():
        raise UsageError(f"the folder {target.parent} for {target.name} does not exist; make it first")
    return target


def _is_special(path: Path) -> bool:
    return path.exists() and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir()


def _beside(target: Path) -> Path:
    return target.absolute().parent / f".{target.absolute().name[:100]}.{secrets.token_hex(4)}.part"


@contextmanager
def _opened(file: Path, mode: str, name: str | Path) -> Iterator[Sink]:
    with writing(name):
        handle = file.open(mode)
    try:
        yield Sink(handle, name)  # type: ignore[arg-type]
        with writing(name):
            handle.flush()
            if mode == "xb":
                os.fsync(handle.fileno())  # a full disk may show only here
            handle.close()
    finally:
        with suppress(OSError):  # still open only if a failure is on its way up already
            handle.close()


@contextmanager
def _removed_on_failure(part: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)
        raise


def _swap(part: Path, target: Path) -> None:
    if not target.exists():
        part.rename(target)
        return
    old = _beside(target)
    target.rename(old)
    try:
        part.rename(target)
    except BaseException:
        old.rename(target)
        raise
    shutil.rmtree(old)
