"""Conversion of BioC to documents: text, mentions with their concepts, and all other data, kept in ``meta``.

Data without a field in a document are kept in ``Document.meta["bioc"]``, as in BioC JSON:

``collection``, ``infons``
    of the collection and of the document.
``offset``
    of the document's first character, if it is not 0.
``passages``
    ``start`` and ``end`` in the text, ``infons``, and ``sentences`` likewise. ``offset`` is the file's value, where
    that is wrong.
``mentions``
    by the mention's identifier, infons that would be written in another way.
``annotations``
    those that are no mention: the parts of composite mentions, each with the identifier of the mention that it is a
    part ``of``, and those without a place in the text, such as BC5CDR's relations. All with the number of their
    ``passage``.
``relations``
    each with the number of its ``passage``.
``unread``
    by place, fields that are not in BioC.

Concepts are in the infons of `spanloom.formats.bioc.concepts`.

A piece is a passage, or a sentence where only the sentences have text. It declares its offset in the document, and
annotations count from the start of the document. Both are wrong in some files. Therefore up to four readings are
tried, and the one under which most annotations match their own text is used (the first of equally good ones):

``declared``
    as BioC defines: each passage is at its offset, with blanks between.
``joined``
    passages are joined by one space, as the key of BC5CDR defines, and annotations count in that text. In BC5CDR 31
    passages declare another offset, and their annotations show that these are wrong.
``own``
    passages are joined by one space, and annotations count from the offset of their own passage, for example where
    each passage begins at 0.
``bytes``
    as ``declared``, in bytes of UTF-8, as the comments in BioC's DTD recommend.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spanloom.document import Document, Mention, Span
from spanloom.document.surfaces import difference
from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip
from spanloom.formats.base import Beside, Scanned, altered
from spanloom.formats.bioc.concepts import Names, attributes_of, concepts_of, infons_for, unread_infons
from spanloom.formats.bioc.syntax import BiocNode, Infons, Parsed, from_value, to_value
from spanloom.formats.record_fields import Columns
from spanloom.formats.unread import looks_annotated

_READINGS = {
    "joined": "passage offsets do not fit the mentions' texts; read as passages joined by one space",
    "own": "offsets do not fit the mentions' texts; read as counted from each passage, passages joined by one space",
    "bytes": "offsets are counted in UTF-8 bytes; read so",
}
_SHOWN = 60  # characters of an identifier or a text in a message
_LARGEST_GAP = 1_000_000  # blanks; a larger gap is no layout but a mistake, or an attack on the memory


class _Placed(NamedTuple):
    """An annotation, with the numbers of its passage and of its piece of text."""

    node: BiocNode
    passage: int | None
    piece: int | None

    @property
    def is_part(self) -> bool:
        """True for a part of a composite mention that is annotated as a whole, too."""
        return bool(self.node.infons.get("CompositeRole") == "IndividualMention")


@dataclass(slots=True)
class _FoundAnnotations:
    """Annotations of one document; one for each mention."""

    layout: OffsetLayout
    names: Names
    mentions: list[Mention] = field(default_factory=list)
    nodes: list[BiocNode] = field(default_factory=list)
    infons: dict[str, Infons] = field(default_factory=dict)
    others: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def scan(parse: Callable[[str | Path], Parsed], path: str | Path, columns: Columns = None) -> Iterator[Scanned]:
    """Yield the documents of a BioC file, found by a parser of `spanloom.formats.bioc.syntax`.

    Args:
        parse: the parser.
        path: the file, or ``-``.
        columns: the infons with the type and the concepts: ``["type=label", "concept=xref"]``.
    """
    name, names = str(path), Names.given(columns)
    unread: Counter[str] = Counter()
    for tree, collection in parse(path):
        if isinstance(tree, Problem):
            yield Scanned(None, [tree], name)
            continue
        yield _understood(tree, collection, name, names, unread)
    if unread:
        shown = ", ".join(f"{clip(key)} (of {count} annotations)" for key, count in unread.most_common(5))
        message = f"infons that look like identifiers and are not read: {shown}; name one (--columns concept=NAME)"
        yield Scanned.altered("infons not read", message, name)


def scan_value(value: object, path: str, line: int | None, place: str) -> Scanned:
    """Return the document of one that is a record of a file of JSON."""
    try:
        tree = from_value("document", value)
    except DataError as error:
        return Scanned.failed("wrong field", error.message, path, line, place)
    scanned = _understood(tree, {}, path, Names(), Counter())
    return scanned._replace(problems=[replace(problem, line=line) for problem in scanned.problems], line=line)


def _understood(tree: BiocNode, collection: dict[str, Any], path: str, names: Names, unread: Counter[str]) -> Scanned:
    """Convert a tree to a document, or to its problems."""
    pieces = [piece for passage in tree.passages for piece in _pieces(passage)]
    placed = list(_annotations(tree))
    located = [(one.piece, one.node) for one in placed if one.node.locations]
    layout = choose_layout([piece.offset for piece in pieces], [piece.text or "" for piece in pieces], located)
    found = _find(placed, layout, names)
    unread.update(found.unread)
    document = Document(layout.text, id=tree.id, mentions=found.mentions)
    if layout.name in _READINGS:
        starts = zip(pieces, layout.starts, strict=True)
        wrong = [piece for piece, start in starts if piece.offset != layout.base + start]
        shown = ", ".join(str(piece.offset) for piece in wrong[:3])
        message = _READINGS[layout.name] + (f" (found the offset {shown})" if wrong else "")
        found.problems.append(Problem("warning", "passage offset", message, line=wrong[0].line if wrong else None))
    passages = _passages(tree, layout, found.problems)
    sections: list[tuple[int | None, BiocNode]] = [(None, tree)]
    sections += [(i, section) for i, passage in enumerate(tree.passages) for section in (passage, *passage.sentences)]
    placed_relations = ((i, relation) for i, section in sections for relation in section.relations)
    relations = [{"passage": i, **to_value("relation", relation)} for i, relation in placed_relations]
    kept = {
        "collection": collection, "infons": tree.infons, "offset": layout.base, "passages": passages,
        "mentions": found.infons, "annotations": found.others, "relations": relations, "unread": tree.unread,
    }  # fmt: skip
    document.meta["bioc"] = {name: value for name, value in kept.items() if value}
    for place, value in tree.unread.items():
        name = place.rpartition(".")[2]
        if place.count(".") < 2 and (name == "entities" or looks_annotated(name, value, 1 << 20)):
            message = f"the field {clip(place)} looks like annotation and is not read; BioC has it in 'annotations'"
            found.problems.append(altered(f"annotation not read: {name}", message))
    problems = [replace(problem, path=path, line=problem.line or tree.line) for problem in found.problems]
    lines = [node.line for node in found.nodes if node.line is not None]
    places = [(path, line) for line in lines] if len(lines) == len(found.nodes) else None
    within = "" if tree.line else f"document {tree.id[:_SHOWN] or '?'}"  # JSON has no lines
    beside = Beside([node.text for node in found.nodes], "annotation", within=within)
    return Scanned(document, problems, path, tree.line, places, beside)


def _pieces(passage: BiocNode) -> list[BiocNode]:
    """Return the pieces with text: the passage, or else its sentences; some tools give it an empty text then."""
    return passage.sentences if passage.sentences and not passage.text else [passage]


def _annotations(tree: BiocNode) -> Iterator[_Placed]:
    first = 0
    for i, passage in enumerate(tree.passages):
        pieces = _pieces(passage)
        yield from (_Placed(node, i, first) for node in passage.annotations)
        for number, sentence in enumerate(passage.sentences):
            piece = first + number if pieces is passage.sentences else first
            yield from (_Placed(node, i, piece) for node in sentence.annotations)
        first += len(pieces)
    yield from (_Placed(node, None, None) for node in tree.annotations)


def _find(placed: list[_Placed], layout: OffsetLayout, infons: Names) -> _FoundAnnotations:
    """Collect mentions first, then the parts of composite ones, each of which may be a mention of its own."""
    found = _FoundAnnotations(layout, infons)
    unique = _unique_ids(placed)
    for one in placed:
        if one.node.locations and not one.is_part:
            _add_mention(found, one, unique)
    wholes = list(found.mentions)
    inner = (one for one in placed if one.node.locations and one.is_part)
    parts = [Mention(_first_type(infons, one.node), layout.place(one.node.locations, one.piece)) for one in inner]
    covers = iter(covering(parts, wholes))
    for one in placed:
        if not one.node.locations:
            if one.node.text:
                message = f"the annotation {clip(one.node.text, _SHOWN)} has no location; it is kept, and no mention"
                found.problems.append(altered("annotations without a location", message, one.node.line))
            found.others.append({"passage": one.passage, **to_value("annotation", one.node)})
        elif one.is_part and (whole := next(covers)) is not None:
            _keep_part(found, one, wholes[whole])
        elif one.is_part:
            _add_mention(found, one, unique)
    return found


def _unique_ids(placed: list[_Placed]) -> Callable[[BiocNode], str]:
    """Return the function to a unique identifier; in a file they need only be so in a passage, and may be missing."""
    ids, seen = Counter(one.node.id for one in placed), Counter[str]()
    free = (name for name in map(str, count()) if name not in ids)

    def unique(node: BiocNode) -> str:
        name = node.id or next(free)
        if ids[name] < 2:
            return name
        seen[name] += 1
        return f"{name}#{seen[name]}"

    return unique


def _add_mention(found: _FoundAnnotations, one: _Placed, unique: Callable[[BiocNode], str]) -> None:
    node = one.node
    kind, name = _first_type(found.names, node), unique(node)
    if len(types := found.names.types_of(node.infons)) > 1:
        message = f"the annotation {name[:_SHOWN]} has the types {', '.join(map(clip, types[:5]))}; the first is read"
        found.problems.append(altered("several types", message, node.line))
    if not kind:
        shown = ", ".join(map(clip, list(node.infons)[:5])) or "none"
        message = f"there is no infon 'type', found {shown}; name the one that holds it (--columns type=NAME, columns=)"
        number = len(found.mentions)
        found.problems.append(Problem("error", "no type", message, f"mention {name}", number, line=node.line))
    if not (concepts := concepts_of(node.infons, found.names)):
        found.unread += unread_infons(node.infons)
    spans, attributes = found.layout.place(node.locations, one.piece), attributes_of(node.infons, found.names)
    mention = Mention(kind, spans, name, concepts=concepts, attributes=attributes)
    if infons_for(kind, concepts, None, attributes) != node.infons:
        found.infons[name] = node.infons
    found.mentions.append(mention)
    found.nodes.append(node)


def _first_type(names: Names, node: BiocNode) -> str:
    return next(iter(names.types_of(node.infons)), "")


def _keep_part(found: _FoundAnnotations, one: _Placed, whole: Mention) -> None:
    """Keep a part of a composite mention, with its locations counted in the document's text."""
    spans = found.layout.place(one.node.locations, one.piece)
    if (surface := one.node.text) is not None and difference(found.layout.text, spans, surface) is None:
        message = f"the part {surface[:60]!r} of a composite mention differs from the text at its offsets"
        found.problems.append(Problem("warning", "other text", f"{message}; kept as it is", line=one.node.line))
    moved = replace(one.node, locations=[(start, end - start) for start, end in spans])
    found.others.append({"passage": one.passage, "of": whole.id, **to_value("annotation", moved)})


def _passages(tree: BiocNode, layout: OffsetLayout, problems: list[Problem]) -> list[dict[str, Any]]:
    values = []
    starts = iter(layout.starts)
    for i, passage in enumerate(tree.passages):
        pieces = [(piece, next(starts)) for piece in _pieces(passage)]
        last, behind = pieces[-1]
        value = _range(passage, pieces[0][1], behind + len(last.text or ""), layout)
        if passage.sentences:
            if pieces[0][0] is passage:
                places = (layout.place([(sentence.offset, 0)], None) for sentence in passage.sentences)
                pieces = [(s, max(span.start, 0)) for s, (span,) in zip(passage.sentences, places, strict=True)]
            for sentence, start in pieces:
                if not layout.text.startswith(sentence.text or "", start):
                    found = f"the sentence at offset {sentence.offset} differs from the text there"
                    message = f"{found}; correct one of them"
                    problems.append(Problem("error", "sentence offset", message, f"passages[{i}]", line=sentence.line))
            value["sentences"] = [_range(s, start, start + len(s.text or ""), layout) for s, start in pieces]
        values.append(value)
    return values


def _range(section: BiocNode, start: int, end: int, layout: OffsetLayout) -> dict[str, Any]:
    value: dict[str, Any] = {"start": start, "end": end}
    if section.offset != layout.base + start:
        value["offset"] = section.offset
    return value | ({"infons": section.infons} if section.infons else {})


Pieces = Sequence[tuple[int, int]]


class OffsetLayout(NamedTuple):
    """A reading of offsets: the place of each piece of a document in its text.

    Args:
        name: the reading's name.
        text: of the document.
        starts: the start of each piece in the text.
        base: the offset of the text's first character, as the annotations count.
        shifts: the offset of the text's first character for each piece, where its annotations count from another one.
        characters: the character at each byte, and their number, where offsets count bytes of UTF-8.
    """

    name: str
    text: str
    starts: list[int]
    base: int
    shifts: Sequence[int] = ()
    characters: Sequence[int] = ()

    def place(self, locations: Pieces, piece: int | None) -> list[Span]:
        """Return the spans of an annotation of a piece (``None``: of the document)."""
        shift = self.shifts[piece] if self.shifts and piece is not None else self.base
        return [Span(self._at(start - shift), self._at(start - shift + length)) for start, length in locations]

    def _at(self, offset: int) -> int:
        return self.characters[offset] if 0 <= offset < len(self.characters) else offset


def choose_layout(
    offsets: Sequence[int], texts: Sequence[str], annotated: Sequence[tuple[int | None, BiocNode]]
) -> OffsetLayout:
    """Choose the layout under which most annotations match their own text; the first of equally good ones.

    Args:
        offsets: of the pieces.
        texts: of the pieces.
        annotated: the number of a piece, or ``None``, and an annotation with locations, for each.

    >>> found = choose_layout([0, 15], ["Mild pain.", "No fever."], [(1, BiocNode(locations=[(14, 5)], text="fever"))])
    >>> found.name, found.text, found.place([(14, 5)], 1)
    ('joined', 'Mild pain. No fever.', [Span(start=14, end=19)])
    """
    layouts = list(_layouts(offsets, texts))
    if len(layouts) == 1 or not annotated:
        return layouts[0]
    return max(layouts, key=lambda layout: _agreement(layout, texts, annotated))


def _agreement(
    layout: OffsetLayout, texts: Sequence[str], annotated: Iterable[tuple[int | None, BiocNode]]
) -> tuple[int, int]:
    """Count the annotations that match their text; where none has a text, those that lie in their piece."""
    shown = inside = 0
    silent = True
    for piece, node in annotated:
        spans = layout.place(node.locations, piece)
        shown += node.text is not None and difference(layout.text, spans, node.text) is not None
        silent = silent and not node.text
        if piece is not None:
            first = layout.starts[piece]
            inside += spans[0].start >= first and spans[-1].end <= first + len(texts[piece])
    return shown, inside if silent else 0


def _layouts(offsets: Sequence[int], texts: Sequence[str]) -> Iterator[OffsetLayout]:
    base = offsets[0] if offsets else 0
    ends = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64)
    joined: list[int] = [0, *ends[:-1].tolist()] if texts else []
    if (declared := _declared(offsets, [len(text) for text in texts], base)) is not None:
        yield OffsetLayout("declared", _text(declared, texts), declared, base)
    if declared != joined:
        yield OffsetLayout("joined", " ".join(texts), joined, base)
    shifts = [offset - start for offset, start in zip(offsets, joined, strict=True)]
    if any(shift != base for shift in shifts):
        yield OffsetLayout("own", " ".join(texts), joined, base, shifts)
    if not all(map(str.isascii, texts)):
        raw = _declared(offsets, [len(text.encode("utf-8", "surrogatepass")) for text in texts], base)
        if raw is not None:
            yield _in_bytes(raw, texts, base)


def _declared(offsets: Sequence[int], lengths: Sequence[int], base: int) -> list[int] | None:
    starts = [offset - base for offset in offsets]
    gaps = [start - end for start, end in zip(starts, [0, *map(sum, zip(starts, lengths, strict=True))], strict=False)]
    return starts if all(gap >= 0 for gap in gaps) and sum(gaps) <= _LARGEST_GAP else None


def _text(starts: Sequence[int], texts: Sequence[str]) -> str:
    parts: list[str] = []
    length = 0
    for start, text in zip(starts, texts, strict=True):
        parts += [" " * (start - length), text]
        length = start + len(text)
    return "".join(parts)


def _in_bytes(starts: Sequence[int], texts: Sequence[str], base: int) -> OffsetLayout:
    """Return the layout of offsets in bytes of UTF-8; one inside a character is that character's start."""
    as_bytes = [text.encode("utf-8", "surrogatepass").decode("latin-1") for text in texts]
    in_bytes = _text(starts, as_bytes).encode("latin-1")
    text = in_bytes.decode("utf-8", "surrogatepass")
    begins = (np.frombuffer(in_bytes, np.uint8) & 0xC0) != 0x80
    characters = [*(np.cumsum(begins) - 1).tolist(), len(text)]
    places = [characters[start] if start < len(characters) else start for start in starts]
    return OffsetLayout("bytes", text, places, base, characters=characters)


def covering(parts: Sequence[Mention], wholes: Sequence[Mention]) -> list[int | None]:
    """Return for each part the number of the whole of its type around it that starts last; of these the shortest.

    >>> places = (("D", 0, 30), ("D", 0, 20), ("E", 5, 10), ("D", 10, 30))
    >>> wholes = [Mention(kind, [(start, end)]) for kind, start, end in places]
    >>> covering([Mention("D", [place]) for place in ((5, 10), (12, 25), (25, 40))], wholes)
    [1, 3, None]
    """
    found: list[int | None] = [None] * len(parts)
    events = [(whole.start, False, -whole.end, -number, whole.type) for number, whole in enumerate(wholes)]
    events += [(part.start, True, -part.end, number, part.type) for number, part in enumerate(parts)]
    opened: dict[str, list[tuple[int, int]]] = {}  # by type, minus the end and the number of wholes, inner ones last
    for _, is_part, end, number, kind in sorted(events):
        stack = opened.setdefault(kind, [])
        if is_part:
            at = bisect_right(stack, end, key=itemgetter(0))
            found[number] = stack[at - 1][1] if at else None
        else:
            while stack and stack[-1][0] >= end:  # what the new one covers from here on
                stack.pop()
            stack.append((end, -number))
    return found
