"""Regular expressions over one token, matched in time linear in its length, whatever the expression.

Python's `re` tries one alternative after the other, and an expression such as ``(a+)+b`` takes it longer than anyone
waits. Here an expression is the automaton of its positions (Glushkov 1961): all alternatives are followed at once, as
the bits of a number. What one character may be is left to `re`, so classes, escapes and case mean what they do there.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from spanloom.hashing import Int64
from spanloom.label.matches import LabelText, Matches, contiguous

POSITIONS: Final = 500
"""Characters and classes that an expression may have, repetitions written out."""
DEPTH: Final = 50
"""Groups within groups."""
_KEPT: Final = 1 << 14  # sets of positions whose successors are kept
_QUANTIFIER: Final = re.compile(r"[*+?]|\{(\d*)(?:(,)(\d*))?\}")
_CLASS: Final = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_ESCAPE: Final = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[dDwWsStnrfva]|[^A-Za-z0-9])", re.DOTALL
)
_PLACES: Final = {"^", "$", r"\b", r"\B", r"\A", r"\Z"}


class ExpressionError(ValueError):
    """An expression that is invalid or not supported; the message gives the reason."""


class _Part(NamedTuple):
    """A part of an automaton.

    Args:
        empty: whether it may be absent.
        first, last: the positions that it may begin and end with, as bits.
    """

    empty: bool
    first: int
    last: int


# of a tree: a character's source; or ("seq" | "alt", trees); or ("repeat", tree, least, most), most -1 without end
_Tree = str | tuple[str, list["_Tree"]] | tuple[str, "_Tree", int, int]


class TokenExpression:
    r"""A regular expression that a whole token matches or does not.

    It may have characters, ``.``, classes (``[a-z]``, ``\d``), groups, ``|``, and the quantifiers ``?``, ``*``, ``+``
    and ``{2,4}``; anchors, back-references and look-around are not supported, as one token does not need them.

    Args:
        source: the expression.
        ignore_case: whether to ignore case.

    Raises:
        ExpressionError: it is invalid or not supported.

    >>> virus = TokenExpression(r"(?:HIV|CMV)\d?")
    >>> virus.matches("HIV1"), virus.matches("hiv"), virus.matches("HIV12")
    (True, False, False)
    >>> TokenExpression("(a+)+b").matches("a" * 100_000)
    False
    """

    def __init__(self, source: str, ignore_case: bool = False) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", FutureWarning)
                re.compile(source)
        except FutureWarning as error:
            raise ExpressionError(f"it is ambiguous: {str(error).lower()}; write a backslash before") from None
        except (re.error, OverflowError, RecursionError) as error:
            raise ExpressionError(f"it is not a regular expression: {error}") from None
        tree = _Parser(source).tree()
        if _size(tree) > POSITIONS:
            raise ExpressionError(f"it has more than {POSITIONS} characters, repetitions written out; shorten it")
        self.source, self.ignore_case = source, ignore_case
        self._leaves: list[str] = []
        self._follow: list[int] = []
        self._whole = self._built(tree)
        flags = re.IGNORECASE if ignore_case else 0
        places: dict[str, int] = {}
        for position, leaf in enumerate(self._leaves):
            places[leaf] = places.get(leaf, 0) | 1 << position
        self._tests = [(re.compile(leaf, flags), bits) for leaf, bits in places.items()]
        self._allowed = lru_cache(_KEPT)(self._allow)
        self._next = lru_cache(_KEPT)(self._succeed)

    def matches(self, token: str) -> bool:
        """Return whether a whole token matches."""
        ahead, state = self._whole.first, 0
        for character in token:
            state = ahead & self._allowed(character)
            if not state:
                return False
            ahead = self._next(state)
        return bool(state & self._whole.last) if token else self._whole.empty

    def _allow(self, character: str) -> int:
        """Return the positions where a character is allowed."""
        found = 0
        for test, bits in self._tests:
            if test.fullmatch(character):
                found |= bits
        return found

    def _succeed(self, state: int) -> int:
        """Return the positions that may come after some."""
        found = 0
        while state:
            low = state & -state
            found |= self._follow[low.bit_length() - 1]
            state ^= low
        return found

    def _built(self, tree: _Tree) -> _Part:
        if isinstance(tree, str):
            self._leaves.append(tree)
            self._follow.append(0)
            bit = 1 << (len(self._leaves) - 1)
            return _Part(False, bit, bit)
        if len(tree) == 4:
            return self._repeated(tree[1], tree[2], tree[3])
        if tree[0] == "alt":
            parts = [self._built(one) for one in tree[1]]
            first = last = 0
            for part in parts:
                first, last = first | part.first, last | part.last
            return _Part(any(part.empty for part in parts), first, last)
        whole = _Part(True, 0, 0)
        for one in tree[1]:
            whole = self._joined(whole, self._built(one))
        return whole

    def _repeated(self, tree: _Tree, least: int, most: int) -> _Part:
        whole = _Part(True, 0, 0)
        for _ in range(least):
            whole = self._joined(whole, self._built(tree))
        if most < 0:
            part = self._built(tree)
            self._link(part.last, part.first)
            return self._joined(whole, part._replace(empty=True))
        for _ in range(most - least):
            whole = self._joined(whole, self._built(tree)._replace(empty=True))
        return whole

    def _joined(self, one: _Part, other: _Part) -> _Part:
        self._link(one.last, other.first)
        first = one.first | other.first if one.empty else one.first
        last = one.last | other.last if other.empty else other.last
        return _Part(one.empty and other.empty, first, last)

    def _link(self, last: int, first: int) -> None:
        while last:
            low = last & -last
            self._follow[low.bit_length() - 1] |= first
            last ^= low


def _size(tree: _Tree) -> int:
    """Return the positions of a tree, repetitions written out."""
    if isinstance(tree, str):
        return 1
    if len(tree) == 4:
        return _size(tree[1]) * (tree[2] + 1 if tree[3] < 0 else tree[3])
    return sum(map(_size, tree[1]))


class _Parser:
    """Reads an expression that `re` has found to be valid."""

    def __init__(self, source: str) -> None:
        self._source, self._at = source, 0

    def tree(self) -> _Tree:
        """Return the whole of it."""
        return self._alternatives(0)

    def _alternatives(self, depth: int) -> _Tree:
        if depth > DEPTH:
            raise ExpressionError(f"it has groups more than {DEPTH} deep; shorten it")
        found: list[_Tree] = [self._sequence(depth)]
        while self._source.startswith("|", self._at):
            self._at += 1
            found.append(self._sequence(depth))
        return found[0] if len(found) == 1 else ("alt", found)

    def _sequence(self, depth: int) -> _Tree:
        found: list[_Tree] = []
        while self._at < len(self._source) and self._source[self._at] not in "|)":
            found.append(self._quantified(self._atom(depth)))
        return ("seq", found)

    def _quantified(self, tree: _Tree) -> _Tree:
        match = _QUANTIFIER.match(self._source, self._at)
        if match is None or match[0] == "{}":  # these are two characters
            return tree
        self._at = match.end()
        if self._at < len(self._source) and self._source[self._at] in "?+":
            sign = match[0] + self._source[self._at]
            raise ExpressionError(f"{sign} is not supported; write {match[0]}, all alternatives are tried")
        if match[0] in "*+?":
            least, most = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}[match[0]]
        else:
            least = int(match[1] or 0)
            most = least if match[2] is None else int(match[3] or -1)
        return ("repeat", tree, least, most)

    def _atom(self, depth: int) -> _Tree:
        character = self._source[self._at]
        if character == "(":
            if self._source.startswith("(?", self._at) and not self._source.startswith("(?:", self._at):
                raise self._beyond(self._source[self._at : self._at + 3])
            self._at += 3 if self._source.startswith("(?:", self._at) else 1
            tree = self._alternatives(depth + 1)
            self._at += 1
            return tree
        if character in "^$":
            raise self._beyond(character)
        if character == "[":
            return self._taken(_CLASS)
        if character == "\\":
            return self._taken(_ESCAPE)
        self._at += 1
        return "." if character == "." else re.escape(character)

    def _taken(self, kind: re.Pattern[str]) -> str:
        match = kind.match(self._source, self._at)
        if match is None:
            raise self._beyond(self._source[self._at : self._at + 2])
        self._at = match.end()
        return match[0]

    def _beyond(self, sign: str) -> ExpressionError:
        if sign in _PLACES:
            return ExpressionError(f"{sign} is not supported; leave it out, the whole token is compared")
        known = "characters, classes, groups (...) and (?:...), |, ?, *, + and {2,4}"
        return ExpressionError(f"{sign} at {self._at} is beyond what is taken: {known}")


# Token patterns: conditions on one token after the other, some of them repeated, found in linear time.
#
# For each token and each element, from the last element to the first, the end of the longest match of the rest is one
# array over all tokens: what is repeated is a running maximum from the right within stretches of tokens that pass the
# condition. No match is tried twice, whatever the pattern.

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

    text: TokenExpression | None = None
    columns: tuple[tuple[str, TokenExpression], ...] = ()
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
