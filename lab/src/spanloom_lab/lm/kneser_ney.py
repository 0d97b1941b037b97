"""Interpolated modified Kneser-Ney smoothing (Chen and Goodman 1999, section 3), from a stream of words to n-grams.

With a(h w) the count of an n-gram at the highest order, and below it the number of words that precede it in the text
(its plain count where it begins with ``<s>``, which nothing precedes)::

    p(w | h)  =  (a(h w) - D(a(h w))) / sum_x a(h x)  +  g(h) p(w | h')          h' is h without its first word
    g(h)      =  sum_x D(a(h x)) / sum_x a(h x)
    D(k)      =  k - (k + 1) Y t_{k+1} / t_k,   Y = t_1 / (t_1 + 2 t_2)         for k = 1, 2 and, from 3 on, 3
    p(w | )   interpolates with the uniform distribution over the words, ``</s>`` and ``<unk>``

where t_k is the number of n-grams of this order with a = k. As in Heafield et al. (2013), section 3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom_lab.lm.ngrams import END, START, Ints, Level, pointers

Floats = NDArray[np.float64]
FALLBACK = (0.5, 1.0, 1.5)  # D(1), D(2), D(3) for a small text, whose own are invalid
_NEVER = -99.0  # log10, of a probability that is not asked for: <s> is given


class _NgramCounts(NamedTuple):
    """The n-grams of one order.

    Args:
        context: (n,) the number of each n-gram's context.
        words: (n,) its last word.
        suffix: (n,) the number of the n-gram without its first word, at the order below.
        starts: (n,) bool, it begins with ``<s>``.
        plain: (n,) its count in the text.
    """

    context: Ints
    words: Ints
    suffix: Ints
    starts: NDArray[np.bool_]
    plain: Ints


def estimate(stream: NDArray[np.int32], vocabulary: int, order: int) -> tuple[Level, ...]:
    """Estimate the n-grams of a text with their probabilities and back-off weights.

    Args:
        stream: sentences one after the other, each from `START` to `END`, at least one of them with a word.
        vocabulary: the number of words, markers included.
        order: the order of the longest n-grams.
    """
    counts = _count(stream, vocabulary, order)
    adjusted = [_adjusted(own, above) for own, above in zip(counts, [*counts[1:], None], strict=True)]
    probabilities = np.full(1, 1 / (vocabulary - 1))  # of the empty n-gram: uniform, <s> left out
    scores, weights = [], []
    for own, count in zip(counts, adjusted, strict=True):
        probability, weight = _smooth(own, count, probabilities)
        scores.append(np.log10(probability, out=np.full(len(count), _NEVER), where=probability > 0))
        weights.append(weight)
        probabilities = probability
    weights.append(np.ones(len(probabilities)))  # the longest n-grams are no contexts
    sizes = [1, *(len(own.words) for own in counts)]
    return tuple(
        Level(
            pointers(own.context, size),
            own.words.astype(np.int32),
            score.astype(np.float32),
            np.log10(weight).astype(np.float32),
        )
        for own, size, score, weight in zip(counts, sizes, scores, weights[1:], strict=False)
    )


def _count(stream: NDArray[np.int32], vocabulary: int, order: int) -> list[_NgramCounts]:
    words = np.arange(vocabulary, dtype=np.int64)
    zeros = np.zeros(vocabulary, np.int64)
    counts = [_NgramCounts(zeros, words, zeros, words == START, np.bincount(stream, minlength=vocabulary))]
    keys = words  # context * vocabulary + word, ascending, of the order below
    begin, number = np.arange(len(stream)), stream.astype(np.int64)  # of each n-gram in the text
    for n in range(2, order + 1):
        whole = stream[begin + n - 2] != END
        begin, number = begin[whole], number[whole]
        below, lower = counts[-1], keys
        keys, number, plain = np.unique(
            number * vocabulary + stream[begin + n - 1], return_inverse=True, return_counts=True
        )
        context, last = np.divmod(keys, vocabulary)
        suffix = np.searchsorted(lower, below.suffix[context] * vocabulary + last)
        counts.append(_NgramCounts(context, last, suffix, below.starts[context], plain))
    return counts


def _adjusted(own: _NgramCounts, above: _NgramCounts | None) -> Ints:
    """Return the counts a (n,); 0 for ``<s>`` alone, which is never predicted."""
    count = own.plain
    if above is not None:
        count = np.where(own.starts, own.plain, np.bincount(above.suffix, minlength=len(own.words)))
    return np.where(own.starts & (own.words == START), 0, count)


def _smooth(own: _NgramCounts, count: Ints, shorter: Floats) -> tuple[Floats, Floats]:
    """Return the probability of each n-gram, and the weight g of each context: 1 for one without n-grams."""
    discount = _discounts(count)[np.minimum(count, 3)]
    contexts = len(shorter)
    total = np.bincount(own.context, weights=count, minlength=contexts)
    taken = np.bincount(own.context, weights=discount, minlength=contexts)
    weight = np.divide(taken, total, out=np.ones(contexts), where=total > 0)
    probability = (count - discount) / total[own.context] + weight[own.context] * shorter[own.suffix]
    return np.where(own.starts & (own.words == START), 0.0, probability), weight


def _discounts(count: Ints) -> Floats:
    """Return the discounts (4,): D(0) = 0, D(1), D(2) and D(3)."""
    t = np.bincount(np.minimum(count, 5), minlength=6).astype(float)
    found = np.zeros(4)
    if t[1:4].all():
        k = np.arange(1, 4)
        found[1:] = k - (k + 1) * t[1] / (t[1] + 2 * t[2]) * t[2:5] / t[1:4]
    usable = (found[1:] > 0).all() and (found[1:] <= np.arange(1, 4)).all()
    return found if usable else np.array([0, *FALLBACK])
