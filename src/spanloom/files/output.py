"""Atomic output of files and folders: written beside the target, then put in place.

A file or folder under its final name is always complete. Whatever goes wrong while it is written (bad input, a full
disk, Ctrl-C), the partial output is removed, and the old file or folder stays unchanged. A process that is killed
leaves the old or the new, and a hidden folder (`spanloom.files.staging`), which the next run removes.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from spanloom.errors import DataError, UsageError
from spanloom.files import STDIO
from spanloom.files.staging import NEW, is_part, put, recover, staged


class Sink:
    """A writable file whose errors name the final file.

    Args:
        file: open for writing bytes.
        name: the final file's name in messages.
    """

    def __init__(self, file: BinaryIO, name: str | Path) -> None:
        self._file = file
        self._name = name

    def write(self, data: str | bytes) -> None:
        """Write text as UTF-8, or bytes unchanged.

        Raises:
            DataError: the system refused (a full disk), or the text has no UTF-8 form.
        """
        try:
            self._file.write(data if isinstance(data, bytes) else data.encode("utf-8"))
        except (OSError, UnicodeEncodeError):
            with writing(self._name):
                raise

    def encoded(self, text: str) -> bytes:
        """Return text as UTF-8.

        Raises:
            DataError: the text has no UTF-8 form.
        """
        with writing(self._name):
            return text.encode("utf-8")


@contextmanager
def writing(name: str | Path) -> Iterator[None]:
    """Turn errors of the system into a `DataError` of one line that names the output.

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
    """Open a file for atomic output: written in full or not at all; ``-`` is standard output.

    Args:
        path: the final name. A device or a pipe is written to directly.
        force: replace an existing file.

    Raises:
        UsageError: the file exists and ``force`` is false, or its folder is missing.
        DataError: the system refused to write.
    """
    if str(path) == STDIO:
        yield Sink(sys.stdout.buffer, "standard output")
        with writing("standard output"):
            sys.stdout.buffer.flush()
        return
    with writing(path):
        special = _is_special(Path(path))
    if special:
        with _opened(Path(path), "wb", path) as sink:
            yield sink
        return
    with output_files([path], force=force) as [sink]:
        yield sink


@contextmanager
def output_files(paths: Sequence[str | Path], *, force: bool = False) -> Iterator[list[Sink]]:
    """Open several files for atomic output, such as a text and its annotations: all are written in full, or none.

    Args:
        paths: the final names.
        force: replace existing files.

    Raises:
        UsageError: one exists and ``force`` is false, or its folder is missing.
        DataError: the system refused to write.
    """
    _recover(*paths)
    targets = [check_free(path, force=force) for path in paths]
    for path, target in zip(paths, targets, strict=True):
        if target.is_dir() or str(path).endswith(("/", os.sep)):
            raise UsageError(f"{path} is a folder; name a file")
        if target.absolute().parent != targets[0].absolute().parent:
            raise UsageError(f"{paths[0]} and {path} are links into two folders, expected one; name the files there")
    with _staged(targets, paths[0]) as staging:
        with ExitStack() as files:
            yield [files.enter_context(_opened(staging / NEW / str(i), "xb", path)) for i, path in enumerate(paths)]
        with writing(paths[0]):
            put(staging, targets)


@contextmanager
def output_folder(
    path: str | Path, *, force: bool = False, may_replace: Callable[[Path], bool] = lambda file: False
) -> Iterator[Path]:
    """Yield an empty folder to fill, which is put in place at the end: complete, or not at all.

    Args:
        path: the final name. An existing empty folder is used without ``force``.
        force: replace an existing folder, if every file in it may be replaced.
        may_replace: whether a file in the old folder may go; keeps ``--force`` from emptying a home folder.

    Raises:
        UsageError: the folder exists and may not be replaced, its parent is missing, or it is standard output.
        DataError: the system refused to write.
    """
    if str(path) == STDIO:
        raise UsageError("the output is -, standard output, and a folder is to be written; name a folder")
    _recover(path)
    target = Path(path)
    empty = target.is_dir() and not any(target.iterdir())
    target = check_free(target, force=force or empty)
    if target.exists() and not target.is_dir():
        raise UsageError(f"{path} is a file; name a folder")
    _check_replaceable(target, path, may_replace)
    with _staged([target], path) as staging:
        folder = staging / NEW / "0"
        with writing(path):
            folder.mkdir()
        yield folder
        _check_replaceable(target, path, may_replace)  # training takes hours, in which people work
        with writing(path):
            put(staging, [target])


def own_files(path: str | Path, names: Collection[str]) -> Callable[[Path], bool]:
    """Return what shows `output_folder` that files of some names may go: those in the folder itself, and none deeper.

    >>> may_replace = own_files("models", {"model.json"})
    >>> may_replace(Path("models/model.json")), may_replace(Path("models/mine/model.json"))
    (True, False)
    """
    folder = Path(path).resolve()
    return lambda file: file.name in names and file.parent.resolve() == folder


def _check_replaceable(target: Path, path: str | Path, may_replace: Callable[[Path], bool]) -> None:
    for file in sorted(target.rglob("*")) if target.is_dir() else ():
        folder = file.is_dir() and not file.is_symlink()  # a link is the user's, whatever it leads to
        if not (folder or may_replace(file) or is_part(file.relative_to(target))):
            raise UsageError(
                f"{path} holds {file.relative_to(target)}, which is not part of its output; move it away, or "
                "name another folder"
            )


@contextmanager
def _staged(targets: Sequence[Path], name: str | Path) -> Iterator[Path]:
    with ExitStack() as stack:
        with writing(name):
            staging = stack.enter_context(staged(*targets))
        yield staging


def _recover(*paths: str | Path) -> None:
    with writing(paths[0]):
        recover(*map(_followed, paths))


def _followed(path: str | Path) -> Path:
    return Path(path).resolve() if Path(path).is_symlink() else Path(path)


@contextmanager
def scratch_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a temporary file without a name beside an output that needs two passes; errors name the output."""
    target = Path(path).absolute()
    folder = None if str(path) == STDIO or _is_special(target) or not target.parent.is_dir() else target.parent
    with writing(path):
        file: Any = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
    try:
        yield file
    finally:
        with suppress(OSError):  # nothing in it is needed any more
            file.close()


def check_free(path: str | Path, *, force: bool) -> Path:
    """Return the path that will be written, with links followed.

    Raises:
        UsageError: the path exists and ``force`` is false, or its parent folder is missing.
    """
    target = Path(path)
    with writing(path):
        taken = target.exists()
    if taken and not force:
        raise UsageError(f"{path} is there already; name another output, or overwrite it with --force (force=True)")
    target = _followed(target)
    if not target.absolute().parent.is_dir():
        raise UsageError(f"the folder {target.parent} for {target.name} does not exist; make it first")
    return target


def _is_special(path: Path) -> bool:
    return path.exists() and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir()


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
