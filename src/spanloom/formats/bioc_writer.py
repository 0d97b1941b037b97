"""Writing BioC: one document at a time, in XML or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from spanloom.document import Document
from spanloom.errors import DataError, clip
from spanloom.files.output import output_file
from spanloom.formats.base import Losses
from spanloom.formats.bioc_tree import Annotation, Infons, Relation, Section, Tree
from spanloom.formats.bioc_values import COLLECTION, document_value
from spanloom.formats.bioc_writing import Built, build

_XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n<collection>\n'
_AROUND = "white space at the ends of document identifiers"
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def write_xml(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write BioC XML; what the collection says of itself is taken from the first document.

    Args:
        documents: tokens are not needed.
        path: the file, or ``-``.
        force: replace a file that is there.

    Raises:
        DataError: ``meta["bioc"]`` is not what reading makes, or a document holds a character that XML cannot hold.
    """
    losses = Losses()
    with output_file(path, force=force) as file:
        collection: dict[str, Any] | None = None
        for document, built in _built(documents, path, losses):
            try:
                if collection is None:
                    collection = built.collection
                    file.write(_XML_HEAD + _collection_head(collection, losses))
                _count_collection(collection, built, losses)
                losses.add(_AROUND, int(built.tree.id != built.tree.id.strip()))
                file.write(_spelled(_document(built.tree, losses)))
            except ValueError as error:  # lxml says what it refuses in this way
                message = f"document {clip(document.id)} cannot be written as XML: {error}; remove the characters"
                raise DataError(message, path=path) from error
        if collection is None:
            file.write(_XML_HEAD + _collection_head({}, losses))
        file.write("</collection>\n")
    return losses


def write_json(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write BioC JSON; arguments and errors as for `write_xml`."""
    losses = Losses()
    with output_file(path, force=force) as file:
        collection: dict[str, Any] | None = None
        for document, built in _built(documents, path, losses):
            try:
                if collection is None:
                    collection = built.collection
                    file.write(_json_head(collection))
                else:
                    file.write(",\n")
                _count_collection(collection, built, losses)
                file.write(_ENCODER.encode(document_value(built.tree)))
            except (TypeError, ValueError, RecursionError) as error:
                message = f"document {clip(document.id)} cannot be written as JSON: {error}"
                raise DataError(message, path=path) from error
        file.write((_json_head({}) if collection is None else "") + "\n]}\n")
    return losses


def _built(documents: Iterable[Document], path: str | Path, losses: Losses) -> Iterator[tuple[Document, Built]]:
    for document in documents:
        try:
            built = build(document, losses)
        except DataError as error:
            raise DataError(error.message, path=path) from error
        yield document, built


def _count_collection(collection: dict[str, Any], built: Built, losses: Losses) -> None:
    losses.add("descriptions of other collections", int(built.collection != collection and bool(built.collection)))


def _json_head(collection: dict[str, Any]) -> str:
    head = {"source": "", "date": "", "key": "", "version": "1.0", "infons": {}} | collection
    return _ENCODER.encode(head)[:-1] + ',"documents":[\n'


def _collection_head(collection: dict[str, Any], losses: Losses) -> str:
    names = (name for name in COLLECTION if name != "infons")
    parts = [_with_text(etree.Element(name), str(collection.get(name, ""))) for name in names]
    holder = etree.Element("collection")
    _add_infons(holder, collection.get("infons", {}), losses)
    return "".join(map(_spelled, [*parts, *holder]))


def _spelled(element: Any) -> str:
    """An element with each of its children on a line of its own; texts stay as they are."""
    etree.indent(element, space="")
    return str(etree.tostring(element, encoding="unicode", with_tail=False)) + "\n"


def _document(tree: Tree, losses: Losses) -> Any:
    element = etree.Element("document")
    _with_text(etree.SubElement(element, "id"), tree.id)
    _add_infons(element, tree.infons, losses)
    for passage in tree.passages:
        _add_section(element, "passage", passage, losses)
    _add_annotations(element, tree.annotations, tree.relations, losses)
    return element


def _add_section(parent: Any, tag: str, section: Section, losses: Losses) -> None:
    element = etree.SubElement(parent, tag)
    _add_infons(element, section.infons, losses)
    _with_text(etree.SubElement(element, "offset"), str(section.offset))
    if section.text is not None:
        _with_text(etree.SubElement(element, "text"), section.text)
    for sentence in section.sentences:
        _add_section(element, "sentence", sentence, losses)
    _add_annotations(element, section.annotations, section.relations, losses)


def _add_annotations(parent: Any, annotations: list[Annotation], relations: list[Relation], losses: Losses) -> None:
    for annotation in annotations:
        element = etree.SubElement(parent, "annotation", **({"id": annotation.id} if annotation.id else {}))
        _add_infons(element, annotation.infons, losses)
        for offset, length in annotation.locations:
            etree.SubElement(element, "location", offset=str(offset), length=str(length))
        if annotation.text is not None:
            _with_text(etree.SubElement(element, "text"), annotation.text)
    for relation in relations:
        element = etree.SubElement(parent, "relation", **({"id": relation.id} if relation.id else {}))
        _add_infons(element, relation.infons, losses)
        for name, role in relation.nodes:
            etree.SubElement(element, "node", refid=name, role=role)


def _add_infons(parent: Any, infons: Infons, losses: Losses) -> None:
    for key, value in infons.items():
        for item in value if isinstance(value, list) else [value]:
            losses.add("infons that are no text (written as JSON)", int(not isinstance(item, str | None)))
            text = item or "" if isinstance(item, str | None) else json.dumps(item, ensure_ascii=False)
            _with_text(etree.SubElement(parent, "infon", key=key), text)


def _with_text(element: Any, text: str) -> Any:
    element.text = text
    return element
