"""Executors: results in order, errors passed on, no piece that waits for itself."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from operator import neg
from pathlib import Path

import pytest

from spanloom import parallel
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


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="where a process may run cannot be said here")
def test_all_cores_are_those_that_the_process_may_use() -> None:
    """In a container with two of 64 cores, a server started 128 processes."""
    code = (
        "import os\nfrom spanloom.parallel import worker_count\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\nprint(worker_count(-1), worker_count(3))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "1 3\n"


@pytest.mark.parametrize(("said", "cores"), [("50000 100000", 1), ("max 100000", None), ("99900000 100000", None)])
def test_a_limit_of_a_container_counts(
    said: str, cores: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_QUOTA", tmp_path / "cpu.max")
    without = parallel.worker_count(-1)
    (tmp_path / "cpu.max").write_text(f"{said}\n")
    assert parallel.worker_count(-1) == (cores or without)
