"""Kernel of n-gram look-up, and the table of n-grams."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel, kernel_only_no_refcount

Ints = NDArray[np.int64]
Singles = NDArray[np.float32]

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


@kernel_only_no_refcount
def _find(ptr, words, context, word):
    """Return the number of an n-gram, -1 if it is missing, by binary search among the children of its context."""
    low, high = ptr[context], ptr[context + 1]
    while low < high:
        middle = (low + high) >> 1
        if words[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low if low < ptr[context + 1] and words[low] == word else np.int64(-1)


@kernel
def score(stream, unigrams, bigrams, trigrams, scores):
    """Compute the log10 probability of each word after none, one and two words before it in its sentence.

    A probability that is not listed is that of the shorter n-gram times the context's back-off weight, 1 if the context
    is not listed either. Of a sentence's first word the only context is ``<s>``; ``<s>`` itself has no score.

    Args:
        stream: (S,) int32 words, each sentence from ``<s>`` to ``</s>``.
        unigrams, bigrams, trigrams: `spanloom.lm.ngrams.Level`.
        scores: (S, 3) float32, output.
    """
    before, context = np.int64(-1), np.int64(-1)  # the word before, and the bigram that ends with it
    for i in range(len(stream)):
        word = np.int64(stream[i])
        if word == START:
            scores[i] = 0
            before, context = word, np.int64(-1)
            continue
        scores[i, 0] = unigrams.scores[word]
        pair = _find(bigrams.ptr, bigrams.words, before, word)
        scores[i, 1] = bigrams.scores[pair] if pair >= 0 else unigrams.backoff[before] + scores[i, 0]
        scores[i, 2] = scores[i, 1]
        if context >= 0:
            triple = _find(trigrams.ptr, trigrams.words, context, word)
            scores[i, 2] = trigrams.scores[triple] if triple >= 0 else bigrams.backoff[context] + scores[i, 1]
        before, context = word, pair
