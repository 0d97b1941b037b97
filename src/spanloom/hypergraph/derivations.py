"""The engine that counts derivations, as the papers do."""

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
    Paths,
    Potentials,
    Ranking,
    csr,
    pieces,
)
from spanloom.hypergraph.kernels_walks import Walk
from spanloom.hypergraph.subgraphs import SubgraphEngine
from spanloom.hypergraph.template import Template
from spanloom.hypergraph.walks import Walker
from spanloom.parallel import parallel_map

Bools = NDArray[np.bool_]


class DerivationEngine(Engine):
    """Counts derivations, as the inside recursion of the papers does: a shared node once for each parent."""

    counting = "derivations"

    def __init__(self, template: Template) -> None:
        super().__init__(template)
        self.depth = _depth(template)
        order = np.array([e for kind in template.kinds for e in template.edges_of(kind)], np.int64)
        edges = [template.edges[e] for e in order]
        kinds, names = template.kinds, template.roles
        kind_ptr = np.cumsum([0, *(len(template.edges_of(kind)) for kind in kinds)]).astype(np.int64)
        self._tables = (
            kind_ptr, order,
            *csr([[kinds.index(child.kind) for child in edge.children] for edge in edges]),
            np.array([child.step for edge in edges for child in edge.children], np.int64), self._final,
            *csr([[names.index(role.name) for role in edge.roles] for edge in edges]),
            np.array([role.step for edge in edges for role in edge.roles], np.int64), self._constant[order],
        )  # fmt: skip

    def _sums(self, potentials: Potentials, offsets: Ints, n_jobs: int | None, wanted: bool) -> Expectations:
        roles, constants = potentials
        sentences, types = len(offsets) - 1, roles.shape[2]
        log_partition = np.zeros((sentences, types))
        expected = np.zeros(roles.shape if wanted else (0, 0, 0), np.float32)
        totals = np.zeros((sentences, len(constants), types))

        def run(piece: Ints) -> None:
            kernels_derivations.sums(
                roles, constants, piece, offsets, self._root, self._tables, log_partition, expected, totals
            )

        parallel_map(run, pieces(sentences), n_jobs)
        return Expectations(log_partition, expected, totals.sum(0))

    @cached_property
    def _subgraphs(self) -> SubgraphEngine:
        return SubgraphEngine(self.template)

    def viterbi(self, potentials: Potentials, offsets: Ints, n_jobs: int | None = 1) -> Best:  # noqa: D102
        tokens, _, types = potentials.roles.shape
        best = Best(np.zeros((len(offsets) - 1, types)), np.empty((tokens, types, self.depth), np.int16))

        def run(piece: Ints) -> None:
            kernels_derivations.best(*potentials, piece, offsets, self._root, self._tables, best.score, best.edges)

        parallel_map(run, pieces(len(offsets) - 1), n_jobs)
        return best

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
        self, potentials: Potentials, offsets: Ints, paths: Paths, n_jobs: int | None = 1
    ) -> Floats:
        if all(len(edge.children) <= 1 for edge in self.template.edges):
            # No node is shared, so both countings agree; expected visits are for paths through nodes that are.
            return self._subgraphs.path_probability(potentials, offsets, paths, n_jobs)
        order = self._tables[1]
        allowed = paths.allowed[:, order] > 0
        held, starts = self._nodes(allowed)
        usable = allowed & held[:, np.repeat(np.arange(held.shape[1]), np.diff(self._tables[0]))]
        asked = np.arange(len(paths.sentence))
        return self._walker.probabilities(potentials, offsets, paths, usable, starts, asked, n_jobs)

    def _nodes(self, allowed: Bools) -> tuple[Bools, Bools]:
        """(M, V) the nodes of a path, of which not all hyperedges are allowed, and those where its flow begins.

        It begins at those that no other node of the path reaches at the same token, with their expected visits.
        """
        kind_ptr, _, child_ptr, child_kind, child_step = self._tables[:5]
        kinds = range(len(kind_ptr) - 1)
        held = np.stack([~allowed[:, kind_ptr[v] : kind_ptr[v + 1]].all(1) for v in kinds], 1)
        starts = held.copy()
        for kind in kinds:
            for choice in range(kind_ptr[kind], kind_ptr[kind + 1]):
                for i in range(child_ptr[choice], child_ptr[choice + 1]):
                    if child_step[i] == 0:
                        starts[:, child_kind[i]] &= ~(held[:, kind] & allowed[:, choice])
        return held, starts

    @cached_property
    def _walker(self) -> Walker:
        kind_ptr, order, child_ptr, child_kind, child_step, final, role_ptr, role, role_step, constant = self._tables
        kinds = len(final)  # a node of the next token is a state, too
        inner = np.append(0, np.cumsum(child_step == 0))
        walk = Walk(
            np.arange(kinds), kind_ptr, np.arange(len(order)), child_ptr,
            child_kind + kinds * child_step, kinds + np.arange(kinds), final.astype(np.int64),
            (inner[child_ptr[1:]] == inner[child_ptr[:-1]]).astype(np.uint8), role_ptr, role, role_step, constant,
        )  # fmt: skip
        return Walker(walk, 2 * kinds, self._root, late=True)


def _depth(template: Template) -> int:
    """How many hyperedges a derivation picks at one token, at most."""
    if any(len(edge.children) > 1 for edge in template.edges):
        return len(template.kinds)
    longest = dict.fromkeys(template.kinds, 1)
    for kind in reversed(template.kinds):
        below = (child for e in template.edges_of(kind) for child in template.edges[e].children if child.step == 0)
        longest[kind] += max((longest[child.kind] for child in below), default=0)
    return max(longest.values())
