"""Excerpts of a comparison: a sentence with the mentions of one side above it and those of the other below.

The text occurs once, so both sides have the same lines, and other mentions are dimmed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape

from spanloom.document import Mention, Span
from spanloom.evaluate import join_spans
from spanloom.view.cells import shorten
from spanloom.view.page import TITLE, draw, listed
from spanloom.view.page import plain as plain
from spanloom.view.placement import Track
from spanloom.view.svg import clean

_REACH = 200  # characters of the sentence that are shown before and after a mention
NOTHING = '<p class="faint">nothing here</p>\n'  # in place of a side's list

STYLE = """\
.script { display: flex; flex-wrap: wrap; gap: .5rem 1rem; margin: 1rem 0; }
.script select { max-width: 100%; }
.e { content-visibility: auto; contain-intrinsic-size: auto 9rem; border-top: 1px solid var(--line); padding: .4rem 0;
  min-width: 0; }
.e :is(h2, h4) { font-size: .95rem; margin: 0; overflow-wrap: anywhere; }
.e :is(h2, h4) span { font-weight: normal; font-size: .8rem; }
.e .t { color: var(--faint); margin: .3rem 0; }
.e .on { color: var(--ink); font-weight: 600; }
.e .t > [class^=n]::before { height: calc(1.6rem + (var(--n) + var(--u, 0)) * 1.5rem);
  vertical-align: calc(-.4rem - var(--n) * 1.5rem); }
.e .d { opacity: .4; }
.e .d:not(.f)::after, .e .d::before { content: none; }
.e .a { top: auto; bottom: calc(100% + .05rem + var(--r) * 1.5rem); }
.e .a::after, .e .a::before { top: auto; bottom: 9px; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1.5rem; }
.pair > div { min-width: 0; }
.pair h5 { font-size: .75rem; font-weight: normal; color: var(--faint); margin: .2rem 0 0; }
.pair p, .pair .m { margin: 0; }
.excerpts { display: flex; flex-direction: column; }
#choose { display: none; }
@media screen { @supports selector(:has(a)) { #choose { display: flex; } } }
body:has(#order option:checked:not([value=""])) .excerpts > :not(.e) { display: none; }
@media (max-width: 45rem) { .pair { grid-template-columns: 1fr; } }
@media print { .e { content-visibility: visible; break-inside: avoid; } }
"""
"""What a page needs that has excerpts: articles of the class ``e`` in a box of the class ``excerpts``."""


def chooser(kinds: Mapping[str, str], types: Sequence[str], orders: Mapping[str, str]) -> tuple[str, str]:
    """Return a form that filters and orders excerpts, and the rules of style by which it does, without a script.

    Args:
        kinds: class of the excerpts of a kind -> what is shown for it.
        types: names; excerpts of type i have the class ``yi``.
        orders: order, see `order_places` -> what is shown for it; the empty one is that of the page.
    """
    named = {f"y{number}": shorten(clean(name), TITLE) for number, name in enumerate(types)}
    form, rules = "", []
    for field, label, choices, selector, rule in (
        ("kind", "kind", {"": "all", **kinds}, ".excerpts > :not(.{})", "display: none"),
        ("type", "type", {"": "all", **named}, ".e:not(.{})", "display: none"),
        ("order", "order by", orders, ".e", "order: var(--{})"),
    ):
        options = "".join(f'<option value="{value}">{escape(shown)}</option>' for value, shown in choices.items())
        form += f'<label>{label} <select id="{field}" name="{field}">{options}</select></label>\n'
        rules += [
            f'body:has(#{field} [value="{value}"]:checked) {selector.format(value)} {{ {rule.format(value)}; }}\n'
            for value in filter(None, choices)
        ]
    return f'<form id="choose" class="script">{form}</form>\n', "".join(rules)


def order_places(orders: Mapping[str, Sequence[int]]) -> list[str]:
    """Return the place of each excerpt in each order, as variables of CSS.

    Args:
        orders: name -> the numbers of all excerpts in this order.

    >>> order_places({"text": [1, 0], "type": [0, 1]})
    ['--text:1;--type:0', '--text:0;--type:1']
    """
    places = [{number: at for at, number in enumerate(order)} for order in orders.values()]
    return [
        ";".join(f"--{name}:{at[number]}" for name, at in zip(orders, places, strict=True))
        for number in range(len(places[0]))
    ]


def both_sides(
    text: str, mentions: Sequence[Mention], cuts: Sequence[tuple[int, int]], sides: Mapping[str, Sequence[Track]]
) -> str:
    """Return the sentence of some mentions with the tracks of two sides, and both sides in words.

    Tracks that share a character with the mentions are drawn. The words of the mentions are highlighted, and the tracks
    of others are dimmed.

    Args:
        text: of the document.
        mentions: the mentions to show; at least one.
        cuts: start and end of the document's sentences.
        sides: title -> the tracks of the side above the text, and of the one below it.
    """
    low, high = _window(text, mentions, cuts)
    keys = {_key(text, mention) for mention in mentions}
    spans = [span for mention in mentions for span in join_spans(text, mention.spans)]
    near = {
        title: [one for one in tracks if any(a.start < b.end and b.start < a.end for a in one.spans for b in spans)]
        for title, tracks in sides.items()
    }
    above, below = (
        [replace(track, label=f"{title}: {track.label}") for track in tracks if track.end > low and track.start < high]
        for title, tracks in near.items()
    )
    for side in (above, below):  # the current one is next to the text
        side.sort(key=lambda track: _key(text, track.mention) not in keys)
    focus = [i for i, track in enumerate((*below, *above)) if _key(text, track.mention) in keys]
    html, _ = draw(text, low, high, below, above=above, focus=focus)
    lists = "".join(f"<div><h5>{title}</h5>\n{listed(text, side) or NOTHING}</div>\n" for title, side in near.items())
    return f'{html}<div class="pair">\n{lists}</div>'


def _window(text: str, mentions: Sequence[Mention], cuts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the range of some mentions' sentences, of very long ones the part around the mentions; trimmed."""
    start, end = min(mention.start for mention in mentions), max(mention.end for mention in mentions)
    starts = [low for low, _ in cuts]
    low = cuts[max(bisect_right(starts, start) - 1, 0)][0]
    high = cuts[max(bisect_right(starts, end - 1) - 1, 0)][1]
    low, high = max(low, _word_start(text, start - _REACH)), min(high, _word_start(text, end + _REACH))
    return max(low, start - len(text[low:start].lstrip())), min(high, end + len(text[end:high].rstrip()))


def _word_start(text: str, at: int) -> int:
    """Return the next offset after white space, if one is near."""
    at = min(max(at, 0), len(text))
    return next((i for i in range(at, min(at + 40, len(text))) if i == 0 or text[i - 1].isspace()), at)


def _key(text: str, mention: Mention) -> tuple[str, tuple[Span, ...]]:
    return mention.type, join_spans(text, mention.spans)
