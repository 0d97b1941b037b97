"""Line breaking: from a text to lines that fit, and from characters to the columns of a line."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from spanloom.document import Document
from spanloom.evaluate.units import sentence_starts
from spanloom.view.cells import advance, visible


@dataclass(frozen=True, slots=True)
class DisplayLine:
    """A line of the picture.

    The lines share the whole text among them: white space at a break, and lines without anything visible, belong to a
    line before or after, so that every character has a place.

    Args:
        low: the first character of the line.
        high: the end of its characters.
        start: the first character that is shown.
        columns: the first column of each shown character, and the column after the last.
        text: the shown text.
        opens: a sentence begins here (or a line of the text, if it has no sentences).
    """

    low: int
    high: int
    start: int
    columns: tuple[int, ...]
    text: str
    opens: bool

    def column(self, offset: int) -> int:
        """Return the column of a character; the nearest if it is not shown."""
        return self.columns[min(max(offset - self.start, 0), len(self.columns) - 1)]


def layout(document: Document, width: int) -> list[DisplayLine]:
    """Break a document's text into lines of at most ``width`` columns: at white space, or else inside a word.

    >>> [line.text for line in layout(Document("pain in the left arm"), 12)]
    ['pain in the', 'left arm']
    """
    text = document.text
    shown = []  # start, end and block of each piece that is not blank
    for block, (start, stop) in enumerate(blocks(document)):
        while start < stop:
            end = _line_end(text, start, stop, width)
            shown += [(start, end, block)] * bool(text[start:end].strip())
            start = end
    lines = []
    for i, (start, end, block) in enumerate(shown):
        low = start if i else 0
        high = shown[i + 1][0] if i + 1 < len(shown) else len(text)
        columns, drawn = _draw(text[start:end].rstrip())
        lines.append(DisplayLine(low, high, start, columns, drawn, not i or block != shown[i - 1][2]))
    return lines or [DisplayLine(0, max(len(text), 1), 0, (0,), "", True)]


def blocks(document: Document) -> list[tuple[int, int]]:
    """Return start and end of a document's sentences, or of the lines of its text; together the whole text.

    >>> blocks(Document("No pain.\\nNo fever."))
    [(0, 9), (9, 18)]
    """
    text = document.text
    starts = sentence_starts(document).tolist()
    if not starts and (document.tokens is None or document.sentences is None):
        starts = [i + 1 for i, char in enumerate(text) if char == "\n"]
    cuts = [cut for cut in starts if 0 < cut < len(text)]
    return list(zip([0, *cuts], [*cuts, len(text)], strict=True))


def _line_end(text: str, start: int, stop: int, width: int) -> int:
    column, last_space = 0, start
    for i in range(start, stop):
        if text[i] == "\n":
            return i + 1
        column = advance(column, text[i])
        if text[i].isspace():
            last_space = i + 1  # may hang over the edge, where it is not shown
        elif column > width and i > start:
            return last_space if last_space > start else i
    return stop


def _draw(text: str) -> tuple[tuple[int, ...], str]:
    columns, shown = [0], []
    for char in text:
        columns.append(advance(columns[-1], char))
        shown.append(" " * (columns[-1] - columns[-2]) if char == "\t" else visible(char))
    return tuple(columns), "".join(shown)


# Direction of text: the part of the bidirectional algorithm (Unicode Annex 9) that places whole words.
#
# Browsers order the characters of a page themselves; a drawing must compute the place of each word.

_STRONG = {"L": False, "R": True, "AL": True}


def strong(text: str) -> bool | None:
    """Return whether the first letter of a text is of a right-to-left script; ``None`` without any letter.

    >>> strong("12 mg"), strong("12 שעות"), strong("12")
    (False, True, None)
    """
    for char in text:
        kind = unicodedata.bidirectional(char)
        if kind in _STRONG:
            return _STRONG[kind]
    return None


def leftward(words: Sequence[str]) -> tuple[bool, list[bool]]:
    """Return whether a line runs from right to left (rules P2 and P3), and whether each of its words does.

    A word without letters (white space, punctuation, numbers) runs as its neighbours do if they agree, else as the line
    does (rules N1 and N2).

    >>> leftward(["pain", " ", "כאב", " ", "ראש"])
    (False, [False, False, True, True, True])
    """
    own = [None if word.isspace() else strong(word) for word in words]
    base = next((value for value in own if value is not None), False)

    def spread(values: Sequence[bool | None]) -> list[bool]:
        return list(accumulate(values, lambda last, one: last if one is None else one, initial=base))[1:]

    known = zip(own, spread(own), spread(own[::-1])[::-1], strict=True)
    return base, [value if value is not None else left if left == right else base for value, left, right in known]


def visual_order(base: bool, words: Sequence[bool]) -> list[int]:
    """Return the numbers of a line's words from left to right (rule L2, with words in place of characters).

    >>> visual_order(False, [False, False, True, True, True])
    [0, 1, 4, 3, 2]
    """
    order: list[int] = []
    for turned, group in groupby(range(len(words)), key=lambda i: words[i] != base):
        run = list(group)
        order += run[::-1] if turned else run
    return order[::-1] if base else order
