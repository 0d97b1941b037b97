"""Constraints between words and mentions, as data: what the two chains may not say of one character at once.

A constraint is text: ``TYPE WHAT -> [not] word WHAT``. A type is the name of a mention type, or ``*`` for all. Of a
mention there are ``begins``, ``ends``, ``continues`` (it holds the character and does not begin there) and ``inside``
(it holds the character); of a word ``begins``, ``ends`` and ``continues``. The two classes of constraints of Xu et al.
(2014), "Proposed method", are `WHOLE_WORDS` and `single_word`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import UsageError
from spanloom.segment.tags import WORD_TAGS, mention_tags

Bools = NDArray[np.bool_]
ANY: Final = "*"
WORD_INDICATORS: Final = {"begins": "BS", "ends": "ES", "continues": "IE"}  # -> letters of the tags that say so
MENTION_INDICATORS: Final = {"begins": "BU", "ends": "LU", "continues": "IL", "inside": "BILU"}
WHOLE_WORDS: Final = ("* begins -> word begins", "* ends -> word ends")
_FORM: Final = re.compile(r"\s*(.+?)\s+(\w+)\s*->\s*(not\s+)?word\s+(\w+)\s*")


@dataclass(frozen=True, slots=True)
class Constraint:
    """Where a mention says this of a character, the word must (or must not) say that.

    Args:
        type: of the mention, or ``*``.
        mention: a key of `MENTION_INDICATORS`.
        word: a key of `WORD_INDICATORS`.
        negated: whether the word must not say it.

    >>> str(parse("problem  begins -> word begins"))
    'problem begins -> word begins'
    """

    type: str
    mention: str
    word: str
    negated: bool = False

    def __str__(self) -> str:
        return f"{self.type} {self.mention} -> {'not ' * self.negated}word {self.word}"

    def excluded_words(self) -> Bools:
        """(4,) the word tags that it forbids where the mention says so."""
        says = [(tag in WORD_INDICATORS[self.word]) == self.negated for tag in WORD_TAGS]
        return np.array(says)

    def excluding_mentions(self, types: Sequence[str]) -> Bools:
        """(L,) the mention tags that say so."""
        letters = MENTION_INDICATORS[self.mention]
        return np.array(
            [tag != "O" and tag[0] in letters and self.type in (ANY, tag[2:]) for tag in mention_tags(types)]
        )


def parse(text: str) -> Constraint:
    """A constraint from its text.

    Raises:
        UsageError: it is none.

    >>> parse("medication continues -> not word begins").negated
    True
    """
    match = _FORM.fullmatch(text)
    if match is None or match[2] not in MENTION_INDICATORS or match[4] not in WORD_INDICATORS:
        raise UsageError(
            f"constraint {text!r}: expected 'TYPE WHAT -> [not] word WHAT', WHAT being one of "
            f"{', '.join(MENTION_INDICATORS)} of a mention and {', '.join(WORD_INDICATORS)} of a word"
        )
    return Constraint(match[1], match[2], match[4], bool(match[3]))


def single_word(kind: str) -> Constraint:
    """That a mention of this type is one word, given that mentions are made of whole words.

    >>> str(single_word("medication"))
    'medication continues -> not word begins'
    """
    return Constraint(kind, "continues", "begins", negated=True)


def constraints_of(
    types: Sequence[str], single: Iterable[str] = (), more: Iterable[str] = ()
) -> tuple[Constraint, ...]:
    """Whole words, types of single words, and further constraints.

    Args:
        types: K names.
        single: types whose mentions are one word each.
        more: texts of further constraints.

    Raises:
        UsageError: a text that is no constraint, or a type that is not among ``types``.
    """
    found = (*map(parse, WHOLE_WORDS), *map(single_word, single), *map(parse, more))
    for constraint in found:
        if constraint.type not in (ANY, *types):
            raise UsageError(
                f"constraint '{constraint}': there is no mention type {constraint.type!r}; there are {', '.join(types)}"
            )
    return tuple(dict.fromkeys(found))


def allowed_pairs(constraints: Iterable[Constraint], types: Sequence[str]) -> Bools:
    """(4, L) which word tag and mention tag may stand at one character.

    >>> allowed_pairs(map(parse, WHOLE_WORDS), ["x"]).astype(int).tolist()  # B I E S by O B I L U
    [[1, 1, 1, 0, 0], [1, 0, 1, 0, 0], [1, 0, 1, 1, 0], [1, 1, 1, 1, 1]]
    """
    allowed = np.ones((len(WORD_TAGS), len(mention_tags(types))), bool)
    for constraint in constraints:
        allowed &= ~np.outer(constraint.excluded_words(), constraint.excluding_mentions(types))
    return allowed
