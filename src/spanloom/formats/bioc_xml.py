"""BioC XML, one document at a time.

Entities are not expanded, the DTD is not loaded, and nothing is fetched. A file that defines entities is refused, and
so is one that is not UTF-8, whatever it says that it is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from lxml import etree

from spanloom.document.validate import Problem
from spanloom.errors import DataError
from spanloom.files import STDIO
from spanloom.formats.base import Format, Scanned
from spanloom.formats.bioc_reading import understand
from spanloom.formats.bioc_tree import Annotation, Infons, Relation, Section, Tree
from spanloom.formats.bioc_values import COLLECTION
from spanloom.formats.bioc_writer import write_xml
from spanloom.formats.source import unreadable

_HEAD = 65_536  # bytes in which a file's kind must show
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*encoding\s*=\s*["']([^"']*)["']""")
_NOISE = re.compile(r",? ?(?:line \d+, column \d+|(?:use|try) XML_PARSE_HUGE(?: option)?)")  # of libxml2's messages
_INTEGER = re.compile(r"\s*-?[0-9]{1,15}\s*")


def claims(path: Path) -> bool:
    """An ``.xml`` file with a ``<collection>`` near its begin."""
    if path.suffix.lower() != ".xml" or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return b"<collection" in file.read(_HEAD)
    except OSError as error:
        raise unreadable(path, error) from error


def scan(path: str | Path) -> Iterator[Scanned]:
    """The documents of a BioC XML file."""
    name = str(path)
    try:
        if name == STDIO:
            yield from _scan(_Source(sys.stdin.buffer), name)
        else:
            with Path(path).open("rb") as file:
                yield from _scan(_Source(file), name)
    except OSError as error:
        raise unreadable(path, error) from error


class _Source:
    """A file whose first bytes are looked at before they are parsed; for standard input, too."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.head = file.read(_HEAD)
        self._left = self.head

    def read(self, size: int) -> bytes:
        """What lxml asks for."""
        if self._left:
            chunk, self._left = self._left[:size], self._left[size:]
            return chunk
        return self._file.read(size)


def _scan(source: _Source, path: str) -> Iterator[Scanned]:
    problem = _head_problem(source.head)
    if problem is not None:
        yield Scanned(None, [problem_at(problem, path)], path)
        return
    context = etree.iterparse(
        source,
        events=("start", "end"),
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    found = False
    try:
        for scanned in _documents(context, path):
            found = True
            yield scanned
    except DataError as error:
        yield Scanned(None, [problem_at(error, path)], path, error.line)
        return
    except etree.XMLSyntaxError as error:
        yield Scanned(None, [problem_at(_syntax(error), path)], path)
        return
    if not found:
        empty = DataError("the collection holds no document; expected <document> with its passages")
        yield Scanned(None, [problem_at(empty, path)], path)


def problem_at(error: DataError, path: str) -> Problem:
    """An error as a problem of a file."""
    return Problem("error", "unreadable", error.message, path=path, line=error.line)


def _head_problem(head: bytes) -> DataError | None:
    if not head.strip():
        return DataError("the file is empty; expected BioC XML, a <collection> of documents")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return DataError("the file starts with the mark of UTF-16; convert it to UTF-8", line=1)
    declared = _DECLARED.match(head.removeprefix(b"\xef\xbb\xbf"))
    if declared is not None and declared[1].upper() not in (b"UTF-8", b"UTF8", b"US-ASCII", b"ASCII"):
        shown = declared[1][:40].decode("ascii", "replace")
        return DataError(f"the file says that its encoding is {shown}; convert it to UTF-8, and say so", line=1)
    return None


def _syntax(error: etree.XMLSyntaxError) -> DataError:
    line, _ = error.position
    reason = _NOISE.sub("", " ".join(str(error.msg).split()))[:200]
    return DataError(f"not XML: {reason}; mend the file, or get it again", line=line or None)


def _documents(context: Any, path: str) -> Iterator[Scanned]:
    collection: dict[str, Any] = {}
    infons: Infons = {}
    depth = 0
    for event, element in context:
        if event == "start":
            depth += 1
            if depth == 1:
                _check_root(element)
            continue
        depth -= 1
        if depth != 1:
            continue
        if element.tag == "document":
            yield _document(element, collection | ({"infons": infons} if infons else {}), path)
        elif element.tag == "infon":
            _add_infon(infons, element)
        elif element.tag in COLLECTION:
            if _text(element):
                collection[element.tag] = _text(element)
        else:
            raise DataError(f"found <{element.tag}>, expected <document>; this is no BioC", line=element.sourceline)
        element.clear()
        while element.getprevious() is not None:  # what was read is needed no more
            del element.getparent()[0]


def _check_root(root: Any) -> None:
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and next(dtd.iterentities(), None) is not None:
        raise DataError("the file defines entities, which are not expanded; write the characters themselves", line=1)
    if root.tag != "collection":
        raise DataError(f"found <{root.tag}>, expected BioC's <collection>", line=root.sourceline)


def _document(element: Any, collection: dict[str, Any], path: str) -> Scanned:
    try:
        tree = _tree(element)
    except DataError as error:
        return Scanned(None, [problem_at(error, path)], path, element.sourceline)
    return understand(tree, collection, path)


def _tree(element: Any) -> Tree:
    tree = Tree(line=element.sourceline)
    for child in element:
        match child.tag:
            case "id":
                tree.id = _text(child).strip()
            case "infon":
                _add_infon(tree.infons, child)
            case "passage":
                tree.passages.append(_section(child))
            case "annotation":
                tree.annotations.append(_annotation(child))
            case "relation":
                tree.relations.append(_relation(child))
            case _:
                raise _unexpected(child)
    if not tree.passages:
        raise DataError("a <document> without a <passage>; expected at least one", line=element.sourceline)
    return tree


def _section(element: Any) -> Section:
    section = Section(line=element.sourceline)
    offset: int | None = None
    for child in element:
        match child.tag:
            case "offset":
                offset = _integer(_text(child), child)
            case "text":
                section.text = _text(child)
            case "infon":
                _add_infon(section.infons, child)
            case "sentence" if element.tag == "passage":
                section.sentences.append(_section(child))
            case "annotation":
                section.annotations.append(_annotation(child))
            case "relation":
                section.relations.append(_relation(child))
            case _:
                raise _unexpected(child)
    if offset is None:
        raise DataError(f"a <{element.tag}> without <offset>; expected where it begins", line=element.sourceline)
    section.offset = offset
    return section


def _annotation(element: Any) -> Annotation:
    annotation = Annotation(element.get("id", ""), line=element.sourceline)
    for child in element:
        match child.tag:
            case "infon":
                _add_infon(annotation.infons, child)
            case "location":
                place = (_integer(child.get(name), child, name) for name in ("offset", "length"))
                annotation.locations.append((next(place), next(place)))
            case "text":
                annotation.text = _text(child)
            case _:
                raise _unexpected(child)
    return annotation


def _relation(element: Any) -> Relation:
    relation = Relation(element.get("id", ""))
    for child in element:
        match child.tag:
            case "infon":
                _add_infon(relation.infons, child)
            case "node":
                relation.nodes.append((child.get("refid", ""), child.get("role", "")))
            case _:
                raise _unexpected(child)
    return relation


def _add_infon(infons: Infons, element: Any) -> None:
    """A key that stands several times has a list of values."""
    key, value = element.get("key", ""), _text(element)
    if key not in infons:
        infons[key] = value
    elif isinstance(infons[key], list):
        infons[key].append(value)
    else:
        infons[key] = [infons[key], value]


def _text(element: Any) -> str:
    if len(element):
        inner = element[0]
        found = f"&{inner.name};" if isinstance(inner, etree._Entity) else f"<{inner.tag}>"
        message = f"found {found[:40]} in <{element.tag}>, expected plain characters; write them themselves"
        raise DataError(message, line=element.sourceline)
    return element.text or ""


def _integer(value: str | None, element: Any, name: str = "") -> int:
    if value is None or not _INTEGER.fullmatch(value):
        what = f"{name} of <{element.tag}>" if name else f"<{element.tag}>"
        found = "nothing" if value is None else repr(value[:40])
        raise DataError(f"found {found} as {what}, expected an integer", line=element.sourceline)
    return int(value)


def _unexpected(element: Any) -> DataError:
    parent = element.getparent()
    found = f"&{element.name};" if isinstance(element, etree._Entity) else f"<{element.tag}>"
    return DataError(f"found {found[:40]} in <{parent.tag}>, which BioC does not have there", line=element.sourceline)


BIOC = Format("bioc", (".xml",), scan, write_xml, claims=claims, gaps=True)
