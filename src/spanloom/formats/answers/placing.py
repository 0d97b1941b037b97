"""Conversion of quotes to mentions, by their offsets, their context and their number, and the report on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from spanloom.document import Mention, Span
from spanloom.document.annotation import STATUSES
from spanloom.document.validate import Problem
from spanloom.errors import DataError, UsageError, clip, plural
from spanloom.formats.answers.finding import MOST, Finder, Occurrences, Spans, fold
from spanloom.formats.answers.json_quotes import Quote, Quotes
from spanloom.formats.answers.parsing import Copy

Ambiguous = Literal["all", "first", "none"]
AMBIGUOUS: Final[tuple[Ambiguous, ...]] = ("all", "first", "none")
ANNOTATION: Final = STATUSES
"""Values of ``meta["annotation"]``: all mentions are there; these are right, others may be missing; unknown."""
_LONGEST_TYPE: Final = 100  # characters
_NO_TYPE: Final = "has no type; name one for all that have none (--type NAME, type=)"

_Key = tuple[str, tuple[str, ...], str | None]  # type, text, and the context if it reduces the occurrences
ReportProblem = Callable[[str, str, str], None]
"""Receives a problem of an answer: its kind, its place in the answer, and the message."""


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How answers are read.

    Args:
        type: the type of mentions that have none, as in ``**..**``.
        ambiguous: which occurrences are marked of a quote that occurs in the document more often than in the answer:
            ``all``, the ``first`` (as many as in the answer), or ``none``.
        annotation: the value of ``meta["annotation"]``.

    Raises:
        UsageError: a value that is invalid.
    """

    type: str | None = None
    ambiguous: Ambiguous = "all"
    annotation: str = "at-least"

    def __post_init__(self) -> None:
        if self.ambiguous not in AMBIGUOUS:
            raise UsageError(f"ambiguous is {self.ambiguous!r}, expected one of: {', '.join(AMBIGUOUS)}")
        if self.annotation not in ANNOTATION:
            raise UsageError(f"annotation is {self.annotation!r}, expected one of: {', '.join(ANNOTATION)}")
        if self.type is not None and not (self.type.strip() and self.type.isprintable()):
            raise UsageError(f"type is {self.type!r}, expected the name of a type")


@dataclass(slots=True)
class AnswerReport:
    """Counts of answers and their quotes, each quote counted once, and all problems.

    Args:
        documents: documents with an answer that could be read.
        mentions: mentions in them.
        exact: quotes that are in their document verbatim.
        folded: quotes that match after folding white space, quotation marks, dashes, Unicode forms or case.
        inside_words: quotes that begin or end inside a word.
        ambiguous: quotes that occur in the document more often than in the answer.
        repeated: quotes that occur in the answer more often than in the document.
        invented: quotes that are not in the document.
        unusable: mentions without a text or a type.
        wrong_offsets: quotes whose offsets were wrong; they are counted above by their text, too.
        cut_short: incomplete answers.
        unreadable: answers that could not be read.
        without_answer: documents without an answer; they are left out.
        without_document: answers without a document.
        problems: all that was not exact, folded or repeated, in the order in which it was found, with its place.

    >>> report = AnswerReport(documents=1, mentions=2, exact=2, invented=1)
    >>> report.quotes, str(report)
    (3, '1 document, 2 mentions; 3 quotes: 2 exact, 1 invented')
    """

    documents: int = 0
    mentions: int = 0
    exact: int = 0
    folded: int = 0
    inside_words: int = 0
    ambiguous: int = 0
    repeated: int = 0
    invented: int = 0
    unusable: int = 0
    wrong_offsets: int = 0
    cut_short: int = 0
    unreadable: int = 0
    without_answer: int = 0
    without_document: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def found(self) -> int:
        """Quotes that are in their document."""
        return self.exact + self.folded + self.inside_words + self.ambiguous + self.repeated

    @property
    def quotes(self) -> int:
        """All quotes of the answers."""
        return self.found + self.invented + self.unusable

    def __str__(self) -> str:
        kinds = (
            (self.exact, "exact"), (self.folded, "after folding"), (self.inside_words, "inside a word"),
            (self.ambiguous, "ambiguous"), (self.repeated, "given more often than they occur"),
            (self.invented, "invented"), (self.unusable, "without text or type"),
        )  # fmt: skip
        others = (
            (self.wrong_offsets, "quote", "with wrong offsets"), (self.cut_short, "answer", "cut short"),
            (self.unreadable, "answer", "that could not be read"),
            (self.without_answer, "document", "without an answer"),
            (self.without_document, "answer", "without a document"),
        )  # fmt: skip
        of_quotes = ", ".join(f"{count:,} {kind}" for count, kind in kinds if count)
        parts = [f"{plural(self.documents, 'document')}, {plural(self.mentions, 'mention')}"]
        parts.append(plural(self.quotes, "quote") + (f": {of_quotes}" if of_quotes else ""))
        return "; ".join((*parts, *(f"{plural(count, noun)} {rest}" for count, noun, rest in others if count)))


class Placer:
    """Places the quotes of one answer, and counts them.

    Args:
        finder: of the document.
        report: where quotes are counted.
        report_problem: called with each problem.
        settings: the type of quotes without one, and which occurrences of ambiguous quotes are used.

    >>> report = AnswerReport()
    >>> placer = Placer(Finder("No pain. Pain in the chest."), report, print, AnswerSettings(ambiguous="first"))
    >>> placer.place_all(Quotes([Quote("problem", ("pain",)), Quote("site", ("thorax",))], []))
    invented  'thorax' is not in the document; left out
    [Mention('problem', [(3, 7)])]
    """

    def __init__(
        self, finder: Finder, report: AnswerReport, report_problem: ReportProblem, settings: AnswerSettings
    ) -> None:
        self._finder, self._report, self._report_problem, self._settings = finder, report, report_problem, settings
        self._mentions: dict[tuple[str, Spans], Mention] = {}
        self._groups: dict[_Key, tuple[Occurrences, list[str]]] = {}  # with the places of the quotes in the answer

    def place_all(self, answer: Quotes | Copy) -> list[Mention]:
        """Return the mentions of an answer, in text order.

        Raises:
            DataError: a marked copy has a mark without a type, and no type is given.
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
            kept = [number for number, part in enumerate(quote.parts) if part.strip()]  # with their offsets
            parts = tuple(quote.parts[number].strip() for number in kept)
            if (kind := self._kind(quote.type, quote.place, parts)) is not None:
                offsets = None if quote.offsets is None else tuple(quote.offsets[number] for number in kept)
                self._place(kind, replace(quote, parts=parts, offsets=offsets))
        for key, (found, places) in self._groups.items():
            self._place_group(key, found, places)

    def _kind(self, name: str | None, place: str, parts: Sequence[str]) -> str | None:
        """Return the type of a quote; ``None``, with a problem, if it cannot be used."""
        kind = " ".join((name if name is not None and name.strip() else self._settings.type or "").split())
        if not parts:
            self._unusable(place, "has no text; left out")
        elif not kind:
            self._unusable(place, f"{_shown(parts)} {_NO_TYPE}")
        elif len(kind) > _LONGEST_TYPE or not kind.isprintable():
            self._unusable(place, f"{_shown(parts)} has the type {clip(kind)}, expected a name; left out")
        else:
            return kind
        return None

    def _unusable(self, place: str, message: str) -> None:
        self._report.unusable += 1
        self._report_problem("unusable", place, message)

    def _place(self, kind: str, quote: Quote) -> None:
        if quote.offsets is not None:
            if (found := self._at_offsets(quote.offsets, quote.parts)) is not None:
                self._take(kind, found, quote.place, quote.parts)
                return
            self._report.wrong_offsets += 1
            pairs = ", ".join(f"{start}-{end}" for start, end in quote.offsets)
            self._report_problem("wrong offsets", quote.place, f"{_shown(quote.parts)} is not at {pairs}")
        if (found := self._finder.find_parts(quote.parts)) is None:
            self._invented(quote.place, quote.parts)
        else:
            inside = self._in_context(found, quote)
            key = kind, quote.parts, None if inside is None else quote.context
            self._groups.setdefault(key, (inside or found, []))[1].append(quote.place)

    def _at_offsets(self, offsets: Sequence[tuple[int, int]], parts: Sequence[str]) -> Occurrences | None:
        """Return the occurrence at the offsets of a quote, if the folded texts are equal."""
        text = self._finder.text
        ends = [0, *(place for pair in offsets for place in pair), len(text)]
        if ends != sorted(ends) or any(start == end for start, end in offsets):
            return None
        spans, exact = list[Span](), True
        for (start, end), part in zip(offsets, parts, strict=True):
            piece = text[start:end]
            if fold(piece, case=True).text.strip() != fold(part, case=True).text.strip():
                return None
            first = start + len(piece) - len(piece.lstrip())
            spans.append(Span(first, first + len(piece.strip())))
            exact &= piece.strip() == part
        return Occurrences([tuple(spans)], exact)

    def _in_context(self, found: Occurrences, quote: Quote) -> Occurrences | None:
        """Return the occurrences within the context of a quote; ``None`` if it does not reduce them."""
        if quote.context is None or len(found.spans) == 1:
            return None
        if (context := self._finder.find_parts([quote.context])) is None:
            self._report_problem("context", quote.place, f"the context {clip(quote.context)} is not in the document")
            return None
        around = [(one[0].start, one[-1].end) for one in context.spans]
        spans = [one for one in found.spans if any(a <= one[0].start and one[-1].end <= b for a, b in around)]
        if not spans:
            message = f"{_shown(quote.parts)} is not in its context {clip(quote.context)}"
            self._report_problem("context", quote.place, message)
        return found._replace(spans=spans) if spans else None

    def _place_group(self, key: _Key, found: Occurrences, places: Sequence[str]) -> None:
        """Add the occurrences of quotes that are alike, as many as there are quotes if possible."""
        (kind, parts, context), given = key, len(places)
        if not found.too_many and len(found.spans) <= given:
            self._report.repeated += given - len(found.spans)
            for place, spans in zip(places, found.spans, strict=False):
                self._take(kind, found._replace(spans=[spans]), place, parts)
            return
        self._report.ambiguous += given
        if found.too_many:
            message = f"{_shown(parts)} occurs more than {MOST:,} times in the document; left out"
        else:
            for spans in {"all": found.spans, "first": found.spans[:given], "none": []}[self._settings.ambiguous]:
                self._add(kind, spans)
            first = "the first is marked" if given == 1 else f"the first {given} marked"
            done = {"all": "all are marked", "first": first, "none": "left out"}[self._settings.ambiguous]
            times = "once" if given == 1 else plural(given, "time")
            count = f"{len(found.spans):,} times in the {'document' if context is None else 'context'}"
            message = f"{_shown(parts)} occurs {count}, {times} in the answer; {done}"
        self._report_problem("ambiguous", places[0], message)

    def _take(self, kind: str, found: Occurrences, place: str, parts: Sequence[str]) -> None:
        """Add the only occurrence of a quote, and count it."""
        if not self._add(kind, found.spans[0]):
            self._report.repeated += 1
        elif not found.whole:
            self._report.inside_words += 1
            start, end = found.spans[0][0].start, found.spans[0][-1].end
            around = self._finder.text[max(0, start - 10) : end + 10]
            self._report_problem("inside a word", place, f"{_shown(parts)} is inside a word: {clip(around)}; marked")
        elif found.exact:
            self._report.exact += 1
        else:
            self._report.folded += 1

    def _add(self, kind: str, spans: Spans) -> bool:
        """Add a mention, and return whether it is new."""
        mention = Mention(kind, spans)
        return self._mentions.setdefault(mention.key, mention) is mention

    def _invented(self, place: str, parts: Sequence[str]) -> None:
        self._report.invented += 1
        self._report_problem("invented", place, f"{_shown(parts)} is not in the document; left out")

    def _place_marks(self, copy: Copy) -> None:
        marks = copy.marked.marks
        untyped = next((mark for mark in marks if mark.type is None), None)
        if self._settings.type is None and untyped is not None:
            raise DataError(f"the answer marks {clip(copy.quote(untyped))}, which {_NO_TYPE}")
        for stray in copy.marked.stray:
            self._unusable("", f"{stray}; left out")
        for number, mark in enumerate(marks, 1):
            place, quote = f"mark {number}", copy.quote(mark)
            if (kind := self._kind(mark.type, place, [quote] if quote else [])) is None:
                continue
            if (found := copy.find(mark)) is None:
                self._invented(place, [quote])
            else:
                self._place_group((kind, (quote,), None), found, [place])


def _shown(parts: Sequence[str]) -> str:
    return clip(" ... ".join(parts))
