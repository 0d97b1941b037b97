"""Direction of text: the part of the bidirectional algorithm (Unicode Annex 9) that places whole words.

Browsers order the characters of a page themselves; a drawing must compute the place of each word.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import groupby

_STRONG = {"L": False, "R": True, "AL": True}


def strong(text: str) -> bool | None:
    """Return whether the first letter of a text is of a right-to-left script; ``None`` without any letter.

    >>> strong("12 mg"), strong("12 שעות"), strong("12")
    (False, True, None)
    """
    for char in text:
        kind = unicodedata.bidirectional(char)
        if kind in _STRONG:
            return _STRONG[kind]
    return None


def leftward(words: Sequence[str]) -> tuple[bool, list[bool]]:
    """Return whether a line runs from right to left (rules P2 and P3), and whether each of its words does.

    A word without letters (white space, punctuation, numbers) runs as its neighbours do if they agree, else as the line
    does (rules N1 and N2).

    >>> leftward(["pain", " ", "כאב", " ", "ראש"])
    (False, [False, False, True, True, True])
    """
    own = [None if word.isspace() else strong(word) for word in words]
    base = next((value for value in own if value is not None), False)
    before = _spread(own, base)
    after = _spread(own[::-1], base)[::-1]
    known = zip(own, before, after, strict=True)
    return base, [value if value is not None else left if left == right else base for value, left, right in known]


def _spread(values: Sequence[bool | None], start: bool) -> list[bool]:
    last, spread = start, []
    for value in values:
        last = last if value is None else value
        spread.append(last)
    return spread


def visual_order(base: bool, words: Sequence[bool]) -> list[int]:
    """Return the numbers of a line's words from left to right (rule L2, with words in place of characters).

    >>> visual_order(False, [False, False, True, True, True])
    [0, 1, 4, 3, 2]
    """
    order: list[int] = []
    for turned, group in groupby(range(len(words)), key=lambda i: words[i] != base):
        run = list(group)
        order += run[::-1] if turned else run
    return order[::-1] if base else order
