"""Notebook display of documents: the drawing of `to_svg`, as wide as a cell of the notebook."""

from __future__ import annotations

from bisect import bisect_right

from spanloom.document import Document
from spanloom.view.layout import blocks
from spanloom.view.picture import to_svg

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
