"""Rows of a report: selections of mentions, and their counts in each unit of resampling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document
from spanloom.document.markup import Printed
from spanloom.errors import UsageError, check_number, plural
from spanloom.evaluate.compare import Key, MentionComparison, compare, exact, paired
from spanloom.evaluate.measures import Floats, Interval, Intervals, Score, rates
from spanloom.evaluate.units import ResamplingUnits, units, with_sentences
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


def unit_counts(rows: Sequence[ReportRow], units: int) -> SparseMatrix:
    """Count the mentions of each unit (U, 4 * rows): correct, predicted, found, gold of each row in turn."""
    parts = [
        (members, 4 * number + column, weight)
        for number, one in enumerate(rows)
        for members, column, weight in zip((*one, one.half), (0, 1, 2, 3, 0, 2), (1, 1, 1, 1, 0.5, 0.5), strict=True)
    ]
    members, columns, weights = zip(*parts, strict=True)
    sizes = list(map(len, members))
    shape = (units, 4 * len(rows))
    return SparseMatrix.build(np.concatenate(members), np.repeat(columns, sizes), np.repeat(weights, sizes), shape)


def scores(rows: Sequence[ReportRow], units: int, samples: int, seed: int) -> list[Score]:
    """Return the score of each row, with 95 % bootstrap intervals if ``samples`` is not 0.

    Raises:
        UsageError: a negative number of samples, or an invalid seed.
    """
    check_number("bootstrap", samples, 0, whole=True)
    check_number("seed", seed, 0, whole=True)
    counts = unit_counts(rows, units)
    totals = [Score(p, q, f, g) for p, q, f, g in counts.dense().sum(axis=0).reshape(len(rows), 4).tolist()]
    if not samples or not units:
        return totals
    ends = np.moveaxis(percentile_interval(bootstrap(counts, len(rows), samples, seed)), 0, -1).tolist()
    intervals = [Intervals(*(Interval(*pair) for pair in row_ends)) for row_ends in ends]
    return [replace(total, intervals=found) for total, found in zip(totals, intervals, strict=True)]


# Resampling of counts: bootstrap and approximate randomization.
#
# Both work on the counts of the units (sentences or documents), never on the mentions again: a sample is a row of
# weights, and all samples of all rows of a report are one matrix product.

_CHUNK = 2_000_000  # weights held at once
_TIE = 1e-12  # differences of F1 closer than this are equal: the same fractions, rounded on different ways


def bootstrap(counts: SparseMatrix, columns: int, samples: int, seed: int) -> Floats:
    """Compute precision, recall and F1 of bootstrap samples of the units (Efron and Tibshirani 1993, chapter 13).

    Args:
        counts: (U, 4 * rows) of each unit and each row correct, predicted, found, gold.
        columns: rows.
        samples: the number of samples.
        seed: of the random numbers.

    Returns:
        (samples, rows, 3) precision, recall, F1; NaN where a sample has nothing below the line.

    Raises:
        UsageError: there are no samples, or an invalid seed.
    """
    check_number("samples", samples, 1, whole=True)
    check_number("seed", seed, 0, whole=True)
    transposed, units = counts.transposed(), len(counts.ptr) - 1
    parts = [(transposed @ weights.T).T.reshape(-1, columns, 4) for weights in _weights(units, samples, seed)]
    drawn = np.concatenate(parts)
    predicted, gold = drawn[..., 1], drawn[..., 3]
    below = np.stack([predicted, gold, predicted + gold], axis=-1)  # where it is 0, a sample does not count
    return np.where(below > 0, rates(drawn), np.nan)


def _weights(units: int, samples: int, seed: int) -> Iterator[Floats]:
    """Yield (samples, U) how often each unit is drawn in each sample, a few samples at a time."""
    random = np.random.default_rng(seed)
    for first, end in _chunks(samples, units):
        rows = end - first
        drawn = random.integers(0, units, (rows, units)) + units * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)


def _chunks(samples: int, units: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of samples whose weights are held at once."""
    step = max(1, _CHUNK // max(1, units))
    yield from ((first, min(first + step, samples)) for first in range(0, samples, step))


def percentile_interval(values: Floats) -> Floats:
    """Return the 95 % percentile interval of the values along the first axis: (2, ...) low and high.

    NaN is left out; where all values are NaN, the interval is 0 to 1.

    >>> percentile_interval(np.array([[1.0, np.nan], [np.nan, np.nan]])).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    unknown = np.isnan(values).all(axis=0)
    found = np.asarray(np.nanquantile(np.where(unknown, 0.0, values), [0.025, 0.975], axis=0), np.float64)
    found[1, unknown] = 1.0
    return found


def randomization(a: Floats, b: Floats, samples: int, seed: int) -> tuple[float, bool]:
    """Test a difference of F1 by two-sided approximate randomization (Noreen 1989; Yeh 2000).

    In each unit the two predictions are exchanged with probability 1/2. The p value is the fraction of such exchanges
    whose difference of F1 is at least as large, either way, as the one observed. Only units whose counts differ can
    change anything; if all exchanges of those are no more than ``samples`` they are all tried, and p is exact.
    Otherwise the observed one counts as one more sample, so that p is never 0.

    Args:
        a: (U, 4) counts of each unit for the first prediction: correct, predicted, found, gold.
        b: (U, 4) the same for the second.
        samples: the largest number of exchanges to try.
        seed: of the random numbers.

    Returns:
        p, and whether it is exact.
    """
    change = (b - a)[np.any(a != b, axis=1)]
    total_a, total_b = a.sum(axis=0), b.sum(axis=0)
    observed = abs(rates(total_a)[2] - rates(total_b)[2])
    every = 2 ** len(change) <= samples if len(change) < 60 else False
    extreme = tried = 0
    for flips in _every(len(change)) if every else _random(len(change), samples, seed):
        moved = flips @ change
        difference = rates(total_a + moved)[:, 2] - rates(total_b - moved)[:, 2]
        extreme += int(np.sum(np.abs(difference) >= observed - _TIE))
        tried += len(flips)
    return (extreme / tried if every else (extreme + 1) / (tried + 1)), every


def _every(units: int) -> Iterator[Floats]:
    for first, end in _chunks(2**units, units):
        yield (np.arange(first, end)[:, None] >> np.arange(units) & 1).astype(np.float64)


def _random(units: int, samples: int, seed: int) -> Iterator[Floats]:
    random = np.random.default_rng(seed)
    for first, end in _chunks(samples, units):
        yield random.integers(0, 2, (end - first, units), np.uint8).astype(np.float64)


# Significance test of the difference of two predictions.


@dataclass(frozen=True, slots=True)
class PairedTest(Printed):
    """The difference of two predictions for the same texts.

    Args:
        a: the first prediction's score.
        b: the second's.
        interval: 95 % paired bootstrap interval of `difference`.
        p_value: the probability of a difference of F1 this large, either way, by chance (two-sided approximate
            randomization).
        enumerated: all exchanges were tried, so that the p value is exact.
        samples: of the interval, and of the test unless it is exact.
        units: the number of units that were resampled.
        unit: the kind of unit, as in `Report`.
    """

    a: Score
    b: Score
    interval: Interval
    p_value: float
    enumerated: bool
    samples: int
    units: int
    unit: str

    @property
    def difference(self) -> float:
        """F1 of the first prediction minus F1 of the second."""
        return self.a.f1 - self.b.f1

    def to_dict(self) -> dict[str, Any]:
        """Return the test as JSON values; fractions from 0 to 1."""
        values = {"a": self.a, "b": self.b, "difference": self.difference} | Printed.to_dict(self)
        return values | {"interval": list(self.interval)}

    def to_text(self) -> str:
        """Return three lines for a terminal."""
        low, high = (100 * end for end in self.interval)
        how = "exact randomization" if self.enumerated else f"approximate randomization, {self.samples:,} samples"
        return (
            f"F1 {100 * self.a.f1:.2f} and {100 * self.b.f1:.2f}, difference {100 * self.difference:+.2f}\n"
            f"95 % interval of the difference: {low:+.2f} to {high:+.2f}\n"
            f"p = {self.p_value:.4f} ({how} over {plural(self.units, self.unit)})\n"
        )


def paired_test(
    gold: Sequence[Document],
    a: Sequence[Document],
    b: Sequence[Document],
    *,
    samples: int = 10_000,
    seed: int = 0,
    key: Key = exact,
) -> PairedTest:
    """Test whether two predictions differ in F1: approximate randomization (Noreen 1989), paired bootstrap interval.

    Args:
        gold: N documents.
        a: the first prediction of them.
        b: the second.
        samples: of the test and of the interval.
        seed: of the random numbers.
        key: the values that are compared.

    Raises:
        DataError: a document is missing or extra, or its text differs; gold annotation is not complete; or heads are
            compared, and a gold mention has none.
        UsageError: there are no samples, or no documents.

    >>> from spanloom.document import Mention
    >>> texts = [Document("pain", id=str(i), mentions=[Mention("problem", [(0, 4)])]) for i in range(8)]
    >>> nothing = [document.copy(mentions=[]) for document in texts[:6]] + texts[6:]
    >>> test = paired_test(texts, texts, nothing)
    >>> test.difference, test.p_value, test.enumerated
    (0.6, 0.03125, True)
    """
    first, second = paired(gold, a, b)
    gold = with_sentences(gold)
    cut = units(gold, first, second)
    rows = [row(compare(gold, side, cut, key)) for side in (first, second)]
    return compare_rows(rows[0], rows[1], cut, samples, seed)


def compare_rows(a: ReportRow, b: ReportRow, cut: ResamplingUnits, samples: int, seed: int) -> PairedTest:
    """Test the difference of two rows of any counts; arguments as for `paired_test`.

    Raises:
        UsageError: there are no samples, or no units.
    """
    if not cut.count:
        raise UsageError("there are no gold documents, expected at least one")
    counts = unit_counts([a, b], cut.count)
    drawn = bootstrap(counts, 2, samples, seed)[:, :, 2]
    of_a, of_b = np.split(counts.dense(), 2, axis=1)
    p_value, enumerated = randomization(of_a, of_b, samples, seed)
    interval = Interval(*percentile_interval(np.asarray(drawn[:, 0] - drawn[:, 1])).tolist())
    first, second = (Score(*of.sum(axis=0).tolist()) for of in (of_a, of_b))
    return PairedTest(first, second, interval, p_value, enumerated, samples, cut.count, cut.name)
