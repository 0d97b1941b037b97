"""What the page sends, and what it becomes: actions that are valid for the document and its state."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from spanloom.document import Document, Span
from spanloom.document.span import join_spans
from spanloom.errors import clip
from spanloom.formats.store import State, rejection
from spanloom.serve.limits import Refused

_KEY: Final = re.compile(r"m:[0-9a-z.#]{1,40}|s:[0-9]{1,9}-[0-9]{1,9}|d|r:.{1,4000}", re.S)

_Kind = TypeVar("_Kind", bound=BaseModel)
_PLAIN: Final = StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]*$")
Name = Annotated[str, _PLAIN]
Pair = Annotated[list[int], Field(min_length=2, max_length=2)]
Probability = Annotated[float, Field(ge=0, le=1)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class MentionValue(_Body):
    """A mention, or a suggestion that is rejected."""

    type: Name
    spans: list[Pair] = Field(min_length=1, max_length=100)
    id: str | None = Field(None, max_length=200)
    head: Pair | None = None
    concepts: list[Annotated[str, Field(max_length=200)]] = Field([], max_length=50)
    concept_scores: list[Probability] = []
    attributes: dict[Name, bool | Annotated[str, Field(max_length=1000)]] = Field({}, max_length=50)
    attribute_scores: dict[str, Probability] = {}
    score: Probability | None = None
    note: str = Field("", max_length=5000)


class Act(_Body):
    """An action on a document; ``version`` is that of the document on the page."""

    document: int
    layer: Name
    author: Name
    version: int
    kind: Literal["add", "remove", "change", "finish", "reopen", "skip", "accept", "reject", "restore", "undo", "redo"]
    changes: dict[str, MentionValue | Literal["finished", "skipped"] | None] = Field({}, max_length=10_000)


class Position(_Body):
    """Where an annotator is."""

    document: int
    layer: Name
    start: int = Field(ge=0)


class Question(_Body):
    """A mention that a model is asked about."""

    document: int
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
    there = {(value["type"], str(value["spans"])) for key, value in after.items() if key[0] == "m"}
    for number, (key, given) in enumerate(act.changes.items()):
        if not _KEY.fullmatch(key) or isinstance(given, MentionValue) != (key[0] in "mr" and given is not None):
            raise Refused(422, f"{clip(key)} is no key of such a value")
        if not isinstance(given, MentionValue):
            found[key] = given
            continue
        value = given.model_dump(exclude_defaults=True) | {"spans": spans_of(document.text, given.spans)}
        if key[0] == "r":
            found[rejection(given.type, value["spans"])] = value
            continue
        name = given.type, str(value["spans"])
        if name in there:
            raise Refused(422, f"this mention is marked already: {clip(given.type)}")
        there.add(name)
        old = rejection(given.type, value["spans"])
        if old in state.values:
            found[old] = None  # what was rejected, and is marked now
        found[f"m:#.{number}" if "#" in key else key] = value
    return found


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
        while start < end and text[start].isspace():
            start += 1
        while start < end and text[end - 1].isspace():
            end -= 1
        if start == end:
            continue
        if found and start <= found[-1][1]:
            found[-1][1] = max(end, found[-1][1])
        else:
            found.append([start, end])
    if not found:
        raise Refused(422, "only white space is selected; select a word")
    return [list(span) for span in join_spans(text, [Span(*span) for span in found])]
