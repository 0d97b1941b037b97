"""Executors by name: threads and processes, and those that may have many machines, Ray and Spark."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, NamedTuple, Self, TypeVar

from spanloom.errors import SpanloomError, UsageError
from spanloom.extras import extra
from spanloom.parallel import SERIAL, Processes, Serial, Threads, unfinished, worker_count

T = TypeVar("T")
R = TypeVar("R")
_ATTEMPTS: Final = 4  # of a piece, as Spark makes on a cluster


class _Cluster:
    """An executor on an engine, which is started when it is first used, if none runs, and is then ended with this.

    Pieces are pickled as for `Processes`. Workers may be on other machines, and what one did not finish is run again.

    Args:
        workers: how many, where the engine is started here; one that runs already decides itself.

    Raises:
        UsageError: the engine is not installed.
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

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        with extra("ray", "an executor of Ray"):
            import ray
        self._ray = ray

    def _run(self, function: Callable[[T], R], pieces: list[T]) -> list[R]:
        ray = self._ray
        if not ray.is_initialized():
            here = {} if "RAY_ADDRESS" in os.environ else {"num_cpus": self.workers, "include_dashboard": False}
            ray.init(log_to_driver=False, **here)
            self._end = ray.shutdown
        task, handed = ray.remote(_call), ray.put(function)
        try:
            found: list[R] = ray.get([task.remote(handed, piece) for piece in pieces])
        except ray.exceptions.RayError as error:
            raise unfinished("Ray", error) from error
        return found


def _call(function: Callable[[T], R], piece: T) -> R:
    return function(piece)


class Spark(_Cluster):
    """Tasks of Spark: of the session that runs, or on this machine."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        with extra("spark", "an executor of Spark"):
            import py4j.protocol
            import pyspark.errors
        self._spark = pyspark
        self._errors = py4j.protocol.Py4JError, pyspark.errors.PySparkException

    def _run(self, function: Callable[[T], R], pieces: list[T]) -> list[R]:
        try:
            context = self._context()
            # a task costs as much as a short piece, so each has several
            found: list[R] = context.parallelize(pieces, context.defaultParallelism).map(function).collect()
        except self._errors as error:
            raise unfinished("Spark", error) from error
        return found

    def _context(self) -> Any:
        """Return the context of the session that runs, or of a new one."""
        settings, context = self._spark.SparkConf(), self._spark.SparkContext
        if context._active_spark_context is not None:
            return context._active_spark_context
        here = {
            "spark.master": f"local[{self.workers},{_ATTEMPTS}]", "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF",
        }  # fmt: skip
        for name, value in here.items():
            settings.setIfMissing(name, value)
        if settings.get("spark.master").startswith("local"):  # else machines have a Python of their own
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        made = context.getOrCreate(settings)
        self._end = made.stop
        return made


_NAMED: Final[dict[str, type[Threads | Processes | Ray | Spark]]] = {
    "threads": Threads, "processes": Processes, "ray": Ray, "spark": Spark,
}  # fmt: skip


def executor_named(name: str, n_jobs: int | None) -> Threads | Processes | Ray | Spark:
    """Return an executor with the number of workers that ``n_jobs`` requests.

    Raises:
        UsageError: no executor has this name.

    >>> executor_named("processes", 2).workers
    2
    """
    if name not in _NAMED:
        raise UsageError(f"executor is {name!r}, expected {', '.join(_NAMED)}, or, in Python, one of your own")
    return _NAMED[name](worker_count(n_jobs))
