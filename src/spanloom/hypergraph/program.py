"""Compilation of a template to a small automaton, which counts each sub-hypergraph exactly once.

Read the tokens from left to right and keep the *frontier*, the set of nodes at the next token that are already reached.
At a token the reached nodes choose their hyperedges one after the other, parents first; each choice adds same-token
children to what is still pending and next-token children to the next frontier. So a state is a pair of sets, *pending*
and *next*, each choice is an arc to a later state, and a sub-hypergraph is one path: summing over paths counts it once,
however many parents share a node. A linear chain, a multigraph, and the frontier of SHARED are all the same thing here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import UsageError
from spanloom.hypergraph.tables import csr
from spanloom.hypergraph.template import Hyperedge, Template

Ints = NDArray[np.int64]
MOST_STATES = 50_000


class AutomatonArcs(NamedTuple):
    """The arcs of an automaton.

    Args:
        source: (A,) the state that an arc leaves; arcs are sorted by their sources' stages, then by choices.
        target: (A,) the state that it reaches.
        choice: (A,) the choice: a hyperedge, "nothing" or, after these, a bundle of hyperedges.
        bundle_ptr, bundle_edge: the hyperedges of each bundle.
    """

    source: Ints
    target: Ints
    choice: Ints
    bundle_ptr: Ints
    bundle_edge: Ints


class AutomatonProgram(NamedTuple):
    """The automaton of a template, repeated at each token.

    The first X states are the *entries*, the frontiers with which a token can begin; the last X are the *exits*, with
    nothing pending, whose next frontier is that of the entry in the same place.

    Args:
        arcs: one for each hyperedge that a state can choose. The hyperedge after the template's last one means "nothing
            to choose", where a structure has ended early.
        bundled: the same with all arcs between the same states bundled, to sum their weights before they are followed.
        runs: the same with arcs bundled if no other arc of their source is between them, so that the first of equal
            arcs has the first hyperedge.
        orders: bundled arcs in runs of one source, the last stages first, and in runs of one target, the first stages
            first.
        order: the states that are no exits, by stage.
        accept: (X,) 1 if the text may end before this entry.
        states: the number of states.
        depth: the largest number of hyperedges of one path at a token: the D axis.
        root: the entry at the first token.
    """

    arcs: AutomatonArcs
    bundled: AutomatonArcs
    runs: AutomatonArcs
    orders: tuple[Ints, Ints]
    order: Ints
    accept: Ints
    states: int
    depth: int
    root: int


State = tuple[frozenset[str], frozenset[str]]  # pending, next


def compile_program(template: Template) -> AutomatonProgram:
    """Compile a template to its automaton.

    >>> from spanloom.hypergraph import Child, Hyperedge
    >>> program = compile_program(Template(("A",), "A", frozenset({"A"}), (
    ...     Hyperedge("heads", "A", (Child("A", 1),)), Hyperedge("tails", "A", (Child("A", 1),)))))
    >>> program.states, [column.tolist() for column in program.arcs]
    (2, [[0, 0], [1, 1], [0, 1], [0], []])
    >>> [column.tolist() for column in program.bundled]  # hyperedges are 0 and 1, 2 is "none", 3 is the bundle
    [[0], [1], [3], [0, 2], [0, 1]]
    """
    rank = {kind: i for i, kind in enumerate(template.kinds)}
    entries = {frozenset({template.root}): None}
    arcs: list[tuple[State, State, int]] = []
    seen: set[State] = set()
    found = list(entries)
    while found:
        agenda: list[State] = [(found.pop(0), frozenset())]
        while agenda:
            state = agenda.pop()
            if state in seen:
                continue
            seen.add(state)
            pending, following = state
            kind = min(pending, key=rank.__getitem__, default="")
            for edge in template.edges_of(kind) if kind else ():
                here, ahead = (
                    {child.kind for child in template.edges[edge].children if child.step == step} for step in (0, 1)
                )
                successor = (pending - {kind}) | here, following | ahead
                arcs.append((state, successor, edge))
                if successor[0]:
                    agenda.append(successor)
                elif successor[1] not in entries:
                    entries[successor[1]] = None
                    found.append(successor[1])
        if len(seen) > MOST_STATES:
            raise UsageError(
                f"counting sub-hypergraphs of this structure takes more than {MOST_STATES} states a token; take fewer "
                f"components, or count derivations"
            )
    if frozenset() in entries:  # a text whose structure ended early passes through its other tokens without a choice
        arcs.append(((frozenset(), frozenset()), (frozenset(), frozenset()), len(template.edges)))
    return _number(template, rank, list(entries), arcs)


def _number(
    template: Template, rank: dict[str, int], entries: list[frozenset[str]], arcs: list[tuple[State, State, int]]
) -> AutomatonProgram:
    # An exit never shares its number with an entry, even where both are (nothing, nothing).
    numbers: dict[tuple[State, bool], int] = {((entry, frozenset()), False): i for i, entry in enumerate(entries)}

    def number(state: State, leaving: bool) -> int:
        return numbers.setdefault((state, leaving), len(numbers))

    def stage(state: State) -> int:
        return min((rank[kind] for kind in state[0]), default=len(rank))

    inner = sorted(
        {source for source, _, _ in arcs}, key=lambda state: (stage(state), sorted(state[0]), sorted(state[1]))
    )
    order = {state: i for i, state in enumerate(inner)}
    arcs = sorted(arcs, key=lambda arc: (order[arc[0]], arc[2]))
    dead = [state for _, state, _ in arcs if state[0] and state not in order]
    stages = list(dict.fromkeys([*(number(state, False) for state in [*inner, *dead]), *range(len(entries))]))
    for entry in entries:
        number((frozenset(), entry), True)
    single = [((number(tail, False), number(head, not head[0])), [edge]) for tail, head, edge in arcs]
    longest = np.zeros(len(numbers), np.int64)
    for (source, target), _ in single:
        longest[target] = max(longest[target], longest[source] + 1)
    between: dict[tuple[int, int], list[int]] = {}
    for ends, edge in single:
        between.setdefault(ends, []).extend(edge)
    runs = [(ends, [edge for _, [edge] in run]) for ends, run in groupby(single, itemgetter(0))]
    edges = len(template.edges) + 1
    bundled = _arcs(between.items(), edges)
    return AutomatonProgram(
        arcs=_arcs(single, edges),
        bundled=bundled,
        runs=_arcs(runs, edges),
        orders=(
            np.arange(len(bundled.source))[::-1].copy(),
            np.lexsort((bundled.target, longest[bundled.target])),
        ),
        order=np.array(stages, np.int64),
        accept=np.array([entry <= template.final for entry in entries], np.int64),
        states=len(numbers),
        depth=int(longest.max(initial=1)),
        root=0,
    )


def _arcs(groups: Iterable[tuple[tuple[int, int], list[int]]], edges: int) -> AutomatonArcs:
    """Return arcs of source, target and hyperedges; an arc of several hyperedges becomes a bundle."""
    ends, picked = zip(*groups, strict=True)
    bundles: dict[tuple[int, ...], int] = {}
    choice = [
        group[0] if len(group) == 1 else edges + bundles.setdefault(tuple(group), len(bundles)) for group in picked
    ]
    source, target = np.array(ends, np.int64).T.copy()
    return AutomatonArcs(source, target, np.array(choice, np.int64), *csr(map(list, bundles)))


def parts(template: Template) -> list[Template]:
    """Return the independent parts of a template: the children of a root with one hyperedge that share no node below.

    A sub-hypergraph of the whole is one of each part, so scores add up and numbers multiply. The first part keeps the
    roles and the constant of the root's hyperedge.

    >>> from spanloom.hypergraph import Child, Hyperedge
    >>> both = Template(("A", "B", "C"), "A", frozenset({"A"}), (
    ...     Hyperedge("A", "A", (Child("B"), Child("C"), Child("A", 1))),
    ...     Hyperedge("b", "B"), Hyperedge("b'", "B"), Hyperedge("c", "C")))
    >>> [part.kinds for part in parts(both)]
    [('A', 'B'), ('A', 'C')]
    """
    own = template.edges_of(template.root)
    if len(own) != 1:
        return [template]
    group = {kind: {kind} for kind in template.kinds}
    for edge in template.edges:
        for child in edge.children:
            if template.root not in (edge.head, child.kind) and group[edge.head] is not group[child.kind]:
                joined = group[edge.head] | group[child.kind]
                group.update(dict.fromkeys(joined, joined))
    groups = [group[kind] for kind in template.kinds if kind != template.root]
    distinct = [members for i, members in enumerate(groups) if members not in groups[:i]]
    return [_part(template, members, own[0], i == 0) for i, members in enumerate(distinct)] or [template]


def _part(template: Template, members: set[str], root: int, first: bool) -> Template:
    def keep(index: int, edge: Hyperedge) -> Hyperedge | None:
        if index != root:
            return edge if edge.head in members else None
        children = tuple(child for child in edge.children if child.kind in {*members, template.root})
        kept = replace(edge, children=children)
        return kept if first else replace(kept, roles=(), constant=None)

    kinds = {template.root, *members}
    edges = (keep(i, edge) for i, edge in enumerate(template.edges))
    return Template(
        tuple(kind for kind in template.kinds if kind in kinds), template.root, template.final & kinds,
        tuple(edge for edge in edges if edge is not None),
    )  # fmt: skip
