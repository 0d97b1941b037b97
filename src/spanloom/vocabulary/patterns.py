"""Patterns of spaCy and Prodigy: a label, and a text or conditions on one token after the other.

::

    {"label": "DRUG", "pattern": "aspirin"}
    {"label": "PROBLEM", "pattern": [{"LOWER": {"IN": ["mild", "severe"]}}, {"LOWER": "pain"}], "id": "C1"}

Conditions on the letters of a token are names; others, such as on its lemma, are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, Final, NamedTuple

from spanloom.errors import clip
from spanloom.formats.json_text import to_json

_LOWER: Final = ("lower", "norm")
_EXACT: Final = ("orth", "text")
_MOST: Final = 200  # names of one pattern
_SHOWN: Final = 60


class Names(NamedTuple):
    """The names that a pattern finds, and whether in any letter case."""

    names: list[str]
    lower: bool


def is_pattern(value: Any) -> bool:
    """Return whether an object is a pattern."""
    return isinstance(value, Mapping) and isinstance(value.get("pattern"), str | list) and "label" in value


def names_of(pattern: Any) -> Names | None:
    """Return the names that a pattern finds; ``None`` if they cannot be listed.

    >>> names_of("Aspirin")
    Names(names=['Aspirin'], lower=False)
    >>> names_of([{"LOWER": {"IN": ["mild", "severe"]}, "OP": "?"}, {"LOWER": "pain"}])
    Names(names=['mild pain', 'severe pain', 'pain'], lower=True)
    >>> names_of([{"LEMMA": "be"}]) is None
    True
    """
    if isinstance(pattern, str):
        return Names([pattern], False) if pattern.strip() else None
    if not isinstance(pattern, list) or not pattern:
        return None
    lower, choices, count = False, [], 1
    for token in pattern:
        if not isinstance(token, Mapping):
            return None
        conditions = {str(name).lower(): value for name, value in token.items()}
        times = conditions.pop("op", "1")
        if len(conditions) != 1 or times not in ("1", "?", "{1}"):
            return None
        [(name, value)] = conditions.items()
        words = value.get("IN") if isinstance(value, Mapping) and value.keys() == {"IN"} else [value]
        if name not in (*_LOWER, *_EXACT) or not isinstance(words, list) or not words:
            return None
        if not all(isinstance(word, str) and word.strip() for word in words):
            return None
        lower |= name in _LOWER
        choices.append([*words, ""] if times == "?" else words)
        count *= len(choices[-1])
        if count > _MOST:
            return None
    names = dict.fromkeys(" ".join(filter(None, words)) for words in product(*choices))
    return Names(list(filter(None, names)), lower) if any(names) else None


def shown(value: Mapping[str, Any]) -> str:
    """Return a pattern for a message."""
    return clip(to_json(value["pattern"]), _SHOWN)
