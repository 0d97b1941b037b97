"""Tags of characters: B, I, E and S for words, BILOU with types for mentions.

BILOU rather than BIO, so that a tag alone says where a mention begins and where it ends: what constraints ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Edges, Ints, Paths, Template
from spanloom.structures import Encoded, MentionTable
from spanloom.structures.base import no_heads
from spanloom.structures.chain import Bilou, Chain, borders

Bools = NDArray[np.bool_]
WORD_TAGS: Final = ("B", "I", "E", "S")
MENTIONS: Final = Bilou()
_NUMBER: Final = np.array([1, 2, 0, 3])  # of the tag, by 2 begins + ends
_NEXT: Final = {"B": "IE", "I": "IE", "E": "BS", "S": "BS"}


def mention_tags(types: Sequence[str]) -> tuple[str, ...]:
    """O, and B, I, L and U of each type."""
    return tuple(MENTIONS.tags(types))


def word_numbers(begins: Bools, offsets: Ints) -> Ints:
    """(T,) the tags of words that begin at some characters.

    >>> word_numbers(np.array([True, False, True]), np.array([0, 3])).tolist()
    [0, 2, 3]
    """
    numbers: Ints = _NUMBER[2 * begins + _ends(begins, offsets)]
    return numbers


def begins(words: Ints) -> Bools:
    """(T,) where a word begins, from its tags."""
    begin: Bools = (words == 0) | (words == 3)
    return begin


def _ends(begins: Bools, offsets: Ints) -> Bools:
    _, last = borders(offsets)
    ends: Bools = np.append(begins[1:], True) | last
    return ends


class Words(Chain):
    """A chain of words: every character belongs to one (Xu et al. 2014). Its one type is ``word``."""

    name = "words"
    letters = "BIES"

    def tags(self, types: Sequence[str]) -> list[str]:
        """B, I, E, S; there is no O."""
        return list(WORD_TAGS)

    def follows(self, tag: str, after: str) -> bool:
        """After B and I come I and E, after E and S come B and S, with which a sentence begins."""
        if after == "O":
            return tag in "ES"
        return after in _NEXT.get(tag, "BS")

    def template(self, types: Sequence[str]) -> Template:
        """As for every chain."""
        return super().template(())

    def encode(self, mentions: MentionTable, offsets: Ints, types: Sequence[str]) -> Encoded:
        """As `Structure.encode`; the mentions are words, and cover each sentence."""
        starts = np.zeros(int(offsets[-1]), bool)
        starts[offsets[mentions.sentence] + mentions.first] = True
        return Encoded(self.write_tags(word_numbers(starts, offsets), offsets, types), {})

    def decode(self, edges: Edges, offsets: Ints, types: Sequence[str], reading: str = "enough") -> MentionTable:
        """As `Structure.decode`; the mentions are words."""
        starts = begins(self.read_tags(edges, types))
        first = np.flatnonzero(starts)
        end = np.flatnonzero(_ends(starts, offsets)) + 1
        sentence = np.searchsorted(offsets, first, side="right") - 1
        base = offsets[sentence]
        none = np.zeros(len(first), np.int64)
        return MentionTable(sentence, none, np.arange(len(first) + 1), first - base, end - base, no_heads(len(first)))

    def paths(self, mentions: MentionTable, types: Sequence[str]) -> Paths:
        """As `Structure.paths`: the word's tags."""
        rows = np.array([edge_rows(self.template(types), [other == tag for other in WORD_TAGS]) for tag in WORD_TAGS])
        row, size = spelled(mentions.first, mentions.end, np.zeros(len(mentions), np.int64))
        return Paths.build(mentions.sentence, np.zeros_like(mentions.kind), mentions.first, row, size, rows)

    def start_roles(self, types: Sequence[str]) -> frozenset[str]:
        """None: no penalty is tuned for words."""
        return frozenset()


WORDS: Final = Words()


def edge_rows(template: Template, wanted: Sequence[bool]) -> NDArray[np.uint8]:
    """(E,) 1 for the hyperedges that a path may pick: those of the wanted tags, and all that score no tag."""
    names = iter(wanted)
    return np.array([next(names) if edge.roles else True for edge in template.edges], np.uint8)


def spelled(first: Ints, end: Ints, base: Ints) -> tuple[Ints, Ints]:
    """The tags of Q words or mentions, (Q, 3): the first, those between, the last; and of how many characters.

    Args:
        first, end: (Q,) half-open.
        base: (Q,) number of the tag B; its I, E (or L) and S (or U) follow it.

    >>> [part.tolist() for part in spelled(np.array([0, 5]), np.array([3, 6]), np.array([0, 1]))]
    [[[0, 1, 2], [4, 2, 3]], [[1, 1, 1], [1, 0, 0]]]
    """
    length = end - first
    several = length > 1
    tags = np.stack([np.where(several, base, base + 3), base + 1, base + 2], 1)
    return tags, np.stack([np.ones_like(length), np.maximum(length - 2, 0), several.astype(np.int64)], 1)
