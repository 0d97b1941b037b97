"""Calibration of scores: of the mentions with score 0.8, four out of five should be right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spanloom.document import Document
from spanloom.document.markup import Printed
from spanloom.errors import DataError, check_number, plural
from spanloom.evaluate.compare import Key, MentionComparison, compare, exact, paired
from spanloom.evaluate.measures import Floats, calibration_error, rates
from spanloom.evaluate.units import units

_BAR = 40  # characters for the range from 0 to 1


class Bin(NamedTuple):
    """Predicted mentions with similar scores.

    Args:
        low: the lowest score of the bin.
        high: the first score above it; the last bin includes 1.
        mentions: the number of mentions.
        score: their mean score (0 without mentions).
        accuracy: the fraction of them that is right (0 without mentions).
    """

    low: float
    high: float
    mentions: int
    score: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Calibration(Printed):
    """Calibration of scores: their agreement with the fraction of mentions that are right.

    Only predicted mentions are judged: a gold mention that was not predicted has no score.

    Args:
        error: expected calibration error (Naeini et al. 2015; Guo et al. 2017): over bins of equal width the mean of
            \\|accuracy - mean score\\|, weighted by the number of mentions.
        brier: Brier score: the mean of (score - right)^2.
        score: the mean score.
        accuracy: the fraction of the predicted mentions that is right, which is their precision.
        count: predicted mentions.
        bins: from low to high scores.
    """

    error: float
    brier: float
    score: float
    accuracy: float
    count: int
    bins: tuple[Bin, ...]

    def to_text(self) -> str:
        """Return a text reliability diagram: a bar is the fraction that is right, the mark ``|`` the mean score."""
        lines = [
            f"expected calibration error {100 * self.error:.2f} %, Brier score {self.brier:.4f}",
            f"{plural(self.count, 'mention')}, mean score {100 * self.score:.2f} %, right {100 * self.accuracy:.2f} %",
            "",
            f"{'score':>11}{'mentions':>10}{'mean':>8}{'right':>8}  0 {'right = #, mean score = |':^{_BAR - 4}} 1",
        ]
        for entry in self.bins:
            label = f"{entry.low:.2f} - {entry.high:.2f}"
            line = f"{label:>11}{entry.mentions:10,}"
            if entry.mentions:
                bar = list(("#" * round(entry.accuracy * _BAR)).ljust(_BAR))
                bar[min(int(entry.score * _BAR), _BAR - 1)] = "|"
                line += f"{100 * entry.score:8.2f}{100 * entry.accuracy:8.2f}  {''.join(bar).rstrip()}"
            lines.append(line)
        return "\n".join(lines) + "\n"


def calibration(
    gold: Sequence[Document], predicted: Sequence[Document], *, bins: int = 10, key: Key = exact
) -> Calibration:
    """Compare the scores of predicted mentions with how often they are right.

    Of mentions that repeat each other the one with the highest score counts.

    Args:
        gold: N documents.
        predicted: predictions for the same texts, every mention with a score.
        bins: the number of bins of equal width.
        key: the values that must be equal for a mention to be right.

    Raises:
        DataError: a document is missing or extra, its text differs, gold annotation is not complete, or a predicted
            mention has no score from 0 to 1.
        UsageError: fewer than one bin.

    >>> from spanloom.document import Mention
    >>> pain = Mention("problem", [(0, 4)], score=0.75)
    >>> found = calibration([Document("pain", mentions=[pain])], [Document("pain", mentions=[pain])])
    >>> found.error, found.brier
    (0.25, 0.0625)
    """
    check_number("bins", bins, 1, whole=True)
    comparison, score = _scored(gold, predicted, key)
    hit = comparison.predicted.hit
    right = hit.astype(np.float64)
    edges = np.arange(bins + 1) / bins
    place = np.searchsorted(edges[1:-1], score, side="right")
    count, total, hits = (np.bincount(place, weights, bins) for weights in (None, score, right))
    below = np.maximum(count, 1)
    columns = (edges[:-1], edges[1:], count, total / below, hits / below)
    return Calibration(
        error=calibration_error(score, hit, bins),
        brier=float(np.mean((score - right) ** 2)) if len(score) else 0.0,
        score=float(score.mean()) if len(score) else 0.0,
        accuracy=float(right.mean()) if len(score) else 0.0,
        count=len(score),
        bins=tuple(Bin(*row) for row in zip(*(column.tolist() for column in columns), strict=True)),
    )


def _scored(gold: Sequence[Document], predicted: Sequence[Document], key: Key) -> tuple[MentionComparison, Floats]:
    """Return a comparison, and (M,) the scores of its M predicted mentions, from 0 to 1.

    Raises:
        DataError: a mention has no such score; and as of `calibration`.
    """
    [predicted] = paired(gold, predicted)
    comparison = compare(gold, predicted, units(gold, predicted), key)
    side, scores = comparison.predicted, []
    for mention, i in zip(side.mentions, side.document.tolist(), strict=True):
        if mention.score is None or not 0 <= mention.score <= 1:
            raise DataError(
                f"document {predicted[i].id or i + 1!r}: the predicted mention {mention.type!r} at {mention.start} has "
                f"the score {mention.score}, expected a number from 0 to 1; predict with a model that gives scores"
            )
        scores.append(mention.score)
    return comparison, np.array(scores, np.float64)


# Precision-recall curve over a threshold on the score.


class Point(NamedTuple):
    """Precision and recall of the mentions with at least a threshold score.

    Args:
        threshold: the lowest score that is kept.
        precision: from 0 to 1.
        recall: from 0 to 1.
        f1: from 0 to 1.
    """

    threshold: float
    precision: float
    recall: float
    f1: float


def precision_recall(gold: Sequence[Document], predicted: Sequence[Document], *, key: Key = exact) -> tuple[Point, ...]:
    """Return the precision-recall curve of a prediction with scores, one point for each score that occurs.

    The last point is the whole prediction: a threshold can only remove mentions.

    Args:
        gold: N documents.
        predicted: predictions for the same texts, every mention with a score.
        key: the values that must be equal for a mention to be right.

    Returns:
        From the highest threshold to the lowest; none if nothing is predicted.

    Raises:
        DataError: a document is missing or extra, its text differs, gold annotation is not complete, or a predicted
            mention has no score from 0 to 1.

    >>> from spanloom.document import Mention
    >>> found = [Mention("a", [(0, 4)], score=0.75), Mention("b", [(0, 4)], score=0.5)]
    >>> gold = Document("pain", mentions=found[:1])
    >>> for point in precision_recall([gold], [gold.copy(mentions=found)]):
    ...     print(point.threshold, point.precision, point.recall)
    0.75 1.0 1.0
    0.5 0.5 1.0
    """
    comparison, score = _scored(gold, predicted, key)
    order = np.argsort(-score, kind="stable")
    hits = np.cumsum(comparison.predicted.hit[order])
    last = np.flatnonzero(np.append(np.diff(score[order]) != 0, True)) if len(order) else np.zeros(0, np.int64)
    gold_count = np.full(len(last), len(comparison.gold.mentions))
    counts = np.stack([hits[last], last + 1, hits[last], gold_count], axis=1).astype(np.float64)
    return tuple(Point(*row) for row in np.column_stack([score[order][last], rates(counts)]).tolist())
