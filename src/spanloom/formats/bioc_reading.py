"""A BioC document understood: its text, its mentions with their concepts, and all else, kept as it was.

What a document has no field for stands in ``Document.meta["bioc"]``, as in BioC JSON:

``collection``, ``infons``
    of the collection and of the document.
``offset``
    of the document's first character, if it is not 0.
``passages``
    ``start`` and ``end`` in the text, ``infons``, and ``sentences`` likewise. Where a file is wrong about an offset,
    ``offset`` is what it says.
``mentions``
    by the mention's identifier, infons that would be written in another way.
``annotations``
    those that are no mention: the parts of composite mentions, each with the identifier of the mention that it is a
    part ``of``, and what has no place in the text, such as BC5CDR's relations. All with the number of their
    ``passage``.
``relations``
    each with the number of its ``passage``.
``unread``
    by place, fields that BioC does not know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from spanloom.document import Document, Mention
from spanloom.document.validate import Problem, Units, find_errors, place_of
from spanloom.formats.base import Scanned
from spanloom.formats.bioc_concepts import concepts_of, infons_for, is_part, type_of
from spanloom.formats.bioc_layout import Layout, agrees, layout
from spanloom.formats.bioc_parts import Extent, covering
from spanloom.formats.bioc_tree import Annotation, Infons, Section, Tree
from spanloom.formats.bioc_values import annotation_value, relation_value
from spanloom.formats.record import surface_problem

_SHOWN = 60  # characters of an identifier in a message
_READINGS = {
    "joined": "passage offsets do not fit the mentions' texts; read as passages joined by one space",
    "own": "offsets do not fit the mentions' texts; read as counted from each passage, passages joined by one space",
    "bytes": "offsets are counted in UTF-8 bytes; read so",
}


class _Placed(NamedTuple):
    """An annotation, with the numbers of its passage and of the piece of text that it stands in."""

    annotation: Annotation
    passage: int | None
    piece: int | None


@dataclass(slots=True)
class _Reading:
    """What is found in one document; one annotation for each mention."""

    units: Units
    mentions: list[Mention] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    infons: dict[str, Infons] = field(default_factory=dict)
    others: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def understand(tree: Tree, collection: dict[str, Any], path: str) -> Scanned:
    """The document of a tree, or what is wrong with it.

    Args:
        tree: as the file has it.
        collection: what the file says of the collection.
        path: of the file.
    """
    pieces = [piece for passage in tree.passages for piece in _pieces(passage)]
    placed = list(_annotations(tree))
    reading = layout(
        pieces,
        [piece.text or "" for piece in pieces],
        [(one.piece, one.annotation) for one in placed if one.annotation.locations],
    )
    found = _read(placed, reading)
    document = Document(reading.text, id=tree.id, mentions=found.mentions)
    found.problems += _layout_problems(reading, pieces)
    passages = _passages(tree, reading, found.problems)
    wrong = {problem.mention for problem in found.problems if problem.severity == "error"}
    for problem in find_errors(document):
        if problem.mention is None:
            found.problems.append(problem)
        elif problem.mention not in wrong:
            found.problems.append(replace(problem, line=found.annotations[problem.mention].line))
    kept = {
        "collection": collection,
        "infons": tree.infons,
        "offset": reading.base,
        "passages": passages,
        "mentions": found.infons,
        "annotations": found.others,
        "relations": list(_relations(tree)),
        "unread": tree.unread,
    }
    document.meta["bioc"] = {name: value for name, value in kept.items() if value}
    places = [(path, annotation.line) for annotation in found.annotations if annotation.line is not None]
    problems = sorted(_at(found.problems, path, tree), key=lambda problem: problem.line or 0)
    return Scanned(document, problems, path, tree.line, places if len(places) == len(found.mentions) else None)


def _at(problems: list[Problem], path: str, tree: Tree) -> Iterator[Problem]:
    """Problems with their place: the line in XML, the document's name in JSON."""
    name = "" if tree.line else f"document {tree.id[:_SHOWN] or '?'}"
    for problem in problems:
        place = ": ".join(part for part in (name, problem.place) if part)
        yield replace(problem, path=path, line=problem.line or tree.line, place=place)


def _pieces(passage: Section) -> list[Section]:
    """What has text: the passage, or else its sentences."""
    return [passage] if passage.text is not None or not passage.sentences else passage.sentences


def _annotations(tree: Tree) -> Iterator[_Placed]:
    first = 0
    for i, passage in enumerate(tree.passages):
        pieces = _pieces(passage)
        yield from (_Placed(annotation, i, first) for annotation in passage.annotations)
        for number, sentence in enumerate(passage.sentences):
            piece = first + number if pieces is passage.sentences else first
            yield from (_Placed(annotation, i, piece) for annotation in sentence.annotations)
        first += len(pieces)
    yield from (_Placed(annotation, None, None) for annotation in tree.annotations)


def _relations(tree: Tree) -> Iterator[dict[str, Any]]:
    yield from ({"passage": None, **relation_value(relation)} for relation in tree.relations)
    for i, passage in enumerate(tree.passages):
        for section in (passage, *passage.sentences):
            yield from ({"passage": i, **relation_value(relation)} for relation in section.relations)


def _layout_problems(reading: Layout, pieces: list[Section]) -> Iterator[Problem]:
    if reading.name in _READINGS:
        starts = zip(pieces, reading.starts, strict=True)
        wrong = [piece for piece, start in starts if piece.offset != reading.base + start]
        offsets = ", ".join(str(piece.offset) for piece in wrong[:3])
        message = _READINGS[reading.name] + (f" (found the offset {offsets})" if wrong else "")
        yield Problem("warning", "passage offset", message, line=wrong[0].line if wrong else None)


def _read(placed: list[_Placed], reading: Layout) -> _Reading:
    found = _Reading(Units(reading.text))
    names = _Names(placed)
    wholes = [one for one in placed if one.annotation.locations and not is_part(one.annotation.infons)]
    for one in wholes:
        _add_mention(found, one, names, reading)
    mentions = list(found.mentions)
    parts = [one for one in placed if one.annotation.locations and is_part(one.annotation.infons)]
    extents = [Extent(mention.type, mention.start, mention.end) for mention in mentions]
    covers = iter(covering([_extent(part, reading) for part in parts], extents))
    for one in placed:
        if not one.annotation.locations:
            found.others.append({"passage": one.passage, **annotation_value(one.annotation)})
        elif is_part(one.annotation.infons):
            whole = next(covers)
            if whole is None:
                _add_mention(found, one, names, reading)
            else:
                _keep_part(found, one, mentions[whole], reading)
    return found


class _Names:
    """Identifiers of mentions: in a file they need only be unique in a passage, and may be missing."""

    def __init__(self, placed: list[_Placed]) -> None:
        self._ids = Counter(one.annotation.id for one in placed)
        self._seen: Counter[str] = Counter()
        self._number = 0

    def next(self, annotation: Annotation) -> str:
        name = annotation.id
        while not name or (name != annotation.id and name in self._ids):
            name, self._number = str(self._number), self._number + 1
        if self._ids[name] < 2:
            return name
        self._seen[name] += 1
        return f"{name}#{self._seen[name]}"


def _add_mention(found: _Reading, one: _Placed, names: _Names, reading: Layout) -> None:
    annotation = one.annotation
    spans = tuple(reading.place(annotation.locations, one.piece))
    kind, concepts, name = type_of(annotation.infons), concepts_of(annotation.infons), names.next(annotation)
    mention = Mention(kind, spans, name, concepts=concepts)
    if infons_for(kind, concepts) != annotation.infons:
        found.infons[name] = annotation.infons
    number = len(found.mentions)
    problem = _surface_problem(mention, annotation, reading, found.units, place_of(mention, number))
    if problem is not None:
        found.problems.append(replace(problem, mention=number, line=annotation.line))
    found.mentions.append(mention)
    found.annotations.append(annotation)


def _extent(part: _Placed, reading: Layout) -> Extent:
    spans = reading.place(part.annotation.locations, part.piece)
    return Extent(type_of(part.annotation.infons), spans[0].start, spans[-1].end)


def _keep_part(found: _Reading, one: _Placed, whole: Mention, reading: Layout) -> None:
    """A part of a composite mention, with its locations counted in the document's text."""
    annotation = one.annotation
    spans = reading.place(annotation.locations, one.piece)
    surface = annotation.text
    if surface is not None and not agrees(reading.text, spans, surface):
        message = f"the part {surface[:60]!r} of a composite mention is not what stands at its offsets; kept as it is"
        found.problems.append(Problem("warning", "other text", message, line=annotation.line))
    moved = replace(annotation, locations=[(start, end - start) for start, end in spans])
    found.others.append({"passage": one.passage, "of": whole.id, **annotation_value(moved)})


def _surface_problem(
    mention: Mention, annotation: Annotation, reading: Layout, units: Units, place: str
) -> Problem | None:
    if annotation.text is None:
        message = "the annotation gives no text, so its offsets cannot be checked"
        return Problem("warning", "no text in annotation", message, place)
    if any(not 0 <= start < end for start, end in mention.spans) or agrees(
        reading.text, mention.spans, annotation.text
    ):
        return None
    return surface_problem(annotation.text, mention, units, place)


def _passages(tree: Tree, reading: Layout, problems: list[Problem]) -> list[dict[str, Any]]:
    values = []
    starts = iter(reading.starts)
    for i, passage in enumerate(tree.passages):
        pieces = [(piece, next(starts)) for piece in _pieces(passage)]
        value = _range(passage, pieces[0][1], pieces[-1][1] + len(pieces[-1][0].text or ""), reading)
        if passage.sentences:
            if passage.text is not None:
                pieces = [(sentence, _start_of(sentence, reading)) for sentence in passage.sentences]
            for sentence, start in pieces:
                if not reading.text.startswith(sentence.text or "", start):
                    message = f"the sentence at offset {sentence.offset} is not what stands there; correct one of them"
                    problems.append(Problem("error", "sentence offset", message, f"passages[{i}]", line=sentence.line))
            value["sentences"] = [_range(s, start, start + len(s.text or ""), reading) for s, start in pieces]
        values.append(value)
    return values


def _start_of(sentence: Section, reading: Layout) -> int:
    ((start, _),) = reading.place([(sentence.offset, 0)], None)
    return max(start, 0)


def _range(section: Section, start: int, end: int, reading: Layout) -> dict[str, Any]:
    value: dict[str, Any] = {"start": start, "end": end}
    if section.offset != reading.base + start:
        value["offset"] = section.offset
    return value | ({"infons": section.infons} if section.infons else {})
