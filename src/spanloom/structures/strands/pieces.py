"""The way of a mention along a strand: at which node it is for which tokens, and which link it takes from there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Ints, Paths
from spanloom.structures.base import MentionTable

STAY, ADVANCE, END = 1, 2, 4
"""The links of a node, as bits: to itself at the next token, to the node after it, to the leaf."""


class StrandPieces(NamedTuple):
    """The stretches of tokens that mentions spend at one position; those of a mention follow each other without a gap.

    Args:
        mention: its number; ascending.
        position: of the node on the strand; ascending in each mention.
        first: first token, in the sentence.
        end: half-open; no piece is empty.
    """

    mention: Ints
    position: Ints
    first: Ints
    end: Ints


class Stretches(NamedTuple):
    """Pieces of mentions token by token, in few rows: the first token, the tokens between, and the last token.

    Args:
        first: (P, 3) whether a row holds the first token of a piece.
        link: (P, 3) STAY, ADVANCE or END.
        size: (P, 3) for how many tokens; a row may have none.
    """

    first: NDArray[np.bool_]
    link: Ints
    size: Ints


def component_pieces(mentions: MentionTable) -> StrandPieces:
    """Components at even positions, the gaps between them at odd ones.

    >>> [column.tolist() for column in component_pieces(MentionTable.build([(0, 0, ((1, 3), (4, 5)))]))]
    [[0, 0, 0], [0, 1, 2], [1, 3, 4], [3, 4, 5]]
    """
    count = np.diff(mentions.ptr)
    owner = np.repeat(np.arange(len(count)), count)
    component = np.arange(len(owner)) - mentions.ptr[owner]
    final = component == count[owner] - 1
    # each component, and the gap after it, which has no token after the last component
    after = np.where(final, mentions.end, np.append(mentions.first[1:], 0))
    first, end = np.stack([mentions.first, mentions.end], 1).ravel(), np.stack([mentions.end, after], 1).ravel()
    position = np.stack([2 * component, 2 * component + 1], 1).ravel()
    kept = end > first
    return StrandPieces(np.repeat(owner, 2)[kept], position[kept], first[kept], end[kept])


def paths_of(
    mentions: MentionTable, kind: Ints, pieces: StrandPieces, row: Ints, size: Ints, allowed: NDArray[np.uint8]
) -> Paths:
    """Return the paths of mentions by their pieces.

    Args:
        mentions: M.
        kind: (M,) the type's number on the engine's axis.
        pieces: P, of all mentions.
        row, size: (P, 3) of the runs of each piece; runs of no token are left out.
        allowed: what the rows allow.
    """
    kept, begin = size > 0, np.searchsorted(pieces.mention, np.arange(len(mentions) + 1))
    run_ptr, first = np.append(0, kept.sum(1).cumsum())[begin], pieces.first[begin[:-1]]
    return Paths(mentions.sentence, kind, first, run_ptr, row[kept], size[kept], allowed)


def stretches(pieces: StrandPieces) -> Stretches:
    """The links of all mentions, those that are alike together.

    >>> found = stretches(component_pieces(MentionTable.build([(0, 0, ((1, 6), (7, 8)))])))
    >>> found.link.tolist(), found.size.tolist()
    ([[1, 1, 2], [2, 1, 2], [4, 1, 4]], [[1, 3, 1], [1, 0, 0], [1, 0, 0]])
    """
    size = pieces.end - pieces.first
    several = size > 1
    onward = np.where(np.append(np.diff(pieces.mention) > 0, True)[: len(size)], END, ADVANCE)
    stay = np.full(len(size), STAY)
    return Stretches(
        np.repeat([[True, False, False]], len(size), axis=0),
        np.stack([np.where(several, stay, onward), stay, onward], 1),
        np.stack([np.ones_like(size), np.maximum(size - 2, 0), several.astype(np.int64)], 1),
    )
