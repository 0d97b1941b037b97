"""Precision-recall curve over a threshold on the score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spanloom.document import Document
from spanloom.evaluate.compare import Key, compare, exact, require_complete
from spanloom.evaluate.measures import rates
from spanloom.evaluate.reliability import mention_scores
from spanloom.evaluate.units import pair, units


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
    require_complete(gold, predicted)
    predicted = pair(gold, predicted)
    comparison = compare(gold, predicted, units(gold, predicted), key)
    score = np.array(mention_scores(comparison.predicted, predicted), np.float64)
    order = np.argsort(-score, kind="stable")
    hits = np.cumsum(comparison.predicted.hit[order])
    last = np.flatnonzero(np.append(np.diff(score[order]) != 0, True)) if len(order) else np.zeros(0, np.int64)
    gold_count = np.full(len(last), len(comparison.gold.mentions))
    counts = np.stack([hits[last], last + 1, hits[last], gold_count], axis=1).astype(np.float64)
    return tuple(Point(*row) for row in np.column_stack([score[order][last], rates(counts)]).tolist())
