"""Kernels of relations between the spans of a sentence."""

from __future__ import annotations

import numpy as np

from spanloom.kernels import kernel


@kernel
def rivals(ptr, first, end, probability):
    """(S,) the highest probability of a span of the same sentence that overlaps."""
    result = np.zeros(len(first))
    for n in range(len(ptr) - 1):
        for a in range(ptr[n], ptr[n + 1]):
            for b in range(a + 1, ptr[n + 1]):
                if first[b] >= end[a]:
                    break
                result[a] = max(result[a], probability[b])
                result[b] = max(result[b], probability[a])
    return result
