"""File names: conversion from and to identifiers of documents."""

from __future__ import annotations

import os
import re
from pathlib import Path

from spanloom.document import Document
from spanloom.errors import DataError, clip
from spanloom.files.output import writing
from spanloom.files.walk import everything
from spanloom.formats.base import UNNAMED, Losses, name_of

_ESCAPED = re.compile(r'[\x00-\x1f/\\:*?"<>|]|^\.|%(?=[01][0-9A-F]|2[2AEF5]|3[ACEF]|5C|7C)')
_LONGEST = 255  # bytes of a name, on nearly all file systems
_ESCAPE = re.compile(r"%([01][0-9A-F]|2[2AEF5]|3[ACEF]|5C|7C)")


def visible(root: Path) -> list[Path]:
    """Return the files in a folder and its subfolders, by name, without hidden ones."""
    return [file for file in everything(root) if not re.search(r"(?:^|/)\.", file.relative_to(root).as_posix())]


def escaped(name: str) -> str:
    """Escape a name's characters that some file systems do not allow; ``/`` makes folders.

    >>> escaped("a/b?"), unescaped("a/b%3F")
    ('a/b%3F', 'a/b?')
    """
    parts = name.split("/")
    if "" in parts:
        parts = [name]
    return "/".join(_ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", part) for part in parts)


def unescaped(name: str) -> str:
    """Undo `escaped`."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), name)


def free_name(folder: Path, document: Document, number: int, suffix: str, output: Path, losses: Losses) -> str:
    """Return a free name for a document's file in an output folder, without its suffix.

    Args:
        folder: the output folder.
        document: the document, whose ``id`` is the name.
        number: of the document, from 1; for one without an ``id``.
        suffix: the suffix of the file that another document of this name would have.
        output: the folder's name in messages.
        losses: counts a document that has no ``id``, because it will be read with one.

    Raises:
        DataError: another document has the same ``id``, or it is too long for a file's name.
    """
    if not document.id:
        losses.add(UNNAMED)
        return name_of(document, number)
    name = escaped(document.id)
    size = max(len(part.encode("utf-8", "surrogatepass")) for part in name.split("/")) + len(suffix)
    if size > _LONGEST:
        message = (
            f"found a document id that begins {document.id[:40]!r} and would need a file name of {size} bytes, "
            f"expected {_LONGEST} at most; give it a shorter one"
        )
        raise DataError(message, path=output)
    if os.path.lexists(folder / f"{name}{suffix}"):
        message = f"two documents are called {clip(document.id)}; give each an identifier of its own"
        raise DataError(message, path=output)
    return name


def put(file: Path, content: str | bytes, output: Path) -> None:
    """Write one file of an output folder; ``output`` is the folder's name in messages."""
    with writing(output):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
