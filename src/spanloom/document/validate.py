"""What is wrong with a document, in full: errors that no code should meet, and warnings that a person should read.

`find_errors` is the one place that says what a sound document is: the readers call it on what they read and raise
the first error; `validate` lists them all and adds the warnings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from spanloom.document.document import Document, Offsets
from spanloom.document.span import Mention, Span
from spanloom.errors import DataError

SHOWN = 40  # characters of somebody's text in a message


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a document.

    Args:
        severity: an ``"error"`` keeps the document from being read; a ``"warning"`` does not.
        kind: a short name to count by, such as ``"cuts a token"``.
        message: what was found, what was expected and what to do.
        place: the part of the document, such as ``"mention T3"`` or ``"tokens[7]"``.
        mention: the index of the mention in the document, if it is about one.
        path: the file, if there is one.
        line: the line in the file, counted from 1.
        altered: whether the document is other than the file says, because something was repaired or left out.

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

    def to_error(self) -> DataError:
        """The problem as an exception."""
        return DataError(": ".join(part for part in (self.place, self.message) if part), path=self.path, line=self.line)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        return ": ".join(part for part in (place, self.severity, self.place, self.message) if part)


def validate(document: Document) -> list[Problem]:
    """Every problem of a document: errors first, then warnings. Tokens are not needed.

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
    warnings = [*_text_warnings(document), *_mention_warnings(document.text, sound)]
    tokens_are_sound = not any(problem.place.startswith(("tokens", "sentences")) for problem in errors)
    if document.tokens is not None and tokens_are_sound:
        warnings += _token_warnings(document, document.tokens, sound)
    return errors + sorted(warnings, key=lambda problem: -1 if problem.mention is None else problem.mention)


def find_errors(document: Document) -> list[Problem]:
    """What makes a document unusable: offsets, order and lengths that cannot be meant.

    >>> find_errors(Document("pain", tokens=[[0, 4], [3, 4]]))[0].message
    'starts at 3, before the token before it ends at 4; tokens stand in text order and do not overlap'
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
    return problems


def counted_as(text: str, spans: Sequence[tuple[int, int]], surface: str) -> str | None:
    """How offsets were counted, if not in characters: the unit in which they give the known surface.

    Args:
        text: the document's text.
        spans: start and end pairs in an unknown unit.
        surface: the mention's text as its file has it.

    >>> counted_as("𝒳 Ångström unit", [(16, 20)], "unit")
    'in UTF-8 bytes'
    >>> counted_as("𝒳 Ångström unit", [(12, 16)], "unit")
    'in UTF-16 units'
    >>> counted_as("a unit", [(3, 6)], "unit")
    'from 1, with the last character included'
    """
    wanted = flat(surface)
    joined = text.replace("\r\n", "\n")
    utf8, utf16 = text.encode("utf-8", "surrogatepass"), text.encode("utf-16-le", "surrogatepass")
    readings = {
        "in UTF-16 units": [utf16[2 * start : 2 * end].decode("utf-16-le", "replace") for start, end in spans],
        "in UTF-8 bytes": [utf8[start:end].decode("utf-8", "replace") for start, end in spans],
        "with CR LF as one character": [joined[start:end] for start, end in spans],
        "from 1, with the last character included": [text[max(start - 1, 0) : end] for start, end in spans],
        "with the last character included": [text[start : end + 1] for start, end in spans],
        "from 1": [text[max(start - 1, 0) : max(end - 1, 0)] for start, end in spans],
    }
    return next((unit for unit, parts in readings.items() if flat(" ".join(parts)) == wanted), None)


def flat(text: str) -> str:
    """Line ends and tabs as spaces, one for one, as line-based formats write a mention's text."""
    return text.translate(_FLAT)


_FLAT = str.maketrans("\n\r\t", "   ")


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
    previous = 0
    for i, (start, end) in enumerate(tokens.tolist()):
        if start < 0 or end > length:
            message = f"token {start}-{end} is outside the text of {length} characters"
            yield Problem("error", "token outside the text", message, f"tokens[{i}]")
        elif start >= end:
            yield Problem("error", "empty token", f"token {start}-{end} is empty", f"tokens[{i}]")
        elif start < previous:
            message = (
                f"starts at {start}, before the token before it ends at {previous}; "
                "tokens stand in text order and do not overlap"
            )
            yield Problem("error", "token order", message, f"tokens[{i}]")
        previous = max(previous, end)


def _sentence_errors(sentences: Offsets, tokens: Offsets | None) -> Iterator[Problem]:
    if tokens is None:
        message = "sentences are counted in tokens, but there are no tokens; give tokens or leave sentences out"
        yield Problem("error", "sentences without tokens", message, "sentences")
        return
    previous, count = 0, len(tokens)
    for i, (first, end) in enumerate(sentences.tolist()):
        place = f"sentences[{i}]"
        if first < 0 or end > count:
            yield Problem("error", "sentence outside", f"sentence {first}-{end} is outside the {count} tokens", place)
        elif first >= end:
            yield Problem("error", "empty sentence", f"sentence {first}-{end} is empty", place)
        elif first != previous:
            message = f"starts at token {first}, expected {previous}; sentences stand in order and cover all tokens"
            yield Problem("error", "sentence order", message, place)
        previous = end
    if previous < count:
        message = f"end at token {previous}, expected {count}; sentences stand in order and cover all tokens"
        yield Problem("error", "sentence order", message, "sentences")


def _column_errors(document: Document) -> Iterator[Problem]:
    if document.tokens is None:
        message = "columns hold one value for each token, but there are no tokens; give tokens or leave columns out"
        yield Problem("error", "columns without tokens", message, "columns")
        return
    for name, values in document.columns.items():
        if len(values) != len(document.tokens):
            message = f"holds {len(values)} values, expected one for each of the {len(document.tokens)} tokens"
            yield Problem("error", "column length", message, f"columns[{name!r}]")


def place_of(mention: Mention, index: int) -> str:
    """How messages name a mention: by its identifier, else by its index.

    >>> place_of(Mention("problem", [(0, 4)], id="T3"), 7)
    'mention T3'
    """
    return f"mentions[{index}]" if mention.id is None else f"mention {mention.id}"


def _mentions_errors(document: Document) -> Iterator[Problem]:
    seen: set[str] = set()
    length = len(document.text)
    for i, mention in enumerate(document.mentions):
        for kind, message in _mention_errors(mention, length, document.text):
            yield Problem("error", kind, message, place_of(mention, i), i)
        if mention.id is not None:
            if mention.id in seen:
                message = f"the identifier {mention.id!r} stands twice; identifiers are unique in a document"
                yield Problem("error", "duplicate identifier", message, place_of(mention, i), i)
            seen.add(mention.id)


def _mention_errors(mention: Mention, length: int, text: str) -> Iterator[tuple[str, str]]:
    previous = 0
    for start, end in mention.spans:
        if start < 0 or end > length:
            yield (
                "outside the text",
                f"span {start}-{end} is outside the text of {length} characters" + _hint(text, end),
            )
        elif start >= end:
            yield "empty span", f"span {start}-{end} is empty; a span holds at least one character"
        elif start < previous:
            yield "span order", f"span {start}-{end} starts before {previous}; spans stand in order and do not overlap"
        previous = max(previous, end)
    if not mention.type:
        yield "no type", "the type is empty; give it a name"
    head = mention.head
    if head is not None and not (head.start < head.end and _inside(head, mention.spans)):
        yield "head", f"head {head.start}-{head.end} is empty or outside the mention's spans"
    if mention.score is not None and not 0.0 <= mention.score <= 1.0:
        yield "score", f"score {mention.score!r} is no probability; expected a number from 0 to 1"


def _hint(text: str, end: int) -> str:
    if text.isascii() or end <= len(text):
        return ""
    if end <= len(text.encode("utf-16-le", "surrogatepass")) // 2:
        return "; it fits if counted in UTF-16 units: count Unicode characters"
    if end <= len(text.encode("utf-8", "surrogatepass")):
        return "; it fits if counted in UTF-8 bytes: count Unicode characters"
    return ""


def _inside(head: Span, spans: Sequence[Span]) -> bool:
    first = any(start <= head.start < end for start, end in spans)
    return first and any(start < head.end <= end for start, end in spans)


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
        surface = mention.text(text)
        if mention.key in seen:
            message = f"{_shown(surface)} of type {mention.type!r} is the same as {seen[mention.key]}"
            yield Problem("warning", "duplicate mention", message, place, i)
        seen.setdefault(mention.key, place)
        if surface != surface.strip():
            yield Problem("warning", "white space", f"{_shown(surface)} begins or ends with white space", place, i)


def _token_warnings(document: Document, tokens: Offsets, mentions: Sequence[tuple[int, Mention]]) -> Iterator[Problem]:
    bounds = None if document.sentences is None else document.sentences[:, 1]
    for i, mention in mentions:
        place = place_of(mention, i)
        surface = _shown(mention.text(document.text))
        cut = _cut(document.text, tokens, mention)
        if cut:
            yield Problem("warning", "cuts a token", f"{surface} {cut}", place, i)
        if bounds is not None and len(bounds):
            first = np.searchsorted(tokens[:, 1], mention.start, side="right")
            last = np.searchsorted(tokens[:, 0], mention.end, side="left") - 1
            one, other = np.searchsorted(bounds, (first, last), side="right")
            if one < other:
                message = f"{surface} reaches from sentence {one} into sentence {other}"
                yield Problem("warning", "crosses sentences", message, place, i)


def _cut(text: str, tokens: Offsets, mention: Mention) -> str:
    """Which end of which span is no token's end; empty if all fit."""
    for start, end in mention.spans:
        first = int(np.searchsorted(tokens[:, 0], start))
        if first == len(tokens) or tokens[first, 0] != start:
            return f"starts {_where(text, tokens, first - 1, start)}"
        last = int(np.searchsorted(tokens[:, 1], end))
        if last == len(tokens) or tokens[last, 1] != end:
            return f"ends {_where(text, tokens, last, end)}"
    return ""


def _where(text: str, tokens: Offsets, i: int, offset: int) -> str:
    if 0 <= i < len(tokens) and tokens[i, 0] < offset < tokens[i, 1]:
        return f"inside the token {_shown(text[tokens[i, 0] : tokens[i, 1]])}"
    return f"at {offset}, between tokens"


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
