"""Line ends that end a sentence.

A blank line does. So does a line end before a list item or heading, after a heading, and after a line that is short:
one that had room for the next line's first word. In text whose lines were not broken by width, each line end does.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NamedTuple

from spanloom.text.characters import LINE_END, LINE_ENDING

_LONG: Final = 40  # shorter lines say nothing about the width at which a text was broken
_WIDEST: Final = 150  # nobody breaks lines later than this; longer ones are paragraphs
_FULL: Final = 0.3  # the share of long lines that must be full before line ends are taken for breaks by width

_END: Final = re.compile(LINE_END)
_ENDING: Final = re.compile(f"[{LINE_ENDING}]")
_WORD: Final = re.compile(r"\S{1,150}")
_ITEM: Final = re.compile(r"\s*+(?:[-*•·▪◦‣–—+#>]++\s|(?:\d{1,2}[.)]|[A-Za-z]\)|\([a-z0-9]{1,3}\))\s)")
_HEADING: Final = re.compile(
    r"\s*+[A-Z][^\s:.;?!]{0,40}(?:[ \t]{1,9}[^\s:.;?!]{1,40}){0,6}[ \t]{0,9}:"  # Past Medical History:
    r"|\s*+[A-Z][A-Z0-9 ,/&()'-]{3,60}$"  # PAST MEDICAL HISTORY
)


class _TextLine(NamedTuple):
    start: int
    end: int  # white space at its end left out
    first: int  # length of its first word; 0 if it is blank
    page: bool  # a form feed ends it


def line_breaks(text: str, last: int | None = None) -> list[int]:
    """Return the starts of the lines that begin a sentence.

    Args:
        text: the text.
        last: where the last lines that are wanted start; all are when ``None``.

    >>> line_breaks("PLAN:\\n- aspirin\\n- follow up in the clinic in two weeks with Dr. Lee and bring\\n  the films")
    [6, 16]
    """
    last = len(text) if last is None else last
    if _ENDING.search(text, 0, last) is None:
        return []
    lines = _lines(text)
    width = _width(lines)
    return [line.start for before, line in pairwise(lines) if line.start <= last and _breaks(text, before, line, width)]


def _lines(text: str) -> list[_TextLine]:
    lines, start = [], 0
    for match in _END.finditer(text):
        lines.append(_line(text, start, match.start(), match[0] == "\x0c"))
        start = match.end()
    return [*lines, _line(text, start, len(text), False)]


def _line(text: str, start: int, end: int, page: bool) -> _TextLine:
    content = text[start:end].strip()
    word = _WORD.match(content)
    return _TextLine(start, start + len(text[start:end].rstrip()), word.end() if word else 0, page)


def _width(lines: list[_TextLine]) -> int:
    """Return the width at which lines were broken; 0 if they were not."""
    lengths = sorted(line.end - line.start for line in lines if line.end - line.start > _LONG)
    if not lengths:
        return 0
    width = lengths[-1 - len(lengths) // 20]  # a few lines may be longer: tables, addresses
    inner = [(before, line) for before, line in pairwise(lines) if before.end - before.start > _LONG and line.first]
    full = sum(_is_full(before, line, width) for before, line in inner)
    return width if width <= _WIDEST and full and full >= _FULL * len(inner) else 0


def _is_full(before: _TextLine, line: _TextLine, width: int) -> bool:
    return before.end - before.start + 1 + line.first > width


def _breaks(text: str, before: _TextLine, line: _TextLine, width: int) -> bool:
    if before.page or not line.first or not before.first:
        return True
    if not width or not _is_full(before, line, width):
        return True
    head = text[line.start : min(line.end, line.start + 400)]
    return bool(_ITEM.match(head) or _HEADING.match(head) or text[before.end - 1] == ":")
