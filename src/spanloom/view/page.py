"""Self-contained HTML page of documents: no network, no script, no other file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from spanloom.document import Document
from spanloom.errors import plural
from spanloom.view.cells import shorten
from spanloom.view.layout import blocks
from spanloom.view.sentence import draw, listed
from spanloom.view.style import kind_class, page
from spanloom.view.svg import clean
from spanloom.view.tracks import Track, tracks, type_names

SHORT = 60  # sentences of a document in which all stand open
_PEEK = 120  # cells of a folded sentence that are shown
_TITLE = 200


def to_html(documents: Sequence[Document], *, title: str = "Mentions", types: Sequence[str] | None = None) -> str:
    """Draw documents as one HTML page.

    The text is unchanged, and below it is one track a mention: a bar in the colour and pattern of its type under each
    component, a dashed line across each gap, a thicker bar under its head, and beside it type, score and concepts. A
    sentence (or a line of the text, if there are no sentences) can be folded; in a document of more than 60 those
    without mentions are. Text is never read as HTML; control characters are shown as pictures.

    Where more than 40 mentions would stand below one another in a sentence, or its drawing would be very large, the
    rest are only in the list of mentions below the sentence, with a note.

    Args:
        documents: the documents; offsets outside a text are drawn at its ends.
        title: the title of the page.
        types: all types, in the order of their colours; the documents' own, sorted, when ``None``.

    Returns:
        HTML, the same for the same arguments.

    >>> from spanloom.document import Mention
    >>> text = "infarctions either watershed or embolic"
    >>> mentions = [Mention("problem", [(0, 11), (19, 28)]), Mention("problem", [(0, 11), (32, 39)])]
    >>> html = to_html([Document(text, id="note 1", mentions=mentions)])
    >>> html.startswith("<!DOCTYPE html>"), "infarctions … embolic" in html
    (True, True)
    """
    names = type_names(documents, types)
    count = sum(len(document.mentions) for document in documents)
    parts = [f"<header>\n<h1>{_plain(title)}</h1>\n"]
    parts.append(f'<p class="faint">{plural(len(documents), "document")}, {plural(count, "mention")}</p>\n')
    parts += [legend(documents, names), "</header>\n", _contents(documents)]
    for number, document in enumerate(documents, 1):
        parts += _document(number, document, names)
    return page(clean(title), "".join(parts), kinds=len(names))


def legend(documents: Sequence[Document], names: Sequence[str]) -> str:
    """Return the legend: types with colours and counts, and the meaning of the bars."""
    if not names:
        return ""
    counts = Counter(mention.type for document in documents for mention in document.mentions)
    items = "".join(
        f'<li><i class="k {kind_class(i)}"></i> <bdi>{_plain(name)}</bdi> '
        f'<span class="faint">{counts[name]:,}</span></li>\n'
        for i, name in enumerate(names)
    )
    return (
        f'<ul class="kinds">\n{items}</ul>\n'
        '<p class="faint">A thick bar is the head of a mention, a dashed line a gap.</p>\n'
    )


def _plain(text: str) -> str:
    return escape(shorten(clean(text), _TITLE))


def _heading(number: int, document: Document) -> str:
    return _plain(document.id) if document.id else f"Document {number}"


def _contents(documents: Sequence[Document]) -> str:
    if len(documents) < 2:
        return ""
    items = "".join(
        f'<li><a href="#d{number}"><bdi>{_heading(number, document)}</bdi></a> '
        f'<span class="faint">{len(document.mentions):,}</span></li>\n'
        for number, document in enumerate(documents, 1)
    )
    return f"<nav><details><summary>Contents</summary>\n<ol>\n{items}</ol></details></nav>\n"


def _document(number: int, document: Document, names: Sequence[str]) -> Iterator[str]:
    yield f'<section id="d{number}">\n<h2><bdi>{_heading(number, document)}</bdi></h2>\n'
    found = tracks(document, names)
    parts = _visible_blocks(document, found)
    for place, (low, high, reaching) in enumerate(parts, 1):
        yield _sentence(document.text, low, high, reaching, place, f"d{number}s{place}", len(parts) <= SHORT)
    yield "</section>\n"


def _visible_blocks(document: Document, found: Sequence[Track]) -> list[tuple[int, int, list[Track]]]:
    """Return sentences with the tracks in them, without blank sentences and white space around.

    White space in a mention is kept, and an empty block with one, so that a document without text lists its mentions.
    """
    text, result = document.text, []
    waiting, active = 0, list[Track]()
    parts = blocks(document)
    for low, high in parts:
        while waiting < len(found) and found[waiting].start < high:
            active.append(found[waiting])
            waiting += 1
        if high == parts[-1][1]:
            active += found[waiting:]
            waiting = len(found)
        active = [track for track in active if track.end > low]
        part = text[low:high]
        first = low + len(part) - len(part.lstrip("\n\r")) if part.strip() else high
        last = low + len(part.rstrip())
        if active:
            first = min(first, max(low, min(track.start for track in active)))
            last = max(last, min(high, max(track.end for track in active)))
        if first < last or active:
            result.append((first, max(first, last), list(active)))
    return result


def _sentence(text: str, low: int, high: int, found: list[Track], place: int, name: str, short: bool) -> str:
    drawing = draw(text, low, high, found)
    own = [track for track in found if track.start >= low]
    more = f'<p class="faint">{plural(drawing.left_out, "mention")} more than can be drawn: see the list.</p>\n'
    peek = " ".join(text[low : low + 4 * _PEEK].split())
    return (
        f'<details class="s" id="{name}"{" open" if short or found else ""}><summary>{place:,} '
        f'<bdi class="peek">{escape(shorten(clean(peek), _PEEK))}</bdi></summary>\n'
        f"{drawing.html}{more if drawing.left_out else ''}{listed(text, own)}</details>\n"
    )
