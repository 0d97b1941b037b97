"""From a template to a small automaton: how each sub-hypergraph is counted exactly once.

Read the tokens from left to right and keep the *frontier*, the set of nodes at the next token that are already reached.
At a token the reached nodes choose their hyperedges one after the other, parents first; each choice adds same-token
children to what is still pending and next-token children to the next frontier. So a state is a pair of sets, *pending*
and *next*, each choice is an arc to a later state, and a sub-hypergraph is one path: summing over paths counts it once,
however many parents share a node. A linear chain, a multigraph, and the frontier of SHARED are all the same thing here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import UsageError
from spanloom.hypergraph.template import Hyperedge, Template

Ints = NDArray[np.int64]
MOST_STATES = 50_000


class Arcs(NamedTuple):
    """The arcs of an automaton.

    Args:
        source: (A,) the state that an arc leaves; arcs stand in order of their sources' stages, then of choices.
        target: (A,) the state that it reaches.
        choice: (A,) what is chosen.
    """

    source: Ints
    target: Ints
    choice: Ints


class Program(NamedTuple):
    """The automaton of a template, repeated at each token.

    States are numbered so that the first S are the *entries*: the frontiers with which a token can begin.

    Args:
        arcs: one for each hyperedge that a state can choose. One more hyperedge than the template has stands for
            "nothing to choose", where a structure has ended early.
        bundled: the same with arcs between the same states bundled: choices up to E are hyperedges, the others bundles
            of them, whose weights are summed before the arcs are followed.
        bundle_ptr, bundle_edge: the hyperedges of each bundle.
        orders: bundled arcs in runs of one source, the last stages first, and in runs of one target, the first stages
            first.
        exit: (S,) the state with nothing pending whose next frontier is this entry.
        accept: (S,) 1 where the text may end before this entry.
        states: the number of states.
        depth: the largest number of hyperedges that one path picks at a token: the D axis.
        root: the entry at the first token.
    """

    arcs: Arcs
    bundled: Arcs
    bundle_ptr: Ints
    bundle_edge: Ints
    orders: tuple[Ints, Ints]
    exit: Ints
    accept: Ints
    states: int
    depth: int
    root: int


State = tuple[frozenset[str], frozenset[str]]  # pending, next


def compile_program(template: Template) -> Program:
    """The automaton of a template.

    >>> from spanloom.hypergraph import Child, Hyperedge
    >>> program = compile_program(Template(("A",), "A", frozenset({"A"}), (
    ...     Hyperedge("heads", "A", (Child("A", 1),)), Hyperedge("tails", "A", (Child("A", 1),)))))
    >>> program.states, [column.tolist() for column in program.arcs], program.bundle_edge.tolist()
    (2, [[0, 0], [1, 1], [0, 1]], [0, 1])
    >>> [column.tolist() for column in program.bundled]  # hyperedges are 0 and 1, 2 is "none", 3 is the bundle
    [[0], [1], [3]]
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
            for edge, successor in _successors(template, rank, state):
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


def _successors(template: Template, rank: dict[str, int], state: State) -> list[tuple[int, State]]:
    pending, following = state
    if not pending:
        return []
    kind = min(pending, key=rank.__getitem__)
    return [
        (
            edge,
            (
                (pending - {kind}) | {child.kind for child in template.edges[edge].children if child.step == 0},
                following | {child.kind for child in template.edges[edge].children if child.step == 1},
            ),
        )
        for edge in template.edges_of(kind)
    ]


def _number(
    template: Template, rank: dict[str, int], entries: list[frozenset[str]], arcs: list[tuple[State, State, int]]
) -> Program:
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
    for state in inner:
        number(state, False)
    exits = [number((frozenset(), entry), True) for entry in entries]
    target = [number(state, not state[0]) for _, state, _ in arcs]
    source = [number(state, False) for state, _, _ in arcs]
    edges = [edge for _, _, edge in arcs]

    longest = np.zeros(len(numbers), np.int64)
    for tail, head in zip(source, target, strict=True):
        longest[head] = max(longest[head], longest[tail] + 1)
    bundled, bundle_ptr, bundle_edge = _bundle(list(zip(source, target, edges, strict=True)), len(template.edges) + 1)
    return Program(
        arcs=Arcs(np.array(source, np.int64), np.array(target, np.int64), np.array(edges, np.int64)),
        bundled=bundled,
        bundle_ptr=bundle_ptr,
        bundle_edge=bundle_edge,
        orders=(
            np.arange(len(bundled.source))[::-1].copy(),
            np.lexsort((bundled.target, longest[bundled.target])),
        ),
        exit=np.array(exits, np.int64),
        accept=np.array([entry <= template.final for entry in entries], np.int64),
        states=len(numbers),
        depth=int(longest.max(initial=1)),
        root=0,
    )


def _bundle(arcs: list[tuple[int, int, int]], edges: int) -> tuple[Arcs, Ints, Ints]:
    """Arcs between the same states as one, and the hyperedges of each bundle."""
    between: dict[tuple[int, int], list[int]] = {}
    for source, target, edge in arcs:
        between.setdefault((source, target), []).append(edge)
    number: dict[tuple[int, ...], int] = {}
    choices = [
        group[0] if len(group) == 1 else edges + number.setdefault(tuple(group), len(number))
        for group in between.values()
    ]
    sources, targets = zip(*between, strict=True)
    ptr = np.cumsum([0, *map(len, number)]).astype(np.int64)
    members = np.array([edge for group in number for edge in group], np.int64)
    return Arcs(*(np.array(column, np.int64) for column in (sources, targets, choices))), ptr, members


def parts(template: Template) -> list[Template]:
    """The independent parts of a template whose root has one hyperedge: its children that share no node below.

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
