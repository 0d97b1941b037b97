"""Constrained decoding: the best structures with a path, or one of several, and without any.

A *path* (see `Paths`) allows certain hyperedges at each of some tokens; a structure has it if it picks only these.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph.engine import Edges, Engine, Floats, Potentials
from spanloom.hypergraph.tables import Paths
from spanloom.hypergraph.template import Template

Bools = NDArray[np.bool_]
_CELLS = 1 << 22  # hyperedges at tokens that are looked at side by side


class Rivals(NamedTuple):
    """The best structures of one sentence with a path, and without any; a score is -inf without such a structure.

    Args:
        score: (2,).
        edges: (2, T, 1, D) as in `Best`.
    """

    score: Floats
    edges: Edges


class _AllowedPath(NamedTuple):
    """The hyperedges (S, E) that a path allows at each of its S tokens, from the first on."""

    first: int
    allowed: Bools

    def has(self, edges: Edges) -> bool:
        """Return whether a structure, (T, 1, D), has the path."""
        here = np.column_stack([self.allowed, np.ones(len(self.allowed), bool)])  # -1, for no hyperedge, is allowed
        picked = edges[self.first : self.first + len(here), 0]
        return bool(here[np.arange(len(here))[:, None], picked].all())


_Forbidden = list[tuple[int, Bools]]  # tokens, and (E,) what is forbidden there


def rivals(engine: Engine, potentials: Potentials, paths: Paths) -> Rivals:
    """Find the best structure with one of some paths, and the best one without any of them.

    A structure without a path has a first node where it picks another hyperedge. So the best one is the best of
    those that forbid, for one place after the other, what the path allows there; many are found side by side. Where it
    keeps to another of the paths, that is forbidden in the same ways, and so on, from the best on.

    Args:
        engine: the engine of the structure.
        potentials: scores of a sentence of T tokens, of one type.
        paths: paths of that sentence and type; their numbers are ignored.

    >>> from spanloom.hypergraph import Child, Hyperedge, Role, SubgraphEngine
    >>> coin = Template(("A",), "A", frozenset({"A"}), (
    ...     Hyperedge("heads", "A", (Child("A", 1),), (Role("h"),)), Hyperedge("tails", "A", (Child("A", 1),))))
    >>> scores = Potentials(np.array([[[1.0]], [[3.0]]], np.float32), np.zeros((0, 1), np.float32))
    >>> none = np.array([0])
    >>> heads = Paths.build(none, none, none, np.array([[0]]), np.array([[2]]), np.array([[1, 0]], np.uint8))
    >>> found = rivals(SubgraphEngine(coin), scores, heads)  # two heads
    >>> found.score.tolist(), found.edges.ravel().tolist()
    ([4.0, 3.0], [0, 0, 1, 0])
    """
    own = [_AllowedPath(first, paths.spread(i).astype(bool)) for i, first in enumerate(paths.first.tolist())]
    keeping = [[(path.first + step, ~row) for step, row in enumerate(path.allowed)] for path in own]
    scores, edges = _best_of(engine, potentials, keeping)
    found = Rivals(np.array([scores.max(), -np.inf]), np.stack([edges, edges]))
    waiting: list[tuple[float, int, _Forbidden]] = []
    forbidden: _Forbidden = []
    path: _AllowedPath | None = own[0]
    order = count()  # of equals the first
    while path is not None:
        versions = [
            [*forbidden, (path.first + step, edges_of)]
            for step, row in enumerate(path.allowed)
            for edges_of in _turnings(engine.template, row, path.first + step > 0)
        ]
        scores, _ = _best_of(engine, potentials, versions)
        for score, version in zip(scores.tolist(), versions, strict=True):
            heappush(waiting, (-score, next(order), version))
        if not waiting:
            break
        *_, forbidden = heappop(waiting)
        scores, edges = _best_of(engine, potentials, [forbidden])
        found.score[1], found.edges[1] = scores[0], edges
        path = next((path for path in own if np.isfinite(scores[0]) and path.has(edges)), None)
    return found


def _best_of(engine: Engine, potentials: Potentials, versions: Sequence[_Forbidden]) -> tuple[Floats, Edges]:
    """Return the scores (V,) of the best structures under V sets of forbidden hyperedges, and the best of all."""
    tokens, width = len(potentials.roles), len(engine.template.edges)
    some = max(1, _CELLS // (tokens * width or 1))  # at once: all would take memory with the square of the tokens
    scores, found = np.full(len(versions), -np.inf), np.zeros((tokens, 1, engine.depth), np.int16)
    for begin in range(0, len(versions), some):
        part = versions[begin : begin + some]
        free = np.ones((len(part), tokens, width), bool)
        for version, forbidden in enumerate(part):
            for token, row in forbidden:
                free[version, token] &= ~row
        repeated = Potentials(np.tile(potentials.roles, (len(part), 1, 1)), potentials.constants)
        offsets = np.arange(len(part) + 1) * tokens
        best = engine.viterbi(repeated, offsets, allowed=free.reshape(len(part) * tokens, width, 1))
        scores[begin : begin + len(part)] = best.score[:, 0]
        at = int(best.score[:, 0].argmax())
        if begin == 0 or best.score[at, 0] > scores[:begin].max():
            found = best.edges[at * tokens : (at + 1) * tokens].copy()
    return scores, found


def _turnings(template: Template, allowed: Bools, later: bool) -> list[Bools]:
    """Return the ways to leave a path at one token: for each the hyperedges (E,) to forbid so that it does.

    A structure that has kept to the path so far leaves it at a kind of node that has a hyperedge which the path does
    not allow. Kinds of which only one is active at a time are equivalent: their allowed hyperedges are forbidden
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


@lru_cache(maxsize=32)
def meeting_kinds(template: Template) -> Bools:
    """Return (2, kinds, kinds) whether a structure may have both kinds at the first token, and at a later one.

    The diagonal is whether a kind is reached at all. Two nodes are followed from the root on, the one that comes
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
    """Return the pairs that two nodes may reach if the first, which is here, does one step."""
    stays = one._replace(place=_STAYS)
    goes = {child for children in ways[one.kind] for child in children}
    if one != two:
        return {(way, two) for way in {stays, *goes}}
    together = {pair for children in ways[one.kind] for pair in product(children, children)}
    return together | {(stays, way) for way in {stays, *goes}}
