"""Quotes as mentions: where each stands, by its offsets, its context, and how often the answer gives it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple

from spanloom.document import Mention, Span
from spanloom.errors import DataError, clip, plural
from spanloom.formats.answers.copies import Copy
from spanloom.formats.answers.finding import MOST, Finder, Occurrences
from spanloom.formats.answers.folded import fold
from spanloom.formats.answers.json_quotes import Quote, Quotes
from spanloom.formats.answers.report import AnswerReport, Tell
from spanloom.formats.answers.tags import Mark

Ambiguous = Literal["all", "first", "none"]
AMBIGUOUS: Final[tuple[Ambiguous, ...]] = ("all", "first", "none")
_LONGEST_TYPE: Final = 100  # characters
_NO_TYPE: Final = "has no type; name one for all that have none (--type NAME, type=)"

Spans = tuple[Span, ...]


class _Key(NamedTuple):
    """What quotes are alike in that only their number places: type and text, and the context if it helps."""

    type: str
    parts: tuple[str, ...]
    context: str | None = None


@dataclass(slots=True)
class _Group:
    """Quotes that are alike: where they may stand, and their places in the answer."""

    occurrences: Occurrences
    places: list[str] = field(default_factory=list)


class Placer:
    """Places the quotes of one answer, and counts them.

    Args:
        finder: of the document.
        report: where quotes are counted.
        tell: called with each problem.
        type: of quotes that have none.
        ambiguous: which occurrences are taken of a quote that stands there more often than the answer gives it.

    >>> report = AnswerReport()
    >>> placer = Placer(Finder("No pain. Pain in the chest."), report, print, ambiguous="first")
    >>> placer.place_all(Quotes([Quote("problem", ("pain",)), Quote("site", ("thorax",))], []))
    invented  'thorax' is not in the document; left out
    [Mention('problem', [(3, 7)])]
    """

    def __init__(
        self, finder: Finder, report: AnswerReport, tell: Tell, *, type: str | None = None, ambiguous: Ambiguous = "all"
    ) -> None:
        self._finder = finder
        self._report = report
        self._tell = tell
        self._type = type
        self._ambiguous: Ambiguous = ambiguous
        self._mentions: dict[tuple[str, Spans], Mention] = {}
        self._groups: dict[_Key, _Group] = {}

    def place_all(self, answer: Quotes | Copy) -> list[Mention]:
        """Return the mentions of an answer, in text order.

        Raises:
            DataError: a marked copy that names no type, where none is given.
        """
        if isinstance(answer, Quotes):
            self._place_quotes(answer)
        else:
            self._place_marks(answer)
        return sorted(self._mentions.values(), key=lambda mention: (mention.spans, mention.type))

    def _place_quotes(self, quotes: Quotes) -> None:
        for place in quotes.odd:
            self._unusable(place, "is no mention with a text and a type; left out")
        for quote in quotes.found:
            parts = tuple(part.strip() for part in quote.parts if part.strip())
            kind = self._kind(quote.type, quote.place, parts)
            if kind is not None:
                self._place(kind, replace(quote, parts=parts))
        for key, group in self._groups.items():
            self._place_group(key, group)

    def _kind(self, name: str | None, place: str, parts: Sequence[str]) -> str | None:
        """Return the type of a quote; ``None`` if it cannot be used, which is told."""
        shown = clip(" ... ".join(parts))
        kind = " ".join((name if name is not None and name.strip() else self._type or "").split())
        if not parts:
            self._unusable(place, "has no text; left out")
        elif not kind:
            self._unusable(place, f"{shown} {_NO_TYPE}")
        elif len(kind) > _LONGEST_TYPE or not kind.isprintable():
            self._unusable(place, f"{shown} has the type {clip(kind)}, expected a name; left out")
        else:
            return kind
        return None

    def _unusable(self, place: str, message: str) -> None:
        self._report.unusable += 1
        self._tell("unusable", place, message)

    def _place(self, kind: str, quote: Quote) -> None:
        if quote.offsets is not None:
            spans = self._at_offsets(quote)
            if spans is not None:
                exact = all(
                    self._finder.text[slice(*span)] == part for span, part in zip(spans, quote.parts, strict=True)
                )
                self._take(kind, Occurrences([spans], exact), quote.place, quote.parts)
                return
            self._report.wrong_offsets += 1
            self._tell("wrong offsets", quote.place, f"{_shown(quote.parts)} does not stand at {_pairs(quote)}")
        found = self._finder.find_parts(quote.parts)
        if found is None:
            self._invented(quote.place, quote.parts)
        else:
            inside = self._in_context(found, quote)
            key = _Key(kind, quote.parts, None if inside is None else quote.context)
            self._groups.setdefault(key, _Group(inside or found)).places.append(quote.place)

    def _at_offsets(self, quote: Quote) -> Spans | None:
        """Return the spans at a quote's offsets, if they hold what it quotes."""
        text = self._finder.text
        spans = tuple(Span(*pair) for pair in quote.offsets or ())
        ends = [0, *(place for span in spans for place in span), len(text)]
        if ends != sorted(ends) or any(span.start == span.end for span in spans):
            return None
        same = all(_fold(text[slice(*span)]) == _fold(part) for span, part in zip(spans, quote.parts, strict=True))
        return tuple(_trimmed(text, span) for span in spans) if same else None

    def _in_context(self, found: Occurrences, quote: Quote) -> Occurrences | None:
        """Return the occurrences within a quote's context; ``None`` if they are not fewer for it."""
        if quote.context is None or len(found.spans) == 1:
            return None
        context = self._finder.find_parts([quote.context])
        if context is None:
            self._tell("context", quote.place, f"the context {clip(quote.context)} is not in the document")
            return None
        around = [(one[0].start, one[-1].end) for one in context.spans]
        spans = [one for one in found.spans if any(a <= one[0].start and one[-1].end <= b for a, b in around)]
        if not spans:
            self._tell("context", quote.place, f"{_shown(quote.parts)} is not in its context {clip(quote.context)}")
            return None
        return found._replace(spans=spans)

    def _place_group(self, key: _Key, group: _Group) -> None:
        kind, parts = key.type, key.parts
        found, given = group.occurrences, len(group.places)
        if found.too_many:
            self._report.ambiguous += given
            message = f"{_shown(parts)} stands more than {MOST:,} times in the document; left out"
            self._tell("ambiguous", group.places[0], message)
            return
        if len(found.spans) <= given:
            self._report.repeated += given - len(found.spans)
            for number, spans in enumerate(found.spans):
                self._take(kind, found._replace(spans=[spans]), group.places[number], parts)
            return
        chosen = {"all": found.spans, "first": found.spans[:given], "none": []}[self._ambiguous]
        for spans in chosen:
            self._add(kind, spans)
        self._report.ambiguous += given
        done = {"all": "all are marked", "first": f"the first {given} marked", "none": "left out"}[self._ambiguous]
        done = "the first is marked" if done == "the first 1 marked" else done
        where = "document" if key.context is None else "context"
        count = f"{len(found.spans):,} times in the {where}, {_times(given)} in the answer"
        self._tell("ambiguous", group.places[0], f"{_shown(parts)} stands {count}; {done}")

    def _take(self, kind: str, found: Occurrences, place: str, parts: Sequence[str]) -> None:
        """Add the one occurrence of a quote, and count it."""
        if not self._add(kind, found.spans[0]):
            self._report.repeated += 1
        elif not found.whole:
            self._report.inside_words += 1
            start, end = found.spans[0][0].start, found.spans[0][-1].end
            around = self._finder.text[max(0, start - 10) : end + 10]
            self._tell("inside a word", place, f"{_shown(parts)} stands inside a word: {clip(around)}; marked")
        elif found.exact:
            self._report.exact += 1
        else:
            self._report.folded += 1

    def _add(self, kind: str, spans: Spans) -> bool:
        """Add a mention; whether it is new."""
        mention = Mention(kind, spans)
        return self._mentions.setdefault(mention.key, mention) is mention

    def _invented(self, place: str, parts: Sequence[str]) -> None:
        self._report.invented += 1
        self._tell("invented", place, f"{_shown(parts)} is not in the document; left out")

    def _place_marks(self, copy: Copy) -> None:
        marks = copy.marked.marks
        if self._type is None and any(mark.type is None for mark in marks):
            raise DataError(f"the answer marks {clip(copy.quote(_untyped(marks)))}, which {_NO_TYPE}")
        for stray in copy.marked.stray:
            self._unusable("", f"{stray}; left out")
        for number, mark in enumerate(marks):
            place, quote = f"mark {number + 1}", copy.quote(mark)
            kind = self._kind(mark.type, place, [quote] if quote else [])
            if kind is None:
                continue
            found = copy.find(mark)
            if found is None:
                self._invented(place, [quote])
            elif len(found.spans) == 1:
                self._take(kind, found, place, [quote])
            else:
                self._place_group(_Key(kind, (quote,)), _Group(found, [place]))


def _untyped(marks: Iterable[Mark]) -> Mark:
    return next(mark for mark in marks if mark.type is None)


def _fold(text: str) -> str:
    return fold(text, case=True).text.strip()


def _trimmed(text: str, span: Span) -> Span:
    """Return a span without white space at its ends."""
    piece = text[slice(*span)]
    start = span.start + len(piece) - len(piece.lstrip())
    return Span(start, start + len(piece.strip()))


def _shown(parts: Sequence[str]) -> str:
    return clip(" ... ".join(parts))


def _pairs(quote: Quote) -> str:
    return ", ".join(f"{start}-{end}" for start, end in quote.offsets or ())


def _times(number: int) -> str:
    return "once" if number == 1 else plural(number, "time")
