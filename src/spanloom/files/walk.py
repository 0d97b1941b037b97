"""What folders hold, and files in them that anyone may have made: neither links nor pipes, and of bounded size."""

from __future__ import annotations

import errno
import os
import stat
import tomllib
from itertools import islice
from pathlib import Path
from typing import Any, Final

from spanloom.errors import DataError, UsageError, clip, closest, reason_of

_SEEN: Final = 2000  # names of a folder that are compared with one that is not there

NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Flags to open a file with, so that no link is followed, and no pipe waited for."""


def read_plain(path: Path, most: int) -> bytes:
    """Return the content of a file.

    Args:
        path: of the file.
        most: the maximum number of bytes.

    Raises:
        OSError: it is missing, a link, no regular file, or too large, or the system refused.
    """
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | NO_LINK)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"larger than {most:,} bytes", str(path))
        return file.read(most)


def check_plain(folder: Path) -> None:
    """Check that a folder, and all folders in it, hold nothing but files and folders, and that it is no link itself.

    Raises:
        DataError: there is a link, a pipe or the like, through which something else would be read or written.
    """
    for path in (folder, *everything(folder)):
        check_no_link(path)


def check_no_link(path: Path) -> None:
    """Check that what is at a path, if anything is, is a file or a folder.

    Raises:
        DataError: a link, a pipe or the like.
    """
    mode = path.lstat().st_mode if os.path.lexists(path) else stat.S_IFREG
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = "a link" if stat.S_ISLNK(mode) else "a pipe or the like"
        raise DataError(f"{kind}, where files that Spanloom made are expected; remove it", path=path)


def everything(root: Path) -> list[Path]:
    """Return all files and folders in a folder and its subfolders, by name; links to folders are not followed.

    Raises:
        DataError: a folder cannot be read; what it holds would be missed otherwise.
    """
    found = list[Path]()
    for folder, folders, files in os.walk(root, onerror=_refused):
        found.extend(Path(folder, name) for name in (*folders, *files))
    return sorted(found)


def meant_path(path: Path) -> str:
    """Return the end of a message about a path that is not there: the file or folder that was probably meant.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Path(folder, "notes.jsonl").touch()
    ...     meant_path(Path(folder, "note.jsonl")).endswith("notes.jsonl?"), meant_path(Path(folder, "x.jsonl"))
    (True, '')
    """
    found = Path(path.anchor)
    try:
        for part in path.relative_to(path.anchor).parts:
            if (found / part).exists():
                found /= part
                continue
            with os.scandir(found) as entries:
                there = [Path(entry.name) for entry in islice(entries, _SEEN)]
            name = Path(part)  # its ending is not compared where another has it: any two names would be alike
            same = {other.stem: other.name for other in there if other.suffix == name.suffix}
            others = {other.name: other.name for other in there if other.suffix != name.suffix}
            close = next(filter(None, (closest(name.stem, same), closest(part, others))), None)
            if close is None:
                return ""
            found /= same.get(close) or others[close]
    except (OSError, ValueError):  # a name that no system has, or a folder that cannot be read
        return ""
    return "" if found == path else f"; did you mean {found}?"


def is_closed_link(path: Path) -> bool:
    """Return whether a path is a link to a folder, which is not followed, or to nothing."""
    return path.is_symlink() and not path.is_file()


def _refused(error: OSError) -> None:
    raise DataError(f"the folder cannot be read: {reason_of(error)}", path=error.filename) from None


# TOML files of a user, with errors that name what they are for.


def read_toml(path: str | Path, what: str, expected: str) -> dict[str, Any]:
    """Read a TOML file.

    Args:
        path: the file.
        what: what it holds, for messages.
        expected: what is expected in it.

    Raises:
        UsageError: it cannot be read.
        DataError: it is not TOML in UTF-8.
    """
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{what} {str(path)!r} cannot be read: {error.strerror}{meant_path(Path(path))}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"found bytes that are not UTF-8 ({error.reason}); convert the file", path=path) from None
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"not a TOML file of {what}: {error}", path=path) from None
    except (RecursionError, ValueError):  # of thousands of levels, or a number of thousands of digits
        raise DataError(f"nested too deeply, or a number too long; expected {expected}", path=path) from None


def shown_value(value: object) -> str:
    """Return a value of a TOML file for a message."""
    if value is None:
        return "nothing"
    try:
        return clip(value) if isinstance(value, str) else clip(repr(value))[1:-1]
    except ValueError:  # a number of thousands of digits
        return "a number that is too long"
