"""Mentions in brackets, as CorefUD and GUM have them in MISC of CoNLL-U: ``Entity=(e1-person-1(e2-place-1)``.

``(e1-person-1`` begins a mention of the entity e1, ``e1)`` ends it, and ``(e1-person-1)`` is a whole one. Mentions may
be nested and may cross; ``(e1[1/2]-...`` is the first of two parts. ``# global.Entity = eid-etype-head`` names the
fields between hyphens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple
from urllib.parse import unquote

from spanloom.errors import clip
from spanloom.formats.blocks import UNTYPED

GLOBAL_ENTITY = "# global.Entity = "

_PIECE = re.compile(r"(\()?([^()]+)(\))?")
_PART = re.compile(r"\[([0-9]{1,4})/([0-9]{1,4})\]")
_IDS, _TYPES = ("eid", "grp", "id", "group"), ("etype", "entity", "type", "entitytype", "entity_type")
_HAS_NUMBER = re.compile(r".*[0-9]")


class BracketMention(NamedTuple):
    """A mention.

    Args:
        type: of the entity.
        ranges: of its words, half-open, in order.
        head: the index of its head word, if the brackets name it.
        identity: of the entity in a knowledge base, if the brackets name it.
    """

    type: str
    ranges: list[tuple[int, int]]
    head: int | None
    identity: str | None


@dataclass(slots=True)
class _Open:
    """A mention, or a part of one, that has begun."""

    key: str
    fields: list[str]
    first: int
    part: tuple[int, int]


@dataclass(slots=True)
class EntityFields:
    """The fields of brackets.

    Args:
        names: in small letters, in their order; none if the file does not name them.
    """

    names: list[str] = field(default_factory=list)

    def declare(self, comment: str) -> None:
        """Take the names of a comment that begins with `GLOBAL_ENTITY`."""
        self.names = comment.removeprefix(GLOBAL_ENTITY).strip().lower().split("-")

    @property
    def unread(self) -> list[str]:
        """The names of fields that are not read."""
        return [name for name in self.names if name not in (*_IDS, *_TYPES, "head", "identity", "minspan", "other")]

    def split(self, content: str) -> list[str]:
        """Return the fields of an opening bracket; the last one may hold hyphens."""
        return content.split("-", max(len(self.names) - 1, 0) or -1)

    def key(self, fields: Sequence[str]) -> str:
        """Return the identifier of the entity, which the closing bracket repeats."""
        return self._of(fields, _IDS, 0 if self._begins_with_id(fields) else 1)

    def type(self, fields: Sequence[str]) -> str:
        """Return the type of the entity."""
        if len(fields) == 1 and not self.names and not _HAS_NUMBER.match(fields[0]):
            return unquote(fields[0]) or UNTYPED
        return self._of(fields, _TYPES, 1 if self._begins_with_id(fields) else 0) or UNTYPED

    def optional(self, fields: Sequence[str], name: str) -> str:
        """Return the value of a field that need not be there; empty if it is not."""
        return self._of(fields, (name,), len(fields))

    def _begins_with_id(self, fields: Sequence[str]) -> bool:
        """Return whether the first field has a number, as an identifier has, or the second has none."""
        return len(fields) < 2 or _HAS_NUMBER.match(fields[0]) is not None or not _HAS_NUMBER.match(fields[1])

    def _of(self, fields: Sequence[str], names: Sequence[str], otherwise: int) -> str:
        if self.names:
            place = next((self.names.index(name) for name in names if name in self.names), len(fields))
        else:
            place = otherwise
        return unquote(fields[place]) if place < len(fields) else ""


def read_brackets(values: Sequence[str], names: EntityFields) -> tuple[list[BracketMention], list[tuple[int, str]]]:
    """Return the mentions of a sentence, and the places and messages of brackets that do not fit.

    Args:
        values: of each word, empty where it has none.
        names: of the fields.

    >>> found, wrong = read_brackets(["(e1-person-1", "e1)(e2[1/2]-thing-1)", "", "(e2[2/2]-thing-1)"], EntityFields())
    >>> [(mention.type, mention.ranges) for mention in found], wrong
    ([('person', [(0, 2)]), ('thing', [(1, 2), (3, 4)])], [])
    """
    wrong: list[tuple[int, str]] = []
    opened: dict[tuple[str, int], list[_Open]] = {}  # by entity and number of the part
    parts: dict[str, list[tuple[_Open, int]]] = {}
    found: list[BracketMention] = []

    def close(one: _Open, last: int) -> None:
        number, count = one.part
        held = parts.setdefault(one.key, []) if count > 1 else []
        if number != len(held) + 1:
            wrong.append((last, f"found part {number} of {count} of {clip(one.key, 20)}, expected {len(held) + 1}"))
            return
        held.append((one, last))
        if number == count:
            parts.pop(one.key, None)
            found.append(_mention(held, names))

    for at, value in enumerate(values):
        for opening, content, closing in _pieces(value):
            match = _PART.search(content)
            number, count = (int(match[1]), int(match[2])) if match else (1, 1)
            fields = names.split(_PART.sub("", content, count=1))
            if opening:
                one = _Open(names.key(fields), fields, at, (number, count))
                if closing:
                    close(one, at)
                else:
                    opened.setdefault((one.key, number), []).append(one)
                continue
            key = unquote(fields[0]) if len(fields) == 1 else names.key(fields)
            if closing and (stack := opened.get((key, number))):
                close(stack.pop(), at)
            else:
                wrong.append((at, f"found {clip(content + closing, 40)}, which closes no bracket"))
    left = [one for stack in opened.values() for one in stack]
    wrong += [(one.first, f"found {clip('(' + '-'.join(one.fields), 40)}, which is not closed") for one in left]
    wrong += [
        (held[0][0].first, f"found {clip(key, 20)} without all of its parts") for key, held in parts.items() if held
    ]
    found.sort(key=lambda mention: (mention.ranges[0][0], -mention.ranges[-1][1]))
    return found, sorted(wrong)


def _pieces(value: str) -> Iterator[tuple[str, str, str]]:
    """Yield the brackets of a value: whether one opens, its content, and whether one closes."""
    at = 0
    for match in _PIECE.finditer(value):
        if match.start() > at:
            yield "", value[at : match.start()], ""
        yield match[1] or "", match[2], match[3] or ""
        at = match.end()
    if at < len(value):
        yield "", value[at:], ""


def _mention(parts: Sequence[tuple[_Open, int]], names: EntityFields) -> BracketMention:
    ranges = sorted((one.first, last + 1) for one, last in parts)
    fields = parts[0][0].fields
    number = names.optional(fields, "head")
    place = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
    words = chain.from_iterable(range(first, end) for first, end in ranges)
    head = next(islice(words, place - 1, None), None) if place else None
    return BracketMention(names.type(fields), ranges, head, names.optional(fields, "identity") or None)
