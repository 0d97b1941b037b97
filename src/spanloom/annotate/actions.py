"""What the page sends, and what it becomes: actions that are valid for the document and its state."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from spanloom.annotate.suggestions import sentences_of
from spanloom.document import Document, Span
from spanloom.document.span import join_spans
from spanloom.document.surfaces import stripped_span
from spanloom.document.validate import find_errors
from spanloom.errors import DataError, clip
from spanloom.formats import from_record
from spanloom.formats.store import State, rejection
from spanloom.serve.limits import Refused

_KEY: Final = re.compile(r"m:[0-9a-z.#]{1,40}|s:[0-9]{1,9}-[0-9]{1,9}|d|r:.+", re.S)
_TYPE: Final = re.compile(r"[^\x00-\x1f]{1,100}")  # of a new mention; others have what was imported

_Kind = TypeVar("_Kind", bound=BaseModel)
_PLAIN: Final = StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]*$")
LARGEST: Final = 2**53  # of numbers; a store and a browser hold them
Name = Annotated[str, _PLAIN]
Number = Annotated[int, Field(ge=1, le=LARGEST)]
Pair = Annotated[list[int], Field(min_length=2, max_length=2)]
Probability = Annotated[float, Field(ge=0, le=1)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class MentionValue(_Body):
    """A mention, or a suggestion that is rejected; the size of a request limits that of its parts."""

    type: str
    spans: list[Pair] = Field(min_length=1)
    id: str | None = None
    head: Pair | None = None
    concepts: list[str] = []
    concept_scores: list[Probability] = []
    attributes: dict[str, bool | str] = {}
    attribute_scores: dict[str, Probability] = {}
    score: Probability | None = None
    note: str = ""


class Act(_Body):
    """An action on a document; ``version`` is that of the document on the page."""

    document: Number
    layer: Name
    author: Name
    version: int
    kind: Literal["add", "remove", "change", "finish", "reopen", "skip", "accept", "reject", "restore", "undo", "redo"]
    changes: dict[str, MentionValue | Literal["finished", "skipped"] | None] = {}


class Position(_Body):
    """Where an annotator is."""

    document: Number
    layer: Name
    start: Annotated[int, Field(ge=0, le=LARGEST)]


class Question(_Body):
    """A mention that a model is asked about."""

    document: Number
    mention: MentionValue


def parsed(kind: type[_Kind], raw: bytes) -> _Kind:
    """Return the body of a request.

    Raises:
        Refused: it is not a valid action; the message names the first problem.
    """
    try:
        return kind.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the body"
        raise Refused(422, f"{place} is {clip(str(first['input']))}: {first['msg'].lower()}") from None


def changes_of(act: Act, document: Document, state: State) -> dict[str, Any]:
    """Return the values that an action sets, with spans in order and without gaps of white space.

    Raises:
        Refused: a mention outside the text, one that is there already, or nothing to undo or redo.
    """
    if act.kind in ("undo", "redo"):
        if not (state.done if act.kind == "undo" else state.undone):
            raise Refused(422, f"there is nothing to {act.kind}")
        return {}
    if not act.changes:
        raise Refused(422, f"the action {act.kind} changes nothing")
    found: dict[str, Any] = {}
    after = {key: value for key, value in state.values.items() if key not in act.changes}
    marked = {_identity(value) for key, value in after.items() if key[0] == "m"}
    types = {value["type"] for key, value in state.values.items() if key[0] in "mr"}
    sentences = {f"s:{start}-{end}" for start, end in sentences_of(document) or [[0, len(document.text)]]}
    for number, (key, given) in enumerate(act.changes.items()):
        if not _KEY.fullmatch(key) or isinstance(given, MentionValue) != (key[0] in "mr" and given is not None):
            raise Refused(422, f"{clip(key)} is no key of such a value")
        if key[0] == "s" and key not in sentences and key not in state.values:
            raise Refused(422, f"the key is {clip(key)}, expected the ends of a sentence, such as {min(sentences)}")
        if not isinstance(given, MentionValue):
            found[key] = given
            continue
        if given.type not in types and not _TYPE.fullmatch(given.type):
            raise Refused(422, f"the type is {clip(given.type)}, expected 1 to 100 characters in one line")
        old = state.values.get(key) if key[0] == "m" else None
        kept = old is not None and old["spans"] == given.spans
        spans = given.spans if kept else spans_of(document.text, given.spans)
        value = given.model_dump(exclude_defaults=True) | {"spans": spans}
        if key[0] == "r":
            found[rejection(given.type, value["spans"])] = value
            continue
        # duplicates that were imported may stay
        if _identity(value) in marked and (old is None or _identity(old) != _identity(value)):
            raise Refused(422, f"this mention is marked already: {clip(given.type)}")
        marked.add(_identity(value))
        denied = rejection(given.type, value["spans"])
        if denied in state.values:
            found[denied] = None  # what was rejected, and is marked now
        found[f"m:#.{number}" if "#" in key else key] = value
    values = (value for value in found.values() if isinstance(value, dict))
    mentions = [{name: part for name, part in value.items() if name != "note"} for value in values]
    try:
        problems = find_errors(from_record({"text": document.text, "mentions": mentions}))
    except DataError as error:
        raise Refused(422, error.message) from None
    for problem in problems:
        raise Refused(422, problem.message)
    return found


def _identity(value: Mapping[str, Any]) -> tuple[str, str]:
    """The type and spans, by which mentions are the same."""
    return value["type"], str(value["spans"])


def spans_of(text: str, spans: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return spans in text order, disjoint, without white space at their ends, and joined across it.

    A line break between two parts is no gap.

    Raises:
        Refused: one that is empty, or outside the text.

    >>> spans_of("no chest\\npain", [[9, 13], [2, 8]])
    [[3, 13]]
    """
    found: list[list[int]] = []
    for start, end in sorted(map(list, spans)):
        if not 0 <= start < end <= len(text):
            raise Refused(422, f"characters {start} to {end} are outside the text, which has {len(text):,}")
        if (span := stripped_span(start, end, text)) is None:
            continue
        if found and span.start <= found[-1][1]:
            found[-1][1] = max(span.end, found[-1][1])
        else:
            found.append([*span])
    if not found:
        raise Refused(422, "only white space is selected; select a word")
    return [list(span) for span in join_spans(text, [Span(*span) for span in found])]
