"""The engine: a template and a way of counting, applied to many sentences and types at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import SpanloomError
from spanloom.hypergraph import kernels_gold
from spanloom.hypergraph.template import Template
from spanloom.parallel import even_ranges

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Edges = NDArray[np.int16]

PIECES = 32  # work is cut into this many pieces, whatever the number of threads


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
        run_ptr: (Q + 1,) where the runs of each begin.
        row: for each run, which follow one another, a row of ``allowed``.
        size: for how many tokens in turn, at least 1.
        allowed: (M, E) 1 where a hyperedge may be picked.
    """

    sentence: Ints
    kind: Ints
    first: Ints
    run_ptr: Ints
    row: Ints
    size: Ints
    allowed: NDArray[np.uint8]

    @classmethod
    def build(cls, sentence: Ints, kind: Ints, first: Ints, row: Ints, size: Ints, allowed: NDArray[np.uint8]) -> Paths:
        """From (Q, P) rows and sizes of runs; those of no token are left out."""
        kept = size > 0
        run_ptr = np.concatenate([[0], np.cumsum(kept.sum(1))])
        return cls(sentence, kind, first, run_ptr, row[kept], size[kept], allowed)

    def spread(self, number: int) -> NDArray[np.uint8]:
        """(S, E) what one of the paths allows at each of its tokens."""
        runs = slice(self.run_ptr[number], self.run_ptr[number + 1])
        return self.allowed[np.repeat(self.row[runs], self.size[runs])]


class Engine(ABC):
    """A template with a way of counting. It holds no weights and may be shared between threads.

    Sentences are given by ``offsets``, (N + 1,) first tokens; types never interact, so every result has an axis K.

    Args:
        template: E hyperedges, R roles, C constants.
    """

    counting: str
    depth: int
    """The largest number of hyperedges of a structure at one token: the D axis."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self._root = template.kinds.index(template.root)
        self._roles = csr([[template.roles.index(role.name) for role in edge.roles] for edge in template.edges])
        self._role_step = np.array([role.step for edge in template.edges for role in edge.roles], np.int64)
        kinds = template.kinds
        self._head = np.array([kinds.index(edge.head) for edge in template.edges], np.int64)
        self._children = csr([[kinds.index(child.kind) for child in edge.children] for edge in template.edges])
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
        """As `role_counts`, (C, K) constants only, of some sentences, whose hyperedges are known to be structures."""
        if self.counting == "derivations":  # a shared node counts once for each parent: go from node to node
            return self._count(edges, offsets, sentences, np.zeros((0, 0, 0), np.float32))
        constants = np.zeros((len(self.template.constants), edges.shape[1]))
        kernels_gold.count_constants(edges, sentences, offsets, self._constant, constants)
        return constants

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


def csr(rows: Iterable[list[int]]) -> tuple[Ints, Ints]:
    """Rows of numbers in compressed form."""
    rows = list(rows)
    ptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return ptr, np.array([value for row in rows for value in row], np.int64)


def pieces(count: int) -> list[Ints]:
    """The numbers below ``count`` in pieces, which depend on nothing else."""
    return [np.arange(a, b) for a, b in even_ranges(count, PIECES)]
