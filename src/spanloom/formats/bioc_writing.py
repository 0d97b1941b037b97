"""A document as a BioC tree: what was read is put back where it still holds; see `spanloom.formats.bioc_reading`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from spanloom.document import Document, Mention
from spanloom.errors import DataError, clip
from spanloom.formats.base import Losses, count_concepts, count_meta, count_unwritten
from spanloom.formats.bioc_concepts import concepts_of, infons_for, normalized
from spanloom.formats.bioc_tree import Annotation, Infons, Relation, Section, Tree
from spanloom.formats.bioc_values import COLLECTION, Values, wrong

_HELD = ("collection", "infons", "offset", "passages", "mentions", "annotations", "relations")
GONE = "parts of composite mentions that are gone"


class Built(NamedTuple):
    """A document's tree, and what it says of its collection."""

    tree: Tree
    collection: dict[str, Any]


@dataclass(slots=True)
class _Kept:
    """``meta["bioc"]``, checked."""

    collection: dict[str, Any]
    infons: Infons
    offset: int
    passages: list[dict[str, Any]]
    mentions: dict[str, Infons]
    annotations: list[tuple[int | None, str | None, Annotation]]
    relations: list[tuple[int | None, Relation]]


def build(document: Document, losses: Losses) -> Built:
    """The tree of a document.

    Args:
        document: without ``meta["bioc"]`` its whole text is one passage.
        losses: counts what BioC cannot hold.

    Raises:
        DataError: ``meta["bioc"]`` is not what reading makes, or its passages leave out text.

    >>> document = Document("Mild pain", id="7", mentions=[Mention("Disease", [(5, 9)], concepts=["MESH:D010146"])])
    >>> build(document, Losses()).tree.passages[0].annotations[0].infons
    {'type': 'Disease', 'MESH': 'D010146'}
    """
    try:
        kept = _kept(document)
        tree = Tree(document.id, kept.infons, [_passage(value, document.text, kept) for value in kept.passages])
    except DataError as error:
        message = (
            f"document {clip(document.id)}: meta['bioc'] is not what reading BioC makes: {error.message}; remove it"
        )
        raise DataError(message) from error
    here = {mention.id: mention for mention in document.mentions}
    for mention, name in _named(document, kept, losses):
        number = max((i for i, value in enumerate(kept.passages) if value["start"] <= mention.start), default=0)
        section = _section(tree.passages[number], kept.passages[number], mention.start)
        section.annotations.append(_annotation(mention, name, document, kept, losses))
    for passage, of, annotation in kept.annotations:
        whole = here.get(of)
        if of is not None and (whole is None or not _inside(annotation, whole)):
            losses.add(GONE)
            continue
        start = annotation.locations[0][0] if annotation.locations else 0
        moved = replace(annotation, locations=[(at + kept.offset, length) for at, length in annotation.locations])
        if passage is None:
            tree.annotations.append(moved)
        else:
            _section(tree.passages[passage], kept.passages[passage], start).annotations.append(moved)
    for passage, relation in kept.relations:
        (tree if passage is None else tree.passages[passage]).relations.append(relation)
    count_unwritten(losses, document, "tokens", "sentences", "columns")
    count_meta(losses, document, held=("bioc",), inside=_HELD)
    return Built(tree, kept.collection)


def _inside(part: Annotation, whole: Mention) -> bool:
    return all(whole.start <= offset and offset + length <= whole.end for offset, length in part.locations)


def _named(document: Document, kept: _Kept, losses: Losses) -> Iterator[tuple[Mention, str]]:
    """Each mention with an identifier of its own."""
    taken = {mention.id for mention in document.mentions} | {annotation.id for _, _, annotation in kept.annotations}
    free = (str(number) for number in range(len(taken) + len(document.mentions)) if str(number) not in taken)
    used: set[str] = {annotation.id for _, _, annotation in kept.annotations}
    for mention in document.mentions:
        name = mention.id
        if not name or name in used:
            losses.add("mention identifiers", int(name is not None))
            name = next(free)
        used.add(name)
        yield mention, name


def _annotation(mention: Mention, name: str, document: Document, kept: _Kept, losses: Losses) -> Annotation:
    infons = infons_for(mention.type, mention.concepts, kept.mentions.get(name) if mention.id == name else None)
    losses.add("concepts that read back in another way", int(concepts_of(infons) != normalized(mention.concepts)))
    count_concepts(losses, mention)
    losses.add("heads", int(mention.head is not None))
    losses.add("scores", int(mention.score is not None))
    locations = [(start + kept.offset, end - start) for start, end in mention.spans]
    return Annotation(name, infons, locations, mention.text(document.text))


def _section(passage: Section, value: dict[str, Any], start: int) -> Section:
    """The passage or the sentence of it in which an annotation stands: the last that begins at or before it."""
    if not passage.sentences:
        return passage
    return passage.sentences[max((i for i, s in enumerate(value["sentences"]) if s["start"] <= start), default=0)]


def _passage(value: dict[str, Any], text: str, kept: _Kept) -> Section:
    section = Section(value["start"] + kept.offset, infons=value["infons"])
    if value["sentences"]:
        section.sentences = [_passage(sentence | {"sentences": []}, text, kept) for sentence in value["sentences"]]
    else:
        section.text = text[value["start"] : value["end"]]
    return section


def _kept(document: Document) -> _Kept:
    value = document.meta.get("bioc", {})
    if not isinstance(value, dict):
        raise wrong("it", value, "an object")
    values = Values()
    passages = _ranges(value.get("passages"), "passages", document.text, 0, len(document.text))
    collection, infons, mentions = (_object(value.get(name), name) for name in ("collection", "infons", "mentions"))
    offset = value.get("offset", 0)
    if type(offset) is not int:
        raise wrong("offset", offset, "an integer")
    annotations = [
        (_number(item, place, len(passages)), _whole(item, place), values.annotation(item, place))
        for item, place in _items(value.get("annotations"), "annotations")
    ]
    relations = [
        (_number(item, place, len(passages)), values.relation(item, place))
        for item, place in _items(value.get("relations"), "relations")
    ]
    return _Kept(
        {name: collection[name] for name in COLLECTION if name in collection},
        infons,
        offset,
        passages,
        {name: _object(item, f"mentions[{clip(name)}]") for name, item in mentions.items()},
        annotations,
        relations,
    )


def _ranges(value: object, name: str, text: str, first: int, last: int) -> list[dict[str, Any]]:
    """Passages, or the sentences of one, with all their fields; none leaves out text."""
    ranges: list[dict[str, Any]] = []
    end = first
    for item, place in _items(value, name):
        start, stop = item.get("start"), item.get("end")
        if type(start) is not int or type(stop) is not int or not end <= start <= stop <= last:
            raise DataError(f"{place} is {start!r}-{stop!r}, which does not fit the text of {len(text)} characters")
        if text[end:start].strip(" "):
            raise DataError(f"{place} begins at {start}, and leaves out {text[end:start][:40]!r}")
        sentences = (
            _ranges(item.get("sentences"), f"{place}.sentences", text, start, stop) if name == "passages" else []
        )
        ranges.append(
            {"start": start, "end": stop, "infons": _object(item.get("infons"), place), "sentences": sentences}
        )
        end = stop
    if ranges and text[end:last].strip(" "):
        raise DataError(f"{name} end at {end}, and leave out {text[end:last][:40]!r}")
    if not ranges and name == "passages":
        ranges.append({"start": 0, "end": len(text), "infons": {}, "sentences": []})
    return ranges


def _items(value: object, name: str) -> Iterator[tuple[dict[str, Any], str]]:
    if value is not None and not isinstance(value, list):
        raise wrong(name, value, "a list")
    for i, item in enumerate(value or ()):
        yield _object(item, f"{name}[{i}]"), f"{name}[{i}]"


def _object(value: object, place: str) -> dict[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise wrong(place, value, "an object")
    return value or {}


def _number(item: dict[str, Any], place: str, passages: int) -> int | None:
    number = item.get("passage")
    if number is not None and (type(number) is not int or not 0 <= number < passages):
        raise wrong(f"{place}.passage", number, f"a number below {passages}, of a passage")
    return number


def _whole(item: dict[str, Any], place: str) -> str | None:
    name = item.get("of")
    if name is not None and not isinstance(name, str):
        raise wrong(f"{place}.of", name, "a mention's identifier")
    return name
