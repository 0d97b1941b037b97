"""Atomic replacement of outputs: a process killed at any moment leaves the old ones or the new.

The new outputs are complete in ``STAGING/new``, on the disk and not only in memory, before anything is renamed.

- One file, or a new folder: one rename, which is one step for every system.
- A folder over another: Linux exchanges two names in one step (``renameat2``), on the file systems that can.
- Otherwise, and for several files, there are several renames. Before the first, old outputs are kept in ``STAGING/old``
  and a journal is written, ``STAGING/undo``; after the last the journal is removed, and that is the step that counts.
  The process undoes the renames (`undo`) if one of them fails. If it dies, the next write of the same output does.

A journal is data like any other: anyone may have put it there. It is used only if it names nothing but the outputs
that are about to be written, and numbered files of its own staging folder.
"""

from __future__ import annotations

import ctypes
import errno
import filecmp
import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from spanloom.errors import DataError
from spanloom.files.walk import read_plain

NEW, OLD, UNDO, DRAFT = "new", "old", "undo", "undo.draft"
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
    except OSError:  # a file system without hard links, or somebody else's file
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
