"""The search for one number on a grid, such as the mention penalty."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.learn import search_step


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
