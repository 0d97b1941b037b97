"""Writing of BioC: data kept by `spanloom.formats.bioc.reading` are restored where they still hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from spanloom.document import Document, Mention
from spanloom.errors import DataError, clip
from spanloom.formats.attributes import OTHERWISE
from spanloom.formats.base import (
    ATTRIBUTE_SCORES,
    CONCEPT_SCORES,
    Losses,
    count_mention,
    count_unwritten,
    unwritable,
    writing_as,
)
from spanloom.formats.bioc import syntax
from spanloom.formats.bioc.concepts import attributes_of, concepts_of, infons_for
from spanloom.formats.bioc.syntax import COLLECTION, BiocNode, Infons, from_value, wrong
from spanloom.formats.source import output_file

_HELD = ("collection", "infons", "offset", "passages", "mentions", "annotations", "relations")
GONE = "parts of removed composite mentions"


class Spelling(NamedTuple):
    """Spelling of a file: its head, each document, separator and tail."""

    name: str
    head: Callable[[dict[str, Any], Losses], str]
    document: Callable[[BiocNode, Losses], str]
    between: str
    end: str


XML = Spelling("XML", syntax.xml_head, syntax.xml_document, "", "</collection>\n")
JSON = Spelling("JSON", syntax.json_head, syntax.json_document, ",\n", "\n]}\n")


@dataclass(slots=True)
class _Kept:
    """The validated ``meta["bioc"]`` of a document."""

    collection: dict[str, Any]
    infons: Infons
    offset: int
    passages: list[dict[str, Any]]
    mentions: dict[str, Infons]
    annotations: list[tuple[int | None, str | None, BiocNode]]
    relations: list[tuple[int | None, BiocNode]]


def write(spelling: Spelling, documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write BioC; collection-level metadata are those of the first document.

    Args:
        spelling: `XML` or `JSON`.
        documents: tokens are not needed.
        path: the file, or ``-``.
        force: replace an existing file.

    Raises:
        DataError: ``meta["bioc"]`` is invalid, or a document holds a character that XML cannot represent.
    """
    losses = Losses()
    with output_file(path, force=force) as file:
        collection: dict[str, Any] | None = None
        for document in documents:
            tree, described = build(document, losses, path)
            with writing_as(spelling.name, document, path):
                if collection is None:
                    collection = described
                    file.write(spelling.head(collection, losses))
                else:
                    file.write(spelling.between)
                losses.add("descriptions of other collections", int(bool(described) and described != collection))
                file.write(spelling.document(tree, losses))
        file.write((spelling.head({}, losses) if collection is None else "") + spelling.end)
    return losses


def build(document: Document, losses: Losses, path: str | Path | None = None) -> tuple[BiocNode, dict[str, Any]]:
    """Return the tree of a document, and the collection-level metadata in it.

    Args:
        document: without ``meta["bioc"]`` its whole text is one passage.
        losses: counts the data that BioC cannot represent.
        path: for messages.

    Raises:
        DataError: ``meta["bioc"]`` is invalid, or its passages leave out text.

    >>> document = Document("Mild pain", id="7", mentions=[Mention("Disease", [(5, 9)], concepts=["MESH:D010146"])])
    >>> build(document, Losses())[0].passages[0].annotations[0].infons
    {'type': 'Disease', 'MESH': 'D010146'}
    """
    try:
        kept = _kept(document)
    except DataError as error:
        why = f": meta['bioc'] is not what reading BioC makes: {error.message}; remove it"
        raise unwritable(document, why, path) from error
    passages = [_passage(value, document.text, kept) for value in kept.passages]
    tree = BiocNode(document.id, infons=kept.infons, passages=passages)
    here = {mention.id: mention for mention in document.mentions}
    for mention, name in _named(document, kept, losses):
        number = max((i for i, value in enumerate(kept.passages) if value["start"] <= mention.start), default=0)
        section = _section(passages[number], kept.passages[number], mention.start)
        section.annotations.append(_annotation(mention, name, document, kept, losses))
    for passage, of, node in kept.annotations:
        whole = here.get(of)
        if of is not None and (whole is None or any(a < whole.start or a + n > whole.end for a, n in node.locations)):
            losses.add(GONE)
            continue
        start = node.locations[0][0] if node.locations else 0
        place = tree if passage is None else _section(passages[passage], kept.passages[passage], start)
        moved = [(offset + kept.offset, length) for offset, length in node.locations]
        place.annotations.append(replace(node, locations=moved))
    for passage, relation in kept.relations:
        (tree if passage is None else passages[passage]).relations.append(relation)
    count_unwritten(losses, document, "tokens", "sentences", "token columns", held=("bioc",), inside=_HELD)
    return tree, kept.collection


def _named(document: Document, kept: _Kept, losses: Losses) -> Iterator[tuple[Mention, str]]:
    """Yield each mention with a unique identifier."""
    used = {node.id for _, _, node in kept.annotations}
    taken = used | {mention.id for mention in document.mentions}
    free = (str(number) for number in range(len(taken) + len(document.mentions)) if str(number) not in taken)
    for mention in document.mentions:
        name = mention.id
        if not name or name in used:
            losses.add("mention identifiers", int(name is not None))
            name = next(free)
        used.add(name)
        yield mention, name


def _annotation(mention: Mention, name: str, document: Document, kept: _Kept, losses: Losses) -> BiocNode:
    before = kept.mentions.get(name) if mention.id == name else None
    infons = infons_for(mention.type, mention.concepts, before, mention.attributes)
    read = attributes_of(infons)
    losses.add(OTHERWISE, sum(read.get(one) != value for one, value in mention.attributes.items()))
    losses.add("concepts that read back in another way", int(concepts_of(infons) != mention.concepts))
    count_mention(losses, mention, "heads", "scores", ATTRIBUTE_SCORES, CONCEPT_SCORES)
    locations = [(start + kept.offset, end - start) for start, end in mention.spans]
    return BiocNode(name, 0, infons, mention.text(document.text), locations)


def _section(passage: BiocNode, value: dict[str, Any], start: int) -> BiocNode:
    """Return the passage or the sentence of an annotation: the last that begins at or before it."""
    if not passage.sentences:
        return passage
    return passage.sentences[max((i for i, s in enumerate(value["sentences"]) if s["start"] <= start), default=0)]


def _passage(value: dict[str, Any], text: str, kept: _Kept) -> BiocNode:
    section = BiocNode(offset=value["start"] + kept.offset, infons=value["infons"])
    if value["sentences"]:
        section.sentences = [_passage(sentence, text, kept) for sentence in value["sentences"]]
    else:
        section.text = text[value["start"] : value["end"]]
    return section


def _kept(document: Document) -> _Kept:
    value = document.meta.get("bioc", {})
    if not isinstance(value, dict):
        raise wrong("it", value, "an object")
    passages = _ranges(value.get("passages"), "passages", document.text, 0, len(document.text))
    objects = ("collection", "infons", "mentions")
    collection, infons, mentions = (syntax.object_at(value.get(name), name) for name in objects)
    offset = value.get("offset", 0)
    if type(offset) is not int:
        raise wrong("offset", offset, "an integer")
    annotations = []
    for item, place in _objects(value.get("annotations"), "annotations"):
        if not isinstance(whole := item.get("of"), str | None):
            raise wrong(f"{place}.of", whole, "a mention's identifier")
        annotations.append((_number(item, place, len(passages)), whole, from_value("annotation", item, place)))
    relations = [
        (_number(item, place, len(passages)), from_value("relation", item, place))
        for item, place in _objects(value.get("relations"), "relations")
    ]
    collection = {name: collection[name] for name in COLLECTION if name in collection}
    mentions = {name: syntax.object_at(item, f"mentions[{clip(name)}]") for name, item in mentions.items()}
    return _Kept(collection, infons, offset, passages, mentions, annotations, relations)


def _ranges(value: object, name: str, text: str, first: int, last: int) -> list[dict[str, Any]]:
    """Return passages, or the sentences of one, with all fields; together they cover the text."""
    ranges: list[dict[str, Any]] = []
    end = first
    for item, place in _objects(value, name):
        start, stop = item.get("start"), item.get("end")
        if type(start) is not int or type(stop) is not int or not end <= start <= stop <= last:
            raise DataError(f"{place} is {start!r}-{stop!r}, which does not fit the text of {len(text)} characters")
        if text[end:start].strip(" "):
            raise DataError(f"{place} begins at {start}, and leaves out {text[end:start][:40]!r}")
        inner = item.get("sentences") if name == "passages" else None
        sentences = _ranges(inner, f"{place}.sentences", text, start, stop)
        infons = syntax.object_at(item.get("infons"), place)
        ranges.append({"start": start, "end": stop, "infons": infons, "sentences": sentences})
        end = stop
    if ranges and text[end:last].strip(" "):
        raise DataError(f"{name} end at {end}, and leave out {text[end:last][:40]!r}")
    if not ranges and name == "passages":
        ranges.append({"start": 0, "end": len(text), "infons": {}, "sentences": []})
    return ranges


def _objects(value: object, name: str) -> Iterator[tuple[dict[str, Any], str]]:
    yield from ((syntax.object_at(item, place), place) for item, place in syntax.items(value, name))


def _number(item: dict[str, Any], place: str, passages: int) -> int | None:
    if (number := item.get("passage")) is not None and (type(number) is not int or not 0 <= number < passages):
        raise wrong(f"{place}.passage", number, f"a number below {passages}, of a passage")
    return number
