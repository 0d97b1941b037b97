"""Maps of probabilities: what they are fitted to, what they keep, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.learn.platt import FEWEST, IDENTITY, Platt, fit_platt, logits

PRIOR = 10.0


def drawn(count, slope, intercept, seed):
    """Log-probabilities, and answers drawn with the probabilities that a map makes of them."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(1, 2, count)
    right = rng.random(count) < 1 / (1 + np.exp(-slope * logit - intercept))
    return -np.logaddexp(0, -logit), right


@pytest.mark.parametrize(("slope", "intercept"), [(0.5, -1.0), (1.0, 0.0), (1.6, 0.4)])
def test_the_map_that_made_the_answers_is_found(slope, intercept):
    fitted = fit_platt(*drawn(20_000, slope, intercept, 3))
    assert fitted.slope == pytest.approx(slope, abs=0.05)
    assert fitted.intercept == pytest.approx(intercept, abs=0.05)


def test_it_is_the_largest_posterior():
    log_probability, right = drawn(300, 0.4, -0.5, 1)
    fitted = fit_platt(log_probability, right)

    def loss(slope, intercept):
        signs = np.where(right, -1, 1) * (slope * logits(log_probability) + intercept)
        return np.logaddexp(0, signs).sum() + PRIOR / 2 * ((slope - 1) ** 2 + intercept**2)

    best = loss(fitted.slope, fitted.intercept)
    for more, steeper in [(0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01), (0.01, 0.01), (-0.01, 0.01)]:
        assert loss(fitted.slope + steeper, fitted.intercept + more) > best


def test_few_predictions_leave_everything_as_it_is():
    log_probability, right = drawn(FEWEST, 0.3, -1.0, 2)
    assert fit_platt(log_probability[1:], right[1:]) is IDENTITY
    assert fit_platt(log_probability, right) != IDENTITY
    given_ = np.array([0.0, 0.1, 1.0])
    assert IDENTITY(given_) is given_


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_nothing_right_and_everything_right_stay_finite(share):
    fitted = fit_platt(np.log(np.linspace(0.01, 1, 1000)), np.full(1000, share == 1.0))
    assert math.isfinite(fitted.slope) and math.isfinite(fitted.intercept)
    assert fitted(np.array([0.5]))[0] == pytest.approx(share, abs=0.15)


def test_probabilities_that_say_the_opposite_keep_their_order():
    log_probability, right = drawn(5000, -1.0, 0.0, 4)
    fitted = fit_platt(log_probability, right)
    assert fitted.slope == 0.05
    assert fitted.of_log(log_probability).mean() == pytest.approx(right.mean(), abs=0.02)


def test_certain_ones_that_are_wrong_do_not_outweigh_all_others():
    log_probability, right = drawn(1000, 1.0, 0.0, 5)
    fitted = fit_platt(np.append(log_probability, [0.0, -np.inf]), np.append(right, [False, True]))
    assert fitted.slope == pytest.approx(fit_platt(log_probability, right).slope, abs=0.15)


@given(
    slope=st.floats(0.05, 20), intercept=st.floats(-20, 20),
    probabilities=st.lists(st.floats(0, 1), min_size=2, max_size=20),
)  # fmt: skip
def test_the_order_stays_and_so_do_0_and_1(slope, intercept, probabilities):
    mapped = Platt(slope, intercept)(np.sort(probabilities))
    assert (np.diff(mapped) >= 0).all()
    assert ((mapped >= 0) & (mapped <= 1)).all()
    assert Platt(slope, intercept)(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]


def test_logarithms_of_what_is_too_small_for_a_number():
    mapped = Platt(0.5, 0.0).of_log(np.array([-1400.0, -1e-300, 0.0, 1e-9, -np.inf]))
    assert mapped.tolist() == pytest.approx([math.exp(-700), 1.0, 1.0, 1.0, 0.0])
    assert mapped[0] > 0
    assert IDENTITY.of_log(np.array([-1.0, 1e-9])).tolist() == [math.exp(-1), 1.0]


@pytest.mark.parametrize(
    ("slope", "intercept"),
    [(0.0, 0.0), (-1.0, 0.0), (math.nan, 0.0), (1.0, math.nan), (math.inf, 0.0), (1.0, math.inf)],
)
def test_what_is_no_map_is_refused(slope, intercept):
    with pytest.raises(ValueError, match="expected finite numbers and a slope above 0"):
        Platt(slope, intercept)
