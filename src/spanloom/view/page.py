"""Self-contained HTML page of documents: no network, no script, no other file."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import NamedTuple

from spanloom.document import Document
from spanloom.errors import plural
from spanloom.view.cells import cells, joins, shorten, width
from spanloom.view.layout import blocks, leftward
from spanloom.view.placement import LONG, Track, asserted, describe, head_words, surface, tracks, type_names
from spanloom.view.style import MOST_ROWS, css_string, kind_class, page
from spanloom.view.svg import clean

_LONGEST = 4_000  # characters of a paragraph that is not divided between two sentences
_GAP = 80  # characters before a sentence in which a blank line is looked for
_BLANK_LINE = re.compile(r"(?:\r\n|[\n\r])[ \t]*[\n\r\f]|\f")
TITLE = 200  # cells of a title, and of names


def to_html(documents: Sequence[Document], *, title: str = "Mentions", types: Sequence[str] | None = None) -> str:
    """Draw documents as one HTML page.

    The text is unchanged, in its paragraphs, and below it is one track a mention: a bar in the colour and pattern of
    its type under each component, a dashed line across each gap, a thicker bar under its head, and beside it type,
    score and concepts. Where a mention continues in the next line, the name of its type is repeated. Below a document
    its mentions are listed in words. Text is never read as HTML; control characters are shown as pictures.

    If more than 40 mentions would be below one another, or the drawing of a paragraph would be very large, the rest
    are only in the list of mentions, with a note.

    Args:
        documents: the documents; offsets outside a text are drawn at its ends.
        title: the title of the page.
        types: all types, in the order of their colours; the documents' own, sorted, when ``None``.

    Returns:
        HTML, the same for the same arguments.

    >>> from spanloom.document import Mention
    >>> text = "infarctions either watershed or embolic"
    >>> mentions = [Mention("problem", [(0, 11), (19, 28)]), Mention("problem", [(0, 11), (32, 39)])]
    >>> html = to_html([Document(text, id="note 1", mentions=mentions)])
    >>> html.startswith("<!DOCTYPE html>"), "infarctions … embolic" in html
    (True, True)
    """
    names = type_names(documents, types)
    count = sum(len(document.mentions) for document in documents)
    parts = [f"<header>\n<h1>{plain(title)}</h1>\n"]
    parts.append(f'<p class="faint">{plural(len(documents), "document")}, {plural(count, "mention")}</p>\n')
    parts += [legend(documents, names), "</header>\n<main>\n"]
    heads = [plain(one.id) if one.id else f"Document {number}" for number, one in enumerate(documents, 1)]
    if len(documents) > 1:
        items = "".join(
            f'<li><a href="#d{number}"><bdi>{head}</bdi></a> <span class="faint">{len(one.mentions):,}</span></li>\n'
            for number, (head, one) in enumerate(zip(heads, documents, strict=True), 1)
        )
        parts.append(f"<nav><details><summary>Contents</summary>\n<ol>\n{items}</ol></details></nav>\n")
    found = [tracks(document, names) for document in documents]
    counts = Counter(shorten(track.label, LABEL) for several in found for track in several)
    often = [label for label, number in counts.items() if number > 2 and label.isprintable() and label not in names]
    labels = {label: f"l{number}" for number, label in enumerate(often)}
    for number, (head, document, several) in enumerate(zip(heads, documents, found, strict=True), 1):
        parts.append(f'<section id="d{number}" class="s">\n<h2><bdi>{head}</bdi></h2>\n')
        for low, high, reaching in _visible_paragraphs(document, several):
            html, left_out = draw(document.text, low, high, reaching, labels=labels)
            more = f'<p class="faint">{plural(left_out, "mention")} more than can be drawn: see the list.</p>\n'
            parts += [html, more * (left_out > 0)]
        parts.append(f"{listed(document.text, several)}</section>\n")
    style = "".join(f".{name}{{--m:{css_string(label)}}}" for label, name in labels.items()) + "\n"
    return page(clean(title), "".join([*parts, "</main>\n"]), types=names, style=style)


def legend(documents: Sequence[Document], names: Sequence[str]) -> str:
    """Return the legend: types with colours and counts, and the meaning of the bars."""
    if not names:
        return ""
    counts = Counter(mention.type for document in documents for mention in document.mentions)
    items = "".join(
        f'<li><i class="k {kind_class(i)}"></i> <bdi>{plain(name)}</bdi> '
        f'<span class="faint">{counts[name]:,}</span></li>\n'
        for i, name in enumerate(names)
    )
    return (
        f'<ul class="kinds">\n{items}</ul>\n'
        '<p class="faint">A thick bar is the head of a mention, a dashed line a gap.</p>\n'
    )


def plain(text: str) -> str:
    """Return a user's text as HTML, shortened, without control characters."""
    return escape(shorten(clean(text), TITLE))


def _paragraphs(document: Document) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text between blank lines; very long ones are divided between sentences."""
    text, first, end = document.text, 0, 0
    for low, high in blocks(document):
        gap = text[max(first, low - _GAP) : low]
        if low > first and (low - first > _LONGEST or _BLANK_LINE.search(gap, len(gap.rstrip()))):
            yield first, low
            first = low
        end = high
    yield first, end


def _visible_paragraphs(document: Document, found: Sequence[Track]) -> list[tuple[int, int, list[Track]]]:
    """Return paragraphs with the tracks in them, without blank ones and white space around.

    White space in a mention is kept, and an empty part with one, so that a document without text lists its mentions.
    """
    text, result = document.text, []
    waiting, active = 0, list[Track]()
    parts = list(_paragraphs(document))
    for low, high in parts:
        while waiting < len(found) and found[waiting].start < high:
            active.append(found[waiting])
            waiting += 1
        if high == parts[-1][1]:
            active += found[waiting:]
            waiting = len(found)
        active = [track for track in active if track.end > low]
        part = text[low:high]
        first = low + len(part) - len(part.lstrip("\n\r")) if part.strip() else high
        last = low + len(part.rstrip())
        if active:
            first = min(first, max(low, min(track.start for track in active)))
            last = max(last, min(high, max(track.end for track in active)))
        if first < last or active:
            result.append((first, max(first, last), list(active)))
    return result


# HTML of a part of a text and its mentions: the unchanged text, and below each piece a bar for each mention.
#
# The browser breaks the lines and orders the characters, so that every script and every width of the window holds. The
# paragraph's text is the part and nothing else: the text beside a bar comes from its attributes or its class, so that
# copying and searching find the text. A bar that begins a line in the middle of its mention has the name of its type
# again (`spanloom.view.style`). After the paragraphs the same mentions are listed in words.

MOST_BARS = 20_000  # of one paragraph, and some for each of its characters
LABEL = 40  # cells of the label beside a bar


def draw(
    text: str,
    start: int,
    end: int,
    tracks: Sequence[Track],
    *,
    above: Sequence[Track] = (),
    focus: Collection[int] | None = None,
    labels: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, int]:
    """Draw the paragraph of characters ``start`` to ``end``; return it with the number of tracks without a place.

    Args:
        text: the text of the whole document.
        start: of the sentence.
        end: of the sentence.
        tracks: the tracks in it, in text order; those that come first are drawn next to the text.
        above: those that are drawn above the text, likewise, so that two sides of a comparison share its lines.
        focus: numbers in ``[*tracks, *above]`` of those that matter: their words have the class ``on``, the bars of all
            others ``d``. With ``None`` all matter alike.
        labels: label -> a class of the page that writes it; other labels are attributes.

    >>> from spanloom.document import Document, Mention
    >>> from spanloom.view.placement import tracks
    >>> document = Document("chest pain", mentions=[Mention("problem", [(0, 10)])])
    >>> html, left_out = draw(document.text, 0, 10, tracks(document, ["problem"]))
    >>> html.count("<i "), left_out
    (3, 0)
    """
    placed = [*_places(text, start, end, tracks, False), *_places(text, start, end, above, True)]
    for number, place in enumerate(placed):
        if place is not None and focus is not None:
            place.on, place.dimmed = number in focus, number not in focus
    shown = sorted(filter(None, placed), key=lambda place: place.track.start)
    bars = _Bars(text, start, shown, labels)
    words = list(pieces(text, start, end, [place.track for place in shown]))
    found = [text[piece.start : piece.end] for word in words for piece in word]
    turned = iter([False] * len(found) if all(map(str.isascii, found)) else leftward(found)[1])
    body, high = [], False
    for word in words:
        body.append(_word(word, [next(turned) for _ in word], bars, high))
        high = bool(word[0].tracks)
    room = max((cells(place.name) for place in shown), default=0)
    style = f' style="--l:{room}"' if room else ""
    return f'<p class="t" dir="auto" lang=""{style}>{"".join(body)}</p>\n', len(placed) - len(shown)


def listed(text: str, mentions: Sequence[Track]) -> str:
    """Return a folded list of mentions in words.

    Args:
        text: of the document.
        mentions: in the order of the list.
    """
    if not mentions:
        return ""
    places: dict[str, list[str]] = {}  # of mentions that are the same in words
    for track in mentions:
        one = track.mention
        parts = [f"<b>{escape(shorten(clean(asserted(one)), LONG))}</b> {_bdi(surface(text, one))}"]
        parts += [_bdi(shorten(clean(concept), LONG)) for concept in one.concepts]
        if one.head is not None:
            parts.append(f"head: {_bdi(head_words(text, one.head))}")
        spans = ", ".join(f"{low}-{high}" for low, high in one.spans[:20]) + ", …" * (len(one.spans) > 20)
        item = f' class="{kind_class(track.kind)}">{", ".join(parts)}'
        places.setdefault(item, []).append(spans if one.score is None else f"{spans} {one.score:.1%}")
    items = "".join(f"<li{item} <small>{'; '.join(at)}</small>\n" for item, at in places.items())
    return f'<details class="m"><summary>{plural(len(mentions), "mention")}</summary>\n<ol>\n{items}</ol></details>\n'


def _bdi(text: str) -> str:
    return f"<bdi>{escape(text)}</bdi>"


@dataclass(slots=True)
class _Place:
    """The place of a track, the text beside it, whether it is in focus, and how many bars it has so far."""

    track: Track
    name: str
    row: int
    above: bool
    on: bool = False
    dimmed: bool = False
    bars: int = 0


def _places(text: str, start: int, end: int, tracks: Sequence[Track], above: bool) -> list[_Place | None]:
    """Return the place of each track of a side, in the first free row, or ``None`` without a free row.

    A row is free if no other track or its name is there. The width of names in a browser is unknown, but they are a
    third smaller than the text, and get the same cells.
    """
    column = [0]
    for char in text[start:end]:
        column.append(column[-1] + (8 if char == "\t" else width(char)))
    free: list[int] = []
    bars, most = 0, MOST_BARS + 4 * (end - start)
    places: list[_Place | None] = []
    for track in tracks:
        before, after = "→ " * (track.start < start), " →" * (track.end > end)
        name = before + shorten(clean(track.label), LABEL) + after
        low, high = (column[min(max(at, start), end) - start] for at in (track.start, track.end))
        row = next((i for i, at in enumerate(free) if at <= low), len(free))
        last = text.rfind(" ", max(track.start, start), min(track.end, end)) + 1  # what may begin a line
        again = column[last - start] + cells(track.mention.type) if last else 0
        size = min(track.end, end) - max(track.start, start)  # it has no more bars
        if row >= MOST_ROWS or bars + size > most:
            places.append(None)
            continue
        bars += size
        free[row : row + 1] = [max(high, low + cells(name), again) + 1]
        places.append(_Place(track, name, row, above))
    return places


class _Bars(NamedTuple):
    """The tracks of a paragraph, by their numbers, for `_bar`.

    Args:
        text: of the document.
        start: of the paragraph.
        places: of the tracks.
        labels: label -> the class that writes it.
    """

    text: str
    start: int
    places: list[_Place]
    labels: Mapping[str, str]


def _word(word: Sequence[Piece], turned: Sequence[bool], bars: _Bars, high: bool) -> str:
    """Return HTML of a unit: text without tracks, or a box with its pieces in it, as high as its lowest bar.

    White space after such a box has none, because a line must be able to break behind it.
    """
    texts = [_text(bars.text[piece.start : piece.end]) for piece in word]
    if not any(piece.tracks for piece in word):
        return "".join(texts)
    inner = [
        "".join(_bar(bars, bars.places[i], piece, left) for i in piece.tracks) + text
        for piece, left, text in zip(word, turned, texts, strict=True)
    ]
    focus = [
        any(bars.places[i].on and bars.places[i].track.covers(piece.start) for i in piece.tracks) for piece in word
    ]
    boxes = "".join(f"<b{' class=on' * on}>{content}</b>" for on, content in zip(focus, inner, strict=True))
    if high and bars.text[word[0].start].isspace():
        return boxes
    places = [bars.places[i] for piece in word for i in piece.tracks]
    below, above = (max((at.row + 1 for at in places if at.above == side), default=0) for side in (False, True))
    names = [f"n{below}", *[f"u{above}"] * (above > 0)]
    if len(inner) == 1:  # the box is the piece
        return f"<b class={_classes(names + ['on'] * focus[0])}>{inner[0]}</b>"
    return f"<b class={_classes(names)}>{boxes}</b>"


def _bar(bars: _Bars, place: _Place, piece: Piece, left: bool) -> str:
    track, label = place.track, place.name
    names = [kind_class(track.kind), f"r{place.row}", *["a"] * place.above, *["d"] * place.dimmed]
    if track.covers(piece.start):
        names += ["h"] * track.is_head(piece.start)
        names += ["s1"] * any(span.start == piece.start for span in track.spans)
        names += ["e1"] * any(span.end == piece.end for span in track.spans)
    else:
        names.append("g")
    names += ["r"] * left
    title = name = ""
    if piece.start == max(track.start, bars.start):
        names.append("f")
        if label in bars.labels:
            names.append(bars.labels[label])
        elif label != track.mention.type:
            name = f' data-l="{escape(label)}"'
    else:
        names.append(f"z{min(place.bars, MOST_ROWS)}")
    place.bars += 1
    if "s1" in names and (len(track.spans) > 1 or track.head is not None or label != track.label):
        title = f' title="{escape(describe(bars.text, track))}"'
    return f"<i class={_classes(names)}{name}{title}></i>"


def _classes(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f'"{" ".join(names)}"'


def _text(text: str) -> str:
    """Return escaped text, with tabs and line ends; other control characters become pictures."""
    if text.isprintable():
        return escape(text, quote=False)
    return escape("".join(char if char in "\t\n" else clean(char) for char in text), quote=False)


# Pieces of text that a browser may put on different lines, and in which no mention begins or ends.

LONGEST = 24  # cells of a word that is not cut
_CLOSING = ("Pe", "Pf", "Po")  # punctuation that must not begin a line


class Piece(NamedTuple):
    """Characters ``start`` to ``end``, under which all tracks are the same.

    Args:
        start: in the text.
        end: in the text.
        tracks: numbers of the tracks that cover it, by a component or a gap.
    """

    start: int
    end: int
    tracks: tuple[int, ...]


def units(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the unbreakable parts of a text: words, and the white space between them; line ends are units.

    In scripts without spaces each wide character is one, with its marks; a very long word is cut.

    >>> [text[a:b] for text in ["left arm\\n心电图。"] for a, b in units(text, 0, len(text))]
    ['left', ' ', 'arm', '\\n', '心', '电', '图。']
    """
    first, size = start, 0
    for i in range(start, end):
        if i > first and _breaks(text[i - 1], text[i], size):
            yield first, i
            first, size = i, 0
        size += width(text[i])
    if first < end:
        yield first, end


def _breaks(before: str, char: str, size: int) -> bool:
    if "\n" in (before, char):
        return True
    if joins(before, char):
        return False
    if before.isspace() != char.isspace() or size >= LONGEST:
        return True
    return (width(before) == 2 or width(char) == 2) and unicodedata.category(char) not in _CLOSING


def pieces(text: str, start: int, end: int, tracks: Sequence[Track]) -> Iterator[list[Piece]]:
    """Cut a part of a text at the ends of tracks; text without tracks is not cut.

    Args:
        text: the whole text.
        start: of the part.
        end: of the part.
        tracks: the tracks in it, in text order.

    Returns:
        The pieces of each unit with a track; one piece for all units between two such.
    """
    cuts = sorted({at for track in tracks for span in (*track.spans, track.head or ()) for at in span})
    active: list[int] = []
    waiting = 0
    plain = start  # where the units without tracks begin that were not given out yet
    for low, high in units(text, start, end):
        found = []
        at = low
        for stop in (*cuts[bisect_right(cuts, low) : bisect_left(cuts, high)], high):
            while waiting < len(tracks) and tracks[waiting].start <= at:
                active.append(waiting)
                waiting += 1
            active = [i for i in active if tracks[i].end > at]
            found.append(Piece(at, stop, tuple(active)))
            at = stop
        if any(piece.tracks for piece in found) and text[low] != "\n":
            if plain < low:
                yield [Piece(plain, low, ())]
            yield found
            plain = high
    if plain < end:
        yield [Piece(plain, end, ())]
