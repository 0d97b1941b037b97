"""Regular expressions that are compiled when they are first used: most texts need few of them."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Pattern:
    """Stands for a compiled expression, whose methods and attributes it gets one by one."""

    def __init__(self, expression: Any, flags: int) -> None:
        self._given = expression, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._given), name)  # which `re` keeps
        setattr(self, name, value)
        return value


def pattern(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return an expression that is compiled when it is first used.

    >>> numbers = pattern("[0-9]+")
    >>> numbers.findall("3 of 12")
    ['3', '12']
    """
    return cast("re.Pattern[AnyStr]", _Pattern(expression, flags))
