"""Terminal cells: the width of characters, and replacements for those that cannot be shown."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

TAB = 8  # distance of the tab stops
_JAMO = range(0x1160, 0x1200)  # medial vowels and final consonants, drawn inside the syllable before them
_SOFT_HYPHEN = "\u00ad"
_SKIN_TONES = "".join(map(chr, range(0x1F3FB, 0x1F400)))
_REGIONAL = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # letters of which two are a flag


@lru_cache(maxsize=4096)
def visible(char: str) -> str:
    """Return the visible form of a character: itself, unless it would move the cursor or change the terminal.

    >>> visible("a"), visible("\\x1b"), visible("\\u2028")
    ('a', '␛', '�')
    """
    if char < " ":
        return chr(0x2400 + ord(char))
    if char == "\x7f":
        return "␡"
    return "�" if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") else char


@lru_cache(maxsize=4096)
def width(char: str) -> int:
    """Return the cells of a shown character: 2 for East Asian wide ones, 0 for combining and formatting ones, else 1.

    Joined characters (emoji sequences) are counted one by one, ambiguous width as 1.

    >>> width("a"), width("心"), width("\\u0301")
    (1, 2, 0)
    """
    if unicodedata.category(char) in ("Mn", "Me", "Cf") and char != _SOFT_HYPHEN:
        return 0
    if ord(char) in _JAMO:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def advance(column: int, char: str) -> int:
    """Return the column after a character that starts at ``column``; a tab goes to the next stop.

    >>> advance(3, "a"), advance(3, "\\t")
    (4, 8)
    """
    return (column // TAB + 1) * TAB if char == "\t" else column + width(visible(char))


def cells(text: str) -> int:
    """Return the cells of a shown text.

    >>> cells("心 x")
    4
    """
    return sum(map(width, text))


def shorten(text: str, limit: int) -> str:
    """Shorten a shown text to at most ``limit`` cells (at least 1), with a mark for the rest.

    Characters without width count as well, after eight for each cell, so that no text is too long.

    >>> shorten("pain", 4), shorten("left arm pain", 8)
    ('pain', 'left ar…')
    """
    most = 8 * limit
    if len(text) <= limit // 2 or (len(text) <= most and cells(text) <= limit):
        return text
    size = 0
    for i, char in enumerate(text[:most]):
        size += width(char)
        if size > limit - 1:
            return text[:i] + "…"
    return text[:most] + "…"


def joins(before: str, char: str) -> bool:
    """Return whether a character is drawn with the one before: combining ones, and parts of an emoji.

    The border between two adjacent flags is not found.

    >>> joins("e", "\\u0301"), joins("e", "f")
    (True, False)
    """
    return width(char) == 0 or before == "\u200d" or char in _SKIN_TONES or (before in _REGIONAL and char in _REGIONAL)


def fit(text: str, limit: int) -> list[str]:
    """Split a shown text into parts of at most ``limit`` cells (at least 2).

    >>> fit("心心心", 4)
    ['心心', '心']
    """
    parts, used = [""], 0
    for char in text:
        size = width(char)
        if used + size > limit:
            parts.append("")
            used = 0
        parts[-1] += char
        used += size
    return parts


def aligned(rows: Sequence[Sequence[str]], *, numbers: bool = False) -> Iterator[str]:
    """Yield the lines of a table; its columns are flush left, or, with numbers, flush right but for the first.

    >>> list(aligned([("part", "mentions"), ("train", "12")], numbers=True))
    ['part   mentions', 'train        12']
    """
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        gaps = [" " * (width - cells(cell)) for cell, width in zip(row, widths, strict=True)]
        flush = [numbers and place > 0 for place in range(len(row))]
        parts = [gap + cell if right else cell + gap for cell, gap, right in zip(row, gaps, flush, strict=True)]
        yield "  ".join(parts).rstrip()
