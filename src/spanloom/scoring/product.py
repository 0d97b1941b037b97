"""The linear scorer: tokens x features by features x roles."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.features import Sparse
from spanloom.hypergraph import Ints, Potentials, Singles
from spanloom.parallel import SERIAL, Executor, even_ranges
from spanloom.scoring import kernels_scoring as kernels

_PIECES = 16


class Weights(NamedTuple):
    """Learned weights.

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
    """The tokens of each feature: ``tokens[ptr[f]:ptr[f + 1]]``, ascending."""

    tokens: NDArray[np.int32]
    ptr: Ints


def role_scores(matrix: Sparse, weights: Weights, rows: Ints | None = None, run: Executor = SERIAL) -> Potentials:
    """The potentials of tokens: (T, R, K) role scores, and the constants.

    Args:
        matrix: binary; its values are not looked at.
        weights: of each feature's every occurrence.
        rows: (T,) the tokens that are wanted, as rows of the matrix; all when ``None``.
        run: how pieces of the work are run.
    """
    rows = np.arange(len(matrix.offsets) - 1) if rows is None else rows
    _, roles, types = weights.features.shape
    scores = np.empty((len(rows), roles * types), np.float32)
    flat = weights.features.reshape(-1, roles * types)
    run.map(
        lambda piece: kernels.multiply(matrix.indices, matrix.offsets, rows, flat, *piece, scores),
        even_ranges(len(rows), _PIECES),
    )
    return Potentials(scores.reshape(len(rows), roles, types), weights.constants)


def transpose(matrix: Sparse, features: int) -> Transposed:
    """The transpose of a binary matrix with this many features."""
    ptr = np.zeros(features + 1, np.int64)
    np.cumsum(np.bincount(matrix.indices, minlength=features), out=ptr[1:])
    tokens = np.empty(len(matrix.indices), np.int32)
    kernels.transpose(matrix.indices, matrix.offsets, ptr[:-1].copy(), tokens)
    return Transposed(tokens, ptr)


def role_gradient(transposed: Transposed, residual: Singles, out: Singles, run: Executor = SERIAL) -> None:
    """The transposed product: (T, R, K) residuals of roles to the (F, R, K) gradient ``out``.

    Each feature's sum runs over its tokens in order, so the result does not depend on the number of threads.
    """
    width = residual.shape[1] * residual.shape[2]
    flat, rows = out.reshape(-1, width), residual.reshape(-1, width)
    run.map(
        lambda piece: kernels.gather(transposed.tokens, transposed.ptr, rows, *piece, flat),
        _even_work(transposed.ptr),
    )


def _even_work(ptr: Ints) -> list[tuple[int, int]]:
    """Ranges of features with about equally many tokens."""
    shares = np.linspace(0, ptr[-1], _PIECES + 1)[1:-1]
    cuts = np.unique([0, *np.searchsorted(ptr, shares), len(ptr) - 1]).tolist()
    return list(pairwise(cuts))
