"""What folders hold."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Final

from spanloom.errors import DataError, closest, reason_of

_SEEN: Final = 2000  # names of a folder that are compared with one that is not there


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
    return f"; did you mean {found}?"


def is_closed_link(path: Path) -> bool:
    """Return whether a path is a link to a folder, which is not followed, or to nothing."""
    return path.is_symlink() and not path.is_file()


def _refused(error: OSError) -> None:
    raise DataError(f"the folder cannot be read: {reason_of(error)}", path=error.filename) from None
