"""Regular expressions over one token, matched in time linear in its length, whatever the expression.

Python's `re` tries one alternative after the other, and an expression such as ``(a+)+b`` takes it longer than anyone
waits. Here all alternatives are followed at once: after each character there is the set of what may be left of the
expression (its partial derivatives, Antimirov 1996), which are no more than its characters. What one character may be
is left to `re`, so classes, escapes and case mean what they do there.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import chain
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from spanloom.hashing import Int64
from spanloom.label.matches import LabelText, Matches, contiguous

POSITIONS: Final = 500
"""Characters and classes that an expression may have, repetitions written out."""
DEPTH: Final = 50
"""Groups within groups."""
_KEPT: Final = 1 << 14  # sets of what is left whose successors are kept
_PART: Final = re.compile(
    r"\((?:\?:)?(?!\?)|[)|]"
    r"|(?P<times>[*+?]|\{(?!\})(?P<least>\d*)(?:(?P<comma>,)(?P<most>\d*))?\})(?P<sign>[?+]?)"
    r"|(?P<kind>\.|\[\^?\]?(?:\\.|[^\]\\])*\]"
    r"|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[dDwWsStnrfva]|[^A-Za-z0-9]))"
    r"|(?P<character>[^\\\[(^$])",
    re.DOTALL,
)
_PLACES: Final = {"^", "$", r"\b", r"\B", r"\A", r"\Z"}


class ExpressionError(ValueError):
    """An expression that is invalid or not supported; the message gives the reason."""


# of a tree: a character's source; ("alt", *sequences of trees); or ("repeat", tree, least, most), most -1 without end
_Tree = str | tuple[Any, ...]
_Sequence = tuple[_Tree, ...]


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
        whole = _tree(source)
        if _size(whole) > POSITIONS:
            raise ExpressionError(f"it has more than {POSITIONS} characters, repetitions written out; shorten it")
        self._flags = re.IGNORECASE if ignore_case else 0
        self._whole: frozenset[_Sequence] = frozenset([(whole,)])
        self._left = lru_cache(_KEPT)(lambda sequence, character: frozenset(self._after(sequence, character)))
        self._next = lru_cache(_KEPT)(self._after_each)

    def matches(self, token: str) -> bool:
        """Return whether a whole token matches."""
        left = self._whole
        for character in token:
            left = self._next(left, character)
            if not left:
                return False
        return any(all(map(_may_be_empty, sequence)) for sequence in left)

    def _after_each(self, sequences: frozenset[_Sequence], character: str) -> frozenset[_Sequence]:
        return frozenset().union(*(self._left(sequence, character) for sequence in sequences))

    def _after(self, sequence: _Sequence, character: str) -> Iterator[_Sequence]:
        """Yield what may be left of a sequence behind a character: its partial derivatives."""
        for place, tree in enumerate(sequence, 1):
            rest = sequence[place:]
            if isinstance(tree, str):
                if re.fullmatch(tree, character, self._flags):
                    yield rest
            elif tree[0] == "alt":
                yield from (left + rest for one in tree[1:] for left in self._after(one, character))
            elif tree[3]:
                _, inner, least, most = tree
                again = () if most == 1 else (("repeat", inner, max(least - 1, 0), most - (most > 0)),)
                yield from (left + again + rest for left in self._after((inner,), character))
            if not _may_be_empty(tree):
                return


def _may_be_empty(tree: _Tree) -> bool:
    if isinstance(tree, str):
        return False
    if tree[0] == "alt":
        return any(all(map(_may_be_empty, sequence)) for sequence in tree[1:])
    return not tree[2] or _may_be_empty(tree[1])


def _size(tree: _Tree) -> int:
    """Return the characters of a tree, repetitions written out."""
    if isinstance(tree, str):
        return 1
    if tree[0] == "alt":
        return sum(map(_size, chain.from_iterable(tree[1:])))
    inner, least, most = tree[1:]
    return _size(inner) * int(least + 1 if most < 0 else most)


def _tree(source: str) -> _Tree:
    """Return the alternatives of an expression that `re` has found to be valid."""
    groups: list[list[list[_Tree]]] = [[[]]]  # open ones: their alternatives, each a sequence
    at = 0
    while at < len(source):
        found = _PART.match(source, at)
        if found is None:
            raise _beyond(source, at)
        sequence, at = groups[-1][-1], found.end()
        if found["kind"] or found["character"]:
            sequence.append(found["kind"] or re.escape(found["character"]))
        elif times := found["times"]:
            if found["sign"]:
                raise ExpressionError(f"{found[0]} is not supported; write {times}, all alternatives are tried")
            least = int(found["least"] or times == "+")
            most = {"?": 1, "*": -1, "+": -1}.get(times) or int(found["most"] or (-1 if found["comma"] else least))
            sequence.append(("repeat", sequence.pop(), least, most))
        elif found[0] == "|":
            groups[-1].append([])
        elif found[0] == ")":
            groups[-2][-1].append(("alt", *map(tuple, groups.pop())))
        else:
            groups.append([[]])
            if len(groups) > DEPTH + 1:
                raise ExpressionError(f"it has groups more than {DEPTH} deep; shorten it")
    return ("alt", *map(tuple, groups[0]))


def _beyond(source: str, at: int) -> ExpressionError:
    sign = source[at : at + (3 if source[at] == "(" else 2 if source[at] in "\\[" else 1)]
    if sign in _PLACES:
        return ExpressionError(f"{sign} is not supported; leave it out, the whole token is compared")
    known = "characters, classes, groups (...) and (?:...), |, ?, *, + and {2,4}"
    return ExpressionError(f"{sign} at {at} is beyond what is taken: {known}")


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
