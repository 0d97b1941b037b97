"""The linear scorer: tokens x features by features x roles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spanloom.features import Dense, Sparse
from spanloom.hypergraph import Ints, Potentials, Singles
from spanloom.native import Kernel
from spanloom.parallel import SERIAL, Executor, even_ranges

_Term: TypeAlias = tuple[NDArray[np.int32], Ints, Ints, Singles]
_multiply, _transpose, _count, _gather = (Kernel(name) for name in ("multiply", "transpose", "count", "gather"))
_dense, _score, _add, _gather_dense = (
    Kernel(name) for name in ("add_dense", "score_words", "add_words", "gather_dense")
)
_rows = Kernel("add_rows")
_PIECES = 16
_SMALLEST = 256  # rows of a piece, about: below, a kernel's call takes longer than its work
_FEWEST = 1 << 16  # likewise, entries of a piece of a transposed matrix
_PIECES_DENSE = 4  # each reads all residuals


class Weights(NamedTuple):
    """Learned weights.

    Args:
        features: (F, R, K) float32; those of dense columns are the last ones.
        constants: (C, K) float32.
    """

    features: Singles
    constants: Singles

    @classmethod
    def zeros(cls, features: int, roles: int, constants: int, types: int) -> Weights:
        """Weights that are all zero."""
        return cls(np.zeros((features, roles, types), np.float32), np.zeros((constants, types), np.float32))


class Transposed(NamedTuple):
    """The tokens of each feature that some text has; dense columns are separate.

    Args:
        tokens: those of feature ``features[i]`` are ``tokens[ptr[i]:ptr[i + 1]]``, ascending.
        ptr: (A + 1,).
        features: (A,) their numbers, ascending.
        dense: the text's dense columns.
    """

    tokens: NDArray[np.int32]
    ptr: Ints
    features: NDArray[np.int32]
    dense: Dense | None = None


def role_scores(matrix: Sparse, weights: Weights, rows: Ints | None = None, run: Executor = SERIAL) -> Potentials:
    """The potentials of tokens: (T, R, K) role scores, and the constants.

    Args:
        matrix: binary but for its dense columns; its values are not looked at.
        weights: of each feature's every occurrence.
        rows: (T,) the tokens that are wanted, as rows of the matrix; all when ``None``.
        run: how pieces of the work are run.
    """
    rows = np.arange(len(matrix.offsets) - 1) if rows is None else rows
    _, roles, types = weights.features.shape
    flat = weights.features.reshape(-1, roles * types)
    if matrix.shared is None:
        terms = [(matrix.indices, matrix.offsets, rows, flat)]
    else:
        own, at, offsets = matrix.shared
        values = _summed([(own.indices, own.offsets, np.arange(len(own.offsets) - 1), flat)], run)
        terms = [(at, offsets, rows, values), (matrix.indices, matrix.offsets, rows, flat)]
    scores = _summed(terms, run)
    if matrix.dense is not None:
        _add_dense(matrix.dense, flat[len(flat) - matrix.dense.width :], rows, scores, run)
    return Potentials(scores.reshape(len(rows), roles, types), weights.constants)


def _summed(terms: Sequence[_Term], run: Executor) -> Singles:
    """Return the sum of sparse products, each of so many rows: indices, their offsets, wanted rows, and what to add."""
    scores = np.zeros((len(terms[0][2]), terms[0][3].shape[1]), np.float32)
    ranges = even_ranges(len(scores), min(_PIECES, 1 + len(scores) // _SMALLEST) if run.workers > 1 else 1)
    for term in terms:
        run.map(lambda piece, term=term: _multiply(*term, *piece, scores), ranges)  # type: ignore[misc]
    return scores


def _add_dense(dense: Dense, weights: Singles, rows: Ints, scores: Singles, run: Executor) -> None:
    """Add what the dense columns of some tokens score, (B, R K).

    Where there are more tokens than words, each word's score at a position is computed once; the sums are the same.
    """
    size = dense.table.shape[1]
    if len(rows) > len(dense.table):
        for place in range(dense.rows.shape[1]):
            own = weights[place * size : (place + 1) * size]
            _add_words(dense.table, own, dense.rows[rows, place], scores, run)
        return
    run.map(
        lambda piece: _dense(
            dense.table, dense.rows, rows, weights, np.empty(weights.shape[1], np.float32), *piece, scores
        ),
        even_ranges(len(rows), _PIECES),
    )


def _add_words(table: Singles, weights: Singles, column: NDArray[np.int32], scores: Singles, run: Executor) -> None:
    """Add what one position scores: (D, R K) weights, (B,) rows of the table."""
    words = np.empty((len(table), weights.shape[1]), np.float32)
    run.map(lambda piece: _score(table, weights, *piece, words), even_ranges(len(words), _PIECES))
    run.map(lambda piece: _add(words, column, *piece, scores), even_ranges(len(column), _PIECES))


def dense_gradient(dense: Dense, rows: Ints, residual: Singles, out: Singles, run: Executor = SERIAL) -> None:
    """The transposed product of dense columns: (B, R K) residuals of some tokens to the (P D, R K) gradient ``out``.

    Each column's sum runs over the tokens in order, so the result does not depend on the number of threads. A routine
    of a linear algebra library promises no such thing.
    """
    own = np.empty_like(out)
    run.map(
        lambda piece: _gather_dense(dense.table, dense.rows, rows, residual, *piece, own, out),
        even_ranges(len(out), _PIECES_DENSE),
    )


def transpose(matrix: Sparse, features: int, tokens: NDArray[np.int32] | None = None) -> Transposed:
    """The transpose of a binary matrix.

    Args:
        matrix: (T, F).
        features: F, dense columns among them.
        tokens: where it is written, of the size of ``matrix.indices``; a new array when ``None``.
    """
    tokens = np.empty(len(matrix.indices), np.int32) if tokens is None else tokens
    places = np.zeros(features, np.int64)
    _count(matrix.indices, places)
    found = np.flatnonzero(places).astype(np.int32)
    ptr = np.append(0, places[found].cumsum())
    places[found] = ptr[:-1]
    _transpose(matrix.indices, matrix.offsets, places, tokens)
    return Transposed(tokens, ptr, found, matrix.dense)


def role_gradient(
    transposed: Transposed, residual: Singles, out: Singles, run: Executor = SERIAL, *, add: bool = False
) -> None:
    """Compute the transposed product: (T, R, K) residuals of roles to the (F, R, K) gradient ``out``.

    Each feature's sum runs over its tokens in order, so the result does not depend on the number of threads.

    Args:
        transposed: of the tokens.
        residual: of the same.
        out: the gradient is written to it.
        run: executor of the pieces of work.
        add: whether to add to ``out`` instead of overwriting it.
    """
    width = residual.shape[1] * residual.shape[2]
    flat, rows = out.reshape(-1, width), residual.reshape(-1, width)
    if not add:
        flat[:] = 0
    tokens, ptr, features, dense = transposed
    shares = np.linspace(0, ptr[-1], min(_PIECES, 1 + int(ptr[-1]) // _FEWEST) + 1)[1:-1]  # ranges with about as many
    cuts = sorted({0, *np.searchsorted(ptr, shares).tolist(), len(ptr) - 1})
    run.map(lambda piece: _gather(tokens, ptr, features, rows, *piece, flat), list(pairwise(cuts)))
    if dense is not None:
        own = np.empty((dense.width, width), np.float32)
        dense_gradient(dense, np.arange(len(rows)), rows, own, run)
        flat[len(flat) - dense.width :] += own


def add_rows(features: NDArray[np.int32], rows: Singles, first: int, gradient: Singles) -> None:
    """Add the gradient of some features, (A, R, K), to that of a range of all features, which begins at ``first``."""
    width = gradient.shape[1] * gradient.shape[2]
    _rows(features, rows.reshape(-1, width), first, gradient.reshape(-1, width))
