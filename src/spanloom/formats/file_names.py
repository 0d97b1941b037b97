"""Identifiers of documents as names of files, and back."""

from __future__ import annotations

import re

_ESCAPED = re.compile(r'[\x00-\x1f/\\:*?"<>|]|^\.|%(?=[01][0-9A-F]|2[2AEF5]|3[ACEF]|5C|7C)')
_ESCAPE = re.compile(r"%([01][0-9A-F]|2[2AEF5]|3[ACEF]|5C|7C)")


def escaped(name: str) -> str:
    """A name whose characters all file systems hold; ``/`` makes folders.

    >>> escaped("a/b?"), unescaped("a/b%3F")
    ('a/b%3F', 'a/b?')
    """
    parts = name.split("/")
    if "" in parts:
        parts = [name]
    return "/".join(_ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", part) for part in parts)


def unescaped(name: str) -> str:
    """The name that `escaped` was given."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), name)
