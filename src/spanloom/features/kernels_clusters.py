"""Kernels of the greedy merging of Brown clustering.

Let ``n[a, x]`` be how often a word of cluster x follows one of cluster a, ``n[a]`` how often cluster a occurs, and M
the number of tokens. The average mutual information of neighbouring clusters (Brown et al. 1992, section 3) is,
times M and but for a constant,

    sum over a, x of  n[a, x] log n[a, x]  -  sum over a of  s[a] log n[a],    s[a] = sum over x of n[a, x] + n[x, a].

With f(n) = n log n and g(i, j) = f(i) + f(j) - f(i + j), merging a and b loses

    loss[a, b] = sum over x not in {a, b} of  g(n[a, x], n[b, x]) + g(n[x, a], n[x, b])
               + f(n[a, a]) + f(n[a, b]) + f(n[b, a]) + f(n[b, b]) - f(n[a, a] + n[a, b] + n[b, a] + n[b, b])
               + (s[a] + s[b]) log(n[a] + n[b]) - s[a] log n[a] - s[b] log n[b].

g is 0 where one of its arguments is. So a word that enters changes few losses, and a merge changes those only of the
clusters that stand beside the rarer partner: a step costs O(C) for each neighbour of one rare word, and not the O(C^2)
of the usual update (Brown et al. 1992; Liang 2005), which touches every pair. Only the search for the least loss reads
all C^2/2 numbers.

Logarithms are whole numbers, log(n) * 2^k rounded. All sums are then exact: losses do not drift over thousands of
updates, and equal losses are equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel, kernel_only

NEVER = np.iinfo(np.int64).max


class Bigrams(NamedTuple):
    """Neighbours of each word, V words, as two compressed sparse row matrices: right and left neighbours."""

    right_start: NDArray[np.int64]  # (V + 1,)
    right_word: NDArray[np.int64]
    right_count: NDArray[np.int64]
    left_start: NDArray[np.int64]  # (V + 1,)
    left_word: NDArray[np.int64]
    left_count: NDArray[np.int64]


class Window(NamedTuple):
    """The active clusters, one a slot (C + 1 slots); a cluster's name is its first, most frequent, word."""

    right: NDArray[np.int32]  # (C + 1, C + 1) right[a, x]: how often x follows a
    left: NDArray[np.int32]  # (C + 1, C + 1) its transpose, so that columns are contiguous too
    loss: NDArray[np.int64]  # (C + 1, C + 1) what merging loses, below the diagonal; NEVER where a slot is free
    counts: NDArray[np.int64]  # (C + 1,) occurrences
    margin: NDArray[np.int64]  # (C + 1,) s[a]
    name: NDArray[np.int64]  # (C + 1,) the first word; -1 for a free slot
    parent: NDArray[np.int64]  # (V,) union-find over words; a root names its cluster
    slot: NDArray[np.int64]  # (V,) a root's slot; -1 for a word that has not entered
    logs: NDArray[np.int64]  # logs[n] = log(n) * scale, rounded, for the small n
    scale: float


@kernel
def scaled_logs(size, scale):
    """Return ``round(log(n) * scale)`` for each n below ``size``; 0 for n = 0."""
    logs = np.zeros(size, np.int64)
    for n in range(1, size):
        logs[n] = np.int64(np.rint(np.log(float(n)) * scale))
    return logs


@kernel_only
def _log(window, n):
    if n < window.logs.size:
        return window.logs[n]
    return np.int64(np.rint(np.log(float(n)) * window.scale))


@kernel_only
def _f(window, n):
    return n * _log(window, n)


@kernel_only
def _g(window, i, j):
    return _f(window, i) + _f(window, j) - _f(window, i + j)


@kernel_only
def _corner(window, a, b):
    """Return the loss's second line: the counts between a and b themselves."""
    aa, ab = np.int64(window.right[a, a]), np.int64(window.right[a, b])
    ba, bb = np.int64(window.right[b, a]), np.int64(window.right[b, b])
    apart = _f(window, aa) + _f(window, ab) + _f(window, ba) + _f(window, bb)
    return apart - _f(window, aa + ab + ba + bb)


@kernel_only
def _margins(window, a, b):
    """Return the loss's third line: the clusters' own frequencies."""
    count, margin = window.counts, window.margin
    joint = (margin[a] + margin[b]) * _log(window, count[a] + count[b])
    return joint - margin[a] * _log(window, count[a]) - margin[b] * _log(window, count[b])


@kernel_only
def _root(parent, word):
    while parent[word] != word:
        parent[word] = parent[parent[word]]
        word = parent[word]
    return word


@kernel_only
def _enter_counts(window, bigrams, word, new):
    for e in range(bigrams.right_start[word], bigrams.right_start[word + 1]):
        x = window.slot[_root(window.parent, bigrams.right_word[e])]
        if x >= 0:
            window.right[new, x] += bigrams.right_count[e]
            window.left[x, new] = window.right[new, x]
    for e in range(bigrams.left_start[word], bigrams.left_start[word + 1]):
        x = window.slot[_root(window.parent, bigrams.left_word[e])]
        if x >= 0 and x != new:
            window.right[x, new] += bigrams.left_count[e]
            window.left[new, x] = window.right[x, new]


@kernel_only
def _enter_margins(window, new):
    """Update s[c] where c stands beside the new cluster, and with it the losses of c with every other."""
    count, loss = window.counts, window.loss
    for c in range(count.size):
        grown = np.int64(window.right[new, c]) + window.left[new, c]
        window.margin[new] += grown
        if grown == 0 or c == new:
            continue
        window.margin[c] += grown
        own = _log(window, count[c])
        for d in range(count.size):
            if d != c and d != new and window.name[d] >= 0:
                loss[max(c, d), min(c, d)] += grown * (_log(window, count[c] + count[d]) - own)


@kernel_only
def _enter_pairs(window, row, new):
    """Add the term of x = new to the losses of those pairs that both stand beside it; ``row`` is right or left."""
    for c in range(row.shape[0]):
        if c == new or row[new, c] == 0:
            continue
        for d in range(c):
            if d != new and row[new, d]:
                window.loss[c, d] += _g(window, np.int64(row[new, c]), np.int64(row[new, d]))


@kernel_only
def _enter_row(window, row, column, new, losses):
    """Add the terms g(row[new, x], row[c, x]) to ``losses[c]``; ``column`` is the transpose of ``row``."""
    for x in range(row.shape[0]):
        i = np.int64(row[new, x])
        if i == 0 or x == new:
            continue
        for c in range(row.shape[0]):
            j = np.int64(column[x, c])
            if j and c != x:
                losses[c] += _g(window, i, j)


@kernel_only
def _enter(window, bigrams, word, count):
    """Make a word a cluster of its own, in the first free slot."""
    new = 0
    while window.name[new] >= 0:
        new += 1
    window.slot[word], window.name[new] = new, word
    window.counts[new], window.margin[new] = count, 0
    _enter_counts(window, bigrams, word, new)
    _enter_margins(window, new)
    _enter_pairs(window, window.right, new)
    _enter_pairs(window, window.left, new)
    losses = np.zeros(window.counts.size, np.int64)
    _enter_row(window, window.right, window.left, new, losses)
    _enter_row(window, window.left, window.right, new, losses)
    for c in range(window.counts.size):
        if c != new and window.name[c] >= 0:
            total = losses[c] + _corner(window, new, c) + _margins(window, new, c)
            window.loss[max(c, new), min(c, new)] = total


@kernel_only
def _cheapest(window):
    """Return the two slots whose merging loses least; among equals those with the first names."""
    loss, name = window.loss, window.name
    best, left, right, key = NEVER, 0, 0, (NEVER, NEVER)
    for c in range(1, loss.shape[0]):
        least = NEVER
        for d in range(c):
            least = min(least, loss[c, d])
        if least > best or least == NEVER:
            continue
        for d in range(c):
            if loss[c, d] == least:
                names = (min(name[c], name[d]), max(name[c], name[d]))
                if least < best or names < key:
                    best, left, right, key = least, c, d, names
    return left, right


@kernel_only
def _merge_pairs(window, row, a, b):
    """Update the losses of pairs of other clusters: replace the terms of x = a and x = b by that of their union.

    Nothing changes unless c or d stands beside b. A pair of two such clusters is met twice: it is done where d < c.
    """
    size = row.shape[0]
    for c in range(size):
        bc = np.int64(row[b, c])
        if bc == 0 or c in (a, b):
            continue
        ac = np.int64(row[a, c])
        for d in range(size):
            ad, bd = np.int64(row[a, d]), np.int64(row[b, d])
            if ad + bd == 0 or d in (a, b, c) or (bd and d > c):
                continue
            change = _g(window, ac + bc, ad + bd) - _g(window, ac, ad) - _g(window, bc, bd)
            window.loss[max(c, d), min(c, d)] += change


@kernel_only
def _merge_row(window, row, column, a, b, change):
    """Compute the change of the losses of a with every other cluster, without the second and third line."""
    size = row.shape[0]
    for x in range(size):
        if row[b, x] == 0 or x in (a, b):
            continue
        i = np.int64(row[a, x])
        k = i + row[b, x]
        base = _f(window, k) - _f(window, i)
        for c in range(size):
            j = np.int64(column[x, c])
            if j and c != x:
                change[c] += base - _f(window, k + j) + _f(window, i + j)
    ab = np.int64(row[a, b])
    if ab:
        for c in range(size):
            change[c] -= _g(window, ab, np.int64(column[b, c]))


@kernel_only
def _pour(window, a, b):
    """Move cluster b into a and free its slot."""
    for matrix in (window.right, window.left):
        matrix[a, :] += matrix[b, :]
        matrix[:, a] += matrix[:, b]
        matrix[b, :] = 0
        matrix[:, b] = 0
    window.loss[b, :] = NEVER
    window.loss[:, b] = NEVER
    window.counts[a] += window.counts[b]
    window.margin[a] += window.margin[b]
    first, second = min(window.name[a], window.name[b]), max(window.name[a], window.name[b])
    window.parent[second], window.slot[first] = first, a
    window.name[a], window.name[b] = first, -1
    return first, second


@kernel_only
def _merge(window):
    """Merge the two cheapest clusters and return their names."""
    a, b = _cheapest(window)
    if (window.left[a] > 0).sum() + (window.right[a] > 0).sum() < (window.left[b] > 0).sum() + (
        window.right[b] > 0
    ).sum():
        a, b = b, a
    size = window.counts.size
    change = np.zeros(size, np.int64)
    _merge_pairs(window, window.right, a, b)
    _merge_pairs(window, window.left, a, b)
    _merge_row(window, window.right, window.left, a, b, change)
    _merge_row(window, window.left, window.right, a, b, change)
    for c in range(size):
        if c != a and c != b and window.name[c] >= 0:
            change[c] -= _corner(window, a, c) + _margins(window, a, c)
    names = _pour(window, a, b)
    for c in range(size):
        if c != a and window.name[c] >= 0:
            change[c] += _corner(window, a, c) + _margins(window, a, c)
            window.loss[max(a, c), min(a, c)] += change[c]
    return names


@kernel
def enter(window, bigrams, counts, first, last):
    """Enter the words ``first`` to ``last`` (half-open, by frequency), with a merge after each one too many."""
    for word in range(first, last):
        _enter(window, bigrams, word, counts[word])
        if word + 1 >= window.counts.size:
            _merge(window)


@kernel
def join(window, merges):
    """Merge the clusters further, and write the names of each pair, the first name first, to ``merges`` (M, 2)."""
    for m in range(merges.shape[0]):
        merges[m] = _merge(window)
