"""The kernel that finds the best tags of a chain in which every tag may follow every other."""

from __future__ import annotations

import numpy as np

from spanloom.kernels import kernel


@kernel
def best_tags(scores, following, offsets, first, last, tags):
    """The best tags of some sentences, as the engine's Viterbi finds them, 40 times as fast for 50 tags.

    From right to left, b[t, i] = max_j following[j, i] + scores[t + 1, j] + b[t + 1, j], the first j of several; the
    inner loop runs over i, so that it becomes vector instructions.

    Args:
        scores: (T, L) float32.
        following: (L, L) float32, of tag i before tag j at ``[j, i]``.
        offsets: (N + 1,) first token of each sentence.
        first, last: the sentences to tag, half-open.
        tags: (T,) int64, output.
    """
    size = scores.shape[1]
    longest = 1
    for n in range(first, last):
        longest = max(longest, offsets[n + 1] - offsets[n])
    choice = np.empty((longest, size), np.int32)
    rest, best = np.empty(size), np.empty(size)
    for n in range(first, last):
        begin, end = offsets[n], offsets[n + 1]
        if begin == end:
            continue
        rest[:] = 0
        for t in range(end - 2, begin - 1, -1):
            best[:] = -np.inf
            picked = choice[t - begin]
            picked[:] = 0  # where no sum is larger than -inf, nothing else is written
            for j in range(size):
                onward = np.float64(scores[t + 1, j]) + rest[j]
                row = following[j]
                for i in range(size):
                    value = row[i] + onward
                    better = value > best[i]
                    best[i] = value if better else best[i]
                    picked[i] = j if better else picked[i]
            rest[:] = best
        tag = 0
        for i in range(size):
            if scores[begin, i] + rest[i] > scores[begin, tag] + rest[tag]:
                tag = i
        tags[begin] = tag
        for t in range(begin, end - 1):
            tag = choice[t - begin, tag]
            tags[t + 1] = tag
