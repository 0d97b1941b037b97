"""Expat, the parser of XML of the standard library, with our errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError, errors

from spanloom.errors import DataError


def feed(parser: Any, data: bytes, path: str | Path | None, last: bool = True) -> None:
    """Have Expat parse bytes; it reads neither files nor addresses on its own.

    Args:
        parser: of `xml.parsers.expat`, with its handlers.
        data: all of a file, or a piece of it.
        path: for messages.
        last: whether no other piece follows.

    Raises:
        DataError: the bytes are no XML, or in an encoding that cannot be read.
    """
    try:
        parser.Parse(data, last)
    except ExpatError as error:
        reason = errors.messages.get(error.code, "unknown")
        message = f"found no well-formed XML in column {error.offset + 1} ({reason}); get the file again, or correct it"
        raise DataError(message, path=path, line=error.lineno) from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not know, or that Expat cannot use
        message = f"found an encoding that cannot be read ({error}); convert the file to UTF-8"
        raise DataError(message, path=path, line=1) from None
