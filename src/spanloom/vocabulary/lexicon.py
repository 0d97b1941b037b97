"""Folded words to concepts: exact look-up of texts, and of all runs of tokens in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, groupby
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.hashing import MULTIPLIER, Int64, RangeHashes, UInt64, hashes, numbered
from spanloom.sparse import changes, places_of
from spanloom.text import tokenize
from spanloom.vocabulary.folding import (
    CLOSE,
    DEGREES,
    EXACT,
    LOOSE,
    fold_word,
    pieces,
    prefix_sums,
    sums_of_words,
    text_keys,
)
from spanloom.vocabulary.key_table import Hits, KeyTable, Spans, take
from spanloom.vocabulary.store import Vocabulary

__all__ = ["CLOSE", "EXACT", "LOOSE", "Hits", "Lexicon", "Spans", "lexicon_of"]

LONGEST_NAME: Final = 10  # tokens of a run that is looked up
_MOST: Final = 8  # concepts that a name may stand for
KEPT: Final = "lexicon"  # among a vocabulary's indexes
_NAMES: Final = ("exact", "close", "loose")  # of the degrees


class Lexicon:
    """M texts by their words, each of one concept: the names of a vocabulary, or the mentions of training data.

    Words are compared exactly, folded closely or folded loosely, by 64-bit keys (`spanloom.vocabulary.lexicon`). A text
    that folds to nothing ("of the") is never found.

    Args:
        keys: (3, M) by degree; 0 where a text cannot be found.
        concept: (M,) int32, or -1.
        counts: (M,) int32, the number of occurrences of each text.
        most: texts of more distinct concepts than this are uninformative; see `concepts`.

    >>> from spanloom.vocabulary.lexicon import runs
    >>> names = ["Diabetes Mellitus, Type 2", "Renal Neoplasms", "Parkinson Disease"]
    >>> lexicon = Lexicon.of_names(names, np.arange(3, dtype=np.int32))
    >>> hits = lexicon.find(text_keys(pieces(["type II diabetes mellitus", "kidney tumour", "fever"]))[LOOSE], LOOSE)
    >>> hits.ptr.tolist(), hits.name.tolist()
    ([0, 1, 2, 2], [0, 1])
    >>> words = "Four had Parkinson 's disease or renal neoplasms .".split()
    >>> spans = lexicon.spans(runs(words), np.array([0, len(words)]))
    >>> [" ".join(words[first:end]) for first, end in zip(spans.first, spans.end)], spans.name.tolist()
    (["Parkinson 's disease", 'renal neoplasms'], [2, 1])
    """

    def __init__(
        self, keys: UInt64, concept: NDArray[np.int32], counts: NDArray[np.int32] | None = None, most: int | None = None
    ) -> None:
        self.keys, self.concept, self.most = keys, concept, most
        self.counts = np.ones(len(concept), np.int32) if counts is None else counts

    @classmethod
    def of_names(cls, names: Sequence[str], concept: NDArray[np.int32]) -> Lexicon:
        """Of names, which are compared folded only."""
        return cls(text_keys(pieces(names)), concept, most=_MOST)

    @cached_property
    def preferred(self) -> KeyTable:
        """As `concepts`, folded closely, of the first text of each concept alone; concepts ascend."""
        first = changes(self.concept)
        return KeyTable.build(self.keys[CLOSE, first], self.concept[first], self.most)

    @cached_property
    def texts(self) -> tuple[KeyTable, ...]:
        """By degree, the numbers of texts by key."""
        numbers = np.arange(len(self.concept), dtype=np.int32)
        return tuple(KeyTable.build(keys, numbers) for keys in self.keys)

    @cached_property
    def concepts(self) -> tuple[KeyTable, ...]:
        """By degree, the concepts of texts by key, with counts."""
        return tuple(KeyTable.build(keys, self.concept, self.most, self.counts) for keys in self.keys)

    def find(self, keys: UInt64, degree: int = CLOSE) -> Hits:
        """The texts that have some keys."""
        table = self.texts[degree]
        return Hits(*table.gather(table.find(keys)))

    def spans(self, runs: Runs, sentences: Int64, longest: int = LONGEST_NAME, degree: int = CLOSE) -> Spans:
        """Return all runs of tokens within a sentence that fold like texts.

        Punctuation and words that fold to nothing may occur inside a run, but not at its begin or end.

        Args:
            runs: T tokens.
            sentences: (N + 1,) first tokens, and T.
            longest: tokens of a run at most, 1 or more.
            degree: ``CLOSE`` or ``LOOSE``.
        """
        return self.texts[degree].spans(np.diff(runs.sums[degree]), sentences, longest)

    def runs(self, runs: Runs, sentences: Int64, longest: int = LONGEST_NAME) -> tuple[Int64, Int64]:
        """First tokens and ends of the closely folded `spans` that stand for concepts."""
        spans = self.spans(runs, sentences, longest)
        named = self.concepts[CLOSE].find(runs.keys(CLOSE, spans.first, spans.end)) >= 0
        return spans.first[named], spans.end[named]

    def arrays(self, prefix: str, first: int = CLOSE) -> dict[str, NDArray[Any]]:
        """The keys of the degrees from ``first`` on, to be saved."""
        return {prefix + _NAMES[degree]: self.keys[degree] for degree in range(first, DEGREES)}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], prefix: str, concept: NDArray[np.int32],
        counts: NDArray[np.int32] | None = None, first: int = CLOSE,
    ) -> Lexicon:  # fmt: skip
        """Restore a lexicon from its `arrays`, with concepts and counts of the texts; names if there are no counts.

        Raises:
            ModelError: the arrays are not from `arrays`.
        """
        keys = np.zeros((DEGREES, len(concept)), np.uint64)
        for degree in range(first, DEGREES):
            keys[degree] = take(arrays, prefix + _NAMES[degree], np.uint64, len(concept))
        return cls(keys, concept, counts, _MOST if counts is None else None)


def lexicon_of(vocabulary: Vocabulary) -> Lexicon:
    """The lexicon of a vocabulary's names; it is made once."""
    if KEPT not in vocabulary.indexes:
        vocabulary.indexes[KEPT] = Lexicon.of_names(vocabulary.names, vocabulary.name_concept)
    lexicon: Lexicon = vocabulary.indexes[KEPT]
    return lexicon


# Keys of runs of tokens: the words exactly, folded closely, and folded loosely, as 64-bit numbers.
#
# The key of a folded run is the sum of its words' hashes, that of its exact words a polynomial in an odd number; both
# are differences of prefix sums, so the keys of all runs of a text cost a few operations each (see
# `spanloom.vocabulary.folding`).

_INVERSE = pow(MULTIPLIER, -1, 1 << 64)


class Runs(NamedTuple):
    """T tokens, for the keys of their runs.

    Args:
        exact: hashes of runs of words.
        sums: (T + 1,) prefix sums of the hashes of folded words, by degree.
        solid: (T,) whether a word remains when folded; a run neither begins nor ends with one that does not.
        low: (T,) hashes of the words in lower case.
        endings: (T,) hashes of their last three letters.
        shapes: (T,) hashes of the kinds of their characters.
    """

    exact: RangeHashes
    sums: Mapping[int, UInt64]
    solid: NDArray[np.bool_]
    low: UInt64
    endings: UInt64
    shapes: UInt64

    def keys(self, degree: int, first: Int64, end: Int64) -> UInt64:
        """Return the keys of runs of tokens; 0 where a folded run begins or ends with an empty word."""
        if degree == EXACT:
            return self.exact.of(first, end)
        sums = self.sums[degree]
        return np.where(self.solid[first] & self.solid[end - 1], sums[end] - sums[first], np.uint64(0))


@lru_cache(1 << 17)
def _parts(word: str) -> tuple[tuple[str, ...], tuple[str, ...], str, str, str]:
    close, loose = fold_word(word)
    low = word.lower()
    kinds = ("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word)
    return close, loose, low, low[-3:], "".join(kind for kind, _ in groupby(kinds))


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
    close, loose, *others = list(zip(*map(_parts, distinct), strict=True)) or [()] * 5
    exact, low, endings, shapes = (hashes(column)[ids] for column in (distinct, *others))
    sums = {degree: prefix_sums(sums_of_words(folded)[ids]) for degree, folded in ((CLOSE, close), (LOOSE, loose))}
    return Runs(RangeHashes(exact, _INVERSE), sums, np.array(list(map(bool, close)), bool)[ids], low, endings, shapes)


def text_runs(texts: Sequence[str]) -> tuple[Runs, Int64, Int64]:
    """Return the runs of some short texts, with the first token and the end of each, without empty words at the ends.

    A text of nothing but empty words is left whole.
    """
    words = [[text[start:end] for start, end in tokenize(text).tolist()] for text in texts]
    result = runs(list(chain.from_iterable(words)))
    bounds = np.cumsum([0, *map(len, words)], dtype=np.int64)
    solid = np.append(np.flatnonzero(result.solid), len(result.solid))
    at = np.searchsorted(solid, bounds)
    some = at[:-1] < at[1:]
    return result, np.where(some, solid[at[:-1]], bounds[:-1]), np.where(some, solid[at[1:] - 1] + 1, bounds[1:])


def all_runs(batch: Batch, longest: int) -> tuple[Int64, Int64]:
    """First token and end of all runs of up to so many tokens within the sentences of a batch."""
    starts = np.arange(len(batch.tokens))
    counts = np.minimum(longest, np.repeat(batch.sentences[1:], np.diff(batch.sentences)) - starts)
    return np.repeat(starts, counts), places_of(starts + 1, counts)[0]
