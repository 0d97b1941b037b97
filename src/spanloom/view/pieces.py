"""Pieces of text that a browser may put on different lines, and in which no mention begins or ends."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from spanloom.view.cells import joins, width
from spanloom.view.tracks import Track

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
    wide = width(before) == 2 or width(char) == 2
    return wide and unicodedata.category(char) not in _CLOSING


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
    cuts = _cuts(tracks, start, end)
    active: list[int] = []
    cut = waiting = 0
    plain = start  # where the units without tracks begin that were not given out yet
    for low, high in units(text, start, end):
        found = []
        at = low
        while at < high:
            while cut < len(cuts) and cuts[cut] <= at:
                cut += 1
            stop = min(high, cuts[cut]) if cut < len(cuts) else high
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


def _cuts(tracks: Iterable[Track], start: int, end: int) -> list[int]:
    """Return the offsets where components, heads and gaps begin and end."""
    found: set[int] = set()
    for track in tracks:
        for span in track.spans:
            found.update(span)
        if track.head is not None:
            found.update(track.head)
    return sorted(cut for cut in found if start < cut < end)
