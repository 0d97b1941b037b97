"""Claims of annotation as readings: what is allowed where a mention is not there, or one of several is.

A claim is a condition on which of some mentions are there. It is written as terms that exclude each other, each with
mentions that are there and mentions that are not; the terms of a sentence are the products of those of its claims. In a
term types are independent, and the structures of one type without a mention are all less those with it; without
several, by inclusion and exclusion.

Where annotation is complete a mention is there if the version was encoded with it, and not there otherwise; of one that
also has tokens elsewhere, no version without it has structures that keep to its path. Elsewhere it is there if the
structure keeps to its path, or to one of its paths, of which no structure keeps to two. Both are *literals*: a mention
of the first kind is one, of the second as many as it has paths.

Some structures, such as the mention hypergraph, write different sets of overlapping mentions as the same hyperedges.
Terms that differ in such sets only do not exclude each other; they are split until they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Mention
from spanloom.document.annotation import COMPLETE, Said
from spanloom.document.claims import Claim, claims_of
from spanloom.errors import DataError, UsageError, clip
from spanloom.hypergraph import Engine, Floats, Ints, Mask, Paths, Potentials
from spanloom.learn.readings import Readings
from spanloom.learn.target import tokens_of
from spanloom.model.corpus import Gold, lost
from spanloom.model.partial import allowed_structures
from spanloom.structures import MentionTable, Structure
from spanloom.structures.base import concatenate

__all__ = ["with_claims"]

MOST: Final = 512  # versions of a sentence and type
DENIED: Final = 64  # of the same, above which claims of *not* are dropped, each of which may double them
OPEN: Final = 64  # paths of a sentence and type of which something is claimed; each two of them are a version, too
TOO_MANY: Final = "too many mentions of its sentence are claimed not to be there"
_NOTHING = 1e-9  # of the structures of a term: none is left
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
        kind: as of `spanloom.document.claims.Claim`.
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
        said: (T, K) of each token and type.
        types: K names.
    """

    structure: Structure
    engine: Engine
    offsets: Ints
    given: MentionTable
    said: Said
    types: tuple[str, ...]

    def lane(self, kind: int) -> int:
        """Return the number of a type on the engine's axis."""
        return 0 if self.structure.joint else kind


def with_claims(
    structure: Structure, engine: Engine, batch: Batch, gold: Gold, allowed: Mask, said: Said, types: tuple[str, ...]
) -> Readings:
    """Return what annotation allows with its claims.

    Args:
        structure: in which mentions are written.
        engine: of the structure.
        batch: N sentences of documents with claims, or without.
        gold: the mentions that are given; it gets claims about mentions that the structure cannot hold.
        allowed: (T, E, K) the hyperedges of the structures that are allowed without claims.
        said: (T, K) of each token and type.
        types: K names.

    Raises:
        DataError: claims that contradict each other, or what is annotated, or that are too many; of too many claims
            that mentions are not there the last ones are left out, and reported.
        UsageError: the structure has heads.
    """
    claims = [claims_of(document, types) for document in batch.documents]
    if not any(claims):
        return Readings.of(allowed)
    if structure.heads:
        raise UsageError(
            f"annotation claims that mentions are not there, or one of several; the structure {structure} finds their "
            "heads, which claims do not have: take another one, or leave the claims out"
        )
    found, asked = _laid(structure, batch, claims, gold, types)
    if not asked:
        return Readings.of(allowed)
    given = MentionTable.build([row for row, _ in gold.held])
    corpus = Corpus(structure, engine, batch.sentences, given, said, types)
    literals = _Literals(corpus, found.table)
    plans = [_Plan(sentence, conditions, literals) for sentence, conditions in sorted(asked.items())]
    builder = _Builder(corpus, batch, literals, plans)
    readings = builder.readings(allowed)
    for condition in builder.dropped:
        gold.lost.append(lost(*found.owner(min(condition.every)), TOO_MANY))
        gold.total += 1
    return readings


def _laid(
    structure: Structure, batch: Batch, claims: Sequence[Sequence[Claim]], gold: Gold, types: tuple[str, ...]
) -> tuple[Gold, dict[int, list[Condition]]]:
    """Return the mentions of which something is claimed, and the conditions on each sentence.

    Mentions that the structure cannot hold are left out. A claim that needs one of them is lost, unless its kind is
    ``not``.
    """
    copies = [
        document.copy(mentions=list(dict.fromkeys(m for claim in own for reading in claim.readings for m in reading)))
        for document, own in zip(batch.documents, claims, strict=True)
    ]
    found = Gold(replace(batch, documents=tuple(copies)), types)
    holds = structure.holds(found.table)
    owners = found.owners
    rows = {(id(owner), mention): i for i, (owner, mention) in enumerate(owners) if holds[i]}
    why = {(one.document, one.mention): one.reason for one in found.lost}
    refused = structure.encode(found.table, batch.sentences, types).lost
    why |= {(owners[i][0].id, owners[i][1]): reason for i, reason in refused.items()}
    there = {row for row, _ in gold.held}
    known = frozenset(i for i, row in enumerate(found.table.rows()) if row in there)
    asked: dict[int, list[Condition]] = {}

    for document, own in zip(copies, claims, strict=True):

        def row(mention: Mention, own_id: int = id(document)) -> int:
            return rows.get((own_id, mention), -1)

        for claim in own:
            readings = [frozenset(map(row, reading)) for reading in claim.readings]
            sound = [reading for reading in readings if -1 not in reading]
            if (claim.kind == "either" and len(sound) < len(readings)) or not any(sound):
                if claim.kind != "not":
                    mention = next(m for reading in claim.readings for m in reading if row(m) < 0)
                    gold.lost.append(lost(document, mention, why[document.id, mention]))
                    gold.total += 1
                continue
            sentences = set(found.table.sentence[list(frozenset().union(*sound))].tolist())
            if len(sentences) > 1:
                raise DataError(
                    f"document {clip(document.id)}: a choice of annotation.either lies in several sentences, expected "
                    "one; give each sentence a choice of its own"
                )
            condition = Condition.of(claim.kind, sound, known)
            if condition is not None:
                asked.setdefault(sentences.pop(), []).append(condition)
    return found, asked


class _Literals:
    """Literals of the mentions in a table.

    Attributes: ``paths`` of the mentions; ``ways``, the literals of each row of the table: the number of the row where
    annotation is complete, else those of its paths, counted behind the rows; ``lanes`` of the rows; ``partly``, the
    paths, as literals, of each mention that is a row and has tokens where annotation is not complete.
    """

    def __init__(self, corpus: Corpus, table: MentionTable) -> None:
        self.table = table
        held = np.flatnonzero(corpus.structure.holds(table))
        self.paths: Paths = corpus.structure.paths(table.take(held), corpus.types)
        each = len(self.paths.sentence) // max(len(held), 1)
        self.lanes = [corpus.lane(kind) for kind in table.kind.tolist()]
        complete = [self._complete(corpus, row) for row in range(len(table))]
        self.ways: dict[int, tuple[int, ...]] = {}
        self.partly: dict[int, tuple[int, ...]] = {}
        for place, row in enumerate(held.tolist()):
            numbers = range(place * each, (place + 1) * each)
            open_ways = tuple(len(table) + path for path in numbers if self.paths.spread(path).any(1).all())
            self.ways[row] = (row,) if complete[row].any() else open_ways
            if complete[row].any() and not complete[row].all():
                self.partly[row] = open_ways
        self.lane_of = {way: self.lanes[row] for row, ways in self.ways.items() for way in ways}

    def _complete(self, corpus: Corpus, row: int) -> NDArray[np.bool_]:
        """Return at which tokens from a mention's first to its last annotation is complete."""
        table = self.table
        base, last = corpus.offsets[table.sentence[row]], table.ptr[row + 1] - 1
        tokens = slice(base + table.first[table.ptr[row]], base + table.end[last])
        found: NDArray[np.bool_] = corpus.said[tokens, table.kind[row]] == COMPLETE
        return found

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


class _Plan:
    """The claims about a sentence.

    Attributes: ``sentence``; ``lanes``, the types of which something is claimed; ``closed``, of each of them the
    literals with which versions are encoded, and ``open``, the others.
    """

    def __init__(self, sentence: int, conditions: Sequence[Condition], literals: _Literals) -> None:
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

    def lighter(self) -> tuple[_Plan, Condition] | None:
        """Return the plan without its last claim that a mention is not there, where annotation is not complete.

        Of a plan with none it is ``None``.
        """
        for number, condition in reversed([*enumerate(self.conditions)]):
            ways = (way for row in condition.every for way in self.literals.ways[row])
            if condition.kind == "not" and not all(map(self.literals.is_row, ways)):
                kept = [*self.conditions[:number], *self.conditions[number + 1 :]]
                return _Plan(self.sentence, kept, self.literals), condition
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


class _Builder:
    """Readings of a corpus from the plans of its sentences.

    Attributes: ``plans``; ``dropped``, the claims of sentences with too many of them that are left out.
    """

    def __init__(self, corpus: Corpus, batch: Batch, literals: _Literals, plans: Sequence[_Plan]) -> None:
        self.corpus = corpus
        self.batch = batch
        self.literals = literals
        self.dropped: list[Condition] = []
        self._known: dict[tuple[int, int, Literals], Literals] = {}
        self.plans = list(plans)
        for place in range(len(plans)):
            while any(len(own) > OPEN for own in self.plans[place].open.values()):
                self.plans[place] = self._lighter(self.plans[place])

    def readings(self, allowed: Mask) -> Readings:
        """Return them."""
        apart = self._apart()
        owner: list[int] = []
        version: list[list[Literals]] = []
        term: list[int] = []
        part: list[tuple[int, int, int, int]] = []
        for plan, factors in self._planned(apart):
            numbers: list[dict[Literals, int]] = [{} for _ in range(self._width)]
            for one in factors:
                for lane, sign, wanted in one:
                    number = numbers[lane].setdefault(wanted, len(numbers[lane]))
                    part.append((len(term), lane, len(owner) + number, sign))
                term.append(plan.sentence)
            own = _versions(numbers)
            owner += [plan.sentence] * len(own)
            version += own
        masks, offsets = self._masks(np.array(owner, np.int64), version)
        parts = np.array(part, np.int64).reshape(-1, 4)
        found = Readings(allowed, np.array(owner, np.int64), offsets, masks, np.array(term, np.int64), parts)
        return self._without_impossible(found)

    def _planned(self, apart: frozenset[Literals]) -> Iterator[tuple[_Plan, list[list[tuple[int, int, Literals]]]]]:
        """Yield the plans and the parts of the factors of each of their terms; of too many, some claims are dropped."""
        for place in range(len(self.plans)):
            while True:
                plan = self.plans[place]
                most = DENIED if plan.lighter() else MOST
                try:
                    factors = [
                        [*self._factors(plan, term, bases, apart, most)] for term, bases in self._terms(plan, most)
                    ]
                except OverflowError:
                    self.plans[place] = self._lighter(plan)
                    continue
                yield plan, factors
                break

    def _lighter(self, plan: _Plan) -> _Plan:
        """Return a plan without a claim, which is dropped.

        Raises:
            DataError: none can be.
        """
        found = plan.lighter()
        if found is None:
            self._refuse(plan, f"can be met in more than {MOST} ways; name fewer mentions, or fewer types")
        lighter, condition = found
        self.dropped.append(condition)
        return lighter

    def _terms(self, plan: _Plan, most: int) -> list[tuple[Term, dict[int, list[Literals]]]]:
        """Return terms that no structure is in twice, and the bases of each of their types.

        1. Bases of a type are the same if their versions allow the same hyperedges.
        2. Where none are, terms exclude each other as they are.
        3. Else a term is split into one for each choice of a base of each type, and of those with the same choice each
           loses what the earlier ones allow.

        Raises:
            OverflowError: there are too many.
        """
        found = [(term, {lane: plan.bases(term, lane, most) for lane in plan.lanes}) for term in plan.terms()]
        every = {lane: {base for _, bases in found for base in bases[lane]} for lane in plan.lanes}
        same = {lane: self._same(plan, lane, sorted(bases, key=sorted)) for lane, bases in every.items()}
        if all(base == first for own in same.values() for base, first in own.items()):
            return found
        opened = frozenset(way for lane in plan.lanes for way in plan.open[lane])
        split: dict[tuple[Literals, ...], list[Term]] = {}
        for term, bases in found:
            for chosen in dict.fromkeys(product(*([same[lane][base] for base in bases[lane]] for lane in plan.lanes))):
                left = [Term(term.there & opened, term.absent & opened)]
                earlier = split.setdefault(chosen, [])
                for other in earlier:
                    left = [rest for one in left for rest in one.without(other)]
                earlier += left
                if len(split) + len(earlier) > MOST:
                    raise OverflowError
        return [
            (term, {lane: [base] for lane, base in zip(plan.lanes, chosen, strict=True)})
            for chosen, terms in split.items()
            for term in terms
        ]

    def _same(self, plan: _Plan, lane: int, bases: Sequence[Literals]) -> dict[Literals, Literals]:
        """Return for each base of a type the first one whose version allows the same."""
        if len(bases) < 2:
            return {base: base for base in bases}
        versions = [[base if own == lane else NONE for own in range(self._width)] for base in bases]
        masks, offsets = self._masks(np.full(len(bases), plan.sentence, np.int64), versions)
        first: dict[tuple[bytes, Literals], Literals] = {}
        found = {}
        for base, begin, end in zip(bases, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            others = self._kept(plan.sentence, lane, base, plan.others(base, lane))
            found[base] = first.setdefault((masks[begin:end, :, lane].tobytes(), others), base)
        return found

    def _factors(
        self, plan: _Plan, term: Term, bases: dict[int, list[Literals]], apart: frozenset[Literals], most: int
    ) -> Iterator[tuple[int, int, Literals]]:
        """Yield the parts of a term's factors: type, sign, and the literals of a version."""
        for lane in range(self._width):
            if lane not in plan.lanes:
                yield lane, 1, NONE
                continue
            for base in bases[lane]:
                others = self._kept(plan.sentence, lane, base, plan.others(base, lane))
                for sign, wanted in plan.factor(term, lane, base, others, apart, most):
                    yield lane, sign, wanted

    def _kept(self, sentence: int, lane: int, base: Literals, paths: Literals) -> Literals:
        """Return the paths to which some structure of a base keeps."""
        key = sentence, lane, base
        if paths and key not in self._known:
            versions = [
                [base | {path} if own == lane else NONE for own in range(self._width)] for path in sorted(paths)
            ]
            sums = self._sums(*self._masks(np.full(len(paths), sentence, np.int64), versions))
            self._known[key] = frozenset(np.array(sorted(paths))[np.isfinite(sums[:, lane])].tolist())
        return self._known.get(key, NONE)

    @cached_property
    def _width(self) -> int:
        return self.corpus.structure.lanes(self.corpus.types)

    def _apart(self) -> frozenset[Literals]:
        """Return the pairs of paths that no structure keeps to together."""
        owner, version, pairs = [], [], []
        for plan in self.plans:
            for lane, pair in plan.pairs():
                owner.append(plan.sentence)
                version.append([pair if own == lane else NONE for own in range(self._width)])
                pairs.append((lane, pair))
        masks, offsets = self._masks(np.array(owner, np.int64), version)
        sums = self._sums(masks, offsets)
        return frozenset(pair for (lane, pair), own in zip(pairs, sums, strict=True) if np.isneginf(own[lane]))

    def _sums(self, masks: Mask, offsets: Ints) -> Floats:
        """Return (V, K) the logarithms of the numbers of structures of versions."""
        template = self.corpus.engine.template
        zeros = Potentials(
            np.zeros((len(masks), len(template.roles), self._width), np.float32),
            np.zeros((len(template.constants), self._width), np.float32),
        )
        return self.corpus.engine.log_partition(zeros, offsets, allowed=masks)

    def _masks(self, owner: Ints, version: Sequence[Sequence[Literals]]) -> tuple[Mask, Ints]:
        """Return the hyperedges (T', E, K) that versions allow, and their offsets.

        Args:
            owner: (V,) the sentence of each.
            version: the literals of each type of each.
        """
        corpus, literals = self.corpus, self.literals
        offsets, tokens = tokens_of(corpus.offsets, owner)
        tables = [corpus.given.take(np.zeros(0, np.int64))]
        for number, sentence in enumerate(owner.tolist()):
            there = corpus.given.take(self._given[sentence])
            tables.append(_moved(there, number))
            rows = sorted(literal for lane in version[number] for literal in lane if literals.is_row(literal))
            added = literals.table.take(np.array(rows, np.int64))
            tables.append(_moved(added, number))
        table = concatenate(tables)
        encoded = corpus.structure.encode(table, offsets, corpus.types)
        masks = allowed_structures(
            corpus.structure, corpus.engine, table, encoded.edges, corpus.said[tokens], offsets, corpus.types
        ).view(np.uint8)
        for row in encoded.lost:  # what is given is not lost by itself
            lane = corpus.lane(int(table.kind[row]))
            masks[offsets[table.sentence[row]] : offsets[table.sentence[row] + 1], :, lane] = 0
        for number, lanes in enumerate(version):
            for lane, wanted in enumerate(lanes):
                for literal in wanted:
                    if not literals.is_row(literal):
                        path = literal - len(literals.table)
                        own = literals.paths.spread(path)
                        begin = offsets[number] + literals.paths.first[path]
                        masks[begin : begin + len(own), :, lane] &= own
        return masks, offsets

    @cached_property
    def _given(self) -> list[Ints]:
        """The rows of the given mentions of each sentence."""
        sentence = self.corpus.given.sentence
        order = np.argsort(sentence, kind="stable")
        bounds = np.searchsorted(sentence[order], np.arange(len(self.corpus.offsets)))
        return [order[a:b] for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]

    def _without_impossible(self, found: Readings) -> Readings:
        """Return readings without the terms that no structure is in."""
        sums = self._sums(found.masks, found.offsets)
        impossible = np.flatnonzero((found.factors(sums) <= _NOTHING).any(1))
        kept = np.setdiff1d(np.arange(len(found.term)), impossible)
        left = set(found.term[kept].tolist())
        for plan in self.plans:
            if plan.sentence not in left:
                self._refuse(plan, "contradict each other, or the mentions that are there; leave one of them out")
        place = np.full(len(found.term), -1, np.int64)
        place[kept] = np.arange(len(kept))
        part = found.part[place[found.part[:, 0]] >= 0]
        part[:, 0] = place[part[:, 0]]
        return found._replace(term=found.term[kept], part=part)

    def _refuse(self, plan: _Plan, why: str) -> NoReturn:
        at, sentence = self.batch.locate(plan.sentence)
        document = clip(self.batch.documents[at].id)
        raise DataError(f"document {document}, sentence {sentence + 1}: the claims about its mentions {why}")


def _versions(numbers: Sequence[dict[Literals, int]]) -> list[list[Literals]]:
    """Return the literals of each type of each version; a type with fewer has its first one again."""
    several = max(map(len, numbers), default=0)
    of_lane = [[*one, *[*one][:1] * (several - len(one))] for one in numbers]
    return [[lane[number] for lane in of_lane] for number in range(several)]


def _moved(table: MentionTable, sentence: int) -> MentionTable:
    """Return mentions as those of another sentence."""
    return MentionTable(np.full(len(table), sentence), *table[1:])
