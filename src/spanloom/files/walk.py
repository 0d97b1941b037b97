"""What folders hold."""

from __future__ import annotations

import os
from pathlib import Path

from spanloom.errors import DataError, reason_of


def everything(root: Path) -> list[Path]:
    """Return all files and folders in a folder and its subfolders, by name; links to folders are not followed.

    Raises:
        DataError: a folder cannot be read; what it holds would be missed otherwise.
    """
    found = list[Path]()
    for folder, folders, files in os.walk(root, onerror=_refused):
        found.extend(Path(folder, name) for name in (*folders, *files))
    return sorted(found)


def is_closed_link(path: Path) -> bool:
    """Return whether a path is a link to a folder, which is not followed, or to nothing."""
    return path.is_symlink() and not path.is_file()


def _refused(error: OSError) -> None:
    raise DataError(f"the folder cannot be read: {reason_of(error)}", path=error.filename) from None
