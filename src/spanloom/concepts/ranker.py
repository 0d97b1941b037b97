"""A conditional log-linear model that chooses one of several candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.concepts.forms import NUMBERS, TEMPLATES
from spanloom.features import FeatureIndex, build_index
from spanloom.features.conjunctions import conjunctions
from spanloom.hashing import Int64, UInt64
from spanloom.hypergraph import Floats, Singles
from spanloom.learn.lbfgs import minimize
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import Weights, role_gradient, role_scores, transpose

_ITERATIONS = 200
_RIDGE = 0.1  # on the weights of numbers: they are few, and seen by all


class Groups(NamedTuple):
    """The candidates of M mentions, C in all.

    Args:
        ptr: (M + 1,) where those of each mention begin.
        numbers: (C, D).
        values: (V, C), in the order in which the templates read them.
    """

    ptr: Int64
    numbers: Floats
    values: UInt64

    def best(self, scores: Floats) -> Int64:
        """Return the row of the largest score of each mention, (M,); of equal ones the first."""
        if len(self.ptr) == 1:
            return np.empty(0, np.int64)
        largest = np.repeat(np.maximum.reduceat(scores, self.ptr[:-1]), np.diff(self.ptr))
        rows = np.flatnonzero(scores == largest)
        owner = np.searchsorted(self.ptr, rows, side="right") - 1
        found: Int64 = rows[np.searchsorted(owner, np.arange(len(self.ptr) - 1))]
        return found


@dataclass(frozen=True)
class Ranker:
    """A trained model.

    Args:
        index: which feature has which weight.
        sparse: (F,) float32, the weight of each single feature.
        dense: (D,) float32, those of the numbers.
    """

    index: FeatureIndex
    sparse: Singles
    dense: Singles

    def log_shares(self, groups: Groups) -> Floats:
        """Return the logarithm of each candidate's probability, (C,): of its share among those of its mention."""
        if not len(groups.numbers):
            return np.empty(0)
        sums = self.index.weighed(conjunctions(TEMPLATES), groups.values, self.sparse)
        return log_shares(sums + np.einsum("cd,d->c", groups.numbers, self.dense), groups.ptr)

    def parts(self, groups: Groups) -> tuple[tuple[str, ...], Floats]:
        """Return names of P parts of a score, numbers and templates, and what each gives each candidate, (C, P)."""
        names = {name: row for row, name in enumerate(conjunctions(TEMPLATES).names)}
        columns = [groups.numbers * self.dense]
        for template in TEMPLATES:
            made = conjunctions((template,))
            values = np.ascontiguousarray(groups.values[[names[name] for name in made.names]])
            columns.append(self.index.weighed(made, values, self.sparse)[:, None].astype(np.float64))
        return (*NUMBERS, *TEMPLATES), np.concatenate(columns, 1)


def log_shares(scores: Floats, ptr: Int64) -> Floats:
    """Return the logarithm of each candidate's share among those of its mention, (C,)."""
    largest = np.repeat(np.maximum.reduceat(scores, ptr[:-1]), np.diff(ptr))
    total = np.add.reduceat(np.exp(scores - largest), ptr[:-1])
    found: Floats = scores - largest - np.repeat(np.log(total), np.diff(ptr))
    return found


def fit_ranker(
    groups: Groups, right: NDArray[np.bool_], l2: float, *, min_count: int = 2, run: Executor = SERIAL,
    tolerance: float = 1e-5,
) -> Ranker:  # fmt: skip
    """Return the model that gives right candidates the largest likelihood, less ``l2`` times its squared weights.

    Args:
        groups: candidates of training mentions, each of which has a right one.
        right: (C,) which of them are right; of several, their sum counts.
        l2: lambda.
        min_count: features of fewer candidates have no weight.
        run: how pieces of the work are run; the result does not depend on it.
        tolerance: the relative improvement below which it ends.
    """
    built = build_index(conjunctions(TEMPLATES).keys(groups.values), min_count=min_count)
    sizes = built.index.group_sizes
    features, scale = len(sizes), np.sqrt(sizes)
    transposed = transpose(built.matrix, features)
    gather = np.empty((features, 1, 1), np.float32)
    lengths, nothing = np.diff(groups.ptr), np.zeros((0, 1), np.float32)

    def value(point: Singles, gradient: Singles) -> float:
        own = (point[:features] * scale)[:, None, None]
        sums = role_scores(built.matrix, Weights(own, nothing), run=run).roles[:, 0, 0]
        scores = sums + np.einsum("cd,d->c", groups.numbers, point[features:].astype(np.float64))
        every = log_shares(scores, groups.ptr)
        gold = np.where(right, every, -np.inf)
        top = np.maximum.reduceat(gold, groups.ptr[:-1])
        reached = top + np.log(np.add.reduceat(np.exp(gold - np.repeat(top, lengths)), groups.ptr[:-1]))
        slope = np.exp(every) - np.exp(gold - np.repeat(reached, lengths))
        role_gradient(transposed, slope.astype(np.float32)[:, None, None], gather, run)
        gradient[:features] = gather[:, 0, 0] * scale + np.float32(2 * l2) * point[:features]
        gradient[features:] = np.einsum("c,cd->d", slope, groups.numbers) + 2 * _RIDGE * point[features:]
        squares = np.square(point, dtype=np.float64)
        return float(-reached.sum() + l2 * squares[:features].sum() + _RIDGE * squares[features:].sum())

    point = minimize(
        value, np.zeros(features + groups.numbers.shape[1], np.float32), iterations=_ITERATIONS, tolerance=tolerance,
        run=run,
    )  # fmt: skip
    return Ranker(built.index, (point[:features] * scale / sizes).astype(np.float32), point[features:])
