"""Terms of claims: which mentions of a sentence are there, which are not, and which may be either way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Final, NamedTuple

import numpy as np

from spanloom.document.annotation import COMPLETE, Status
from spanloom.hypergraph import Engine, Ints, Paths
from spanloom.structures import MentionTable, Structure

MOST: Final = 512  # versions of a sentence and type
Literals = frozenset[int]
NONE: Final[Literals] = frozenset()


class Term(NamedTuple):
    """Literals that are there, and literals that are not."""

    there: Literals = NONE
    absent: Literals = NONE

    def both(self, other: Term) -> Term:
        """Return the term in which both hold."""
        return Term(self.there | other.there, self.absent | other.absent)

    def without(self, other: Term) -> Iterator[Term]:
        """Yield terms that exclude each other: what this one allows and another does not."""
        if self.there & other.absent or self.absent & other.there:
            yield self
            return
        there, absent = self
        for literal in sorted(other.there - there):
            yield Term(there, absent | {literal})
            there |= {literal}
        for literal in sorted(other.absent - absent):
            yield Term(there | {literal}, absent)
            absent |= {literal}

    @property
    def possible(self) -> bool:
        """Whether nothing is there and not there."""
        return not self.there & self.absent


class Condition(NamedTuple):
    """A claim about one sentence, in rows of a table of mentions, none of which is given.

    Args:
        kind: as of `spanloom.document.annotation.Claim`.
        readings: those that the given mentions leave open.
        every: the mentions of all readings.
    """

    kind: str
    readings: tuple[frozenset[int], ...]
    every: frozenset[int]

    @classmethod
    def of(cls, kind: str, readings: Sequence[frozenset[int]], known: frozenset[int]) -> Condition | None:
        """Return the condition of a claim where some mentions are given; ``None`` if they meet it already."""
        every = frozenset[int]().union(*readings)
        if kind == "some" and every & known:
            return None
        if kind == "either":
            readings = [reading - known for reading in readings if every & known <= reading]
        return cls(kind, tuple(readings), every - known)


@dataclass(frozen=True)
class Corpus:
    """A corpus, as its annotation is laid on it.

    Args:
        structure: in which mentions are written.
        engine: of the structure.
        offsets: (N + 1,) first token of each sentence.
        given: the mentions that are there, which the structure holds.
        status: (T, K) of each token and type.
        types: K names.
    """

    structure: Structure
    engine: Engine
    offsets: Ints
    given: MentionTable
    status: Status
    types: tuple[str, ...]

    def lane(self, kind: int) -> int:
        """Return the number of a type on the engine's axis."""
        return 0 if self.structure.joint else kind


class ClaimLiterals:
    """Literals of the mentions in a table.

    Attributes: ``paths`` of the mentions; ``ways``, the literals of each row of the table: the number of the row where
    annotation is complete, else those of its paths, counted behind the rows; ``lanes`` of the rows; ``partly``, the
    paths, as literals, of each mention that is a row and has a path with tokens where annotation is not complete.
    """

    def __init__(self, corpus: Corpus, table: MentionTable) -> None:
        self.table = table
        held = np.flatnonzero(corpus.structure.holds(table))
        self.paths: Paths = corpus.structure.paths(table.take(held), corpus.types)
        each = len(self.paths.sentence) // max(len(held), 1)
        self.lanes = [corpus.lane(kind) for kind in table.kind.tolist()]
        self.ways: dict[int, tuple[int, ...]] = {}
        self.partly: dict[int, tuple[int, ...]] = {}
        for place, row in enumerate(held.tolist()):
            numbers = range(place * each, (place + 1) * each)
            open_ways = tuple(len(table) + path for path in numbers if self.paths.spread(path).any(1).all())
            first, last = table.first[table.ptr[row]], table.end[table.ptr[row + 1] - 1]
            tokens = corpus.offsets[table.sentence[row]] + np.arange(first, last)
            closed = bool((corpus.status[tokens, table.kind[row]] == COMPLETE).any())
            self.ways[row] = (row,) if closed else open_ways
            for path in numbers if closed else ():  # which may begin before the mention's first token
                begin = int(corpus.offsets[self.paths.sentence[path]] + self.paths.first[path])
                status = corpus.status[begin : begin + len(self.paths.spread(path)), self.paths.kind[path]]
                if not (status == COMPLETE).all():
                    self.partly[row] = open_ways
        self.lane_of = {way: self.lanes[row] for row, ways in self.ways.items() for way in ways}

    def is_row(self, literal: int) -> bool:
        """Return whether a literal is a mention with which a version is encoded."""
        return literal < len(self.table)

    def there(self, row: int) -> Iterator[Term]:
        """Yield the terms in which a mention is there."""
        ways = self.ways[row]
        for number, way in enumerate(ways):
            yield Term(frozenset([way]), frozenset(ways[:number]))

    def terms(self, condition: Condition) -> list[Term]:
        """Return terms that exclude each other, in one of which a condition holds."""
        every = condition.every
        if condition.kind == "not":
            return [Term(absent=self._ways(every))]
        if condition.kind == "either":
            return [
                term.both(Term(absent=self._ways(every - reading)))
                for reading in condition.readings
                for term in self._together(reading)
            ]
        rows = [row for [row] in condition.readings]
        return [
            term.both(Term(absent=self._ways(rows[:number])))
            for number, row in enumerate(rows)
            for term in self.there(row)
        ]

    def _ways(self, rows: Iterable[int]) -> Literals:
        return frozenset(way for row in rows for way in self.ways[row])

    def _together(self, rows: Iterable[int]) -> Iterator[Term]:
        """Yield the terms in which several mentions are there."""
        for terms in product(*(tuple(self.there(row)) for row in sorted(rows))):
            found = Term()
            for term in terms:
                found = found.both(term)
            yield found


class Plan:
    """The claims about a sentence.

    Attributes: ``sentence``; ``lanes``, the types of which something is claimed; ``closed``, of each of them the
    literals with which versions are encoded, and ``open``, the others.
    """

    def __init__(self, sentence: int, conditions: Sequence[Condition], literals: ClaimLiterals) -> None:
        self.sentence = sentence
        self.literals = literals
        self.conditions = conditions
        rows = frozenset(row for condition in conditions for row in condition.every)
        every = [way for row in sorted(rows) for way in literals.ways[row]]
        self.lanes = sorted({literals.lane_of[way] for way in every})
        self.open = {lane: [x for x in every if self._is(x, lane, False)] for lane in self.lanes}
        self.closed = {lane: [x for x in every if self._is(x, lane, True)] for lane in self.lanes}

    def _is(self, literal: int, lane: int, row: bool) -> bool:
        return self.literals.lane_of[literal] == lane and self.literals.is_row(literal) == row

    def lighter(self) -> tuple[Plan, Condition] | None:
        """Return the plan without its last claim that a mention is not there, where annotation is not complete.

        Of a plan with none it is ``None``.
        """
        for number, condition in reversed([*enumerate(self.conditions)]):
            ways = (way for row in condition.every for way in self.literals.ways[row])
            if condition.kind == "not" and not all(map(self.literals.is_row, ways)):
                kept = [*self.conditions[:number], *self.conditions[number + 1 :]]
                return Plan(self.sentence, kept, self.literals), condition
        return None

    def terms(self) -> list[Term]:
        """Return terms that exclude each other, in one of which all claims hold.

        Raises:
            OverflowError: there are more than `MOST`.
        """
        found = [Term()]
        for condition in self.conditions:
            found = [one.both(other) for one in found for other in self.literals.terms(condition)]
            found = [term for term in found if term.possible]
            if len(found) > MOST:
                raise OverflowError
        return found

    def pairs(self) -> Iterator[tuple[int, Literals]]:
        """Yield pairs of literals of one type, which may exclude each other."""
        for lane, several in self.open.items():
            for pair in combinations(several, 2):
                yield lane, frozenset(pair)

    def bases(self, term: Term, lane: int, most: int) -> list[Literals]:
        """Return the sets of mentions with which the versions of a term are encoded.

        Raises:
            OverflowError: there are more than so many.
        """
        closed = frozenset(self.closed[lane])
        free = sorted(closed - term.there - term.absent)
        return [term.there & closed | frozenset(chosen) for chosen in _subsets(free, frozenset(), most)]

    def others(self, base: Literals, lane: int) -> Literals:
        """Return the paths of mentions that are not in a base and reach into text that is not complete.

        At its complete tokens such a mention may have the hyperedges of others, so that structures of the base keep to
        its path; they are those of the base with it, and are taken away from this one.
        """
        partly = self.literals.partly
        return frozenset(way for row in self.closed[lane] if row not in base for way in partly.get(row, ()))

    def factor(
        self, term: Term, lane: int, base: Literals, others: Literals, apart: frozenset[Literals], most: int
    ) -> list[tuple[int, Literals]]:
        """Return the signs and literals of the versions with a base in the factor of a type.

        Args:
            term: of which this is a factor.
            lane: the type.
            base: one of `bases`.
            others: those of `others` that a structure of the base keeps to.
            apart: pairs of literals that exclude each other.
            most: more versions are too many.

        Raises:
            OverflowError: there are more than so many.
        """
        opened = frozenset(self.open[lane])
        return [
            ((-1) ** len(chosen), base | term.there & opened | chosen)
            for chosen in _subsets(sorted(term.absent & opened | others), apart, most)
        ]


def _subsets(literals: Sequence[int], apart: frozenset[Literals], most: int) -> list[Literals]:
    """Return all sets of literals without two that exclude each other.

    Raises:
        OverflowError: there are more than so many.
    """
    found = [NONE]
    for literal in literals:
        found += [one | {literal} for one in found if not any(frozenset((literal, other)) in apart for other in one)]
        if len(found) > most:
            raise OverflowError
    return found
