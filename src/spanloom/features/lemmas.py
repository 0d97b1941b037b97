"""Lemmas of English words, by the dictionary and the rules of `simplemma`; nothing is downloaded.

The dictionary is read when the first lemma is asked for.
"""

from __future__ import annotations

from functools import lru_cache

from simplemma import lemmatize

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
    return (lemmatize(word, "en") if plain else word).lower()
