"""Platt scaling: from the probability that a model gives to the share of such predictions that is right.

Platt (1999), with the model's own log-odds in place of a margin: P(right) = s(slope x + intercept), where x is the
logit of the model's probability and s the logistic function. The slope is above 0, so the order stays, and 0 and 1 stay
what they are. Both numbers are those of the largest posterior under a normal prior around the identity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Floats

FEWEST: Final = 50
"""With fewer predictions the probabilities are not changed."""
_PRIOR = 10.0  # precision of the prior: as informative as about a hundred predictions
_FARTHEST = math.log(1e6)  # a logit counts as at most this while fitting, or one surprise would outweigh all others
_LEAST_SLOPE = 0.05
_STEPS, _CLOSE = 50, 1e-9
_DIGITS = 6  # that are kept


@dataclass(frozen=True, slots=True)
class Platt:
    """A monotone map of probabilities.

    Args:
        slope: of the logit; above 0, below 1 for a model that is too sure.
        intercept: above 0 for a model that is too modest.

    >>> Platt(0.5, 0.0)(np.array([0.0, 0.2, 0.5, 0.8, 1.0])).round(3).tolist()
    [0.0, 0.333, 0.5, 0.667, 1.0]
    """

    slope: float = 1.0
    intercept: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.slope) and math.isfinite(self.intercept) and self.slope > 0):
            raise ValueError(
                f"probabilities are mapped with the slope {self.slope} and the intercept {self.intercept}, expected "
                "finite numbers and a slope above 0"
            )

    def __call__(self, probability: Floats) -> Floats:
        """Map probabilities."""
        if self == IDENTITY:
            return probability
        with np.errstate(divide="ignore"):
            return self.of_log(np.log(probability))

    def of_log(self, log_probability: Floats) -> Floats:
        """Map probabilities that are given as logarithms, and may be too small for a number."""
        if self == IDENTITY:
            return np.exp(np.minimum(log_probability, 0.0))
        return _squashed(self.slope * logits(log_probability) + self.intercept)


IDENTITY: Final = Platt()


@dataclass(frozen=True, slots=True)
class Scalings:
    """The maps of a model.

    Args:
        mentions: from the marginal probability of a mention to its score.
        answers: from the probability of a sentence's structure to that of being right as a whole.
    """

    mentions: Platt = IDENTITY
    answers: Platt = IDENTITY


UNSCALED: Final = Scalings()


def logits(log_probability: Floats) -> Floats:
    """log p - log(1 - p) of log p; above 0, which only rounding gives, counts as 0."""
    given = np.minimum(log_probability, 0.0)
    with np.errstate(divide="ignore"):
        found: Floats = given - np.log(-np.expm1(given))
    return found


def fit_platt(log_probability: Floats, right: NDArray[np.bool_]) -> Platt:
    """The map that predictions ask for, by Newton's method; the identity where there are fewer than `FEWEST`.

    Sums run in a fixed order, so that the same predictions give the same numbers on any number of threads.

    Args:
        log_probability: (M,) that the model gives.
        right: (M,) whether a prediction is right.

    >>> sure, half = np.log([0.9] * 60), np.arange(60) % 2 == 0
    >>> fitted = fit_platt(sure, half)
    >>> round(float(fitted(np.array([0.9]))[0]), 2), fit_platt(sure[:10], half[:10]) == IDENTITY
    (0.56, True)
    """
    if len(right) < FEWEST:
        return IDENTITY
    x = np.clip(logits(log_probability), -_FARTHEST, _FARTHEST)
    slope, intercept = _fitted(x, right, 1.0, slope_moves=True)
    if slope < _LEAST_SLOPE:
        slope, intercept = _fitted(x, right, _LEAST_SLOPE, slope_moves=False)
    return Platt(round(slope, _DIGITS), round(intercept, _DIGITS))


def _fitted(x: Floats, right: NDArray[np.bool_], slope: float, *, slope_moves: bool) -> tuple[float, float]:
    """Slope and intercept; a step that makes things worse is halved."""
    intercept = 0.0
    loss = _loss(x, right, slope, intercept)
    for _ in range(_STEPS):
        p = _squashed(slope * x + intercept)
        rest, spread = right - p, p * (1 - p)
        one, two = float(rest.sum()) - _PRIOR * intercept, float((rest * x).sum()) - _PRIOR * (slope - 1)
        a, b, c = float(spread.sum()) + _PRIOR, float((spread * x).sum()), float((spread * x * x).sum()) + _PRIOR
        if not slope_moves:
            two = b = 0.0
        whole = a * c - b * b  # above 0, by the prior
        more, steeper = (c * one - b * two) / whole, (a * two - b * one) / whole
        while (new := _loss(x, right, slope + steeper, intercept + more)) > loss and abs(more) + abs(steeper) > _CLOSE:
            more, steeper = more / 2, steeper / 2
        slope, intercept, loss = slope + steeper, intercept + more, new
        if abs(more) + abs(steeper) <= _CLOSE:
            break
    return slope, intercept


def _loss(x: Floats, right: NDArray[np.bool_], slope: float, intercept: float) -> float:
    """Minus the logarithm of the posterior, but for a constant."""
    logit = slope * x + intercept
    prior = _PRIOR / 2 * ((slope - 1) ** 2 + intercept**2)
    return float(np.logaddexp(0, np.where(right, -logit, logit)).sum()) + prior


def _squashed(x: Floats) -> Floats:
    with np.errstate(over="ignore"):
        found: Floats = 1.0 / (1.0 + np.exp(-x))
    return found
