"""Staging folders: hidden folders beside an output, in which it is made, and from which it is put in place.

They are locked while their process lives.

``.NAME.xxxxxxxx.part`` holds the output (``new``), while it is put in place the old output (``old``,
``undo``; see `spanloom.files.staging`), and ``lock``, on which the owner holds a lock of the system's. That ends with
the process, however it ends: neither clocks nor process numbers are asked. Where the file system has no locks, nothing
is ever taken for abandoned.

Only a write of the same output acts on a staging folder of a dead process (`recover`, `staged`). Readers report one
(`leftovers`), and leave it alone: it may have come with the data.
"""

from __future__ import annotations

import ctypes
import errno
import filecmp
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from spanloom.errors import DataError, DataWarning
from spanloom.files.walk import NO_LINK, read_plain

NEW, OLD, UNDO, DRAFT = "new", "old", "undo", "undo.draft"
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
            folder.mkdir(0o700)  # half-written files are private
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


# Atomic replacement of outputs: a process killed at any moment leaves the old ones or the new.
#
# The new outputs are complete in ``STAGING/new``, on the disk and not only in memory, before anything is renamed.
#
# - One file, or a new folder: one rename, which is one step for every system.
# - A folder over another: Linux exchanges two names in one step (``renameat2``), on the file systems that can.
# - Otherwise, and for several files, there are several renames. Before the first, old outputs are kept in
#   ``STAGING/old`` and a journal is written, ``STAGING/undo``; after the last the journal is removed, and that is the
#   step that counts. The process undoes the renames (`undo`) if one of them fails. If it dies, the next write of the
#   same output does.
#
# A journal is data like any other: anyone may have put it there. It is used only if it names nothing but the outputs
# that are about to be written, and numbered files of its own staging folder.

_NUMBER = re.compile(r"[0-9]{1,3}")
_LARGEST = 1 << 16  # bytes of a journal
_FEW = 16  # files and folders that are flushed one by one; for more, the whole file system at once is faster
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of Linux
_NO_FOLDERS = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EISDIR}  # from what cannot flush one


class _Move(NamedTuple):
    """A line of the journal of renames.

    Args:
        place: name of the output, which is in the folder around the staging folder.
        name: of the new one in ``new`` and of the old one in ``old``; a number.
        folder: whether a folder is replaced; it is renamed, where a file is linked.
        stamp: size and time of the new one, which identify it when it is in place.
    """

    place: str
    name: str
    folder: bool
    stamp: list[int]


def put(staging: Path, targets: Sequence[Path]) -> None:
    """Put ``new/0``, ``new/1``, ... of a staging folder in the places of ``targets``: all of them, or none.

    The targets are in the folder around the staging folder, which holds the old outputs afterwards, if they are kept.

    Raises:
        OSError: a rename failed; the old outputs are in place again.
    """
    moves = [(staging / NEW / str(i), target) for i, target in enumerate(targets)]
    for new, target in moves:
        if target.exists():
            # a folder that its owner could not write to could not be moved either
            new.chmod(stat.S_IMODE(target.stat().st_mode) | (0o700 if target.is_dir() else 0))
        if new.is_dir():
            flush(new)
    if len(moves) > 1:  # such as a text whose annotations alone changed: one step less, or one step in all
        moves = [(new, target) for new, target in moves if not _same(new, target)] or moves[:1]
    if len(moves) > 1 or not _at_once(*moves[0]):
        _in_steps(staging, moves)
    with suppress(OSError):  # the output is in place, and only a power cut could bring back the old one
        _flush_folder(staging.parent)


def undo(staging: Path, names: Collection[str]) -> None:
    """Undo the renames in a journal; without a journal, do nothing.

    A file that is neither the old nor the new one came from another program since, and stays.

    Args:
        staging: the staging folder.
        names: of the outputs; a journal that names anything else is refused.

    Raises:
        DataError: the journal is damaged, or not one of these outputs; nothing was changed.
        OSError: the system refused; the journal is kept, for another time.
    """
    journal = staging / UNDO
    if not os.path.lexists(journal):
        return
    for move in _read(journal, names):
        target, new, old = staging.parent / move.place, staging / NEW / move.name, staging / OLD / move.name
        if move.folder:
            if _stamp(target) == move.stamp:
                target.rename(new)
            if old.exists() and not target.exists():
                old.rename(target)
        elif _stamp(target) == move.stamp:
            if old.exists():
                old.replace(target)
            else:
                target.replace(new)
    journal.unlink()


def exchange(one: Path, other: Path) -> bool:
    """Swap two names in one step; return false where the system or the file system cannot."""
    call = _linux("renameat2")
    if call is None:
        return False
    done: int = call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return done == 0


def flush(folder: Path) -> None:
    """Flush a folder, its files and its subfolders to the disk.

    Raises:
        OSError: a disk that is full or fails may show only here.
    """
    folders, files = [folder], list[Path]()
    for root, inner, names in os.walk(folder):
        folders += [Path(root, name) for name in inner]
        files += [Path(root, name) for name in names]
    if len(files) + len(folders) > _FEW and _flush_file_system(folder):
        return
    for file in files:
        _flush(file)
    for inside in folders:
        _flush_folder(inside)


def _read(journal: Path, names: Collection[str]) -> list[_Move]:
    staging = journal.parent
    try:
        moves = [_Move(**line) for line in json.loads(read_plain(journal, _LARGEST))]
        sound = all(_is_sound(staging, move, names) for move in moves)
    except (OSError, ValueError, TypeError, RecursionError):
        sound = False
    if not sound:
        raise DataError(
            f"not the journal of an interrupted write of {', '.join(sorted(names))}, and not used; delete the folder "
            "around it, or name another output",
            path=journal,
        )
    return moves


def _is_sound(staging: Path, move: _Move, names: Collection[str]) -> bool:
    """Return whether a move stays among these outputs and the numbered files of the staging folder, without links."""
    if move.place not in names or not _NUMBER.fullmatch(move.name):
        return False
    if not (_is(stat.S_ISDIR, staging / NEW) and _is(stat.S_ISDIR, staging / OLD)):
        return False
    kind = stat.S_ISDIR if move.folder else stat.S_ISREG
    places = (staging.parent / move.place, staging / NEW / move.name, staging / OLD / move.name)
    return all(_is(kind, place) for place in places if os.path.lexists(place))


def _is(kind: Callable[[int], bool], path: Path) -> bool:
    """Return whether there is a path, and not a link, of a kind."""
    return os.path.lexists(path) and kind(path.lstat().st_mode)


def _at_once(new: Path, target: Path) -> bool:
    if target.is_dir():
        return exchange(new, target)
    new.replace(target)
    return True


def _in_steps(staging: Path, moves: Sequence[tuple[Path, Path]]) -> None:
    (staging / OLD).mkdir()
    lines = []
    for new, target in moves:
        folder = target.is_dir()
        if not folder and target.exists():
            _keep(target, staging / OLD / new.name)
        lines.append(_Move(target.name, new.name, folder, _stamp(new))._asdict())
    try:
        _write_journal(staging, lines)
        for new, target in moves:
            if target.is_dir():
                target.rename(staging / OLD / new.name)
            new.replace(target)
        (staging / UNDO).unlink()
    except BaseException:
        undo(staging, {target.name for _, target in moves})
        raise


def _write_journal(staging: Path, lines: Sequence[Mapping[str, object]]) -> None:
    draft = staging / DRAFT
    draft.write_text(json.dumps(lines), encoding="utf-8")
    _flush(draft)
    draft.rename(staging / UNDO)
    for folder in (staging / OLD, staging, staging.parent):
        _flush_folder(folder)


def _keep(file: Path, kept: Path) -> None:
    try:
        os.link(file, kept)
    except OSError:  # a file system without hard links, or a file of another user
        shutil.copy2(file, kept)
        _flush(kept)


def _same(one: Path, other: Path) -> bool:
    return other.is_file() and filecmp.cmp(one, other, shallow=False)


def _stamp(path: Path) -> list[int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return []
    return [status.st_size, status.st_mtime_ns]


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _flush_folder(folder: Path) -> None:
    try:
        _flush(folder)
    except OSError as error:
        if error.errno not in _NO_FOLDERS:
            raise


def _flush_file_system(folder: Path) -> bool:
    call = _linux("syncfs")
    if call is None:
        return False
    handle = os.open(folder, os.O_RDONLY)
    try:
        return bool(call(handle) == 0)
    finally:
        os.close(handle)


@cache
def _linux(name: str) -> Any:
    """Return a function of Linux's C library that Python lacks; ``None`` elsewhere, or if the library is too old."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None


if sys.platform == "win32":
    import msvcrt
else:
    import fcntl
