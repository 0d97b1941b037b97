"""TOML files of a user, with errors that name what they are for."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from spanloom.errors import DataError, UsageError, clip
from spanloom.files.walk import meant_path


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
