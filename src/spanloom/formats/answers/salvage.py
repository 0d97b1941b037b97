"""JSON within the text of an answer: in a fence, with prose around it, or cut short."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from spanloom.errors import DataError, clip

_FENCE: Final = "```"
_OPENING: Final = re.compile(r"\{(?=\s*+[\"}])|\[(?=\s*+[\]\"{\[\d-])")
_PATIENCE: Final = 8  # times the length of an answer that is spent on brackets that begin no JSON
_LEAST: Final = 1_000_000  # characters that are spent in any case
_TRY: Final = 100  # characters in whose time a bracket is tried
_COUNTED: Final = 100  # characters that an error counts lines in, in the time of one that is read


class Salvaged(NamedTuple):
    """A JSON value found in a text.

    Args:
        value: the value.
        whole: whether it is all of the text.
        broken: where it breaks off, in characters of the text, if it does; what stands before is the value.
    """

    value: Any
    whole: bool = False
    broken: int | None = None


def blocks(text: str) -> list[str]:
    """Return the contents of the fences of a text, or the text alone if it has none; the last may be left open.

    >>> blocks("Sure:\\n```json\\n[1]\\n```\\nAnything else?"), blocks("[1]")
    (['[1]\\n'], ['[1]'])
    """
    found: list[list[str]] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith(_FENCE):
            inside = not inside
            if inside:
                found.append([])
                closed = line.strip()
                if len(closed) > 6 and closed.endswith(_FENCE):  # all in one line
                    found[-1].append(closed[3:-3].removeprefix("json"))
                    inside = False
        elif inside:
            found[-1].append(line)
    contents = ["".join(lines) for lines in found]
    return [content for content in contents if content.strip()] or [text]


def values(text: str) -> list[Salvaged]:
    """Return the JSON values of a text: all of it, or what stands in it.

    A value that breaks off is read up to its last complete part.

    Raises:
        DataError: a value is nested too deeply, holds a number that is too large, or names a field twice.

    >>> values('Here you are: {"a": [1]} and {"b": 2}')
    [Salvaged(value={'a': [1]}, whole=False, broken=None), Salvaged(value={'b': 2}, whole=False, broken=None)]
    >>> values('[{"text": "pain"}, {"text": "cou')
    [Salvaged(value=[{'text': 'pain'}], whole=False, broken=28)]
    """
    try:
        return [Salvaged(_decode(text.strip()), whole=True)]
    except json.JSONDecodeError:
        pass
    if text.lstrip()[:1] in ("[", "{") and "'" in text:
        try:
            return [Salvaged(_decode(_double_quoted(text.strip())), whole=True)]
        except json.JSONDecodeError:
            pass  # no literal of Python either
    return list(_inside(text))


def _double_quoted(text: str) -> str:
    """Return a literal of Python as JSON: lists, dictionaries, strings, numbers and the three names.

    >>> print(_double_quoted("[{'text': 'pain', 'type': None}]"))
    [{"text": "pain", "type": null}]
    """
    pieces: list[str] = []
    at = end = 0
    while at < len(text):
        if text[at] not in "\"'":
            at += 1
            continue
        pieces.append(_named(text[end:at]))
        end = _string_end(text, at, len(text))
        inner = text[at + 1 : end - 1]
        pieces.append(f'"{inner}"' if text[at] == '"' else '"' + inner.replace("\\'", "'").replace('"', '\\"') + '"')
        at = end
    return "".join((*pieces, _named(text[end:])))


def _named(text: str) -> str:
    for theirs, ours in (("None", "null"), ("True", "true"), ("False", "false")):
        text = text.replace(theirs, ours)
    return text


def _inside(text: str) -> Iterator[Salvaged]:
    at, left = _opening(text, 0), max(_LEAST, _PATIENCE * len(text))
    while at >= 0 and left > 0:
        try:
            value, end = _decode_at(text, at)
            yield Salvaged(value)
        except json.JSONDecodeError as error:
            left -= (len(text) if error.msg.startswith("Unterminated") else error.pos) - at + _TRY + at // _COUNTED
            mended = _mended(text, at, error.pos)
            end = at + 1
            if mended is not None:
                value, stop = mended
                all_closed = not text[stop:].strip(" \t\r\n,]}`")  # only a comma too many
                yield Salvaged(value, broken=None if all_closed else error.pos)
                end = max(end, error.pos)
        at = _opening(text, end)


def _opening(text: str, start: int) -> int:
    found = _OPENING.search(text, start)
    return -1 if found is None else found.start()


def _mended(text: str, start: int, end: int) -> tuple[Any, int] | None:
    """Return a broken value up to its last complete part, and where this ends; ``None`` if there is none."""
    open_: list[str] = []
    complete: tuple[int, str] | None = None
    at = start
    while at < end:
        character = text[at]
        if character == '"':
            at = _string_end(text, at, end)
            continue
        if character in "{[":
            open_.append("}" if character == "{" else "]")
        elif character in "}]":
            if not open_ or open_.pop() != character:
                break
            complete = at + 1, "".join(reversed(open_))
        elif character == "," and open_[-1:] == ["]"]:
            complete = at, "".join(reversed(open_))
        at += 1
    if complete is None:
        return None
    try:
        return _decode(text[start : complete[0]] + complete[1]), complete[0]
    except json.JSONDecodeError:
        return None


def _string_end(text: str, at: int, end: int) -> int:
    """Return where the string ends that begins with the quotation mark at a place."""
    mark = text[at]
    at += 1
    while at < end:
        if text[at] == mark:
            return at + 1
        at += 2 if text[at] == "\\" else 1
    return end


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
    """Make an object; lists under one name are joined, as models write types twice."""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields and isinstance(value, list) and isinstance(fields[name], list):
            fields[name] = [*fields[name], *value]
        elif name in fields and fields[name] != value:
            raise ValueError(f"the field {clip(name)} stands twice in one object")
        else:
            fields[name] = value
    return fields


def _constant(name: str) -> float:
    return math.nan if name == "NaN" else math.inf


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, strict=False)
