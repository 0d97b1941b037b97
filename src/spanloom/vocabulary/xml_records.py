"""Records of an XML file one at a time, in the memory of one; nothing is fetched.

Entities are refused, except, where namespaces are read, short ones for the addresses of namespaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers.expat import ExpatError, ParserCreate, errors

from spanloom.errors import DataError
from spanloom.formats.source import opened

_CHUNK = 1 << 16
_DEEPEST = 100  # elements within each other; vocabularies have a dozen
_ADDRESS: Final = re.compile(r"[^&%<>\s]{1,200}")  # the text of an entity that may be declared for a namespace
_ENTITIES: Final = 500


def xml_records(
    path: str | Path, roots: Iterable[str], records: Iterable[str], *, namespaces: bool = False
) -> Iterator[tuple[Element, int]]:
    """The records of an XML file, with the lines on which they start.

    Args:
        path: the file.
        roots: what the outermost element may be called.
        records: the elements below it to give.
        namespaces: whether names are those of a namespace, its address before them.

    Raises:
        DataError: the file cannot be read, is no XML, or cut off; another outermost element; an entity.
    """
    parser = _Parser(path, frozenset(roots), frozenset(records), namespaces)
    with opened(path) as file:
        while chunk := file.read(_CHUNK):
            yield from parser.feed(chunk, last=False)
    yield from parser.feed(b"", last=True)


class _Parser:
    """Expat, which reads neither files nor addresses on its own, with a tree for the record at hand."""

    def __init__(self, path: str | Path, roots: frozenset[str], records: frozenset[str], namespaces: bool) -> None:
        self._path, self._roots, self._records, self._namespaces = path, roots, records, namespaces
        self._depth = 0
        self._tree: TreeBuilder | None = None
        self._start = 0
        self._found: list[tuple[Element, int]] = []
        self._entities = 0
        self._expat = ParserCreate(namespace_separator="" if namespaces else None)
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._open
        self._expat.EndElementHandler = self._close
        self._expat.CharacterDataHandler = self._data
        self._expat.EntityDeclHandler = self._declared_entity
        self._expat.SkippedEntityHandler = self._unknown_entity

    def feed(self, chunk: bytes, *, last: bool) -> list[tuple[Element, int]]:
        self._found = []
        try:
            self._expat.Parse(chunk, last)
        except ExpatError as error:
            reason = errors.messages.get(error.code, "unknown")
            message = (
                f"found no well-formed XML in column {error.offset + 1} ({reason}); get the file again, or correct it"
            )
            raise DataError(message, path=self._path, line=error.lineno) from None
        except (LookupError, ValueError) as error:  # an encoding that Python does not know, or that Expat cannot use
            message = f"found an encoding that cannot be read ({error}); convert the file to UTF-8"
            raise DataError(message, path=self._path, line=1) from None
        return self._found

    def _open(self, tag: str, attributes: dict[str, str]) -> None:
        if self._depth == 0 and tag not in self._roots:
            expected = " or ".join(f"<{root}>" for root in sorted(self._roots))
            raise self._error(f"found the element <{tag[:80]}>, expected {expected}; is this another format?")
        if self._depth == _DEEPEST:
            raise self._error(f"found more than {_DEEPEST} elements within each other, expected records")
        if self._depth == 1 and tag in self._records:
            self._tree, self._start = TreeBuilder(), self._expat.CurrentLineNumber
        self._depth += 1
        if self._tree is not None:
            self._tree.start(tag, attributes)

    def _close(self, tag: str) -> None:
        self._depth -= 1
        if self._tree is None:
            return
        self._tree.end(tag)
        if self._depth == 1:
            self._found.append((self._tree.close(), self._start))
            self._tree = None

    def _data(self, text: str) -> None:
        if self._tree is not None:
            self._tree.data(text)

    def _declared_entity(self, name: str, parameter: bool, value: str | None, *_: Any) -> None:
        self._entities += 1
        if self._namespaces and not parameter and _ADDRESS.fullmatch(value or "") and self._entities <= _ENTITIES:
            return
        raise self._error(f"found a declaration of the entity {name[:80]!r}, expected none; replace it by its text")

    def _unknown_entity(self, name: str, *_: Any) -> None:
        # after a mention of a DTD elsewhere, which is not fetched, an unknown entity is no error for Expat
        raise self._error(f"found the entity {name[:80]!r}, which is not declared here; replace it by its text")

    def _error(self, message: str) -> DataError:
        return DataError(message, path=self._path, line=self._expat.CurrentLineNumber)
