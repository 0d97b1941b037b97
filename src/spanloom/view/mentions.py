"""Drawing of a sentence's mentions as SVG: one track a mention, dashed across gaps, its type at the left."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from xml.etree import ElementTree

from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.view import svg
from spanloom.view.layout import blocks
from spanloom.view.picture import to_svg
from spanloom.view.svg import Element, number

Ranges = tuple[tuple[int, int], ...]

_SPACE = 10.0  # between words
_TRACK = 22.0  # from track to track
_FIRST = 40.0  # the middle of the first track
_MARGIN = 16.0
_TICK = 5.0  # height of the ends of a component

_STYLE = """
.spanloom .mention path { stroke-width: 2; }
.spanloom .mention .gap { stroke-width: 1.4; stroke-dasharray: 3 4; }
.spanloom .type text { text-anchor: start; }
"""


def draw_mentions(
    words: Sequence[str], mentions: Sequence[tuple[str, Ranges]], *, title: str = "Mentions of a sentence"
) -> str:
    """Draw the mentions of one sentence, in their order in the list.

    Args:
        words: T.
        mentions: type, and ranges of tokens, half-open and in text order.
        title: a description of the drawing for screen readers.

    Returns:
        One SVG element, the same for the same arguments, for light and dark pages and for print. Each mention is a
        group of class ``mention`` whose title is its type and its words.

    Raises:
        UsageError: a range is empty, outside the sentence, or not after the one before.

    >>> words = "infarctions either watershed or embolic".split()
    >>> drawing = draw_mentions(words, [("problem", ((0, 1), (2, 3))), ("problem", ((0, 1), (4, 5)))])
    >>> drawing.count('class="gap"'), "problem: infarctions ... embolic" in drawing
    (2, True)
    """
    for kind, ranges in mentions:
        _check(kind, ranges, len(words))
    left = _MARGIN + max((svg.width(kind) + 2 * _SPACE for kind, _ in mentions), default=0.0)
    bounds, right = [], left
    for text in words:
        bounds.append((right, right + svg.width(text)))
        right += svg.width(text) + _SPACE
    texts = (" ... ".join(" ".join(words[first:end]) for first, end in ranges) for _, ranges in mentions)
    names = [f"{kind}: {text}" for (kind, _), text in zip(mentions, texts, strict=True)]
    height = _FIRST + _TRACK * max(len(mentions) - 1, 0) + _MARGIN
    root = svg.canvas(right - _SPACE + _MARGIN if words else right + _MARGIN, height, title, "; ".join(names), _STYLE)
    for text, (low, high) in zip(words, bounds, strict=True):
        svg.word(root, text, (low + high) / 2, _MARGIN, **{"class": "word"})
    for i, ((kind, ranges), name) in enumerate(zip(mentions, names, strict=True)):
        pieces = [(bounds[first][0], bounds[end - 1][1]) for first, end in ranges]
        _draw(root, kind, name, pieces, _FIRST + i * _TRACK)
    return svg.render(root)


def _check(kind: str, ranges: Ranges, length: int) -> None:
    borders = [border for piece in ranges for border in piece]
    ordered = all(low < high for low, high in ranges) and all(low <= high for low, high in pairwise(borders))
    if not ranges or not ordered or borders[0] < 0 or borders[-1] > length:
        raise UsageError(
            f"found a mention {kind!r} with ranges {ranges}, expected ranges in order, not empty, of {length} tokens"
        )


def _draw(root: Element, kind: str, name: str, pieces: Sequence[tuple[float, float]], y: float) -> None:
    group = ElementTree.SubElement(root, "g", {"class": "mention"})
    svg.write(group, "title", name)
    svg.word(group, kind, _MARGIN, y + 4, **{"class": "type"})
    for low, high in pieces:
        top = number(y - _TICK)
        way = f"M {number(low)} {top} V {number(y)} H {number(high)} V {top}"
        ElementTree.SubElement(group, "path", {"d": way})
    for (_, end), (first, _) in pairwise(pieces):
        ElementTree.SubElement(group, "path", {"d": f"M {number(end)} {number(y)} H {number(first)}", "class": "gap"})


# Notebook display of documents: the drawing of `to_svg`, as wide as a cell of the notebook.

LONGEST = 20_000  # characters that are drawn
_WIDTH = 100  # columns


def drawing(document: Document) -> str:
    """Return HTML of a document: its drawing, which scrolls if it is wider than the page.

    Of a very long document the first sentences are drawn, with a note. Text is never read as HTML.

    >>> from spanloom.document import Mention
    >>> html = drawing(Document("pain <b>", mentions=[Mention("problem", [(0, 4)])]))
    >>> "problem: pain" in html, "<b>" in html
    (True, False)
    """
    shown, note = document, ""
    if len(document.text) > LONGEST:
        ends = [end for _, end in blocks(document)]
        end = ends[max(0, bisect_right(ends, LONGEST) - 1)]
        end = end if end <= LONGEST else LONGEST
        shown = Document(
            document.text[:end], document.id, mentions=[mention for mention in document.mentions if mention.end <= end]
        )
        note = f"<p>The first {end:,} of {len(document.text):,} characters; spanloom.view.to_html draws them all.</p>"
    picture = to_svg([shown], width=_WIDTH, title=document.id or "Mentions")
    return f'<div style="overflow-x: auto">{picture}</div>{note}'
