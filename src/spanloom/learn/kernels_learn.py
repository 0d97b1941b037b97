"""Kernels of the optimizers: the AdaGrad step of a batch, and vector operations that do not depend on threads."""

import numpy as np

from spanloom.kernels import kernel

BLOCK = 4096


@kernel
def distinct_features(indices, offsets, tokens, counts, features):
    """The features of a batch of tokens, each once, in order of first occurrence.

    Args:
        tokens: (B,) the batch, as rows of the matrix.
        counts: (F,) 0 everywhere; how many of the tokens have each feature, afterwards.
        features: filled in.

    Returns:
        The number of features.
    """
    found = 0
    for t in tokens:
        for i in range(offsets[t], offsets[t + 1]):
            f = indices[i]
            if counts[f] == 0:
                features[found] = f
                found += 1
            counts[f] += 1
    return found


@kernel
def feature_places(indices, offsets, tokens, features, counts, ptr, places):
    """For each of the distinct features of a batch the places of its tokens in the batch.

    Args:
        tokens: (B,) the batch, as rows of the matrix.
        features: of the batch, in any order.
        counts: (F,) as `distinct_features` leaves it; 0 everywhere, afterwards.
        ptr: filled in; one more than there are features.
        places: filled in, ascending in each feature's list.
    """
    ptr[0] = 0
    for j in range(len(features)):
        ptr[j + 1] = ptr[j] + counts[features[j]]
        counts[features[j]] = ptr[j]  # from now on the next slot to fill
    for place in range(len(tokens)):
        t = tokens[place]
        for i in range(offsets[t], offsets[t + 1]):
            f = indices[i]
            places[counts[f]] = place
            counts[f] += 1
    for f in features:
        counts[f] = 0


@kernel
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
        source = residual[places[ptr[j]]]
        for r in range(width):
            row[r] = source[r]
        for i in range(ptr[j] + 1, ptr[j + 1]):
            source = residual[places[i]]
            for r in range(width):
                row[r] += source[r]
        f = features[j]
        p, step = penalty[f], np.float32(rate * stretch[f])
        for r in range(width):
            g = row[r] + p * weights[f, r]
            total = squares[f, r] + g * g
            squares[f, r] = total
            weights[f, r] -= step * g / (np.sqrt(total) + np.float32(1e-8))


@kernel
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


@kernel
def add_scaled(result, x, factor, y, first, end):
    """result = x + factor y, for elements ``first`` to ``end``; ``result`` may be one of the others."""
    for i in range(first, end):
        result[i] = x[i] + factor * y[i]


@kernel
def scale(result, factor, x, first, end):
    """result = factor x, for elements ``first`` to ``end``; ``result`` may be ``x``."""
    for i in range(first, end):
        result[i] = factor * x[i]
