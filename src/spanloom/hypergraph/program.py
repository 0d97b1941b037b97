"""From a template to a small automaton: how each sub-hypergraph is counted exactly once.

Read the tokens from left to right and keep the *frontier*, the set of nodes at the next token that are already reached.
At a token the reached nodes choose their hyperedges one after the other, parents first; each choice adds same-token
children to what is still pending and next-token children to the next frontier. So a state is a pair of sets, *pending*
and *next*, each choice is an arc to a later state, and a sub-hypergraph is one path: summing over paths counts it once,
however many parents share a node. A linear chain, a multigraph, and the frontier of SHARED are all the same thing here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph.template import Template

Ints = NDArray[np.int64]


class Program(NamedTuple):
    """The automaton of a template, repeated at each token.

    States are numbered so that the first S are the *entries*: the frontiers with which a token can begin.

    Args:
        source: (A,) the state that an arc leaves; arcs stand in order of their sources' stages, then of hyperedges.
        target: (A,) the state that it reaches.
        edge: (A,) the hyperedge that is chosen.
        exit: (S,) the state with nothing pending whose next frontier is this entry.
        accept: (S,) 1 where the text may end before this entry.
        states: the number of states.
        depth: the largest number of hyperedges that one path picks at a token: the D axis.
        root: the entry at the first token.
    """

    source: Ints
    target: Ints
    edge: Ints
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
    >>> program.states, program.source.tolist(), program.target.tolist(), program.edge.tolist()
    (2, [0, 0], [1, 1], [0, 1])
    """
    rank = {kind: i for i, kind in enumerate(template.kinds)}
    entries: list[frozenset[str]] = [frozenset({template.root})]
    arcs: list[tuple[State, State, int]] = []
    seen: set[State] = set()
    for entry in entries:  # grows while new frontiers are found
        agenda: list[State] = [(entry, frozenset())]
        while agenda:
            state = agenda.pop()
            if state in seen:
                continue
            seen.add(state)
            successors = _successors(template, rank, state)
            arcs += [(state, successor, edge) for edge, successor in successors]
            agenda += [successor for _, successor in successors if successor[0]]
            entries += dict.fromkeys(
                successor[1] for _, successor in successors if not successor[0] and successor[1] not in entries
            )
    if frozenset() in entries:  # a text whose structure ended early passes through its other tokens without a choice
        arcs.append(((frozenset(), frozenset()), (frozenset(), frozenset()), len(template.edges)))
    return _number(template, rank, entries, arcs)


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

    longest = np.zeros(len(numbers), np.int64)
    for tail, head in zip(source, target, strict=True):
        longest[head] = max(longest[head], longest[tail] + 1)
    return Program(
        source=np.array(source, np.int64),
        target=np.array(target, np.int64),
        edge=np.array([edge for _, _, edge in arcs], np.int64),
        exit=np.array(exits, np.int64),
        accept=np.array([entry <= template.final for entry in entries], np.int64),
        states=len(numbers),
        depth=int(longest.max(initial=1)),
        root=0,
    )
