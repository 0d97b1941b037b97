"""The linear scorer: tokens x features by features x roles. Whatever else gives role scores one day stands beside it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spanloom.features import Sparse
from spanloom.hypergraph import Ints, Potentials, Singles
from spanloom.hypergraph.threads import parallel_map, worker_count
from spanloom.scoring import kernels_scoring as kernels


class Weights(NamedTuple):
    """What is learned.

    Args:
        features: (F, R, K) float32.
        constants: (C, K) float32.
    """

    features: Singles
    constants: Singles

    @classmethod
    def zeros(cls, features: int, roles: int, constants: int, types: int) -> Weights:
        """Weights that are all zero."""
        return cls(np.zeros((features, roles, types), np.float32), np.zeros((constants, types), np.float32))


class Transposed(NamedTuple):
    """The tokens of each feature: ``tokens[ptr[f]:ptr[f + 1]]``."""

    tokens: Ints
    ptr: Ints


def role_scores(matrix: Sparse, weights: Weights, n_jobs: int | None = 1) -> Potentials:
    """The potentials of all tokens of a matrix: (T, R, K) role scores and the constants."""
    tokens = len(matrix.offsets) - 1
    _, roles, types = weights.features.shape
    scores = np.empty((tokens, roles * types), np.float32)
    flat = weights.features.reshape(len(weights.features), -1)

    def run(piece: tuple[int, int]) -> None:
        if matrix.values is None:
            kernels.multiply(matrix.indices, matrix.offsets, flat, *piece, scores)
        else:
            kernels.multiply_shares(matrix.indices, matrix.offsets, matrix.values, flat, *piece, scores)

    parallel_map(run, _ranges(matrix.offsets, n_jobs), n_jobs)
    return Potentials(scores.reshape(tokens, roles, types), weights.constants)


def transpose(matrix: Sparse, features: int) -> Transposed:
    """The transpose of a binary matrix with this many features; tokens ascend in each feature's list."""
    ptr = np.zeros(features + 1, np.int64)
    np.cumsum(np.bincount(matrix.indices, minlength=features), out=ptr[1:])
    tokens = np.empty(len(matrix.indices), np.int32)
    kernels.transpose(matrix.indices, matrix.offsets, 0, len(matrix.offsets) - 1, ptr[:-1].copy(), tokens)
    return Transposed(tokens, ptr)


def role_gradient(transposed: Transposed, residual: Singles, out: Singles, n_jobs: int | None = 1) -> None:
    """The transposed product: (T, R, K) residuals of roles to the (F, R, K) gradient ``out``.

    Each feature's sum runs over its tokens in order, so the result does not depend on the number of threads.
    """
    flat = out.reshape(len(out), -1)
    rows = residual.reshape(len(residual), -1)
    parallel_map(
        lambda piece: kernels.gather(transposed.tokens, transposed.ptr, rows, *piece, flat),
        _ranges(transposed.ptr, n_jobs),
        n_jobs,
    )


def _ranges(offsets: Ints, n_jobs: int | None) -> list[tuple[int, int]]:
    """Ranges of rows with about equally many entries."""
    parts = 4 * worker_count(n_jobs) if worker_count(n_jobs) > 1 else 1
    cuts = np.unique(np.searchsorted(offsets, np.linspace(0, offsets[-1], parts + 1)[1:-1]))
    cuts = np.unique([0, *cuts, len(offsets) - 1])
    return [(int(a), int(b)) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]
