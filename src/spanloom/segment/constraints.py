"""Constraints between words and mentions, as data: what the two chains may not predict for the same character.

A constraint is text: ``TYPE WHAT -> [not] word WHAT``. A type is the name of a mention type, or ``*`` for all. Of a
mention there are ``begins``, ``ends``, ``continues`` (it holds the character and does not begin there) and ``inside``
(it holds the character); of a word ``begins``, ``ends`` and ``continues``. The two classes of constraints of Xu et al.
(2014), "Proposed method", are `WHOLE_WORDS` and `single_word`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from spanloom.errors import UsageError
from spanloom.structures.product import ANY, MENTION_INDICATORS, WORD_INDICATORS, Constraint

WHOLE_WORDS: Final = ("* begins -> word begins", "* ends -> word ends")
_FORM: Final = re.compile(r"\s*(.+?)\s+(\w+)\s*->\s*(not\s+)?word\s+(\w+)\s*")


def parse(text: str) -> Constraint:
    """A constraint from its text.

    Raises:
        UsageError: the text is not a constraint.

    >>> parse("medication continues -> not word begins").negated
    True
    >>> str(parse("problem  begins -> word begins"))
    'problem begins -> word begins'
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
