"""The exponential function and the logarithm of the kernels against those of the system's library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.native import Kernel


def exponentials_of(values: list[float] | np.ndarray) -> np.ndarray:
    found = np.empty(len(values))
    Kernel("take_exponentials")(np.array(values, float), found)
    return found


def logarithms_of(values: list[float] | np.ndarray) -> np.ndarray:
    found = np.empty(len(values))
    Kernel("take_logarithms")(np.array(values, float), found)
    return found


@given(st.lists(st.floats(-707.9, 708.9), min_size=1, max_size=40))
def test_the_exponential_errs_by_two_units_in_the_last_place_at_most(values: list[float]) -> None:
    expected = np.exp(values)
    assert (np.abs(exponentials_of(values) - expected) <= 2 * np.spacing(expected)).all()


def test_the_exponential_errs_nowhere_by_more() -> None:
    values = np.random.default_rng(0).uniform(-45, 45, 300_000)
    assert np.abs(exponentials_of(values) / np.exp(values) - 1).max() < 4e-16


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-np.inf, 0.0), (-708.5, 0.0), (0.0, 1.0), (-0.0, 1.0), (5e-324, 1.0), (709.5, np.inf), (np.inf, np.inf)],
)
def test_ends_of_the_exponential(value: float, expected: float) -> None:
    assert exponentials_of([value]) == [expected]


def test_the_exponential_of_no_number_is_none() -> None:
    assert np.isnan(exponentials_of([np.nan])).all()


def test_the_exponential_grows_where_the_power_of_two_changes() -> None:
    edges = (np.arange(-60, 60) + 0.5) * np.log(2)
    around = np.sort(np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)]))
    assert (np.diff(exponentials_of(around)) >= 0).all()


@given(st.lists(st.floats(5e-324, 1e308), min_size=1, max_size=40))
def test_the_logarithm_errs_by_one_unit_in_the_last_place_at_most(values: list[float]) -> None:
    expected = np.log(values)
    assert (np.abs(logarithms_of(values) - expected) <= np.spacing(np.abs(expected)) * 1.01).all()


def test_the_logarithm_errs_nowhere_by_more() -> None:
    random = np.random.default_rng(0)
    values = np.concatenate([random.uniform(0.5, 2, 300_000), random.uniform(0, 1e6, 100_000)])
    expected = np.log(values)
    assert (np.abs(logarithms_of(values) - expected) <= np.spacing(np.abs(expected)) * 1.01).all()


@pytest.mark.parametrize(
    ("value", "expected"), [(0.0, -np.inf), (-0.0, -np.inf), (1.0, 0.0), (np.inf, np.inf), (5e-324, np.log(5e-324))]
)
def test_ends_of_the_logarithm(value: float, expected: float) -> None:
    assert logarithms_of([value]) == [expected]


@pytest.mark.parametrize("value", [-1.0, -np.inf, np.nan])
def test_what_has_no_logarithm(value: float) -> None:
    assert np.isnan(logarithms_of([value])).all()
