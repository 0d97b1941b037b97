"""A document in the terminal: its text, and below each line its mentions.

A mention is a line under its words, dotted where it skips some, heavy under its head, with its type, score and concepts
beside it. Where the text is broken, an arrow says that the mention goes on in the next line; its name is at its end::

    infarctions either watershed or embolic
    ┗━━━━━━━━━┛┄┄┄┄┄┄┄┄└───────┘ problem 97%
    ┗━━━━━━━━━┛┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄└─────┘ problem 91%
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spanloom.document import Document, Mention, Span
from spanloom.errors import UsageError
from spanloom.evaluate import join_spans
from spanloom.view.cells import cells, fit, visible
from spanloom.view.cells import width as cell_width
from spanloom.view.layout import Line, layout

MIN_WIDTH = 20
_MARGIN = 2
_APART = 2
# the colours of Okabe and Ito, which people with any colour vision can tell apart, as the nearest of 256
_PALETTE = (32, 214, 36, 175, 166, 74, 185)
_HEAVY = str.maketrans("└─┘╵", "┗━┛╹")


@dataclass(slots=True)
class _Canvas:
    """Rows of cells, and which columns of each row are taken."""

    rows: list[dict[int, tuple[str, int]]] = field(default_factory=list)
    taken: list[list[tuple[int, int]]] = field(default_factory=list)

    def place(self, low: int, high: int, height: int, lowest: int) -> int:
        """Reserve columns low to high in the first rows from ``lowest`` that are free there; the first of the rows."""
        row = lowest
        while any(self._meets(row + i, low, high) for i in range(height)):
            row += 1
        while len(self.rows) < row + height:
            self.rows.append({})
            self.taken.append([])
        for i in range(height):
            self.taken[row + i].append((low, high))
        return row

    def _meets(self, row: int, low: int, high: int) -> bool:
        return row < len(self.taken) and any(low <= end and start <= high for start, end in self.taken[row])

    def put(self, row: int, column: int, text: str, colour: int) -> None:
        """Write text; characters without width join the cell before them."""
        last = column
        for char in text:
            size = cell_width(char)
            if size:
                self.rows[row][column] = (char, colour)
                last, column = column, column + size
            elif last in self.rows[row]:
                self.rows[row][last] = (self.rows[row][last][0] + char, colour)

    def lines(self, color: bool) -> Iterator[str]:
        """The rows as text."""
        for row in self.rows:
            parts, column, current = [], 0, -1
            for at, (cell, colour) in sorted(row.items()):
                if color and colour != current:
                    parts.append(f"\x1b[0m\x1b[38;5;{colour}m" if current >= 0 else f"\x1b[38;5;{colour}m")
                    current = colour
                parts.append(" " * (at - column) + cell)
                column = at + cell_width(cell[0])
            yield "".join(parts) + ("\x1b[0m" if current >= 0 else "")


@dataclass(frozen=True, slots=True)
class _Track:
    """What is drawn of one mention, whatever the line."""

    spans: tuple[Span, ...]
    head: Span | None
    label: str
    colour: int

    @property
    def start(self) -> int:
        return self.spans[0].start

    @property
    def end(self) -> int:
        return self.spans[-1].end


def render(document: Document, *, width: int = 80, color: bool = False, types: Sequence[str] | None = None) -> str:
    """Draw a document for a terminal.

    Without sentences each line of the text stands for itself. Control characters are shown as pictures, so that no text
    can change the terminal.

    Args:
        document: any; offsets outside the text are drawn at its end.
        width: columns, at least 20; no line is longer.
        color: with colours, one for each type. The type is always written as well.
        types: all types, in the order of their colours; the document's own, sorted, when ``None``. Give it where
            several documents are shown, so that a type keeps its colour.

    Raises:
        UsageError: the width is too small.

    >>> text = "infarctions either watershed or embolic"
    >>> mentions = [Mention("problem", [(0, 11), (19, 28)]), Mention("problem", [(0, 11), (32, 39)])]
    >>> print(render(Document(text, mentions=mentions)), end="")
      infarctions either watershed or embolic
      └─────────┘┄┄┄┄┄┄┄┄└───────┘ problem
      └─────────┘┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄└─────┘ problem
    """
    if width < MIN_WIDTH:
        raise UsageError(f"found a width of {width} columns, expected at least {MIN_WIDTH}")
    tracks = _tracks(document, types)
    lines = layout(document, width - 2 * _MARGIN)
    members = _members(lines, tracks)
    output: list[str] = []
    if document.id:
        names = fit("".join(map(visible, document.id)), width)
        output.extend(f"\x1b[1m{name}\x1b[0m" if color else name for name in names)
    for line, indices in zip(lines, members, strict=True):
        if line.opens and output:
            output.append("")
        output.append((" " * _MARGIN + line.text).rstrip())
        output.extend(_draw_line(line, [tracks[i] for i in indices], width).lines(color))
    return "\n".join(output).strip("\n") + "\n"


def _tracks(document: Document, types: Sequence[str] | None) -> list[_Track]:
    names = sorted({mention.type for mention in document.mentions}) if types is None else list(dict.fromkeys(types))
    names += sorted({mention.type for mention in document.mentions} - set(names))
    colours = {name: _PALETTE[i % len(_PALETTE)] for i, name in enumerate(names)}
    size = max(len(document.text), 1)
    tracks = [
        _Track(
            join_spans(document.text, _inside(mention.spans, size)), mention.head, label(mention), colours[mention.type]
        )
        for mention in document.mentions
    ]
    return sorted(tracks, key=lambda track: (track.start, track.end, track.spans, track.label))


def label(mention: Mention) -> str:
    """What stands beside a mention: type, score in percent, concepts.

    >>> label(Mention("problem", [(0, 4)], score=0.973, concepts=("C0030193",)))
    'problem 97% C0030193'
    """
    score = () if mention.score is None else (f"{mention.score:.0%}",)
    text = "".join(visible(char) for char in " ".join((mention.type, *score, *mention.concepts)))
    return text if cell_width(text[:1] or "a") else "◌" + text  # a combining character needs something to combine with


def _inside(spans: Sequence[Span], size: int) -> tuple[Span, ...]:
    """Spans moved into a text of ``size`` characters, each with at least one of them, sorted."""
    starts = [min(max(span.start, 0), size - 1) for span in spans]
    return tuple(
        sorted(Span(start, min(max(span.end, start + 1), size)) for start, span in zip(starts, spans, strict=True))
    )


def _members(lines: Sequence[Line], tracks: Sequence[_Track]) -> list[list[int]]:
    """For each line the tracks that it shows a part of."""
    lows = [line.low for line in lines]
    members: list[list[int]] = [[] for _ in lines]
    for i, track in enumerate(tracks):
        for line in range(bisect_right(lows, track.start) - 1, bisect_right(lows, track.end - 1)):
            members[line].append(i)
    return members


def _draw_line(line: Line, tracks: Sequence[_Track], width: int) -> _Canvas:
    """The tracks below one line.

    Tracks that go on stay in the same order from line to line, so that the eye can follow them.
    """
    canvas = _Canvas()
    lowest = 0
    for track in tracks:
        low, bar = _bar(line, track)
        goes_on = track.end > line.high
        parts = [(0, low, bar)]
        if not goes_on:
            parts += _place_label(track.label, low, low + len(bar), width)
        left = min(column for _, column, _ in parts)
        right = max(column + cells(text) for _, column, text in parts)
        apart = _APART if left < low else 0  # a name left of its bar must not look like the name of the bar before
        row = canvas.place(left - apart, right, parts[-1][0] + 1, lowest)
        for below, column, text in parts:
            canvas.put(row + below, column, text, track.colour)
        if goes_on:
            lowest = row + 1
    return canvas


def _bar(line: Line, track: _Track) -> tuple[int, str]:
    """The part of a track below a line, and its first column."""
    base = line.column(max(track.start, line.low))
    marks = ["┄"] * max(line.column(min(track.end, line.high)) - base, 1)
    for span in track.spans:
        if span.start >= line.high or span.end <= line.low:
            continue
        first, end = _columns(line, span, base)
        drawn = ["─"] * (end - first)
        if span.start >= line.low:
            drawn[0] = "└"
        if span.end <= line.high:
            drawn[-1] = "┘" if drawn[0] != "└" or len(drawn) > 1 else "╵"
        marks[first:end] = drawn
        head = track.head
        if head is not None and head.start < min(span.end, line.high) and head.end > max(span.start, line.low):
            first, end = _columns(line, Span(max(head.start, span.start), min(head.end, span.end)), base)
            marks[first:end] = [mark.translate(_HEAVY) for mark in marks[first:end]]
    before = f"→{_at_break(track, line.low)}" if track.start < line.low else ""
    if track.end > line.high:
        marks[line.columns[-1] - base :] = [_at_break(track, line.high), "→"]
    return base + _MARGIN - len(before), before + "".join(marks)


def _columns(line: Line, span: Span, base: int) -> tuple[int, int]:
    """Columns of a span, counted from ``base``; at least one."""
    first = line.column(max(span.start, line.low)) - base
    return first, max(line.column(min(span.end, line.high)) - base, first + 1)


def _at_break(track: _Track, offset: int) -> str:
    return "─" if any(span.start < offset < span.end for span in track.spans) else "┄"


def _place_label(label: str, low: int, high: int, width: int) -> list[tuple[int, int, str]]:
    """Right of the bar, else left of it, else below: (rows below the bar, column, text) of each part of a label."""
    size = cells(label)
    if high + 1 + size <= width:
        return [(0, high + 1, label)]
    if size < low:
        return [(0, low - 1 - size, label)]
    column = max(0, min(low, width - size))
    return [(i + 1, column, part) for i, part in enumerate(fit(label, width))]
