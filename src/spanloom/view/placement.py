"""Placement of the tracks of a line in rows and columns, for the terminal and the SVG of a document.

A mention is a strip under its words. At a line break, the strip continues in the next line; its name is at its end,
right of the strip if there is room, else left of it, else below.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spanloom.document import Document, Mention, Span
from spanloom.document.span import join_spans
from spanloom.view.cells import cells, fit, shorten, visible, width
from spanloom.view.layout import DisplayLine
from spanloom.view.svg import clean

MOST_ROWS = 100  # below a line
APART = 2  # columns between a strip and a name left of the strip that follows


class VisiblePart(NamedTuple):
    """The part of a component in a line: columns ``first`` to ``end``, and whether it begins and ends there."""

    first: int
    end: int
    opens: bool
    closes: bool


class Text(NamedTuple):
    """A part of a name: rows below the strip, column, text."""

    below: int
    column: int
    text: str


class Strip(NamedTuple):
    """A track below one line; columns are counted from the first of the line's text.

    Args:
        track: the mention.
        row: below the line.
        first: the first column, that of the break before among them.
        end: the end of the last, that of the break after among them.
        parts: the components.
        heads: columns of the head.
        before: whether a component reaches over the start of the line, or a gap; ``None`` if nothing does.
        after: the same for its end.
        name: the text beside it, in the last line of the mention only.
    """

    track: Track
    row: int
    first: int
    end: int
    parts: tuple[VisiblePart, ...]
    heads: tuple[tuple[int, int], ...]
    before: str | None
    after: str | None
    name: tuple[Text, ...]


def members(lines: Sequence[DisplayLine], tracks: Sequence[Track]) -> list[list[Track]]:
    """Return for each line the tracks with a part in it."""
    lows = [line.low for line in lines]
    found: list[list[Track]] = [[] for _ in lines]
    for track in tracks:
        for line in range(bisect_right(lows, track.start) - 1, bisect_right(lows, track.end - 1)):
            found[line].append(track)
    return found


def left_out(count: int) -> str:
    """Return the note on mentions for which a line has no room.

    >>> left_out(1), left_out(1200)
    ('and 1 more mention', 'and 1,200 more mentions')
    """
    return f"and {count:,} more mention{'' if count == 1 else 's'}"


def place(
    line: DisplayLine,
    tracks: Sequence[Track],
    room: tuple[int, int],
    arrow: int,
    extent: Callable[[int, int], tuple[int, int]] = lambda first, end: (first, end),
) -> list[Strip]:
    """Return the strips below one line; those more than 100 rows below it are left out.

    Tracks that continue keep their order from line to line, so that the eye can follow them.

    Args:
        line: of the text.
        tracks: the tracks with a part in it, in text order.
        room: the first column and the end of the columns that names may use.
        arrow: columns of the continuation mark.
        extent: the drawn place of columns ``first`` to ``end``, in the direction of the line, if it differs from the
            written one; names are beside the drawn strip.
    """
    taken: list[list[tuple[int, int]]] = []
    strips, lowest = [], 0
    for track in tracks:
        strip = _strip(line, track)
        left, right = extent(strip.first, strip.end)
        left -= arrow * (strip.before is not None)
        right += arrow * (strip.after is not None)
        name = () if strip.after else _place_name(track.label, left, right, room)
        low = min([left, *(text.column for text in name)])
        high = max([right, *(text.column + cells(text.text) for text in name)])
        # a name left of its strip must not look like the name of the strip before
        low -= APART * (low < left)
        height, row = max((text.below for text in name), default=0) + 1, lowest
        while any(low <= end and start <= high for several in taken[row : row + height] for start, end in several):
            row += 1
        taken.extend([] for _ in range(row + height - len(taken)))
        for several in taken[row : row + height]:
            several.append((low, high))
        if row < MOST_ROWS:
            strips.append(strip._replace(row=row, name=name))
        if strip.after:
            lowest = row + 1
        if lowest >= MOST_ROWS:
            break
    return strips


def _strip(line: DisplayLine, track: Track) -> Strip:
    first = line.column(max(track.start, line.low))
    end = max(line.column(min(track.end, line.high)), first + 1)
    parts, heads = [], []
    for span in track.spans:
        if span.start >= line.high or span.end <= line.low:
            continue
        parts.append(VisiblePart(*_columns(line, span), span.start >= line.low, span.end <= line.high))
        end = max(end, parts[-1].end)
        head = track.head
        if head is not None and head.start < min(span.end, line.high) and head.end > max(span.start, line.low):
            heads.append(_columns(line, Span(max(head.start, span.start), min(head.end, span.end))))
    before = _at_break(track, line.low) if track.start < line.low else None
    after = _at_break(track, line.high) if track.end > line.high else None
    if before:
        first -= 1
    if after:
        end = line.columns[-1] + 1
    return Strip(track, 0, first, end, tuple(parts), tuple(heads), before, after, ())


def _columns(line: DisplayLine, span: Span) -> tuple[int, int]:
    """Return the columns of a span; at least one."""
    first = line.column(max(span.start, line.low))
    return first, max(line.column(min(span.end, line.high)), first + 1)


def _at_break(track: Track, offset: int) -> str:
    return "component" if any(span.start < offset < span.end for span in track.spans) else "gap"


def _place_name(label: str, low: int, high: int, room: tuple[int, int]) -> tuple[Text, ...]:
    """Place a name right of the strip, else left of it, else below."""
    start, stop = room
    size = cells(label)
    if high + 1 + size <= stop:
        return (Text(0, high + 1, label),)
    if size < low - start:
        return (Text(0, low - 1 - size, label),)
    column = max(start, min(low, stop - size))
    return tuple(Text(i + 1, column, part) for i, part in enumerate(fit(label, stop - start)))


# Tracks: the drawn form of mentions in all media, with spans, head, name and type.

LONG = 300  # cells of a mention's words, and of whatever else is written out


@dataclass(frozen=True, slots=True)
class Track:
    """A mention to draw.

    Args:
        spans: in text order, inside the text, not empty; those that only white space separates are one.
        head: the mention's head; only the part in a span is drawn.
        label: the text beside the mention.
        kind: the number of its type, which decides its colour.
        mention: the mention in the document.
    """

    spans: tuple[Span, ...]
    head: Span | None
    label: str
    kind: int
    mention: Mention

    @property
    def start(self) -> int:
        """The first character of the first span."""
        return self.spans[0].start

    @property
    def end(self) -> int:
        """The end of the last span."""
        return self.spans[-1].end

    def covers(self, offset: int) -> bool:
        """Return whether a character is in a span, and not in a gap or outside."""
        at = bisect_right(self.spans, offset, key=lambda span: span.start) - 1
        return at >= 0 and offset < self.spans[at].end

    def is_head(self, offset: int) -> bool:
        """Return whether a character is in the head, and in a span."""
        return self.head is not None and self.head.start <= offset < self.head.end and self.covers(offset)


def type_names(documents: Iterable[Document], types: Sequence[str] | None = None) -> list[str]:
    """Return the types in the order of their colours: those given, then the documents' others, sorted.

    >>> document = Document("pain", mentions=[Mention("problem", [(0, 4)]), Mention("part", [(0, 4)])])
    >>> type_names([document], ["test"])
    ['test', 'part', 'problem']
    """
    names = list(dict.fromkeys(types or ()))
    return names + sorted({mention.type for document in documents for mention in document.mentions} - set(names))


def tracks(document: Document, names: Sequence[str]) -> list[Track]:
    """Return the tracks of a document, in text order.

    Args:
        document: the document; offsets outside the text are moved to its ends.
        names: all types, in the order of `type_names`.
    """
    number = {name: i for i, name in enumerate(names)}
    size = max(len(document.text), 1)
    found = []
    for one in document.mentions:
        starts = [min(max(span.start, 0), size - 1) for span in one.spans]
        ends = [min(max(span.end, start + 1), size) for start, span in zip(starts, one.spans, strict=True)]
        spans = join_spans(document.text, sorted(map(Span, starts, ends)))
        found.append(Track(spans, one.head, label(one), number[one.type], one))
    return sorted(found, key=lambda track: (track.start, track.end, track.spans, track.label))


def label(mention: Mention) -> str:
    """Return the label of a mention: type, attributes that are not false, score in percent, concepts.

    >>> label(Mention("problem", [(0, 4)], score=0.973, concepts=("C0030193",)))
    'problem 97% C0030193'
    >>> label(Mention("problem", [(0, 4)], score=0.973, attributes={"negated": True, "past": False, "course": "acute"}))
    'problem · negated · course acute 97%'
    """
    score = () if mention.score is None else (f"{mention.score:.0%}",)
    text = "".join(visible(char) for char in " ".join((asserted(mention), *score, *mention.concepts)))
    return text if width(text[:1] or "a") else "◌" + text  # a combining character needs something to combine with


def asserted(mention: Mention) -> str:
    """Return the type of a mention with its attributes that are not false."""
    given = (f" · {k}" if v is True else f" · {k} {v}" for k, v in mention.attributes.items() if v is not False)
    return "".join((mention.type, *given)) if mention.attributes else mention.type


def surface(text: str, mention: Mention) -> str:
    """Return the words of a mention, with a mark for each gap, shortened.

    >>> surface("infarctions or embolic", Mention("problem", [(0, 11), (15, 22)]))
    'infarctions … embolic'
    """
    spans = mention.spans[:LONG]
    return shorten(clean(" … ".join(text[start : min(end, start + 8 * LONG)] for start, end in spans)), LONG)


def describe(text: str, track: Track) -> str:
    """Describe a mention in one line: its label, its words, its head."""
    words = "" if track.head is None else f" (head: {head_words(text, track.head)})"
    return f"{shorten(clean(track.label), LONG)}: {surface(text, track.mention)}{words}"


def head_words(text: str, head: Span) -> str:
    """Return the words of a head, shortened."""
    return shorten(clean(text[head.start : head.end][: 8 * LONG]), LONG)
