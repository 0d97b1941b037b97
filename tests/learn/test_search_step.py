"""The search for one number on a grid, such as the mention penalty, and what is decoded for it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.learn import search_step
from spanloom.learn.tuning import Envelope, nearest_best, smooth_best


@given(top=st.integers(-990, 990))
def test_finds_a_single_peak_wherever_it_lies(top):
    """Beyond the first sweep, too; and on the grid to the last digit."""
    assert search_step(lambda x: -abs(x - top / 100)) == top / 100


def test_never_asks_twice_and_stays_on_the_grid():
    asked = []
    search_step(lambda x: asked.append(x) or -((x - 2.345) ** 2))
    assert len(asked) == len(set(asked))
    assert all(abs(x * 100 - round(x * 100)) < 1e-9 for x in asked)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (lambda x: 0.0, 0.0),
        (lambda x: float(abs(x) <= 0.3), 0.0),
        (lambda x: float(0.25 <= x <= 0.8), 0.25),
        (lambda x: float(-0.8 <= x <= -0.25), -0.25),
        (lambda x: float(abs(x) >= 0.5), -0.5),
    ],
    ids=["flat", "plateau", "right", "left", "both"],
)
def test_of_equal_values_the_one_nearest_to_zero_wins(measure, expected):
    assert search_step(measure) == expected


@pytest.mark.parametrize("limit", [0.25, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_never_goes_beyond_the_limit(limit, sign):
    asked = []
    assert search_step(lambda x: asked.append(x) or sign * x, limit=limit) == sign * limit
    assert max(map(abs, asked)) <= limit


def test_step_and_reach_are_free():
    assert search_step(lambda x: -((x - 7) ** 2), step=0.5, reach=10) == 7
    assert search_step(lambda x: -((x + 0.123) ** 2), step=0.001, reach=0.1) == -0.123


def test_a_first_sweep_that_its_steps_do_not_divide_still_finds_zero():
    assert search_step(lambda x: -abs(x), reach=0.15) == 0
    assert search_step(lambda x: 0.0, reach=0.15) == 0


@given(seed=st.integers(0, 2**32 - 1), units=st.integers(0, 6), places=st.lists(st.integers(-20, 20), min_size=1))
def test_an_envelope_is_what_decoding_at_each_offset_gives_and_asks_for_less(seed, units, places):
    """Structures are lines: each has a score and a number of starts; of equal ones the first is the best."""
    rng, offsets = np.random.default_rng(seed), sorted({place / 4 for place in places})
    owner = np.repeat(np.arange(units), rng.integers(1, 4, units))
    scores, starts = rng.integers(-9, 9, (2, units, 5))
    asked: list[int] = []

    def decode(offset: float, wanted: np.ndarray) -> np.ndarray:
        asked.append(int(wanted.sum()))
        best = np.where(wanted, (scores + offset * starts).argmax(1), -1) if units else np.zeros(0, int)
        return np.stack([best[owner], 7 * best[owner]], 1)

    found = dict(Envelope(decode, owner).over(offsets))
    assert list(found) != [] and sorted(found) == offsets and len(asked) == len(offsets)
    for offset, rows in found.items():
        value = (scores + offset * starts)[np.arange(units)[owner], rows[:, 0]]
        np.testing.assert_array_equal(value, (scores + offset * starts).max(1, initial=-99)[owner])
        np.testing.assert_array_equal(rows[:, 1], 7 * rows[:, 0])
    # four lines at most take over one from the other, and each such place is looked for in a bracket that halves
    assert sum(asked) <= units * (2 + 4 * int(np.ceil(np.log2(len(offsets) + 1))))


def test_the_best_offset_is_that_nearest_to_zero_and_neighbours_may_count():
    assert nearest_best({-2.0: 1.0, 1.0: 1.0, -1.0: 1.0, 0.0: 0.5}) == -1.0
    assert smooth_best([-1.0, 0.0, 1.0, 2.0, 3.0, 4.0], [0, 9, 0, 6, 7, 6]) == 3.0
    assert smooth_best([-1.0, 0.0, 1.0, 2.0], [5, 5, 5, 5]) == 0.0
