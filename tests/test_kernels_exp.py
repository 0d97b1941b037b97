"""The exponential of kernels against that of the system's library."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from spanloom.kernels_exp import exponential


@njit
def exponentials(values: np.ndarray, found: np.ndarray) -> None:
    for i in range(len(values)):
        found[i] = exponential(values[i])


def exponentials_of(values: list[float]) -> np.ndarray:
    found = np.empty(len(values))
    exponentials(np.array(values, float), found)
    return found


@given(st.lists(st.floats(-707.9, 708.9), min_size=1, max_size=40))
def test_errs_by_two_units_in_the_last_place_at_most(values: list[float]) -> None:
    expected = np.exp(values)
    assert (np.abs(exponentials_of(values) - expected) <= 2 * np.spacing(expected)).all()


def test_errs_nowhere_by_more() -> None:
    values = np.random.default_rng(0).uniform(-45, 45, 300_000)
    found, expected = np.empty_like(values), np.exp(values)
    exponentials(values, found)
    assert np.abs(found / expected - 1).max() < 4e-16


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-np.inf, 0.0), (-708.5, 0.0), (0.0, 1.0), (-0.0, 1.0), (5e-324, 1.0), (709.5, np.inf), (np.inf, np.inf)],
)
def test_ends(value: float, expected: float) -> None:
    assert exponentials_of([value]) == [expected]


def test_grows_where_the_power_of_two_changes() -> None:
    edges = (np.arange(-60, 60) + 0.5) * np.log(2)
    around = np.sort(np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)]))
    found = np.empty_like(around)
    exponentials(around, found)
    assert (np.diff(found) >= 0).all()


def test_is_made_of_vector_operations() -> None:
    """What it is for: a call of the library in its place keeps a loop from being one."""
    exponentials_of([1.0])
    [code] = exponentials.inspect_llvm().values()
    assert re.search(r"fmul <\d+ x double>", code)
