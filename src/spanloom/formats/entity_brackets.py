"""Mentions in brackets, as CorefUD and GUM have them in MISC of CoNLL-U: ``Entity=(e1-person-1(e2-place-1)``.

``(e1-person-1`` begins a mention of the entity e1, ``e1)`` ends it, and ``(e1-person-1)`` is a whole one. Mentions may
be nested and may cross; ``(e1[1/2]-...`` is the first of two parts. ``# global.Entity = eid-etype-head`` names the
fields between hyphens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple
from urllib.parse import unquote

from spanloom.errors import clip
from spanloom.formats.blocks import UNTYPED

GLOBAL_ENTITY = "# global.Entity = "

_PIECE = re.compile(r"(\()?([^()]+)(\))?|.", re.DOTALL)
_PART = re.compile(r"\[([0-9]{1,4})/([0-9]{1,4})\]")
_IDS, _TYPES = ("eid", "grp", "id", "group"), ("etype", "entity", "type", "entitytype", "entity_type")
READ = frozenset((*_IDS, *_TYPES, "head", "identity", "minspan", "other"))
"""The names of fields that are read, or that hold nothing about a mention."""
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


class _Open(NamedTuple):
    """A mention, or a part of one, that has begun."""

    content: str
    fields: dict[str, str]
    first: int
    part: tuple[int, int]

    @property
    def key(self) -> str:
        """The identifier of the entity, which the closing bracket repeats."""
        return _first_of(self.fields, _IDS)


def _fields(content: str, names: Sequence[str]) -> dict[str, str]:
    """Return the fields of a bracket by name; the last one may hold hyphens, and a single one is the identifier.

    >>> _fields("e1-person-1", ["eid", "etype", "head"]), _fields("person-e1", [])
    ({'eid': 'e1', 'etype': 'person', 'head': '1'}, {'etype': 'person', 'eid': 'e1'})
    """
    parts = list(map(unquote, content.split("-", max(len(names) - 1, 0) or -1)))
    if names:
        return dict(zip(names, parts, strict=False)) | ({"eid": parts[0]} if len(parts) == 1 else {})
    if len(parts) == 1:
        return {"eid": parts[0], "etype": "" if _HAS_NUMBER.match(parts[0]) else parts[0]}
    # an identifier has a number
    turned = not _HAS_NUMBER.match(parts[0]) and _HAS_NUMBER.match(parts[1])
    return dict(zip(("etype", "eid") if turned else ("eid", "etype"), parts, strict=False))


def _first_of(fields: Mapping[str, str], names: Sequence[str]) -> str:
    return next((fields[name] for name in names if name in fields), "")


def read_brackets(values: Sequence[str], names: Sequence[str]) -> tuple[list[BracketMention], list[tuple[int, str]]]:
    """Return the mentions of a sentence, and the places and messages of brackets that do not fit.

    Args:
        values: of each word, empty where it has none.
        names: of the fields, in small letters; none if the file does not name them.

    >>> found, wrong = read_brackets(["(e1-person-1", "e1)(e2[1/2]-thing-1)", "", "(e2[2/2]-thing-1)"], [])
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
            found.append(_mention(held))

    for at, value in enumerate(values):
        for piece in _PIECE.finditer(value):
            opening, content, closing = piece[1], piece[2] or piece[0], piece[3] or ""
            match = _PART.search(content)
            part = (int(match[1]), int(match[2])) if match else (1, 1)
            bare = _PART.sub("", content, count=1)
            one = _Open(bare, _fields(bare, names), at, part)
            if opening and closing:
                close(one, at)
            elif opening:
                opened.setdefault((one.key, part[0]), []).append(one)
            elif closing and (stack := opened.get((one.key, part[0]))):
                close(stack.pop(), at)
            else:
                wrong.append((at, f"found {clip(content + closing, 40)}, which closes no bracket"))
    left = [one for stack in opened.values() for one in stack]
    wrong += [(one.first, f"found {clip('(' + one.content, 40)}, which is not closed") for one in left]
    wrong += [
        (held[0][0].first, f"found {clip(key, 20)} without all of its parts") for key, held in parts.items() if held
    ]
    found.sort(key=lambda mention: (mention.ranges[0][0], -mention.ranges[-1][1]))
    return found, sorted(wrong)


def _mention(parts: Sequence[tuple[_Open, int]]) -> BracketMention:
    ranges = sorted((one.first, last + 1) for one, last in parts)
    fields = parts[0][0].fields
    number = fields.get("head", "")
    place = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
    words = chain.from_iterable(range(first, end) for first, end in ranges)
    head = next(islice(words, place - 1, None), None) if place else None
    return BracketMention(_first_of(fields, _TYPES) or UNTYPED, ranges, head, fields.get("identity") or None)
