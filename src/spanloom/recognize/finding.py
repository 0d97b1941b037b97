"""Mentions of batches, by the best structure alone or by the second stage behind it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spanloom.document import Batch, Document
from spanloom.document.document import named
from spanloom.hypergraph import Edges, Floats, Potentials
from spanloom.model.corpus import Notice, place
from spanloom.model.overlaps import OverlapRules, best_consistent
from spanloom.model.structured import AnyModel
from spanloom.parallel import Executor
from spanloom.rescoring import Rescorer
from spanloom.structures import MOST_MENTIONS, MentionTable
from spanloom.structures.base import concatenate, identities

__all__ = ["Finder", "Found"]

_LOWEST = (-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)  # mention penalties; with 7, one at odds of 1 to 1,000


class Found(NamedTuple):
    """Mentions of a batch.

    Args:
        table: M mentions, by sentence and first token.
        scores: (M,) calibrated probabilities.
        answers: gives the calibrated probability that all of a sentence is right, (N,).
    """

    table: MentionTable
    scores: Floats
    answers: Callable[[], Floats]


@dataclass(frozen=True)
class Finder(ABC):
    """A way from potentials to mentions.

    Args:
        model: the trained model of tokens.
        reading: of overlapping mentions.
        run: how pieces of the work are run; the result does not depend on it.
    """

    model: AnyModel
    reading: str
    run: Executor

    @abstractmethod
    def find(self, batch: Batch, potentials: Potentials, notice: Notice) -> Found:
        """Find the mentions of a batch, and report sentences where the reading ``all`` is cut short."""

    @abstractmethod
    def plausible(self, batch: Batch, potentials: Potentials) -> tuple[MentionTable, Floats]:
        """Return all mentions that have a chance of about one in a thousand, found or not, and their probabilities."""

    @abstractmethod
    def under(self, batch: Batch, potentials: Potentials, penalties: Sequence[float]) -> Iterator[MentionTable]:
        """Yield what is found with each of some mention penalties, in place of the tuned one."""

    @abstractmethod
    def probabilities(self, batch: Batch, potentials: Potentials, mentions: MentionTable) -> Floats:
        """Return the calibrated probability of each mention, found or not."""

    def warn_crowded(self, batch: Batch, edges: Edges, notice: Notice) -> None:
        """Report sentences in which the reading ``all`` of the best structures is cut short."""
        if self.reading == "all":
            for crowd in self.model.structure.crowded(edges, batch.sentences, self.model.types):
                at, sentence = batch.locate(crowd.sentence)
                notice(
                    f"{named(batch.documents[at])}, sentence {sentence + 1}: {crowd.mentions:,} mentions of type "
                    f"{self.model.types[crowd.kind]!r} have a path; the reading 'all' gives the first {MOST_MENTIONS:,}"
                )

    def _proposed(self, batch: Batch, potentials: Potentials) -> MentionTable:
        """Return the mentions of the best structures under many penalties, each once."""
        models = (self.model.with_penalty(penalty) for penalty in _LOWEST)
        every = concatenate([model.decode(potentials, batch.sentences, self.reading, self.run) for model in models])
        _, kept = np.unique(identities(every), return_index=True)
        return every.take(np.sort(kept))

    def sweep(self, data: Iterable[Batch], penalties: Sequence[float]) -> list[list[Document]]:
        """Return the documents with what is found, for each penalty; features are scored once.

        Mentions have the score 1, not their probability.
        """
        found: list[list[Document]] = [[] for _ in penalties]
        for batch in data:
            potentials = self.model.scorer.score(batch, self.run)
            for marked, table in zip(found, self.under(batch, potentials, penalties), strict=True):
                marked += place(batch, table, self.model.types, np.ones(len(table)))
        return found


@dataclass(frozen=True)
class OneStage(Finder):
    """The best structure, without pairs of mentions that the rules forbid; probabilities are the mentions' marginals.

    Args:
        rules: which mentions may overlap.
    """

    rules: OverlapRules

    def find(self, batch: Batch, potentials: Potentials, notice: Notice) -> Found:
        model, offsets = self.model, batch.sentences
        best = best_consistent(model, self.rules, potentials, offsets, self.reading, self.run)
        self.warn_crowded(batch, best.edges, notice)
        scores = model.scalings.mentions(best.marginals)
        return Found(best.table, scores, lambda: model.answers(potentials, offsets, best.edges))

    def plausible(self, batch: Batch, potentials: Potentials) -> tuple[MentionTable, Floats]:
        table = self._proposed(batch, potentials)
        return table, self.probabilities(batch, potentials, table)

    def under(self, batch: Batch, potentials: Potentials, penalties: Sequence[float]) -> Iterator[MentionTable]:
        for penalty in penalties:
            model = self.model.with_penalty(penalty)
            yield best_consistent(model, self.rules, potentials, batch.sentences, self.reading, self.run).table

    def probabilities(self, batch: Batch, potentials: Potentials, mentions: MentionTable) -> Floats:
        return self.model.probabilities(potentials, batch.sentences, mentions, self.run)


@dataclass(frozen=True)
class TwoStages(Finder):
    """The best set of candidates, whose probabilities are those of the second stage.

    Args:
        second: the second stage.
    """

    second: Rescorer

    def find(self, batch: Batch, potentials: Potentials, notice: Notice) -> Found:
        if self.reading == "all":
            self.warn_crowded(batch, self.model.best(potentials, batch.sentences, self.run), notice)
        scored = self.second.scored(self.model, batch, potentials, self.reading, self.run)
        chosen = self.second.chosen(scored)
        scores = self.second.probabilities(scored.odds[chosen])
        table = scored.candidates.table.take(chosen)
        return Found(table, scores, lambda: self.second.answers(scored, chosen, len(batch.sentences) - 1))

    def plausible(self, batch: Batch, potentials: Potentials) -> tuple[MentionTable, Floats]:
        more = self._proposed(batch, potentials)
        scored = self.second.scored(self.model, batch, potentials, self.reading, self.run, more)
        return scored.candidates.table, self.second.probabilities(scored.odds)

    def under(self, batch: Batch, potentials: Potentials, penalties: Sequence[float]) -> Iterator[MentionTable]:
        scored = self.second.scored(self.model, batch, potentials, self.reading, self.run)
        for penalty in penalties:
            shifted = self.second.with_penalty(penalty - self.model.penalty)
            yield scored.candidates.table.take(shifted.chosen(scored))

    def probabilities(self, batch: Batch, potentials: Potentials, mentions: MentionTable) -> Floats:
        scored = self.second.scored(self.model, batch, potentials, self.reading, self.run, given=mentions)
        return self.second.probabilities(scored.odds[scored.rows_of(mentions)])
