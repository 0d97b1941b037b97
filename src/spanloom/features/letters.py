"""Bits by spelling, for words that stand in no cluster.

A word that raw text does not have, or too seldom, is looked up in turn by its lower case, by that with digits folded,
by its shape with its last four, three and two characters, by its shape alone, and then takes what rare words take. Rare
words tell what an unknown word is: the classes are learned from the rarer half of the clustered words (compare the
signatures of unknown words in Brants 2000, "TnT", section 2.3, and Petrov et al. 2006, section 2.5).

A class is a node of the tree of clusters: the deepest one that holds half of the class' words. So its bits are few
where its words stand in many clusters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from spanloom.features.columns import lower, normal, short_shape

Letters = Mapping[str, Mapping[str, str]]  # way -> spelling -> bits
_ENOUGH: Final = 5  # words of a class


def _ending(size: int) -> Callable[[str], str]:
    return lambda word: f"{short_shape(word)} {normal(word)[-size:]}"


_FOLDED: Final[dict[str, Callable[[str], str]]] = {"lower": lower, "norm": normal}
_CLASSES: Final[dict[str, Callable[[str], str]]] = {
    "ending4": _ending(4), "ending3": _ending(3), "ending2": _ending(2), "shape": short_shape, "any": lambda _: "*",
}  # fmt: skip
WAYS: Final = MappingProxyType({**_FOLDED, **_CLASSES})
"""Way -> the spelling of a word that it looks at, in the order in which they are tried."""


def learn_letters(paths: Mapping[str, str], counts: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """Return the bits of spellings, learned from clustered words.

    Args:
        paths: word -> bits, by falling frequency.
        counts: word -> occurrences: a word in capitals is what most words of its letters are.

    >>> paths = {"the": "0", "IL-2": "10", "IL-4": "10", "kinase": "110", "lipase": "110", "ligase": "111"}
    >>> letters = learn_letters(paths, dict.fromkeys(paths, 1))
    >>> spelled(paths, letters, "The"), spelled(paths, letters, "IL-6"), spelled(paths, letters, "xyz")
    ('0', '10', '11')
    """
    rare = list(paths)[len(paths) // 2 :]
    letters: dict[str, dict[str, str]] = {}
    for way, spell in WAYS.items():
        folded = way in _FOLDED
        votes: dict[str, Counter[str]] = {}
        for word in paths if folded else rare:
            spelling = spell(word)
            if spelling not in paths or not folded:
                votes.setdefault(spelling, Counter())[paths[word]] += counts[word] if folded else 1
        least = 1 if folded or way == "any" else _ENOUGH
        kept = {spelling: _node(cast) for spelling, cast in votes.items() if cast.total() >= least}
        letters[way] = {spelling: bits for spelling, bits in kept.items() if not set(spelling) & set("\t\r\n")}
    return letters


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
    bits = paths.get(word)
    if bits is not None:
        return bits
    for way, table in letters.items():
        spelling = WAYS[way](word)
        bits = table.get(spelling)
        if bits is None and way in _FOLDED:
            bits = paths.get(spelling)
        if bits is not None:
            return bits
    return ""
