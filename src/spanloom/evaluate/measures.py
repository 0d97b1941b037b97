"""Precision, recall and F1 as plain values, and for whole arrays of counts at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


class Intervals(NamedTuple):
    """The confidence intervals of a `Score`."""

    precision: Interval
    recall: Interval
    f1: Interval


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of mentions, and the fractions that follow from them.

    Two numbers of hits, because a row of a report may select gold and predicted mentions separately: of the *nested*
    predictions some are right, of the *nested* gold mentions some are found, and the two need not be equal. Where the
    selection is the same on both sides they are.

    A fraction with nothing below the line is 0, as in conlleval and scikit-learn; `Report.to_text` prints a dash there.

    Args:
        correct: predicted mentions that are right.
        predicted: predicted mentions.
        found: gold mentions that were found.
        gold: gold mentions.
        intervals: bootstrap intervals; ``None`` if not computed.

    >>> score = Score(correct=2, predicted=4, found=2, gold=3)
    >>> score.precision, round(score.recall, 3), round(score.f1, 3)
    (0.5, 0.667, 0.571)
    """

    correct: float
    predicted: float
    found: float
    gold: float
    intervals: Intervals | None = None

    @property
    def precision(self) -> float:
        """The fraction of the predicted mentions that is right."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The fraction of the gold mentions that is found."""
        return self.found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return float(rates(np.array([self.correct, self.predicted, self.found, self.gold], dtype=np.float64))[2])

    def percents(self) -> list[str]:
        """Return precision, recall and F1 in percent with two digits; a dash where there is nothing below the line."""
        below = (self.predicted, self.gold, self.predicted + self.gold)
        values = zip((self.precision, self.recall, self.f1), below, strict=True)
        return [f"{100 * value:.2f}" if count else "-" for value, count in values]

    def to_dict(self) -> dict[str, Any]:
        """Return counts, fractions and intervals (or ``None``) as JSON values."""
        counts = {name: _plain(getattr(self, name)) for name in ("correct", "predicted", "found", "gold")}
        ends = None if self.intervals is None else {name: list(one) for name, one in self.intervals._asdict().items()}
        return {**counts, "precision": self.precision, "recall": self.recall, "f1": self.f1, "intervals": ends}

    def to_accuracy(self) -> dict[str, Any]:
        """Return the part that is right as JSON values, where precision, recall and F1 are one."""
        interval = None if self.intervals is None else list(self.intervals.recall)
        return {"right": _plain(self.found), "accuracy": self.recall, "interval": interval}


class Learning(NamedTuple):
    """Learning curve of a training, step by step.

    Args:
        f1: name of the measure -> development F1 after each step, 0 to 1.
        objective: after each step; none where there are several.
        kept: the step whose weights are the model's, from 1; ``None`` where it is not one of them.
    """

    f1: Mapping[str, Sequence[float]]
    objective: Sequence[float] = ()
    kept: int | None = None


def rates(counts: Floats) -> Floats:
    """Compute precision, recall and F1 of many counts.

    Args:
        counts: (..., 4) correct, predicted, found, gold.

    Returns:
        (..., 3) precision, recall, F1; 0 where there is nothing below the line.
    """
    correct, predicted, found, gold = np.moveaxis(counts, -1, 0)
    precision = np.divide(correct, predicted, out=np.zeros_like(correct), where=predicted > 0)
    recall = np.divide(found, gold, out=np.zeros_like(found), where=gold > 0)
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    return np.stack([precision, recall, f1], axis=-1)


def calibration_error(score: Floats, right: NDArray[np.bool_], bins: int = 10) -> float:
    """Return the expected calibration error (Naeini et al. 2015; Guo et al. 2017).

    Over bins of equal width the mean of \\|share that is right - mean score\\|, weighted by the number of predictions.

    Args:
        score: (M,) probabilities.
        right: (M,) bool, the prediction is right.
        bins: the number of bins, at least 1.

    >>> calibration_error(np.array([0.75, 0.75, 0.25]), np.array([True, True, False]))
    0.25
    """
    place = np.searchsorted(np.arange(1, bins) / bins, score, side="right")
    distance = np.bincount(place, right.astype(np.float64), bins) - np.bincount(place, score, bins)
    return float(np.abs(distance).sum() / max(len(score), 1))


def _plain(count: float) -> float:
    return int(count) if float(count).is_integer() else float(count)
