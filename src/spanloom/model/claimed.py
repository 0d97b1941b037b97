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

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Final, NoReturn

import numpy as np

from spanloom.document import Batch, Mention
from spanloom.document.annotation import Claim, Status, claims_of
from spanloom.errors import DataError, UsageError, clip
from spanloom.hypergraph import Engine, Floats, Ints, Mask, Potentials
from spanloom.learn.readings import Readings
from spanloom.learn.target import tokens_of
from spanloom.model.claim_terms import MOST, NONE, ClaimLiterals, Condition, Corpus, Literals, Plan, Term
from spanloom.model.corpus import Gold, lost
from spanloom.model.partial import allowed_structures
from spanloom.structures import MentionTable, Structure
from spanloom.structures.base import concatenate

DENIED: Final = 64  # of the same, above which claims of *not* are dropped, each of which may double them
OPEN: Final = 64  # paths of a sentence and type of which something is claimed; each two of them are a version, too
TOO_MANY: Final = "too many mentions of its sentence are claimed not to be there"
_NOTHING = 1e-9  # of the structures of a term: none is left


def with_claims(
    structure: Structure, engine: Engine, batch: Batch, gold: Gold, allowed: Mask, status: Status,
    types: tuple[str, ...],
) -> Readings:  # fmt: skip
    """Return what annotation allows with its claims.

    Args:
        structure: in which mentions are written.
        engine: of the structure.
        batch: N sentences of documents with claims, or without.
        gold: the mentions that are given; it gets claims about mentions that the structure cannot hold.
        allowed: (T, E, K) the hyperedges of the structures that are allowed without claims.
        status: (T, K) of each token and type.
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
    found, by_sentence = _laid(structure, batch, claims, gold, types)
    if not by_sentence:
        return Readings.of(allowed)
    given = MentionTable.build([row for row, _ in gold.held])
    corpus = Corpus(structure, engine, batch.sentences, given, status, types)
    literals = ClaimLiterals(corpus, found.table)
    plans = [Plan(sentence, conditions, literals) for sentence, conditions in sorted(by_sentence.items())]
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
    by_sentence: dict[int, list[Condition]] = {}

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
                by_sentence.setdefault(sentences.pop(), []).append(condition)
    return found, by_sentence


class _Builder:
    """Readings of a corpus from the plans of its sentences.

    Attributes: ``plans``; ``dropped``, the claims of sentences with too many of them that are left out.
    """

    def __init__(self, corpus: Corpus, batch: Batch, literals: ClaimLiterals, plans: Sequence[Plan]) -> None:
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
                for lane, sign, subset in one:
                    number = numbers[lane].setdefault(subset, len(numbers[lane]))
                    part.append((len(term), lane, len(owner) + number, sign))
                term.append(plan.sentence)
            several = max(map(len, numbers), default=0)  # a type with fewer has its first one again
            of_lane = [[*one, *[*one][:1] * (several - len(one))] for one in numbers]
            owner += [plan.sentence] * several
            version += [[lane[number] for lane in of_lane] for number in range(several)]
        masks, offsets = self._masks(np.array(owner, np.int64), version)
        parts = np.array(part, np.int64).reshape(-1, 4)
        found = Readings(allowed, np.array(owner, np.int64), offsets, masks, np.array(term, np.int64), parts)
        # without the terms that no structure is in
        impossible = np.flatnonzero((found.factors(self._sums(masks, offsets)) <= _NOTHING).any(1))
        kept = np.setdiff1d(np.arange(len(term)), impossible)
        left = set(found.term[kept].tolist())
        for plan in self.plans:
            if plan.sentence not in left:
                self._refuse(plan, "contradict each other, or the mentions that are there; leave one of them out")
        place = np.full(len(term), -1, np.int64)
        place[kept] = np.arange(len(kept))
        parts = parts[place[parts[:, 0]] >= 0]
        parts[:, 0] = place[parts[:, 0]]
        return found._replace(term=found.term[kept], part=parts)

    def _planned(self, apart: frozenset[Literals]) -> Iterator[tuple[Plan, list[list[tuple[int, int, Literals]]]]]:
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

    def _lighter(self, plan: Plan) -> Plan:
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

    def _terms(self, plan: Plan, most: int) -> list[tuple[Term, dict[int, list[Literals]]]]:
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

    def _same(self, plan: Plan, lane: int, bases: Sequence[Literals]) -> dict[Literals, Literals]:
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
        self, plan: Plan, term: Term, bases: dict[int, list[Literals]], apart: frozenset[Literals], most: int
    ) -> Iterator[tuple[int, int, Literals]]:
        """Yield the parts of a term's factors: type, sign, and the literals of a version."""
        for lane in range(self._width):
            if lane not in plan.lanes:
                yield lane, 1, NONE
                continue
            for base in bases[lane]:
                others = self._kept(plan.sentence, lane, base, plan.others(base, lane))
                for sign, subset in plan.factor(term, lane, base, others, apart, most):
                    yield lane, sign, subset

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
            corpus.structure, corpus.engine, table, encoded.edges, corpus.status[tokens], offsets, corpus.types
        ).view(np.uint8)
        for row in encoded.lost:  # what is given is not lost by itself
            lane = corpus.lane(int(table.kind[row]))
            masks[offsets[table.sentence[row]] : offsets[table.sentence[row] + 1], :, lane] = 0
        for number, lanes in enumerate(version):
            for lane, subset in enumerate(lanes):
                for literal in subset:
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

    def _refuse(self, plan: Plan, why: str) -> NoReturn:
        at, sentence = self.batch.locate(plan.sentence)
        document = clip(self.batch.documents[at].id)
        raise DataError(f"document {document}, sentence {sentence + 1}: the claims about its mentions {why}")


def _moved(table: MentionTable, sentence: int) -> MentionTable:
    """Return mentions as those of another sentence."""
    return MentionTable(np.full(len(table), sentence), *table[1:])
