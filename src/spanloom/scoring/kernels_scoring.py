"""Kernels of the sparse product, tokens x features by features x roles, and of its transpose."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def multiply(indices, offsets, weights, first, end, scores):
    """scores[t] = sum of the weight rows of token t's features, for tokens ``first`` to ``end``."""
    width = weights.shape[1]
    for t in range(first, end):
        row = scores[t]
        row[:] = 0.0
        for i in range(offsets[t], offsets[t + 1]):
            source = weights[indices[i]]
            for r in range(width):
                row[r] += source[r]


@njit(cache=True, nogil=True, error_model="numpy")
def multiply_shares(indices, offsets, values, weights, first, end, scores):
    """As `multiply`, with a value for each feature of a token."""
    width = weights.shape[1]
    for t in range(first, end):
        row = scores[t]
        row[:] = 0.0
        for i in range(offsets[t], offsets[t + 1]):
            source = weights[indices[i]]
            value = values[i]
            for r in range(width):
                row[r] += value * source[r]


@njit(cache=True, nogil=True, error_model="numpy")
def transpose(indices, offsets, first, end, ptr, tokens):
    """Token lists of features, for a matrix whose tokens ``first`` to ``end`` count; ptr holds each feature's next slot."""
    for t in range(first, end):
        for i in range(offsets[t], offsets[t + 1]):
            f = indices[i]
            tokens[ptr[f]] = t
            ptr[f] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def gather(tokens, ptr, residual, first, end, gradient):
    """gradient[f] = sum of the residual rows of the tokens that have feature f, for features ``first`` to ``end``."""
    width = residual.shape[1]
    for f in range(first, end):
        row = gradient[f]
        row[:] = 0.0
        for i in range(ptr[f], ptr[f + 1]):
            source = residual[tokens[i]]
            for r in range(width):
                row[r] += source[r]
