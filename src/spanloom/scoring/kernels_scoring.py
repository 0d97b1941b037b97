"""Kernels of the sparse product, tokens x features by features x roles, and of its transpose."""

from spanloom.kernels import kernel

BLOCK = 256  # tokens


@kernel
def multiply(indices, offsets, rows, weights, first, end, scores):
    """scores[i] += sum of the weight rows of the features of token rows[i], for places ``first`` to ``end``."""
    width = weights.shape[1]
    for place in range(first, end):
        t = rows[place]
        total = scores[place]
        for i in range(offsets[t], offsets[t + 1]):
            source = weights[indices[i]]
            for r in range(width):
                total[r] += source[r]


@kernel
def add_dense(table, columns, rows, weights, own, first, end, scores):
    """scores[i] += at each position the vector of token rows[i] times that position's weights, ``first`` to ``end``.

    Each position's product is summed on its own, and then added: it does not depend on how many others there are.

    Args:
        table: (V, D).
        columns: (T, P) rows of the table.
        rows: (B,) tokens.
        weights: (P D, R K).
        own: (R K,) scratch.
    """
    size, width = table.shape[1], weights.shape[1]
    for place in range(first, end):
        t = rows[place]
        total = scores[place]
        for p in range(columns.shape[1]):
            vector = table[columns[t, p]]
            own[:] = 0.0
            for d in range(size):
                x = vector[d]
                if x != 0.0:
                    source = weights[p * size + d]
                    for r in range(width):
                        own[r] += x * source[r]
            for r in range(width):
                total[r] += own[r]


@kernel
def score_words(table, weights, first, end, scores):
    """scores[v] = row v of a table times the weights of one position, for rows ``first`` to ``end``."""
    width = weights.shape[1]
    for v in range(first, end):
        own = scores[v]
        own[:] = 0.0
        for d in range(table.shape[1]):
            x = table[v, d]
            if x != 0.0:
                source = weights[d]
                for r in range(width):
                    own[r] += x * source[r]


@kernel
def add_words(words, column, first, end, scores):
    """scores[i] += words[column[i]], for places ``first`` to ``end``."""
    width = words.shape[1]
    for place in range(first, end):
        source, total = words[column[place]], scores[place]
        for r in range(width):
            total[r] += source[r]


@kernel
def gather_dense(table, columns, rows, residual, first, end, own, gradient):
    """gradient[p D + d] = sum over tokens rows[i] of their vectors' number d at p times residual[i], for p D + d from
    ``first`` to ``end``.

    A sum of many numbers in single precision is taken in blocks, or its end would be lost.

    Args:
        own: (P D, R K) scratch.
    """
    size, width = table.shape[1], residual.shape[1]
    gradient[first:end] = 0.0
    for begin in range(0, len(rows), BLOCK):
        own[first:end] = 0.0
        for place in range(begin, min(len(rows), begin + BLOCK)):
            source = residual[place]
            t = rows[place]
            for p in range(first // size, (end + size - 1) // size):
                vector = table[columns[t, p]]
                for c in range(max(first, p * size), min(end, (p + 1) * size)):
                    x = vector[c - p * size]
                    if x != 0.0:
                        row = own[c]
                        for r in range(width):
                            row[r] += x * source[r]
        for c in range(first, end):
            for r in range(width):
                gradient[c, r] += own[c, r]


@kernel
def transpose(indices, offsets, ptr, tokens):
    """Token lists of features; ``ptr`` holds each feature's next slot."""
    for t in range(len(offsets) - 1):
        for i in range(offsets[t], offsets[t + 1]):
            f = indices[i]
            tokens[ptr[f]] = t
            ptr[f] += 1


@kernel
def count(indices, counts):
    """Add to ``counts`` how often each number is among ``indices``."""
    for f in indices:
        counts[f] += 1


@kernel
def gather(tokens, ptr, features, residual, first, end, own, gradient):
    """gradient[features[i]] += sum of the residual rows of the tokens that have it, for places ``first`` to ``end``.

    The sum is taken apart and then added, so that it is the same whether others stand in the gradient already.

    Args:
        own: (R K,) scratch.
    """
    width = residual.shape[1]
    for i in range(first, end):
        own[:] = 0.0
        for j in range(ptr[i], ptr[i + 1]):
            source = residual[tokens[j]]
            for r in range(width):
                own[r] += source[r]
        row = gradient[features[i]]
        for r in range(width):
            row[r] += own[r]


@kernel
def add_rows(features, rows, begin, gradient):
    """gradient[features[i] - begin] += rows[i]."""
    width = rows.shape[1]
    for i in range(len(features)):
        row, source = gradient[features[i] - begin], rows[i]
        for r in range(width):
            row[r] += source[r]
