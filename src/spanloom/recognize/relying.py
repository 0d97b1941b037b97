"""Guarantees: candidates that are mentions, that are not, and that need review, at promised rates.

Annotated documents that training has not seen give two thresholds: candidates from the upper one on are right often
enough, and so few gold mentions lie below the lower one that candidates there may be left out. Both are found by tests
(Learn then Test, Angelopoulos et al. 2021): a threshold is taken only if so good a result would be unlikely if the rate
were not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from math import exp, inf, log, log1p
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError, check_number, plural
from spanloom.formats.inputs import Given, documents_of
from spanloom.hypergraph import Floats, Ints
from spanloom.model.corpus import Notice
from spanloom.model.parameters import MentionEstimator

RELY: Final = "rely"
"""The attribute of a mention: ``yes``, ``ask`` or ``no``."""
DOUBT: Final = 0.01  # the chance, over annotated documents, that a rate is not kept
GAPS: Final = "gaps"
ALL: Final = "all"
_START, _STEP = 3.0, 1.05  # tests begin with three times as many candidates as could pass at all, each takes 5 % more
Mask = NDArray[np.bool_]


class Limits(NamedTuple):
    """What candidates of a group are, by their probability.

    Args:
        yes: from here on a mention; infinite where no threshold keeps the rate.
        no: below it none; 0 where no threshold keeps the rate.
        candidates, gold: of the annotated documents.
        own_yes, own_no: whether there were enough of the group, or the thresholds are those of all together.
    """

    yes: float
    no: float
    candidates: int
    gold: int
    own_yes: bool
    own_no: bool


class _Sample(NamedTuple):
    """Candidates, or gold mentions: their probabilities, whether one is an error, and their documents."""

    scores: Floats
    wrong: Mask
    document: Ints

    def take(self, rows: Mask) -> _Sample:
        return _Sample(self.scores[rows], self.wrong[rows], self.document[rows])


@dataclass(frozen=True)
class Reliance:
    """Thresholds that keep promised rates, by type, and for mentions with gaps.

    Args:
        rate: at least so many of the mentions labelled *yes* are right, and at most the rest of gold mentions are *no*.
        groups: a type, ``gaps`` or ``all`` -> its thresholds.

    >>> from spanloom import Document, Mention, Recognizer
    >>> pain = [Document(f"no chest pain {i}", mentions=[Mention("problem", [(3, 13)])]) for i in range(400)]
    >>> recognizer = Recognizer(features=["bias", "w[0]", "w[-1]"]).fit(pain[:50])
    >>> reliance = Reliance.fit(recognizer, pain[50:], rate=0.95)
    >>> [found] = reliance.stream(recognizer, ["no chest pain"])
    >>> [mention.text(found.text) for mention in found.mentions if mention.attributes["rely"] == "yes"]
    ['chest pain']
    """

    rate: float
    groups: dict[str, Limits]

    @classmethod
    def fit(cls, model: MentionEstimator[Any], X: Given, rate: float = 0.95) -> Reliance:
        """Find thresholds.

        Args:
            model: trained.
            X: annotated documents of the kind that is to be predicted, which training did not see.
            rate: as of the class.

        Raises:
            UsageError: the rate is not from 0.5 to below 1, or the model finds no mentions.
            DataError: there is no mention.
        """
        if "guarantees" not in model.capable:
            raise UsageError(
                f"the model is a {model.kind}, which finds no mentions with probabilities; train a recognizer"
            )
        check_number("rely", rate)
        if not 0.5 <= rate < 1:
            raise UsageError(f"rely is {rate}, expected a rate from 0.5 to below 1, such as 0.95")
        given = list(documents_of(X))
        bare: Any = copy(model)
        bare.stages_ = ()  # what they add makes no difference to what a mention is
        return cls.of(given, list(bare.plausible(given, notice=lambda _: None)), rate)

    @classmethod
    def of(cls, gold: Sequence[Document], found: Sequence[Document], rate: float) -> Reliance:
        """Find thresholds by documents with gold mentions, and the same with candidates."""
        of_found, of_gold = _samples(gold, found)
        if not of_gold or not any(len(one.scores) for one in of_gold.values()):
            raise DataError("the documents to rely on hold no mention; give annotated ones that training did not see")
        together = (_joined(of_found.values()), _joined(of_gold.values()))
        yes, no = _yes(together[0], 1 - rate), _no(together[1], 1 - rate)
        limits = {ALL: Limits(yes or inf, no or 0.0, len(together[0].scores), len(together[1].scores), True, True)}
        for name in sorted({*of_found, *of_gold}):
            some, own = of_found.get(name, _NONE), of_gold.get(name, _NONE)
            own_yes, own_no = _yes(some, 1 - rate), _no(own, 1 - rate)
            limits[name] = Limits(
                limits[ALL].yes if own_yes is None else own_yes,
                limits[ALL].no if own_no is None else own_no,
                len(some.scores), len(own.scores), own_yes is not None, own_no is not None,
            )  # fmt: skip
        return cls(rate, {name: one._replace(no=min(one.no, one.yes)) for name, one in limits.items()})

    def limits_of(self, mention: Mention) -> Limits:
        """Return the thresholds of a mention's group: its type, or mentions with gaps."""
        return self.groups.get(_group(mention), self.groups[ALL])

    def label(self, mention: Mention) -> str:
        """Return ``yes``, ``ask`` or ``no`` for a candidate."""
        limits = self.limits_of(mention)
        score = mention.score or 0.0
        return "yes" if score >= limits.yes else "no" if score < limits.no else "ask"

    def stream(
        self, model: MentionEstimator[Any], X: Given, notice: Notice = lambda _: None
    ) -> Iterator[Document]:  # fmt: skip
        """Yield documents with all candidates, each with the attribute ``rely``; arguments as of `predict`."""
        for document in model.plausible(X, notice=notice):
            labelled = [m.replace(attributes={**m.attributes, RELY: self.label(m)}) for m in document.mentions]
            yield document.copy(mentions=labelled)

    def lines(self) -> Iterator[str]:
        """Describe the thresholds, their data, and the rates that are not kept."""
        miss = 1 - self.rate
        for name, one in self.groups.items():
            yes = "no candidate is yes" if one.yes == inf else f"yes from {one.yes:.3f}"
            no = (
                f"none is no: more than {miss:.1%} of gold may be no candidates"
                if one.no == 0
                else f"no below {one.no:.3f}"
            )
            pooled = [what for what, own in (("yes", one.own_yes), ("no", one.own_no)) if not own]
            few = f"; {' and '.join(pooled)} by all types together, as there are few" if pooled else ""
            yield f"{name}: {yes}, {no} ({plural(one.candidates, 'candidate')}, {one.gold:,} gold){few}"


def _group(mention: Mention) -> str:
    return GAPS if len(mention.spans) > 1 else f"type {mention.type}"


def _samples(gold: Sequence[Document], found: Sequence[Document]) -> tuple[dict[str, _Sample], dict[str, _Sample]]:
    """Return the candidates and the gold mentions of each group; a gold mention is never an error by itself."""
    sides: tuple[dict[str, list[tuple[float, bool, int]]], ...] = ({}, {})
    for number, (expected, given) in enumerate(zip(gold, found, strict=True)):
        right = {mention.key for mention in expected.mentions}
        score_of = {mention.key: mention.score or 0.0 for mention in given.mentions}
        for mention in given.mentions:
            row = (mention.score or 0.0, mention.key not in right, number)
            sides[0].setdefault(_group(mention), []).append(row)
        for mention in {one.key: one for one in expected.mentions}.values():
            row = (score_of.get(mention.key, -1.0), mention.key not in score_of, number)
            sides[1].setdefault(_group(mention), []).append(row)
    of_found, of_gold = (
        {name: _Sample(*map(np.array, zip(*rows, strict=True))) for name, rows in side.items()} for side in sides
    )
    return of_found, of_gold


_NONE: Final = _Sample(np.zeros(0), np.zeros(0, bool), np.zeros(0, np.int64))


def _joined(samples: Iterable[_Sample]) -> _Sample:
    return _Sample(*map(np.concatenate, zip(_NONE, *samples, strict=True)))


def fewest(rate: float) -> int:
    """Return with how many candidates without an error a rate of errors could be shown to be kept.

    >>> fewest(0.05)
    90
    """
    return int(np.ceil(log(DOUBT) / log1p(-rate)))


def chance(errors: float, count: float, rate: float) -> float:
    """Return the probability of at most so many errors among so many, if each is one with a probability of ``rate``.

    >>> round(chance(0, 90, 0.05), 4), round(chance(5, 100, 0.05), 2)
    (0.0099, 0.62)
    """
    steps = np.arange(1, int(errors) + 1)
    logs = np.cumsum(np.append(count * log1p(-rate), np.log((count - steps + 1) / steps) + log(rate) - log1p(-rate)))
    return min(1.0, exp(float(np.logaddexp.reduce(logs))))


def _effect(sample: _Sample, wrong: Mask) -> float:
    """Return by how much the variance of a share of errors is larger because they come by documents; at least 1."""
    if not wrong.any() or wrong.all():
        return 1.0
    share = wrong.mean()
    _, number = np.unique(sample.document, return_inverse=True)
    of_document = np.bincount(number, wrong - share)
    several = len(of_document) / max(1, len(of_document) - 1)
    return max(1.0, float((of_document**2).sum() * several / (len(wrong) * share * (1 - share))))


def _kept(errors: int, count: int, rate: float, effect: float) -> bool:
    """Return whether a test shows that a rate is kept; ``effect`` reduces the counts to those of independent cases."""
    return chance(np.ceil(errors / effect), np.floor(count / effect), rate) <= DOUBT


def _yes(sample: _Sample, rate: float) -> float | None:
    """Return the lowest threshold of tests in a fixed sequence, from the most certain candidates on, until one fails.

    ``None`` where there are too few candidates; infinite where the first test fails.
    """
    likely = sample.scores >= 0.5
    effect = _effect(sample.take(likely), sample.wrong[likely]) if likely.any() else 1.0
    order = np.argsort(-sample.scores, kind="stable")
    scores, errors = sample.scores[order], sample.wrong[order].cumsum()
    count, found = _START * fewest(rate) * effect, inf
    if len(scores) < count:
        return None
    while count <= len(scores):
        threshold = float(scores[int(count) - 1])
        taken = int((scores >= threshold).sum())  # with equal ones
        if not _kept(int(errors[taken - 1]), taken, rate, effect):
            break
        found, count = threshold, max(count * _STEP, taken + 1)
    return found


def _no(sample: _Sample, rate: float) -> float | None:
    """Return the highest threshold below which so few gold mentions lie; ``None`` where there are too few of them.

    The lower a threshold, the fewer lie below it, so there is one test for all.
    """
    missed = sample.scores < 0.5
    effect = _effect(sample, missed)
    count = len(sample.scores)
    if count < fewest(rate) * effect:
        return None
    scores = np.sort(sample.scores)
    most = -1  # gold mentions that may be missed
    while most + 1 < count and _kept(most + 1, count, rate, effect):
        most += 1
    return max(0.0, float(scores[most])) if most >= 0 else 0.0
