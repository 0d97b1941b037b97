"""Training on several annotators of the same texts: estimate the true mentions and the quality of each annotator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document
from spanloom.document.annotation import AT_LEAST, COMPLETE, Status, completeness
from spanloom.document.annotators import key_of, versions_of
from spanloom.errors import DataError
from spanloom.hypergraph import Edges, Floats
from spanloom.learn import Listener, Progress, TrainingSet
from spanloom.learn.annotators import Agreed, Agreement, Voice, agree
from spanloom.learn.held_out import HELD_EPOCHS, Held
from spanloom.model.corpus import Gold, number_of_texts, place
from spanloom.model.partial import given_mentions, status_of_lanes
from spanloom.model.report import AnnotatorReport, AnnotatorsReport, Quality
from spanloom.model.structured import LinearModel
from spanloom.parallel import Executor
from spanloom.scoring import Weights
from spanloom.sparse import found_in
from spanloom.structures import MentionTable

Flags = NDArray[np.bool_]
_KINDS: Final = ((COMPLETE, True), (AT_LEAST, False))  # status, and whether unmarked text has no mentions


def versioned(documents: Sequence[Document]) -> bool:
    """Return whether documents hold the versions of several annotators."""
    return any(versions_of(one) for one in documents)


class _Annotator(NamedTuple):
    """An annotator.

    Args:
        name: of the annotator.
        covers: (D,) the texts that are annotated.
        status: (T, K) of each token and type.
        marks: (M,) which of all mentions the annotator marked, where the annotation is known.
    """

    name: str
    covers: Flags
    status: Status
    marks: Flags


class Annotating(NamedTuple):
    """A corpus with several annotators.

    Args:
        model: not trained yet.
        known: the corpus, with the mentions of all.
        gold: these mentions.
        headless: as of `Gold`.
    """

    model: LinearModel
    known: Batch
    gold: Gold
    headless: str | None

    def agree(
        self, data: TrainingSet, l2: float, rate: float, seed: int, run: Executor, callback: Listener
    ) -> tuple[TrainingSet, Weights, Batch, Gold, Edges, AnnotatorsReport]:  # fmt: skip
        """Return what is probably there.

        Args:
            data: the corpus, as if all that any annotator marked were there.
            l2, rate, seed: of the models that predict mentions from the text.
            run: how pieces of the work are run.
            callback: called for each round.

        Returns:
            The corpus with the annotation of all annotators as its target; weights at which training starts; the
            documents with the likeliest mentions; these mentions; their structures (T, K, D); and the report.

        Raises:
            DataError: no annotation of a type is complete anywhere, or there is one sentence.
        """
        if len(data.offsets) <= 2:
            raise DataError("several annotators have marked one training sentence; give two at least")
        documents, types = self.known.documents, self.model.types
        annotators = []
        for name in dict.fromkeys(name for one in documents for name in versions_of(one)):  # as they come
            covers = np.array([name in versions_of(one) for one in documents], bool)
            status = _status(self.known, name, types)
            own = [name in (own := versions_of(d)) and key_of(m) in own[name].mentions for d, m in self.gold.owners]
            marks = np.array(own, bool) & given_mentions(self.gold.table, status, self.known.sentences)
            annotators.append(_Annotator(name, covers, status, marks))
        starts = np.array(self.model.start_rows, np.int64)
        voices = [voice for one in annotators for voice in self._voices(one)]
        lanes = np.zeros(self.model.structure.lanes(self.model.types), bool)
        for voice in voices:  # each type has text that is known to have none
            lanes |= voice.whole & voice.speaks.any(0)
        if not lanes.all():
            name = self.model.types[int(np.argmin(lanes))]
            raise DataError(
                f"no annotator's annotation of type {name!r} is complete anywhere, so it is unknown where there are no "
                "mentions; give some that is (meta.annotation)"
            )
        settings = Agreement(starts, Held(l2, HELD_EPOCHS, rate, seed))
        found = agree(
            data, voices, settings, run, lambda number: callback(Progress("weighing the annotators", number))
        )  # fmt: skip
        known, gold, edges = self._likeliest(found, run)
        report = self._report(annotators, self._chances(found, run), gold)
        return replace(data, target=found.target), found.start, known, gold, edges, report

    def _voices(self, one: _Annotator) -> list[Voice]:
        """Return an annotator's voices: where annotation is complete, and where it is not."""
        model, offsets = self.model, self.known.sentences
        edges = model.structure.encode(self.gold.table.take(one.marks), offsets, model.types).edges
        status = status_of_lanes(model.structure, one.status)
        starts = np.array(model.start_rows, np.int64)
        return [
            Voice.of(model.engine, offsets, edges, starts, status == word, whole)
            for word, whole in _KINDS
            if (status == word).any()
        ]

    def _likeliest(self, found: Agreed, run: Executor) -> tuple[Batch, Gold, Edges]:
        """Return the corpus with the mentions of the likeliest structures."""
        model, known = self.model, self.known
        edges = np.full((len(known.tokens), model.structure.lanes(model.types), model.engine.depth), -1, np.int16)
        for fold in found.folds:
            edges[fold.tokens] = model.engine.viterbi(fold.potentials, fold.offsets, run).edges
        table = model.structure.decode(edges, known.sentences, model.types)
        documents = tuple(place(known, table, model.types))
        agreed = replace(known, documents=documents)
        gold = Gold(agreed, model.types, self.headless)
        encoded = model.structure.encode(gold.table, known.sentences, model.types)
        gold.lost += self.gold.lost
        gold.total += len(self.gold.lost)
        return agreed, gold, encoded.edges

    def _chances(self, found: Agreed, run: Executor) -> Floats:
        """Return (M,) the probability of each mention that any annotator marked, given what all did."""
        table, chances = self.gold.table, np.zeros(len(self.gold.table))
        holds = self.model.structure.holds(table)
        for fold in found.folds:
            order = np.argsort(fold.sentences)
            place = found_in(fold.sentences[order], table.sentence)
            rows = np.flatnonzero(holds & (place >= 0))
            own = MentionTable(order[place[rows]], *table.take(rows)[1:])  # as the fold counts sentences
            chances[rows] = self.model.probabilities(fold.potentials, fold.offsets, own, run, calibrated=False)
        return chances

    def _report(self, annotators: Sequence[_Annotator], chances: Floats, gold: Gold) -> AnnotatorsReport:
        owner = self.known.owners[self.known.sentences[self.gold.table.sentence]]
        holds = self.model.structure.holds(self.gold.table)
        number = np.sum([one.covers for one in annotators], axis=0)
        reports = {}
        for one in annotators:
            covered = one.covers[owner] & holds
            types = {
                name: _quality(chances, one.marks, covered & (self.gold.table.kind == k))
                for k, name in enumerate(self.model.types)
            }
            reports[one.name] = AnnotatorReport(
                documents=self._texts(one.covers), overall=_quality(chances, one.marks, covered),
                agreement=_agreement(one, annotators, owner), types=types,
            )  # fmt: skip
        return AnnotatorsReport(reports, self._texts(number > 0), self._texts(number > 1), len(gold.table))

    def _texts(self, which: Flags) -> int:
        return number_of_texts(compress(self.known.documents, which.tolist()))


def _status(known: Batch, name: str, types: Sequence[str]) -> Status:
    """Return (T, K) the completeness of an annotator's annotation; it is unknown in texts of others."""
    documents = []
    for one in known.documents:
        own = versions_of(one).get(name)
        word = "unknown" if own is None else "complete" if own.annotation is None else own.annotation
        documents.append(one.copy(meta={"annotation": word}))
    status = completeness(replace(known, documents=tuple(documents)), types)
    return np.full((len(known.tokens), len(types)), COMPLETE, np.uint8) if status is None else status


def _quality(chances: Floats, marks: Flags, among: Flags) -> Quality:
    """Return what of some mentions an annotator finds, and what is right."""
    own, every = float(chances[marks & among].sum()), float(chances[among].sum())
    number = int((marks & among).sum())
    return Quality(number, own / every if every else 0.0, own / number if number else 0.0)


def _agreement(one: _Annotator, annotators: Sequence[_Annotator], owner: NDArray[np.int64]) -> float:
    """Return the F1 of an annotator's mentions and those of all others, in the texts that they share."""
    both = either = 0
    for other in annotators:
        if other.name != one.name:
            shared = (one.covers & other.covers)[owner]
            both += 2 * int((one.marks & other.marks & shared).sum())
            either += int((one.marks & shared).sum() + (other.marks & shared).sum())
    return both / either if either else 1.0
