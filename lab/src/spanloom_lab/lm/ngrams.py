"""N-grams of words as arrays, for the language model, its training and its file format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Singles = NDArray[np.float32]
MARKERS = ("<unk>", "<s>", "</s>")
HIGHEST = 3  # order
UNKNOWN, START, END = 0, 1, 2  # numbers of the first words of every vocabulary


class Level(NamedTuple):
    """The n-grams of one order, as the children of their contexts, the (n - 1)-grams of the order below.

    An n-gram's number is its place here. Unigrams are the children of one context, the empty one, and the number of a
    unigram is that of its word.

    Args:
        ptr: (contexts + 1,) int64; the n-grams of context c are numbers ``ptr[c]`` to ``ptr[c + 1]``.
        words: int32, the last word of each n-gram, ascending within a context.
        scores: float32, log10 of the probability of the last word after the context.
        backoff: float32, log10 of the back-off weight of this n-gram as the context of a longer one that is missing.
    """

    ptr: Ints
    words: NDArray[np.int32]
    scores: Singles
    backoff: Singles

    @property
    def contexts(self) -> Ints:
        """The context of each n-gram."""
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))


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
