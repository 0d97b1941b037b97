"""Strict JSON parsing: no duplicate fields, no infinities, no half of a surrogate pair."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeGuard

from spanloom.errors import DataError, clip
from spanloom.files.output import Sink
from spanloom.formats.source import decode

_LARGEST = 2**62  # what an int64 holds with room to add
_SHOWN = 60  # characters of a wrong value in a message


def loads(raw: bytes, path: str | Path, line: int | None = None) -> object:
    r"""Parse JSON strictly: no field twice, no ``NaN``, no number that is too large, no half of a surrogate pair.

    Args:
        raw: one line of a file, or all of it.
        path: for messages.
        line: the number of the line; ``None`` for a whole file.

    Raises:
        DataError: invalid JSON, or a value that is not allowed.

    >>> loads(b'{"a": [1, 2]}', "a.json")
    {'a': [1, 2]}
    >>> loads(b'{"a":\n}', "a.json")
    Traceback (most recent call last):
    spanloom.errors.DataError: a.json:2: not JSON: expecting value at column 1; expected one JSON value
    """
    text = decode(raw, path, line).rstrip()  # or a string cut short would be reported to hold a line end
    try:
        record = _decoded(text)
        if b"\\ud" in raw or b"\\uD" in raw:
            json.dumps(record, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
        message = f"not JSON: {reason} at column {error.colno}"
        expected = "one JSON value" if line is None else "one JSON object a line"
        array = text.startswith("[") and line == 1
        hint = " (the file looks like one JSON array: put one record on each line)" if array else ""
        raise DataError(f"{message}; expected {expected}{hint}", path=path, line=line or error.lineno) from error
    except UnicodeEncodeError as error:
        message = r"half of a surrogate pair (\ud800 to \udfff) without the other half; expected Unicode characters"
        raise DataError(message, path=path, line=line) from error
    except ValueError as error:
        reason = "an integer has thousands of digits" if "integer string conversion" in str(error) else str(error)
        raise DataError(f"JSON that cannot be used: {reason}", path=path, line=line) from error
    except RecursionError as error:
        message = "the JSON is nested too deeply; expected a document's record"
        raise DataError(message, path=path, line=line) from error
    return record


def not_as_expected(name: str, value: object, expected: str) -> str:
    """Return the message for a value of the wrong kind, or one that is missing.

    >>> not_as_expected("offset", "x", "an integer"), not_as_expected("offset", None, "an integer")
    ('offset is "x", expected an integer', 'offset is missing, expected an integer')
    """
    if value is None:
        return f"{name} is missing, expected {expected}"
    try:
        shown = json.dumps(value, default=repr)
    except (RecursionError, ValueError):
        shown = "nested too deeply"
    return f"{name} is {shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + '…'}, expected {expected}"


to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def write_list(file: Sink, texts: Iterable[str]) -> None:
    """Write texts of JSON as a list, each on a line."""
    before = "[\n"
    for text in texts:
        file.write(before + text)
        before = ",\n"
    file.write("[]\n" if before == "[\n" else "\n]\n")


def _decoded(text: str) -> object:
    """Return the value that `_DECODER` decodes: where nothing is around it, without a search for white space."""
    try:
        value, end = _SCAN(text, 0)
    except StopIteration:
        end = -1
    return value if end == len(text) else _DECODER.decode(text)


def _refuse(name: str) -> float:
    raise ValueError(f"found {name}, expected a number (JSON knows none such)")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"the number {digits[:20]} is too large")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name in fields if counts[name] > 1)
        raise ValueError(f"the field {clip(twice)} occurs twice in one object")
    return fields


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_object)
_SCAN: Callable[[str, int], tuple[Any, int]] = _DECODER.scan_once  # type: ignore[attr-defined]


def field_of(value: object, name: str, kind: type, where: str) -> Any:
    """Return a field of an object.

    Raises:
        DataError: the value is no object, or its field is missing or of another kind.
    """
    if not isinstance(value, dict):
        raise DataError(f"{where} is no object, expected an object with {name!r}")
    found = value.get(name)
    if not isinstance(found, kind):
        expected = {"dict": "an object", "list": "a list", "str": "a text"}[kind.__name__]
        is_there = "missing" if found is None else f"of type {type(found).__name__}"
        raise DataError(f"{where}: {name!r} is {is_there}, expected {expected}")
    return found


# Kinds of JSON values: lists of values of some types, and pairs of offsets.


def from_bytes(value: bytes) -> str | dict[str, str]:
    """Return bytes of UTF-8 as text, and others, such as those of an image, as base64.

    >>> from_bytes(b"pain"), from_bytes(b"\\xff\\x00")
    ('pain', {'base64': '/wA='})
    """
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode("ascii")}


def are(value: object, *types: type) -> TypeGuard[list[Any]]:
    """Return whether a value is a list of values of some types; true and false are no integers.

    >>> are(["a", "b"], str), are([], str), are([3, True], int), are("ab", str)
    (True, True, False, False)
    """
    if not isinstance(value, list):
        return False
    return all(issubclass(one, types) and (one is not bool or bool in types) for one in set(map(type, value)))


def some(value: object, *types: type) -> TypeGuard[list[Any]]:
    """Return whether a value is such a list, and not empty."""
    return bool(value) and are(value, *types)


def is_offset(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer, and small enough for an offset."""
    return type(value) is int and -_LARGEST < value < _LARGEST


def is_pair(value: object) -> TypeGuard[list[int]]:
    """Return whether a value is a list of two integers."""
    return are(value, int) and len(value) == 2


def are_pairs(value: object) -> TypeGuard[list[list[int]]]:
    """Return whether a value is a list of such pairs, and not empty."""
    return some(value, list) and all(map(is_pair, value))
