"""Staging folders: hidden folders beside an output, in which it is made; locked while their process lives.

``.NAME.xxxxxxxx.part`` holds the output (``new``), while it is put in place the old output (``old``,
``undo``; see `spanloom.files.swap`), and ``lock``, on which the owner holds a lock of the system's. That ends with
the process, however it ends: neither clocks nor process numbers are asked. Where the file system has no locks, nothing
is ever taken for abandoned.

Only a write of the same output acts on a staging folder of a dead process (`recover`, `staged`). Readers report one
(`leftovers`), and leave it alone: it may have come with the data.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import stat
import sys
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from spanloom.errors import DataWarning
from spanloom.files.swap import DRAFT, NEW, OLD, UNDO, undo
from spanloom.files.walk import NO_LINK

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_LOCK = "lock"
_CONTENT = frozenset((_LOCK, NEW, OLD, UNDO, DRAFT))
_PART = re.compile(r"\.(.*)\.[0-9a-f]{8}\.part", re.DOTALL)
_LONGEST = 200  # bytes of a name; with what is added it is still one


@contextmanager
def staged(*targets: Path) -> Iterator[Path]:
    """Yield a staging folder for one or several targets, with an empty folder ``new``; remove it at the end.

    Staging folders of dead processes for the same targets are removed first; see `recover`.

    Args:
        targets: the outputs, all in one folder; the first gives the staging folder its name.

    Raises:
        DataError: a journal beside the output is damaged, or not of these targets.
        OSError: the system refused.
    """
    recover(*targets)
    target = targets[0]
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
    if not os.path.lexists(folder / UNDO):  # if it does, undoing failed, and what is in it is needed
        shutil.rmtree(folder, ignore_errors=True)  # what cannot be removed now is removed by the next run


def _let_go(folder: Path, lock: int) -> None:
    os.close(lock)
    if sys.platform == "win32":  # which removes no file that is open, such as the lock that was just closed
        _remove(folder)


def recover(*targets: Path) -> None:
    """Undo the unfinished replacement of outputs by dead processes, and remove the staging folders of these.

    Args:
        targets: the outputs, which are about to be written.

    Raises:
        DataError: a journal is damaged, or not of these targets.
        OSError: the system refused to undo.
    """
    for folder in _beside(targets[0]):
        needed = os.path.lexists(folder / UNDO)
        try:
            _remove_abandoned(folder, {target.name for target in targets})
        except OSError:  # without a journal, what cannot be removed hinders no write
            if needed:
                raise


def leftovers(path: Path) -> list[Path]:
    """Return the staging folders beside an input and in it, which interrupted writes left, or writes that still run."""
    found = list[Path]()
    with suppress(OSError):  # a folder that cannot be listed
        found += _beside(path)
        if path.suffix == ".txt":
            found += _beside(path.with_suffix(".ann"))  # a pair is staged under that name
    return [part for part in found if part.is_dir()] + list(_parts_in(path))


def warn_of_leftovers(path: str | Path) -> None:
    """Issue a `DataWarning` for each of the `leftovers` of an input."""
    for part in leftovers(Path(path)):
        warnings.warn(f"{part}: {leftover(part)}", DataWarning, stacklevel=3)


def leftover(part: Path) -> str:
    """Return what a reader reports of a staging folder, without its path."""
    if os.path.lexists(part / UNDO):
        found = "left by an interrupted write, and not used; the files beside it may be partly old and partly new"
    else:
        found = "left by an interrupted write or one that still runs, and not read"
    return f"{found}; write that output again, or delete this folder"


def sweep(folder: Path) -> None:
    """Remove the staging folders of dead processes in an output folder; those with a journal stay."""
    for part in _parts_in(folder):
        with suppress(OSError):  # what cannot be removed hinders no write
            if not os.path.lexists(part / UNDO):
                _remove_abandoned(part, ())


def _parts_in(path: Path) -> Iterator[Path]:
    for root, folders, _ in os.walk(path):
        parts = [name for name in folders if _PART.fullmatch(name)]
        folders[:] = [name for name in folders if name not in parts]
        yield from (Path(root, part) for part in parts)


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


def _remove_abandoned(folder: Path, names: Collection[str]) -> None:
    """Undo the replacements of an abandoned staging folder and remove it."""
    if not _is_ours(folder):
        return
    lock = _claim(folder, certain=True)
    if lock is None:
        return
    try:
        undo(folder, names)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        _let_go(folder, lock)


def _is_ours(folder: Path) -> bool:
    """Return whether a path is a folder, no link, owned by this user, and holds what staging folders hold."""
    try:
        status = folder.lstat()
        mine = stat.S_ISDIR(status.st_mode) and (sys.platform == "win32" or status.st_uid == os.geteuid())
        return mine and {path.name for path in folder.iterdir()} <= _CONTENT
    except OSError:
        return False


def _claim(folder: Path, *, certain: bool = False) -> int | None:
    """Lock a staging folder and return the handle; ``None`` if another process holds or has removed it.

    Args:
        folder: the staging folder.
        certain: return ``None``, too, where the file system has no locks.
    """
    path = folder / _LOCK
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o600)
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
