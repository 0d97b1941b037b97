"""The errors that Spanloom raises on purpose.

::

    SpanloomError                 anything a caller may want to catch
    ├── DataError                 the text or its annotations: names file and line
    ├── ModelError                a model directory: damaged, hostile, of another version
    └── UsageError                an argument, an option or a configuration that is invalid; also a ValueError
        └── NotFittedError        a model that is not trained; also scikit-learn's, where that is loaded

    DataWarning                   data that a reader changed: sorted, trimmed, left out
    LostWarning                   training mentions that a model cannot represent

Every message is one line: what was found, what was expected and what to do.
"""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Iterable
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any

LONGEST = 2000  # characters of a message
_REASON = 300  # of another library's message
_NAME = 100  # of the longest name that is compared with others
_LIKE = 0.7  # from 0 to 1, how like a name another must be to be what was meant
_END = 600  # of them, how many stay of the end of a longer one


def one_line(text: str) -> str:
    r"""Return a message in one line, without control characters, of at most `LONGEST` characters.

    The middle of a longer one is left out, so that its beginning and its advice stay.

    >>> one_line("found 'a\r\nb', expected a number")
    "found 'a\\r\\nb', expected a number"
    """
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - _END - 1]}…{text[-_END:]}"
    if not text.isprintable():
        text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return text


def clip(text: str, most: int = 60) -> str:
    r"""Return the beginning of a user's text in quotes, on one line, for a message.

    >>> clip("a\rb"), clip("pain" * 1000, 9)
    ("'a\\rb'", "'painpain…'")
    """
    return repr(text if len(text) <= most else text[: most - 1] + "…")


def closest(given: object, known: Iterable[str]) -> str | None:
    """Return the known name that is most like what a user gave, in any case of letters; ``None`` if none is.

    >>> closest("genai", ["genia", "gum"]), closest("Shard", ["shared", "split"]), closest("x", ["genia"])
    ('genia', 'shared', None)
    """
    if not isinstance(given, str) or len(given) > _NAME:
        return None
    folded = {name.casefold(): name for name in known}
    close = get_close_matches(given.casefold(), folded, n=1, cutoff=_LIKE)
    return folded[close[0]] if close else None


def meant(given: object, known: Iterable[str]) -> str:
    """Return the end of a message that asks for the closest of some names; empty if none is like what was given.

    >>> meant("genai", ["genia", "gum"])
    '; did you mean genia?'
    """
    close = closest(given, known)
    return "" if close is None else f"; did you mean {close}?"


def reason_of(error: BaseException) -> str:
    """Return the message of an error of another library in one line, with its class where the message alone is unclear.

    >>> reason_of(ValueError("too\\n  long")), reason_of(KeyError("added_tokens")), reason_of(OSError(2, "Gone"))
    ('too long', "KeyError: 'added_tokens'", 'gone')
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    text = " ".join(str(error).split())
    if not text or isinstance(error, LookupError | AttributeError | TypeError | AssertionError):
        text = f"{type(error).__name__}: {text}".removesuffix(": ")
    return text if len(text) <= _REASON else f"{text[: _REASON - 1]}…"


class SpanloomError(Exception):
    """Base of every error raised on purpose; its text is one line for the user."""

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(message))


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
        self.message = one_line(message)
        self.path = None if path is None else str(path)
        self.line = line
        super().__init__(message)

    def __str__(self) -> str:
        place = one_line(":".join(str(part) for part in (self.path, self.line) if part is not None))
        return f"{place}: {self.message}" if place else self.message


class ModelError(SpanloomError):
    """A model directory that cannot be loaded: damaged, hostile, or written by another version."""


class UsageError(SpanloomError, ValueError):
    """An argument, an option or a configuration that is invalid."""


class NotFittedError(UsageError):
    """Use of an unfitted model; where scikit-learn is loaded, also its error of this name."""


def plural(number: int, noun: str, several: str = "") -> str:
    """Return a number with its noun, singular or plural, for a message.

    Args:
        number: how many.
        noun: in the singular.
        several: the plural, where it is not the noun with an s.

    >>> plural(1, "sentence"), plural(1200, "sentence"), plural(2, "process", "processes")
    ('1 sentence', '1,200 sentences', '2 processes')
    """
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def check_number(
    name: str, value: object, least: float = -math.inf, most: float = math.inf, *, whole: bool = False
) -> None:
    """Check that an argument is a finite number within its bounds; ``True`` and ``False`` are no numbers.

    Args:
        name: of the argument.
        value: of the argument.
        least: that it may be.
        most: that it may be.
        whole: whether it must be a whole number.

    Raises:
        UsageError: another value, or one outside of the bounds.

    >>> check_number("threshold", math.nan, 0, 1)
    Traceback (most recent call last):
    spanloom.errors.UsageError: threshold is nan, expected a number from 0 to 1
    """
    number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    if not (number and least <= value <= most and -math.inf < value < math.inf):  # type: ignore[operator]
        bounds = [(word, bound) for word, bound in (("from", least), ("to", most)) if abs(bound) < math.inf]
        kind = "whole number" if whole else "number" if bounds else "finite number"
        limits = "".join(f" {word} {bound:g}" for word, bound in bounds)
        raise UsageError(f"{name} is {clip(repr(value))[1:-1]}, expected a {kind}{limits}")


def not_fitted(what: str) -> NotFittedError:
    """Return the error for a model that is not trained.

    Args:
        what: the kind of model, such as ``recognizer``.

    >>> raise not_fitted("recognizer")
    Traceback (most recent call last):
    spanloom.errors.NotFittedError: this recognizer is not trained; call fit, or load a model
    """
    theirs = sys.modules.get("sklearn.exceptions")
    kind = NotFittedError if theirs is None else _joined(theirs.NotFittedError)
    return kind(f"this {what} is not trained; call fit, or load a model")


@cache
def _joined(theirs: type[Exception]) -> type[NotFittedError]:
    """Return our error as a subclass of another library's, too; pickled, as between processes, it becomes ours."""

    def reduce(error: NotFittedError) -> tuple[type[NotFittedError], tuple[Any, ...]]:
        return NotFittedError, error.args

    return type("NotFittedError", (NotFittedError, theirs), {"__module__": __name__, "__reduce__": reduce})


class DataWarning(UserWarning):
    """Data that a reader repaired or left out: one warning for each kind, with its count."""


class LostWarning(UserWarning):
    """Training mentions that a model cannot represent: how many, and why; `lost_` of the model lists them."""


LOG = "SPANLOOM_LOG"
"""The environment variable for the form of lines on standard error: ``json``, or text."""


def as_json() -> bool:
    """Return whether lines on standard error are JSON, for a program that collects them."""
    return os.environ.get(LOG) == "json"


def log_line(level: str, **fields: Any) -> str:
    """Return a line of a log: time in UTC, level (``info``, ``warning``, ``progress`` or ``error``), and the fields."""
    return json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": level, **fields})


def notice_line(message: str) -> str:
    """Format a warning about input that was repaired, skipped or lost."""
    return log_line("warning", message=message) if as_json() else f"spanloom: {message}"


def warnings_as_lines() -> None:
    """Write warnings to standard error as log lines; for worker processes."""

    def show(message: Warning | str, *place: Any, **more: Any) -> None:
        print(notice_line(one_line(str(message))), file=sys.stderr, flush=True)

    warnings.showwarning = show
