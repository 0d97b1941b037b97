"""Staging folders: hidden folders beside an output, in which it is made; locked while their process lives.

``.NAME.xxxxxxxx.part`` holds the output (``new``), while it is put in place the old output (``old``,
``undo``; see `spanloom.files.swap`), and ``lock``, on which the owner holds a lock of the system's. That ends with
the process, however it ends: neither clocks nor process numbers are asked. Where the file system has no locks, nothing
is ever taken for abandoned.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from spanloom.files.swap import NEW, UNDO, undo

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_LOCK = "lock"
_PART = re.compile(r"\.(.*)\.[0-9a-f]{8}\.part", re.DOTALL)
_LONGEST = 200  # bytes of a name; with what is added it is still one


@contextmanager
def staged(target: Path) -> Iterator[Path]:
    """Yield a staging folder for a target, with an empty folder ``new``; remove it at the end.

    Staging folders of dead processes for the same target are removed first.

    Raises:
        OSError: the system refused.
    """
    settle(target)
    for left in _beside(target):
        with suppress(OSError):  # what cannot be removed is in nobody's way
            _remove_abandoned(left)
    lock = None
    while lock is None:
        folder = target.absolute().parent / f".{_stem(target)}.{secrets.token_hex(4)}.part"
        if os.path.lexists(folder):
            continue
        try:  # before the folder is made, so that there is no moment at which Ctrl-C would leave it
            folder.mkdir(0o700)  # what is half-written is for nobody's eyes
            lock = _claim(folder)
            if lock is not None:
                (folder / NEW).mkdir()
                yield folder
        finally:
            try:
                _remove(folder)
            except BaseException:  # Ctrl-C in the middle of it; a second one leaves the rest to the next run
                _remove(folder)
                raise
            finally:
                if lock is not None:
                    _let_go(folder, lock)


def _remove(folder: Path) -> None:
    if not (folder / UNDO).exists():  # if it does, undoing failed, and what is in it is needed
        shutil.rmtree(folder, ignore_errors=True)  # what cannot be removed now is removed by the next run


def _let_go(folder: Path, lock: int) -> None:
    os.close(lock)
    if sys.platform == "win32":  # which removes no file that is open, such as the lock that was just closed
        _remove(folder)


def settle(path: str | Path) -> None:
    """Undo the unfinished replacement of a path by a dead process; to be called before the path is read.

    Raises:
        DataError: the remains are damaged.
        OSError: the system refused.
    """
    for folder in _beside(Path(path)):
        _settle_part(folder)


def settle_input(path: Path) -> None:
    """Settle an input: a file with the files that belong to it, or a folder with its contents.

    Raises:
        DataError: the remains are damaged.
        OSError: the system refused.
    """
    settle(path)
    if path.suffix == ".txt":
        settle(path.with_suffix(".ann"))  # a pair is staged under that name
    for part in _parts_in(path):
        _settle_part(part)


def sweep(folder: Path) -> None:
    """Remove the staging folders of dead processes in a folder and all folders in it; those of living ones stay.

    Raises:
        DataError: the journal of one is damaged.
    """
    for part in _parts_in(folder):
        with suppress(OSError):  # what cannot be removed is in nobody's way
            _remove_abandoned(part)


def _parts_in(path: Path) -> Iterator[Path]:
    for root, folders, _ in os.walk(path):
        parts = [name for name in folders if _PART.fullmatch(name)]
        folders[:] = [name for name in folders if name not in parts]
        yield from (Path(root, part) for part in parts)


def _settle_part(folder: Path) -> None:
    if _is_ours(folder) and (folder / UNDO).exists():
        _remove_abandoned(folder)


def is_part(path: str | Path) -> bool:
    """Return whether a relative path is, or is inside, a staging folder."""
    return any(_PART.fullmatch(name) for name in Path(path).parts)


def _beside(target: Path) -> list[Path]:
    """Return the staging folders of a target, abandoned or not."""
    stem, parent = _stem(target), target.absolute().parent
    if not parent.is_dir():
        return []
    with os.scandir(parent) as entries:
        found = ((entry.name, _PART.fullmatch(entry.name)) for entry in entries)
        return sorted(parent / name for name, match in found if match is not None and match[1] == stem)


def _stem(target: Path) -> str:
    name = target.absolute().name
    raw = os.fsencode(name)
    return name if len(raw) <= _LONGEST else f"{name[:40]}~{hashlib.sha256(raw).hexdigest()[:16]}"


def _remove_abandoned(folder: Path) -> None:
    """Undo the replacements of an abandoned staging folder and remove it."""
    if not _is_ours(folder):
        return
    lock = _claim(folder, certain=True)
    if lock is None:
        return
    try:
        undo(folder)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        _let_go(folder, lock)


def _is_ours(folder: Path) -> bool:
    """Return whether a path is a folder, no link, and owned by this user; others' folders are ignored."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and (sys.platform == "win32" or status.st_uid == os.geteuid())


def _claim(folder: Path, *, certain: bool = False) -> int | None:
    """Lock a staging folder and return the handle; ``None`` if another process holds or has removed it.

    Args:
        folder: the staging folder.
        certain: return ``None``, too, where the file system has no locks.
    """
    path = folder / _LOCK
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        return None
    try:
        held = locked(handle)
        if (held or (held is None and not certain)) and os.path.samestat(os.fstat(handle), path.stat()):
            return handle
    except FileNotFoundError:
        pass
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


def locked(handle: int) -> bool | None:
    """Return whether the lock was acquired; ``None`` if the file system has no locks."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return None
    return True
