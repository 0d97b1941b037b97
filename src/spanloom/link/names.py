"""What the vocabulary and the training mentions say of a run of tokens: its concepts by exact and by folded words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document, align
from spanloom.hashing import Int64
from spanloom.link.runs import CLOSE, DEGREES, LOOSE, text_runs
from spanloom.link.runs import runs as token_runs
from spanloom.vocabulary.key_table import KeyTable
from spanloom.vocabulary.memory import known
from spanloom.vocabulary.store import Vocabulary

Array = NDArray[np.generic]
NIL = -1  # the concept of a mention without one
LONGEST_NAME = 10  # tokens of a run that is looked up in the text
_MOST = 8  # concepts that a name may stand for
_COMMON = 0.001  # share of the names that a common word ends, and its letters, at least
_LETTERS = 4


class Concepts:
    """The concepts that can be linked to: the vocabulary's, and combinations of them that training mentions have.

    Args:
        vocabulary: V concepts.
        combinations: pairs and longer tuples of numbers of concepts; they are numbered from V on.
    """

    def __init__(self, vocabulary: Vocabulary, combinations: Sequence[tuple[int, ...]] = ()) -> None:
        self.vocabulary = vocabulary
        self.combinations = tuple(combinations)
        self._number = {parts: len(vocabulary) + i for i, parts in enumerate(self.combinations)}

    def __len__(self) -> int:
        return len(self.vocabulary) + len(self.combinations)

    def number(self, identifiers: Sequence[str]) -> int:
        """The number for a mention's identifiers: of their combination if it is known, else of the first, or NIL."""
        parts = self.parts(identifiers)
        if not parts:
            return NIL
        return parts[0] if len(parts) == 1 else self._number.get(parts, parts[0])

    def parts(self, identifiers: Sequence[str]) -> tuple[int, ...]:
        """The numbers of those identifiers that the vocabulary knows, each once."""
        return known(map(self.vocabulary.find, identifiers))

    def identifiers(self, number: int) -> tuple[str, ...]:
        """The identifiers of a number; none for NIL."""
        if number < 0:
            return ()
        size = len(self.vocabulary)
        parts = (number,) if number < size else self.combinations[number - size]
        return tuple(self.vocabulary[part].id for part in parts)

    @cached_property
    def common_words(self) -> frozenset[str]:
        """Words that say what kind of thing a name means, in lower case: those that end at least one name in 1,000.

        Of a name with a comma, such as *Nephritis, Interstitial*, the part before it counts.
        """
        names = self.vocabulary.names
        ends = Counter(words[-1] for name in names if (words := name.partition(",")[0].lower().split()))
        least = max(2, _COMMON * len(names))
        return frozenset(word for word, count in ends.items() if count >= least and len(word) >= _LETTERS)


def find_combinations(
    documents: Sequence[Document], types: Sequence[str], vocabulary: Vocabulary
) -> list[tuple[int, ...]]:
    """The combinations of concepts that single mentions have, in the order of first occurrence."""
    single = Concepts(vocabulary)
    parts = (
        single.parts(mention.concepts)
        for document in documents
        for mention in document.mentions
        if mention.type in types
    )
    return list(dict.fromkeys(several for several in parts if len(several) > 1))


@dataclass(frozen=True, slots=True)
class Names:
    """Runs of tokens that are names of the vocabulary.

    Args:
        close, loose: folded names and their concepts.
        preferred: closely folded preferred names.
    """

    close: KeyTable
    loose: KeyTable
    preferred: KeyTable

    @classmethod
    def build(cls, vocabulary: Vocabulary) -> Names:
        """From all names of a vocabulary."""
        runs, first, end = text_runs(vocabulary.names)
        concepts = vocabulary.name_concept
        close, loose = runs.keys(CLOSE, first, end), runs.keys(LOOSE, first, end)
        main = np.ones(len(concepts), bool)
        main[1:] = concepts[1:] != concepts[:-1]
        return cls(
            KeyTable.build(close, concepts, _MOST),
            KeyTable.build(loose, concepts, _MOST),
            KeyTable.build(close[main], concepts[main], _MOST),
        )


@dataclass(frozen=True, slots=True)
class Memory:
    """The mentions of training, by degree of folding.

    Args:
        concepts: run -> concepts of such mentions, with counts; `NIL` is one.
        occurrences: for each key of ``concepts``, how often training has such a run, mention or not.
        prior: (V,) how many training mentions have each concept.
    """

    concepts: tuple[KeyTable, ...]
    occurrences: tuple[NDArray[np.int32], ...]
    prior: NDArray[np.int32]

    @classmethod
    def build(cls, batch: Batch, types: Sequence[str], concepts: Concepts) -> Memory:
        """From the mentions of a batch; discontiguous ones, and those that cut a token, are left out."""
        runs, (first, end, numbers) = token_runs(batch.words), _mentions(batch, types, concepts)
        spans = all_runs(batch, LONGEST_NAME)
        tables, occurrences = [], []
        for degree in range(DEGREES):
            table = KeyTable.build(runs.keys(degree, first, end), numbers)
            place = table.find(runs.keys(degree, *spans))
            tables.append(table)
            occurrences.append(np.bincount(place[place >= 0], minlength=len(table.keys)).astype(np.int32))
        prior = np.bincount(numbers[numbers >= 0], minlength=len(concepts)).astype(np.int32)
        return cls(tuple(tables), tuple(occurrences), prior)

    def mentions(self, degree: int) -> Int64:
        """(Q,) how many training mentions have each key."""
        table = self.concepts[degree]
        counts = np.concatenate([[0], np.cumsum(table.counts, dtype=np.int64)])
        sums: Int64 = counts[table.ptr[1:]] - counts[table.ptr[:-1]]
        return sums


def all_runs(batch: Batch, longest: int) -> tuple[Int64, Int64]:
    """First token and end of all runs of up to so many tokens within the sentences of a batch."""
    bounds = batch.sentences
    limit = np.repeat(bounds[1:], np.diff(bounds))
    starts = np.arange(len(limit))
    found = [starts[starts + size <= limit] for size in range(1, longest + 1)]
    sizes = np.repeat(np.arange(1, longest + 1), [len(part) for part in found])
    first = np.concatenate(found)
    order = np.lexsort((sizes, first))
    return first[order], (first + sizes)[order]


def _mentions(batch: Batch, types: Sequence[str], concepts: Concepts) -> tuple[Int64, Int64, NDArray[np.int32]]:
    rows = []
    for base, document in zip(batch.starts.tolist(), batch.documents, strict=False):
        wanted = [mention for mention in document.mentions if mention.type in types]
        for mention, ranges, _ in align(document, wanted):
            if ranges is not None and len(ranges) == 1:
                rows.append((base + ranges[0].first, base + ranges[0].end, concepts.number(mention.concepts)))
    table = np.array(rows, np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2].astype(np.int32)
