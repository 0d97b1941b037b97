"""Strands as graphs: drawn from mentions, and contracted where there is one way in and one way out.

A strand is a directed acyclic graph: nodes are the places (token, type, position) that have links, arcs are starts,
links and ends, and a mention is a path from a start to an end. Almost every node of a sentence has one arc in and one
arc out. The others are *joints*; a *run* is what lies between two joints, or between a joint and a start or an end. A
run from a start to an end is a mention, and nothing else goes through it.

Of a path only its *bounds* matter: where it enters each position up to its last, and the end. The token of a start
counts once for position 0 and once for each position that the path leaves out; a step to the next position, and the
end, count as one more than their token.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Ints
from spanloom.native import Kernel
from spanloom.structures.base import MentionTable
from spanloom.structures.strands.pieces import ADVANCE, END, STAY, StrandPieces

_count_runs, _contract = Kernel("count_runs"), Kernel("contract")


class StrandRuns(NamedTuple):
    """R runs between J joints, which are numbered from left to right.

    Args:
        tail: (R,) the joint where each begins; -1 for a start.
        head: (R,) the joint where each ends; -1 for an end.
        leaves: (R,) kind of its first arc.
        enters: (R,) kind of its last arc.
        sentence: (R,) its number.
        kind: (R,) the type's number.
        ptr: (R + 1,) where the bounds of each begin.
        bounds: tokens of the batch, ascending in each run.
        place: (J,) whether a joint is in a `COMPONENT` or a `GAP`; or `BEFORE` a head, in a `HEAD`, or `AFTER` one.
    """

    tail: Ints
    head: Ints
    leaves: Ints
    enters: Ints
    sentence: Ints
    kind: Ints
    ptr: Ints
    bounds: Ints
    place: Ints


class Strand(NamedTuple):
    """The paths of mentions in P positions.

    A path begins at one of the first positions, follows one link at each token, and ends. Every place with links is on
    a path, and so is every link. There are two kinds of strands. In the first, positions are component, gap, component,
    and so on, and paths begin at the first. In the second, they are the part before a head, the head, and the part
    after it, and paths begin at the first or the second.

    Args:
        start: (T, K) bits: 1 << p if a path begins at this token at position p.
        links: (T, K, P) bits: `STAY` at the position, `ADVANCE` to the next, both at the next token, or `END` here.
        heads: whether it is a strand of the second kind.
    """

    start: NDArray[np.uint8]
    links: NDArray[np.uint8]
    heads: bool = False


def draw(
    pieces: StrandPieces, mentions: MentionTable, offsets: Ints, types: int, positions: int, heads: bool = False
) -> Strand:
    """The union of the paths of mentions, in time that does not depend on how long they are.

    Args:
        pieces: of some of the mentions.
        mentions: each within one sentence.
        offsets: (N + 1,) first token of each sentence.
        types: K.
        positions: P.
        heads: whether the positions are those of heads.
    """
    shape = int(offsets[-1]), types, positions
    base, kind = offsets[mentions.sentence][pieces.mention], mentions.kind[pieces.mention]
    first, last = (base + pieces.first, kind, pieces.position), (base + pieces.end - 1, kind, pieces.position)
    staying = np.zeros(shape, np.int32)  # at first by how many more mentions than at the token before
    np.add.at(staying, first, 1)
    np.add.at(staying, last, -1)
    np.cumsum(staying, axis=0, out=staying)
    links = np.where(staying > 0, np.uint8(STAY), np.uint8(0))
    begins = np.diff(pieces.mention, prepend=-1) > 0
    np.bitwise_or.at(links, last, np.where(np.append(begins[1:], True), END, ADVANCE).astype(np.uint8)[: len(begins)])
    start = np.zeros(shape[:2], np.uint8)
    np.bitwise_or.at(start, (first[0][begins], kind[begins]), (1 << pieces.position[begins]).astype(np.uint8))
    return Strand(start, links, heads)


def contract(strand: Strand, offsets: Ints) -> StrandRuns:
    """The runs of a strand, by place of their first node."""
    number, counts = np.empty(strand.links.shape, np.int32), np.empty(3, np.int64)
    _count_runs(strand.start, strand.links, number, counts)
    joints, count, bounds = counts.tolist()
    sizes = (count, count, count, count, count, count, count + 1, bounds, joints)
    runs = StrandRuns(*(np.empty(size, np.int64) for size in sizes))
    _contract(strand.start, strand.links, number, strand.heads, offsets, runs)
    return runs
