"""Executors: one after the other, threads for kernels that release the interpreter's lock, processes for the rest.

Results are in the order of the pieces, and whatever adds up numbers is cut into pieces by the data alone, never by
the number of workers. So every executor, with any number of workers, gives the same bytes.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from pkgutil import resolve_name
from threading import Thread, local
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol, Self, TypeVar

from spanloom.errors import SpanloomError, reason_of

if TYPE_CHECKING:  # which this module can do without
    from concurrent.futures import Executor as Pool

    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "SERIAL",
    "Executor",
    "Processes",
    "Serial",
    "Threads",
    "even_ranges",
    "grouped",
    "threads",
    "whole_ranges",
    "worker_count",
]

T = TypeVar("T")
R = TypeVar("R")
MOST_THREADS = 256  # more only cost memory
_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container: microseconds of processor time, and of what time they are


class Executor(Protocol):
    """An executor, which applies a function to each piece of some work."""

    @property
    def workers(self) -> int:
        """The number of pieces that are worked on at once."""

    @property
    def shared(self) -> Executor:
        """The executor of pieces that write to the caller's arrays: itself, or `SERIAL` where workers share nothing."""

    def map(self, function: Callable[[T], R], pieces: Iterable[T], /) -> list[R]:
        """Return the results, in the order of the pieces."""


class Serial:
    """One piece after the other.

    >>> SERIAL.map(abs, [-2, 3])
    [2, 3]
    """

    workers = 1

    @property
    def shared(self) -> Serial:
        """Itself."""
        return self

    def map(self, function: Callable[[T], R], pieces: Iterable[T], /) -> list[R]:
        """Return the results, in the order of the pieces."""
        return [function(piece) for piece in pieces]


SERIAL: Final = Serial()


class _Pooled:
    """An executor whose workers start when it is first used, and end with it or with the ``with`` it is opened in.

    Args:
        workers: how many.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: Pool | None = None

    def map(self, function: Callable[[T], R], pieces: Iterable[T], /) -> list[R]:
        """Return the results, in the order of the pieces."""
        pieces = list(pieces)
        if self.workers == 1 or len(pieces) < 2:
            return SERIAL.map(function, pieces)
        if self._pool is None:
            self._pool = self._open()
        return list(self._pool.map(function, pieces))

    def _open(self) -> Pool:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


class Threads(_Pooled):
    """Threads, which share all memory: for kernels, which release the interpreter's lock.

    A piece that hands out work by the executor that it runs on does that work alone, as it would wait for ever else.

    >>> with Threads(2) as executor:
    ...     executor.map(abs, [-2, 3])
    [2, 3]
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._here = local()

    @property
    def shared(self) -> Threads:
        """Itself."""
        return self

    def map(self, function: Callable[[T], R], pieces: Iterable[T], /) -> list[R]:
        """Return the results, in the order of the pieces."""
        return SERIAL.map(function, pieces) if hasattr(self._here, "worker") else super().map(function, pieces)

    def _open(self) -> Pool:
        pool: type[Pool] = resolve_name("concurrent.futures:ThreadPoolExecutor")
        return pool(self.workers, initializer=setattr, initargs=(self._here, "worker", True))  # type: ignore[call-arg]


class Processes(_Pooled):
    """Processes, which share nothing: for long pieces of work, much of it in Python.

    Function, pieces and results are pickled, so a function is one of a module, or a `functools.partial` of such. The
    processes are new (``spawn``), which takes them a second or two; a script that uses them keeps its own work under
    ``if __name__ == "__main__":``. They end with the process that uses them, also where that is killed.

    >>> with Processes(2) as executor:
    ...     executor.map(abs, [-2, 3])
    [2, 3]
    """

    @property
    def shared(self) -> Serial:
        """One after the other."""
        return SERIAL

    def map(self, function: Callable[[T], R], pieces: Iterable[T], /) -> list[R]:
        """Return the results, in the order of the pieces.

        Raises:
            SpanloomError: a process ended before its time.
        """
        try:
            return super().map(function, pieces)
        except resolve_name("concurrent.futures.process:BrokenProcessPool") as error:
            self.__exit__(None, None, None)
            raise unfinished("a worker process", error) from error

    def _open(self) -> Pool:
        pool: type[Pool] = resolve_name("concurrent.futures:ProcessPoolExecutor")
        return pool(self.workers, resolve_name("multiprocessing:get_context")("spawn"), _follow)  # type: ignore[call-arg]


def _follow() -> None:
    """Leave Ctrl-C to the process that gives work, and end when that does, also when it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        parent = resolve_name("multiprocessing:parent_process")()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()


def unfinished(who: str, error: BaseException) -> SpanloomError:
    """Return the error for a worker that died."""
    return SpanloomError(
        f"{who} did not finish its work: {reason_of(error)}; was it killed, or is memory short? Give the same command "
        "again, perhaps with fewer workers"
    )


def worker_count(n_jobs: int | None) -> int:
    """The number of threads meant by ``n_jobs``, as scikit-learn counts: ``None`` is 1, -1 all cores that may be used.

    >>> worker_count(2), worker_count(None), worker_count(1 << 31) == MOST_THREADS
    (2, 1, True)
    """
    if n_jobs is None or n_jobs == 0:
        return 1
    return min(n_jobs, MOST_THREADS) if n_jobs > 0 else max(1, _cores() + 1 + n_jobs)


def _cores() -> int:
    """Return how many cores this process may use; in a container with a limit fewer than the machine has."""
    if sys.platform == "linux":
        there = len(os.sched_getaffinity(0))
    else:
        there = os.cpu_count() or 1
    try:
        quota, period = map(int, _QUOTA.read_text(encoding="ascii").split())
    except (OSError, ValueError):  # no control groups here, or "max"
        return there
    return min(there, max(1, -(-quota // period)))


def threads(n_jobs: int | None) -> Threads | Serial:
    """As many threads as ``n_jobs`` means; this one alone for one."""
    workers = worker_count(n_jobs)
    return SERIAL if workers == 1 else Threads(workers)


def even_ranges(count: int, parts: int) -> list[tuple[int, int]]:
    """At most so many ranges of about equal size.

    >>> even_ranges(5, 2)
    [(0, 2), (2, 5)]
    """
    cuts = (count * i // parts for i in range(parts + 1))  # in plain Python: NumPy would take ten times as long
    return [(a, b) for a, b in pairwise(cuts) if a < b]


def grouped(items: Iterable[T], size: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Yield items in lists, each of which ends where its size reaches ``most``; the last may be smaller.

    >>> list(grouped(["ab", "c", "d"], len, 3))
    [['ab', 'c'], ['d']]
    """
    group: list[T] = []
    total = 0
    for item in items:
        group.append(item)
        total += size(item)
        if total >= most:
            yield group
            group, total = [], 0
    if group:
        yield group


def whole_ranges(bounds: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Ranges of items, such as sentences, of at most so many elements each, or one item; they depend on nothing else.

    Args:
        bounds: (N + 1,) first element of each item, ascending.
        most: elements, such as tokens.

    >>> import numpy as np
    >>> whole_ranges(np.array([0, 3, 5, 5, 9, 20]), 6)
    [(0, 3), (3, 4), (4, 5)]
    """
    cuts = [0]
    while cuts[-1] < len(bounds) - 1:
        fit = int(bounds.searchsorted(bounds[cuts[-1]] + most, side="right")) - 1
        cuts.append(max(cuts[-1] + 1, fit))
    return list(pairwise(cuts))
