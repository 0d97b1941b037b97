"""BioC JSON: a collection, a list of collections or documents, or one document; PubTator 3 wraps a list, too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from spanloom.document.validate import Problem
from spanloom.errors import DataError
from spanloom.formats.base import Format, Scanned
from spanloom.formats.bioc_reading import understand
from spanloom.formats.bioc_values import COLLECTION, Values, wrong
from spanloom.formats.bioc_writer import write_json
from spanloom.formats.json_text import loads
from spanloom.formats.source import BOM, read_bytes, unreadable

_HEAD = 65_536  # bytes in which a file's kind must show
_SHOWN = 60  # characters of an identifier in a message
_MARK = re.compile(rb'"(?:documents|passages|PubTator3)"\s*:\s*\[')


def claims(path: Path) -> bool:
    """A ``.json`` file with a list of documents or passages near its begin."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return _MARK.search(file.read(_HEAD)) is not None
    except OSError as error:
        raise unreadable(path, error) from error


def scan(path: str | Path) -> Iterator[Scanned]:
    """The documents of a BioC JSON file."""
    name = str(path)
    raw = read_bytes(path).removeprefix(BOM)
    found = False
    try:
        for value, collection in _documents(loads(raw, path)):
            found = True
            yield _scanned(value, collection, name)
        if not found:
            raise DataError("the file holds no document; expected BioC JSON, an object with a list of 'documents'")
    except DataError as error:
        yield Scanned(None, [Problem("error", "unreadable", error.message, path=name, line=error.line)], name)


def _documents(value: object) -> Iterator[tuple[object, dict[str, Any]]]:
    """Documents with what is said of their collection."""
    if isinstance(value, list):
        for item in value:
            yield from _documents(item)
        return
    if not isinstance(value, dict):
        raise wrong("the file", value, "BioC JSON, an object with a list of 'documents'")
    inner = next((value[name] for name in ("documents", "PubTator3") if name in value), None)
    if inner is None:
        yield value, {}
    elif isinstance(inner, list):
        if "infons" in value and not isinstance(value["infons"], dict):
            raise wrong("infons", value["infons"], "an object")
        collection = {name: value[name] for name in COLLECTION if value.get(name)}
        yield from ((item, collection) for item in inner)
    else:
        raise wrong("documents", inner, "a list of documents")


def _scanned(value: object, collection: dict[str, Any], path: str) -> Scanned:
    try:
        tree = Values().document(value)
    except DataError as error:
        name = value.get("id") if isinstance(value, dict) else None
        place = f"document {str(name)[:_SHOWN] if isinstance(name, str | int) else '?'}"
        return Scanned(None, [Problem("error", "wrong field", error.message, place, path=path)], path)
    scanned = understand(tree, collection, path)
    return scanned._replace(problems=[replace(problem, line=None) for problem in scanned.problems])


BIOC_JSON = Format("bioc-json", (".json",), scan, write_json, claims=claims, gaps=True)
