"""Lemmas of English words, by the dictionary and the rules of `simplemma`; nothing is downloaded.

Both are loaded for the first lemma: most models do not use them, and loading would slow each start.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from pkgutil import resolve_name

_LONGEST = 40  # characters; what is longer is no word, and only costs time
_MEMORY = 1 << 16  # words


@lru_cache(_MEMORY)
def lemma(word: str) -> str:
    """Return the lemma of an English word, in lower case; the word itself if no rule applies.

    It depends on the word alone: ``left`` is ``left``, the side and the verb.

    >>> [lemma(word) for word in ("Atria", "denied", "COPD", "84.2")]
    ['atrium', 'deny', 'copd', '84.2']
    """
    plain = 0 < len(word) <= _LONGEST and not any("\ud800" <= character <= "\udfff" for character in word)
    return (_lemmatizer()(word, "en") if plain else word).lower()


@cache
def _lemmatizer() -> Callable[[str, str], str]:
    found: Callable[[str, str], str] = resolve_name("simplemma:lemmatize")
    return found
