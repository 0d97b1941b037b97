"""Self-contained HTML page of documents: no network, no script, no other file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from spanloom.document import Document
from spanloom.errors import plural
from spanloom.view.cells import shorten
from spanloom.view.layout import blocks
from spanloom.view.placement import Track, tracks, type_names
from spanloom.view.sentence import LABEL, draw, listed
from spanloom.view.style import css_string, kind_class, page
from spanloom.view.svg import clean

_LONGEST = 4_000  # characters of a paragraph that is not divided between two sentences
_GAP = 80  # characters before a sentence in which a blank line is looked for
_BLANK_LINE = re.compile(r"(?:\r\n|[\n\r])[ \t]*[\n\r\f]|\f")
_TITLE = 200


def to_html(documents: Sequence[Document], *, title: str = "Mentions", types: Sequence[str] | None = None) -> str:
    """Draw documents as one HTML page.

    The text is unchanged, in its paragraphs, and below it is one track a mention: a bar in the colour and pattern of
    its type under each component, a dashed line across each gap, a thicker bar under its head, and beside it type,
    score and concepts. Where a mention continues in the next line, the name of its type is repeated. Below a document
    its mentions are listed in words. Text is never read as HTML; control characters are shown as pictures.

    If more than 40 mentions would be below one another, or the drawing of a paragraph would be very large, the rest
    are only in the list of mentions, with a note.

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
    found = [tracks(document, names) for document in documents]
    counts = Counter(shorten(track.label, LABEL) for several in found for track in several)
    often = [label for label, number in counts.items() if number > 2 and label.isprintable() and label not in names]
    labels = {label: f"l{number}" for number, label in enumerate(often)}
    for number, (document, several) in enumerate(zip(documents, found, strict=True), 1):
        parts += _document(number, document, several, labels)
    style = "".join(f".{name}{{--m:{css_string(label)}}}" for label, name in labels.items()) + "\n"
    return page(clean(title), "".join(parts), types=names, style=style)


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


def _document(number: int, document: Document, found: Sequence[Track], labels: Mapping[str, str]) -> Iterator[str]:
    yield f'<section id="d{number}" class="s">\n<h2><bdi>{_heading(number, document)}</bdi></h2>\n'
    for low, high, reaching in _visible_paragraphs(document, found):
        drawing = draw(document.text, low, high, reaching, labels=labels)
        yield drawing.html
        if drawing.left_out:
            yield f'<p class="faint">{plural(drawing.left_out, "mention")} more than can be drawn: see the list.</p>\n'
    yield f"{listed(document.text, found)}</section>\n"


def _paragraphs(document: Document) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text between blank lines; very long ones are divided between sentences."""
    text, first, end = document.text, 0, 0
    for low, high in blocks(document):
        gap = text[max(first, low - _GAP) : low]
        if low > first and (low - first > _LONGEST or _BLANK_LINE.search(gap, len(gap.rstrip()))):
            yield first, low
            first = low
        end = high
    yield first, end


def _visible_paragraphs(document: Document, found: Sequence[Track]) -> list[tuple[int, int, list[Track]]]:
    """Return paragraphs with the tracks in them, without blank ones and white space around.

    White space in a mention is kept, and an empty part with one, so that a document without text lists its mentions.
    """
    text, result = document.text, []
    waiting, active = 0, list[Track]()
    parts = list(_paragraphs(document))
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
