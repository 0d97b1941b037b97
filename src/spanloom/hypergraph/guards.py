"""Inference under constraints: structures that follow some paths, and do not follow others.

A structure that follows a path uses only hyperedges that the path allows, which a mask can express. That it does *not*
follow a path cannot be expressed by a mask: it may leave the path at any token. A *guard* reads the hyperedges from the
first token to the last; its states are the sets of paths that are followed so far. It rejects a structure that has
followed a forbidden path to its end, or none of the ways of a required one. The product of a guard with the automaton
of a template has a path for each remaining structure, so sums, the best structure and probabilities are exact: see
`native/guards.c`.

Paths with the same requirements from a token on are one there, so that a guard of all mentions of some words is small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import UsageError
from spanloom.hypergraph.derivations import DerivationEngine
from spanloom.hypergraph.engine import (
    Best,
    Choices,
    Edges,
    Engine,
    Expectations,
    Floats,
    Ints,
    Masked,
    Potentials,
    Ranking,
)
from spanloom.hypergraph.subgraphs import IndependentPart, SubgraphEngine
from spanloom.hypergraph.tables import Automaton, Paths
from spanloom.native import Kernel
from spanloom.parallel import Executor

Bools = NDArray[np.bool_]
Way = tuple[int, bool, int, tuple[int, ...]]  # number of its demand, whether it is wanted, first token, and the rows
Letters = dict[tuple[int, ...], tuple[Ints, list[set[int]]]]
MOST_STATES: Final = 1024  # of a guard at a token
NO_QUESTIONS: Final = np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64)
NOT_USABLE: Final = np.zeros((0, 0), np.uint8)
_guarded = Kernel("guarded")


class Demands(NamedTuple):
    """Demands on the structures of a batch; each is about one sentence and type.

    Args:
        paths: Q of them.
        owner: (Q,) the number of the demand that each belongs to, in rising order.
        wanted: (D,) whether a structure must keep to one of the paths of a demand, or must keep to none.
    """

    paths: Paths
    owner: Ints
    wanted: Bools

    def take(self, chosen: Bools) -> Demands:
        """Return some of the demands, (D,); the paths keep their numbers."""
        kept = chosen[self.owner]
        size = np.diff(self.paths.run_ptr)
        runs = np.repeat(kept, size)
        paths = Paths(
            self.paths.sentence[kept], self.paths.kind[kept], self.paths.first[kept],
            np.append(0, size[kept].cumsum()), self.paths.row[runs], self.paths.size[runs], self.paths.allowed,
        )  # fmt: skip
        return Demands(paths, (np.cumsum(chosen) - 1)[self.owner[kept]], self.wanted[chosen])


class Guards(NamedTuple):
    """A guard: an automaton with states of its own at each of T tokens, S in all; at the first token it begins in 0.

    Args:
        letter: (T, E) the letter of each hyperedge at each token.
        ptr: (T + 1,) where the states of each token begin.
        next: (S, L) the state, counted at its token, after a hyperedge of each letter is picked.
        exit: (S,) the state at the next token; -1 where the structure is refused.
    """

    letter: Ints
    ptr: Ints
    next: Ints
    exit: Ints

    @classmethod
    def build(cls, ways: Iterable[Way], allowed: Bools, length: int, letters: Letters) -> Guards:
        """Make the guard of some paths.

        Args:
            ways: the paths.
            allowed: (M, E) the hyperedges that a row allows.
            length: tokens, T.
            letters: the letter of each hyperedge, and the rows that keep each letter, by the rows asked about; filled.

        Raises:
            UsageError: it would have more than `MOST_STATES` states at a token.
        """
        # 1. Paths from their ends on, so that equal rests are one: a rest is a row and the rest behind it.
        rests: dict[tuple[int, int], int] = {}
        rest_of: list[tuple[int, int]] = []
        begins: list[set[int]] = [set() for _ in range(length + 1)]
        closes: list[set[int]] = [set() for _ in range(length)]  # the wanted demands that end at a token, as ends
        for demand, wanted, first, rows in ways:
            end = following = -2 - demand if wanted else -1
            for row in reversed(rows):
                key = row, following
                if key not in rests:
                    rests[key] = len(rest_of)
                    rest_of.append(key)
                following = rests[key]
            begins[first].add(following)
            if wanted:
                closes[first + len(rows) - 1].add(end)
        # 2. Sets of rests, from token to token: what is picked takes rests away, and a token's end goes on.
        nothing: frozenset[int] = frozenset()
        letter = np.zeros((length, allowed.shape[1]), np.int64)
        ptr, following_states, exits = [0], [], []
        states = [frozenset(begins[0])]
        for token in range(length):
            entering: dict[frozenset[int], int] = {}
            here: list[list[int]]
            if states == [nothing]:  # between paths
                here = [[0]]
                exits.append(-1 if closes[token] else 0)
                if not closes[token]:
                    entering[frozenset(begins[token + 1])] = 0
            else:
                rows = tuple(sorted({rest_of[rest][0] for state in states for rest in state}))
                if rows not in letters:
                    kinds, of_edge = np.unique(allowed[list(rows)], axis=1, return_inverse=True)
                    keeping = [{row for row, kept in zip(rows, kind, strict=True) if kept} for kind in kinds.T.tolist()]
                    letters[rows] = of_edge.reshape(-1), keeping
                letter[token], keeping = letters[rows]
                number = {state: i for i, state in enumerate(states)}
                here = []
                for state in states:  # grows
                    if max(len(states), len(entering)) > MOST_STATES:
                        raise UsageError(
                            f"constraints on mentions that overlap at one token make more than {MOST_STATES:,} states; "
                            "name fewer of them"
                        )
                    own = [frozenset(rest for rest in state if rest_of[rest][0] in kept) for kept in keeping]
                    for one in own:
                        if one not in number:
                            number[one] = len(states)
                            states.append(one)
                    here.append([number[one] for one in own])
                    after = {rest_of[rest][1] for rest in state}
                    if -1 in after or not closes[token] <= after:
                        exits.append(-1)
                        continue
                    later = frozenset(begins[token + 1].union(rest for rest in after if rest >= 0))
                    exits.append(entering.setdefault(later, len(entering)))
            following_states += here
            ptr.append(len(exits))
            states = list(entering) or [nothing]
        width = max((len(row) for row in following_states), default=1)
        table = np.zeros((len(exits), width), np.int64)
        for number_of_state, reached in enumerate(following_states):
            table[number_of_state, : len(reached)] = reached
        return cls(letter, np.array(ptr, np.int64), table, np.array(exits, np.int64))

    def placed(self, first: int, length: int) -> Guards:
        """Return the guard of a sentence of `length` tokens whose paths lie in the tokens from `first` on."""
        own, states = len(self.letter), len(self.exit)
        rest = length - first - own
        letter = np.zeros((length, self.letter.shape[1]), np.int64)
        letter[first : first + own] = self.letter
        following = np.zeros((first + states + rest, self.next.shape[1]), np.int64)
        following[first : first + states] = self.next
        exits = np.zeros(len(following), np.int64)
        exits[first : first + states] = self.exit
        begin, end = np.arange(first), np.arange(first + states + 1, first + states + rest + 1)
        return Guards(letter, np.concatenate([begin, self.ptr + first, end]), following, exits)


class Rows:
    """The row of each path at each of its tokens.

    Args:
        paths: Q of them.
    """

    def __init__(self, paths: Paths) -> None:
        self._rows = np.repeat(paths.row, paths.size)
        self._ends = np.append(0, paths.size.cumsum())[paths.run_ptr].tolist()

    def of(self, number: int) -> Ints:
        """Return those of a path."""
        return self._rows[self._ends[number] : self._ends[number + 1]]


class GuardedEngine(Engine):
    """An engine for the structures of one batch that meet demands.

    Whatever is asked of it must be asked of the sentences that it was made for.

    Args:
        base: the engine of the structures.
        offsets: (N + 1,) first token of each sentence.
        types: K.
        demands: on its structures.
        allowed: (T, E, K) hyperedges that may be picked; all when ``None``.

    Raises:
        UsageError: it counts derivations, in which a node is shared, or the demands are too many.
    """

    def __init__(self, base: Engine, offsets: Ints, types: int, demands: Demands, allowed: Bools | None = None) -> None:
        self.template, self.counting, self.depth, self._graph = base.template, base.counting, base.depth, base._graph
        self._base, self._offsets = base, offsets
        some = demands.wanted[demands.owner]
        self._wanting = np.zeros((len(offsets) - 1, types), np.bool_)
        self._wanting[demands.paths.sentence[some], demands.paths.kind[some]] = True
        # 1. A demand that wants one path is a mask.
        single = demands.wanted & (np.bincount(demands.owner, minlength=len(demands.wanted)) == 1)
        mask = allowed
        if single.any():
            shape = int(offsets[-1]), len(base.template.edges), types
            mask = np.ones(shape, bool) if allowed is None else allowed.copy()
            for path in np.flatnonzero(single[demands.owner]).tolist():
                own = demands.paths.spread(path) > 0
                begin = offsets[demands.paths.sentence[path]] + demands.paths.first[path]
                mask[begin : begin + len(own), :, demands.paths.kind[path]] &= own
        self._mask = None if mask is None else mask.astype(np.uint8).reshape(len(mask), -1)
        # 2. Others take guards, which are made when they are needed.
        self._demands = demands.take(~single)
        paths = self._demands.paths
        self._of_lane: dict[tuple[int, int], list[int]] = {}
        for path, lane in enumerate(zip(paths.sentence.tolist(), paths.kind.tolist(), strict=True)):
            self._of_lane.setdefault(lane, []).append(path)
        self._known: dict[tuple[int, int], list[Guards]] = {}
        self._parts = _parts(base) if self._of_lane else []
        self._rows = Rows(paths)
        self._tables = [_of_part(part, paths) for part in self._parts]
        self._letters: list[Letters] = [{} for _ in self._parts]
        self._made: list[dict[tuple[tuple[Way, ...], int], Guards]] = [{} for _ in self._parts]

    @property
    def _automata(self) -> Sequence[Automaton]:
        return self._base._automata

    def _masked(self, scores: Masked) -> Masked:
        if self._mask is None:
            return scores
        return scores._replace(allowed=scores.allowed & self._mask if len(scores.allowed) else self._mask)

    def _sums(self, scores: Masked, offsets: Ints, run: Executor, with_counts: bool) -> Expectations:
        scores = self._masked(scores)
        if with_counts and self._of_lane:
            self._refuse("expected counts")
        found = self._base._sums(scores, offsets, run, with_counts)
        for lane in self._of_lane:
            found.log_partition[lane] = sum(
                self._asked(scores, lane, part, guard, None)[0] for part, guard in self._guarded(lane)
            )
        return found

    def _best(self, scores: Masked, offsets: Ints, automata: Sequence[Automaton], run: Executor) -> Best:
        scores = self._masked(scores)
        best = self._base._best(scores, offsets, automata, run)
        lanes = [lane for lane in self._broken(best.edges) if best.score[lane] > -np.inf]

        def one(lane: tuple[int, int]) -> None:
            sentence, kind = lane
            own = best.edges[offsets[sentence] : offsets[sentence + 1], kind]
            own[:] = -1
            filled, score = np.zeros(len(own), np.int64), 0.0
            for part, guard in self._guarded(lane):
                edges = np.full((len(own), max(part.program.depth, 1)), -1, np.int16)
                score += self._asked(scores, lane, part, guard, edges)[0]
                for picked in edges.T:
                    rows = np.flatnonzero(picked >= 0)
                    own[rows, filled[rows]] = picked[rows]
                    filled[rows] += 1
            best.score[lane] = score
            if np.isneginf(score):
                own[:] = -1

        run.map(one, lanes)
        return best

    def contradictions(self, potentials: Potentials, offsets: Ints, covers: bool, run: Executor) -> list[int]:
        """Return the sentences that no structure is left for.

        Args:
            potentials: scores.
            offsets: (N + 1,) first token of each sentence.
            covers: whether mentions hold every token; if not, a structure without mentions meets what is forbidden, and
                only types of which something is wanted are looked at.
            run: how pieces of the work are run.
        """
        scores = self._masked(Masked.of(potentials, None, self.template))
        none: set[int] = set()
        if self._mask is not None:
            best = self._base._best(scores, offsets, self._automata, run)
            none |= set(np.flatnonzero(np.isneginf(best.score).any(1)).tolist())
        for lane in self._of_lane:
            if (covers or self._wanting[lane]) and lane[0] not in none:
                totals = [self._asked(scores, lane, part, guard, None)[0] for part, guard in self._guarded(lane)]
                none |= {lane[0]} if -np.inf in totals else set()
        return sorted(none)

    def _broken(self, edges: Edges) -> list[tuple[int, int]]:
        """Return the sentences and types whose structures do not meet their demands."""
        paths, owner, wanted = self._demands
        if not len(owner):
            return []
        sizes = np.add.reduceat(paths.size, paths.run_ptr[:-1])
        starts = sizes.cumsum() - sizes
        path = np.repeat(np.arange(len(sizes)), sizes)
        tokens = (self._offsets[paths.sentence] + paths.first - starts)[path] + np.arange(len(path))
        allowed = np.pad(paths.allowed, ((0, 0), (0, 1)), constant_values=1) > 0  # -1, for no hyperedge, is allowed
        keeps = allowed[np.repeat(paths.row, paths.size)[:, None], edges[tokens, paths.kind[path]]].all(1)
        kept = np.logical_and.reduceat(keeps, starts)
        some = np.bincount(owner, kept, len(wanted)) > 0
        wrong = (some != wanted)[owner]
        return list(dict.fromkeys(zip(paths.sentence[wrong].tolist(), paths.kind[wrong].tolist(), strict=True)))

    def _path_probability(self, scores: Masked, offsets: Ints, paths: Paths, run: Executor) -> Floats:
        scores = self._masked(scores)
        result = self._base._path_probability(scores, offsets, paths, run)
        rows = Rows(paths)
        usable = [_of_part(part, paths)[:, part.single.edge].astype(np.uint8) for part in self._parts]
        of_lane: dict[tuple[int, int], list[int]] = {}
        for query, lane in enumerate(zip(paths.sentence.tolist(), paths.kind.tolist(), strict=True)):
            if lane in self._of_lane:
                of_lane.setdefault(lane, []).append(query)

        def one(lane: tuple[int, int]) -> None:
            queries = of_lane[lane]
            asked = [rows.of(query) for query in queries]
            questions = paths.first[queries], np.cumsum([0, *map(len, asked)]), np.concatenate(asked)
            result[queries] = np.prod(
                [
                    self._asked(scores, lane, part, guard, None, questions, own)[1]
                    for (part, guard), own in zip(self._guarded(lane), usable, strict=True)
                ],
                axis=0,
            )

        run.map(one, list(of_lane))
        return result

    def _guarded(self, lane: tuple[int, int]) -> list[tuple[IndependentPart, Guards]]:
        """Return the parts of the template, each with its guard, for one sentence and type."""
        if lane not in self._known:
            paths, owner, wanted = self._demands
            own = self._of_lane[lane]
            length = int(self._offsets[lane[0] + 1] - self._offsets[lane[0]])
            rows = {q: paths.row[slice(*paths.run_ptr[q : q + 2])] for q in own}
            asks = [{q: not table[rows[q]].all() for q in own} for table in self._tables]
            if any(sum(part[q] for part in asks) > 1 for q in own):
                self._refuse("demands on several independent parts of a template")
            low = min(int(paths.first[q]) for q in own)
            high = max(int(paths.first[q]) + len(self._rows.of(q)) for q in own)
            guards = []
            for table, letters, made, asked in zip(self._tables, self._letters, self._made, asks, strict=True):
                ways = tuple(
                    (
                        int(owner[q]) if wanted[owner[q]] else -1, bool(wanted[owner[q]]), int(paths.first[q]) - low,
                        tuple(self._rows.of(q).tolist()),
                    )
                    for q in own
                    if asked[q]
                )  # fmt: skip
                if (ways, high - low) not in made:
                    made[ways, high - low] = Guards.build(ways, table, high - low, letters)
                guards.append(made[ways, high - low].placed(low, length))
            self._known[lane] = guards
        return list(zip(self._parts, self._known[lane], strict=True))

    def _asked(
        self, scores: Masked, lane: tuple[int, int], part: IndependentPart, guard: Guards, edges: Edges | None,
        questions: tuple[Ints, Ints, Ints] = NO_QUESTIONS, usable: NDArray[np.uint8] = NOT_USABLE,
    ) -> tuple[float, Floats]:  # fmt: skip
        """Return the score of the best structure, if its hyperedges are asked for, or the sum, and probabilities.

        Args:
            scores: potentials, and what is allowed.
            lane: a sentence and a type.
            part: of the template, with its `guard`.
            guard: see `part`.
            edges: the hyperedges of the best structure; filled.
            questions: (Q,) first tokens of paths, (Q + 1,) where the rows of each begin, and the rows.
            usable: (M, C) the choices that each row allows.
        """
        sentence, kind = lane
        total, probability = np.empty(1), np.zeros(len(questions[0]))
        _guarded(
            scores, self._offsets[sentence], self._offsets[sentence + 1], kind, part.single, guard, *questions, usable,
            total, np.zeros((0, 0), np.int16) if edges is None else edges, probability,
        )  # fmt: skip
        return float(total[0]), probability

    def _ranking(self, scores: Masked, offsets: Ints, sentence: int, kind: int, count: int) -> Ranking:
        if (sentence, kind) in self._of_lane:
            self._refuse("a ranking")
        return self._base._ranking(self._masked(scores), offsets, sentence, kind, count)

    def _drawn(
        self, scores: Masked, offsets: Ints, sentence: int, kind: int, count: int, random: np.random.Generator
    ) -> tuple[Choices, ...]:
        if (sentence, kind) in self._of_lane:
            self._refuse("samples")
        return self._base._drawn(self._masked(scores), offsets, sentence, kind, count, random)

    def _refuse(self, what: str) -> NoReturn:
        raise UsageError(f"constraints that forbid mentions have no {what}; expected the best structure, or sums")


def _parts(base: Engine) -> list[IndependentPart]:
    """Return the automata of an engine.

    Raises:
        UsageError: it counts derivations, in which a node is shared.
    """
    if isinstance(base, DerivationEngine):
        if any(len(edge.children) > 1 for edge in base.template.edges):
            raise UsageError(
                "the model counts derivations, in which a mention cannot be forbidden: a shared node may be used once "
                "for each parent; train with counting 'subgraphs'"
            )
        base = base.subgraphs
    if not isinstance(base, SubgraphEngine):
        raise UsageError(f"an engine of class {type(base).__name__} takes no constraints that forbid mentions")
    return base.parts


def _of_part(part: IndependentPart, paths: Paths) -> Bools:
    """Return (M, E') which hyperedges of a part, and "nothing", the rows of paths allow."""
    allowed: Bools = np.pad(paths.allowed, ((0, 0), (0, 1)), constant_values=1)[:, part.single.number] > 0
    return allowed
