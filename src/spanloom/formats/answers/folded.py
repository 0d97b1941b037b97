"""Text without what a copy of it may lose: how its blanks, quotation marks, dashes, accents and capitals are written.

Every character of the folded text knows the characters of the original that it stands for, so whatever is found in the
folded text is a span of the original.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from spanloom.text.characters import CJK

_CJK: Final = re.compile(f"[{CJK}]")
_ONE_FORM: Final = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´ʹʼ＇", "'"),
        **dict.fromkeys("“”„‟″«»〝〞＂", '"'),
        **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
    }
)
_UNSEEN: Final = frozenset({"Cc", "Cf"})  # controls, joiners, marks of direction, soft hyphens
_SELECTORS: Final = frozenset(map(chr, range(0xFE00, 0xFE10)))
_MEMORY: Final = 1 << 14  # characters with their accents


class Folded(NamedTuple):
    """A folded text of F characters.

    Args:
        text: the F characters.
        starts: (F,) where the piece of the original begins that each character stands for.
        ends: (F,) where it ends.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, first: int, end: int) -> tuple[int, int] | None:
        """Return the span of the original for folded characters; ``None`` if an end would cut one of its characters.

        >>> folded = fold("½ cup")
        >>> folded.text, folded.span(0, 3), folded.span(0, 1)
        ('1⁄2 cup', (0, 1), None)
        """
        before = first and self.starts[first - 1] == self.starts[first]
        behind = end < len(self.text) and self.starts[end - 1] == self.starts[end]
        return None if before or behind else (self.starts[first], self.ends[end - 1])

    def without_blanks(self) -> Folded:
        """Return the folded text without white space."""
        kept = [place for place, character in enumerate(self.text) if character != " "]
        starts, ends = (
            array("q", [self.starts[place] for place in kept]),
            array("q", [self.ends[place] for place in kept]),
        )
        return Folded(self.text.replace(" ", ""), starts, ends)


def unfolded(text: str) -> Folded:
    """Return a text as it is."""
    return Folded(text, range(len(text)), range(1, len(text) + 1))


def fold(text: str, *, case: bool = False) -> Folded:
    r"""Fold a text: one form for blanks, quotation marks and dashes, and compatibility forms of Unicode (NFKD).

    A run of white space is one blank, and none beside a character of a script without blanks between words. Characters
    that are not seen are left out.

    Args:
        text: the text.
        case: fold case, too.

    >>> fold("“Mild”\n  chest–pain").text, fold("Ångström", case=True).text == fold("ÅNGSTRÖM", case=True).text
    ('"Mild" chest-pain', True)
    >>> fold("胸\n痛 5 mg").text
    '胸痛5 mg'
    """
    out: list[str] = []
    starts, ends = array("q"), array("q")
    position, length, spaceless = 0, len(text), False
    while position < length:
        start, character = position, text[position]
        position += 1
        if character.isspace():
            if out and out[-1] == " ":
                ends[-1] = position
            elif not spaceless:
                out.append(" ")
                starts.append(start)
                ends.append(position)
            continue
        while position < length and text[position] > "\u02ff" and unicodedata.combining(text[position]):
            position += 1
        folded = _piece(text[start:position], case)
        if not folded:
            continue
        spaceless = character > "\u2e7f" and _CJK.match(character) is not None
        if spaceless and out and out[-1] == " ":
            del out[-1], starts[-1], ends[-1]
        for one in folded:
            out.append(one)
            starts.append(start)
            ends.append(position)
    return Folded("".join(out), starts, ends)


@lru_cache(_MEMORY)
def _piece(piece: str, case: bool) -> str:
    """Fold a character with its accents; empty if nobody sees it."""
    folded = unicodedata.normalize("NFKD", piece.translate(_ONE_FORM)).translate(_ONE_FORM)
    if case:
        folded = unicodedata.normalize("NFKD", folded.casefold())
    return "".join(
        one
        for one in folded
        if unicodedata.category(one) not in _UNSEEN and one not in _SELECTORS and not one.isspace()
    )
