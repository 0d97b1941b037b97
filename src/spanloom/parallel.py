"""Threads for kernels that release the interpreter's lock: the same result for any number of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Protocol, TypeVar

__all__ = ["Map", "even_ranges", "parallel_map", "serial", "threads", "worker_count"]

T = TypeVar("T")
R = TypeVar("R")


class Map(Protocol):
    """What applies a function to each piece of some work: `serial`, or the `map` of a pool of threads."""

    def __call__(self, function: Callable[[T], R], pieces: Iterable[T], /) -> list[R]:
        """The results, in the order of the pieces."""
        ...


MOST_THREADS = 256  # more only cost memory


def worker_count(n_jobs: int | None) -> int:
    """The number of threads meant by ``n_jobs``, as scikit-learn counts: ``None`` is 1, -1 all cores.

    >>> worker_count(2), worker_count(None), worker_count(1 << 31) == MOST_THREADS
    (2, 1, True)
    """
    if n_jobs is None or n_jobs == 0:
        return 1
    return min(n_jobs, MOST_THREADS) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def serial(function: Callable[[T], R], pieces: Iterable[T], /) -> list[R]:
    """One piece after the other."""
    return [function(piece) for piece in pieces]


@contextmanager
def threads(n_jobs: int | None) -> Iterator[Map]:
    """A `Map` on several threads, for many small pieces of work.

    >>> with threads(2) as run:
    ...     run(abs, [-2, 3])
    [2, 3]
    """
    workers = worker_count(n_jobs)
    if workers == 1:
        yield serial
        return
    with ThreadPoolExecutor(workers) as pool:
        yield lambda function, pieces, /: list(pool.map(function, pieces))


def parallel_map(function: Callable[[T], R], pieces: Iterable[T], n_jobs: int | None = 1) -> list[R]:
    """``[function(piece) for piece in pieces]``, on several threads; results stand in the order of the pieces.

    >>> parallel_map(abs, [-2, 3], n_jobs=2)
    [2, 3]
    """
    pieces = list(pieces)
    with threads(min(worker_count(n_jobs), max(len(pieces), 1))) as run:
        return run(function, pieces)


def even_ranges(count: int, parts: int) -> list[tuple[int, int]]:
    """At most so many ranges of about equal size.

    >>> even_ranges(5, 2)
    [(0, 2), (2, 5)]
    """
    cuts = (count * i // parts for i in range(parts + 1))  # in plain Python: NumPy would take ten times as long
    return [(a, b) for a, b in pairwise(cuts) if a < b]
