"""The second stage behind a segmenter: candidates of the mentions' chain, and the best words beside what is chosen.

The stage is that of recognizers (`spanloom.rescoring`), with characters in place of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.features import FeatureSet
from spanloom.hypergraph import Floats, Ints, Potentials
from spanloom.learn.target import tokens_of
from spanloom.model.overlaps import OverlapRules
from spanloom.model.report import RescoringReport
from spanloom.parallel import SERIAL, Executor
from spanloom.rescoring import WORDS, Proposer, Rescorer, RescoringDevelopment, fit_rescorer
from spanloom.rescoring.candidates import CandidateMentions, merge, propose
from spanloom.rescoring.candidates import Words as CandidateWords
from spanloom.rescoring.explaining import whole_parts
from spanloom.rescoring.fitting import folds_of, names_of
from spanloom.rescoring.rescorer import ScoredCandidates
from spanloom.scoring import LinearScorer, Part
from spanloom.segment.chains import Chains, Scored
from spanloom.segment.corpus import Corpus
from spanloom.segment.model import Decoded, SegmenterModel
from spanloom.structures import MentionTable
from spanloom.structures.base import concatenate
from spanloom.structures.chain import Bilou
from spanloom.structures.product import MENTION_CHAIN, Labels, Product


@dataclass(frozen=True)
class MentionSide:
    """The chain that gives mentions their probabilities, as a first stage: its mentions, without words.

    Args:
        side: the chain with its potentials for a text.
    """

    side: Scored

    @property
    def types(self) -> tuple[str, ...]:
        """K names."""
        types = self.side.model.types
        return types[1:] if isinstance(self.side.model.structure, Product) else types

    @property
    def structure(self) -> Bilou:
        """What holds the mentions."""
        return MENTION_CHAIN

    def under(
        self, penalties: Sequence[float], potentials: Potentials, offsets: Ints, reading: str = "enough",
        run: Executor = SERIAL,
    ) -> tuple[MentionTable, Ints]:  # fmt: skip
        """Return the mentions of the best tags under each of some mention penalties, and its number of each."""
        sides = (self.side._replace(model=self.side.model.with_penalty(penalty)) for penalty in penalties)
        labels = [side._replace(potentials=potentials).best(offsets, run) for side in sides]
        tables = [MENTION_CHAIN.mentions_of(own.mentions, offsets) for own in labels]
        return concatenate(tables), np.repeat(np.arange(len(tables)), [len(table) for table in tables])

    def probabilities(
        self, potentials: Potentials, offsets: Ints, mentions: MentionTable, run: Executor = SERIAL, *,
        calibrated: bool = False,
    ) -> Floats:  # fmt: skip
        """Return the exact marginal of each mention."""
        queried = self.side.numbered(mentions)
        return self.side.model.probabilities(potentials, offsets, queried, run, calibrated=calibrated)


@dataclass(frozen=True, kw_only=True)
class Rescored(Decoded):
    """Result of a method and of the second stage behind it.

    Args:
        second: the second stage.
        scored: candidates and their log-odds.
        chosen: (C,) which of them are found.
        beside: the chain that the words were chosen by, whose tags keep to the mentions.
    """

    second: Rescorer
    scored: ScoredCandidates
    chosen: NDArray[np.bool_]
    beside: Scored | None

    def chances(self, queried: MentionTable, run: Executor = SERIAL) -> Floats:
        """Return the probability of each mention by the second stage, not calibrated."""
        scored = self.scored
        if not set(scored.candidates.table.rows()).issuperset(queried.rows()):
            side = self.side(words=False)
            scored = self.second.scored(MentionSide(side), self.text.batch, side.potentials, run=run, given=queried)
        found: Floats = np.exp(-np.logaddexp(0.0, -scored.odds[scored.rows_of(queried)]))
        return found

    def whole_parts(self, queried: MentionTable) -> tuple[Part, ...]:
        """Return the contributions of features of a mention as a whole."""
        side = self.side(words=False)
        return whole_parts(MentionSide(side), self.second, self.text.batch, side.potentials, queried)[1]

    def log_answers(self) -> Floats:
        """Return the log-probability of mentions and words of each sentence, (N,).

        Candidates are taken for independent; the words are as probable as given the mentions.
        """
        mentions = self.second.log_answers(self.scored, self.chosen, len(self.text.offsets) - 1)
        words = (self.beside or self.side(words=True)).log_answers(self.labels, self.text.offsets)
        return mentions + words


def rescored(
    decoded: Decoded, second: Rescorer, scored: ScoredCandidates | None = None, run: Executor = SERIAL
) -> Rescored:
    """Return a result with the mentions that the second stage chooses.

    1. The mentions are the best set of candidates.
    2. Where constraints bind words and mentions, the words of a sentence whose mentions change are the best ones that
       conform to them; others do not change.

    Args:
        decoded: the result of a method.
        second: the second stage.
        scored: cross-validated candidates, in place of those of the second stage.
        run: how pieces of the work are run; the result does not depend on it.
    """
    side, offsets = decoded.side(words=False), decoded.text.offsets
    if scored is None:
        scored = second.scored(MentionSide(side), decoded.text.batch, side.potentials, run=run)
    chosen = second.chosen(scored)
    tags, _ = MENTION_CHAIN.tags_of(scored.candidates.table.take(chosen), offsets)
    labels, beside = Labels(decoded.labels.words, tags), None
    if isinstance(side.model.structure, Product):
        beside = _keeping_to(side, tags)
        changed = np.append(0, np.cumsum(tags != decoded.labels.mentions))
        bounds, positions = tokens_of(offsets, np.flatnonzero(np.diff(changed[offsets])))
        words = decoded.labels.words.copy()
        words[positions] = beside.take(positions).best(bounds, run).words
        labels = Labels(words, tags)
    return Rescored(
        labels, decoded.text, decoded.make_sides, decoded.solution, second.scalings, second=second, scored=scored,
        chosen=chosen, beside=beside,
    )  # fmt: skip


def _keeping_to(side: Scored, tags: Ints) -> Scored:
    """Return a chain of pairs in which only these tags of mentions are possible, (T,)."""
    model, roles = side.model, side.potentials.roles.copy()
    names = MENTION_CHAIN.tags(MentionSide(side).types)
    rows = np.array([model.engine.template.roles.index(name) for name in names])
    own = roles[np.arange(len(tags)), rows[tags]].copy()
    roles[:, rows] = -np.inf
    roles[np.arange(len(tags)), rows[tags]] = own
    return side._replace(potentials=Potentials(roles, side.potentials.constants))


def features_of_chains(chains: Chains) -> FeatureSet:
    """Return the features whose columns the second stage may read."""
    return chains.scorer.features if isinstance(chains.scorer, LinearScorer) else WORDS


class GoldMentions(NamedTuple):
    """Gold mentions of a corpus of characters.

    Args:
        table: those that tags hold.
        total: how many there are.
    """

    table: MentionTable
    total: int

    @classmethod
    def of(cls, corpus: Corpus) -> GoldMentions:
        """Return those of a corpus."""
        table = MENTION_CHAIN.mentions_of(corpus.labels.mentions, corpus.text.offsets)
        return cls(table, len(table) + corpus.missed)


def _sentences(corpus: Corpus, rows: Sequence[int]) -> Ints:
    """Return the numbers of the sentences of some documents."""
    firsts = corpus.text.batch.firsts
    return np.concatenate([np.arange(firsts[i], firsts[i + 1]) for i in rows])


def held_out_candidates(
    models: Sequence[tuple[SegmenterModel, Sequence[int]]], method: str, weight: float, known: Corpus,
    text: CandidateWords, run: Executor,
) -> CandidateMentions:  # fmt: skip
    """Return the candidates of training data, each fold's by a model of the others.

    Args:
        models: each with the numbers of the documents that it did not see.
        method, weight: of decoding.
        known: the training data.
        text: its sentences.
        run: how pieces of the work are run.
    """
    parts, offsets = [], known.text.offsets
    for model, rows in models:
        own = _sentences(known, rows)
        bounds, characters = tokens_of(offsets, own)
        side = model.decode(known.take(rows).text, method, weight=weight, run=run).side(words=False)
        found = propose(MentionSide(side), side.potentials, text.take(own, characters, bounds), run=run)
        parts.append(found.renumbered(own))
    return merge(parts)


def fit_second(
    model: SegmenterModel, known: Corpus, tuning: Corpus, decoded: Decoded,
    models: Sequence[tuple[SegmenterModel, Sequence[int]]], method: str, weight: float, seed: int, run: Executor, *,
    every: bool,
) -> tuple[Rescorer | None, RescoringReport | None, ScoredCandidates | None]:  # fmt: skip
    """Train the second stage; arguments and result are those of `spanloom.rescoring.fit_rescorer`.

    Args:
        model: the first stage.
        known, tuning: training and development data.
        decoded: the output of the first stage for the development data.
        models: of folds of the training data, each with the documents that it did not see. Without them the second
            stage is trained on the development data.
        method, weight: of decoding.
        seed: deals sentences to folds, where they have none.
        run: how pieces of the work are run; the result does not depend on it.
        every: whether it scores all candidates.
    """
    side, gold = decoded.side(words=False), GoldMentions.of(tuning)
    development = RescoringDevelopment(decoded.text.batch, side.potentials, gold)
    first = Proposer(
        MentionSide(side), features_of_chains(model.parts[-1]), "enough",
        tuning.each_f1(decoded.labels)[1], None, None,
    )  # fmt: skip
    rules = OverlapRules.of_ways((), len(model.types))
    if models:
        fold = np.zeros(len(known.text.offsets) - 1, np.int64)
        for number, (_, rows) in enumerate(models):
            fold[_sentences(known, rows)] = number

        def held_out(text: CandidateWords, *_: object) -> CandidateMentions:
            return held_out_candidates(models, method, weight, known, text, run)

        first, train, own = first._replace(held_out=held_out), known.text.batch, GoldMentions.of(known)
    else:
        seen = names_of(known.text.batch, GoldMentions.of(known).table)
        first, train, own = first._replace(seen=seen), decoded.text.batch, gold
        fold = folds_of(train, seed)
    return fit_rescorer(first, train, own, development, rules, run, fold, every=every)
