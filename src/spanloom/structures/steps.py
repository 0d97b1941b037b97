"""The way of a mention along a strand: which node it is at, at each token, and which link it takes there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spanloom.hypergraph import Ints
from spanloom.structures.base import MentionTable

STAY, ADVANCE, END = 1, 2, 4
"""The links of a node, as bits: to itself at the next token, to the node after it, to the leaf."""


class Steps(NamedTuple):
    """One row for each token from a mention's first to its last, gaps included.

    Args:
        mention: its number.
        token: in the sentence.
        position: of the node on the strand: even in components, odd in gaps.
        link: STAY, ADVANCE or END.
    """

    mention: Ints
    token: Ints
    position: Ints
    link: Ints


def steps(mentions: MentionTable) -> Steps:
    """The steps of all mentions.

    >>> [row.tolist() for row in steps(MentionTable.build([(0, 0, ((1, 3), (4, 5)))]))]
    [[0, 0, 0, 0], [1, 2, 3, 4], [0, 0, 1, 2], [1, 2, 2, 4]]
    """
    count = np.diff(mentions.ptr)
    mention = np.repeat(np.arange(len(count)), count)
    component = np.arange(len(mention)) - mentions.ptr[mention]
    last = component == count[mention] - 1
    # each component, and the gap after it, which has no token after the last component
    begins = np.stack([mentions.first, mentions.end], 1).ravel()
    following = np.append(mentions.first[1:], 0)
    ends = np.stack([mentions.end, np.where(last, mentions.end, following)], 1).ravel()
    position = np.stack([2 * component, 2 * component + 1], 1).ravel()
    size = ends - begins
    piece = np.repeat(np.arange(len(size)), size)
    token = np.arange(len(piece)) - np.repeat(size.cumsum() - size, size) + begins[piece]
    leaves = token == ends[piece] - 1
    link = np.where(leaves, np.where(np.repeat(last, 2)[piece], END, ADVANCE), STAY)
    return Steps(np.repeat(mention, 2)[piece], token, position[piece], link)
