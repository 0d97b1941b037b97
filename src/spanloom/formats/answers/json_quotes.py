"""Quotes in JSON: the JSON values in the text of an answer, also incomplete ones, and the quotes in such a value.

Models use many names for the same fields. A value may be a list of mentions, an object from types to texts or from
texts to types, or any of these nested in other objects.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from spanloom.errors import DataError, clip
from spanloom.formats.json_text import are, is_pair, some
from spanloom.formats.layouts import USUAL, plain, words
from spanloom.text.patterns import pattern

# names of fields, in small letters without marks between words
_TEXTS: Final = words("text mention span quote surface word term phrase value string name entity")
_TYPES: Final = words("type label category entitytype entitygroup class tag entitylabel ner entity name")
_PARTS: Final = ("parts", "fragments", "segments", "spans")
_SEVERAL: Final = ("texts", "mentions", "entities", "values", "items", "quotes")
_NESTED: Final = words(
    "entities mentions annotations namedentities extractions predictions results items spans data result output "
    "answer labels ner"
)
_CONTEXTS: Final = ("context", "sentence", "evidence", "sourcesentence")
_IGNORED: Final = words(
    "id notes note comment comments explanation reasoning rationale thoughts summary document confidence"
)
_NOTHING: Final = frozenset({"", "-", "none", "n/a", "null", "nothing", "none found", "not mentioned", "no mentions"})
_DEEPEST: Final = 40  # levels of nested answers

_FENCED: Final = re.compile(
    r"^[ \t]*```(?:(?P<line>[^\n]+?)```[ \t\r]*$|[^\n]*(?:\n(?P<lines>.*?))?(?:^[ \t]*```[^\n]*|\Z))",
    re.MULTILINE | re.DOTALL,
)
_OPENING: Final = pattern(r"\{(?=\s*+[\"}])|\[(?=\s*+[\]\"{\[\d-])")
_BUDGET: Final = 8  # characters tried per character of an answer, in the search for JSON
_LEAST: Final = 1_000_000  # characters tried in any case
_TRY: Final = 100  # fixed cost of a bracket that is tried, in characters
_COUNTED: Final = 100  # characters before an error, in which lines are counted, that cost as much as one that is read
_STRING: Final = r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'  # may be incomplete at the end
_SINGLE: Final = _STRING.replace('"', "'")
_TOKEN: Final = pattern(rf"{_STRING}|[\[\]{{}},]", re.DOTALL)
_PYTHON: Final = pattern(rf"{_STRING}|{_SINGLE}|None|True|False", re.DOTALL)
_NAMES: Final = {"None": "null", "True": "true", "False": "false"}

Occurs = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Quote:
    """A mention in an answer, identified by its text.

    Args:
        type: its type; ``None`` if the answer names none.
        parts: its text; several for a mention with gaps.
        place: where in the answer, such as ``entities[3]``.
        context: a longer quote that contains it.
        offsets: start and end of each part, according to the answer.
    """

    type: str | None
    parts: tuple[str, ...]
    place: str = ""
    context: str | None = None
    offsets: tuple[tuple[int, int], ...] | None = None


class Quotes(NamedTuple):
    """The quotes in an answer.

    Args:
        found: the quotes, in the order of the answer.
        odd: the places of items that are not mentions.
    """

    found: list[Quote]
    odd: list[str]


def quotes_in(value: object, occurs: Occurs) -> Quotes | None:
    """Return the quotes in a JSON value; ``None`` if its form is not supported.

    Args:
        value: as `json.loads` returns it.
        occurs: whether a text is a quote of the document, which distinguishes texts and types where names do not.

    Raises:
        DataError: the value is nested too deeply.

    >>> quotes_in({"entities": [{"text": "chest pain", "label": "problem"}]}, bool).found
    [Quote(type='problem', parts=('chest pain',), place='entities[0]', context=None, offsets=None)]
    >>> [quote.parts for quote in quotes_in({"problem": ["cough", ["mild", "pain"]], "drug": []}, bool).found]
    [('cough',), ('mild', 'pain')]
    """
    reader = _Reader(occurs)
    return reader.quotes if reader.read(value, None, "", 0) else None


def is_nothing(text: str) -> bool:
    """Whether a text means that there are no mentions, such as ``none``."""
    return text.strip(" .*_`\"'()").casefold() in _NOTHING


class _Reader:
    """Collects quotes; each method returns whether it could read the value."""

    def __init__(self, occurs: Occurs) -> None:
        self.quotes = Quotes([], [])
        self._occurs = occurs

    def read(self, value: object, kind: str | None, place: str, depth: int) -> bool:
        if depth > _DEEPEST:
            raise DataError(f"the answer is nested more than {_DEEPEST} levels deep; expected a list of mentions")
        if isinstance(value, str):
            return self._text(value, kind, place)
        if isinstance(value, list):
            return self._list(value, kind, place, depth)
        if isinstance(value, dict):
            return self._object({str(key): one for key, one in value.items()}, kind, place, depth)
        return value is None and kind is not None

    def _text(self, text: str, kind: str | None, place: str) -> bool:
        if not is_nothing(text) or self._occurs(text):
            self.quotes.found.append(Quote(kind, (text,), place))
        return True

    def _list(self, values: Sequence[object], kind: str | None, place: str, depth: int) -> bool:
        texts = [value for value in values if isinstance(value, str)]
        if depth and len(texts) == len(values) == 2 and kind is None:  # a text and its type
            self.quotes.found.append(Quote(texts[1], (texts[0],), place))
            return True
        understood = []
        for i, value in enumerate(values):
            if kind is not None and some(value, str):  # the parts of a quote
                self.quotes.found.append(Quote(kind, tuple(value), f"{place}[{i}]"))
                understood.append(True)
            else:
                understood.append(self.read(value, kind, f"{place}[{i}]", depth + 1))
        self.quotes.odd.extend(f"{place}[{i}]" for i, one in enumerate(understood) if not one)
        return not values or any(understood)

    def _object(self, value: dict[str, Any], kind: str | None, place: str, depth: int) -> bool:
        low = {plain(key): key for key in value}
        fields = {name: value[key] for name, key in low.items()}
        nested = [name for name in _NESTED if isinstance(fields.get(name), list | dict)]
        named = _type(fields)
        own, parts = named or kind, _parts(fields)
        if parts and (named is not None or not set(nested) - {*_PARTS, *USUAL["spans"]}):
            context = next((fields[name] for name in _CONTEXTS if isinstance(fields.get(name), str)), None)
            self.quotes.found.append(Quote(own, parts, place, context, _offsets(fields, len(parts))))
            return True
        if own is not None and own != kind:
            if (inner := _first(fields, _TEXTS, dict)) is not None:
                return self.read(fields[inner], own, _below(place, low[inner]), depth + 1)
            if (several := _first(fields, _SEVERAL, list)) is not None:
                return self._list(fields[several], own, _below(place, low[several]), depth + 1)
        if len([one for one in value.values() if isinstance(one, list | dict) and one]) <= 1 and nested:
            name = max(nested, key=lambda name: bool(fields[name]))
            return self.read(fields[name], kind, _below(place, low[name]), depth + 1)
        return self._by_type(fields, low, kind, place, depth)

    def _by_type(self, fields: dict[str, Any], names: dict[str, str], kind: str | None, place: str, depth: int) -> bool:
        """Read an object from types to their mentions, or from texts to types."""
        if fields and all(isinstance(one, str) for one in fields.values()):
            if kind is not None:
                return False
            texts = {names[name]: text for name, text in fields.items()}
            backward = sum(map(self._occurs, texts)) > sum(map(self._occurs, texts.values()))
            for key, one in texts.items():
                named, text = (one, key) if backward else (key, one)
                self._text(text, named, _below(place, named))
            return True
        understood = []
        for name, one in fields.items():
            own = None if name in _NESTED else names[name]
            if not (isinstance(one, str) and name in (*_TEXTS, *_CONTEXTS, *_IGNORED)):
                understood.append(self.read(one, own, _below(place, names[name]), depth + 1))
        return not fields or any(understood)


def _below(place: str, name: str) -> str:
    return f"{place}.{name}".lstrip(".")


def _first(fields: Mapping[str, Any], names: Sequence[str], form: type) -> str | None:
    """Return the first of some names whose value is of a type."""
    return next((name for name in names if isinstance(fields.get(name), form)), None)


def _type(fields: Mapping[str, Any]) -> str | None:
    """Return the type of an object; from ``entity`` and ``name``, which also name texts, only if there is a text."""
    for name in _TYPES:
        value = fields.get(name)
        if isinstance(value, str) and (name not in _TEXTS or _first(fields, _TEXTS, str) not in (None, name)):
            return value
    return None


def _parts(fields: Mapping[str, Any]) -> tuple[str, ...]:
    for name in (*_PARTS, *_TEXTS):
        value = fields.get(name)
        if isinstance(value, list) and value and (name != "spans" or _type(fields) is not None):
            raw: list[Any] = [one.get("text") if isinstance(one, dict) and _type(one) is None else one for one in value]
            if are(raw, str):
                return tuple(raw)
    field = _first(fields, _TEXTS, str)
    return () if field is None else (fields[field],)


def _offsets(fields: Mapping[str, Any], parts: int) -> tuple[tuple[int, int], ...] | None:
    """Return the offsets of an object, if there are as many as parts."""
    start, end = (_first(fields, USUAL[role], int) for role in ("start", "end"))
    if start is not None and end is not None:
        return ((fields[start], fields[end]),) if parts == 1 else None
    for name in USUAL["spans"]:
        value = fields.get(name)
        pairs = [value] if is_pair(value) else value
        if isinstance(pairs, list) and len(pairs) == parts and all(map(is_pair, pairs)):
            return tuple((start, end) for start, end in pairs)
    return None


class Salvaged(NamedTuple):
    """A JSON value found in a text.

    Args:
        value: the value.
        whole: whether it is the whole text.
        broken: the character of the text at which an incomplete value ends; the value has the complete parts before it.
    """

    value: Any
    whole: bool = False
    broken: int | None = None


def blocks(text: str) -> list[str]:
    """Return the contents of the fenced blocks of a text, or the text if it has none; the last may be unclosed.

    >>> blocks("Sure:\\n```json\\n[1]\\n```\\nAnything else?"), blocks("[1]")
    (['[1]\\n'], ['[1]'])
    """
    found = [block["lines"] or (block["line"] or "").removeprefix("json") for block in _FENCED.finditer(text)]
    return [content for content in found if content.strip()] or [text]


def values(text: str) -> list[Salvaged]:
    """Return the JSON values of a text: the whole text, or all values in it.

    Of an incomplete value, the complete parts are returned. Literals of Python are read, too.

    Raises:
        DataError: a value is nested too deeply, holds a number that is too large, or names a field twice.

    >>> values('Here you are: {"a": [1]} and {"b": 2}')
    [Salvaged(value={'a': [1]}, whole=False, broken=None), Salvaged(value={'b': 2}, whole=False, broken=None)]
    >>> values('[{"text": "pain"}, {"text": "cou')
    [Salvaged(value=[{'text': 'pain'}], whole=False, broken=28)]
    >>> values("[{'text': 'pain', 'type': None}]")
    [Salvaged(value=[{'text': 'pain', 'type': None}], whole=True, broken=None)]
    """
    with suppress(json.JSONDecodeError):
        return [Salvaged(_decode(text.strip()), whole=True)]
    if text.lstrip()[:1] in ("[", "{") and "'" in text:
        with suppress(json.JSONDecodeError):
            return [Salvaged(_decode(_PYTHON.sub(_as_json, text.strip())), whole=True)]
    return list(_inside(text))


def _as_json(literal: re.Match[str]) -> str:
    """Return a string or name of Python as JSON."""
    found = literal[0]
    if found[0] != "'":
        return _NAMES.get(found, found)
    return '"' + found[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'


def _inside(text: str) -> Iterator[Salvaged]:
    left = max(_LEAST, _BUDGET * len(text))
    opening = _OPENING.search(text)
    while opening is not None and left > 0:
        at = opening.start()
        try:
            value, end = _decode_at(text, at)
            yield Salvaged(value)
        except json.JSONDecodeError as error:
            left -= (len(text) if error.msg.startswith("Unterminated") else error.pos) - at + _TRY + at // _COUNTED
            mended = _mended(text, at, error.pos)
            end = at + 1
            if mended is not None:
                value, stop = mended
                all_closed = not text[stop:].strip(" \t\r\n,]}`")  # there is only a superfluous comma
                yield Salvaged(value, broken=None if all_closed else error.pos)
                end = max(end, error.pos)
        opening = _OPENING.search(text, end)


def _mended(text: str, start: int, end: int) -> tuple[Any, int] | None:
    """Return the complete parts of an incomplete value, and where they end; ``None`` without any."""
    closing: list[str] = []
    complete: tuple[int, str] | None = None
    for match in _TOKEN.finditer(text, start, end):
        token = match[0]
        if token in ("{", "["):
            closing.append("}" if token == "{" else "]")
        elif token in ("}", "]"):
            if not closing or closing.pop() != token:
                break
            complete = match.end(), "".join(reversed(closing))
        elif token == "," and closing[-1:] == ["]"]:
            complete = match.start(), "".join(reversed(closing))
    if complete is not None:
        with suppress(json.JSONDecodeError):
            return _decode(text[start : complete[0]] + complete[1]), complete[0]
    return None


def _decode(text: str) -> Any:
    value, end = _decode_at(text, 0)
    if text[end:].strip():
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def _decode_at(text: str, start: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise DataError("the answer's JSON is nested too deeply; expected a list of mentions") from error
    except ValueError as error:
        reason = "an integer has thousands of digits" if "integer string conversion" in str(error) else str(error)
        raise DataError(f"the answer's JSON cannot be used: {reason}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object; lists under the same name are joined, because models repeat types."""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields and isinstance(value, list) and isinstance(fields[name], list):
            fields[name] = [*fields[name], *value]
        elif name in fields and fields[name] != value:
            raise ValueError(f"the field {clip(name)} occurs twice in one object")
        else:
            fields[name] = value
    return fields


_CONSTANTS: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": math.inf}
_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_CONSTANTS.__getitem__, strict=False)
