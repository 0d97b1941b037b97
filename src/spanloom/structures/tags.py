"""A label for each token: a chain in which every tag may follow every other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Edges, Ints, Paths
from spanloom.structures.base import Encoded, MentionTable, check_covered, placed_table
from spanloom.structures.chain import Chain, picking

_LONG = "it holds several tokens, and a tag is of one"
_SECOND = "its token has a tag already"


@dataclass(frozen=True)
class Tags(Chain):
    """Tags of tokens, such as parts of speech (Lafferty et al. 2001).

    The types are the tags. A tag is a mention of one token, and every token has one.

    >>> table = MentionTable.build([(0, 1, ((0, 1),)), (0, 0, ((1, 2),))])
    >>> structure, offsets, types = Tags(), np.array([0, 2]), ["NN", "DT"]
    >>> edges = structure.encode(table, offsets, types).edges
    >>> structure.read_tags(edges, types).tolist()
    [1, 0]
    >>> structure.decode(edges, offsets, types).rows()
    [(0, 1, ((0, 1),)), (0, 0, ((1, 2),))]
    """

    name = "tags"
    covers = True

    def tags(self, types: Sequence[str]) -> list[str]:
        """Each type, marked, so that none is taken for one of the chain's own nodes, such as ``END``."""
        return [f"tag={name}" for name in types]

    def follows(self, tag: str, after: str) -> bool:
        """Always."""
        return True

    def start_roles(self, types: Sequence[str]) -> frozenset[str]:
        """None: a penalty would change the score of every structure alike."""
        return frozenset()

    def holds(self, mentions: MentionTable) -> NDArray[np.bool_]:
        """(M,) whether a mention has one token."""
        held: NDArray[np.bool_] = mentions.contiguous.copy()
        starts = mentions.ptr[:-1][held]
        held[held] = mentions.end[starts] - mentions.first[starts] == 1
        return held

    def encode(self, mentions: MentionTable, offsets: Ints, types: Sequence[str]) -> Encoded:
        """As `Structure.encode`; a mention of several tokens is lost, and the second tag of a token.

        Raises:
            DataError: a token has no tag.
        """
        held = np.flatnonzero(self.holds(mentions))
        lost = dict.fromkeys(np.setdiff1d(np.arange(len(mentions)), held).tolist(), _LONG)
        places = offsets[mentions.sentence[held]] + mentions.first[mentions.ptr[held]]
        _, once = np.unique(places, return_index=True)
        lost |= dict.fromkeys(np.delete(held, once).tolist(), _SECOND)
        tags = np.full(int(offsets[-1]), -1)
        tags[places[once]] = mentions.kind[held[once]]
        check_covered(tags >= 0, offsets, self.name)
        return Encoded(self.write_tags(tags, offsets, types), lost)

    def decode(self, edges: Edges, offsets: Ints, types: Sequence[str], reading: str = "enough") -> MentionTable:
        """As `Structure.decode`: a mention for each token."""
        every = np.arange(len(edges))
        return placed_table(offsets, self.read_tags(edges, types), every, every + 1)

    def paths(self, mentions: MentionTable, types: Sequence[str]) -> Paths:
        """As `Structure.paths`: the tag."""
        tags = np.arange(len(types))
        allowed = picking(self.template(types), tags[:, None] == tags)
        one = np.ones((len(mentions), 1), np.int64)
        lane = np.zeros_like(mentions.kind)
        return Paths.build(mentions.sentence, lane, mentions.first, mentions.kind[:, None], one, allowed)
