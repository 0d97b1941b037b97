"""N-grams of words as arrays, for the language model, its training and its file format."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spanloom.lm.kernels_language import Ints, Level

MARKERS = ("<unk>", "<s>", "</s>")
HIGHEST = 3  # order


def childless(contexts: int) -> Level:
    """Return a level without n-grams, above a level of ``contexts`` n-grams."""
    none = np.zeros(0, np.float32)
    return Level(np.zeros(contexts + 1, np.int64), np.zeros(0, np.int32), none, none)


def pointers(contexts: Ints, count: int) -> Ints:
    """Return ``ptr`` of a level, from the contexts of its n-grams."""
    ptr: Ints = np.concatenate([[0], np.cumsum(np.bincount(contexts, minlength=count))]).astype(np.int64)
    return ptr


def spell(levels: Sequence[Level], order: int) -> list[list[int]]:
    """Return the words of each n-gram of an order, a list for each place: first words, second words, and so on."""
    columns: list[list[int]] = []
    numbers = np.arange(len(levels[order - 1].words))
    for level in reversed(levels[:order]):
        columns.append(level.words[numbers].tolist())
        numbers = level.contexts[numbers]
    return columns[::-1]
