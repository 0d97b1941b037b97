"""BioC's JSON spelling: documents as objects, and back, with every wrong value named by its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from spanloom.errors import DataError
from spanloom.formats.bioc_tree import Annotation, Infons, Relation, Section, Tree

COLLECTION = ("source", "date", "key", "infons")  # what a collection says beside its documents

_SHOWN = 60  # characters of a wrong value in a message
_LARGEST = 2**62
_SENTENCE = ("offset", "text", "infons", "annotations", "relations")
Part = TypeVar("Part")


def document_value(tree: Tree) -> dict[str, Any]:
    """A document as BioC JSON has it.

    >>> passage = Section(0, "Mild pain", annotations=[Annotation("1", {"type": "Disease"}, [(5, 4)], "pain")])
    >>> document_value(Tree("7", passages=[passage]))["passages"][0]["annotations"][0]["locations"]
    [{'offset': 5, 'length': 4}]
    """
    return {
        "id": tree.id,
        "infons": tree.infons,
        "passages": [_section_value(passage) for passage in tree.passages],
        "annotations": list(map(annotation_value, tree.annotations)),
        "relations": list(map(relation_value, tree.relations)),
    }


def _section_value(section: Section, deep: bool = True) -> dict[str, Any]:
    value: dict[str, Any] = {"offset": section.offset, "infons": section.infons}
    if section.text is not None:
        value["text"] = section.text
    if deep:
        value["sentences"] = [_section_value(sentence, deep=False) for sentence in section.sentences]
    value["annotations"] = list(map(annotation_value, section.annotations))
    value["relations"] = list(map(relation_value, section.relations))
    return value


def annotation_value(annotation: Annotation) -> dict[str, Any]:
    """An annotation as BioC JSON has it."""
    locations = [{"offset": offset, "length": length} for offset, length in annotation.locations]
    return {"id": annotation.id, "infons": annotation.infons, "text": annotation.text, "locations": locations}


def relation_value(relation: Relation) -> dict[str, Any]:
    """A relation as BioC JSON has it."""
    nodes = [{"refid": name, "role": role} for name, role in relation.nodes]
    return {"id": relation.id, "infons": relation.infons, "nodes": nodes}


class Values:
    """A reader of BioC JSON; ``unread`` collects, by place, the fields that BioC does not know.

    Every method raises `DataError` where a part is missing or of the wrong kind; the message names its place.

    >>> Values().document({"id": "7", "passages": [{"offset": "x"}]})
    Traceback (most recent call last):
    spanloom.errors.DataError: passages[0].offset is "x", expected an integer
    >>> Values().document({"id": 7, "passages": [], "journal": "Pain"}).unread
    {'journal': 'Pain'}
    """

    def __init__(self) -> None:
        self.unread: dict[str, Any] = {}

    def document(self, value: object) -> Tree:
        """A document."""
        known = ("id", "infons", "passages", "annotations", "relations")
        fields = self._fields(value, "", known)
        if not isinstance(fields.get("passages"), list):
            raise wrong("passages", fields.get("passages"), "a list of passages")
        return Tree(
            _name(fields.get("id"), "id"),
            _infons(fields.get("infons"), "infons"),
            _each(fields["passages"], "passages", self._passage),
            _each(fields.get("annotations"), "annotations", self.annotation),
            _each(fields.get("relations"), "relations", self.relation),
            unread=self.unread,
        )

    def _passage(self, value: object, place: str) -> Section:
        section = self._section(value, place, (*_SENTENCE, "sentences"))
        sentences = value.get("sentences") if isinstance(value, dict) else None
        section.sentences = _each(sentences, f"{place}.sentences", self._section)
        return section

    def _section(self, value: object, place: str, known: tuple[str, ...] = _SENTENCE) -> Section:
        fields = self._fields(value, place, known)
        return Section(
            _integer(fields.get("offset"), f"{place}.offset"),
            _text(fields.get("text"), f"{place}.text"),
            _infons(fields.get("infons"), f"{place}.infons"),
            annotations=_each(fields.get("annotations"), f"{place}.annotations", self.annotation),
            relations=_each(fields.get("relations"), f"{place}.relations", self.relation),
        )

    def annotation(self, value: object, place: str) -> Annotation:
        """An annotation."""
        fields = self._fields(value, place, ("id", "infons", "locations", "text"))
        return Annotation(
            _name(fields.get("id"), f"{place}.id"),
            _infons(fields.get("infons"), f"{place}.infons"),
            _each(fields.get("locations"), f"{place}.locations", self._location),
            _text(fields.get("text"), f"{place}.text"),
        )

    def _location(self, value: object, place: str) -> tuple[int, int]:
        fields = self._fields(value, place, ("offset", "length"))
        return _integer(fields.get("offset"), f"{place}.offset"), _integer(fields.get("length"), f"{place}.length")

    def relation(self, value: object, place: str) -> Relation:
        """A relation."""
        fields = self._fields(value, place, ("id", "infons", "nodes"))
        return Relation(
            _name(fields.get("id"), f"{place}.id"),
            _infons(fields.get("infons"), f"{place}.infons"),
            _each(fields.get("nodes"), f"{place}.nodes", self._node),
        )

    def _node(self, value: object, place: str) -> tuple[str, str]:
        fields = self._fields(value, place, ("refid", "role"))
        return _name(fields.get("refid"), f"{place}.refid"), _name(fields.get("role"), f"{place}.role")

    def _fields(self, value: object, place: str, known: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise wrong(place or "the document", value, "an object")
        self.unread |= {f"{place}.{name}".lstrip("."): value[name] for name in value if name not in known}
        return value


def wrong(place: str, value: object, expected: str) -> DataError:
    """The error for a value of the wrong kind, or one that is missing."""
    if value is None:
        return DataError(f"{place} is missing, expected {expected}")
    shown = json.dumps(value)
    return DataError(f"{place} is {shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + '…'}, expected {expected}")


def _each(value: object, place: str, convert: Callable[[object, str], Part]) -> list[Part]:
    if value is not None and not isinstance(value, list):
        raise wrong(place, value, "a list")
    return [convert(item, f"{place}[{i}]") for i, item in enumerate(value or ())]


def _text(value: object, place: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise wrong(place, value, "a string")
    return value


def _name(value: object, place: str) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise wrong(place, value, "a string or an integer")


def _integer(value: object, place: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and -_LARGEST < value < _LARGEST:
        return value
    raise wrong(place, value, "an integer")


def _infons(value: object, place: str) -> Infons:
    if value is not None and not isinstance(value, dict):
        raise wrong(place, value, "an object")
    return value or {}
