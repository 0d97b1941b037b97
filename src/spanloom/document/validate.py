"""Validation of documents: errors that make a document invalid, and warnings for a person to read.

`find_errors` is the one definition of a valid document: the readers call it on their documents and raise
the first error; `validate` lists them all and adds the warnings.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from spanloom.document.annotation import claims_of, zones_of
from spanloom.document.counting import CountedText
from spanloom.document.document import Document, Offsets, named
from spanloom.document.span import Mention, Span
from spanloom.document.surfaces import beginning
from spanloom.errors import DataError, clip, one_line

SHOWN = 40  # characters of quoted text in a message


@dataclass(frozen=True, slots=True)
class Problem:
    """An error or a warning about a document.

    Args:
        severity: an ``"error"`` keeps the document from being read; a ``"warning"`` does not.
        kind: a short name to count by, such as ``"cuts a token"``.
        message: what was found, what was expected and what to do.
        place: the part of the document, such as ``"mention T3"`` or ``"tokens[7]"``.
        mention: the index of the mention in the document, if it is about one.
        path: the file, if there is one.
        line: the line in the file, counted from 1.
        altered: whether the document differs from the file, because something was repaired or left out.

    >>> str(Problem("error", "empty span", "span 5-5 is empty", "mention T3", path="a.ann", line=2))
    'a.ann:2: error: mention T3: span 5-5 is empty'
    """

    severity: Literal["error", "warning"]
    kind: str
    message: str
    place: str = ""
    mention: int | None = None
    path: str | None = None
    line: int | None = None
    altered: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", one_line(self.message))
        object.__setattr__(self, "place", one_line(self.place))

    def to_error(self) -> DataError:
        """Return the problem as an exception."""
        return DataError(": ".join(part for part in (self.place, self.message) if part), path=self.path, line=self.line)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        return ": ".join(part for part in (place, self.severity, self.place, self.message) if part)


def validate(document: Document) -> list[Problem]:
    """Return every problem of a document: errors first, then warnings. Tokens are not needed.

    >>> document = Document("mild pain", tokens=[[0, 4], [5, 9]])
    >>> document.mentions = [Mention("problem", [(0, 7)]), Mention("problem", [(5, 19)])]
    >>> for problem in validate(document):
    ...     print(problem)
    error: mentions[1]: span 5-19 is outside the text of 9 characters
    warning: mentions[0]: 'mild pa' ends inside the token 'pain'
    """
    errors = find_errors(document)
    broken = {problem.mention for problem in errors}
    sound = [(i, mention) for i, mention in enumerate(document.mentions) if i not in broken]
    warnings = [*_text_warnings(document), *_annotation_warnings(document), *_mention_warnings(document.text, sound)]
    tokens_are_sound = not any(problem.place.startswith(("tokens", "sentences")) for problem in errors)
    if document.tokens is not None and tokens_are_sound:
        warnings += _token_warnings(document, document.tokens, sound)
    return errors + sorted(warnings, key=lambda problem: -1 if problem.mention is None else problem.mention)


def find_errors(document: Document) -> list[Problem]:
    """Return the errors of a document: invalid offsets, order and lengths.

    >>> find_errors(Document("pain", tokens=[[0, 4], [3, 4]]))[0].message
    'token 3-4 starts before 4; tokens are in order and do not overlap'
    """
    problems = list(_text_errors(document.text))
    if document.tokens is not None:
        problems += _token_errors(document.tokens, len(document.text))
    if document.sentences is not None:
        problems += _sentence_errors(document.sentences, document.tokens)
    if document.columns:
        problems += _column_errors(document)
    if document.mentions:
        problems += _mentions_errors(document)
    for i, (name, (start, end)) in enumerate(document.sections):
        if not 0 <= start <= end <= len(document.text):
            message = f"section {start}-{end} is outside the text of {len(document.text)} characters, or ends first"
            problems.append(Problem("error", "section outside the text", message, f"sections[{i}]"))
        if not name:
            problems.append(Problem("error", "no name", "the name is empty; give it one", f"sections[{i}]"))
    return problems


def checked(document: Document, *places: str) -> Document:
    """Return a document after a check: of all of it, or of some places, such as ``tokens``.

    Raises:
        DataError: the first error.
    """
    for problem in find_errors(document):
        if problem.place.startswith(places or ("",)):
            raise DataError(f"{named(document)}: {problem.to_error().message}; run `spanloom validate`")
    return document


def _text_errors(text: str) -> Iterator[Problem]:
    if "\0" in text:
        message = f"NUL character at offset {text.index(chr(0))}; expected text: remove it, or convert UTF-16 to UTF-8"
        yield Problem("error", "NUL", message, "text")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            message = f"half of a surrogate pair at offset {error.start}; expected Unicode characters"
            yield Problem("error", "surrogate", message, "text")


def _token_errors(tokens: Offsets, length: int) -> Iterator[Problem]:
    flat = tokens.ravel()
    if not len(flat) or (
        flat[0] >= 0 and flat[-1] <= length and (flat[1:] >= flat[:-1]).all() and (flat[1::2] > flat[::2]).all()
    ):
        return
    for i, kind, message in _range_errors("token", tokens.tolist(), length, f"the text of {length} characters"):
        yield Problem("error", kind, message, f"tokens[{i}]")


def _sentence_errors(sentences: Offsets, tokens: Offsets | None) -> Iterator[Problem]:
    if tokens is None:
        message = "sentences are counted in tokens, but there are no tokens; give tokens or leave sentences out"
        yield Problem("error", "sentences without tokens", message, "sentences")
        return
    ranges, count = sentences.tolist(), len(tokens)
    for i, kind, message in _range_errors("sentence", ranges, count, f"the {count} tokens", gaps=False):
        yield Problem("error", kind, message, f"sentences[{i}]")
    last = ranges[-1][1] if ranges else 0
    if last < count:
        message = f"end at token {last}, expected {count}; sentences are in order and cover all tokens"
        yield Problem("error", "sentence order", message, "sentences")


def _range_errors(
    what: str, ranges: Iterable[tuple[int, int]], last: int, whole: str, gaps: bool = True
) -> Iterator[tuple[int, str, str]]:
    """Yield the number of each range that is invalid, the kind of error, and the message.

    Args:
        what: what the ranges are.
        ranges: start and end of each.
        last: the largest end.
        whole: what they are ranges of, in words.
        gaps: whether something may be between two of them.
    """
    previous = 0
    for i, (start, end) in enumerate(ranges):
        fault = None
        if start < 0 or end > last:
            fault = "outside", f"is outside {whole}"
        elif start >= end:
            fault = "empty", "is empty"
        elif start < previous:
            fault = "order", f"starts before {previous}; {what}s are in order and do not overlap"
        elif start > previous and not gaps:
            fault = "order", f"starts behind {previous}; {what}s are in order and cover everything"
        if fault is not None:
            yield i, f"{what} {fault[0]}", f"{what} {start}-{end} {fault[1]}"
        previous = max(previous, end)


def _column_errors(document: Document) -> Iterator[Problem]:
    if document.tokens is None:
        message = "columns hold one value for each token, but there are no tokens; give tokens or leave columns out"
        yield Problem("error", "columns without tokens", message, "columns")
        return
    for name, values in document.columns.items():
        given: object = values
        if isinstance(given, str | dict) or not hasattr(given, "__getitem__"):
            message = f"is {clip(repr(values))}, expected a list of texts"
            yield Problem("error", "column value", message, f"columns[{clip(str(name))}]")
            continue
        if len(values) != len(document.tokens):
            message = f"holds {len(values)} values, expected one for each of the {len(document.tokens)} tokens"
            yield Problem("error", "column length", message, f"columns[{clip(str(name))}]")
        if type(name) is str and set(map(type, values)) <= {str}:
            continue
        odd = next((value for value in (name, *values) if not isinstance(value, str)), None)
        if odd is not None:
            yield Problem("error", "column value", f"holds {odd!r}, expected texts", f"columns[{clip(str(name))}]")


def place_of(mention: Mention, index: int) -> str:
    """Return the name of a mention in messages: its identifier, else its index.

    >>> place_of(Mention("problem", [(0, 4)], id="T3"), 7)
    'mention T3'
    """
    return f"mentions[{index}]" if mention.id is None else f"mention {mention.id[:SHOWN]}"


def _mentions_errors(document: Document) -> Iterator[Problem]:
    seen: set[str] = set()
    units, length = CountedText(document.text), len(document.text)
    for i, mention in enumerate(document.mentions):
        if not _is_plain(mention, length):
            for kind, message in _mention_errors(mention, units):
                yield Problem("error", kind, message, place_of(mention, i), i)
        if mention.id is not None:
            if mention.id in seen:
                message = f"the identifier {clip(mention.id)} occurs twice; identifiers are unique in a document"
                yield Problem("error", "duplicate identifier", message, place_of(mention, i), i)
            seen.add(mention.id)


def _is_plain(mention: Mention, length: int) -> bool:
    """Return whether a mention is a type, a span in the text and perhaps a score or attributes, as most are."""
    if len(mention.spans) != 1 or mention.head is not None or mention.attribute_scores or mention.concept_scores:
        return False
    ((start, end),) = mention.spans
    return 0 <= start < end <= length and bool(mention.type) and (mention.score is None or 0.0 <= mention.score <= 1.0)


def _mention_errors(mention: Mention, units: CountedText) -> Iterator[tuple[str, str]]:
    length = len(units.text)
    for i, kind, message in _range_errors("span", mention.spans, length, f"the text of {length} characters"):
        yield kind, message + (units.hint(mention.spans[i][1]) if kind == "span outside" else "")
    if not mention.type:
        yield "no type", "the type is empty; give it a name"
    head = mention.head
    if head is not None and not (
        head.start < head.end
        and any(start <= head.start < end for start, end in mention.spans)
        and any(start < head.end <= end for start, end in mention.spans)
    ):
        yield "head", f"head {head.start}-{head.end} is empty or outside the mention's spans"
    if mention.score is not None and not 0.0 <= mention.score <= 1.0:
        yield "score", f"score {mention.score!r} is no probability; expected a number from 0 to 1"
    for name, score in mention.attribute_scores.items():
        if not 0.0 <= score <= 1.0:
            yield "score", f"the score of attribute {clip(name)} is {score!r}; expected a number from 0 to 1"
        if name not in mention.attributes:
            yield "score", f"attribute {clip(name)} has a score and no value; expected both"
    for score in mention.concept_scores:
        if not 0.0 <= score <= 1.0:
            yield "score", f"the score of a concept is {score!r}; expected a number from 0 to 1"


def _annotation_warnings(document: Document) -> Iterator[Problem]:
    """Yield the values of ``meta["annotation"]`` that training refuses; other tools may need them, so no errors."""
    try:
        zones_of(document)
        claims_of(document, None)
    except DataError as error:
        yield Problem("warning", "annotation", f"training will refuse it: {error}", "meta.annotation")


def _text_warnings(document: Document) -> Iterator[Problem]:
    if not document.text.strip():
        yield Problem("warning", "no text", "the document has no text but white space", "text")
    elif document.text.startswith("\ufeff"):
        message = "the text starts with a byte order mark, which counts as one character"
        yield Problem("warning", "byte order mark", message, "text")


def _mention_warnings(text: str, mentions: Sequence[tuple[int, Mention]]) -> Iterator[Problem]:
    seen: dict[tuple[str, tuple[Span, ...]], str] = {}
    for i, mention in mentions:
        place = place_of(mention, i)
        if mention.key in seen:
            message = f"{_surface(mention.spans, text)} of type {clip(mention.type)} is the same as {seen[mention.key]}"
            yield Problem("warning", "duplicate mention", message, place, i)
        seen.setdefault(mention.key, place)
        if text[mention.start].isspace() or text[mention.end - 1].isspace():
            message = f"{_surface(mention.spans, text)} begins or ends with white space"
            yield Problem("warning", "white space", message, place, i)


def _token_warnings(document: Document, tokens: Offsets, mentions: Sequence[tuple[int, Mention]]) -> Iterator[Problem]:
    text, starts, ends = document.text, tokens[:, 0].tolist(), tokens[:, 1].tolist()
    bounds = [] if document.sentences is None else document.sentences[:, 1].tolist()
    for i, mention in mentions:
        cut = _cut(text, starts, ends, mention)
        if cut:
            message = f"{_surface(mention.spans, text)} {cut}"
            yield Problem("warning", "cuts a token", message, place_of(mention, i), i)
        if bounds:
            first, last = bisect_right(ends, mention.start), bisect_left(starts, mention.end) - 1
            one, other = bisect_right(bounds, first), bisect_right(bounds, last)
            if one < other:
                message = f"{_surface(mention.spans, text)} reaches from sentence {one} into sentence {other}"
                yield Problem("warning", "crosses sentences", message, place_of(mention, i), i)


def _cut(text: str, starts: list[int], ends: list[int], mention: Mention) -> str:
    """Describe the first start or end of a span that is not a token's; empty if all are aligned."""
    for start, end in mention.spans:
        first = bisect_left(starts, start)
        if first == len(starts) or starts[first] != start:
            return f"starts {_where(text, starts, ends, first - 1, start)}"
        last = bisect_left(ends, end)
        if last == len(ends) or ends[last] != end:
            return f"ends {_where(text, starts, ends, last, end)}"
    return ""


def _where(text: str, starts: list[int], ends: list[int], i: int, offset: int) -> str:
    if 0 <= i < len(starts) and starts[i] < offset < ends[i]:
        return f"inside the token {_surface([(starts[i], ends[i])], text)}"
    return f"at {offset}, between tokens"


def _surface(spans: Sequence[tuple[int, int]], text: str) -> str:
    return clip(beginning(spans, text, SHOWN + 1), SHOWN)
