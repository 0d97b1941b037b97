"""Results of Label Studio: which are mentions, concepts and attributes, and the text that they are about."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import accumulate
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from spanloom.document import Document, Mention, Span
from spanloom.document.surfaces import difference
from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip
from spanloom.formats.attributes import from_texts, to_text
from spanloom.formats.base import Surface, altered
from spanloom.formats.json_text import are, some
from spanloom.formats.layouts import OF_TEXT, named
from spanloom.formats.tagged import grouped
from spanloom.text.patterns import pattern

_Pair = tuple[int, int]

FRAGMENT, CONCEPT = "fragment", "concept"  # the label of the relation, and the name of the text area
# kind of a result about a region -> the field of its value
_VALUED = {"choices": "choices", "taxonomy": "taxonomy", "textarea": "text", "rating": "rating", "number": "number"}
_LARGEST = 2**31
_PLACES = ("start", "startOffset", "end", "endOffset", "globalOffsets")


@dataclass(slots=True)
class Understood:
    """A task as a document, and its remaining results.

    Args:
        document: without ``meta``.
        shown: its text, and where regions are in it.
        text_field: the field of the task's data with the text.
        surfaces: the file's own text for each span of each mention; ``None`` where it gives none.
        others: results that are no part of a mention.
        valued: results that are attributes, by region and control.
        problems: in the order in which they were found.
    """

    document: Document
    shown: Task
    text_field: str = "text"
    surfaces: list[Surface] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)
    valued: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class _Region:
    labels: list[str]
    span: tuple[int, int]
    surface: str | None
    score: float | None
    control: object = None
    concepts: list[str] = field(default_factory=list)
    attributes: dict[str, list[str]] = field(default_factory=dict)
    sure: dict[str, float] = field(default_factory=dict)


def add_mentions(found: Understood, results: list[Any]) -> None:
    """Add the mentions that some results are to a document; keep the others.

    Raises:
        DataError: a result is damaged.
    """
    regions: dict[str, _Region] = {}
    joins: list[dict[str, Any]] = []
    about: list[dict[str, Any]] = []
    regional = (one for one in results if isinstance(one, dict) and str(one.get("type")).endswith("labels"))
    labelled = {one["id"] for one in regional if isinstance(one.get("id"), str)}
    for number, result in enumerate(results):
        if not isinstance(result, dict):
            raise DataError(f"result[{number}] is no object, expected a region")
        if str(result.get("type")) in _VALUED and isinstance(result.get("id"), str) and result["id"] in labelled:
            about.append(result)
        elif (region := _region(result, number, found)) is not None:
            name = result.get("id")
            name = name if isinstance(name, str) and name else f"result[{number}]"
            if (other := regions.get(name)) is None:
                regions[name] = region
            elif other.control == result.get("from_name"):
                raise DataError(f"two regions have the id {name[:40]!r}; regions of a task have ids of their own")
            else:
                found.others.append(result)
        elif result.get("type") == "relation" and are(result.get("labels"), str) and FRAGMENT in result["labels"]:
            joins.append(result)
        else:
            found.others.append(result)
    for result in about:
        _add_value(found, regions, result)
    pairs: list[tuple[Any, Any]] = []
    for join in joins:
        ends = join.get("from_id"), join.get("to_id")
        labels = [regions[end].labels for end in ends if isinstance(end, str) and end in regions]
        if len(labels) == len(ends) and labels[0] == labels[1]:
            pairs.append(ends)
            continue
        found.others.append(join)
        message = "a relation 'fragment' that joins no two regions of one label; it is kept as a relation"
        found.problems.append(Problem("warning", "relation", message))
    for names in grouped(regions, pairs):
        _add_group(found, names, [regions[name] for name in names])
    unread = sum(one.get("type") != "relation" for one in found.others)
    unlabelled = sum(_has_offsets(one) and not _labels(one) for one in found.others)
    if unlabelled and not found.document.mentions:
        message = f"results with offsets and without labels: {unlabelled}; no mention was read, and they are kept"
        found.problems.append(altered("annotation not read", message))
    if unread:
        message = f"results that are no mentions: {unread}; they are kept"
        found.problems.append(Problem("warning", "results not read", message))


def _region(result: dict[str, Any], number: int, found: Understood) -> _Region | None:
    """Return the region of the text with labels that a result is; ``None`` for another.

    Raises:
        DataError: one that should be has no labels or offsets.
    """
    value, kind = result.get("value"), result.get("type")
    if kind == "labels":
        if not isinstance(value, dict) or not are(value.get("labels"), str):
            raise DataError(f"result[{number}]: value is no object with a list of 'labels'; export the tasks as JSON")
        offsets = value.get("start"), value.get("end")
        if not _has_offsets(result) or any(type(one) is int and abs(one) >= _LARGEST for one in offsets):
            start, end = (str(one)[:20] for one in offsets)
            raise DataError(f"result[{number}]: start and end are {start!r} and {end!r}, expected integers")
    if not isinstance(value, dict) or kind == "textarea" or not (labels := _labels(result)):
        return None
    if (span := found.shown.span(value)) is None:
        if _has_offsets(result):
            place = ", ".join(f"{name} {clip(str(value[name]))}" for name in _PLACES if name in value)
            message = f"a region of {clip(labels[0])} is not in the text ({place}); it is kept, and not read"
            found.problems.append(altered("regions outside the text", message, place=f"result[{number}]"))
        return None
    surface = value.get("text") if isinstance(value.get("text"), str) else None
    return _Region(labels, span, surface, _score_of(result), result.get("from_name"))


def _has_offsets(result: dict[str, Any]) -> bool:
    """Return whether a result has offsets of a kind that regions have."""
    value = result.get("value")
    return isinstance(value, dict) and any(pair is not None for pair in _offsets(value))


def _offsets(value: Mapping[str, Any]) -> list[_Pair | None]:
    """Return the offsets of a region: in the text, in two nodes, and among all nodes, those that it has."""
    every = value.get("globalOffsets")
    whole = every if isinstance(every, dict) else {}
    given = [(one.get("start"), one.get("end")) for one in (value, whole)]
    given.insert(1, (value.get("startOffset"), value.get("endOffset")))
    return [(start, end) if type(start) is type(end) is int else None for start, end in given]


def _labels(result: dict[str, Any]) -> list[str]:
    """Return the labels of a result, in the field that its control has; parts of a taxonomy's path are joined."""
    value, kind = result["value"], result.get("type")
    names = [kind, *(name for name in value if name != "text")] if isinstance(kind, str) else list(value)
    for name in names:
        if some(labels := value.get(name), str):
            return list(labels)
        if some(labels, list) and all(some(path, str) for path in labels):
            return ["/".join(path) for path in labels]
    return []


def _add_value(found: Understood, regions: dict[str, _Region], result: dict[str, Any]) -> None:
    """Add an attribute, or concepts, to a region."""
    value, control = result.get("value"), result.get("from_name")
    given = value.get(_VALUED[result["type"]]) if isinstance(value, dict) else None
    texts = []
    for one in given if isinstance(given, list) else [given]:
        path = one if isinstance(one, list) else [one]
        if not some(path, str, int, float, bool):
            break
        texts.append("/".join(to_text(part) if isinstance(part, bool) else str(part) for part in path))
    else:
        if (region := regions.get(result["id"])) is not None and (result["type"], control) == ("textarea", CONCEPT):
            region.concepts += texts
            return
        if region is not None and isinstance(control, str) and control and texts:
            region.attributes.setdefault(control, []).extend(texts)
            if (score := _score_of(result)) is not None:
                region.sure[control] = score
            found.valued.setdefault((result["id"], control), []).append(result)
            return
    found.others.append(result)


def _score_of(result: dict[str, Any]) -> float | None:
    score = result.get("score")
    return float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None


def _add_group(found: Understood, names: list[str], parts: list[_Region]) -> None:
    """Add the mention of joined regions; one for each label, as Label Studio allows several."""
    ordered = sorted(parts, key=lambda region: region.span)
    concepts = tuple(dict.fromkeys(concept for part in parts for concept in part.concepts))
    texts: dict[str, list[str]] = {}
    sure: dict[str, float] = {}
    for part in parts:
        for control, own in part.attributes.items():
            texts[control] = list(dict.fromkeys([*texts.get(control, ()), *own])) if control in texts else own
        sure |= part.sure
    attributes = {control: from_texts(own) for control, own in texts.items()}
    for number, label in enumerate(parts[0].labels, start=1):
        name = names[0] if number == 1 else f"{names[0]}#{number}"
        spans = tuple(Span(*part.span) for part in ordered)
        found.document.mentions.append(Mention(label, spans, name, None, concepts, parts[0].score, attributes, sure))
        found.surfaces.append([part.surface for part in ordered])


# Texts of Label Studio's tasks: plain text, HTML as a browser shows it, and the paragraphs of a dialogue.
#
# Offsets of a region count
#
# - in plain text, its characters (``start``, ``end``);
# - in HTML, the UTF-16 units of one node, which ``start`` and ``end`` name as ``/p[1]/b[1]/text()[1]``
#   (``startOffset``, ``endOffset``), and the characters of all nodes (``globalOffsets``), in which ``<br>`` is one;
# - in a dialogue, the UTF-16 units of the paragraph whose number ``start`` or ``end`` is.
#
# Label Studio shows a region of HTML at its ``startOffset``. Characters were written there, too: see `Task.span`.
#
# The document's text is what is shown: without tags, with a line end between blocks and between paragraphs.

PARAGRAPHS: Final = "paragraphlabels"
HTML: Final = "hypertextlabels"
_MARKUP: Final = pattern(r"<[A-Za-z!/]|&#?\w+;")
_TEXT_FIELDS: Final = (*OF_TEXT, "message", "utterance", "phrase", "transcript", "transcription", "value", "body")
_BLOCKS: Final = pattern(
    r"address|article|aside|blockquote|caption|center|d[dlt]|details|div|fieldset|fig(?:caption|ure)|footer|form|"
    r"h[1-6r]|header|li|main|nav|[ou]l|option|p|pre|section|summary|table|t(?:body|foot|head|r)"
)
_CELLS: Final = pattern(r"t[dh]")
_VOID: Final = pattern(r"area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr")
_ALONE: Final = frozenset(("dd", "dt", "li", "option", "td", "th", "tr"))  # within none of its name, closed or not
_UNSHOWN: Final = frozenset(("script", "style"))
# no part of it is tried twice, so that what is not closed takes linear time
_PIECE: Final = pattern(
    r"<!(?=--).*?(?:-->|\Z)|<[!?].*?(?:>|\Z)"
    r"|<(?P<end>/?)(?P<name>[A-Za-z][^\s/>]*+)"
    r"""(?:[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?)?)*+[\s/]*+>"""
    r"|</?[A-Za-z].*"  # not closed up to the end
    r"|(?P<text>(?:[^<]|<(?![!?]|/?[A-Za-z]))++)",
    re.DOTALL,
)
_RAW_END: Final = pattern(r"</(?=(?:script|style)[\s/>])", re.IGNORECASE)
_ROOTS: Final = frozenset(("html", "head", "body"))  # the paths of nodes begin below them
_DEEPEST: Final = 100  # elements within elements; what is deeper has no path


class _Node(NamedTuple):
    """A text node: its place among all characters of the HTML's nodes and in the text as shown, and its path."""

    counted: int
    start: int
    length: int
    path: str | None


def _pieces(html: str) -> Iterator[tuple[str, str]]:
    """Yield the tags and the texts of HTML, as browsers divide it: ``<``, ``</`` or nothing, and the name or the text.

    >>> list(_pieces("a <b class='x>y'>&lt; 3 < 4</B><!-- no --> c"))
    [('', 'a '), ('<', 'b'), ('', '< 3 < 4'), ('</', 'b'), ('', ' c')]
    """
    at = 0
    while (found := _PIECE.match(html, at)) is not None:
        at = found.end()
        if found["text"]:
            yield "", unescape(found["text"])
        elif found["name"]:
            name = found["name"].lower()
            yield f"<{found['end']}", name
            if name in _UNSHOWN and not found["end"]:
                closing = _RAW_END.search(html, at)
                raw = html[at:] if closing is None else html[at : closing.start()]
                if raw:
                    yield "", raw
                at += len(raw)


class _Element(NamedTuple):
    """An open element: its name, its path, and how many children of each name it has."""

    name: str
    path: str | None
    counts: Counter[str]


class _Nodes:
    """Collects the text nodes of HTML, and the text as shown."""

    def __init__(self, html: str) -> None:
        self.parts: list[str] = []
        self.nodes: list[_Node] = []
        self.elements: dict[str, int] = {}
        self._counted = self._length = 0
        self._open = [_Element("", "", Counter())]
        self._names: Counter[str] = Counter()  # of open elements
        self._between = ""  # what precedes the next text, if no text does
        steps = {"<": self._start, "</": self._end, "": self._data}
        for kind, value in _pieces(html):
            steps[kind](value)

    def _next(self, name: str) -> str | None:
        last = self._open[-1]
        if last.path is None or len(self._open) > _DEEPEST:
            return None
        last.counts[name] += 1
        return f"{last.path}/{name}[{last.counts[name]}]"

    def _add(self, text: str) -> None:
        self.parts.append(text)
        self._length += len(text)

    def _divide(self, tag: str) -> None:
        """Put a line end before the next text at the borders of a block, and a space at those of a cell."""
        if self.parts and not self.parts[-1][-1:].isspace():
            if _BLOCKS.fullmatch(tag):
                self._between = "\n"
            elif _CELLS.fullmatch(tag):
                self._between = self._between or " "

    def _start(self, tag: str) -> None:
        if tag in _ROOTS:
            return
        last = self._open[-1].name
        if tag == last in _ALONE or (last == "p" and _BLOCKS.fullmatch(tag)):
            self._end(last)
        elif tag == "tr" and last == "table":
            self._start("tbody")
        if (path := self._next(tag)) is not None:
            self.elements[path] = self._length
        if tag == "br":
            self.nodes.append(_Node(self._counted, self._length, 1, path))
            self._counted += 1
            self._between = ""
            self._add("\n")
        self._divide(tag)
        if not _VOID.fullmatch(tag):
            self._open.append(_Element(tag, path, Counter()))
            self._names[tag] += 1

    def _end(self, tag: str) -> None:
        if not self._names[tag]:
            return
        last = ""
        while last != tag:  # with elements that the HTML does not close
            last = self._open.pop().name
            self._names[last] -= 1
        self._divide(tag)

    def _data(self, data: str) -> None:
        path = self._next("text()")
        if self._open[-1].name in _UNSHOWN:
            self._counted += len(data)
            return
        if self._between and not data[:1].isspace():
            self._add(self._between)
        self._between = ""
        self.nodes.append(_Node(self._counted, self._length, len(data), path))
        self._counted += len(data)
        self._add(data)


class Task(NamedTuple):
    """The text of a task.

    Args:
        text: as shown.
        kind: of its regions: ``labels`` in plain text, or `HTML` or `PARAGRAPHS`.
        nodes: of HTML, or the paragraphs, in the order of the text.
        places: path of a node or element -> its place in the text, and the largest offset in it.
    """

    text: str
    kind: str = "labels"
    nodes: Sequence[_Node] = ()
    places: Mapping[str, _Pair] = MappingProxyType({})

    @property
    def is_plain(self) -> bool:
        """Whether the text is the task's, unchanged."""
        return self.kind == "labels"

    def span(self, value: Mapping[str, Any]) -> _Pair | None:
        """Return the offsets of a region in the text; ``None`` if the region has none, or names no place in it.

        Of several ways to count, the first that gives the region's text counts, and else the first.
        """
        found = [pair for pair in self._spans(value) if pair is not None]
        surface = value.get("text")
        if isinstance(surface, str):
            given = surface.replace("\\n", "\n")
            fitting = (pair for pair in found if difference(self.text, [pair], given) is not None)
            return next(fitting, found[0] if found else None)
        return found[0] if found else None

    def _spans(self, value: Mapping[str, Any]) -> Iterator[_Pair | None]:
        first, last = value.get("start"), value.get("end")
        outer, inner, whole = _offsets(value)
        if not self.is_plain and inner is not None:
            for wide in (True, False):
                ends = [self._at(str(name), at, wide) for name, at in zip((first, last), inner, strict=True)]
                yield None if None in ends else (ends[0] or 0, ends[1] or 0)
        elif outer is not None and inner is None and self.kind != PARAGRAPHS:
            yield self._shown(outer)
        elif self.is_plain and inner is not None and isinstance(first, str) and first[:1] == "/":  # the only node
            yield inner
        if whole is not None:
            yield self._shown(whole)

    def _at(self, name: str, offset: int, wide: bool) -> int | None:
        """Return the place of an offset in a node or a paragraph; `wide` offsets count UTF-16 units."""
        start, length = self.places.get(name, (0, -1))
        if wide and 0 <= offset < 1 << 31:
            raw = self.text[start : start + max(min(length, offset), 0)].encode("utf-16-le", "surrogatepass")
            offset = len(raw[: 2 * offset].decode("utf-16-le", "ignore"))
        return start + offset if 0 <= offset <= length else None

    def _units(self, node: _Node, offset: int) -> int:
        """Return an offset in a node, in UTF-16 units."""
        return len(self.text[node.start : node.start + offset].encode("utf-16-le", "surrogatepass")) // 2

    def _shown(self, pair: _Pair) -> _Pair | None:
        """Return the place in the text of offsets that, in HTML, count the characters of all nodes."""
        if self.kind != HTML:
            return pair
        start, end = pair
        if not self.nodes or not 0 <= start < end <= self.nodes[-1].counted + self.nodes[-1].length:
            return None
        first, last = self._around(start, end, attrgetter("counted"))
        return first.start + min(start - first.counted, first.length), last.start + min(end - last.counted, last.length)

    def _around(self, start: int, end: int, place: Callable[[_Node], int]) -> tuple[_Node, _Node]:
        """Return the nodes in which a region begins and ends."""
        first = max(bisect_right(self.nodes, start, key=place) - 1, 0)
        return self.nodes[first], self.nodes[max(bisect_left(self.nodes, end, key=place) - 1, 0)]

    def region(self, start: int, end: int, label: str) -> tuple[str, dict[str, Any]]:
        """Return the kind of a new region, and its value, as `span` reads them."""
        value: dict[str, Any] = {"start": start, "end": end, "text": self.text[start:end]}
        if self.nodes:
            one, other = self._around(start, end, attrgetter("start"))
            near, far = min(start - one.start, one.length), min(end - other.start, other.length)
            if one.path is not None and other.path is not None:
                value |= {"start": one.path, "startOffset": self._units(one, near)}
                value |= {"end": other.path, "endOffset": self._units(other, far)}
            if self.kind == HTML:
                value["globalOffsets"] = {"start": one.counted + near, "end": other.counted + far}
        return self.kind, {**value, self.kind: [label]}


def text_of(value: Any, html: bool, *, unmarked: bool = False) -> Task | None:
    """Return the text of a field of a task; ``None`` if it holds none.

    Args:
        value: of the field.
        html: whether it is shown as HTML.
        unmarked: whether HTML without any markup is HTML, too.

    >>> text_of("<p>No <b>pain</b></p><p>Fever &lt; 40</p>", True).text
    'No pain\\nFever < 40'
    >>> text_of([{"author": "A", "text": "Pain?"}, {"author": "B", "text": "No."}], False).text
    'Pain?\\nNo.'
    """
    if isinstance(value, str):
        if not html or not (unmarked or _MARKUP.search(value)):
            return Task(value)
        nodes = _Nodes(value)
        text, starts = "".join(nodes.parts), {node.path: node.start for node in nodes.nodes if node.path is not None}
        places = {path: (start, len(text)) for path, start in (nodes.elements | starts).items()}
        return Task(text, HTML, nodes.nodes, places)
    if (texts := _paragraphs(value)) is None:
        return None
    begins = accumulate((len(text) + 1 for text in texts), initial=0)
    pairs = enumerate(zip(begins, texts, strict=False))
    parts = [_Node(begin, begin, len(text), str(number)) for number, (begin, text) in pairs]
    return Task("\n".join(texts), PARAGRAPHS, parts, {str(part.path): (part.start, part.length) for part in parts})


def _paragraphs(value: Any) -> list[str] | None:
    """Return the texts of paragraphs, each an object with a text and perhaps an author; ``None`` of other values."""
    if some(value, str):
        return value
    if not some(value, dict):
        return None
    sizes: Counter[str] = Counter()
    for one in value:
        sizes.update({name: len(part) for name, part in one.items() if isinstance(part, str)})
    name = next(named(sizes, _TEXT_FIELDS), None) or next((name for name, _ in sizes.most_common(1)), None)
    return None if name is None else [one[name] if isinstance(one.get(name), str) else "" for one in value]
