"""Threads for kernels that release the interpreter's lock: the same result for any number of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def worker_count(n_jobs: int | None) -> int:
    """The number of threads meant by ``n_jobs``, as scikit-learn counts: ``None`` is 1, -1 all cores."""
    if n_jobs is None or n_jobs == 0:
        return 1
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def parallel_map(function: Callable[[T], R], pieces: Iterable[T], n_jobs: int | None = 1) -> list[R]:
    """``[function(piece) for piece in pieces]``, on several threads; results stand in the order of the pieces.

    >>> parallel_map(abs, [-2, 3], n_jobs=2)
    [2, 3]
    """
    pieces = list(pieces)
    workers = min(worker_count(n_jobs), len(pieces))
    if workers <= 1:
        return [function(piece) for piece in pieces]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, pieces))
