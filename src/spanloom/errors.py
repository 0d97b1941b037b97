"""The errors that Spanloom raises on purpose.

::

    SpanloomError                 anything a caller may want to catch
    ├── DataError                 the text or its annotations: names file and line
    ├── ModelError                a model directory: damaged, hostile, of another version
    └── UsageError                an argument, an option or a configuration that cannot be meant

    DataWarning                   data that were read other than they stand: sorted, trimmed, left out

Every message says what was found, what was expected and what to do, in one line.
"""

from __future__ import annotations

from pathlib import Path


class SpanloomError(Exception):
    """Base of every error raised on purpose; its text is one line for the user."""


class DataError(SpanloomError):
    """Text or annotations that cannot be used, with their place.

    Args:
        message: what was found, what was expected and what to do.
        path: the file, if there is one.
        line: the line in the file, counted from 1.

    >>> str(DataError("found 'x', expected a number", path="a.ann", line=3))
    "a.ann:3: found 'x', expected a number"
    """

    def __init__(self, message: str, *, path: str | Path | None = None, line: int | None = None) -> None:
        self.message = message
        self.path = None if path is None else str(path)
        self.line = line
        super().__init__(message)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        return f"{place}: {self.message}" if place else self.message


class ModelError(SpanloomError):
    """A model directory that cannot be loaded: damaged, hostile, or written by another version."""


class UsageError(SpanloomError):
    """An argument, an option or a configuration that cannot be meant."""


class DataWarning(UserWarning):
    """Data that were read other than they stand: repaired, or left out. Each kind is told once, with its count."""
