"""Inference engine that counts derivations, as the papers do."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import reference
from spanloom.hypergraph.engine import (
    PIECES,
    Choices,
    Engine,
    Expectations,
    Floats,
    Ints,
    Masked,
    Ranking,
)
from spanloom.hypergraph.subgraphs import SubgraphEngine
from spanloom.hypergraph.tables import Automaton, Graph, Paths, csr
from spanloom.hypergraph.template import Template
from spanloom.hypergraph.walks import path_probabilities
from spanloom.native import Kernel
from spanloom.parallel import Executor, even_ranges

Bools = NDArray[np.bool_]
_sums = Kernel("derivation_sums")


class DerivationEngine(Engine):
    """Engine that counts derivations, as the papers' inside recursion does: a shared node once for each parent."""

    counting = "derivations"

    def __init__(self, template: Template) -> None:
        super().__init__(template)
        self.depth = _depth(template)
        self._automaton = _automaton(self._graph)
        self._automata = [self._automaton]

    def _sums(self, scores: Masked, offsets: Ints, run: Executor, with_counts: bool) -> Expectations:
        sentences, types = len(offsets) - 1, scores.roles.shape[2]
        log_partition = np.zeros((sentences, types))
        expected = np.zeros(scores.roles.shape if with_counts else (0, 0, 0), np.float32)
        each = np.zeros((sentences, len(scores.constants), types))
        run.map(
            lambda piece: _sums(scores, np.arange(*piece), offsets, self._automaton, log_partition, expected, each),
            even_ranges(sentences, PIECES if run.workers > 1 else 1),
        )
        return Expectations(log_partition, expected, each)

    @cached_property
    def subgraphs(self) -> SubgraphEngine:
        """The engine of the same template that counts each sub-hypergraph once."""
        return SubgraphEngine(self.template)

    def _ranking(self, scores: Masked, offsets: Ints, sentence: int, kind: int, count: int) -> Ranking:
        ranked = reference.kbest(self.template, self._edge_scores(scores, offsets, sentence, kind), count)
        score = np.full(count, -np.inf)
        score[: len(ranked)] = [value for value, _ in ranked]
        return Ranking(score, tuple(choices for _, choices in ranked))

    def _drawn(
        self, scores: Masked, offsets: Ints, sentence: int, kind: int, count: int, random: np.random.Generator
    ) -> tuple[Choices, ...]:
        own = self._edge_scores(scores, offsets, sentence, kind)
        return tuple(reference.sample(self.template, own, count, random.random))

    def _edge_scores(self, scores: Masked, offsets: Ints, sentence: int, kind: int) -> list[list[float]]:
        """Return the scores of hyperedges at each token, for what looks at derivations in plain Python.

        Lists of derivations are for a person to look at, not for every sentence of a corpus.
        """
        names, constants = self.template.roles, self.template.constants
        own = scores.of_sentence(offsets, sentence)
        rows = own.roles[:, :, kind].tolist()
        return reference.edge_scores(
            self.template,
            [dict(zip(names, row, strict=True)) for row in rows],
            dict(zip(constants, own.constants[:, kind].tolist(), strict=True)),
            own.dense()[:, :, kind].tolist(),
        )

    def _path_probability(self, scores: Masked, offsets: Ints, paths: Paths, run: Executor) -> Floats:
        if all(len(edge.children) <= 1 for edge in self.template.edges):
            # No node is shared, so both countings agree; expected visits are for paths through nodes that are.
            return self.subgraphs._path_probability(scores, offsets, paths, run)
        allowed = paths.allowed[:, self._automaton.edge] > 0
        held, starts = self._nodes(allowed)
        usable = allowed & held[:, self._automaton.source]
        queried = np.arange(len(paths.sentence))
        return path_probabilities(self._automaton, scores, offsets, paths, usable, starts, queried, run, late=True)

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
