"""Regular expressions that are compiled when they are first used: most texts need few of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, AnyStr, Final, cast

_LEAKS: Final = re.fullmatch("(?:ab?c)++", "aca") is not None
"""Whether possessive repetitions keep what a repetition that failed consumed, as they do before Python 3.11.5."""


class _Pattern:
    """Stands for a compiled expression, whose methods and attributes it gets one by one."""

    def __init__(self, expression: Any, flags: int) -> None:
        self._given = expression, flags

    def __getattr__(self, name: str) -> Any:
        compiled = compile_atomic(*self._given) if _LEAKS else re.compile(*self._given)  # both are kept
        value = self._given[0] if name == "pattern" else getattr(compiled, name)
        setattr(self, name, value)
        return value


def pattern(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return an expression that is compiled when it is first used.

    >>> numbers = pattern("[0-9]+")
    >>> numbers.findall("3 of 12")
    ['3', '12']
    """
    return cast("re.Pattern[AnyStr]", _Pattern(expression, flags))


@cache
def compile_atomic(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Compile an expression with ``(?>X+)`` in place of ``X++``, which means the same.

    >>> compile_atomic("(?:ab?c)++").match("aca").group()
    'ac'
    """
    parser, names = import_module("re._parser"), import_module("re._constants")

    def parts(value: Any) -> Iterator[Any]:
        if isinstance(value, parser.SubPattern):
            yield value
        elif isinstance(value, tuple | list):
            for one in value:
                yield from parts(one)

    def change(tree: Any) -> None:
        for number, (kind, value) in enumerate(tree.data):
            for part in parts(value):
                change(part)
            if kind is names.POSSESSIVE_REPEAT:
                tree.data[number] = names.ATOMIC_GROUP, parser.SubPattern(tree.state, [(names.MAX_REPEAT, value)])

    tree = parser.parse(expression, flags)
    change(tree)
    return cast("re.Pattern[AnyStr]", import_module("re._compiler").compile(tree, flags))
