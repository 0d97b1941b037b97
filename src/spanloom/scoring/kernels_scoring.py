"""Kernels of the sparse product, tokens x features by features x roles, and of its transpose."""

from spanloom.kernels import kernel


@kernel
def multiply(indices, offsets, rows, weights, first, end, scores):
    """scores[i] = sum of the weight rows of the features of token rows[i], for places ``first`` to ``end``."""
    width = weights.shape[1]
    for place in range(first, end):
        t = rows[place]
        total = scores[place]
        total[:] = 0.0
        for i in range(offsets[t], offsets[t + 1]):
            source = weights[indices[i]]
            for r in range(width):
                total[r] += source[r]


@kernel
def transpose(indices, offsets, ptr, tokens):
    """Token lists of features; ``ptr`` holds each feature's next slot."""
    for t in range(len(offsets) - 1):
        for i in range(offsets[t], offsets[t + 1]):
            f = indices[i]
            tokens[ptr[f]] = t
            ptr[f] += 1


@kernel
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
