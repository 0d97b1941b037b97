"""Bits by spelling, for words outside of all clusters.

A word that is missing or too rare in raw text is looked up by its lower case, then by that with digits folded, by its
shape with its last four, three and two characters, and by its shape alone; else it gets the bits of rare words. Rare
words resemble unknown words, so the classes are learned from the rarer half of the clustered words (compare the
signatures of unknown words in Brants 2000, "TnT", section 2.3, and Petrov et al. 2006, section 2.5).

A class is a node of the tree of clusters: the deepest one that holds half of the class' words. Its bits are therefore
few if its words are spread over many clusters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from spanloom.features.columns import lower, normal, short_shape

Letters = Mapping[str, Mapping[str, str]]  # way -> spelling -> bits
_ENOUGH: Final = 5  # words of a class


_FOLDED: Final = ("lower", "norm")
_ENDINGS: Final = (4, 3, 2)  # characters
WAYS: Final = (*_FOLDED, *(f"ending{size}" for size in _ENDINGS), "shape", "any")
"""Names of the ways in which a word is looked up, in their order."""


def spellings(word: str) -> Iterator[tuple[str, str]]:
    """Yield each way with the word's spelling.

    >>> dict(spellings("Jak3"))  # doctest: +NORMALIZE_WHITESPACE
    {'lower': 'jak3', 'norm': 'jak0', 'ending4': 'Xxd jak0', 'ending3': 'Xxd ak0', 'ending2': 'Xxd k0',
     'shape': 'Xxd', 'any': '*'}
    """
    yield "lower", lower(word)
    digits = normal(word)
    yield "norm", digits
    shape = short_shape(word)
    for size in _ENDINGS:
        yield f"ending{size}", f"{shape} {digits[-size:]}"
    yield "shape", shape
    yield "any", "*"


def learn_letters(paths: Mapping[str, str], counts: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """Return the bits of spellings, learned from clustered words.

    Args:
        paths: word -> bits, by falling frequency.
        counts: word -> occurrences: a word in capitals is what most words of its letters are.

    >>> paths = {"the": "0", "IL-2": "10", "IL-4": "10", "kinase": "110", "lipase": "110", "ligase": "111"}
    >>> letters = learn_letters(paths, dict.fromkeys(paths, 1))
    >>> spelled(paths, letters, "The"), spelled(paths, letters, "IL-6"), spelled(paths, letters, "xyz")
    ('0', '10', '110')
    """
    votes: dict[str, dict[str, Counter[str]]] = {way: {} for way in WAYS}
    for place, (word, bits) in enumerate(paths.items()):
        ways = None if place >= len(paths) // 2 else len(_FOLDED)  # frequent words make no classes
        for way, spelling in islice(spellings(word), ways):
            if way not in _FOLDED:
                votes[way].setdefault(spelling, Counter())[bits] += 1
            elif spelling not in paths:
                votes[way].setdefault(spelling, Counter())[bits] += counts[word]
    return {way: _table(votes[way], 1 if way in (*_FOLDED, "any") else _ENOUGH) for way in WAYS}


def _table(votes: Mapping[str, Counter[str]], least: int) -> dict[str, str]:
    """Return the bits of each spelling with enough votes; one that a line of a file cannot hold is left out."""
    enough = {spelling: cast for spelling, cast in votes.items() if cast.total() >= least}
    return {spelling: _node(cast) for spelling, cast in enough.items() if not set(spelling) & set("\t\r\n")}


def _node(votes: Counter[str]) -> str:
    """Return the deepest node of the tree that holds at least half of the votes; of two, that of the digit 0."""
    half, node = votes.total() / 2, ""
    while True:
        inside = {
            child: sum(n for bits, n in votes.items() if bits.startswith(child)) for child in (node + "0", node + "1")
        }
        best = max(inside, key=lambda child: (inside[child], child[-1] == "0"))
        if inside[best] < half:
            return node
        node = best


def spelled(paths: Mapping[str, str], letters: Letters, word: str) -> str:
    """Return the bits of a word that ``paths`` may lack, by its letters; the empty string where nothing is known."""
    if word in paths:
        return paths[word]
    for way, spelling in spellings(word) if letters else ():
        for table in (letters.get(way, {}), paths if way in _FOLDED else {}):
            if spelling in table:
                return table[spelling]
    return ""
