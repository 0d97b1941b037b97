"""Executors: one after the other, threads for kernels that release the interpreter's lock, processes for the rest.

Ray and Spark are processes, too, perhaps on many machines. Results stand in the order of the pieces, and whatever adds up
numbers is cut into pieces by the data alone, never by the number of workers. So every executor, with any number of
workers, gives the same bytes.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Executor as Pool
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import pairwise
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread, local
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self, TypeVar

from spanloom.errors import SpanloomError, UsageError, reason_of
from spanloom.extras import extra

if TYPE_CHECKING:  # which this module can do without
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "SERIAL",
    "Executor",
    "Processes",
    "Ray",
    "Serial",
    "Spark",
    "Threads",
    "even_ranges",
    "executor_named",
    "threads",
    "whole_ranges",
    "worker_count",
]

T = TypeVar("T")
R = TypeVar("R")
MOST_THREADS = 256  # more only cost memory
_ATTEMPTS: Final = 4  # of a piece, as Spark makes on a cluster
_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container: microseconds of processor time, and of what time they are


class Executor(Protocol):
    """An executor, which applies a function to each piece of some work."""

    @property
    def workers(self) -> int:
        """The number of pieces that are worked on at once."""
        ...

    @property
    def shared(self) -> Executor:
        """The executor of pieces that write to the caller's arrays: itself, or `SERIAL` where workers share nothing."""
        ...

    def map(self, function: Callable[[T], R], pieces: Iterable[T], /) -> list[R]:
        """Return the results, in the order of the pieces."""
        ...


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
        return ThreadPoolExecutor(self.workers, initializer=setattr, initargs=(self._here, "worker", True))


class Processes(_Pooled):
    """Processes, which share nothing: for long pieces of work, much of it in Python.

    Function, pieces and results are pickled, so a function is one of a module, or a `functools.partial` of such. The
    processes start anew (``spawn``), which takes them a second or two; a script that uses them keeps its own work under
    ``if __name__ == "__main__":``.

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
        except BrokenProcessPool as error:
            self.__exit__(None, None, None)
            raise _unfinished("a worker process", error) from error

    def _open(self) -> Pool:
        return ProcessPoolExecutor(self.workers, get_context("spawn"), _follow)


def _follow() -> None:
    """Leave Ctrl-C to the process that gives work, and end when that does, also when it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()


def _unfinished(who: str, error: BaseException) -> SpanloomError:
    """Return what is told where a worker died."""
    return SpanloomError(
        f"{who} did not finish its work: {reason_of(error)}; was it killed, or is memory short? Give the same command "
        "again, perhaps with fewer workers"
    )


class _Cluster:
    """An executor on an engine, which is asked for when it is first used, and ended if it was not there before.

    Pieces are pickled as for `Processes`. Its workers may be on other machines, and what dies is run again.

    Args:
        workers: how many, where the engine is started here; one that runs already decides itself.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._end: Callable[[], object] | None = None

    @property
    def shared(self) -> Serial:
        """One after the other."""
        return SERIAL

    def map(self, function: Callable[[T], R], pieces: Iterable[T], /) -> list[R]:
        """Return the results, in the order of the pieces.

        Raises:
            SpanloomError: as the function does, or the engine has given a piece up.
            UsageError: the engine is not installed.
        """
        results: list[R] = []
        for found in self._run(partial(_outcome, function), list(pieces)):
            if isinstance(found, _Raised):
                raise found.error
            results.append(found)
        return results

    def _run(self, function: Callable[[T], R], pieces: list[T]) -> list[R]:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._end is not None:
            self._end()
            self._end = None


class _Raised(NamedTuple):
    """What a function has raised on purpose, which engines would pass on with pages around it."""

    error: SpanloomError


def _outcome(function: Callable[[T], R], piece: T) -> R | _Raised:
    try:
        return function(piece)
    except SpanloomError as error:
        return _Raised(error)


class Ray(_Cluster):
    """Tasks of Ray: of the cluster that ``ray.init`` or ``RAY_ADDRESS`` names, or on this machine."""

    def _run(self, function: Callable[[T], R], pieces: list[T]) -> list[R]:
        with extra("ray", "an executor of Ray"):
            import ray
        if not ray.is_initialized():
            here = {} if "RAY_ADDRESS" in os.environ else {"num_cpus": self.workers, "include_dashboard": False}
            ray.init(log_to_driver=False, **here)
            self._end = ray.shutdown
        task, handed = ray.remote(_call), ray.put(function)
        try:
            found: list[R] = ray.get([task.remote(handed, piece) for piece in pieces])
        except ray.exceptions.RayError as error:
            raise _unfinished("Ray", error) from error
        return found


def _call(function: Callable[[T], R], piece: T) -> R:
    return function(piece)


class Spark(_Cluster):
    """Tasks of Spark: of the session that runs, or on this machine."""

    def _run(self, function: Callable[[T], R], pieces: list[T]) -> list[R]:
        with extra("spark", "an executor of Spark"):
            from py4j.protocol import Py4JError
            from pyspark import SparkConf, SparkContext
            from pyspark.errors import PySparkException
        try:
            if SparkContext._active_spark_context is None:
                self._start(SparkConf(), SparkContext)
            spread = SparkContext.getOrCreate().parallelize(pieces, max(1, len(pieces)))
            found: list[R] = spread.map(function).collect()
        except (Py4JError, PySparkException) as error:
            raise _unfinished("Spark", error) from error
        return found

    def _start(self, settings: Any, context: Any) -> None:
        here = {
            "spark.master": f"local[{self.workers},{_ATTEMPTS}]", "spark.ui.enabled": "false", "spark.log.level": "OFF",
        }  # fmt: skip
        for name, value in here.items():
            settings.setIfMissing(name, value)
        if settings.get("spark.master").startswith("local"):  # else machines have a Python of their own
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        self._end = context.getOrCreate(settings).stop


_NAMED: Final[dict[str, type[Threads | Processes | Ray | Spark]]] = {
    "threads": Threads, "processes": Processes, "ray": Ray, "spark": Spark,
}  # fmt: skip


def executor_named(name: str, n_jobs: int | None) -> Threads | Processes | Ray | Spark:
    """Return an executor of as many workers as ``n_jobs`` means.

    Raises:
        UsageError: there is none of that name.

    >>> executor_named("processes", 2).workers
    2
    """
    if name not in _NAMED:
        raise UsageError(f"executor is {name!r}, expected one of {', '.join(_NAMED)}, or an executor")
    return _NAMED[name](worker_count(n_jobs))


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


def threads(n_jobs: int | None) -> Threads:
    """As many threads as ``n_jobs`` means."""
    return Threads(worker_count(n_jobs))


def even_ranges(count: int, parts: int) -> list[tuple[int, int]]:
    """At most so many ranges of about equal size.

    >>> even_ranges(5, 2)
    [(0, 2), (2, 5)]
    """
    cuts = (count * i // parts for i in range(parts + 1))  # in plain Python: NumPy would take ten times as long
    return [(a, b) for a, b in pairwise(cuts) if a < b]


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
