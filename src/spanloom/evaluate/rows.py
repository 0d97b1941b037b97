"""Rows of a report: selections of mentions, and their counts in each unit of resampling."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.evaluate.compare import MentionComparison
from spanloom.evaluate.measures import Floats, Interval, Intervals, Score
from spanloom.evaluate.resample import bootstrap, percentile_interval
from spanloom.sparse import SparseMatrix

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
_ALL = slice(None)
STRUCTURES = ("flat", "nested", "crossing", "discontiguous")


class ReportRow(NamedTuple):
    """The mentions that a row counts, each as the number of its unit.

    Args:
        correct: predicted mentions that are right.
        predicted: predicted mentions.
        found: gold mentions that were found.
        gold: gold mentions.
        half: pairs that count 1/2 for correct and for found.
    """

    correct: Ints
    predicted: Ints
    found: Ints
    gold: Ints
    half: Ints

    @classmethod
    def matched(cls, gold: Ints, predicted: Ints, right: Ints) -> ReportRow:
        """Return the row in which each right prediction is one that gold has; nothing counts half."""
        return cls(right, predicted, right, gold, np.zeros(0, np.int64))


def row(
    comparison: MentionComparison, gold: Bools | slice = _ALL, predicted: Bools | slice = _ALL, half: Ints | None = None
) -> ReportRow:
    """Return the row of the gold and predicted mentions that two masks select; of all mentions without masks."""
    g, p = comparison.gold, comparison.predicted
    return ReportRow(
        p.unit[predicted][p.hit[predicted]],
        p.unit[predicted],
        g.unit[gold][g.hit[gold]],
        g.unit[gold],
        np.zeros(0, np.int64) if half is None else half,
    )


def by_type(comparison: MentionComparison) -> dict[str, ReportRow]:
    """Return a row for each type, by name."""
    gold = np.array([mention.type for mention in comparison.gold.mentions], np.object_)
    predicted = np.array([mention.type for mention in comparison.predicted.mentions], np.object_)
    return {name: row(comparison, gold == name, predicted == name) for name in sorted({*gold, *predicted})}


def by_structure(comparison: MentionComparison) -> dict[str, ReportRow]:
    """Return rows for flat, nested, crossing and discontiguous mentions, each side by its own overlaps."""
    gold, predicted = comparison.gold.overlaps, comparison.predicted.overlaps
    return {name: row(comparison, getattr(gold, name), getattr(predicted, name)) for name in STRUCTURES}


def by_sentence(comparison: MentionComparison, units: int) -> dict[str, ReportRow]:
    """Return rows for the units with two gold mentions that share a character, and for those without (001, Table 4)."""
    gold, predicted = comparison.gold, comparison.predicted
    overlapping = np.zeros(units, np.bool_)
    overlapping[gold.unit[gold.overlaps.overlapping]] = True
    return {
        "with overlap": row(comparison, overlapping[gold.unit], overlapping[predicted.unit]),
        "without overlap": row(comparison, ~overlapping[gold.unit], ~overlapping[predicted.unit]),
    }


def unit_counts(rows: Iterable[ReportRow], units: int) -> SparseMatrix:
    """Count the mentions of each unit (U, 4 * rows): correct, predicted, found, gold of each row in turn."""
    where: list[Ints] = []
    columns: list[Ints] = []
    weights: list[Floats] = []
    for i, entry in enumerate(rows):
        for column, members, weight in (
            *((k, entry[k], 1.0) for k in range(4)),
            (0, entry.half, 0.5),
            (2, entry.half, 0.5),
        ):
            where.append(members)
            columns.append(np.full(len(members), 4 * i + column))
            weights.append(np.full(len(members), weight))
    shape = (units, 4 * (i + 1))
    return SparseMatrix.build(np.concatenate(where), np.concatenate(columns), np.concatenate(weights), shape)


def scores(rows: Sequence[ReportRow], units: int, samples: int, seed: int) -> list[Score]:
    """Return the score of each row, with 95 % bootstrap intervals if ``samples`` is not 0."""
    counts = unit_counts(rows, units)
    totals = [Score(p, q, f, g) for p, q, f, g in counts.dense().sum(axis=0).reshape(len(rows), 4).tolist()]
    if not samples or not units:
        return totals
    drawn = bootstrap(counts, len(rows), samples, seed)
    ends = np.moveaxis(percentile_interval(drawn), 0, -1).tolist()
    intervals = [Intervals(*(Interval(*pair) for pair in row_ends)) for row_ends in ends]
    return [replace(total, intervals=found) for total, found in zip(totals, intervals, strict=True)]
