"""Excerpts of a comparison: a sentence twice, side by side, with the mentions of each side that matter there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from html import escape

from spanloom.document import Mention
from spanloom.evaluate import join_spans
from spanloom.view.cells import shorten
from spanloom.view.sentence import draw, listed
from spanloom.view.svg import clean
from spanloom.view.tracks import Track

_REACH = 200  # characters of the sentence that are shown before and after a mention
_LONG = 200

STYLE = """\
.script { display: flex; flex-wrap: wrap; gap: .5rem 1rem; margin: 1rem 0; }
.e { content-visibility: auto; contain-intrinsic-size: auto 9rem; border-top: 1px solid var(--line); padding: .4rem 0; }
.e h4 { font-size: .85rem; margin: 0; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1.5rem; }
.pair > div { min-width: 0; }
.pair h5 { font-size: .75rem; font-weight: normal; color: var(--faint); margin: .2rem 0 0; }
[hidden] { display: none !important; }
@media (max-width: 45rem) { .pair { grid-template-columns: 1fr; } }
@media print { .e { content-visibility: visible; break-inside: avoid; } }
"""
"""What a page needs that has excerpts: articles of the class ``e``, and a form of the class ``script``."""


def plain(text: str) -> str:
    """Return a user's text as HTML, shortened, without control characters."""
    return escape(shorten(clean(text), _LONG))


def select(name: str, text: str, values: Mapping[str, str]) -> str:
    """Return a labelled choice of a form.

    Args:
        name: of the field.
        text: the label.
        values: value -> what is shown for it.
    """
    options = "".join(f'<option value="{escape(key)}">{escape(value)}</option>' for key, value in values.items())
    return f'<label>{text} <select name="{name}">{options}</select></label>\n'


def type_values(names: Sequence[str]) -> dict[str, str]:
    """Return the choices of types, for `select`: all, or one."""
    # a browser changes control characters in values; those of the excerpts are changed in the same way
    return {"": "all", **{clean(name): shorten(clean(name), _LONG) for name in names}}


def side_by_side(
    text: str, mentions: Sequence[Mention], cuts: Sequence[tuple[int, int]], sides: Mapping[str, Sequence[Track]]
) -> str:
    """Return the sentence of some mentions, once for each side.

    Args:
        text: of the document.
        mentions: what is looked at; one at least.
        cuts: start and end of the document's sentences.
        sides: title -> the tracks of a side, of which those are drawn that share a character with the mentions.
    """
    low, high = _window(text, mentions, cuts)
    columns = "".join(
        f"<div><h5>{title}</h5>\n{_column(text, tracks, mentions, low, high)}</div>\n"
        for title, tracks in sides.items()
    )
    return f'<div class="pair">\n{columns}</div>'


def _window(text: str, mentions: Sequence[Mention], cuts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the range of some mentions' sentences, of very long ones the part around the mentions; trimmed."""
    start, end = min(mention.start for mention in mentions), max(mention.end for mention in mentions)
    starts = [low for low, _ in cuts]
    low = cuts[max(bisect_right(starts, start) - 1, 0)][0]
    high = cuts[max(bisect_right(starts, end - 1) - 1, 0)][1]
    low, high = max(low, _word_start(text, start - _REACH)), min(high, _word_start(text, end + _REACH))
    while low < start and text[low].isspace():
        low += 1
    while high > end and text[high - 1].isspace():
        high -= 1
    return low, high


def _word_start(text: str, at: int) -> int:
    """Return the next offset after white space, if one is near."""
    at = min(max(at, 0), len(text))
    return next((i for i in range(at, min(at + 40, len(text))) if i == 0 or text[i - 1].isspace()), at)


def _column(text: str, tracks: Sequence[Track], mentions: Sequence[Mention], low: int, high: int) -> str:
    """Return a side: the sentence with the tracks that share a character with the mentions."""
    near = [track for track in tracks if any(_meet(text, track.mention, mention) for mention in mentions)]
    drawing = draw(text, low, high, [track for track in near if track.end > low and track.start < high])
    return drawing.html + (listed(text, near) if near else '<p class="faint">nothing here</p>\n')


def _meet(text: str, one: Mention, other: Mention) -> bool:
    if one.end <= other.start or other.end <= one.start:
        return False
    here, there = join_spans(text, one.spans), join_spans(text, other.spans)
    return any(a.start < b.end and b.start < a.end for a in here for b in there)
