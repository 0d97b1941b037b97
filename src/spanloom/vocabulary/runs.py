"""Keys of runs of tokens: the words exactly, folded closely, and folded loosely, as 64-bit numbers.

The key of a folded run is the sum of its words' hashes, that of its exact words a polynomial in an odd number; both are
differences of prefix sums, so the keys of all runs of a text cost a few operations each (see
`spanloom.vocabulary.folding`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.hashing import MULTIPLIER, Int64, UInt64, hashes, numbered
from spanloom.text import tokenize
from spanloom.vocabulary.folding import EXACT, fold_word, prefix_sums, sums_of_words

_ODD = MULTIPLIER
_INVERSE = pow(_ODD, -1, 1 << 64)


class Runs(NamedTuple):
    """T tokens, for the keys of their runs.

    Args:
        sums: (3, T + 1) prefix sums of the hashes of words, by degree.
        shift: (T + 1,) powers that move an exact run to the text's begin.
        solid: (T,) whether a word remains when folded; a run neither begins nor ends with one that does not.
        low: (T,) hashes of the words in lower case.
        endings: (T,) hashes of their last three letters.
        shapes: (T,) hashes of the kinds of their characters.
    """

    sums: UInt64
    shift: UInt64
    solid: NDArray[np.bool_]
    low: UInt64
    endings: UInt64
    shapes: UInt64

    def keys(self, degree: int, first: Int64, end: Int64) -> UInt64:
        """Return the keys of runs of tokens; 0 where a folded run begins or ends with an empty word."""
        keys: UInt64 = self.sums[degree, end] - self.sums[degree, first]
        if degree == EXACT:
            keys *= self.shift[first]
            return keys
        return np.where(self.solid[first] & self.solid[end - 1], keys, np.uint64(0))


@lru_cache(1 << 17)
def _parts(word: str) -> tuple[str, tuple[str, ...], tuple[str, ...], str, str, str]:
    close, loose = fold_word(word)
    low = word.lower()
    kinds = "".join("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word)
    shape = "".join(c for i, c in enumerate(kinds) if i == 0 or kinds[i - 1] != c)
    return word, close, loose, low, low[-3:], shape


def runs(words: Sequence[str]) -> Runs:
    """The runs of a text's tokens.

    >>> heart = runs(["Renal", "Tumours", "tumor", "of", "the", "kidneys"])
    >>> first, end = np.array([0, 2, 3]), np.array([2, 6, 6])
    >>> from spanloom.vocabulary.folding import LOOSE
    >>> loose, exact = heart.keys(LOOSE, first, end), heart.keys(EXACT, first, end)
    >>> bool(loose[0] == loose[1]), bool(exact[0] == exact[1]), int(loose[2])
    (True, False, 0)
    """
    distinct, ids = numbered(words)
    columns = list(zip(*map(_parts, distinct), strict=True)) or [()] * 6
    exact, low, endings, shapes = (hashes(columns[c]) for c in (0, 3, 4, 5))
    folded = [sums_of_words(columns[c]) for c in (1, 2)]
    powers = _powers(_ODD, len(words))
    sums = np.stack([prefix_sums(values) for values in (exact[ids] * powers[:-1], folded[0][ids], folded[1][ids])])
    solid = np.array([bool(text) for text in columns[1]], bool)
    return Runs(sums, _powers(_INVERSE, len(words)), solid[ids], low[ids], endings[ids], shapes[ids])


def text_runs(texts: Sequence[str]) -> tuple[Runs, Int64, Int64]:
    """Return the runs of some short texts, with the first token and the end of each, without empty words at the ends.

    A text of nothing but empty words is left whole.
    """
    words = [[text[start:end] for start, end in tokenize(text).tolist()] for text in texts]
    sizes = np.array([len(text) for text in words], np.int64)
    result = runs(list(chain.from_iterable(words)))
    end = sizes.cumsum()
    first = end - sizes
    count = np.append(0, np.cumsum(result.solid))
    places = np.append(np.flatnonzero(result.solid), 0)
    some = count[end] > count[first]
    begin = np.where(some, places[np.minimum(count[first], len(places) - 1)], first)
    return result, begin, np.where(some, places[count[end] - 1] + 1, end)


def all_runs(batch: Batch, longest: int) -> tuple[Int64, Int64]:
    """First token and end of all runs of up to so many tokens within the sentences of a batch."""
    limit = np.repeat(batch.sentences[1:], np.diff(batch.sentences))
    starts = np.arange(len(limit))
    found = [starts[starts + size <= limit] for size in range(1, longest + 1)]
    sizes = np.repeat(np.arange(1, longest + 1), [len(part) for part in found])
    first = np.concatenate(found)
    order = np.lexsort((sizes, first))
    return first[order], (first + sizes)[order]


def _powers(base: int, count: int) -> UInt64:
    powers = np.full(count + 1, base, np.uint64)
    powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)
