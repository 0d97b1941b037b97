"""SVG drawing of documents: the text in lines of a fixed width, and below each line its mentions as tracks.

Lines, rows and columns are those of the terminal; each column is 8 pixels wide, and every word is fitted into its
columns, so that the tracks are under their words in any font. Lines from right to left are mirrored, and words from
right to left within other lines are put in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from spanloom.document import Document
from spanloom.errors import check_number
from spanloom.view import svg
from spanloom.view.cells import cells, shorten
from spanloom.view.layout import DisplayLine, layout, leftward, visual_order
from spanloom.view.placement import Strip, describe, left_out, members, place, tracks, type_names
from spanloom.view.style import DARK, LIGHT
from spanloom.view.svg import CELL, Element

MIN_COLUMNS = 20
_MARGIN = 2  # columns on either side
_TEXT = 25.0  # from the top of a line to its first track
_TRACK = 18.0  # from track to track
_BASE = 14.0  # from the top of a line to the feet of its letters
_TICK = 5.0
_GAP = 10.0  # between sentences
_LABEL = 200

_STYLE = """
.spanloom text { font: 13px ui-monospace, monospace; text-anchor: middle; }
.spanloom .id { font-weight: bold; text-anchor: start; }
.spanloom .name { font-size: 11px; text-anchor: start; }
.spanloom .mention path { stroke: currentColor; stroke-width: 2; }
.spanloom .mention .gap { stroke-width: 1.4; stroke-dasharray: 3 3; }
.spanloom .mention .head { stroke-width: 5; }
"""


class _Ruler(NamedTuple):
    """Places of the columns of a line.

    Args:
        columns: of the line's text; the place of each, counted from the left, and whether its word runs leftward.
        leftward: whether the line does.
        width: of all lines.
    """

    columns: list[tuple[int, bool]]
    leftward: bool
    width: int

    def cell(self, column: int) -> tuple[int, bool]:
        """Return the place of a column, and whether text runs leftward there; outside the text as the line does."""
        if 0 <= column < len(self.columns):
            return self.columns[column]
        return (self.width - 1 - column if self.leftward else column), self.leftward

    def runs(self, first: int, end: int) -> list[tuple[int, int]]:
        """Return columns as intervals of places."""
        places = sorted(self.cell(column)[0] for column in range(first, end))
        groups = groupby(enumerate(places), key=lambda item: item[1] - item[0])
        ends = [[at for _, at in group] for _, group in groups]
        return [(run[0], run[-1] + 1) for run in ends]

    def extent(self, first: int, end: int) -> tuple[int, int]:
        """Return the places of columns from the least to the greatest, counted from where the line begins."""
        runs = self.runs(first, end)
        low, high = runs[0][0], runs[-1][1]
        return (self.width - high, self.width - low) if self.leftward else (low, high)

    def edge(self, column: int, after: bool) -> int:
        """Return the place where a column begins, or where it ends."""
        at, left = self.cell(column)
        return at + (after != left)


def to_svg(
    documents: Sequence[Document], *, width: int = 100, title: str = "Mentions", types: Sequence[str] | None = None
) -> str:
    """Draw documents as one SVG.

    Args:
        documents: the documents; offsets outside a text are drawn at its ends.
        width: columns, at least 20.
        title: a description of the drawing for screen readers.
        types: all types, in the order of their colours; the documents' own, sorted, when ``None``.

    Returns:
        One SVG element, the same for the same arguments, for light and dark pages and for print. Each mention of a line
        is a group of class ``mention`` whose title describes it.

    Raises:
        UsageError: the width is too small.

    >>> from spanloom.document import Mention
    >>> drawing = to_svg([Document("chest pain", mentions=[Mention("problem", [(0, 10)])])])
    >>> drawing.startswith("<svg "), "problem: chest pain" in drawing
    (True, True)
    """
    check_number("width", width, MIN_COLUMNS, whole=True)
    names = type_names(documents, types)
    counts = f"{len(documents)} document(s), {sum(len(document.mentions) for document in documents)} mention(s)"
    rules = [
        "".join(f".spanloom .t{i} {{ color: {color}; }}\n" for i, color in enumerate(colors[: len(names)]))
        for colors in (LIGHT, DARK)
    ]
    colors = f"{rules[0]}@media screen and (prefers-color-scheme: dark) {{\n{rules[1]}}}"
    root = svg.canvas(width * CELL, 0, title, counts, f"{_STYLE.strip()}\n{colors}")
    top = 2 * CELL
    columns = width - 2 * _MARGIN
    for document in documents:
        if document.id:
            heading = shorten(svg.clean(document.id), columns)
            svg.write(root, "text", heading, x=_MARGIN * CELL, y=top + _BASE, class_="id")
            top += _TEXT + _GAP
        lines = layout(document, columns)
        titles: dict[int, str] = {}  # by track: a mention of many lines has one in each
        for line, found in zip(lines, members(lines, tracks(document, names)), strict=True):
            if line.opens and line is not lines[0]:
                top += _GAP
            ruler = _ruler(line, columns)
            for word, start, end in _spans(line.text):
                if word.isspace() or start == end:
                    continue
                places = [ruler.cell(column) for column in range(start, end)]
                low, size = min(at for at, _ in places), (end - start) * CELL
                # letters that are joined must not be moved apart
                way = {"direction": "rtl", "lengthAdjust": "spacingAndGlyphs"} if places[0][1] else {}
                svg.write(root, "text", word, x=_x(low) + size / 2, y=top + _BASE, textLength=size, **way)
            below = 0
            strips = place(line, found, (0, columns), 1, ruler.extent)
            for strip in strips:
                key = id(strip.track)
                if key not in titles:
                    titles[key] = describe(document.text, strip.track)
                _strip(root, titles[key], strip, ruler, top + _TEXT)
                below = max([below, *(strip.row + 1 + text.below for text in strip.name), strip.row + 1])
            if len(strips) < len(found):
                note = left_out(len(found) - len(strips))
                svg.write(root, "text", note, x=_x(0), y=top + _TEXT + below * _TRACK + 4, class_="name")
                below += 1
            top += _TEXT + below * _TRACK
        top += 2 * _GAP
    return svg.render(root, top)


def _spans(text: str) -> list[tuple[str, int, int]]:
    """Return the words of a line and the white space between them, with their columns."""
    found, column = [], 0
    for _, run in groupby(text, key=str.isspace):
        word = "".join(run)
        found.append((word, column, column + cells(word)))
        column += cells(word)
    return found


def _ruler(line: DisplayLine, width: int) -> _Ruler:
    total = line.columns[-1]
    words = _spans(line.text)
    base, turned = leftward([word for word, _, _ in words])
    columns = [(0, base)] * total
    at = width - total if base else 0
    for i in visual_order(base, turned):
        _, first, end = words[i]
        for column in range(first, min(end, total)):
            columns[column] = (at + (end - 1 - column if turned[i] else column - first), turned[i])
        at += end - first
    return _Ruler(columns, base, width)


def _strip(root: Element, title: str, strip: Strip, ruler: _Ruler, top: float) -> None:
    group = svg.write(root, "g", class_=f"mention t{strip.track.kind % len(LIGHT)}")
    svg.write(group, "title", title)
    y = top + strip.row * _TRACK
    covered = {column for part in strip.parts for column in range(part.first, part.end)}
    if strip.before == "component":
        covered.add(strip.first)
    if strip.after == "component":
        covered.add(strip.end - 1)
    for inside, run in groupby(range(strip.first, strip.end), key=covered.__contains__):
        columns = list(run)
        _line(group, ruler.runs(columns[0], columns[-1] + 1), y, "" if inside else "gap")
    for first, end in strip.heads:
        _line(group, ruler.runs(first, end), y, "head")
    for part in strip.parts:
        ends = [ruler.edge(part.first, False)] * part.opens + [ruler.edge(part.end - 1, True)] * part.closes
        for at in ends:
            svg.path(group, "M", _x(at), y - _TICK, "V", y + 1)
    for column, broken in ((strip.first, strip.before), (strip.end - 1, strip.after)):
        if broken:  # a mark of continuation, in the direction of the text
            at, left = ruler.cell(column)
            after = column == strip.end - 1 and bool(strip.after)
            tip, back = _x(at + (after != left)) + (-4 if left else 4), 5 if left else -5
            svg.path(group, "M", tip + back, y - 4, "L", tip, y, "L", tip + back, y + 4)
    for name in strip.name:
        low = ruler.width - name.column - cells(name.text) if ruler.leftward else name.column
        text = shorten(name.text, _LABEL)
        svg.write(group, "text", text, x=_x(low), y=y + 4 + name.below * _TRACK, class_="name")


def _line(group: Element, runs: Iterable[tuple[int, int]], y: float, kind: str) -> None:
    for low, high in runs:
        svg.path(group, "M", _x(low), y, "H", _x(high), **({"class_": kind} if kind else {}))


def _x(column: int) -> float:
    return (column + _MARGIN) * CELL
