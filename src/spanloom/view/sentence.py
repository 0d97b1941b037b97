"""HTML of a sentence and its mentions: the unchanged text, and below each piece a bar for each mention.

The browser breaks the lines and orders the characters, so that every script and every width of the window holds. The
paragraph's text is the sentence and nothing else: the text beside a bar comes from its attributes, so that copying
and searching find the text. After the paragraph the same mentions are listed in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from spanloom.view.cells import cells, shorten, width
from spanloom.view.direction import leftward
from spanloom.view.pieces import Piece, pieces
from spanloom.view.style import kind_class
from spanloom.view.svg import clean
from spanloom.view.tracks import LONG, Track, describe, head_words, surface

MOST_ROWS = 40  # tracks below one another; what has no place is in the list below the sentence
MOST_BARS = 20_000  # of one sentence, and some for each of its characters
_NAME = 40  # cells of what stands beside a bar


class Drawing(NamedTuple):
    """HTML paragraph of a sentence.

    Args:
        html: the paragraph.
        left_out: tracks without a place in it.
    """

    html: str
    left_out: int


def draw(text: str, start: int, end: int, tracks: Sequence[Track]) -> Drawing:
    """Draw the paragraph of characters ``start`` to ``end``.

    Args:
        text: the text of the whole document.
        start: of the sentence.
        end: of the sentence.
        tracks: the tracks in it, in text order.

    >>> from spanloom.document import Document, Mention
    >>> from spanloom.view.tracks import tracks
    >>> document = Document("chest pain", mentions=[Mention("problem", [(0, 10)])])
    >>> drawing = draw(document.text, 0, 10, tracks(document, ["problem"]))
    >>> drawing.html.count('class="b '), drawing.left_out
    (3, 0)
    """
    names = [_name(track, start, end) for track in tracks]
    rows = _rows(text, start, end, tracks, names)
    drawn = [i for i, row in enumerate(rows) if row is not None]
    shown = [tracks[i] for i in drawn]
    bars = _Bars(text, start, shown, [names[i] for i in drawn], [row for row in rows if row is not None])
    words = list(pieces(text, start, end, shown))
    parts = [piece for word in words for piece in word]
    turned = iter(_turned(text, parts))
    body, high = [], False
    for word in words:
        body.append(_word(text, word, [next(turned) for _ in word], bars, high))
        high = bool(word[0].tracks)
    room = max((cells(names[i]) for i in drawn), default=0)
    style = f' style="--l:{room}"' if room else ""
    return Drawing(f'<p class="t" dir="auto" lang=""{style}>{"".join(body)}</p>\n', len(tracks) - len(shown))


def listed(text: str, mentions: Sequence[Track]) -> str:
    """Return a folded list of mentions in words.

    Args:
        text: of the document.
        mentions: in the order of the list.
    """
    if not mentions:
        return ""
    items = "".join(f"<li>{_item(text, track)}</li>\n" for track in mentions)
    count = f"{len(mentions):,} mention{'s' if len(mentions) > 1 else ''}"
    return f'<details class="m"><summary>{count}</summary>\n<ol>\n{items}</ol></details>\n'


def _item(text: str, track: Track) -> str:
    mention = track.mention
    parts = [
        f'<i class="k {kind_class(track.kind)}"></i> <b>{_bdi(shorten(clean(mention.type), LONG))}</b> '
        f"{_bdi(surface(text, mention))}"
    ]
    if mention.score is not None:
        parts.append(f"{mention.score:.1%}")
    parts += [_bdi(shorten(clean(concept), LONG)) for concept in mention.concepts]
    if mention.head is not None:
        parts.append(f"head: {_bdi(head_words(text, mention.head))}")
    places = ", ".join(f"{low}-{high}" for low, high in mention.spans[:20]) + ", …" * (len(mention.spans) > 20)
    return ", ".join(parts) + f' <span class="faint">{places}</span>'


def _bdi(text: str) -> str:
    return f"<bdi>{escape(text)}</bdi>"


def _name(track: Track, start: int, end: int) -> str:
    """Return the text beside a track, with arrows if it began before the sentence or goes on after it."""
    before, after = "→ " * (track.start < start), " →" * (track.end > end)
    return before + shorten(clean(track.label), _NAME) + after


def _rows(text: str, start: int, end: int, tracks: Sequence[Track], names: Sequence[str]) -> list[int | None]:
    """Return the row of each track, the first free one; ``None`` where none is.

    A row is free where no other track or its name stands. How wide a browser draws them is not known, but names are
    set a third smaller than the text, and are given the same cells.
    """
    place = [0]
    for char in text[start:end]:
        place.append(place[-1] + (8 if char == "\t" else width(char)))
    free: list[int] = []
    bars, most = 0, MOST_BARS + 4 * (end - start)
    rows: list[int | None] = []
    for track, name in zip(tracks, names, strict=True):
        low, high = (place[min(max(at, start), end) - start] for at in (track.start, track.end))
        row = next((i for i, at in enumerate(free) if at <= low), len(free))
        size = min(track.end, end) - max(track.start, start)  # it has no more bars
        if row >= MOST_ROWS or bars + size > most:
            rows.append(None)
            continue
        bars += size
        free[row : row + 1] = [max(high, low + cells(name)) + 1]
        rows.append(row)
    return rows


class _Bars(NamedTuple):
    """The tracks of a sentence, by their numbers, for `_bar`."""

    text: str
    start: int
    tracks: list[Track]
    names: list[str]
    rows: list[int]


def _word(text: str, word: Sequence[Piece], turned: Sequence[bool], bars: _Bars, high: bool) -> str:
    """Return HTML of a unit: text without tracks, or a box with its pieces in it, as high as its lowest bar.

    White space after such a box has none, because a line must be able to break behind it.
    """
    if not any(piece.tracks for piece in word):
        return "".join(_text(text[piece.start : piece.end]) for piece in word)
    inner = "".join(_piece(text, piece, left, bars) for piece, left in zip(word, turned, strict=True))
    if high and text[word[0].start].isspace():
        return inner
    height = max(bars.rows[i] + 1 for piece in word for i in piece.tracks)
    return f'<span class="w" style="--n:{height}">{inner}</span>'


def _piece(text: str, piece: Piece, left: bool, bars: _Bars) -> str:
    drawn = "".join(_bar(bars, i, piece, left) for i in piece.tracks)
    return f'<span class="p">{drawn}{_text(text[piece.start : piece.end])}</span>'


def _bar(bars: _Bars, number: int, piece: Piece, left: bool) -> str:
    track = bars.tracks[number]
    names = ["b", kind_class(track.kind)]
    if track.covers(piece.start):
        names += ["h"] * track.is_head(piece.start)
        names += ["s1"] * any(span.start == piece.start for span in track.spans)
        names += ["e1"] * any(span.end == piece.end for span in track.spans)
    else:
        names.append("g")
    names += ["r"] * left
    title = name = ""
    if piece.start == max(track.start, bars.start):
        name = f'<b data-l="{escape(bars.names[number])}"></b>'
    if name or "s1" in names:
        title = f' title="{escape(describe(bars.text, track))}"'
    return f'<i class="{" ".join(names)}" style="--r:{bars.rows[number]}"{title}>{name}</i>'


def _text(text: str) -> str:
    """Return escaped text, with tabs and line ends; other control characters become pictures."""
    if text.isprintable():
        return escape(text, quote=False)
    return escape("".join(char if char in "\t\n" else clean(char) for char in text), quote=False)


def _turned(text: str, parts: Sequence[Piece]) -> list[bool]:
    """Return whether each piece runs from right to left."""
    found = [text[piece.start : piece.end] for piece in parts]
    return [False] * len(found) if all(map(str.isascii, found)) else leftward(found)[1]
