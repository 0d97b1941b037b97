"""Regular expressions that a whole text matches or does not, in time linear in its length, whatever the expression.

Python's `re` tries one alternative after the other, and an expression such as ``(a+)+b`` takes it longer than anyone
waits. Here all alternatives are followed at once: after each character there is the set of what may be left of the
expression (its partial derivatives, Antimirov 1996), which are no more than its characters. What one character may be
is left to `re`, so classes, escapes and case mean what they do there.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import Any, Final

POSITIONS: Final = 500
"""Characters and classes that an expression may have, repetitions written out."""
DEPTH: Final = 50
"""Groups within groups."""
_KEPT: Final = 1 << 14  # sets of what is left whose successors are kept
_PART: Final = re.compile(
    r"\((?:\?:)?(?!\?)|[)|]"
    r"|(?P<times>[*+?]|\{(?!\})(?P<least>[0-9]*)(?:(?P<comma>,)(?P<most>[0-9]*))?\})\??(?P<sign>\+?)"
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
State = frozenset[_Sequence]
"""What may be left of an expression."""


class Expression:
    r"""A regular expression that a whole text matches or does not.

    It may have characters, ``.``, classes (``[a-z]``, ``\d``), groups, ``|``, and the quantifiers ``?``, ``*``, ``+``
    and ``{2,4}``, lazy or not; anchors, back-references and look-around are not supported.

    Args:
        source: the expression.
        flags: as of `re.compile`.

    Raises:
        ExpressionError: it is invalid or not supported.

    Attributes: ``whole``, the state before the first character.

    >>> virus = Expression(r"(?:HIV|CMV)\d?")
    >>> virus.matches("HIV1"), virus.matches("hiv"), virus.matches("HIV12")
    (True, False, False)
    >>> Expression("(a+)+b").matches("a" * 100_000)
    False
    """

    def __init__(self, source: str, flags: int = 0) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", FutureWarning)
                re.compile(source)
        except FutureWarning as error:
            raise ExpressionError(f"it is ambiguous: {str(error).lower()}; write a backslash before") from None
        except (re.error, OverflowError, RecursionError) as error:
            raise ExpressionError(f"it is not a regular expression: {error}") from None
        tree = _tree(source)
        if _size(tree) > POSITIONS:
            raise ExpressionError(f"it has more than {POSITIONS} characters, repetitions written out; shorten it")
        self._flags = flags
        self.whole: State = frozenset([(tree,)])
        self._left = lru_cache(_KEPT)(lambda sequence, character: frozenset(self._after(sequence, character)))
        self.step = lru_cache(_KEPT)(self._step)
        """The state behind a character; empty where nothing can match any more."""

    def matches(self, text: str) -> bool:
        """Return whether a whole text matches."""
        state = self.whole
        for character in text:
            state = self.step(state, character)
            if not state:
                return False
        return self.ends(state)

    def ends(self, state: State) -> bool:
        """Return whether a match may end in a state."""
        return any(all(map(_may_be_empty, sequence)) for sequence in state)

    def _step(self, state: State, character: str) -> State:
        return frozenset().union(*(self._left(sequence, character) for sequence in state))

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
        return ExpressionError(f"{sign} is not supported; leave it out, the whole text is compared")
    known = "characters, classes, groups (...) and (?:...), |, ?, *, + and {2,4}"
    return ExpressionError(f"{sign} at {at} is beyond what is taken: {known}")
