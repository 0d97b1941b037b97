"""Terminal view of a document: its text, and below each line its mentions.

A mention is a line under its words, dotted across gaps, heavy under its head, with its type, score and concepts beside
it. At a line break, an arrow marks that the mention continues in the next line; its name is at its end::

    infarctions either watershed or embolic
    ┗━━━━━━━━━┛┄┄┄┄┄┄┄┄└───────┘ problem 97%
    ┗━━━━━━━━━┛┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄└─────┘ problem 91%
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spanloom.document import Document
from spanloom.errors import check_number
from spanloom.view.cells import fit, visible
from spanloom.view.cells import width as cell_width
from spanloom.view.layout import layout
from spanloom.view.placement import left_out, members, place, tracks, type_names

MIN_WIDTH = 20
_MARGIN = 2
_PLAIN = 245
# the colours of Okabe and Ito, which people with any colour vision distinguish, as the nearest of 256
_PALETTE = (32, 214, 36, 175, 166, 74, 185)
_BROKEN = {"component": "─", "gap": "┄"}
_HEAVY = str.maketrans("└─┘╵", "┗━┛╹")


@dataclass(slots=True)
class _Canvas:
    """Rows of cells."""

    rows: list[dict[int, tuple[str, int]]] = field(default_factory=list)

    def put(self, row: int, column: int, text: str, colour: int) -> None:
        """Write text; characters without width join the cell before them."""
        while len(self.rows) <= row:
            self.rows.append({})
        last = column
        for char in text:
            size = cell_width(char)
            if size:
                self.rows[row][column] = (char, colour)
                last, column = column, column + size
            elif last in self.rows[row]:
                self.rows[row][last] = (self.rows[row][last][0] + char, colour)

    def lines(self, color: bool) -> Iterator[str]:
        """Yield the rows as text."""
        for row in self.rows:
            parts, column, current = [], 0, -1
            for at, (cell, colour) in sorted(row.items()):
                if color and colour != current:
                    parts.append(f"\x1b[0m\x1b[38;5;{colour}m" if current >= 0 else f"\x1b[38;5;{colour}m")
                    current = colour
                parts.append(" " * (at - column) + cell)
                column = at + cell_width(cell[0])
            yield "".join(parts) + ("\x1b[0m" if current >= 0 else "")


def render(document: Document, *, width: int = 80, color: bool = False, types: Sequence[str] | None = None) -> str:
    """Draw a document for a terminal.

    Without sentences each line of the text is drawn alone. Control characters are shown as pictures, so that no text
    can change the terminal.

    Args:
        document: the document; offsets outside the text are drawn at its end.
        width: columns, at least 20; no line is longer.
        color: with colours, one for each type. The type is always written as well.
        types: all types, in the order of their colours; the document's own, sorted, when ``None``. Give it where
            several documents are shown, so that a type keeps its colour.

    Raises:
        UsageError: the width is too small.

    >>> from spanloom.document import Mention
    >>> text = "infarctions either watershed or embolic"
    >>> mentions = [Mention("problem", [(0, 11), (19, 28)]), Mention("problem", [(0, 11), (32, 39)])]
    >>> print(render(Document(text, mentions=mentions)), end="")
      infarctions either watershed or embolic
      └─────────┘┄┄┄┄┄┄┄┄└───────┘ problem
      └─────────┘┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄└─────┘ problem
    """
    check_number("width", width, MIN_WIDTH, whole=True)
    lines = layout(document, width - 2 * _MARGIN)
    shown = members(lines, tracks(document, type_names([document], types)))
    output: list[str] = []
    if document.id:
        names = fit("".join(map(visible, document.id)), width)
        output.extend(f"\x1b[1m{name}\x1b[0m" if color else name for name in names)
    for line, found in zip(lines, shown, strict=True):
        if line.opens and output:
            output.append("")
        output.append((" " * _MARGIN + line.text).rstrip())
        canvas, strips = _Canvas(), place(line, found, (-_MARGIN, width - _MARGIN), arrow=1)
        for strip in strips:
            colour = _PALETTE[strip.track.kind % len(_PALETTE)]
            marks = ["┄"] * (strip.end - strip.first)
            for part in strip.parts:
                drawn = ["─"] * (part.end - part.first)
                if part.opens:
                    drawn[0] = "└"
                if part.closes:
                    drawn[-1] = "┘" if not part.opens or len(drawn) > 1 else "╵"
                marks[part.first - strip.first : part.end - strip.first] = drawn
            for first, end in strip.heads:
                columns = slice(first - strip.first, end - strip.first)
                marks[columns] = [mark.translate(_HEAVY) for mark in marks[columns]]
            if strip.before:
                marks[0] = _BROKEN[strip.before]
            if strip.after:
                marks[-1] = _BROKEN[strip.after]
            before, after = "→" * bool(strip.before), "→" * bool(strip.after)
            bar = f"{before}{''.join(marks)}{after}"
            canvas.put(strip.row, _MARGIN + strip.first - len(before), bar, colour)
            for text in strip.name:
                canvas.put(strip.row + text.below, _MARGIN + text.column, text.text, colour)
        if len(strips) < len(found):
            for piece in fit(left_out(len(found) - len(strips)), width - _MARGIN):
                canvas.put(len(canvas.rows), _MARGIN, piece, _PLAIN)
        output.extend(canvas.lines(color))
    return "\n".join(output).strip("\n") + "\n"
