"""Syntax of BioC files, in XML and JSON: parsers to a tree of plain values, and printers.

BioC (Comeau et al. 2013, "BioC: a minimalist approach to interoperability for biomedical text processing", Database)
has two spellings, XML and JSON, of one tree: a collection of documents, of passages, perhaps of sentences, each with
annotations, relations and *infons* (keys with values). Both spellings are read into a `BiocNode` and written from
one, by one table of the fields of each kind of node, `FIELDS`.

In XML, entities are not expanded, the DTD is not loaded, and nothing is fetched. A file that defines entities is
refused, and so is one that is not UTF-8, whatever encoding it declares. JSON is a collection, a list of collections or
documents, or one document; PubTator 3 wraps a list, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from lxml import etree

from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip
from spanloom.formats.base import Losses
from spanloom.formats.json_text import loads, not_as_expected, to_json
from spanloom.formats.source import BOM, HEAD, Stream, named_encoding, opened, read_bytes

Infons = dict[str, Any]  # strings as a rule; a list where a key occurs several times; JSON has other values, too

# kind of node -> its fields in the order of XML; "passages" is a list of nodes of kind "passage"
FIELDS = {
    "document": ("id", "infons", "passages", "annotations", "relations"),
    "passage": ("infons", "offset", "text", "sentences", "annotations", "relations"),
    "sentence": ("infons", "offset", "text", "annotations", "relations"),
    "annotation": ("id", "infons", "locations", "text"),
    "relation": ("id", "infons", "nodes"),
}
COLLECTION = ("source", "date", "key", "infons")  # fields of a collection beside its documents

_PAIRS = {"locations": ("offset", "length"), "nodes": ("refid", "role")}
_KIND = {f"{kind}s": kind for kind in FIELDS}  # of the nodes in a list
_JSON = ("id", "offset", "infons", "text", "locations", "nodes", "passages", "sentences", "annotations", "relations")
_IN_JSON = {kind: sorted(fields, key=_JSON.index) for kind, fields in FIELDS.items()}

_BIOC = "BioC JSON, an object with a list of 'documents'"
_DOCUMENTS = ("documents", "PubTator3")  # the list is called
_FIELDS = 3  # of an object that is no BioC, in a message
_SHOWN = 60  # characters of an identifier in a message
_LARGEST = 2**62
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*encoding\s*=\s*["']([^"']*)["']""")
_NOISE = re.compile(r",? ?(?:line \d+, column \d+|(?:use|try) XML_PARSE_HUGE(?: option)?)")  # of libxml2's messages
_INTEGER = re.compile(r"\s*-?[0-9]{1,15}\s*")
_XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n<collection>\n'


@dataclass(slots=True)
class BiocNode:
    """A document, passage, sentence, annotation or relation; a field that its kind does not have is empty.

    Args:
        id: possibly empty.
        offset: the start of a passage or sentence in the document, as the file has it.
        infons: keys and values.
        text: of an annotation, that of its pieces together; ``None`` if the file gives none, or only in the sentences.
        locations: offset and length of each piece of an annotation.
        nodes: of a relation, pairs of an identifier and a role.
        passages: of a document.
        sentences: of a passage.
        annotations: of a document, passage or sentence.
        relations: of a document, passage or sentence.
        line: in the file, from 1; ``None`` in JSON.
        unread: of a document, by place the fields that are not in BioC.
    """

    id: str = ""
    offset: int = 0
    infons: Infons = field(default_factory=dict)
    text: str | None = None
    locations: list[tuple[int, int]] = field(default_factory=list)
    nodes: list[tuple[str, str]] = field(default_factory=list)
    passages: list[BiocNode] = field(default_factory=list)
    sentences: list[BiocNode] = field(default_factory=list)
    annotations: list[BiocNode] = field(default_factory=list)
    relations: list[BiocNode] = field(default_factory=list)
    line: int | None = None
    unread: dict[str, Any] = field(default_factory=dict)


# documents, or what keeps one from being read; of a collection
Parsed = Iterator[tuple[BiocNode | Problem, dict[str, Any]]]


def to_value(kind: str, node: BiocNode) -> dict[str, Any]:
    """Return a node as a value of BioC JSON.

    >>> passage = BiocNode(text="Mild pain", annotations=[BiocNode("1", 0, {"type": "Disease"}, "pain", [(5, 4)])])
    >>> to_value("document", BiocNode("7", passages=[passage]))["passages"][0]["annotations"][0]["locations"]
    [{'offset': 5, 'length': 4}]
    """
    value: dict[str, Any] = {}
    for name in _IN_JSON[kind]:
        part = getattr(node, name)
        if name in _PAIRS:
            value[name] = [dict(zip(_PAIRS[name], pair, strict=True)) for pair in part]
        elif name in _KIND:
            value[name] = [to_value(_KIND[name], child) for child in part]
        elif part is not None or kind == "annotation":
            value[name] = part
    return value


def from_value(kind: str, value: object, place: str = "", unread: dict[str, Any] | None = None) -> BiocNode:
    """Parse a node of BioC JSON.

    Args:
        kind: of the node.
        value: the result of `json.loads`.
        place: for messages; empty for a document.
        unread: takes, by place, the fields that BioC does not know; a dictionary of its own if not given.

    Raises:
        DataError: a part is missing or of the wrong kind; the message names its place.

    >>> from_value("document", {"id": "7", "passages": [{"offset": "x"}]})
    Traceback (most recent call last):
    spanloom.errors.DataError: passages[0].offset is "x", expected an integer
    >>> from_value("document", {"id": 7, "passages": [], "journal": "Pain"}).unread
    {'journal': 'Pain'}
    """
    unread = {} if unread is None else unread
    given = _object(value, place, FIELDS[kind], unread)
    if kind == "document" and not isinstance(given.get("passages"), list):
        raise wrong("passages", given.get("passages"), "a list of passages")
    within = f"{place}." if place else ""
    found = {name: _part(name, given.get(name), within + name, unread) for name in FIELDS[kind]}
    return BiocNode(**found, unread=unread)


def _part(name: str, value: object, place: str, unread: dict[str, Any]) -> Any:
    """Parse one field of a node."""
    if name in _PAIRS:
        return [_pair(name, item, where, unread) for item, where in items(value, place)]
    if name in _KIND:
        return [from_value(_KIND[name], item, where, unread) for item, where in items(value, place)]
    return _VALUES[name](value, place)


def _pair(name: str, value: object, place: str, unread: dict[str, Any]) -> tuple[Any, ...]:
    read = _integer if name == "locations" else _name
    given = _object(value, place, _PAIRS[name], unread)
    return tuple(read(given.get(part), f"{place}.{part}") for part in _PAIRS[name])


def _object(value: object, place: str, known: tuple[str, ...], unread: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise wrong(place or "the document", value, "an object")
    unread |= {f"{place}.{name}".lstrip("."): value[name] for name in value if name not in known}
    return value


def wrong(place: str, value: object, expected: str) -> DataError:
    """Return the error for a value of the wrong kind, or one that is missing."""
    return DataError(not_as_expected(place, value, expected))


def items(value: object, place: str) -> Iterator[tuple[object, str]]:
    """Yield the items of a list, which may be absent, each with its place."""
    if value is not None and not isinstance(value, list):
        raise wrong(place, value, "a list")
    yield from ((item, f"{place}[{i}]") for i, item in enumerate(value or ()))


def object_at(value: object, place: str) -> dict[str, Any]:
    """Return an object, which may be absent."""
    if value is not None and not isinstance(value, dict):
        raise wrong(place, value, "an object")
    return value or {}


def _text(value: object, place: str) -> str | None:
    if not isinstance(value, str | None):
        raise wrong(place, value, "a string")
    return value


def _name(value: object, place: str) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise wrong(place, value, "a string or an integer")


def _integer(value: object, place: str) -> int:
    if (isinstance(value, str) and _INTEGER.fullmatch(value)) or (isinstance(value, float) and value.is_integer()):
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and -_LARGEST < value < _LARGEST:
        return value
    raise wrong(place, value, "an integer")


_VALUES: dict[str, Callable[[object, str], Any]] = {"id": _name, "offset": _integer, "infons": object_at, "text": _text}


def parse_json(path: str | Path) -> Parsed:
    """Parse the documents of a BioC JSON file.

    Raises:
        DataError: the file as a whole is no BioC JSON, or holds no document.
    """
    found, content = False, _loaded(read_bytes(path).removeprefix(BOM), path)
    if isinstance(content, dict) and content.keys().isdisjoint((*_DOCUMENTS, "passages")):
        names = ", ".join(clip(name) for name in list(content)[:_FIELDS])
        shown = f"the fields {names}{', …' * (len(content) > _FIELDS)}" if names else "no field"
        raise DataError(f"found an object with {shown}, expected {_BIOC}")
    for value, collection in _collected(content):
        found = True
        try:
            yield from_value("document", value), collection
        except DataError as error:
            name = value.get("id") if isinstance(value, dict) else None
            place = f"document {str(name)[:_SHOWN] if isinstance(name, str | int) else '?'}"
            yield Problem("error", "wrong field", error.message, place, path=str(path)), collection
    if not found:
        raise DataError(f"the file holds no document; expected {_BIOC}")


def _loaded(raw: bytes, path: str | Path) -> Any:
    """Return the value of a file, or the list of those on its lines."""
    try:
        return loads(raw, path)
    except DataError:
        lines = [line for line in raw.splitlines() if line.strip()]
        if len(lines) < 2 or not all(line.strip().startswith(b"{") and line.strip().endswith(b"}") for line in lines):
            raise
        return [loads(line, path, number) for number, line in enumerate(raw.splitlines(), 1) if line.strip()]


def _collected(value: object) -> Iterator[tuple[object, dict[str, Any]]]:
    """Yield documents with collection-level metadata."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            if not isinstance(item, dict | list):
                raise wrong(f"item {number} of the file", item, _BIOC)
            yield from _collected(item)
        return
    if not isinstance(value, dict):
        raise wrong("the file", value, _BIOC)
    if (inner := next((value[name] for name in _DOCUMENTS if name in value), None)) is None:
        yield value, {}
    elif isinstance(inner, list):
        if "infons" in value and not isinstance(value["infons"], dict):
            raise wrong("infons", value["infons"], "an object")
        collection = {name: value[name] for name in COLLECTION if value.get(name)}
        yield from ((item, collection) for item in inner)
    else:
        raise wrong("documents", inner, "a list of documents")


def json_head(collection: dict[str, Any], losses: Losses) -> str:
    """Return the head of a JSON file, before the documents; nothing is lost."""
    head = {"source": "", "date": "", "key": "", "version": "1.0", "infons": {}} | collection
    return to_json(head)[:-1] + ',"documents":[\n'


def json_document(document: BiocNode, losses: Losses) -> str:
    """Return a document of a JSON file; nothing is lost."""
    return to_json(to_value("document", document))


def parse_xml(path: str | Path) -> Parsed:
    """Parse the documents of a BioC XML file, one at a time.

    Raises:
        DataError: the file as a whole is no BioC XML, or holds no document.
    """
    with opened(path) as file:
        head = file.read(HEAD)
        _check_head(head)
        source = Stream(chain([head], iter(partial(file.read, HEAD), b"")))
        context = etree.iterparse(
            source, events=("start", "end"), encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True,
            huge_tree=False, remove_comments=True, remove_pis=True,
        )  # fmt: skip
        try:
            yield from _documents(context, str(path))
        except etree.XMLSyntaxError as error:
            reason = _NOISE.sub("", " ".join(str(error.msg).split()))[:200]
            line = error.position[0] or None
            raise DataError(f"not XML: {reason}; mend the file, or get it again", line=line) from error


def _check_head(head: bytes) -> None:
    if not head.strip():
        raise DataError("the file is empty; expected BioC XML, a <collection> of documents")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError("the file starts with the mark of UTF-16; convert it, or name it (--encoding utf-16)", line=1)
    declared = _DECLARED.match(head.removeprefix(BOM))
    if named_encoding() not in (None, "utf-8"):  # and what the file declares is what it was in
        return
    if declared is not None and declared[1].upper() not in (b"UTF-8", b"UTF8", b"US-ASCII", b"ASCII"):
        shown = declared[1][:40].decode("ascii", "replace")
        raise DataError(f"the file declares the encoding {shown}; convert it to UTF-8, or name it (--encoding)", line=1)


def _documents(context: Any, path: str) -> Parsed:
    collection: dict[str, Any] = {}
    infons: Infons = {}
    root, found = None, False
    for event, element in context:
        if root is None:
            root = element
            _check_root(root)
        if event == "start" or element.getparent() is not root:
            continue
        if element.tag == "document":
            found = True
            try:
                document: BiocNode | Problem = _node(element)
            except DataError as error:
                document = Problem("error", "unreadable", error.message, path=path, line=error.line)
            yield document, collection | ({"infons": infons} if infons else {})
        elif element.tag == "infon":
            _read_infon(infons, element)
        elif element.tag in COLLECTION:
            if _content(element):
                collection[element.tag] = _content(element)
        else:
            raise DataError(f"found <{element.tag}>, expected <document>; this is no BioC", line=element.sourceline)
        element.clear()
        del root[: root.index(element)]  # what was read is needed no more
    if not found:
        raise DataError("the collection holds no document; expected <document> with its passages")


def _check_root(root: Any) -> None:
    if (dtd := root.getroottree().docinfo.internalDTD) is not None and next(dtd.iterentities(), None) is not None:
        raise DataError("the file defines entities, which are not expanded; write the characters themselves", line=1)
    if root.tag != "collection":
        shown = str(root.tag).rpartition("}")[2][:_SHOWN]
        message = f"found <{shown}>, expected BioC's <collection>; of another format, name it (--input-format xmi)"
        advice = "without elements that have offsets or are around mentions, get the text out first (xmllint --xpath)"
        raise DataError(f"{message}; {advice}", line=root.sourceline)


def _node(element: Any) -> BiocNode:
    kind, fields = element.tag, FIELDS[element.tag]
    node = BiocNode("" if kind == "document" else element.get("id", ""), line=element.sourceline)
    for child in element:
        match child.tag:
            case "infon":
                _read_infon(node.infons, child)
            case "id" if kind == "document":
                node.id = _content(child).strip()
            case "offset" if "offset" in fields:
                node.offset = _whole(_content(child), "<offset>", child)
            case "text" if "text" in fields and node.text is not None:
                raise DataError(f"found two <text> in <{kind}>, expected one", line=child.sourceline)
            case "text" if "text" in fields:
                node.text = _content(child)
            case "location" if "locations" in fields:
                names = _PAIRS["locations"]
                offset, length = (_whole(child.get(name), f"{name} of <location>", child) for name in names)
                node.locations.append((offset, length))
            case "node" if "nodes" in fields:
                node.nodes.append((child.get("refid", ""), child.get("role", "")))
            case tag if f"{tag}s" in fields:
                getattr(node, f"{tag}s").append(_node(child))
            case _:
                found = f"{_shown(child)} in <{kind}>, which BioC does not have there"
                raise DataError(f"found {found}", line=child.sourceline)
    if kind == "document" and not node.passages:
        raise DataError("a <document> without a <passage>; expected at least one", line=node.line)
    if "offset" in fields and element.find("offset") is None:
        raise DataError(f"a <{kind}> without <offset>; expected where it begins", line=node.line)
    return node


def _read_infon(infons: Infons, element: Any) -> None:
    """Add an infon; a repeated key has a list of values."""
    key, value = element.get("key", ""), _content(element)
    if key not in infons:
        infons[key] = value
    elif isinstance(infons[key], list):
        infons[key].append(value)
    else:
        infons[key] = [infons[key], value]


def _content(element: Any) -> str:
    if len(element):
        message = f"found {_shown(element[0])} in <{element.tag}>, expected plain characters; write them themselves"
        raise DataError(message, line=element.sourceline)
    return element.text or ""


def _shown(element: Any) -> str:
    return (f"&{element.name};" if isinstance(element, etree._Entity) else f"<{element.tag}>")[:40]


def _whole(value: str | None, what: str, element: Any) -> int:
    if value is None or not _INTEGER.fullmatch(value):
        found = "nothing" if value is None else repr(value[:40])
        raise DataError(f"found {found} as {what}, expected an integer", line=element.sourceline)
    return int(value)


def xml_head(collection: dict[str, Any], losses: Losses) -> str:
    """Return the head of an XML file, before the documents."""
    holder = etree.Element("collection")
    for name in COLLECTION[:-1]:
        _add(holder, name, str(collection.get(name, "")))
    _add_infons(holder, collection.get("infons", {}), losses)
    return _XML_HEAD + "".join(map(_spelled, holder))


def xml_document(document: BiocNode, losses: Losses) -> str:
    """Return a document of an XML file; infons that are no text, and blanks lost in the identifier, are counted."""
    losses.add("document identifiers with white space at their ends", int(document.id != document.id.strip()))
    return _spelled(_element("document", document, losses))


def _spelled(element: Any) -> str:
    """Print an element with each child on a line of its own; texts are unchanged."""
    etree.indent(element, space="")
    return str(etree.tostring(element, encoding="unicode", with_tail=False)) + "\n"


def _element(kind: str, node: BiocNode, losses: Losses, parent: Any = None) -> Any:
    attributes = {"id": node.id} if node.id and kind != "document" else {}
    element = etree.Element(kind) if parent is None else etree.SubElement(parent, kind, **attributes)
    for name in FIELDS[kind]:
        value: Any = getattr(node, name)
        if name == "infons":
            _add_infons(element, value, losses)
        elif name in _PAIRS:
            for pair in value:
                etree.SubElement(element, name[:-1], **dict(zip(_PAIRS[name], map(str, pair), strict=True)))
        elif name in _KIND:
            for child in value:
                _element(_KIND[name], child, losses, element)
        elif value is not None and (name != "id" or kind == "document"):
            _add(element, name, str(value))
    return element


def _add_infons(parent: Any, infons: Infons, losses: Losses) -> None:
    for key, value in infons.items():
        for item in value if isinstance(value, list) else [value]:
            losses.add("infons that are no text (written as JSON)", int(not isinstance(item, str | None)))
            text = item or "" if isinstance(item, str | None) else json.dumps(item, ensure_ascii=False)
            _add(parent, "infon", text, key=key)


def _add(parent: Any, tag: str, text: str, **attributes: str) -> None:
    etree.SubElement(parent, tag, **attributes).text = text
