"""Tracks: the drawn form of mentions in all media, with spans, head, name and type."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spanloom.document import Document, Mention, Span
from spanloom.document.span import join_spans
from spanloom.view.cells import shorten, visible, width
from spanloom.view.svg import clean

LONG = 300  # cells of a mention's words, and of whatever else is written out


@dataclass(frozen=True, slots=True)
class Track:
    """A mention to draw.

    Args:
        spans: in text order, inside the text, not empty; those that only white space separates are one.
        head: the mention's head; only the part in a span is drawn.
        label: the text beside the mention.
        kind: the number of its type, which decides its colour.
        mention: the mention in the document.
    """

    spans: tuple[Span, ...]
    head: Span | None
    label: str
    kind: int
    mention: Mention

    @property
    def start(self) -> int:
        """The first character of the first span."""
        return self.spans[0].start

    @property
    def end(self) -> int:
        """The end of the last span."""
        return self.spans[-1].end

    def covers(self, offset: int) -> bool:
        """Return whether a character is in a span, and not in a gap or outside."""
        at = bisect_right(self.spans, offset, key=lambda span: span.start) - 1
        return at >= 0 and offset < self.spans[at].end

    def is_head(self, offset: int) -> bool:
        """Return whether a character is in the head, and in a span."""
        return self.head is not None and self.head.start <= offset < self.head.end and self.covers(offset)


def type_names(documents: Iterable[Document], types: Sequence[str] | None = None) -> list[str]:
    """Return the types in the order of their colours: those given, then the documents' others, sorted.

    >>> document = Document("pain", mentions=[Mention("problem", [(0, 4)]), Mention("part", [(0, 4)])])
    >>> type_names([document], ["test"])
    ['test', 'part', 'problem']
    """
    names = list(dict.fromkeys(types or ()))
    return names + sorted({mention.type for document in documents for mention in document.mentions} - set(names))


def tracks(document: Document, names: Sequence[str]) -> list[Track]:
    """Return the tracks of a document, in text order.

    Args:
        document: the document; offsets outside the text are moved to its ends.
        names: all types, in the order of `type_names`.
    """
    number = {name: i for i, name in enumerate(names)}
    size = max(len(document.text), 1)
    found = [
        Track(
            join_spans(document.text, _inside(mention.spans, size)),
            mention.head,
            label(mention),
            number[mention.type],
            mention,
        )
        for mention in document.mentions
    ]
    return sorted(found, key=lambda track: (track.start, track.end, track.spans, track.label))


def label(mention: Mention) -> str:
    """Return the label of a mention: type, attributes that are not false, score in percent, concepts.

    >>> label(Mention("problem", [(0, 4)], score=0.973, concepts=("C0030193",)))
    'problem 97% C0030193'
    >>> label(Mention("problem", [(0, 4)], score=0.973, attributes={"negated": True, "past": False, "course": "acute"}))
    'problem · negated · course acute 97%'
    """
    score = () if mention.score is None else (f"{mention.score:.0%}",)
    text = "".join(visible(char) for char in " ".join((asserted(mention), *score, *mention.concepts)))
    return text if width(text[:1] or "a") else "◌" + text  # a combining character needs something to combine with


def asserted(mention: Mention) -> str:
    """Return the type of a mention with its attributes that are not false."""
    given = (f" · {k}" if v is True else f" · {k} {v}" for k, v in mention.attributes.items() if v is not False)
    return "".join((mention.type, *given)) if mention.attributes else mention.type


def surface(text: str, mention: Mention) -> str:
    """Return the words of a mention, with a mark for each gap, shortened.

    >>> surface("infarctions or embolic", Mention("problem", [(0, 11), (15, 22)]))
    'infarctions … embolic'
    """
    spans = mention.spans[:LONG]
    return shorten(clean(" … ".join(text[start : min(end, start + 8 * LONG)] for start, end in spans)), LONG)


def describe(text: str, track: Track) -> str:
    """Describe a mention in one line: its label, its words, its head."""
    words = "" if track.head is None else f" (head: {head_words(text, track.head)})"
    return f"{shorten(clean(track.label), LONG)}: {surface(text, track.mention)}{words}"


def head_words(text: str, head: Span) -> str:
    """Return the words of a head, shortened."""
    return shorten(clean(text[head.start : head.end][: 8 * LONG]), LONG)


def _inside(spans: Sequence[Span], size: int) -> tuple[Span, ...]:
    """Return spans moved into a text of ``size`` characters, not empty, sorted."""
    starts = [min(max(span.start, 0), size - 1) for span in spans]
    return tuple(
        sorted(Span(start, min(max(span.end, start + 1), size)) for start, span in zip(starts, spans, strict=True))
    )
