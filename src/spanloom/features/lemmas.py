"""Lemmas of English words, by the dictionary and the rules of `simplemma`; nothing is downloaded.

Both are loaded when the first lemma is asked for: most models have no use for them, and each start would pay.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from pkgutil import resolve_name

_LONGEST = 40  # characters; what is longer is no word, and only costs time
_MEMORY = 1 << 16  # words


@lru_cache(_MEMORY)
def lemma(word: str) -> str:
    """The lemma of an English word, in lower case; the word itself if no rule knows better.

    The word alone decides: ``left`` is ``left``, the side and the verb.

    >>> [lemma(word) for word in ("Atria", "denied", "COPD", "84.2")]
    ['atrium', 'deny', 'copd', '84.2']
    """
    plain = 0 < len(word) <= _LONGEST and not any("\ud800" <= character <= "\udfff" for character in word)
    return (_lemmatizer()(word, "en") if plain else word).lower()


@cache
def _lemmatizer() -> Callable[[str, str], str]:
    found: Callable[[str, str], str] = resolve_name("simplemma:lemmatize")
    return found
