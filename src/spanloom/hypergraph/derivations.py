"""Inference engine that counts derivations, as the papers do."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import kernels_derivations, reference
from spanloom.hypergraph.engine import (
    Best,
    Engine,
    Expectations,
    Floats,
    Ints,
    Potentials,
    Ranking,
    pieces,
)
from spanloom.hypergraph.kernels_automaton import Automaton
from spanloom.hypergraph.kernels_gold import Graph
from spanloom.hypergraph.kernels_walks import Paths
from spanloom.hypergraph.subgraphs import SubgraphEngine
from spanloom.hypergraph.tables import csr
from spanloom.hypergraph.template import Template
from spanloom.hypergraph.walks import Walker
from spanloom.parallel import SERIAL, Executor

Bools = NDArray[np.bool_]


class DerivationEngine(Engine):
    """Engine that counts derivations, as the papers' inside recursion does: a shared node once for each parent."""

    counting = "derivations"

    def __init__(self, template: Template) -> None:
        super().__init__(template)
        self.depth = _depth(template)
        self._automaton = _automaton(self._graph)

    def _sums(self, potentials: Potentials, offsets: Ints, run: Executor, with_counts: bool) -> Expectations:
        roles, constants = potentials
        sentences, types = len(offsets) - 1, roles.shape[2]
        log_partition = np.zeros((sentences, types))
        expected = np.zeros(roles.shape if with_counts else (0, 0, 0), np.float32)
        totals = np.zeros((sentences, len(constants), types))

        def one(piece: Ints) -> None:
            kernels_derivations.sums(roles, constants, piece, offsets, self._automaton, log_partition, expected, totals)

        run.map(one, pieces(sentences))
        return Expectations(log_partition, expected, totals.sum(0))

    @cached_property
    def _subgraphs(self) -> SubgraphEngine:
        return SubgraphEngine(self.template)

    def viterbi(self, potentials: Potentials, offsets: Ints, run: Executor = SERIAL) -> Best:  # noqa: D102
        return self._best(potentials, offsets, [self._automaton], run)

    def kbest(  # noqa: D102
        self, potentials: Potentials, offsets: Ints, sentence: int, kind: int, count: int
    ) -> Ranking:
        # In plain Python: lists of derivations are for a person to look at, not for every sentence of a corpus.
        names, constants = self.template.roles, self.template.constants
        rows = potentials.roles[offsets[sentence] : offsets[sentence + 1], :, kind].tolist()
        ranked = reference.kbest(
            self.template,
            reference.edge_scores(
                self.template,
                [dict(zip(names, row, strict=True)) for row in rows],
                dict(zip(constants, potentials.constants[:, kind].tolist(), strict=True)),
            ),
            count,
        )
        score = np.full(count, -np.inf)
        score[: len(ranked)] = [value for value, _ in ranked]
        return Ranking(score, tuple(choices for _, choices in ranked))

    def path_probability(  # noqa: D102
        self, potentials: Potentials, offsets: Ints, paths: Paths, run: Executor = SERIAL
    ) -> Floats:
        if all(len(edge.children) <= 1 for edge in self.template.edges):
            # No node is shared, so both countings agree; expected visits are for paths through nodes that are.
            return self._subgraphs.path_probability(potentials, offsets, paths, run)
        allowed = paths.allowed[:, self._automaton.edge] > 0
        held, starts = self._nodes(allowed)
        usable = allowed & held[:, self._automaton.source]
        asked = np.arange(len(paths.sentence))
        return Walker(self._automaton, late=True).probabilities(potentials, offsets, paths, usable, starts, asked, run)

    def _nodes(self, allowed: Bools) -> tuple[Bools, Bools]:
        """Return (M, V) the nodes of a path, of which not all hyperedges are allowed, and those where its flow begins.

        The flow begins at nodes that no other node of the path reaches at the same token, with their expected visits.
        """
        table = self._automaton
        kinds = range(len(table.order))
        held = np.stack([~allowed[:, table.first[v] : table.stop[v]].all(1) for v in kinds], 1)
        starts = held.copy()
        for choice, kind in enumerate(table.source.tolist()):
            for child in table.target[table.target_ptr[choice] : table.target_ptr[choice + 1]].tolist():
                if child in kinds:
                    starts[:, child] &= ~(held[:, kind] & allowed[:, choice])
        return held, starts


def _automaton(graph: Graph) -> Automaton:
    """Return the automaton: its states are the kinds, once for nodes of this token and once for those of the next."""
    kinds = len(graph.final)
    edge = np.argsort(graph.head, kind="stable")
    first, stop = (np.searchsorted(graph.head[edge], np.arange(2 * kinds), side) for side in ("left", "right"))
    child = graph.child + kinds * graph.step
    target_ptr, target = csr([child[graph.child_ptr[e] : graph.child_ptr[e + 1]].tolist() for e in edge])
    nothing = np.zeros(0, np.int64)
    return Automaton(
        np.arange(kinds), first, stop, graph.head[edge], edge, target_ptr, target, np.zeros(1, np.int64), nothing,
        graph.final.astype(np.int64), graph.root, np.arange(len(edge), dtype=np.int16), graph.hyperedges,
    )  # fmt: skip


def _depth(template: Template) -> int:
    """Return the largest number of hyperedges that a derivation picks at one token."""
    if any(len(edge.children) > 1 for edge in template.edges):
        return len(template.kinds)
    longest = dict.fromkeys(template.kinds, 1)
    for kind in reversed(template.kinds):
        below = (child for e in template.edges_of(kind) for child in template.edges[e].children if child.step == 0)
        longest[kind] += max((longest[child.kind] for child in below), default=0)
    return max(longest.values())
