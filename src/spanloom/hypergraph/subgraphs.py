"""Inference engine that counts each sub-hypergraph exactly once."""

from __future__ import annotations

import heapq

import numpy as np

from spanloom.hypergraph.engine import (
    PIECES,
    Choices,
    Edges,
    Engine,
    Expectations,
    Floats,
    Ints,
    Masked,
    Ranking,
    groups,
    lanes_of,
)
from spanloom.hypergraph.program import AutomatonArcs, AutomatonProgram, compile_program, parts
from spanloom.hypergraph.tables import Automaton, Hyperedges, Paths, hyperedges_of
from spanloom.hypergraph.template import Hyperedge, Template
from spanloom.hypergraph.walks import path_probabilities
from spanloom.native import Kernel
from spanloom.parallel import Executor, even_ranges

_sums, _log_sums, _kbest, _sample = (Kernel(name) for name in ("sums", "log_sums", "kbest", "sample"))
_VECTOR = 8  # numbers that a core adds at once
_ROOM = 1 << 26  # bytes that the scores of sentences side by side may take, unless one type of one sentence has more


class SubgraphEngine(Engine):
    """Engine that counts each sub-hypergraph exactly once, for every template (see `program`).

    A template of independent parts is a product: each part has an automaton of its own, and their scores add up.
    """

    counting = "subgraphs"

    def __init__(self, template: Template) -> None:
        super().__init__(template)
        self.parts = [IndependentPart(part, template, i == 0) for i, part in enumerate(parts(template))]
        self._automata = [part.runs for part in self.parts]
        self.depth = sum(part.program.depth for part in self.parts) - len(self.parts) + 1

    def _sums(self, scores: Masked, offsets: Ints, run: Executor, with_counts: bool) -> Expectations:
        log_partition, roles, each = self.parts[0].sums(scores, offsets, run, with_counts)
        for part in self.parts[1:]:
            own = part.sums(scores, offsets, run, with_counts)
            log_partition += own.log_partition
            roles += own.roles
            each += own.each
        if len(self.parts) > 1:  # a part in which everything is forbidden forbids what the others expect
            none = np.isneginf(log_partition)
            each[none.nonzero()[0], :, none.nonzero()[1]] = 0.0
            if with_counts and none.any():
                roles.transpose(0, 2, 1)[np.repeat(none, np.diff(offsets), axis=0)] = 0.0
        return Expectations(log_partition, roles, each)

    def _ranking(self, scores: Masked, offsets: Ints, sentence: int, kind: int, count: int) -> Ranking:
        ranked = [part.kbest(scores, offsets, sentence, kind, count) for part in self.parts]
        combined = ranked[0]
        for other in ranked[1:]:  # of equal pairs that with the better first part is first
            pairs = [
                (float(a + b), tuple(sorted({*left, *right})))
                for a, left in zip(combined.score, combined.structures, strict=False)
                for b, right in zip(other.score, other.structures, strict=False)
            ]
            best = heapq.nlargest(count, pairs, key=lambda pair: pair[0])
            score = np.full(count, -np.inf)
            score[: len(best)] = [value for value, _ in best]
            combined = Ranking(score, tuple(choices for _, choices in best))
        return combined

    def _drawn(
        self, scores: Masked, offsets: Ints, sentence: int, kind: int, count: int, random: np.random.Generator
    ) -> tuple[Choices, ...]:
        drawn = [part.sample(scores, offsets, sentence, kind, count, random) for part in self.parts]
        if not all(drawn):
            return ()
        return tuple(tuple(sorted(set().union(*choices))) for choices in zip(*drawn, strict=True))

    def _path_probability(self, scores: Masked, offsets: Ints, paths: Paths, run: Executor) -> Floats:
        result = np.ones(len(paths.sentence))
        with_none = np.concatenate([paths.allowed, np.ones((len(paths.allowed), 1), np.uint8)], 1)
        for single in (part.single for part in self.parts):
            allowed = with_none[:, single.number]
            demands = np.append(0, np.cumsum((allowed == 0).any(1)[paths.row]))[paths.run_ptr]
            queried = np.flatnonzero(np.diff(demands))
            if len(queried):
                anywhere = np.ones((len(allowed), len(single.accept)), bool)
                usable = allowed.take(single.edge, 1) > 0
                result *= path_probabilities(single, scores, offsets, paths, usable, anywhere, queried, run, late=False)
        return result


class IndependentPart:
    """One independent part of a template, as an automaton.

    Args:
        part: its template.
        whole: the template that it is a part of.
        first: whether its hyperedge at the root is in the result; it is the same in all parts.
    """

    def __init__(self, part: Template, whole: Template, first: bool) -> None:
        self.program: AutomatonProgram = compile_program(part)
        nothing = Hyperedge("", part.root)  # what is picked where a structure has ended early
        hyperedges = hyperedges_of([*part.edges, nothing], whole)
        of_label = {edge.label: i for i, edge in enumerate(whole.edges)}
        shown = [first or edge.head != whole.root for edge in part.edges]
        labels = [of_label[edge.label] if show else -1 for edge, show in zip(part.edges, shown, strict=True)]
        number = np.array([*labels, -1], np.int16)
        self.single, self._bundled, self.runs = (
            _automaton(self.program, arcs, number, hyperedges)
            for arcs in (self.program.arcs, self.program.bundled, self.program.runs)
        )
        self._lanes = lanes_of(self.program.states, len(part.edges))

    def sums(self, scores: Masked, offsets: Ints, run: Executor, with_counts: bool) -> Expectations:
        """Compute sums of all types; where a sentence is so long that they would take much room, of some at a time."""
        tokens, roles, types = scores.roles.shape
        longest = int(np.diff(offsets).max(initial=1))
        together = _whole_vectors(_ROOM // (8 * (roles + self.program.states) * longest))
        if together >= types:
            return self._sums(scores, offsets, run, with_counts)
        log_partition = np.empty((len(offsets) - 1, types))
        expected = np.empty((tokens, roles, types) if with_counts else (0, 0, 0), np.float32)
        each = np.empty((len(offsets) - 1, len(scores.constants), types))
        for first in range(0, types, together):
            some = slice(first, first + together)
            own = self._sums(scores.of_types(some), offsets, run, with_counts)
            log_partition[:, some], expected[..., some], each[..., some] = own
        return Expectations(log_partition, expected, each)

    def _sums(self, scores: Masked, offsets: Ints, run: Executor, with_counts: bool) -> Expectations:
        roles, types = scores.roles, scores.roles.shape[2]
        lengths = np.diff(offsets)
        order = np.argsort(-lengths, kind="stable")
        order = order[lengths[order] > 0]
        numbers = (roles.shape[1] + self.program.states) * types  # of a token
        bounds = groups(lengths[order], 8 * numbers, _ROOM, _whole_vectors(self._lanes // types))
        log_partition = np.zeros((len(lengths), types))
        expected = np.zeros(roles.shape if with_counts else (0, 0, 0), np.float32)
        each = np.zeros((len(lengths), len(scores.constants), types))
        safely = np.ones(log_partition.shape, np.bool_)

        widths = -(-np.diff(bounds) * types // _VECTOR) * _VECTOR
        room_size = int((widths * (lengths[order[bounds[:-1]]] + 1)).max(initial=0)) * (numbers // types)
        rooms: list[Floats] = []  # one for each thread: new pages of memory for each piece take a fifth of its time

        def one(piece: tuple[int, int]) -> None:
            room = rooms.pop() if rooms else np.empty(room_size)
            _sums(
                scores, bounds[piece[0] : piece[1] + 1], order, offsets, *self.program.orders, self._bundled, room,
                log_partition, safely, expected, each,
            )  # fmt: skip
            rooms.append(room)

        # A piece takes neighbours in the order of length; long sentences are few and come first.
        run.map(one, even_ranges(len(bounds) - 1, PIECES if run.workers > 1 else 1))
        for n, k in () if safely.all() else np.argwhere(~safely).tolist():
            found = np.empty(1)
            _log_sums(
                scores, offsets[n], offsets[n + 1], k, *self.program.orders, self._bundled, found, expected, each[n]
            )
            log_partition[n, k] = found[0]
        return Expectations(log_partition, expected, each)

    def kbest(self, scores: Masked, offsets: Ints, sentence: int, kind: int, count: int) -> Ranking:
        """Find the best structures of one sentence and type."""
        start, end = int(offsets[sentence]), int(offsets[sentence + 1])
        score = np.empty(count)
        edges = np.empty((count, end - start, max(self.program.depth, 1)), np.int16)
        _kbest(scores, start, end, kind, self.single, score, edges)
        return Ranking(score, _structures(edges[score > -np.inf]))

    def sample(
        self, scores: Masked, offsets: Ints, sentence: int, kind: int, count: int, random: np.random.Generator
    ) -> tuple[Choices, ...]:
        """Draw structures of one sentence and type."""
        start, end = int(offsets[sentence]), int(offsets[sentence + 1])
        edges = np.full((count, end - start, max(self.program.depth, 1)), -1, np.int16)
        drawn = _sample(scores, start, end, kind, random.random(edges.shape), self.single, edges)
        return _structures(edges) if drawn else ()


def _whole_vectors(count: int) -> int:
    """Return how many of ``count`` sentences run side by side, so that few lanes are left over: at least one.

    >>> [_whole_vectors(count) for count in (0, 7, 25, 128)]
    [1, 7, 24, 128]
    """
    return max(1, count if count < _VECTOR else count - count % _VECTOR)


def _structures(edges: Edges) -> tuple[Choices, ...]:
    """Return the choices of B structures, (B, T, D)."""
    return tuple(
        tuple(sorted((t, e) for t, row in enumerate(structure) for e in row if e >= 0)) for structure in edges.tolist()
    )


def _automaton(program: AutomatonProgram, arcs: AutomatonArcs, number: Edges, hyperedges: Hyperedges) -> Automaton:
    begins = np.flatnonzero(np.diff(arcs.source, prepend=-1))
    first, stop = np.zeros((2, program.states), np.int64)
    first[arcs.source[begins]], stop[arcs.source[begins]] = begins, np.append(begins[1:], len(arcs.source))
    return Automaton(
        program.order, first, stop, arcs.source, arcs.choice, np.arange(len(arcs.target) + 1), arcs.target,
        arcs.bundle_ptr, arcs.bundle_edge, program.accept, program.root, number, hyperedges,
    )  # fmt: skip
