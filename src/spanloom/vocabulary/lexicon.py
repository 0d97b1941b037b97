"""Folded words to concepts: exact look-up of texts, and of all runs of tokens in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hashing import Int64, Slots, UInt64
from spanloom.native import Kernel
from spanloom.sparse import changes
from spanloom.vocabulary.folding import CLOSE, DEGREES, EXACT, LOOSE, pieces, text_keys
from spanloom.vocabulary.key_table import KeyTable
from spanloom.vocabulary.runs import Runs
from spanloom.vocabulary.store import Vocabulary, same_length

__all__ = ["CLOSE", "EXACT", "LOOSE", "Hits", "Lexicon", "Spans", "lexicon_of"]

LONGEST_NAME: Final = 10  # tokens of a run that is looked up
_runs = Kernel("runs")
_MOST: Final = 8  # concepts that a name may stand for
KEPT: Final = "lexicon"  # among a vocabulary's indexes
_NAMES: Final = ("exact", "close", "loose")  # of the degrees


class Hits(NamedTuple):
    """Texts of a lexicon that fold like each of Q texts.

    Args:
        ptr: (Q + 1,) int64.
        name: (hits,) int32, ascending for each text.
    """

    ptr: NDArray[np.int64]
    name: NDArray[np.int32]


class Spans(NamedTuple):
    """Runs of tokens that fold like texts, in the order of their first tokens, the shorter before the longer.

    Args:
        first, end: (S,) int64, half-open.
        ptr: (S + 1,) int64, where the texts of each run begin in ``name``.
        name: (hits,) int32, ascending for each run.
    """

    first: NDArray[np.int64]
    end: NDArray[np.int64]
    ptr: NDArray[np.int64]
    name: NDArray[np.int32]


class Lexicon:
    """M texts by their words, each of one concept: the names of a vocabulary, or the mentions of training data.

    Words are compared exactly, folded closely or folded loosely, by 64-bit keys (`spanloom.vocabulary.runs`). A text
    that folds to nothing ("of the") is never found.

    Args:
        keys: (3, M) by degree; 0 where a text cannot be found.
        concept: (M,) int32, or -1.
        counts: (M,) int32, the number of occurrences of each text.
        most: texts of more distinct concepts than this are uninformative; see `concepts`.

    >>> from spanloom.vocabulary.runs import runs
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

    @cached_property
    def _slots(self) -> tuple[Slots, ...]:
        return tuple(Slots.numbering(table.keys) for table in self.texts)

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
        table, values = self.texts[degree], np.diff(runs.sums[degree])
        room = len(values) + 16
        while True:
            first, end, key = (np.empty(room, np.int64) for _ in range(3))
            size = _runs(values, sentences, longest, table.keys, *self._slots[degree], first, end, key)
            if size <= room:
                break
            room = size
        return Spans(first[:size], end[:size], *table.gather(key[:size]))

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
            keys[degree] = same_length(arrays, prefix + _NAMES[degree], np.uint64, len(concept))
        return cls(keys, concept, counts, _MOST if counts is None else None)


def lexicon_of(vocabulary: Vocabulary) -> Lexicon:
    """The lexicon of a vocabulary's names; it is made once."""
    if KEPT not in vocabulary.indexes:
        vocabulary.indexes[KEPT] = Lexicon.of_names(vocabulary.names, vocabulary.name_concept)
    lexicon: Lexicon = vocabulary.indexes[KEPT]
    return lexicon
