"""Inference under constraints: structures that follow some paths, and do not follow others.

A structure that follows a path uses only hyperedges that the path allows, which a mask can express. That it does *not*
follow a path cannot be expressed by a mask: it may leave the path at any token. A *guard* reads the hyperedges from the
first token to the last; its states are the sets of paths that are followed so far. It rejects a structure that has
followed a forbidden path to its end, or none of the ways of a required one. The product of a guard with the automaton
of a template has a path for each remaining structure, so sums, the best structure and probabilities are exact: see
`native/guards.c`.

Paths with the same requirements from a token on are one there, and paths that differ in their ends alone are one up to
the first of these, so that a guard of all mentions that a pattern matches is small.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import UsageError
from spanloom.hypergraph.derivations import DerivationEngine
from spanloom.hypergraph.engine import (
    PIECES,
    Best,
    Choices,
    Edges,
    Engine,
    Expectations,
    Floats,
    Ints,
    Mask,
    Masked,
    Potentials,
    Ranking,
)
from spanloom.hypergraph.subgraphs import IndependentPart, SubgraphEngine
from spanloom.hypergraph.tables import Automaton, Paths
from spanloom.native import Kernel
from spanloom.parallel import Executor, even_ranges
from spanloom.sparse import ascending

Bools = NDArray[np.bool_]
Letters = dict[tuple[int, ...], tuple[Ints, list[set[int]]]]
MOST_STATES: Final = 1024  # of a guard at a token
NO_EDGES: Final = np.zeros((0, 0, 0), np.int16)
NO_ROWS: Final = np.zeros((0, 0), np.uint8)
_guarded = Kernel("guarded")


class Demands(NamedTuple):
    """Demands on the structures of a batch; each is about one sentence and type.

    Args:
        paths: Q of them.
        owner: (Q,) the number of the demand that each belongs to, in rising order.
        required: (D,) whether a structure must keep to one of the paths of a demand, or must keep to none.
    """

    paths: Paths
    owner: Ints
    required: Bools

    def take(self, chosen: Bools) -> Demands:
        """Return some of the demands, (D,); the paths keep their numbers."""
        kept = chosen[self.owner]
        paths = self.paths.take(kept)
        return Demands(paths, (np.cumsum(chosen) - 1)[self.owner[kept]], self.required[chosen])


class _Rests:
    """What remains of some paths, from tokens on; equal remains are one.

    A *rest* is a row that is kept up to an end, the set of rests that may follow there, and the rest of the same row
    with the next end: paths that differ in this end alone are one rest up to the first end. A path that has ended is
    the rest -1, or -2 - d for one of the required demand d. A set has one rest a row at most: two are one with the
    ends of both, so that equal sets are equal demands on what comes.

    1. In order, paths are a tree of their runs.
    2. From the last runs on, what may follow the same runs becomes one set of rests.

    Args:
        ways: (Q, 2 + 2 R) the paths, as in `Guards.build`.

    Attributes: ``row``, ``end``, ``after`` and ``other`` by rest; ``begins``, the sets by their first token.
    """

    def __init__(self, ways: Ints) -> None:
        self.row: list[int] = []
        self.end: list[int] = []
        self.after: list[frozenset[int]] = []
        self.other: list[int] = []
        self._number: dict[tuple[int, int, frozenset[int], int], int] = {}
        self._joined: dict[tuple[int, int], int] = {}
        marks, child = np.unique(ways[:, -1], return_inverse=True)
        self._sets = [frozenset([mark]) for mark in marks.tolist()]
        order = ascending(*ways.T)
        ways, child = ways[order], child.reshape(-1)[order]
        new = np.logical_or.accumulate(np.diff(ways, axis=0, prepend=ways[:1] - 1) != 0, axis=1)
        for column in range(ways.shape[1] - 3, 0, -2):
            begin = np.flatnonzero(new[:, column - 1])
            child = self._folded(ways[:, column], ways[:, column + 1], child, begin)
            ways, new = ways[begin], new[begin]
        self.begins = dict(zip(ways[:, 0].tolist(), (self._sets[i] for i in child.tolist()), strict=True))

    def _folded(self, row: Ints, end: Ints, child: Ints, begin: Ints) -> Ints:
        """Return the number of the set of rests of each group of runs, given where groups begin."""
        code = ((row + 1) * (end.max() + 2) + end + 1) * len(self._sets) + child
        _, sample, kind = np.unique(code, return_index=True, return_inverse=True)
        kind = kind.reshape(-1)
        found = np.empty(len(begin), np.int64)
        alone = np.diff(np.append(begin, len(code))) == 1
        some, of_group = np.unique(kind[begin[alone]], return_inverse=True)
        numbers = [self._set(row[i : i + 1], end[i : i + 1], child[i : i + 1]) for i in sample[some].tolist()]
        found[alone] = np.array(numbers, np.int64)[of_group.reshape(-1)]
        known: dict[bytes, int] = {}
        for group in np.flatnonzero(~alone).tolist():
            own = slice(begin[group], begin[group + 1] if group + 1 < len(begin) else None)
            key = kind[own].tobytes()
            if key not in known:
                known[key] = self._set(row[own], end[own], child[own])
            found[group] = known[key]
        return found

    def _set(self, row: Ints, end: Ints, child: Ints) -> int:
        """Return the number of a new set of rests, of runs in order."""
        found: frozenset[int] = frozenset()
        other = -1
        for one, until, number in zip(row[::-1].tolist(), end[::-1].tolist(), child[::-1].tolist(), strict=True):
            after = self._sets[number]
            if other >= 0 and self.row[other] != one:
                found, other = found | {other}, -1
            if one < 0:  # no run, but what follows
                found = self.union((found, after))
            elif other >= 0 and self.end[other] == until:
                other = self._rest(one, until, self.union((after, self.after[other])), self.other[other])
            else:
                other = self._rest(one, until, after, other)
        self._sets.append(found if other < 0 else found | {other})
        return len(self._sets) - 1

    def _rest(self, row: int, end: int, after: frozenset[int], other: int) -> int:
        number = self._number.setdefault((row, end, after, other), len(self.row))
        if number == len(self.row):
            self.row.append(row)
            self.end.append(end)
            self.after.append(after)
            self.other.append(other)
        return number

    def _join(self, one: int, other: int) -> int:
        """Return the rest of a row that has the ends of two, each of which may be -1: no end."""
        waiting = []
        while one != other and min(one, other) >= 0 and (one, other) not in self._joined:
            waiting.append((one, other))
            end = min(self.end[one], self.end[other])
            one, other = (self.other[rest] if self.end[rest] == end else rest for rest in (one, other))
        found = self._joined.get((one, other), max(one, other))
        for pair in reversed(waiting):
            end = min(self.end[rest] for rest in pair)
            after = self.union({self.after[rest] for rest in pair if self.end[rest] == end})
            found = self._joined[pair] = self._rest(self.row[pair[0]], end, after, found)
        return found

    def union(self, sets: Collection[frozenset[int]]) -> frozenset[int]:
        """Return the set that demands what each of some sets does."""
        if len(sets) == 1:
            return next(iter(sets))
        found: set[int] = set()
        of_row: dict[int, int] = {}
        for rest in chain.from_iterable(sets):
            if rest < 0:
                found.add(rest)
            else:
                before = of_row.setdefault(self.row[rest], rest)
                if before != rest:
                    of_row[self.row[rest]] = self._join(before, rest)
        return frozenset(found.union(of_row.values()))

    def at_end(self, state: frozenset[int], token: int) -> frozenset[int]:
        """Return the set behind the rests that were kept up to before a token."""
        ended = [rest for rest in state if self.end[rest] == token]
        if not ended:
            return state
        goes_on = {self.other[rest] for rest in ended}.union(state.difference(ended)) - {-1}
        return self.union([frozenset(goes_on), *(self.after[rest] for rest in ended)])


class Guards(NamedTuple):
    """Guards side by side: automata with states of their own at each of their tokens, in which they begin in state 0.

    Args:
        begin: (G + 1,) the first token of each guard, of T in all.
        letter: (T, E) the letter of each hyperedge at each token.
        ptr: (T + 1,) where the states of each token begin, of S in all.
        next: (S, L) the state, counted at its token, after a hyperedge of each letter is picked.
        exit: (S,) the state at the next token, 0 behind the last; -1 where the structure is refused.
    """

    begin: Ints
    letter: Ints
    ptr: Ints
    next: Ints
    exit: Ints

    @classmethod
    def build(cls, ways: Ints, allowed: Bools, length: int, letters: Letters) -> Guards:
        """Make the guard of some paths.

        Args:
            ways: (Q, 2 + 2 R) the paths: first token, row and end of each run, -1 behind the last one, and -1, or
                -2 - d for one of the required demand d.
            allowed: (M, E) the hyperedges that a row allows.
            length: tokens, T.
            letters: the letter of each hyperedge, and the rows that keep each letter, by the rows asked about; filled.

        Raises:
            UsageError: it would have more than `MOST_STATES` states at a token.
        """
        rests = _Rests(ways)
        nothing: frozenset[int] = frozenset()
        begins = [rests.begins.get(token, nothing) for token in range(length + 1)]
        closes: list[set[int]] = [set() for _ in range(length)]  # the required demands that end at a token
        required = ways[ways[:, -1] < -1]
        for last, mark in zip(
            (required[:, 2:-1:2].max(1, initial=0) - 1).tolist(), required[:, -1].tolist(), strict=True
        ):
            closes[last].add(mark)
        # Sets of rests, from token to token: what is picked takes rests away, and a token's end continues.
        letter = np.zeros((length, allowed.shape[1]), np.int64)
        ptr, following_states, exits = [0], [], []
        states = [begins[0]]
        for token in range(length):
            entering: dict[frozenset[int], int] = {}
            here: list[list[int]]
            if states == [nothing]:  # between paths
                here = [[0]]
                exits.append(-1 if closes[token] else 0)
                if not closes[token]:
                    entering[begins[token + 1]] = 0
            else:
                rows = tuple(sorted({rests.row[rest] for state in states for rest in state}))
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
                    own = [frozenset(rest for rest in state if rests.row[rest] in kept) for kept in keeping]
                    for one in own:
                        if one not in number:
                            number[one] = len(states)
                            states.append(one)
                    here.append([number[one] for one in own])
                    after = rests.at_end(state, token + 1)
                    if -1 in after or not closes[token] <= after:
                        exits.append(-1)
                        continue
                    later = rests.union((begins[token + 1], frozenset(rest for rest in after if rest >= 0)))
                    exits.append(entering.setdefault(later, len(entering)))
            following_states += here
            ptr.append(len(exits))
            states = list(entering) or [nothing]
        width = max((len(row) for row in following_states), default=1)
        table = np.zeros((len(exits), width), np.int64)
        for number_of_state, reached in enumerate(following_states):
            table[number_of_state, : len(reached)] = reached
        return cls(np.array([0, length]), letter, np.array(ptr, np.int64), table, np.array(exits, np.int64))

    @classmethod
    def joined(cls, guards: Sequence[Guards], edges: int) -> Guards:
        """Return some guards side by side, of E hyperedges."""
        width = max((one.next.shape[1] for one in guards), default=1)
        zero, none = np.zeros(1, np.int64), np.zeros(0, np.int64)
        return cls(
            np.cumsum([0, *(one.begin[-1] for one in guards)]),
            np.concatenate([np.zeros((0, edges), np.int64), *(one.letter for one in guards)]),
            np.concatenate([zero, *(np.diff(one.ptr) for one in guards)]).cumsum(),
            np.concatenate([np.zeros((0, width), np.int64), *(
                np.pad(one.next, ((0, 0), (0, width - one.next.shape[1]))) for one in guards
            )]),
            np.concatenate([none, *(one.exit for one in guards)]),
        )  # fmt: skip


class Placed(NamedTuple):
    """The guards of L lanes in one part of a template.

    Args:
        part: its automaton.
        ptr: (L + 1,) the guards of each lane, of G in all.
        guard: (G,) which one of `guards`.
        low: (G,) where it begins in its sentence.
        guards: side by side.
    """

    part: IndependentPart
    ptr: Ints
    guard: Ints
    low: Ints
    guards: Guards


class GuardedEngine(Engine):
    """An engine for the structures of one batch that meet demands.

    Whatever is asked of it must be asked of the sentences that it was made for.

    Args:
        base: the engine of the structures.
        offsets: (N + 1,) first token of each sentence.
        types: K.
        demands: on its structures.

    Raises:
        UsageError: it counts derivations, in which a node is shared, or the demands are too many.
    """

    def __init__(self, base: Engine, offsets: Ints, types: int, demands: Demands) -> None:
        self.template, self.counting, self.depth, self._graph = base.template, base.counting, base.depth, base._graph
        self._automata = base._automata
        self._base, self._offsets, self._types = base, offsets, types
        # 1. A demand that requires one path is a mask.
        single = demands.required & (np.bincount(demands.owner, minlength=len(demands.required)) == 1)
        paths = demands.take(single).paths
        path, token, row = _steps(paths, offsets)
        lane, kept = token * types + paths.kind[path], np.zeros((0, len(base.template.edges)), np.uint8)
        order = np.argsort(lane, kind="stable")
        lanes, begins = np.unique(lane[order], return_index=True)
        if len(lanes):
            kept = np.bitwise_and.reduceat(paths.allowed[row[order]], begins)
        tokens, of_token = np.unique(lanes // types, return_inverse=True)
        mask = np.ones((len(tokens), kept.shape[1], types), np.uint8)
        mask[of_token, :, lanes % types] = kept
        self._mask = mask.reshape(len(mask), mask.shape[1] * types)
        self._gate = np.full(int(offsets[-1]) if len(tokens) else 0, -1)
        self._gate[tokens] = np.arange(len(tokens))
        # 2. Others take guards, which are made when they are needed.
        self._demands = demands.take(~single)
        self._parts = _parts(base) if len(self._demands.owner) else []
        lanes = np.unique(self._lane_codes(self._demands.paths))
        self._sentence, self._kind = np.divmod(lanes, types)
        self._number = np.full((len(offsets) - 1) * types, -1)
        self._number[lanes] = np.arange(len(lanes))

    def _lane_codes(self, paths: Paths) -> Ints:
        return paths.sentence * self._types + paths.kind

    def _masked(self, scores: Masked) -> Masked:
        own = scores._replace(gate=self._gate, allowed=self._mask)
        if not len(scores.gate):
            return own
        return Masked.of(Potentials(*scores[:2]), own.dense() & scores.dense(), self.template)

    def _sums(self, scores: Masked, offsets: Ints, run: Executor, with_counts: bool) -> Expectations:
        scores = self._masked(scores)
        if with_counts and len(self._sentence):
            self._refuse("expected counts")
        found = self._base._sums(scores, offsets, run, with_counts)
        found.log_partition[self._sentence, self._kind] = self._run(scores, np.arange(len(self._sentence)), run)[0]
        return found

    def _best(self, scores: Masked, offsets: Ints, automata: Sequence[Automaton], run: Executor) -> Best:
        scores = self._masked(scores)
        best = self._base._best(scores, offsets, automata, run)
        lanes = self._broken(best.edges)
        some = self._sentence[lanes], self._kind[lanes]
        lanes = lanes[best.score[some] > -np.inf]
        self._reset(best.edges, lanes)
        total, _ = self._run(scores, lanes, run, best.edges)
        best.score[self._sentence[lanes], self._kind[lanes]] = total[lanes]
        self._reset(best.edges, lanes[np.isneginf(total[lanes])])
        return best

    def _reset(self, edges: Edges, lanes: Ints) -> None:
        for sentence, kind in zip(self._sentence[lanes].tolist(), self._kind[lanes].tolist(), strict=True):
            edges[self._offsets[sentence] : self._offsets[sentence + 1], kind] = -1

    def _broken(self, edges: Edges) -> Ints:
        """Return the lanes whose structures do not meet their demands."""
        paths, owner, required = self._demands
        if not len(owner):
            return owner
        path, tokens, row = _steps(paths, self._offsets)
        allowed = np.pad(paths.allowed, ((0, 0), (0, 1)), constant_values=1) > 0  # -1, for no hyperedge, is allowed
        keeps = allowed[row[:, None], edges[tokens, paths.kind[path]]].all(1)
        kept = np.logical_and.reduceat(keeps, np.flatnonzero(np.diff(path, prepend=-1)))
        some = np.bincount(owner, kept, len(required)) > 0
        wrong = (some != required)[owner]
        return np.unique(self._number[self._lane_codes(paths)[wrong]])

    def _path_probability(self, scores: Masked, offsets: Ints, paths: Paths, run: Executor) -> Floats:
        scores = self._masked(scores)
        lane = self._number[self._lane_codes(paths)]
        result = np.empty(len(lane))
        result[lane < 0] = self._base._path_probability(scores, offsets, paths.take(lane < 0), run)
        queries = np.argsort(lane, kind="stable")[np.count_nonzero(lane < 0) :]
        lane, size = lane[queries], _sizes(paths)
        row_ptr = np.append(0, size[queries].cumsum())
        at = np.repeat(size.cumsum()[queries] - row_ptr[1:], size[queries]) + np.arange(row_ptr[-1])
        query = (
            np.searchsorted(lane, np.arange(len(self._sentence) + 1)), paths.first[queries], row_ptr,
            np.repeat(paths.row, paths.size)[at],
        )  # fmt: skip
        total, probability = self._run(scores, np.unique(lane), run, query=query, allowed=paths.allowed)
        result[queries] = np.where(np.isneginf(total[lane]), 0.0, probability)
        return result

    @cached_property
    def _placed(self) -> list[Placed]:
        """The guards of each part of the template: one for demands of a lane that overlap."""
        paths, owner, required = self._demands
        size = _sizes(paths)
        tables = [_of_part(part, paths.allowed) for part in self._parts]
        concerned = [np.logical_or.reduceat((~table).max(1)[paths.row], paths.run_ptr[:-1]) for table in tables]
        if (np.stack(concerned).sum(0) > 1).any():
            self._refuse("demands on several independent parts of a template")
        # 1. Demands that follow one another in a lane and overlap: those of one guard.
        ptr = np.searchsorted(owner, np.arange(len(required)))
        lane = self._number[self._lane_codes(paths)[ptr]]
        low = np.minimum.reduceat(paths.first, ptr)
        high = np.maximum.reduceat(paths.first + size, ptr)
        order = ascending(lane, low)
        apart = lane[order] * (high.max() + 1)
        reach = np.maximum.accumulate(apart + high[order])
        begin = np.flatnonzero(np.append(True, (apart + low[order])[1:] >= reach[:-1]))
        group, number = np.empty((2, len(required)), np.int64)
        group[order] = np.repeat(np.arange(len(begin)), np.diff(np.append(begin, len(order))))
        number[order] = np.arange(len(order)) - begin[group[order]]
        lanes, first = lane[order[begin]], low[order[begin]]
        length = np.maximum.reduceat(high[order], begin) - first
        # 2. Their paths, counted from the first token of the guard.
        runs = np.diff(paths.run_ptr)
        path = np.repeat(np.arange(len(runs)), runs)
        column = 1 + 2 * (np.arange(len(path)) - paths.run_ptr[path])
        start, end = paths.first - first[group[owner]], paths.size.cumsum()
        ways = np.full((len(runs), 2 + 2 * runs.max()), -1)
        ways[:, 0], ways[:, -1] = start, np.where(required[owner], -2 - number[owner], -1)
        ways[path, column] = paths.row
        ways[path, column + 1] = end + (start - (end - paths.size)[paths.run_ptr[:-1]])[path]
        # 3. Equal ones have one guard.
        placed = []
        for part, table, some in zip(self._parts, tables, concerned, strict=True):
            made: dict[tuple[bytes, int], int] = {}
            letters: Letters = {}
            guards, guard = [], []
            chosen = np.flatnonzero(some)
            chosen = chosen[np.argsort(group[owner[chosen]], kind="stable")]
            of_part = ways[chosen]
            groups, begins, counts = np.unique(group[owner[chosen]], return_index=True, return_counts=True)
            for one, at, count in zip(groups.tolist(), begins.tolist(), counts.tolist(), strict=True):
                own, tokens = of_part[at : at + count], int(length[one])
                key = own.tobytes(), tokens
                if key not in made:
                    made[key] = len(made)
                    guards.append(Guards.build(own, table, tokens, letters))
                guard.append(made[key])
            of_lanes = np.searchsorted(lanes[groups], np.arange(len(self._sentence) + 1))
            joined = Guards.joined(guards, table.shape[1])
            placed.append(Placed(part, of_lanes, np.array(guard, np.int64), first[groups], joined))
        return placed

    def _run(
        self, scores: Masked, lanes: Ints, run: Executor, edges: Edges = NO_EDGES, query: Sequence[Ints] | None = None,
        allowed: Mask = NO_ROWS,
    ) -> tuple[Floats, Floats]:  # fmt: skip
        """Return (L,) the scores of the best structures, if their hyperedges are asked for, or sums; and probabilities.

        Args:
            scores: potentials, and what is allowed.
            lanes: numbers of those that are asked about; others have 0.
            run: how pieces of the work are run.
            edges: of the best structures; filled.
            query: (L + 1,) the paths of each lane, (Q,) their first tokens, (Q + 1,) where the rows of each begin, and
                the rows.
            allowed: (M, E) the hyperedges that each row allows.
        """
        nothing = np.zeros(0, np.int64)
        query = query or (np.zeros(len(self._sentence) + 1, np.int64), nothing, np.zeros(1, np.int64), nothing)
        total, probability = np.zeros(len(self._sentence)), np.ones(len(query[1]))
        for part, ptr, guard, low, guards in self._placed if len(lanes) else []:
            usable = _of_part(part, allowed)[:, part.single.edge] if len(allowed) else allowed
            given = ptr, guard, low, part.single, guards, *query, usable, total, edges, probability
            run.map(
                lambda some, given=given: _guarded(  # type: ignore[misc]
                    scores, self._offsets, some, self._sentence, self._kind, *given
                ),
                [lanes[a:b] for a, b in even_ranges(len(lanes), PIECES if run.workers > 1 else 1)],
            )
        return total, probability

    def _ranking(self, scores: Masked, offsets: Ints, sentence: int, kind: int, count: int) -> Ranking:
        if self._number[sentence * self._types + kind] >= 0:
            self._refuse("a ranking")
        return self._base._ranking(self._masked(scores), offsets, sentence, kind, count)

    def _drawn(
        self, scores: Masked, offsets: Ints, sentence: int, kind: int, count: int, random: np.random.Generator
    ) -> tuple[Choices, ...]:
        if self._number[sentence * self._types + kind] >= 0:
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


def _of_part(part: IndependentPart, allowed: Mask) -> Bools:
    """Return (M, E') which hyperedges of a part, and "nothing", rows of hyperedges allow."""
    found: Bools = np.pad(allowed, ((0, 0), (0, 1)), constant_values=1)[:, part.single.number] > 0
    return found


def _sizes(paths: Paths) -> Ints:
    """Return the number of tokens of each path, (Q,)."""
    size: Ints = np.add.reduceat(paths.size, paths.run_ptr[:-1]) if len(paths.first) else paths.first
    return size


def _steps(paths: Paths, offsets: Ints) -> tuple[Ints, Ints, Ints]:
    """Return for each step of each path the path, the token, counted in the batch, and the row."""
    size = _sizes(paths)
    path = np.repeat(np.arange(len(size)), size)
    token = (offsets[paths.sentence] + paths.first - size.cumsum() + size)[path] + np.arange(len(path))
    return path, token, np.repeat(paths.row, paths.size)
