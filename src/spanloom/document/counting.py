"""Ways of counting offsets: in which unit, from which number, with which end; and their conversion to characters.

Offsets count Unicode characters from 0, end excluded. Other programs count UTF-16 units (Java, JavaScript, .NET), bytes
of UTF-8, CR LF as one character (a browser, or Python's text files), or LF as two (a text that was converted after it
was annotated); they count from 1, or name the last character and not the one behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Final, Literal

import numpy as np

from spanloom.document.document import Offsets
from spanloom.errors import UsageError

_FAR: Final = 64  # characters by which the offsets of a whole file may be shifted
_UNITS: Final = {"characters": "", "utf16": "in UTF-16 units", "bytes": "in UTF-8 bytes"}
_LINE_ENDS: Final = {"": "", "crlf": "with CR LF as one character", "lf": "with LF as two characters"}
_ENDS: Final = ((0, False), (1, True), (0, True), (1, False))  # the first offset, and whether ends are included
_NAMES: Final[Mapping[str, dict[str, Any]]] = {
    "characters": {}, "utf16": {"unit": "utf16"}, "bytes": {"unit": "bytes"}, "crlf": {"line_end": "crlf"},
    "lf": {"line_end": "lf"}, "one-based": {"first": 1}, "inclusive": {"inclusive": True},
}  # fmt: skip
AUTO: Final = "auto"
NAMES: Final = (AUTO, *_NAMES)
"""What ``offsets`` may be; several names are joined by ``+``."""


@dataclass(frozen=True)
class Counting:
    """A way of counting.

    Args:
        unit: what is counted.
        line_end: ``"crlf"`` where CR LF count as one character, ``"lf"`` where LF alone counts as two.
        first: the number of the first character.
        inclusive: whether the end is the last character, and not the one behind it.
        shift: by which all offsets are too large.

    >>> str(Counting("utf16")), str(Counting(first=1, inclusive=True)), str(Counting())
    ('in UTF-16 units', 'from 1, with the last character included', 'in characters')
    """

    unit: Literal["characters", "utf16", "bytes"] = "characters"
    line_end: Literal["", "crlf", "lf"] = ""
    first: int = 0
    inclusive: bool = False
    shift: int = 0

    def __str__(self) -> str:
        ends = ("from 1" * bool(self.first), "with the last character included" * self.inclusive)
        parts = (_UNITS[self.unit], _LINE_ENDS[self.line_end], *ends)
        moved = f"{abs(self.shift)} {'more' if self.shift > 0 else 'less'} than they should be" if self.shift else ""
        return ", ".join(filter(None, (*parts, moved))) or "in characters"

    @property
    def name(self) -> str:
        """The option that asks for it."""
        parts = [str(name) for name in (self.unit, self.line_end) if name not in ("", "characters")]
        parts += ["one-based"] * bool(self.first) + ["inclusive"] * self.inclusive
        return "+".join(parts) or "characters"

    @property
    def oddities(self) -> int:
        """In how many ways it differs from counting characters; a shift, which no program counts by, is the oddest."""
        ends = bool(self.first or self.inclusive)
        return (self.unit != "characters") + bool(self.line_end) + ends + 3 * bool(self.shift)

    def to_characters(self, text: CountedText, span: tuple[int, int]) -> tuple[int, int] | None:
        """Return the span in characters; ``None`` if an end of it is inside a character.

        An offset outside the text stays as far outside.
        """
        start, end = (offset - self.first - self.shift for offset in span)
        places = text.places(self.unit, self.line_end)
        found = [_character(places, offset) for offset in (start, end + self.inclusive)]
        return None if None in found else (found[0], found[1])  # type: ignore[return-value]


def _character(places: Offsets | None, offset: int) -> int | None:
    if places is None or offset < 0:
        return offset
    last = len(places) - 1
    if offset > places[-1]:
        return last + offset - int(places[-1])
    found = int(np.searchsorted(places, offset, side="right")) - 1
    return found if places[found] == offset else None


class CountedText:
    """A text with the places of its characters as others count them, each worked out when it is first needed.

    >>> text = CountedText("𝒳 a\\r\\nÅ unit")
    >>> Counting("utf16").to_characters(text, (8, 12)), Counting("bytes", "crlf").to_characters(text, (10, 14))
    ((7, 11), (7, 11))
    >>> Counting("bytes").to_characters(text, (2, 4)) is None
    True
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._places: dict[tuple[str, str], Offsets] = {}

    @cached_property
    def _units(self) -> frozenset[str]:
        """The units and line ends that make a difference."""
        last = "" if self.text.isascii() else max(self.text)
        marks = {"utf16": last > "\uffff", "bytes": bool(last), "crlf": "\r\n" in self.text}
        alone = self.text.count("\n") > self.text.count("\r\n")
        return frozenset(name for name, counts in (*marks.items(), ("lf", alone)) if counts)

    @cached_property
    def countings(self) -> list[Counting]:
        """The ways of counting other than in characters, the simple ones first.

        Those that are the same for a text are left out: one of ASCII has no other unit.

        >>> [str(way) for way in CountedText("a pain").countings]
        ['from 1, with the last character included', 'with the last character included', 'from 1']
        """
        ways = [
            Counting(unit, line_end, *ends)  # type: ignore[arg-type]
            for unit, line_end, ends in product(_UNITS, _LINE_ENDS, _ENDS)
            if (unit == "characters" or self.places(unit, "") is not None)
            and (not line_end or self.places("", line_end) is not None)
        ]
        return sorted(ways, key=lambda way: (way.oddities, bool(way.first or way.inclusive)))[1:]

    def places(self, unit: str, line_end: str) -> Offsets | None:
        """Return the place of each character, and that of the end; ``None`` if it is as in characters."""
        key = (unit if unit in self._units else "", line_end if line_end in self._units else "")
        if key == ("", ""):
            return None
        if key not in self._places:
            codes = np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), np.uint32)
            sizes = np.ones(len(codes), np.int64)
            if key[0] == "utf16":
                sizes += codes > 0xFFFF
            elif key[0] == "bytes":
                sizes += (codes > 0x7F).astype(np.int64) + (codes > 0x7FF) + (codes > 0xFFFF)
            if key[1]:
                behind = np.concatenate([[False], codes[:-1] == ord("\r")]) & (codes == ord("\n"))
                sizes += -behind.astype(np.int64) if key[1] == "crlf" else ((codes == ord("\n")) & ~behind)
            self._places[key] = np.concatenate([[0], np.cumsum(sizes)])
        return self._places[key]

    def size(self, unit: str) -> int:
        """Return the length in a unit."""
        places = self.places(unit, "")
        return len(self.text) if places is None else int(places[-1])

    def hint(self, end: int) -> str:
        """Return advice for an offset outside the text that would be inside it in another unit."""
        unit = next((unit for unit in ("utf16", "bytes") if len(self.text) < end <= self.size(unit)), None)
        if unit is None:
            return ""
        return f"; it fits if counted {_UNITS[unit]}: name them (--offsets {unit}), or count characters"


def shifts(text: str, start: int, surface: str) -> Iterator[Counting]:
    """Yield the shifts under which a surface occurs near an offset."""
    near = text[max(start - _FAR, 0) : start + _FAR + len(surface)]
    at = near.find(surface) if surface.strip() else -1
    while at >= 0:
        yield Counting(shift=start - max(start - _FAR, 0) - at)
        at = near.find(surface, at + 1)


def counting_of(name: str) -> Counting | None:
    """Return the way of counting of an option; ``None`` if it is to be found out.

    Raises:
        UsageError: an unknown name, or two that contradict each other.

    >>> counting_of("auto") is None, counting_of("utf16+one-based")
    (True, Counting(unit='utf16', line_end='', first=1, inclusive=False, shift=0))
    """
    if name == AUTO:
        return None
    fields: dict[str, Any] = {}
    for part in name.split("+") if isinstance(name, str) else ("",):
        known = _NAMES.get(part.strip())
        if known is None or known.keys() & fields.keys():
            raise UsageError(f"offsets is {name!r}, expected one of {', '.join(NAMES)}, or some of them joined by +")
        fields |= known
    return Counting(**fields)
