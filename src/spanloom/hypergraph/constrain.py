"""The best structures with a path, and without it.

A *path* (see `Paths`) allows certain hyperedges at each of some tokens; a structure has it if it keeps to them.

An engine forbids roles, and one role may belong to many hyperedges. So each hyperedge gets one more role, which nothing
else has: its score is 0, or -inf where the hyperedge is forbidden.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph.engine import Best, Edges, Engine, Floats, Ints, Potentials
from spanloom.hypergraph.template import Role, Template

Bools = NDArray[np.bool_]
_CELLS = 1 << 22  # hyperedges at tokens that are looked at side by side


class Rivals(NamedTuple):
    """The best structures of one sentence with a path, and without it; the second is -inf where all have it.

    Args:
        score: (2,).
        edges: (2, T, 1, D) as `Best` holds them.
    """

    score: Floats
    edges: Edges


def rivals(engine: Engine, potentials: Potentials, path: NDArray[np.uint8], first: int) -> Rivals:
    """The best structure with a path and the best one without it.

    A structure without the path has a first node of it that picks another hyperedge. So the best one is the best of
    those that forbid, for one place after the other, what the path allows there; many are found side by side.

    Args:
        engine: of the structure.
        potentials: of a sentence of T tokens, of one type.
        path: (S, E) at each of the path's tokens, which hyperedges it allows.
        first: the first of them.

    >>> from spanloom.hypergraph import Child, Hyperedge, SubgraphEngine
    >>> coin = Template(("A",), "A", frozenset({"A"}), (
    ...     Hyperedge("heads", "A", (Child("A", 1),), (Role("h"),)), Hyperedge("tails", "A", (Child("A", 1),))))
    >>> scores = Potentials(np.array([[[1.0]], [[3.0]]], np.float32), np.zeros((0, 1), np.float32))
    >>> found = rivals(SubgraphEngine(coin), scores, np.array([[1, 0], [1, 0]], np.uint8), 0)  # two heads
    >>> found.score.tolist(), found.edges.ravel().tolist()
    ([4.0, 3.0], [0, 0, 1, 0])
    """
    tokens = len(potentials.roles)
    allowed = path.astype(bool)
    places = [
        (first + step, forbidden)
        for step, row in enumerate(allowed)
        for forbidden in _turnings(engine.template, row, first + step > 0)
    ]
    free = np.ones((1, tokens, path.shape[1]), bool)
    free[0, first : first + len(path)] = allowed
    best = _best_within(engine, potentials, free)
    scores, edges = [best.score[0, 0], -np.inf], [best.edges, best.edges]
    some = max(1, _CELLS // free.size)  # of the places at once: all would take memory with the square of the tokens
    for begin in range(0, len(places), some):
        part = places[begin : begin + some]
        free = np.ones((len(part), tokens, path.shape[1]), bool)
        for version, (token, forbidden) in enumerate(part):
            free[version, token] = ~forbidden
        best = _best_within(engine, potentials, free)
        at = int(best.score[:, 0].argmax())
        if begin == 0 or best.score[at, 0] > scores[1]:
            scores[1], edges[1] = best.score[at, 0], best.edges[at * tokens : (at + 1) * tokens].copy()
    return Rivals(np.array(scores), np.stack(edges))


def _turnings(template: Template, allowed: Bools, later: bool) -> list[Bools]:
    """Where a structure may leave a path at one token: each (E,) what to forbid so that it does.

    A structure that has kept to the path so far leaves it at a kind of node that has a hyperedge which the path does
    not allow. Kinds of which only one is there at a time stand for each other: their allowed hyperedges are forbidden
    together, since forbidding those of one would leave the path open to the others.
    """
    meet = meeting_kinds(template)[int(later)]
    kinds = range(len(template.kinds))
    edges = [list(template.edges_of(kind)) for kind in template.kinds]
    found: dict[tuple[int, ...], None] = {}
    for seed in kinds:
        if not meet[seed, seed] or allowed[edges[seed]].all():
            continue
        group = [seed]
        for kind in kinds:
            if meet[kind, kind] and allowed[edges[kind]].any() and not meet[kind, group].any():
                group.append(kind)
        found[tuple(e for kind in sorted(group) for e in edges[kind] if allowed[e])] = None
    masks = np.zeros((len(found), len(allowed)), bool)
    for mask, forbidden in zip(masks, found, strict=True):
        mask[list(forbidden)] = True
    return list(masks)


def _best_within(engine: Engine, potentials: Potentials, allowed: Bools) -> Best:
    """The best structures of one sentence, once for each of V (V, T, E) tables of hyperedges that may be picked."""
    constrained, order = _constrained(type(engine), engine.template)
    versions, tokens, edges = allowed.shape
    masks = np.where(allowed, np.float32(0), np.float32(-np.inf)).reshape(versions * tokens, edges, 1)
    roles = np.concatenate([np.tile(potentials.roles, (versions, 1, 1)), masks], axis=1)[:, order]
    return constrained.viterbi(
        Potentials(np.ascontiguousarray(roles), potentials.constants), np.arange(versions + 1) * tokens
    )


@lru_cache(maxsize=32)
def _constrained(kind: type[Engine], template: Template) -> tuple[Engine, Ints]:
    """The engine, and for each of its roles the number among those of the template and then the hyperedges' own."""
    unlike = "-" * (1 + max(map(len, template.roles), default=0))
    own = [Role(f"{unlike}{number}") for number in range(len(template.edges))]
    edges = [replace(edge, roles=(*edge.roles, role)) for edge, role in zip(template.edges, own, strict=True)]
    constrained = replace(template, edges=tuple(edges))
    names = [*template.roles, *(role.name for role in own)]
    return kind(constrained), np.array([names.index(role) for role in constrained.roles], np.int64)


@lru_cache(maxsize=32)
def meeting_kinds(template: Template) -> Bools:
    """(2, kinds, kinds) whether some structure reaches nodes of both kinds at the first token, and at a later one.

    On the diagonal stands whether a kind is reached at all. Two nodes are followed from the root on, the one that comes
    first in ``kinds`` before the other; where both are one node it picks one hyperedge for both.
    """
    number = {kind: i for i, kind in enumerate(template.kinds)}
    ways = [
        [
            [_Follower(child.step * _AHEAD, number[child.kind]) for child in template.edges[e].children]
            for e in template.edges_of(kind)
        ]
        for kind in template.kinds
    ]
    met = np.zeros((2, len(number), len(number)), bool)
    root = _Follower(_HERE, number[template.root])
    waiting, seen = [(0, root, root)], set()
    while waiting:
        state = later, one, two = waiting.pop()
        if state in seen:
            continue
        seen.add(state)
        if one.place == two.place == _AHEAD:
            waiting.append((1, one._replace(place=_HERE), two._replace(place=_HERE)))
        elif one.place == two.place == _STAYS:
            met[later, one.kind, two.kind] = met[later, two.kind, one.kind] = True
        elif min(one, two).place == _HERE:
            waiting += [(later, min(pair), max(pair)) for pair in _moves(ways, min(one, two), max(one, two))]
    return met


class _Follower(NamedTuple):
    """A node that is followed: here and about to choose, here to stay, or at the next token."""

    place: int
    kind: int


_HERE, _STAYS, _AHEAD = 0, 1, 2


def _moves(ways: list[list[list[_Follower]]], one: _Follower, two: _Follower) -> set[tuple[_Follower, _Follower]]:
    """Where two nodes may go if the first, which is here, does one step."""
    stays = one._replace(place=_STAYS)
    goes = {child for children in ways[one.kind] for child in children}
    if one != two:
        return {(way, two) for way in {stays, *goes}}
    together = {pair for children in ways[one.kind] for pair in product(children, children)}
    return together | {(stays, way) for way in {stays, *goes}}
