"""Concepts of a run of tokens, by exact and by folded words, from the vocabulary and the training mentions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document, align
from spanloom.hashing import Int64, UInt64
from spanloom.sparse import found_in
from spanloom.vocabulary.folding import CLOSE, DEGREES, EXACT
from spanloom.vocabulary.lexicon import LONGEST_NAME, Lexicon, all_runs, runs
from spanloom.vocabulary.memory import Memory, known
from spanloom.vocabulary.store import Vocabulary

Array = NDArray[np.generic]
NIL = -1  # the concept of a mention without one
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
        return self._number.get(parts, parts[0]) if parts else NIL

    def parts(self, identifiers: Sequence[str]) -> tuple[int, ...]:
        """The numbers of those identifiers that the vocabulary knows, each once."""
        return known(map(self.vocabulary.find, identifiers))

    def identifiers(self, number: int) -> tuple[str, ...]:
        """The identifiers of a number; none for NIL."""
        size = len(self.vocabulary)
        parts = () if number < 0 else (number,) if number < size else self.combinations[number - size]
        return tuple(map(self.vocabulary.identifier, parts))

    @cached_property
    def common_words(self) -> frozenset[str]:
        """Words for the kind of thing that a name means, in lower case: those that end at least one name in 1,000.

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
    mentions = (mention for document in documents for mention in document.mentions if mention.type in types)
    parts = (Concepts(vocabulary).parts(mention.concepts) for mention in mentions)
    return list(dict.fromkeys(several for several in parts if len(several) > 1))


@dataclass(frozen=True)
class NameMemory:
    """The mentions of training: which words they have, and what they are linked to.

    Args:
        lexicon: of runs of tokens; `NIL` is a concept here.
        occurrences: (2, M) of each text of the lexicon, how often training has such a run, mention or not; exactly and
            folded closely.
        texts: as written, for the search of similar ones.
        size: V, the number of concepts.
    """

    lexicon: Lexicon
    occurrences: NDArray[np.int32]
    texts: Memory
    size: int

    @classmethod
    def build(cls, batch: Batch, types: Sequence[str], concepts: Concepts, block: int = 1 << 17) -> NameMemory:
        """From the mentions of a batch; the lexicon leaves out discontiguous ones, and those that cut a token.

        Args:
            batch: documents with mentions.
            types: of the mentions that count.
            concepts: that they may have.
            block: tokens that are looked at once, about.
        """
        rows = [np.zeros((DEGREES + 1, 0), np.uint64)]  # the keys of mentions, and what each is linked to
        for part in batch.blocks(block):
            mentions = [
                (base + ranges[0].first, base + ranges[0].end, concepts.number(mention.concepts))
                for base, document in zip(part.starts.tolist(), part.documents, strict=False)
                for mention, ranges, _ in align(document, [one for one in document.mentions if one.type in types])
                if ranges is not None and len(ranges) == 1
            ]
            first, end, numbers = np.array(mentions, np.int64).reshape(-1, 3).T
            words, ends = part.words, (end - first).cumsum()
            tokens = runs([words[at] for begin, stop, _ in mentions for at in range(begin, stop)])
            keys = [tokens.keys(degree, ends - (end - first), ends) for degree in range(DEGREES)]
            rows.append(np.stack([*keys, numbers.astype(np.int32).astype(np.uint64)]))
        texts, counts = np.unique(np.concatenate(rows, axis=1), axis=1, return_counts=True)
        lexicon = Lexicon(texts[:DEGREES], texts[DEGREES].astype(np.int64).astype(np.int32), counts.astype(np.int32))
        seen = np.zeros((2, len(counts)), np.int32)
        for part in batch.blocks(block):
            tokens, places = runs(part.words), all_runs(part, LONGEST_NAME)
            for row, degree in zip(seen, (EXACT, CLOSE), strict=True):
                distinct, place = np.unique(lexicon.keys[degree], return_inverse=True)
                at = found_in(distinct, tokens.keys(degree, *places))
                row += np.bincount(at[at >= 0], minlength=len(distinct)).astype(np.int32)[place]
        found = Memory.build(batch.documents, concepts.vocabulary, types)
        return cls(lexicon, seen, found, len(concepts))

    @cached_property
    def prior(self) -> NDArray[np.int32]:
        """(V,) how many training mentions have each concept."""
        known = (self.lexicon.keys[EXACT] != 0) & (self.lexicon.concept >= 0)
        concept, counts = self.lexicon.concept[known], self.lexicon.counts[known]
        return np.bincount(concept, counts, self.size).astype(np.int32)

    def counts_of(self, degree: int, keys: UInt64) -> tuple[Int64, Int64]:
        """Count how often training has runs with some keys, exactly or folded closely: as a mention, and at all."""
        table = self.lexicon.concepts[degree]
        place = table.find(keys)
        mentions = np.append(np.add.reduceat(table.counts, table.ptr[:-1]) if len(table.counts) else [], 0)
        seen = np.zeros(len(table.keys) + 1, np.int64)
        own = table.find(self.lexicon.keys[degree])
        seen[own[own >= 0]] = self.occurrences[degree, own >= 0]
        return mentions.astype(np.int64)[place], seen[place]  # absent keys are last

    def nil_share(self, keys: UInt64) -> NDArray[np.float64]:
        """Of the training mentions with such closely folded words, those without a concept."""
        table = self.lexicon.concepts[CLOSE]
        owner = np.repeat(np.arange(len(table.keys)), np.diff(table.ptr))
        total = np.bincount(owner, table.counts, len(table.keys) + 1)
        nothing = np.bincount(owner, np.where(table.values < 0, table.counts, 0), len(total))
        share: NDArray[np.float64] = (nothing / np.maximum(total, 1))[table.find(keys)]
        return share
