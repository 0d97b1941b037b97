"""What teachers expect of raw text, as a student is trained with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spanloom.document import Batch
from spanloom.hypergraph import Edges, Engine, Ints
from spanloom.learn import CorpusTarget, EdgeTarget, Fit, SoftCounts, Target, Training, TrainingSet, fit_together
from spanloom.model.corpus import number_of_texts
from spanloom.model.overlaps import OverlapRules
from spanloom.model.report import TeachingReport, TrainingReport


class Lessons(NamedTuple):
    """What teachers expect of raw documents, which follow a student's annotated ones.

    Args:
        soft: expected counts of the raw sentences; ``None`` where the raw documents have the mentions to learn.
        annotated: how many documents have gold mentions.
        weights: of a raw sentence, to choose from.
        overlaps: rules of the teacher, for a student that sees no gold mentions.
        report: on all this; the weight is not chosen yet.
    """

    soft: SoftCounts | None
    annotated: int
    weights: tuple[float, ...]
    overlaps: OverlapRules
    report: TeachingReport

    def target(self, engine: Engine, offsets: Ints, edges: Edges) -> Target:
        """Return the target of a student.

        Args:
            engine: the student's.
            offsets: (N + 1,) of the annotated and the raw sentences.
            edges: (T, K, D) gold structures; of raw sentences they are not looked at, but without ``soft``.
        """
        if self.soft is None:
            return EdgeTarget(engine, offsets, edges)
        known = offsets[: len(offsets) - self.sentences]
        return CorpusTarget(EdgeTarget(engine, known, edges[: known[-1]]), self.soft)

    @property
    def sentences(self) -> int:
        """How many raw sentences there are."""
        return self.report.sentences

    def weighed(
        self, training: Training, grid: Sequence[float]
    ) -> tuple[Training, Fit, tuple[tuple[float, float], ...]]:
        """Train with each weight of raw text.

        Args:
            training: of annotated and raw sentences that all count alike.
            grid: values of lambda.

        Returns:
            Of the weight with the largest development F1 the training and its fit; and the F1 of each weight.
        """
        data, sentences = training.data, len(training.data.offsets) - 1
        every = (np.repeat([1.0, weight], [sentences - self.sentences, self.sentences]) for weight in self.weights)
        weighted = [
            training if weight == 1 else replace(training, data=replace(data, weights=weights))
            for weight, weights in zip(self.weights, every, strict=True)
        ]
        fits = [fit_together([one], grid)[0] for one in weighted]
        tried = tuple((weight, fit.dev_f1) for weight, fit in zip(self.weights, fits, strict=True))
        best, fit = max(zip(weighted, fits, strict=True), key=lambda pair: pair[1].dev_f1)  # the first, of equal ones
        return best, fit, tried

    def with_lessons(
        self, report: TrainingReport, known: Batch, data: TrainingSet, tried: tuple[tuple[float, float], ...]
    ) -> TrainingReport:
        """Return a report on training that distinguishes raw text from annotated text."""
        weight = 1.0 if data.weights is None else float(data.weights[-1])
        return replace(
            report,
            documents=number_of_texts(known.documents[: self.annotated]),
            sentences=report.sentences - self.report.sentences,
            tokens=report.tokens - self.report.tokens,
            mentions=report.mentions - (0 if self.soft is not None else round(self.report.expected)),
            teaching=replace(self.report, weight=weight, tried=tried),
        )
