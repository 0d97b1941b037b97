"""Token patterns: conditions on one token after the other, some of them repeated, found in linear time.

For each token and each element, from the last element to the first, the end of the longest match of the rest is one
array over all tokens: what is repeated is a running maximum from the right within stretches of tokens that pass the
condition. No match is tried twice, whatever the pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from spanloom.hashing import Int64
from spanloom.label.matches import LabelText, Matches, contiguous
from spanloom.text.expressions import Expression

Repeat = Literal["", "?", "*", "+"]
REPEATS: Final[tuple[Repeat, ...]] = get_args(Repeat)


@dataclass(frozen=True, slots=True)
class Condition:
    """Conditions that a token passes, all of them.

    Args:
        text: of its text; ``None`` for any.
        columns: column -> condition on its value.
        options: conditions of which it passes one; none for no such condition.
        negated: whether it is the other tokens that pass.
    """

    text: Expression | None = None
    columns: tuple[tuple[str, Expression], ...] = ()
    options: tuple[Condition, ...] = ()
    negated: bool = False

    def where(self, text: LabelText) -> NDArray[np.bool_]:
        """Return (T,) which tokens pass; an empty token does not."""
        there = text.where(bool)
        found = there.copy() if self.text is None else text.where(self.text.matches)
        for name, expression in self.columns:
            found &= text.column(name, expression.matches)
        if self.options:
            found &= reduce(np.logical_or, [one.where(text) for one in self.options])
        return there & ~found if self.negated else found

    def column_names(self) -> set[str]:
        """Return the columns that it asks for."""
        return {name for name, _ in self.columns}.union(*(one.column_names() for one in self.options))


@dataclass(frozen=True, slots=True)
class Element:
    """A condition, and the possible number of successive tokens that satisfy it."""

    condition: Condition
    repeat: Repeat = ""


def find_sequences(text: LabelText, patterns: Sequence[Sequence[Element]]) -> Matches:
    """Return the longest match of some patterns at each token where there is one; it lies in one sentence.

    Args:
        text: T tokens in N sentences.
        patterns: alternatives.
    """
    # one empty place more behind each sentence, so that no match continues behind it
    sizes = np.diff(text.batch.sentences)
    place = np.arange(len(text)) + np.repeat(np.arange(len(sizes)), sizes)
    total = len(text) + len(sizes)
    ends = reduce(np.maximum, [_ends(text, pattern, place, total) for pattern in patterns])
    size = ends[place] - place
    first = np.flatnonzero(size > 0)
    return contiguous(first, first + size[first])


def _ends(text: LabelText, pattern: Sequence[Element], place: Int64, total: int) -> Int64:
    """Return the end of the longest match at each of ``total`` places, or -1."""
    rest = np.arange(total)
    for element in reversed(pattern):
        passed = np.zeros(total, np.bool_)
        passed[place] = element.condition.where(text)
        once = np.where(passed, np.append(rest[1:], -1), -1)
        if element.repeat in ("*", "+"):
            once = _running(once, passed)
        rest = np.maximum(rest, once) if element.repeat in ("*", "?") else once
    return rest


def _running(values: Int64, passed: NDArray[np.bool_]) -> Int64:
    """Return the largest value at or behind each place within a stretch of places that pass; -1 elsewhere."""
    back, outside = values[::-1] + 1, ~passed[::-1]
    stretch = np.cumsum(outside) * (len(values) + 2)
    best = np.maximum.accumulate(back + stretch) - stretch - 1
    return np.where(outside, -1, best)[::-1]
