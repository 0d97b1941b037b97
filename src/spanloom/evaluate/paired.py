"""Significance test of the difference of two predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanloom.document import Document
from spanloom.document.markup import Printed
from spanloom.errors import UsageError, check_number, plural
from spanloom.evaluate.compare import Key, compare, exact, require_complete
from spanloom.evaluate.measures import Interval, Score
from spanloom.evaluate.rows import ReportRow, bootstrap, percentile_interval, randomization, row, unit_counts
from spanloom.evaluate.units import ResamplingUnits, pair, units, with_sentences


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
        values = Printed.to_dict(self) | {"interval": list(self.interval)}
        return {"a": values.pop("a"), "b": values.pop("b"), "difference": self.difference, **values}

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
    check_number("samples", samples, 1, whole=True)
    check_number("seed", seed, 0, whole=True)
    if not gold:
        raise UsageError("there are no gold documents, expected at least one")
    require_complete(gold, a, b)
    gold = with_sentences(gold)
    first, second = pair(gold, a), pair(gold, b)
    cut = units(gold, first, second)
    rows = [row(compare(gold, side, cut, key)) for side in (first, second)]
    return compare_rows(rows[0], rows[1], cut, samples, seed)


def compare_rows(a: ReportRow, b: ReportRow, cut: ResamplingUnits, samples: int, seed: int) -> PairedTest:
    """Test the difference of two rows of any counts; arguments as for `paired_test`."""
    counts = unit_counts([a, b], cut.count)
    drawn = bootstrap(counts, 2, samples, seed)[:, :, 2]
    of_a, of_b = np.split(counts.dense(), 2, axis=1)
    p_value, enumerated = randomization(of_a, of_b, samples, seed)
    return PairedTest(
        a=Score(*of_a.sum(axis=0).tolist()),
        b=Score(*of_b.sum(axis=0).tolist()),
        interval=Interval(*percentile_interval(np.asarray(drawn[:, 0] - drawn[:, 1])).tolist()),
        p_value=p_value,
        enumerated=enumerated,
        samples=samples,
        units=cut.count,
        unit=cut.name,
    )
