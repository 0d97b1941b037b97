"""Values as JSON has them, checked when they become objects of Python's own types.

It knows the types that model files have: text, numbers, truth values, lists, tuples, objects with text keys,
dataclasses, named tuples, alternatives, and bounds. A library for this would take longer to import than all else that a
sentence needs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from sys import float_info
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from spanloom.errors import ModelError, clip

LARGEST = 1e12
"""No weight or penalty of a model is further from 0: sums of a million of them are numbers that kernels can follow."""
_NAMES: Final = {
    str: "text", int: "a whole number", float: "a finite number", bool: "true or false", list: "a list",
    tuple: "a list", dict: "an object",
}  # fmt: skip


class Within(NamedTuple):
    """Bounds of a number, or of the length of a list."""

    least: float = -math.inf
    most: float = math.inf


Bounded = Annotated[float, Within(-LARGEST, LARGEST)]


@cache
def _types(kind: type) -> dict[str, tuple[Any, Any]]:
    """Return the types of a class's fields, and their defaults."""
    every = get_type_hints(kind, include_extras=True)
    hints = {name: one for name, one in every.items() if get_origin(one) is not ClassVar}
    if is_dataclass(kind):
        return {one.name: (hints[one.name], one.default) for one in fields(kind)}
    defaults = getattr(kind, "_field_defaults", None)  # of a named tuple
    if defaults is None:
        defaults = {name: getattr(kind, name) for name in hints if hasattr(kind, name)}
    return {name: (one, defaults.get(name, MISSING)) for name, one in hints.items()}


def fields_of(kind: type, given: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """Return the values of a class's fields, checked; others are ignored.

    Raises:
        ModelError: one is missing, or is not of its type.
    """
    found = {}
    for name, (one, default) in _types(kind).items():
        if name in given:
            found[name] = checked(one, given[name], f"{place}{name}")
        elif default is MISSING:
            raise ModelError(f"{place}{name}: is missing")
        else:
            found[name] = default
    return found


def checked(kind: Any, value: Any, place: str = "") -> Any:
    """Return a value, such as JSON has it, as a type.

    Args:
        kind: the type.
        value: what should be of it; an object of the type itself is not looked into.
        place: of the value, for the error.

    Raises:
        ModelError: the value is not of the type.

    >>> checked(tuple[int, float | None], [3, None]), checked(dict[str, list[str]], {"a": ["b"]})
    ((3, None), {'a': ['b']})
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any or (is_dataclass(kind) and isinstance(value, kind)):  # type: ignore[arg-type]
        return value
    if origin is Annotated:
        found, (least, most) = checked(inner[0], value, place), inner[1]
        if not least <= (len(found) if isinstance(found, list) else found) <= most:
            raise ModelError(f"{place}: found {clip(str(value))}, expected one from {least:g} to {most:g}")
        return found
    if origin in (Union, UnionType):
        if value is None and NoneType in inner:
            return None
        *others, last = (one for one in inner if one is not NoneType)
        for one in others:
            with suppress(ModelError):
                return checked(one, value, place)
        return checked(last, value, place)
    if origin in (list, tuple) and isinstance(value, list | tuple):
        if origin is list or inner[-1] is ...:
            return origin(_each(inner[0], value, range(len(value)), place))
        if len(value) == len(inner):
            return tuple(checked(one, item, f"{place}.{n}") for n, (one, item) in enumerate(zip(inner, value)))  # noqa: B905
    elif origin is dict and isinstance(value, Mapping):
        return dict(zip(value, _each(inner[1], value.values(), value, place), strict=True))
    elif origin is Literal and value in inner:
        return value
    elif kind is float and hasattr(value, "__float__") and type(value) is not bool and abs(value) <= float_info.max:
        return float(value)
    elif kind is int and hasattr(value, "__index__") and type(value) is not bool:
        return int(value)
    elif kind in (str, bool) and isinstance(value, kind):
        return value
    elif isinstance(kind, type) and is_dataclass(kind) and isinstance(value, Mapping):
        return kind(**fields_of(kind, value, f"{place}."))
    elif hasattr(kind, "_fields") and isinstance(value, list | tuple):
        return kind(**fields_of(kind, dict(zip(kind._fields, value)), f"{place}."))  # noqa: B905
    raise ModelError(f"{place}: found {clip(str(value))}, expected {_NAMES.get(origin or kind, kind)}")


def _each(kind: Any, values: Collection[Any], names: Iterable[Any], place: str) -> Iterable[Any]:
    """Return checked values; a long list of texts, such as words, is looked at by the kernel of a set."""
    if kind is str and set(map(type, values)) <= {str}:
        return values
    return [checked(kind, value, f"{place}.{name}") for name, value in zip(names, values, strict=True)]


def plain(value: Any) -> Any:
    """Return a value as JSON has it: dataclasses are objects, tuples are lists."""
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value
