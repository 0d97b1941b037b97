"""Kernels of the candidate search: texts to vectors, the nearest concepts, runs of tokens that are names."""

from __future__ import annotations

import numpy as np

from spanloom.kernels import kernel
from spanloom.kernels_hashing import find_number


@kernel
def vectors(words, ptr, feature_ptr, features, counts, size, out_ptr, out_features, out_counts):
    """Texts as sparse vectors: the sums of their words' vectors.

    Args:
        words, ptr: (W,), (Q + 1,) int64, the words of each text.
        feature_ptr, features, counts: the vector of each distinct word; int64, int64, float32.
        size: the number of features.
        out_ptr: (Q + 1,) int64, output.
        out_features, out_counts: int64, float32, output, large enough; features in the order of their first occurrence.
    """
    total = np.zeros(size, np.float32)
    n = np.int64(0)
    out_ptr[0] = 0
    for q in range(len(ptr) - 1):
        begin = n
        for w in range(ptr[q], ptr[q + 1]):
            for i in range(feature_ptr[words[w]], feature_ptr[words[w] + 1]):
                feature = features[i]
                if total[feature] == 0:
                    out_features[n] = feature
                    n += 1
                total[feature] += counts[i]
        for i in range(begin, n):
            out_counts[i] = total[out_features[i]]
            total[out_features[i]] = 0
        out_ptr[q + 1] = n


@kernel
def nearest(
    ptr, features, weights, posting_ptr, postings, posting_weights, row_concept, k, out_ptr, out_row, out_score
):
    """The k concepts with the largest scalar products, each by its best row.

    Each query adds its weight times theirs to the rows that have its features; then one pass over the rows, which are
    ordered by concept, keeps the best k.

    Args:
        ptr, features, weights: Q queries as sparse vectors; int64, int64, float32.
        posting_ptr, postings, posting_weights: for each feature the rows that have it; int64, int32, float32.
        row_concept: (rows,) int32, ascending.
        k: how many.
        out_ptr: (Q + 1,) int64, output.
        out_row, out_score: (Q * k,) int32 and float32, output; best first, of equal ones the lower concept.
    """
    rows = len(row_concept)
    sums = np.zeros(rows, np.float32)
    best_row = np.empty(k, np.int32)
    best_score = np.empty(k, np.float32)
    n = np.int64(0)
    out_ptr[0] = 0
    for q in range(len(ptr) - 1):
        sums[:] = 0
        for i in range(ptr[q], ptr[q + 1]):
            weight = weights[i]
            for p in range(posting_ptr[features[i]], posting_ptr[features[i] + 1]):
                sums[postings[p]] += weight * posting_weights[p]
        found = best_concepts(sums, row_concept, best_row, best_score)
        for i in range(found):
            out_row[n] = best_row[i]
            out_score[n] = best_score[i]
            n += 1
        out_ptr[q + 1] = n


@kernel
def best_concepts(scores, row_concept, best_row, best_score):
    """The best concepts by their best rows, of those above 0; as many as fit, returns how many.

    Args:
        scores: (rows,) float32.
        row_concept: (rows,) int32, ascending.
        best_row, best_score: (k,) int32 and float32, output.
    """
    k = len(best_row)
    found = 0
    least = np.float32(0)
    row = 0
    rows = len(row_concept)
    while row < rows:
        if scores[row] <= least:
            row += 1
            continue
        concept = row_concept[row]
        top = row
        while row < rows and row_concept[row] == concept:  # rows of this concept before were no better than `least`
            if scores[row] > scores[top]:
                top = row
            row += 1
        score = scores[top]
        if found < k:
            found += 1
        place = found - 1
        while place > 0 and best_score[place - 1] < score:
            best_score[place] = best_score[place - 1]
            best_row[place] = best_row[place - 1]
            place -= 1
        best_score[place] = score
        best_row[place] = top
        if found == k:
            least = best_score[k - 1]
    return found


@kernel
def runs(values, bounds, longest, keys, table, shift, out_first, out_end, out_key):
    """Runs of tokens whose values sum to a key.

    A run begins and ends with a token whose value is not 0.

    Args:
        values: (T,) uint64.
        bounds: (N + 1,) int64, the sentences, which no run leaves.
        longest: tokens of a run at most.
        keys: uint64, none 0.
        table, shift: the number of each key, see `spanloom.kernels_hashing.find_number`.
        out_first, out_end: int64; out_key: int64, the number of the key; output, as many as fit.

    Returns:
        The number of runs; where it is larger than the output, call again with more room.
    """
    n = np.int64(0)
    for s in range(len(bounds) - 1):
        for first in range(bounds[s], bounds[s + 1]):
            if values[first] == 0:
                continue
            total = np.uint64(0)
            for last in range(first, min(first + longest, bounds[s + 1])):
                total += values[last]
                key = find_number(table, shift, keys, total) if values[last] != 0 else -1
                if key < 0:
                    continue
                if n < len(out_first):
                    out_first[n] = first
                    out_end[n] = last + 1
                    out_key[n] = key
                n += 1
    return n
