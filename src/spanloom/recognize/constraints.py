"""Constraints on predictions: mentions that stay, that must be there, that may not be, and types never inside others.

A structure *has* a mention if it keeps to a path of it, as in the definition of the mention's probability. Constraints
on mentions are demands on paths (`spanloom.hypergraph.guards`), so the best structure and all probabilities are those
of the structures that meet them. A rule such as *drug never inside problem* is about pairs: the best structure that has
no such pair is searched by branch and bound, from the best one on, forbidding one mention of a pair or the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document, Mention
from spanloom.document.document import named
from spanloom.document.span import found_mention
from spanloom.errors import DataError, UsageError, clip, meant, plural
from spanloom.hypergraph import Edges, Floats, Ints, Potentials
from spanloom.hypergraph.guards import Demands, GuardedEngine
from spanloom.model.choices import WhichMentions
from spanloom.model.corpus import Gold, Notice, uncollected
from spanloom.model.overlaps import OverlapRules, best_set, edges_of_kept
from spanloom.model.pairs import NESTED, overlapping
from spanloom.model.structured import AnyModel
from spanloom.recognize.expressions import ANY, Pattern, pattern_of
from spanloom.recognize.finding import Finder, Found, OneStage, TwoStages
from spanloom.rescoring.candidates import FARTHEST, GIVEN
from spanloom.rescoring.rescorer import ScoredCandidates
from spanloom.structures import MentionTable
from spanloom.structures.base import concatenate, identities

MOST_STEPS: Final = 1000  # of the search of a sentence's best structure without forbidden pairs
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Constraints:
    """Constraints on the mentions that a recognizer finds.

    An entry of ``require`` and ``forbid`` is a text, ``"type: words"`` or ``"type: /regular expression/"``, with the
    type ``*`` for all; or a `Document` with mentions, which are meant in the document of the same id. Mentions without
    a gap are forbidden if their whole text matches; all occurrences as whole words are required. ``"drug inside
    problem"`` forbids mentions of a type whose tokens lie within those of a longer mention of another.

    Args:
        keep: whether the documents' own mentions stay as they are; or documents whose mentions stay.
        require: mentions that must be found.
        forbid: mentions that must not be found.

    Raises:
        UsageError: an entry has another form.

    >>> from spanloom import Document, Mention, Recognizer
    >>> documents = [Document("no chest pain", mentions=[Mention("problem", [(3, 13)])])] * 50
    >>> recognizer = Recognizer(features=["bias", "w[0]", "w[-1]"]).fit(documents)
    >>> rules = Constraints(forbid=["problem: chest pain"], require=["problem: pain"])
    >>> recognizer.predict("no chest pain", constraints=rules).mentions[0].spans
    (Span(start=9, end=13),)
    """

    keep: bool | Sequence[Document] = False
    require: Sequence[str | Document] = ()
    forbid: Sequence[str | Document] = ()
    _used: set[str] = field(default_factory=set, repr=False, compare=False)
    _types: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("require", "forbid"):
            entries = getattr(self, name)
            if isinstance(entries, str | Document):
                object.__setattr__(self, name, (entries,))
            elif not all(isinstance(one, str | Document) for one in entries):
                raise UsageError(f"{name}: expected texts such as 'problem: pain scale', or documents with mentions")
        _ = self._patterns, self.nesting

    @cached_property
    def _patterns(self) -> dict[str, list[Pattern]]:
        parsed = {
            n: [pattern_of(one, n, self._types) for one in getattr(self, n) if isinstance(one, str)]
            for n in ("require", "forbid")
        }
        return {name: [one for one in found if isinstance(one, Pattern)] for name, found in parsed.items()}

    @cached_property
    def nesting(self) -> list[tuple[str, str]]:
        """Types of which the first may not be inside the second."""
        found = (pattern_of(one, "forbid", self._types) for one in self.forbid if isinstance(one, str))
        return [one for one in found if not isinstance(one, Pattern)]

    @cached_property
    def _given(self) -> dict[str, dict[str, Document]]:
        """Mentions of documents, by the option and the id, or the text of one without an id."""
        keep: Sequence[Document] = () if isinstance(self.keep, bool) else self.keep
        entries: dict[str, Sequence[str | Document]] = {"keep": keep, "require": self.require, "forbid": self.forbid}
        given: dict[str, dict[str, Document]] = {name: {} for name in entries}
        for name, own in entries.items():
            for one in own:
                if isinstance(one, Document):
                    before = given[name].setdefault(one.id or one.text, one.copy(mentions=[]))
                    if before.text != one.text:
                        raise UsageError(
                            f"{name}: two documents with other texts have the id {clip(one.id)}; rename one"
                        )
                    before.mentions += one.mentions
        return given

    def check(self, types: Sequence[str]) -> None:
        """Check that the types are those of a model.

        Raises:
            UsageError: one is not.
        """
        named = [one.type for own in self._patterns.values() for one in own]
        named += [name for rule in self.nesting for name in rule]
        named += [one.type for own in self._given.values() for document in own.values() for one in document.mentions]
        for name in named:
            if name != ANY and name not in types:
                raise UsageError(
                    f"constraints name the type {name!r}, expected one of {', '.join(types)}, or *{meant(name, types)}"
                )

    def rules(self, types: Sequence[str]) -> OverlapRules:
        """Return which types may nest."""
        found = OverlapRules.free(len(types))
        for inner, outer in self.nesting:
            ins, outs = ([k for k, name in enumerate(types) if one in (ANY, name)] for one in (inner, outer))
            found.allowed[NESTED][np.ix_(outs, ins)] = False
        return found

    def kept(self, document: Document) -> list[Mention]:
        """Return the mentions of a document that stay."""
        return list(document.mentions) if self.keep is True else self._of("keep", document)

    def _of(self, option: str, document: Document) -> list[Mention]:
        given = self._given[option].get(document.id or document.text)
        if given is None:
            return []
        self._used.add(f"{option} {document.id or document.text}")
        if given.text != document.text:
            raise DataError(
                f"{named(document)}: the {option} constraints are about another text of this id; give "
                "mentions of the same text"
            )
        return list(given.mentions)

    def warn_unused(self, notice: Notice) -> None:
        """Report texts without an occurrence, and how many documents' constraints had no document with their id."""
        for option, spec in [(option, one.spec) for option, own in self._patterns.items() for one in own]:
            if f"{option}: {spec}" not in self._used:
                notice(f"{option} {spec!r}: no document read has such words")
        unused = sum(f"{option} {key}" not in self._used for option, own in self._given.items() for key in own)
        if unused:
            notice(f"constraints of {plural(unused, 'document')} were not used: no document read has their id")

    @cached_property
    def _named(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """Documents that something is given about, and words of which a document has one if a pattern may occur."""
        documents = frozenset(key for given in self._given.values() for key in given)
        return documents, tuple({one.word for own in self._patterns.values() for one in own})

    def _concerns(self, document: Document) -> bool:
        """Return whether something may be required or forbidden in a document."""
        documents, words = self._named
        return (
            bool(self.keep is True and document.mentions)
            or (document.id or document.text) in documents
            or any(map(document.text.__contains__, words))
        )

    def demands(
        self, document: Document, types: Sequence[str], *, all_patterns: bool = True
    ) -> tuple[list[Mention], list[Mention]]:
        """Return the mentions that a prepared document must have, and those that it may not have.

        Args:
            document: with tokens and sentences.
            types: of the model.
            all_patterns: whether forbidden regular expressions are included, for which else there is `_matched`.
        """
        found = {option: self._of(option, document) for option in ("require", "forbid")}
        for option, mentions in found.items():
            for one in self._patterns[option]:
                if one.word not in document.text or not (one.word or option == "require" or all_patterns):
                    continue
                names = types if one.type == ANY else [one.type]
                found_in = one.occurrences(document) if option == "require" else one.mentions(document, len(names))
                if spans := list(found_in):
                    self._used.add(f"{option}: {one.spec}")
                    mentions += [found_mention(name, [span], None, (), None) for span in spans for name in names]
        return self.kept(document) + found["require"], found["forbid"]

    def _matched(self, batch: Batch, types: Sequence[str]) -> MentionTable:
        """Return all mentions that forbidden regular expressions match."""
        expressions = [one for one in self._patterns["forbid"] if not one.word]
        found = [one.table(batch, types) for one in expressions]
        self._used.update(f"forbid: {one.spec}" for one, table in zip(expressions, found, strict=True) if len(table))
        return concatenate([MentionTable.build([]), *found])

    def lay(self, batch: Batch, way: Finder) -> Laid | None:
        """Return what is demanded of a batch; ``None`` where that is nothing.

        Args:
            batch: prepared documents.
            way: whose structures must meet it; a second stage has what is required and the structure cannot hold.

        Raises:
            DataError: a required mention that the model cannot hold, or that is forbidden.
            UsageError: the structure finds heads.
        """
        model = way.model
        if model.structure.heads:
            raise UsageError(
                f"the structure {model.structure} finds heads, which constraints do not support; take another model"
            )
        rules, matched = self.rules(model.types), self._matched(batch, model.types)
        mentions: list[list[Mention]] = []
        counts = np.zeros(len(batch.documents), np.int64)
        with uncollected():
            for i, document in enumerate(batch.documents):
                own: list[Mention] = []
                other: list[Mention] = []
                if self._concerns(document):
                    own, other = self.demands(document, model.types, all_patterns=False)
                mentions.append(own + other)
                counts[i] = len(own)
        if not rules.forbid and not any(mentions) and not len(matched):
            return None
        gold = Gold(batch, model.types, mentions=mentions)
        document_of, number = gold.places.T
        must = number < counts[document_of]
        forbidden = concatenate([gold.table.take(~must), matched])
        forbidden = forbidden.take(_first(forbidden))
        rows, once = np.flatnonzero(must), np.zeros(len(must), np.bool_)
        once[rows[_first(gold.table.take(must))]] = True
        gold.keep(once)
        required_mentions = [
            (batch.documents[i], one) for i in np.flatnonzero(counts).tolist() for one in mentions[i][: counts[i]]
        ]
        unheld = self._unheld(gold, required_mentions, batch, model, rules)
        if not isinstance(way, TwoStages):
            for row, reason in sorted(unheld.items()):
                refuse(*gold.owner(row), reason)
        required = gold.table
        demanded = required.take(~np.isin(np.arange(len(required)), list(unheld)))
        required, demanded, forbidden = (own.take(own.order()) for own in (required, demanded, forbidden))
        both = _are_in(identities(required), forbidden)
        laid = Laid(batch, model.types, required, demanded, forbidden, rules)
        if both.any():
            laid.refuse(required.take(both), "is required, and it is forbidden; leave one of the two out")
        return laid

    def _unheld(
        self, gold: Gold, required: Sequence[tuple[Document, Mention]], batch: Batch, model: AnyModel,
        rules: OverlapRules,
    ) -> dict[int, str]:  # fmt: skip
        """Return why the structure cannot hold required mentions, by row of ``gold``; refuse what nothing can hold."""
        types = frozenset(model.types)
        for document, mention in required:
            if mention.type not in types:
                refuse(document, mention, f"the model has other types ({', '.join(model.types)})")
        owners = {id(mention): document for document, mention in required} if gold.lost else {}
        for one in gold.lost:
            if id(one.mention) in owners:
                refuse(owners[id(one.mention)], one.mention, one.reason)
        table = gold.table
        held = model.structure.holds(table)
        reasons = dict.fromkeys(np.flatnonzero(~held).tolist(), f"the structure {model.structure} cannot hold it")
        several = np.flatnonzero(np.bincount(table.sentence)[table.sentence] > 1)
        if len(several):
            encoded = model.structure.encode(table.take(several), batch.sentences, model.types).lost
            reasons |= {int(several[row]): reason for row, reason in encoded.items()}
        order = table.order()
        pairs, _ = overlapping(table.take(order), rules.allowed)
        if len(pairs.one):
            owner, outer = gold.owner(int(order[pairs.one[0]]))
            _, inner = gold.owner(int(order[pairs.other[0]]))
            refuse(
                owner,
                inner,
                f"it is inside the required mention of type {clip(outer.type)} at {_where(outer)}, which is forbidden",
            )
        return reasons

    def restored(self, given: Iterable[Document], found: Iterable[Document]) -> Iterator[Document]:
        """Yield documents whose kept mentions have what they had before, and what is new."""
        if not self.keep:
            yield from found
            return
        for own, document in zip(given, found, strict=True):
            described = {
                one.key: one
                for one in self.kept(own)
                if one.id is not None or one.head or one.concepts or one.attributes
            }
            if described:
                document.mentions = [
                    _merged(described[one.key], one) if one.key in described else one for one in document.mentions
                ]
            yield document


def constraints_of(
    given: Constraints | Mapping[str, Any] | None, types: Sequence[str], mentions: WhichMentions = "find"
) -> Constraints | None:
    """Return constraints that are given as such, or as a mapping of their arguments; ``None`` without any.

    Raises:
        UsageError: it is neither, a type is unknown to the model, or the mentions are given.
    """
    if given is None:
        return None
    if isinstance(given, Mapping) and given.keys() <= {"keep", "require", "forbid"}:
        given = Constraints(**given)
    if not isinstance(given, Constraints):
        raise UsageError(f"constraints are {given!r}, expected Constraints, or a mapping with keep, require and forbid")
    if not (given.keep or given.require or given.forbid):
        return None
    if mentions == "given":
        raise UsageError("constraints are on mentions that are found, but mentions are given; leave one of the two out")
    found = replace(given, _types=tuple(types))
    found.check(types)
    return found


@dataclass(frozen=True, eq=False)
class Laid:
    """Constraints on a batch, as tables.

    Args:
        batch: the batch.
        types: K names.
        required, demanded, forbidden: mentions, in order; those that are required and that the structure holds are
            demanded.
        rules: which types may nest.
    """

    batch: Batch
    types: Sequence[str]
    required: MentionTable
    demanded: MentionTable
    forbidden: MentionTable
    rules: OverlapRules

    def demands(self, model: AnyModel, sentence: int | None = None, more: Sequence[MentionTable] = ()) -> Demands:
        """Return the demands on structures; of one sentence as if it were alone, with more forbidden mentions."""
        required, forbidden = self.demanded, concatenate([self.forbidden, *more])
        forbidden = forbidden.take(model.structure.holds(forbidden))
        if sentence is not None:
            required, forbidden = (
                MentionTable(np.zeros(len(table), np.int64), *table[1:])
                for table in (one.take(one.sentence == sentence) for one in (required, forbidden))
            )
        table = concatenate([required, forbidden])
        paths = model.structure.paths(table, self.types)
        owner = np.repeat(np.arange(len(table)), len(paths.sentence) // max(len(table), 1))
        return Demands(paths, owner, np.arange(len(table)) < len(required))

    def find(self, way: Finder, potentials: Potentials, notice: Notice) -> Found:
        """Find the mentions of the batch, as `Finder.find` does.

        Raises:
            DataError: nothing meets the constraints.
        """
        model, offsets, guarded = way.model, self.batch.sentences, self._guarded(way.model)
        engine = guarded.engine
        if isinstance(way, TwoStages) and way.reading != "all":  # what the best structures are does not matter
            return self._candidates(way, guarded, potentials)
        best = engine.viterbi(model.penalized(potentials), offsets, way.run)
        for sentence, _ in np.argwhere(np.isneginf(best.score)).tolist():
            self.refuse_sentence(sentence)
        way.warn_crowded(self.batch, best.edges, notice)
        if isinstance(way, TwoStages):
            return self._candidates(way, guarded, potentials)
        assert isinstance(way, OneStage)
        edges = self._without_pairs(model, potentials, best.edges)
        table = model.structure.decode(edges, offsets, self.types, way.reading)
        missing = ~np.isin(identities(self.required), identities(table))
        table = MentionTable.merge([table, self.required.take(missing)])
        marginals = guarded.probabilities(potentials, offsets, table, way.run, calibrated=False)
        kept, required = self._select(way.rules, table, np.maximum(marginals, np.finfo(np.float64).tiny))
        if not kept.all():
            edges = edges_of_kept(model, edges, table, kept, offsets)
        scores = np.where(required, 1.0, model.scalings.mentions(marginals))[kept]
        return Found(table.take(kept), scores, lambda: guarded.answers(potentials, offsets, edges))

    def plausible(self, way: Finder, potentials: Potentials) -> tuple[MentionTable, Floats]:
        """Return the mentions that have a chance under the constraints, as `Finder.plausible`."""
        guarded = self._guarded(way.model)
        table, scores = replace(way, model=guarded).plausible(self.batch, potentials)
        allowed = ~_are_in(identities(table), self.forbidden)
        held = np.flatnonzero(guarded.structure.holds(table))
        chances = guarded.probabilities(potentials, self.batch.sentences, table.take(held), way.run, calibrated=False)
        allowed[held] &= chances > 0
        return table.take(allowed), scores[allowed]

    def _guarded(self, model: AnyModel) -> AnyModel:
        """Return a model of the structures that meet the demands."""
        lanes = model.structure.lanes(self.types)
        return replace(model, engine=GuardedEngine(model.engine, self.batch.sentences, lanes, self.demands(model)))

    def _candidates(self, way: TwoStages, guarded: AnyModel, potentials: Potentials) -> Found:
        """Find the best set of candidates that meets the constraints."""
        second = way.second
        scored = second.scored(guarded, self.batch, potentials, way.reading, way.run, self.required)
        every, names = scored.candidates.table, identities(scored.candidates.table)
        # a required mention that the structure holds has probability 1, or 0 where no structure is left
        none = np.isin(names, identities(self.demanded)) & (scored.candidates.odds < 0)
        for sentence in every.sentence[none].tolist():
            self.refuse_sentence(sentence)
        # with a required mention others of the structure may be impossible, however sure the second stage is
        bound = np.isin(every.sentence, self.required.sentence) & (scored.candidates.odds <= -FARTHEST)
        bound &= guarded.structure.holds(every)
        allowed = ~_are_in(names, self.forbidden) & ~bound | _are_in(names, self.required)
        rows = np.flatnonzero(allowed)
        scored = ScoredCandidates(scored.candidates.take(rows), scored.odds[rows])
        table = scored.candidates.table
        weights = np.where(scored.candidates.level < GIVEN, second.margins(scored.candidates, scored.odds), -1.0)
        chosen, required = self._select(second.rules, table, weights)
        sure = scored._replace(odds=np.where(required, np.inf, scored.odds))  # those that are required are certain
        scores = np.where(required, 1.0, second.probabilities(scored.odds))[chosen]
        sentences = len(self.batch.sentences) - 1
        return Found(table.take(chosen), scores, lambda: second.answers(sure, chosen, sentences))

    def _select(self, learned: OverlapRules, table: MentionTable, weights: Floats) -> tuple[Mask, Mask]:
        """Return which mentions are the best set with all that are required, (M,), and which are required.

        Args:
            learned: which mentions may overlap; required mentions may do so even against these rules.
            table: M mentions, in order.
            weights: (M,) of each.
        """
        rules = OverlapRules(learned.allowed & self.rules.allowed, learned.gaps)
        required = np.isin(identities(table), identities(self.required))
        some = np.flatnonzero(((table.contiguous | rules.gaps[table.kind]) & (weights > 0)) | required)
        must, own, (conflicts, _) = required[some], weights[some], overlapping(table.take(some), rules.allowed)
        own[must] = -1.0
        own[conflicts.one[must[conflicts.other]]] = -1.0
        own[conflicts.other[must[conflicts.one]]] = -1.0
        chosen = required.copy()
        chosen[some[best_set(own, conflicts)]] = True
        return chosen, required

    def _without_pairs(self, model: AnyModel, potentials: Potentials, edges: Edges) -> Edges:
        """Return the best structures that have no two mentions of which one may not be inside the other."""
        if not self.rules.forbid:
            return edges
        offsets, scores = self.batch.sentences, model.penalized(potentials)
        broken = {int(outer[0]) for outer, _ in self._pairs(model, edges, offsets)}
        found = edges.copy()
        for sentence in sorted(broken):
            rows = slice(*offsets[sentence : sentence + 2].tolist())
            own = Potentials(scores.roles[rows], scores.constants)
            found[rows] = self._search(model, own, sentence)
        return found

    def _search(self, model: AnyModel, scores: Potentials, sentence: int) -> Edges:
        """Search the best structure of a sentence without such pairs by branch and bound.

        1. Of all branches that wait, take the one whose best structure has the highest score.
        2. If it has no pair, it is the best of all. Else branch: one mention of a pair is forbidden, or the other.

        After `MOST_STEPS` the one at hand is returned; one mention of each forbidden pair is then left out of it.
        """
        alone = np.array([0, len(scores.roles)])
        must = {row[1:] for row in self.required.take(self.required.sentence == sentence).rows()}
        waiting: list[tuple[float, int, tuple[Any, ...], Edges]] = []
        order = count()

        def branch(forbidden: tuple[Any, ...]) -> None:
            more = MentionTable.build([(sentence, *row) for row in forbidden])
            demands = self.demands(model, sentence, [more])
            best = GuardedEngine(model.engine, alone, model.structure.lanes(self.types), demands).viterbi(scores, alone)
            if not np.isneginf(best.score).any():
                heappush(waiting, (-float(best.score.sum()), next(order), forbidden, best.edges))

        branch(())
        for _ in range(MOST_STEPS):
            if not waiting:
                self.refuse_sentence(sentence)
            _, _, forbidden, edges = heappop(waiting)
            pair = next(self._pairs(model, edges, alone), None)
            if pair is None:
                return edges
            for row in pair:
                if row[1:] not in must:
                    branch((*forbidden, row[1:]))
        return edges

    def _pairs(self, model: AnyModel, edges: Edges, offsets: Ints) -> Iterator[tuple[Any, Any]]:
        """Yield the pairs of mentions with a path that may not nest: the outer one, and the inner one."""
        table = model.structure.decode(edges, offsets, self.types, "all")
        table = table.take(table.order())
        conflicts, _ = overlapping(table, self.rules.allowed)
        if len(conflicts.one):
            rows = table.rows()
            yield from ((rows[one], rows[other]) for one, other in zip(conflicts.one, conflicts.other, strict=True))

    def refuse(self, table: MentionTable, why: str) -> NoReturn:
        """Refuse the first of some mentions."""
        document, _ = self.batch.locate(int(table.sentence[0]))
        raise DataError(f"{named(self.batch.documents[document])}: {self._shown(table.take(np.arange(1)))} {why}")

    def refuse_sentence(self, sentence: int) -> NoReturn:
        """Refuse constraints on a sentence that contradict each other."""
        document, number = self.batch.locate(sentence)
        parts = [
            f"{what} {self._shown(own)}"
            for what, table in (("required", self.required), ("forbidden", self.forbidden))
            if len(own := table.take(table.sentence == sentence))
        ]
        raise DataError(
            f"{named(self.batch.documents[document])}, sentence {number + 1}: no structure meets the "
            f"constraints: {'; '.join(parts)}; leave one of them out"
        )

    def _shown(self, table: MentionTable) -> str:
        base = self.batch.sentences[table.sentence]
        shown = []
        for number, (_, kind, pieces) in enumerate(table.rows()):
            tokens = self.batch.tokens[base[number] :]
            where = ";".join(f"{tokens[first, 0]}-{tokens[end - 1, 1]}" for first, end in pieces)
            shown.append(f"characters {where} as {clip(self.types[kind])}")
        return ", ".join(shown[:5]) + (f" and {len(shown) - 5} more" if len(shown) > 5 else "")


def _first(table: MentionTable) -> Ints:
    """Return the number of the first of equal mentions, for each different one."""
    found: Ints = np.unique(identities(table), return_index=True)[1]
    return found


def _are_in(names: NDArray[np.uint64], table: MentionTable) -> Mask:
    """Return whether the mentions of some `identities` are in a table, which may be much longer."""
    every = np.sort(identities(table))
    return np.searchsorted(every, names, side="right") > np.searchsorted(every, names)


def _where(mention: Mention) -> str:
    return ";".join(f"{start}-{end}" for start, end in mention.spans)


def refuse(document: Document, mention: Mention, why: str) -> NoReturn:
    """Refuse a required mention."""
    raise DataError(
        f"{named(document)}: characters {_where(mention)} are required to be a mention of type "
        f"{clip(mention.type)}, but {why}; leave it out"
    )


def _merged(kept: Mention, found: Mention) -> Mention:
    """Return a kept mention, in which values that it lacks are those of the found one."""
    changes: dict[str, Any] = {"score": found.score}
    if not kept.concepts and found.concepts:
        changes |= {"concepts": found.concepts, "concept_scores": found.concept_scores}
    if found.attributes and not kept.attributes:
        changes |= {"attributes": found.attributes, "attribute_scores": found.attribute_scores}
    return kept.replace(**changes)
