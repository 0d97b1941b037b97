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
from spanloom.structures.base import MentionTable
from spanloom.structures.strands.pieces import ADVANCE, END, STAY, StrandPieces

START = 0  # a kind of arc; the others are links: STAY, ADVANCE and END
COMPONENT, GAP, BEFORE, HEAD, AFTER = 0, 1, 2, 3, 4  # what a position is


class Strand(NamedTuple):
    """The paths of mentions in P positions.

    A path begins at one of the first positions, follows one link at each token, and ends. Every place with links is on
    a path, and so is every link. There are two kinds of strands: positions are component, gap, component, and so on,
    and paths begin at the first; or they are what stands before a head, the head, and what stands after it, and paths
    begin at the first or the second.

    Args:
        start: (T, K) bits: 1 << p if a path begins at this token at position p.
        links: (T, K, P) bits: `STAY` at the position, `ADVANCE` to the next, both at the next token, or `END` here.
        heads: whether it is a strand of the second kind.
    """

    start: NDArray[np.uint8]
    links: NDArray[np.uint8]
    heads: bool = False


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


class _Arcs(NamedTuple):
    tail: Ints
    head: Ints
    step: Ints


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
    """The runs of a strand, by pointer jumping: as many passes over the arcs as the longest run has binary digits."""
    _, types, positions = strand.links.shape
    flat = strand.links.ravel()
    place = np.flatnonzero(flat)  # of each node; in order of tokens
    arcs = _arcs(strand, place, flat[place])
    joint = _joints(arcs, len(place))
    up = _leaders(arcs, joint)
    leader = np.flatnonzero(up == np.arange(len(up)))
    run = np.searchsorted(leader, up)
    stops = np.flatnonzero((arcs.head < 0) | joint[arcs.head])
    last = np.empty(len(leader), np.int64)
    last[run[stops]] = stops

    number = np.append(np.cumsum(joint) - 1, -1)  # of a node among the joints; node -1 is outside
    token = place // (types * positions)
    value = np.where(arcs.step == START, token[arcs.head], token[arcs.tail] + 1)  # an index of -1 is never kept
    said = np.flatnonzero(arcs.step != STAY)
    entered = np.where(arcs.step[said] == START, place[arcs.head[said]] % positions, 0)
    said = np.repeat(said, 1 + entered)
    said = said[np.lexsort((value[said], run[said]))]
    at = place[np.where(arcs.tail[leader] < 0, arcs.head[leader], arcs.tail[leader])]
    return StrandRuns(
        number[arcs.tail[leader]],
        number[arcs.head[last]],
        arcs.step[leader],
        arcs.step[last],
        np.searchsorted(offsets, at // (types * positions), side="right") - 1,
        at // positions % types,
        np.concatenate([[0], np.cumsum(np.bincount(run[said], minlength=len(leader)))]),
        value[said],
        BEFORE + place[joint] % positions if strand.heads else place[joint] % positions % 2,
    )


def _arcs(strand: Strand, place: Ints, link: NDArray[np.uint8]) -> _Arcs:
    """Starts, stays, advances, ends, each in order of tokens; node -1 is outside."""
    _, types, positions = strand.links.shape
    tails = [np.flatnonzero(link & bit) for bit in (STAY, ADVANCE, END)]
    begun = np.flatnonzero(strand.start)
    at, position = np.nonzero(strand.start.ravel()[begun, None] >> np.arange(positions) & 1)
    first = np.searchsorted(place, begun[at] * positions + position)
    following = np.searchsorted(place, place[tails[0]] + types * positions)
    advanced = np.searchsorted(place, place[tails[1]] + types * positions + 1)
    return _Arcs(
        np.concatenate([np.full(len(first), -1), *tails]),
        np.concatenate([first, following, advanced, np.full(len(tails[2]), -1)]),
        np.repeat([START, STAY, ADVANCE, END], [len(first), *map(len, tails)]),
    )


def _joints(arcs: _Arcs, nodes: int) -> NDArray[np.bool_]:
    into = np.bincount(arcs.head + 1, minlength=nodes + 1)[1:]
    out = np.bincount(arcs.tail + 1, minlength=nodes + 1)[1:]
    joint: NDArray[np.bool_] = (into != 1) | (out != 1)
    return joint


def _leaders(arcs: _Arcs, joint: NDArray[np.bool_]) -> Ints:
    """The first arc of each arc's run."""
    into = np.empty(len(joint) + 1, np.int64)
    into[arcs.head] = np.arange(len(arcs.head))  # the only arc into a node that is no joint
    up = np.arange(len(arcs.tail))
    inner = (arcs.tail >= 0) & ~np.append(joint, True)[arcs.tail]
    up[inner] = into[arcs.tail[inner]]
    while True:
        further = up[up]
        if np.array_equal(further, up):
            return up
        up = further
