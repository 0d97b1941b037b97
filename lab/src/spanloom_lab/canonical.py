"""Enumeration of canonical encodings: every set of mentions of a few tokens is encoded, and encodings counted.

Muis and Lu (2016), section 4: a canonical encoding is the one that a structure has for a set of mentions. Where each
sub-hypergraph of a structure is one, `spanloom_lab.transitions` counts them for texts of any length.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from spanloom.errors import UsageError
from spanloom.hypergraph import Ints
from spanloom.structures.base import MentionTable, Structure
from spanloom_lab.transitions import counts

_MOST_MENTIONS = 16  # whose sets are listed: each more doubles their number
_TYPES = ("mention",)


def every_mention(length: int, components: int) -> list[tuple[tuple[int, int], ...]]:
    """Return the ranges of every possible mention of ``length`` tokens and at most ``components`` components.

    A mention of k components has 2 k different borders, of the length + 1 places where one can be.

    >>> every_mention(3, 2)
    [((0, 1),), ((0, 2),), ((0, 3),), ((1, 2),), ((1, 3),), ((2, 3),), ((0, 1), (2, 3))]
    """
    return [
        tuple(zip(borders[::2], borders[1::2], strict=True))
        for k in range(1, components + 1)
        for borders in combinations(range(length + 1), 2 * k)
    ]


def possible_mentions(length: int, components: int, heads: bool = False) -> int:
    """Count the possible mentions n of one type; there are 2^n sets of them (equation 10 of the supplement).

    With ``heads``, count mentions of one component, each with every possible head; heads may end where mentions do.

    >>> [2 ** possible_mentions(length, 3) for length in (1, 2, 3, 4, 5)]
    [2, 8, 128, 32768, 2147483648]
    """
    if heads:
        return comb(length + 3, 4)
    return sum(comb(length + 1, 2 * k) for k in range(1, components + 1))


def components_held(structure: Structure, most: int) -> int:
    """Return the largest number of components, up to ``most``, of a mention that the structure can represent.

    >>> from spanloom.structures import STRUCTURES
    >>> components_held(STRUCTURES["separators"], 3)
    1
    """
    for k in range(most, 1, -1):
        mention = tuple((2 * i, 2 * i + 1) for i in range(k))
        if not structure.encode(MentionTable.build([(0, 0, mention)]), np.array([0, 2 * k]), _TYPES).lost:
            return k
    return 1


def canonical_encodings(structure: Structure, length: int, components: int) -> int:
    """Count, by enumeration, the encodings of all sets of mentions of one type in a text of ``length`` tokens.

    Args:
        structure: its ``encode`` is used; a mention that it cannot represent is not in a set's encoding.
        length: at least 1.
        components: the largest number of components of a mention.

    Raises:
        UsageError: there are more than 16 possible mentions, hence too many sets to list; or the structure has heads,
            which the listed mentions lack.

    >>> from spanloom.structures import STRUCTURES
    >>> [canonical_encodings(STRUCTURES["separators"], length, 1) for length in (1, 2, 3, 4)]
    [2, 8, 40, 208]
    """
    if structure.heads:
        raise UsageError(f"the mentions that are listed have no heads, as {structure.name} needs; use count_canonical")
    every = every_mention(length, components)
    if len(every) > _MOST_MENTIONS:
        raise UsageError(
            f"{length} tokens have {len(every)} possible mentions, too many to list all sets of them; take fewer tokens"
        )
    sets = np.arange(2 ** len(every))[:, None] >> np.arange(len(every)) & 1
    offsets = np.arange(len(sets) + 1) * length
    edges = structure.encode(_table(every, sets, components), offsets, _TYPES).edges
    return len(np.unique(edges.reshape(len(sets), -1), axis=0))


def count_canonical(structure: Structure, length: int, components: int) -> list[int | None]:
    """Count the canonical encodings of texts of 1, 2, ... ``length`` tokens, for mentions of one type.

    They are counted by `spanloom_lab.transitions.counts` where every sub-hypergraph of the structure is one,
    else by enumeration; ``None`` where there are too many sets of mentions to list.

    >>> from spanloom.structures import STRUCTURES
    >>> count_canonical(STRUCTURES["bio"], 5, 1)
    [2, 5, 13, 34, 89]
    """
    if structure.only_canonical:
        return list(counts(structure.template(_TYPES), length))
    return [
        canonical_encodings(structure, n, components) if possible_mentions(n, components) <= _MOST_MENTIONS else None
        for n in range(1, length + 1)
    ]


def _table(every: list[tuple[tuple[int, int], ...]], sets: Ints, components: int) -> MentionTable:
    """Return each set of mentions as a sentence: ``sets`` is (N, M), 1 where sentence n has mention m."""
    pieces = np.zeros((len(every), components, 2), np.int64)
    counts = np.array([len(mention) for mention in every], np.int64)
    for row, mention in zip(pieces, every, strict=True):
        row[: len(mention)] = mention
    sentence, chosen = np.nonzero(sets)
    taken = pieces[chosen][np.arange(components) < counts[chosen, None]]
    ptr = np.concatenate([[0], np.cumsum(counts[chosen])]).astype(np.int64)
    return MentionTable(
        sentence,
        np.zeros_like(sentence),
        ptr,
        taken[:, 0].copy(),
        taken[:, 1].copy(),
        np.full((len(sentence), 2), -1),
    )
