"""Resampling of counts: bootstrap and approximate randomization.

Both work on the counts of the units (sentences or documents), never on the mentions again: a sample is a row of
weights, and all samples of all rows of a report are one matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spanloom.evaluate.measures import Floats, rates
from spanloom.sparse import SparseMatrix

_CHUNK = 2_000_000  # weights held at once
_TIE = 1e-12  # differences of F1 closer than this are equal: the same fractions, rounded on different ways


def bootstrap(counts: SparseMatrix | Floats, columns: int, samples: int, seed: int) -> Floats:
    """Compute precision, recall and F1 of bootstrap samples of the units (Efron and Tibshirani 1993, chapter 13).

    Args:
        counts: (U, 4 * rows) of each unit and each row correct, predicted, found, gold.
        columns: rows.
        samples: the number of samples.
        seed: of the random numbers.

    Returns:
        (samples, rows, 3) precision, recall, F1; NaN where a sample has nothing below the line.
    """
    rows = counts if isinstance(counts, SparseMatrix) else SparseMatrix.of(counts)
    transposed, units = rows.transposed(), len(rows.ptr) - 1
    parts = [(transposed @ weights.T).T.reshape(-1, columns, 4) for weights in _weights(units, samples, seed)]
    return np.concatenate([_defined(part) for part in parts])


def _defined(counts: Floats) -> Floats:
    """Return rates; NaN where the denominator is 0, since such a sample has no information about the row."""
    predicted, gold = counts[..., 1], counts[..., 3]
    below = np.stack([predicted, gold, predicted + gold], axis=-1)
    return np.where(below > 0, rates(counts), np.nan)


def _weights(units: int, samples: int, seed: int) -> Iterator[Floats]:
    """Yield (samples, U) how often each unit is drawn in each sample, a few samples at a time."""
    random = np.random.default_rng(seed)
    step = max(1, _CHUNK // units)
    for first in range(0, samples, step):
        rows = min(step, samples - first)
        drawn = random.integers(0, units, (rows, units)) + units * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)


def percentile_interval(values: Floats) -> Floats:
    """Return the 95 % percentile interval of the values along the first axis: (2, ...) low and high.

    NaN is left out; where all values are NaN, the interval is 0 to 1.

    >>> percentile_interval(np.array([[1.0, np.nan], [np.nan, np.nan]])).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    unknown = np.isnan(values).all(axis=0)
    known = np.where(unknown, 0.0, values)
    found = np.asarray(np.nanquantile(known, [0.025, 0.975], axis=0), np.float64)
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
    step = max(1, _CHUNK // max(1, units))
    for first in range(0, 2**units, step):
        numbers: NDArray[np.int64] = np.arange(first, min(first + step, 2**units))
        yield (numbers[:, None] >> np.arange(units) & 1).astype(np.float64)


def _random(units: int, samples: int, seed: int) -> Iterator[Floats]:
    random = np.random.default_rng(seed)
    step = max(1, _CHUNK // units)
    for first in range(0, samples, step):
        yield random.integers(0, 2, (min(step, samples - first), units), np.uint8).astype(np.float64)
