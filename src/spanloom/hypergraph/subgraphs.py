"""The engine that counts each sub-hypergraph exactly once."""

from __future__ import annotations

import heapq
from functools import cached_property
from itertools import product

import numpy as np

from spanloom.hypergraph import kernels_paths, kernels_subgraphs
from spanloom.hypergraph.engine import (
    Best,
    Edges,
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
from spanloom.hypergraph.program import Program, compile_program, parts
from spanloom.hypergraph.template import Template
from spanloom.hypergraph.walks import Walker
from spanloom.parallel import parallel_map

_LANES = 64  # how many (sentence, type) pairs run side by side, to hide what a vector operation costs to begin
_CACHED = 1 << 17  # bytes of scores that an automaton may keep for a token: what a core's cache holds


class SubgraphEngine(Engine):
    """Counts each sub-hypergraph exactly once, for every template (see `program`).

    A template of independent parts is a product: each part has an automaton of its own, and their scores add up.
    """

    counting = "subgraphs"

    def __init__(self, template: Template) -> None:
        super().__init__(template)
        self._parts = [_Part(part, template) for part in parts(template)]
        self.depth = sum(part.program.depth for part in self._parts) - len(self._parts) + 1

    def _sums(self, potentials: Potentials, offsets: Ints, n_jobs: int | None, wanted: bool) -> Expectations:
        log_partition, roles, constants = self._parts[0].sums(potentials, offsets, n_jobs, wanted)
        for part in self._parts[1:]:
            own = part.sums(potentials, offsets, n_jobs, wanted)
            log_partition += own.log_partition
            roles += own.roles
            constants += own.constants
        return Expectations(log_partition, roles, constants)

    def viterbi(self, potentials: Potentials, offsets: Ints, n_jobs: int | None = 1) -> Best:  # noqa: D102
        found = [part.viterbi(potentials, offsets, n_jobs) for part in self._parts]
        if len(found) == 1:
            return found[0]
        # every part picks the root's hyperedge: it stays with the first; then what is picked moves to the front
        edges = np.concatenate([found[0].edges, *(best.edges[..., 1:] for best in found[1:])], axis=2)
        order = np.argsort(edges < 0, axis=2, kind="stable")
        score = np.sum([best.score for best in found], axis=0)
        edges[np.isneginf(np.repeat(score, np.diff(offsets), axis=0))] = -1
        return Best(score, np.take_along_axis(edges, order, axis=2))

    def kbest(  # noqa: D102
        self, potentials: Potentials, offsets: Ints, sentence: int, kind: int, count: int
    ) -> Ranking:
        ranked = [part.kbest(potentials, offsets, sentence, kind, count) for part in self._parts]
        combined = ranked[0]
        for other in ranked[1:]:
            combined = _best_pairs(combined, other, count)
        return combined

    def path_probability(  # noqa: D102
        self, potentials: Potentials, offsets: Ints, paths: Paths, n_jobs: int | None = 1
    ) -> Floats:
        result = np.ones(len(paths.sentence))
        for part in self._parts:
            part.path_probability(potentials, offsets, paths, n_jobs, result)
        return result


def _best_pairs(one: Ranking, two: Ranking, count: int) -> Ranking:
    """The best structures of two independent parts together; of equal ones that with the better first part first."""
    pairs = product(range(len(one.structures)), range(len(two.structures)))
    best = heapq.nsmallest(count, pairs, key=lambda pair: -(one.score[pair[0]] + two.score[pair[1]]))
    score = np.full(count, -np.inf)
    score[: len(best)] = [one.score[i] + two.score[j] for i, j in best]
    return Ranking(score, tuple(tuple(sorted({*one.structures[i], *two.structures[j]})) for i, j in best))


class _Part:
    """One independent part of a template, as an automaton.

    Args:
        part: its template.
        whole: the template that it is a part of.
    """

    def __init__(self, part: Template, whole: Template) -> None:
        self.program: Program = compile_program(part)
        program = self.program
        self._edges = np.array([whole.index(edge.label) for edge in part.edges], np.int64)
        # One hyperedge more, without roles, stands for "nothing to choose" where a structure has ended early.
        role_ptr, role_index = csr([[whole.roles.index(role.name) for role in edge.roles] for edge in part.edges])
        constants = [-1 if edge.constant is None else whole.constants.index(edge.constant) for edge in part.edges]
        self._tables = (
            *program.bundled, program.exit, program.accept, program.bundle_ptr, program.bundle_edge,
            np.append(role_ptr, role_ptr[-1]), role_index,
            np.array([role.step for edge in part.edges for role in edge.roles], np.int64),
            np.array([e for e, edge in enumerate(part.edges) if edge.roles], np.int64),
            np.array([*constants, -1], np.int64), program.root,
        )  # fmt: skip
        self._orders = program.orders
        self._lanes = min(_LANES, max(8, _CACHED // (8 * program.states)))

    def sums(self, potentials: Potentials, offsets: Ints, n_jobs: int | None, wanted: bool) -> Expectations:
        roles, constants = potentials
        types = roles.shape[2]
        lengths = np.diff(offsets)
        order = np.argsort(-lengths, kind="stable")
        order = order[lengths[order] > 0]
        size = max(1, self._lanes // types)
        bounds = np.append(np.arange(0, len(order), size), len(order))
        log_partition = np.zeros((len(lengths), types))
        expected = np.zeros(roles.shape if wanted else (0, 0, 0), np.float32)
        totals = np.zeros((len(bounds) - 1, len(constants), types))
        safely = np.ones(log_partition.shape, np.bool_)

        def run(piece: Ints) -> None:
            kernels_subgraphs.sums(
                roles, constants, bounds[piece[0] : piece[-1] + 2], order, offsets, self.program.states, self._tables,
                log_partition, safely, expected, totals[piece[0] : piece[-1] + 1],
            )  # fmt: skip

        # A piece takes neighbours in the order of length; long sentences are few and stand first.
        parallel_map(run, pieces(len(bounds) - 1), n_jobs)
        constant_sums: Floats = totals.sum(0)
        for n, k in np.argwhere(~safely).tolist():
            log_partition[n, k] = kernels_paths.log_sums(
                roles, constants, offsets[n], offsets[n + 1], k, self.program.states, self._orders, self._tables,
                expected, constant_sums,
            )  # fmt: skip
        return Expectations(log_partition, expected, constant_sums)

    def viterbi(self, potentials: Potentials, offsets: Ints, n_jobs: int | None) -> Best:
        tokens, _, types = potentials.roles.shape
        best = Best(
            np.zeros((len(offsets) - 1, types)), np.full((tokens, types, max(self.program.depth, 1)), -1, np.int16)
        )

        def run(piece: Ints) -> None:
            kernels_paths.best(*potentials, piece, offsets, self.program.states, self._tables, best.score, best.edges)

        parallel_map(run, pieces(len(offsets) - 1), n_jobs)
        return Best(best.score, self._whole(best.edges))

    def kbest(self, potentials: Potentials, offsets: Ints, sentence: int, kind: int, count: int) -> Ranking:
        start, end = int(offsets[sentence]), int(offsets[sentence + 1])
        score = np.empty(count)
        edges = np.empty((count, end - start, max(self.program.depth, 1)), np.int16)
        kernels_paths.kbest(
            *potentials, start, end, kind, count, self.program.states, self.program.arcs, self._tables, score, edges
        )
        picked = [
            tuple(sorted((t, e) for t, row in enumerate(structure) for e in row if e >= 0))
            for structure in self._whole(edges[score > -np.inf]).tolist()
        ]
        return Ranking(score, tuple(picked))

    def path_probability(
        self, potentials: Potentials, offsets: Ints, paths: Paths, n_jobs: int | None, result: Floats
    ) -> None:
        """Multiply ``result`` by the probability of what each path demands of this part."""
        allowed = np.concatenate([paths.allowed[:, self._edges], np.ones((len(paths.allowed), 1), np.uint8)], 1)
        demands = np.append(0, np.cumsum((allowed == 0).any(1)[paths.row]))[paths.run_ptr]
        asked = np.flatnonzero(np.diff(demands))
        if len(asked):
            anywhere = np.ones((len(allowed), len(self.program.exit)), bool)
            usable = allowed[:, self.program.arcs.choice] > 0
            result *= self._walker.probabilities(potentials, offsets, paths, usable, anywhere, asked, n_jobs)

    @cached_property
    def _walker(self) -> Walker:
        program, arcs = self.program, self.program.arcs
        role_ptr, role, role_step, _, constant = self._tables[7:12]
        arrives = np.isin(arcs.target, program.exit).astype(np.uint8)
        begins = np.flatnonzero(np.diff(arcs.source, prepend=-1))
        walk = Walk(
            arcs.source[begins], np.append(begins, len(arcs.source)), arcs.choice, np.arange(len(arcs.target) + 1),
            arcs.target, program.exit, program.accept, arrives, role_ptr, role, role_step, constant,
        )  # fmt: skip
        return Walker(walk, program.states, program.root, late=False)

    def _whole(self, edges: Edges) -> Edges:
        """Hyperedges of the part as those of the whole template."""
        if np.array_equal(self._edges, np.arange(len(self._edges))):
            return edges
        return np.append(self._edges, -1).astype(np.int16)[edges]
