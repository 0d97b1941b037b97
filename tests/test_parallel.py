"""Executors: results in order, errors passed on, no piece that waits for itself."""

from __future__ import annotations

import threading
from operator import neg

import pytest

from spanloom.parallel import SERIAL, Executor, Processes, Threads

EXECUTORS = [SERIAL, Threads(3), Processes(2)]


@pytest.fixture(scope="module", autouse=True)
def closed():
    yield
    for executor in EXECUTORS[1:]:
        executor.__exit__(None, None, None)


@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda each: type(each).__name__)
def test_results_stand_in_the_order_of_the_pieces(executor: Executor):
    assert executor.map(neg, range(20)) == [-n for n in range(20)]
    assert executor.map(neg, iter([1])) == [-1]
    assert executor.map(neg, []) == []


@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda each: type(each).__name__)
def test_an_error_is_passed_on(executor: Executor):
    with pytest.raises(ZeroDivisionError):
        executor.map((1).__truediv__, [1, 2, 0])


def test_pieces_run_at_once():
    """Each waits for the other."""
    meeting = threading.Barrier(2, timeout=20)
    with Threads(2) as executor:
        executor.map(lambda _: meeting.wait(), [1, 2])


def test_a_piece_may_use_the_executor_that_it_runs_on():
    with Threads(2) as executor:
        found = executor.map(lambda n: sum(executor.map(neg, range(n))), range(1, 9))
    assert found == [-sum(range(n)) for n in range(1, 9)]


def test_what_writes_to_arrays_of_its_caller_is_given_no_process():
    """Which would write to a copy of them."""
    for executor in EXECUTORS:
        seen: list[int] = []
        executor.shared.map(seen.append, range(5))
        assert sorted(seen) == [0, 1, 2, 3, 4]


def test_threads_end_with_their_executor():
    """A model that predicts once keeps none."""
    before = set(threading.enumerate())
    executor = Threads(3)
    executor.map(neg, range(9))
    started = set(threading.enumerate()) - before
    assert started
    del executor
    for thread in started:
        thread.join(timeout=20)
        assert not thread.is_alive()
