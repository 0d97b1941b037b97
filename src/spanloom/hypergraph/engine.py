"""Inference engine: a template and a way of counting, applied to many sentences and types at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanloom.errors import SpanloomError, UsageError
from spanloom.hypergraph.tables import Automaton, Graph, Paths, csr, hyperedges_of
from spanloom.hypergraph.template import Template
from spanloom.native import Kernel
from spanloom.parallel import SERIAL, Executor, even_ranges

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Edges = NDArray[np.int16]
Mask = NDArray[np.uint8]

_best, _count_roles, _count_constants = Kernel("best"), Kernel("count_roles"), Kernel("count_constants")
PIECES = 32  # that work is cut into for several threads, as each costs a call
_FEWEST, _LANES = 16, 64  # how many (sentence, type) pairs run side by side, to hide what a loop costs to begin
_CACHED = 1 << 14  # bytes of a token's states and hyperedges: half of what the nearest cache holds
_ROOM = 1 << 22  # bytes that the choices of lanes side by side may take


class Potentials(NamedTuple):
    """Potentials: the scores of roles and constants, summed over hyperedges; larger is better, -inf forbids.

    Args:
        roles: (T, R, K) float32, the score of each role at each token for each type.
        constants: (C, K) float32.
    """

    roles: Singles
    constants: Singles


class Expectations(NamedTuple):
    """Expected counts over all structures, with their log-partition function.

    Args:
        log_partition: (N, K).
        roles: (T, R, K) float32, the expected number of times that a role occurs at a token.
        each: (N, C, K) the expected number of times that a constant is used in a sentence.
    """

    log_partition: Floats
    roles: Singles
    each: Floats

    @property
    def constants(self) -> Floats:
        """(C, K) the expected number of times that a constant is used in all sentences."""
        total: Floats = self.each.sum(0)
        return total


class Best(NamedTuple):
    """The best structure of each sentence and type.

    Args:
        score: (N, K); -inf where every structure is forbidden.
        edges: (T, K, D) int16, the hyperedges picked at each token, parents first, -1 for no more.
    """

    score: Floats
    edges: Edges


Choices = tuple[tuple[int, int], ...]
"""The choices of a structure: sorted pairs of token and hyperedge."""


class Ranking(NamedTuple):
    """The best structures of one sentence and type.

    Args:
        score: (B,), best first; -inf where there are fewer structures.
        structures: for each finite score, its choices as sorted pairs of token and hyperedge; a derivation repeats the
            choices of a shared node.
    """

    score: Floats
    structures: tuple[Choices, ...]


class Masked(NamedTuple):
    """Potentials, and what is allowed: what kernels take.

    Args:
        roles, constants: as in `Potentials`.
        gate: (T,) the row of ``allowed`` of each token, -1 where nothing is forbidden; (0,) where nothing ever is.
        allowed: (U, E times K) 0 where a hyperedge is forbidden.
    """

    roles: Singles
    constants: Singles
    gate: Ints
    allowed: Mask

    @classmethod
    def of(cls, potentials: Potentials, allowed: ArrayLike | None, template: Template) -> Masked:
        """Return potentials with a mask.

        Raises:
            UsageError: the mask is not one of truth values for each token, hyperedge and type.
        """
        tokens, _, types = potentials.roles.shape
        shape = tokens, len(template.edges), types
        if allowed is None:
            return cls(*potentials, np.zeros(0, np.int64), np.zeros((0, shape[1] * types), np.uint8))
        given = np.asarray(allowed)
        if given.shape != shape or given.dtype not in (np.bool_, np.uint8):
            raise UsageError(
                f"allowed is of shape {given.shape} and type {given.dtype}, expected {shape}, tokens, hyperedges and "
                "types, of bool: true where a hyperedge may be picked"
            )
        rows = np.ascontiguousarray(given).view(np.uint8).reshape(tokens, shape[1] * types)
        partly = rows.min(1, initial=1) == 0  # several times faster than `all`
        return cls(*potentials, np.where(partly, np.arange(tokens), -1), rows)

    def of_sentence(self, offsets: Ints, sentence: int) -> Masked:
        """Return those of one sentence."""
        rows = slice(*offsets[sentence : sentence + 2].tolist())
        return Masked(self.roles[rows], self.constants, self.gate[rows], self.allowed)

    def dense(self) -> Mask:
        """Return (T, E, K) what is allowed."""
        types = self.roles.shape[2]
        found = np.ones((len(self.roles), self.allowed.shape[1] // types, types), np.uint8)
        partly = np.flatnonzero(self.gate >= 0)
        found[partly] = self.allowed[self.gate[partly]].reshape(-1, *found.shape[1:])
        return found

    def of_types(self, some: slice) -> Masked:
        """Return those of some types, as arrays of their own."""
        rows, types = len(self.allowed), self.roles.shape[2]
        allowed = self.allowed.reshape(rows, self.allowed.shape[1] // types, types)[:, :, some]
        own = self.roles[:, :, some], self.constants[:, some], self.gate, allowed.reshape(rows, -1 if rows else 0)
        return Masked(*map(np.ascontiguousarray, own))


class Engine(ABC):
    """A template with a way of counting. It holds no weights and may be shared between threads.

    Sentences are given by ``offsets``, (N + 1,) first tokens; types never interact, so every result has an axis K.
    Whatever is asked may be asked of a part of all structures: those that pick only hyperedges that ``allowed``, (T, E,
    K) of truth values, allows at their tokens. Where it leaves none, log_partition is -inf and nothing is expected.

    Args:
        template: E hyperedges, R roles, C constants.
    """

    counting: str
    depth: int
    """The largest number of hyperedges of a structure at one token: the D axis."""
    _automata: Sequence[Automaton]
    """One automaton for the best structure, or several that are independent."""

    def __init__(self, template: Template) -> None:
        self.template = template
        kinds = template.kinds
        self._graph = Graph(
            kinds.index(template.root),
            np.array([kinds.index(edge.head) for edge in template.edges], np.int64),
            *csr([[kinds.index(child.kind) for child in edge.children] for edge in template.edges]),
            np.array([child.step for edge in template.edges for child in edge.children], np.int64),
            np.array([kind in template.final for kind in kinds], np.uint8),
            hyperedges_of(template.edges, template),
        )

    def log_partition(
        self, potentials: Potentials, offsets: Ints, run: Executor = SERIAL, *, allowed: ArrayLike | None = None
    ) -> Floats:
        """Compute the log-partition function (N, K): the logarithm of the sum of exp(score) over all structures."""
        return self._sums(Masked.of(potentials, allowed, self.template), offsets, run, False).log_partition

    def expectations(
        self, potentials: Potentials, offsets: Ints, run: Executor = SERIAL, *, allowed: ArrayLike | None = None
    ) -> Expectations:
        """Compute log_partition and the marginals of roles: the expected number of each role at each token."""
        return self._sums(Masked.of(potentials, allowed, self.template), offsets, run, True)

    @abstractmethod
    def _sums(self, scores: Masked, offsets: Ints, run: Executor, with_counts: bool) -> Expectations:
        """Compute log_partition and, if asked for, expected counts."""

    def entropy(
        self, potentials: Potentials, offsets: Ints, run: Executor = SERIAL, *, allowed: ArrayLike | None = None
    ) -> Floats:
        """Compute the entropy (N, K) of the structures in nats: log_partition minus the expected score; 0 for none."""
        found = self.expectations(potentials, offsets, run, allowed=allowed)
        roles = np.multiply(found.roles, potentials.roles, where=found.roles > 0, out=np.zeros(found.roles.shape))
        terms = np.multiply(found.each, potentials.constants, where=found.each > 0, out=np.zeros(found.each.shape))
        entropy = found.log_partition - _of_sentences(roles.sum(1), offsets) - terms.sum(1)
        return np.where(np.isneginf(found.log_partition), 0.0, np.maximum(entropy, 0.0))

    def viterbi(
        self, potentials: Potentials, offsets: Ints, run: Executor = SERIAL, *, allowed: ArrayLike | None = None
    ) -> Best:
        """Find the best structure of each sentence and type."""
        return self._best(Masked.of(potentials, allowed, self.template), offsets, self._automata, run)

    def _best(self, scores: Masked, offsets: Ints, automata: Sequence[Automaton], run: Executor) -> Best:
        tokens, _, types = scores.roles.shape
        sentence, kind = np.divmod(np.arange((len(offsets) - 1) * types), types)
        edges = np.full((tokens, types, self.depth), -1, np.int16)
        score = _best_of_lanes(scores, offsets, automata, Lanes(sentence, kind, offsets[sentence], kind), edges, run)
        return Best(score.reshape(-1, types), edges)

    def best_marked(
        self, potentials: Potentials, offsets: Ints, sentence: Ints, kind: Ints, added: Singles, mark: Mask,
        run: Executor = SERIAL,
    ) -> tuple[Ints, Edges]:  # fmt: skip
        """Find the best structures of some pairs of a sentence and a type that pick a marked hyperedge.

        Args:
            potentials: scores.
            offsets: (N + 1,) first token of each sentence.
            sentence, kind: (L,) the pairs.
            added: (R,) what is added to the scores of roles.
            mark: (E,) 1 for marked hyperedges.
            run: how pieces of the work are run; the result does not depend on it.

        Returns:
            The numbers of these pairs, ascending, and their hyperedges, (T', 1, D), one pair behind the other.
        """
        lengths = np.diff(offsets)[sentence]
        rows = np.append(0, lengths.cumsum())
        edges = np.full((int(rows[-1]), 1, self.depth), -1, np.int16)
        lanes = Lanes(sentence, kind, rows[:-1], np.zeros_like(kind))
        marked = np.zeros(len(sentence), np.uint8)
        scores = Masked.of(potentials, None, self.template)
        _best_of_lanes(scores, offsets, self._automata, lanes, edges, run, added, mark, marked)
        picked = marked.view(np.bool_)  # with which NumPy is faster
        return np.flatnonzero(picked), edges.take(np.flatnonzero(np.repeat(picked, lengths)), 0)

    def kbest(
        self, potentials: Potentials, offsets: Ints, sentence: int, kind: int, count: int, *,
        allowed: ArrayLike | None = None,
    ) -> Ranking:  # fmt: skip
        """Find the ``count`` best structures of one sentence and one type."""
        return self._ranking(Masked.of(potentials, allowed, self.template), offsets, sentence, kind, count)

    @abstractmethod
    def _ranking(self, scores: Masked, offsets: Ints, sentence: int, kind: int, count: int) -> Ranking:
        """Find the ``count`` best structures of one sentence and one type."""

    def sample(
        self, potentials: Potentials, offsets: Ints, sentence: int, kind: int, count: int, *,
        seed: int | Sequence[int] = 0, allowed: ArrayLike | None = None,
    ) -> tuple[Choices, ...]:  # fmt: skip
        """Draw ``count`` structures of one sentence and one type, each with its probability, independently.

        Returns:
            Their choices as in `Ranking`; none where every structure is forbidden.
        """
        scores = Masked.of(potentials, allowed, self.template)
        return self._drawn(scores, offsets, sentence, kind, count, np.random.default_rng(seed))

    @abstractmethod
    def _drawn(
        self, scores: Masked, offsets: Ints, sentence: int, kind: int, count: int, random: np.random.Generator
    ) -> tuple[Choices, ...]:
        """Draw ``count`` structures of one sentence and one type."""

    def path_probability(
        self, potentials: Potentials, offsets: Ints, paths: Paths, run: Executor = SERIAL, *,
        allowed: ArrayLike | None = None,
    ) -> Floats:  # fmt: skip
        """Compute the probability of each path, (Q,); 0 where every structure is forbidden."""
        return self._path_probability(Masked.of(potentials, allowed, self.template), offsets, paths, run)

    @abstractmethod
    def _path_probability(self, scores: Masked, offsets: Ints, paths: Paths, run: Executor) -> Floats:
        """Compute the probability of each path."""

    def role_counts(
        self, edges: Edges, offsets: Ints, sentences: Ints | None = None, roles: Singles | None = None
    ) -> tuple[Singles, Floats]:
        """Count the roles and constants in given structures, as this engine counts.

        Args:
            edges: (T, K, D) as in the result of `viterbi`.
            offsets: (N + 1,) first token of each sentence.
            sentences: the numbers of those to count; all when ``None``.
            roles: (T, R, K) to add to; new zeros when ``None``.

        Returns:
            (T, R, K) roles and (C, K) constants.

        Raises:
            SpanloomError: the hyperedges are not one structure for each sentence and type.
        """
        if roles is None:
            roles = np.zeros((len(edges), len(self.template.roles), edges.shape[1]), np.float32)
        numbers = np.arange(len(offsets) - 1) if sentences is None else sentences
        return roles, self._count(edges, offsets, numbers, roles)

    def constant_counts(self, edges: Edges, offsets: Ints, sentences: Ints) -> Floats:
        """Count the constants (C, K) in some sentences, as `role_counts`, without a check of the hyperedges."""
        if self.counting == "derivations":  # a shared node counts once for each parent: go from node to node
            return self._count(edges, offsets, sentences, np.zeros((0, 0, 0), np.float32))
        constants = np.zeros((len(self.template.constants), edges.shape[1]))
        _count_constants(edges, sentences, offsets, self._graph.hyperedges.constant, constants)
        return constants

    def log_probability(
        self, potentials: Potentials, offsets: Ints, edges: Edges, *, allowed: ArrayLike | None = None
    ) -> Floats:
        """Compute the log-probability (N, K) of given structures; as this engine counts, it is never above 0."""
        counts, _ = self.role_counts(edges, offsets)
        terms = np.multiply(counts, potentials.roles, where=counts > 0, out=np.zeros(counts.shape))
        score = _of_sentences(terms.sum(1), offsets)
        for n in range(len(score) if len(potentials.constants) else 0):
            score[n] += (self.constant_counts(edges, offsets, np.array([n])) * potentials.constants).sum(0)
        score -= self.log_partition(potentials, offsets, allowed=allowed)
        if allowed is not None:
            mask = np.asarray(allowed, np.uint8).transpose(0, 2, 1)
            picked = np.take_along_axis(np.pad(mask, ((0, 0), (0, 0), (0, 1)), constant_values=1), edges.astype(int), 2)
            score[_of_sentences((picked == 0).sum(2), offsets) > 0] = -np.inf
        return score

    def _count(self, edges: Edges, offsets: Ints, sentences: Ints, roles: Singles) -> Floats:
        constants = np.zeros((len(self.template.constants), edges.shape[1]))
        wrong = _count_roles(edges, sentences, offsets, self._graph, self.counting == "derivations", roles, constants)
        if wrong >= 0:
            raise SpanloomError(f"hyperedges at token {wrong} are not those of the nodes reached there")
        return constants


class Lanes(NamedTuple):
    """Pairs of a sentence and a type, and where their hyperedges are noted.

    Args:
        sentence, kind: (L,).
        row: (L,) of the first token of each.
        column: (L,).
    """

    sentence: Ints
    kind: Ints
    row: Ints
    column: Ints


def _best_of_lanes(
    scores: Masked, offsets: Ints, automata: Sequence[Automaton], lanes: Lanes, edges: Edges, run: Executor,
    added: Singles | None = None, mark: Mask | None = None, marked: Mask | None = None,
) -> Floats:  # fmt: skip
    """Note the best structures of some lanes; return their scores, (L,), -inf where every structure is forbidden."""
    lengths = np.diff(offsets)[lanes.sentence]
    short = int(lengths.max(initial=0)) < 1 << 15  # sixteen bits are sorted in a tenth of the time
    order = np.argsort((-lengths).astype(np.int16) if short else -lengths, kind="stable")
    order = order[: np.count_nonzero(lengths)]
    own = Lanes(*(values[order] for values in lanes))
    totals, found = np.zeros(len(order)), np.zeros(len(order), np.uint8)
    mark = np.zeros(1 << 15, np.uint8) if mark is None else mark  # numbers of hyperedges have 16 bits
    added = np.zeros(scores.roles.shape[1], np.float32) if added is None else added
    for automaton in automata:
        most = lanes_of(len(automaton.first), len(automaton.number))
        bounds = groups(lengths[order], 4 * len(automaton.order), _ROOM, most)
        given = own.sentence, own.kind, offsets, own.row, own.column, mark, automaton, totals, found, edges
        run.map(
            lambda some, given=given: _best(scores, added, some, *given),  # type: ignore[misc]
            [bounds[a : b + 1] for a, b in even_ranges(len(bounds) - 1, PIECES if run.workers > 1 else 1)],
        )
    score = np.zeros(len(lengths))
    score[order] = totals
    if marked is not None:
        marked[order] |= found
    if len(automata) > 1:  # a part in which everything is forbidden forbids the others
        for lane in np.flatnonzero(np.isneginf(score)).tolist():
            edges[lanes.row[lane] : lanes.row[lane] + lengths[lane], lanes.column[lane]] = -1
    return score


def _of_sentences(values: NDArray[np.generic], offsets: Ints) -> Floats:
    """Return the sums (N, K) of (T, K) values over the tokens of each sentence; no sum depends on other sentences."""
    found: Floats = np.zeros((len(offsets) - 1, values.shape[1]))
    filled = offsets[1:] > offsets[:-1]
    if filled.any():
        found[filled] = np.add.reduceat(values, offsets[:-1][filled], axis=0)
    return found


def lanes_of(states: int, edges: int) -> int:
    """Return how many pairs of a sentence and a type are to run side by side in an automaton of such a size.

    >>> lanes_of(6, 10), lanes_of(139, 2160)
    (64, 16)
    """
    return min(_LANES, max(_FEWEST, _CACHED // (8 * (states + edges))))


def groups(lengths: Ints, each: int, room: int, most: int) -> Ints:
    """Return bounds of neighbours that run side by side: at least one, and as many as fit.

    Args:
        lengths: tokens, falling.
        each: bytes that a token takes.
        room: bytes that a group may take.
        most: how many a group may have.
    """
    bounds = [0]
    while bounds[-1] < len(lengths):
        fit = room // (each * int(lengths[bounds[-1]]))
        bounds.append(min(bounds[-1] + min(max(fit, 1), most), len(lengths)))
    return np.array(bounds, np.int64)
