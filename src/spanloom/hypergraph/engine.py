"""The engine: a template and a way of counting, applied to many sentences and types at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import SpanloomError
from spanloom.hypergraph import kernels_derivations, kernels_gold, kernels_paths, kernels_subgraphs, reference
from spanloom.hypergraph.program import compile_program
from spanloom.hypergraph.template import Template
from spanloom.hypergraph.threads import parallel_map

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Edges = NDArray[np.int16]

_LANES = 64  # how many (sentence, type) pairs run side by side, to hide what a vector operation costs to begin
_PIECES = 32  # work is cut into this many pieces, whatever the number of threads


class Potentials(NamedTuple):
    """What scores hyperedges: larger is better, -inf forbids.

    Args:
        roles: (T, R, K) float32, the score of each role at each token for each type.
        constants: (C, K) float32.
    """

    roles: Singles
    constants: Singles


class Expectations(NamedTuple):
    """Sums over all structures.

    Args:
        log_partition: (N, K).
        roles: (T, R, K) float32, the expected number of times that a role occurs at a token.
        constants: (C, K) the expected number of times that a constant is used.
    """

    log_partition: Floats
    roles: Singles
    constants: Floats


class Best(NamedTuple):
    """The best structures.

    Args:
        score: (N, K); -inf where every structure is forbidden.
        edges: (T, K, D) int16, the hyperedges picked at each token, parents first, -1 for no more.
    """

    score: Floats
    edges: Edges


class Ranking(NamedTuple):
    """The best structures of one sentence and type.

    Args:
        score: (B,), best first; -inf where there are fewer structures.
        structures: for each finite score, its choices as sorted pairs of token and hyperedge; a derivation repeats the
            choices of a shared node.
    """

    score: Floats
    structures: tuple[tuple[tuple[int, int], ...], ...]


class Paths(NamedTuple):
    """Q questions: does a structure keep, from a token on, to certain hyperedges?

    Args:
        sentence: (Q,).
        kind: (Q,) the type's number.
        first: (Q,) the first token, counted in the sentence.
        step_ptr: (Q + 1,) where the steps of each begin.
        steps: for each token in turn, a row of ``allowed``.
        allowed: (M, E) 1 where a hyperedge may be picked.
    """

    sentence: Ints
    kind: Ints
    first: Ints
    step_ptr: Ints
    steps: Ints
    allowed: NDArray[np.uint8]


class Engine(ABC):
    """A template with a way of counting. It holds no weights and may be shared between threads.

    Sentences are given by ``offsets``, (N + 1,) first tokens; types never interact, so every result has an axis K.

    Args:
        template: E hyperedges, R roles, C constants.
    """

    counting: str

    def __init__(self, template: Template) -> None:
        self.template = template
        self.program = compile_program(template)
        self.depth = max(self.program.depth, 1)
        self._root = template.kinds.index(template.root)
        self._roles = _csr([[template.roles.index(role.name) for role in edge.roles] for edge in template.edges])
        self._role_step = np.array([role.step for edge in template.edges for role in edge.roles], np.int64)
        kinds = template.kinds
        self._head = np.array([kinds.index(edge.head) for edge in template.edges], np.int64)
        self._children = _csr([[kinds.index(child.kind) for child in edge.children] for edge in template.edges])
        self._child_step = np.array([child.step for edge in template.edges for child in edge.children], np.int64)
        self._final = np.array([kind in template.final for kind in kinds], np.uint8)
        constants = template.constants
        self._constant = np.array(
            [-1 if edge.constant is None else constants.index(edge.constant) for edge in template.edges], np.int64
        )

    def log_partition(self, potentials: Potentials, offsets: Ints, n_jobs: int | None = 1) -> Floats:
        """The logarithm of the sum of exp(score) over all structures, (N, K)."""
        return self._sums(potentials, offsets, n_jobs, wanted=False).log_partition

    def expectations(self, potentials: Potentials, offsets: Ints, n_jobs: int | None = 1) -> Expectations:
        """log_partition and the expected number of each role at each token: the marginals of roles."""
        return self._sums(potentials, offsets, n_jobs, wanted=True)

    @abstractmethod
    def _sums(self, potentials: Potentials, offsets: Ints, n_jobs: int | None, wanted: bool) -> Expectations:
        """log_partition and, if they are wanted, expected counts."""

    @abstractmethod
    def viterbi(self, potentials: Potentials, offsets: Ints, n_jobs: int | None = 1) -> Best:
        """The best structure of each sentence and type."""

    @abstractmethod
    def kbest(self, potentials: Potentials, offsets: Ints, sentence: int, kind: int, count: int) -> Ranking:
        """The ``count`` best structures of one sentence and one type."""

    @abstractmethod
    def path_probability(self, potentials: Potentials, offsets: Ints, paths: Paths, n_jobs: int | None = 1) -> Floats:
        """The probability of each path, (Q,)."""

    def role_counts(self, edges: Edges, offsets: Ints) -> tuple[Singles, Floats]:
        """How often each role and constant occurs in given structures, counted as this engine counts.

        Args:
            edges: (T, K, D) as `viterbi` gives them.

        Returns:
            (T, R, K) roles and (C, K) constants.

        Raises:
            SpanloomError: the hyperedges are not one structure for each sentence and type.
        """
        roles = np.zeros((len(edges), len(self.template.roles), edges.shape[1]), np.float32)
        return roles, self._count(edges, offsets, np.arange(len(offsets) - 1), roles)

    def constant_counts(self, edges: Edges, offsets: Ints, sentences: Ints) -> Floats:
        """As `role_counts`, (C, K) constants only, of some sentences."""
        return self._count(edges, offsets, sentences, np.zeros((0, 0, 0), np.float32))

    def log_probability(self, potentials: Potentials, offsets: Ints, edges: Edges) -> Floats:
        """The log-probability of given structures, (N, K); counted as this engine counts, it is never above 0."""
        counts, _ = self.role_counts(edges, offsets)
        terms = np.multiply(counts, potentials.roles, where=counts > 0, out=np.zeros(counts.shape))
        sums = np.concatenate([np.zeros((1, counts.shape[2])), terms.sum(1).cumsum(0)])
        score: Floats = sums[offsets[1:]] - sums[offsets[:-1]]
        for n in range(len(score) if len(potentials.constants) else 0):
            score[n] += (self.constant_counts(edges, offsets, np.array([n])) * potentials.constants).sum(0)
        score -= self.log_partition(potentials, offsets)
        return score

    def _count(self, edges: Edges, offsets: Ints, sentences: Ints, roles: Singles) -> Floats:
        constants = np.zeros((len(self.template.constants), edges.shape[1]))
        wrong = kernels_gold.count_roles(
            edges, sentences, offsets, self._root, self._head, *self._children, self._child_step,
            self._final, *self._roles, self._role_step, self._constant, self.counting == "derivations", roles,
            constants,
        )  # fmt: skip
        if wrong >= 0:
            raise SpanloomError(f"hyperedges at token {wrong} are not those of the nodes reached there")
        return constants


class SubgraphEngine(Engine):
    """Counts each sub-hypergraph exactly once, for every template (see `program`)."""

    counting = "subgraphs"

    def __init__(self, template: Template) -> None:
        super().__init__(template)
        program = self.program
        # One hyperedge more, without roles, stands for "nothing to choose" where a structure has ended early.
        role_ptr, role_index = self._roles
        constant = np.append(self._constant, -1)
        varying = np.array([e for e, edge in enumerate(template.edges) if edge.roles], np.int64)
        self._tables = (
            program.source, program.target, program.edge, program.exit, program.accept,
            np.append(role_ptr, role_ptr[-1]), role_index, self._role_step, varying, constant, program.root,
        )  # fmt: skip

    def _sums(self, potentials: Potentials, offsets: Ints, n_jobs: int | None, wanted: bool) -> Expectations:
        roles, constants = potentials
        types = roles.shape[2]
        lengths = np.diff(offsets)
        order = np.argsort(-lengths, kind="stable")
        order = order[lengths[order] > 0]
        size = max(1, _LANES // types)
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
        parallel_map(run, _pieces(len(bounds) - 1), n_jobs)
        constant_sums: Floats = totals.sum(0)
        for n, k in np.argwhere(~safely).tolist():
            log_partition[n, k] = kernels_paths.log_sums(
                roles, constants, offsets[n], offsets[n + 1], k, self.program.states, self._tables, expected,
                constant_sums,
            )  # fmt: skip
        return Expectations(log_partition, expected, constant_sums)

    def viterbi(self, potentials: Potentials, offsets: Ints, n_jobs: int | None = 1) -> Best:  # noqa: D102
        best = self._empty(potentials, offsets)

        def run(piece: Ints) -> None:
            kernels_paths.best(*potentials, piece, offsets, self.program.states, self._tables, best.score, best.edges)

        parallel_map(run, _pieces(len(offsets) - 1), n_jobs)
        return best

    def _empty(self, potentials: Potentials, offsets: Ints) -> Best:
        tokens, _, types = potentials.roles.shape
        return Best(np.zeros((len(offsets) - 1, types)), np.empty((tokens, types, self.depth), np.int16))

    def kbest(  # noqa: D102
        self, potentials: Potentials, offsets: Ints, sentence: int, kind: int, count: int
    ) -> Ranking:
        start, end = int(offsets[sentence]), int(offsets[sentence + 1])
        score = np.empty(count)
        edges = np.empty((count, end - start, self.depth), np.int16)
        kernels_paths.kbest(*potentials, start, end, kind, count, self.program.states, self._tables, score, edges)
        picked = [
            tuple(sorted((t, e) for t, row in enumerate(structure) for e in row if e >= 0))
            for structure in edges[score > -np.inf].tolist()
        ]
        return Ranking(score, tuple(picked))

    def path_probability(  # noqa: D102
        self, potentials: Potentials, offsets: Ints, paths: Paths, n_jobs: int | None = 1
    ) -> Floats:
        allowed = np.concatenate([paths.allowed, np.ones((len(paths.allowed), 1), np.uint8)], 1)
        result = np.zeros(len(paths.sentence))

        def run(piece: Ints) -> None:
            kernels_paths.path_probability(
                *potentials, offsets, paths.sentence, paths.kind, paths.first, paths.step_ptr, paths.steps, allowed,
                piece, self.program.states, self._tables, result,
            )  # fmt: skip

        parallel_map(run, _query_pieces(paths), n_jobs)
        return result


class DerivationEngine(Engine):
    """Counts derivations, as the inside recursion of the papers does: a shared node once for each parent."""

    counting = "derivations"

    def __init__(self, template: Template) -> None:
        super().__init__(template)
        order = np.array([e for kind in template.kinds for e in template.edges_of(kind)], np.int64)
        edges = [template.edges[e] for e in order]
        kinds, names = template.kinds, template.roles
        kind_ptr = np.cumsum([0, *(len(template.edges_of(kind)) for kind in kinds)]).astype(np.int64)
        self._tables = (
            kind_ptr, order,
            *_csr([[kinds.index(child.kind) for child in edge.children] for edge in edges]),
            np.array([child.step for edge in edges for child in edge.children], np.int64), self._final,
            *_csr([[names.index(role.name) for role in edge.roles] for edge in edges]),
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

        parallel_map(run, _pieces(sentences), n_jobs)
        return Expectations(log_partition, expected, totals.sum(0))

    def viterbi(self, potentials: Potentials, offsets: Ints, n_jobs: int | None = 1) -> Best:  # noqa: D102
        tokens, _, types = potentials.roles.shape
        best = Best(np.zeros((len(offsets) - 1, types)), np.empty((tokens, types, self.depth), np.int16))

        def run(piece: Ints) -> None:
            kernels_derivations.best(*potentials, piece, offsets, self._root, self._tables, best.score, best.edges)

        parallel_map(run, _pieces(len(offsets) - 1), n_jobs)
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
            # No node is shared, so both countings agree; the flow below is for paths through nodes that are.
            return SubgraphEngine(self.template).path_probability(potentials, offsets, paths, n_jobs)
        result = np.zeros(len(paths.sentence))

        def run(piece: Ints) -> None:
            kernels_derivations.path_probability(
                *potentials, offsets, paths.sentence, paths.kind, paths.first, paths.step_ptr, paths.steps,
                paths.allowed, piece, self._root, self._tables, result,
            )  # fmt: skip

        parallel_map(run, _query_pieces(paths), n_jobs)
        return result


def _csr(rows: Iterable[list[int]]) -> tuple[Ints, Ints]:
    rows = list(rows)
    ptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return ptr, np.array([value for row in rows for value in row], np.int64)


def _pieces(count: int) -> list[Ints]:
    return [piece for piece in np.array_split(np.arange(count), _PIECES) if len(piece)]


def _query_pieces(paths: Paths) -> list[Ints]:
    order = np.lexsort((paths.kind, paths.sentence))
    cuts = np.searchsorted(paths.sentence[order], np.unique(paths.sentence[order]))
    return [order[piece] for piece in _cut_at(len(order), cuts)]


def _cut_at(count: int, cuts: Ints) -> list[Ints]:
    """Ranges of about equal size that begin only at ``cuts``."""
    if not count:
        return []
    wanted = np.linspace(0, count, _PIECES, endpoint=False)
    starts = np.unique(cuts[np.searchsorted(cuts, wanted, side="right") - 1])
    return [np.arange(a, b) for a, b in zip(starts, [*starts[1:], count], strict=True)]
