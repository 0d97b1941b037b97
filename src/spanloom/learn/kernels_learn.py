"""Kernels of the optimizers: the AdaGrad step of a batch, and vector operations that do not depend on threads."""

import numpy as np
from numba import njit

BLOCK = 4096


@njit(cache=True, nogil=True, error_model="numpy")
def batch_features(indices, offsets, tokens, mark, features, ptr, places):
    """The features of a batch of tokens with, for each, the places of its tokens in the batch.

    Args:
        tokens: (B,) the batch, as rows of the matrix.
        mark: (F,) -1 everywhere, before and after.
        features: filled in, in order of first occurrence.
        ptr: filled in; one more than there are features.
        places: filled in, ascending in each feature's list.

    Returns:
        The number of features.
    """
    found = 0
    for t in tokens:
        for i in range(offsets[t], offsets[t + 1]):
            f = indices[i]
            if mark[f] < 0:
                mark[f] = found
                features[found] = f
                ptr[found + 1] = 0
                found += 1
            ptr[mark[f] + 1] += 1
    ptr[0] = 0
    for j in range(found):
        ptr[j + 1] += ptr[j]
    for place in range(len(tokens) - 1, -1, -1):
        t = tokens[place]
        for i in range(offsets[t], offsets[t + 1]):
            j = mark[indices[i]] + 1
            ptr[j] -= 1
            places[ptr[j]] = place
    # ptr[j + 1] now is the beginning of feature j: move it down
    for j in range(found):
        ptr[j] = ptr[j + 1]
        mark[features[j]] = -1
    total = 0
    for t in tokens:
        total += offsets[t + 1] - offsets[t]
    ptr[found] = total
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def adagrad(features, ptr, places, residual, penalty, stretch, rate, first, end, weights, squares, row):
    """One AdaGrad step on the weight rows of a batch's features ``first`` to ``end``.

    g = sum of residuals + penalty w;  G += g^2;  w -= rate stretch g / sqrt(G)      (Duchi et al. 2011)

    Args:
        residual: (B, R K) expected minus gold role counts of the batch's tokens.
        penalty: (F,) twice lambda, over the group's size and the number of batches that have the feature.
        stretch: (F,) a factor of the step.
        row: (R K,) scratch.
    """
    width = weights.shape[1]
    for j in range(first, end):
        f = features[j]
        row[:] = 0.0
        for i in range(ptr[j], ptr[j + 1]):
            source = residual[places[i]]
            for r in range(width):
                row[r] += source[r]
        w, g2 = weights[f], squares[f]
        p, step = penalty[f], np.float32(rate * stretch[f])
        for r in range(width):
            g = row[r] + p * w[r]
            g2[r] += g * g
            w[r] -= step * g / (np.sqrt(g2[r]) + np.float32(1e-8))


@njit(cache=True, nogil=True, error_model="numpy")
def dot(x, y, partial, first, end):
    """Sums of products of blocks ``first`` to ``end``, in double precision."""
    sums = np.empty(8)
    for block in range(first, end):
        sums[:] = 0.0
        low, high = block * BLOCK, min(len(x), (block + 1) * BLOCK)
        whole = low + (high - low) // 8 * 8
        for i in range(low, whole, 8):  # eight sums side by side: an addition need not wait for the one before
            for j in range(8):
                sums[j] += np.float64(x[i + j]) * y[i + j]
        for i in range(whole, high):
            sums[0] += np.float64(x[i]) * y[i]
        partial[block] = sums.sum()


@njit(cache=True, nogil=True, error_model="numpy")
def add_scaled(y, factor, x, first, end):
    """y += factor x, for elements ``first`` to ``end``."""
    for i in range(first, end):
        y[i] += factor * x[i]
