"""Calibration on development data: how often what a model is so sure of is right.

A probability of the model is that of its own distribution. Of the mentions that it *predicts* with 0.8, four in five
need not be right: the weights are fitted to training data, and the mention penalty decides which mentions are asked
about. Platt scaling, fitted to right and wrong predictions on development data, mends that and keeps the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document, Mention, Span
from spanloom.evaluate.compare import Item, Key, compare, exact, heads
from spanloom.evaluate.measures import calibration_error
from spanloom.evaluate.units import units
from spanloom.hypergraph import Floats, Potentials
from spanloom.learn.platt import FEWEST, IDENTITY, Platt, Scalings, fit_platt
from spanloom.model.corpus import Gold, place
from spanloom.model.overlaps import Consistent
from spanloom.model.structured import AnyModel
from spanloom.structures import MentionTable


@dataclass(frozen=True)
class Check:
    """Probabilities of one kind on development data.

    Args:
        count: predictions.
        before: expected calibration error of the exact probabilities, 0 to 1.
        after: of the calibrated ones, on the predictions that the map was fitted to.
        slope, intercept: of the map, in logits; 1 and 0 where there are too few predictions to fit one.
    """

    count: int
    before: float
    after: float
    slope: float
    intercept: float

    @property
    def enough(self) -> bool:
        """True if there were enough predictions to fit the map."""
        return self.count >= FEWEST

    def __str__(self) -> str:
        """Before and after, or why there is one figure only."""
        if self.enough:
            return f"{100 * self.before:.1f} %, calibrated {100 * self.after:.1f} %"
        return f"not known: {self.count} in the development data are too few to calibrate with"


@dataclass(frozen=True)
class CalibrationReport:
    """Calibration errors on development data, before and after probabilities were calibrated.

    Args:
        mentions: scores of predicted mentions.
        answers: of sentences: probabilities that all of a sentence is right.
    """

    mentions: Check
    answers: Check

    def lines(self) -> Iterator[str]:
        """Yield lines on the calibration errors on development data, before and after calibration."""
        yield f"calibration error: mentions {self.mentions}"
        yield f"calibration error: whole sentences {self.answers}"


def calibrate(
    tagger: AnyModel, batch: Batch, potentials: Potentials, best: Consistent
) -> tuple[AnyModel, CalibrationReport]:
    """A tagger with maps fitted to what it predicts in development data.

    Args:
        tagger: trained, its penalty chosen.
        batch: documents with gold mentions.
        potentials: of its tokens.
        best: its predictions.
    """
    predicted = place(batch, best.table, tagger.types, best.marginals, 0.0)
    log_answers = tagger.log_answers(potentials, batch.sentences, best.edges)
    scalings, report = fit_scalings(batch.documents, predicted, log_answers, key_of(tagger))
    return replace(tagger, scalings=scalings), report


def key_of(model: AnyModel) -> Key:
    """Return what makes a mention of a model right."""
    return _headed if model.structure.heads else exact


def fit_scalings(
    gold: Sequence[Document], predicted: Sequence[Document], log_answers: Floats, key: Key = exact,
    wrong: NDArray[np.bool_] | None = None,
) -> tuple[Scalings, CalibrationReport]:  # fmt: skip
    """The maps, and what they do on the data that they are fitted to.

    Args:
        gold: documents with sentences.
        predicted: predictions for them, in their order, scored with exact marginals.
        log_answers: (N,) of each sentence.
        key: what makes a mention right.
        wrong: (N,) sentences that are wrong whatever their mentions are.
    """
    side = compare(gold, predicted, units(gold, predicted), key).predicted
    with np.errstate(divide="ignore"):
        log_scores = np.log(np.array([mention.score for mention in side.mentions], np.float64))
    kept, right = judged_sentences(gold, predicted, key)
    if wrong is not None:
        right &= ~wrong
    mentions, of_mentions = _fit(log_scores, side.hit)
    answers, of_answers = _fit(log_answers[kept], right[kept])
    return Scalings(mentions, answers), CalibrationReport(of_mentions, of_answers)


def _fit(log_probability: Floats, right: NDArray[np.bool_]) -> tuple[Platt, Check]:
    fitted = fit_platt(log_probability, right)
    before, after = (calibration_error(one.of_log(log_probability), right) for one in (IDENTITY, fitted))
    return fitted, Check(len(right), before, after, fitted.slope, fitted.intercept)


def judged_sentences(
    gold: Sequence[Document], predicted: Sequence[Document], key: Key = exact
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(N,) which sentences have tokens, and (N,) in which the mentions that begin there are the gold ones, no more.

    Args:
        gold: documents; their sentences count.
        predicted: predictions for them, in their order.
        key: what makes a mention right.
    """
    kept, right = [np.zeros(0, np.bool_)], [np.zeros(0, np.bool_)]
    for expected, found in zip(gold, predicted, strict=True):
        if expected.tokens is None or expected.sentences is None:
            continue
        full = expected.sentences[:, 0] < expected.sentences[:, 1]
        numbers = np.flatnonzero(full)
        starts = expected.tokens[expected.sentences[full, 0], 0]
        one, other = dict(key(expected)), dict(key(found))
        either = {**one, **other}
        odd = [either[item].start for item in one.keys() ^ other.keys()]
        same = np.ones(len(full), np.bool_)
        if len(numbers):
            same[numbers[np.maximum(np.searchsorted(starts, odd, side="right") - 1, 0)]] = False
        kept.append(full)
        right.append(same)
    return np.concatenate(kept), np.concatenate(right)


def _headed(document: Document) -> Iterator[Item]:
    """As `heads`, and a mention without a head is its own: so does training read it."""
    whole = [mention.replace(head=mention.head or Span(mention.start, mention.end)) for mention in document.mentions]
    return heads(document.copy(mentions=whole))


def probabilities_of(
    tagger: AnyModel, batch: Batch, headless: str | None, chances: Callable[[MentionTable], Floats]
) -> list[list[float]]:
    """Return the probability of each of the documents' own mentions; 0 for one that the structure cannot hold.

    Args:
        tagger: trained.
        batch: documents with mentions.
        headless: as for `Gold`.
        chances: gives the probabilities of mentions that the structure can hold.
    """
    table, owners = _held(tagger, batch, headless)
    scores = chances(table).tolist()
    known = {(id(document), mention): score for (document, mention), score in zip(owners, scores, strict=True)}
    return [[known.get((id(document), mention), 0.0) for mention in document.mentions] for document in batch.documents]


def held_mentions(tagger: AnyModel, batch: Batch, headless: str | None) -> list[list[bool]]:
    """Return whether the structure can hold each of the documents' own mentions, by itself.

    The arguments are those of `probabilities_of`. A mention of a type that the model does not know is not held.
    """
    known = {(id(document), mention) for document, mention in _held(tagger, batch, headless)[1]}
    return [[(id(document), mention) in known for mention in document.mentions] for document in batch.documents]


def _held(tagger: AnyModel, batch: Batch, headless: str | None) -> tuple[MentionTable, list[tuple[Document, Mention]]]:
    """Return the mentions that the structure can hold, each by itself, and whose they are."""
    gold = Gold(batch, tagger.types, headless)
    whole = tagger.structure.holds(gold.table)
    return gold.table.take(whole), [owner for owner, held in zip(gold.owners, whole.tolist(), strict=True) if held]


def answered(documents: Iterable[Document], probabilities: Floats) -> Iterator[Document]:
    """Documents with ``meta["answer"]``: the probability that all of it is right, and that of each sentence.

    Args:
        documents: prepared.
        probabilities: (N,) of their sentences.
    """
    at = 0
    for document in documents:
        count = document.sentence_count
        own = probabilities[at : at + count]
        answer = {"probability": float(own.prod()), "sentences": own.tolist()}
        yield document.copy(meta={**document.meta, "answer": answer})
        at += count
