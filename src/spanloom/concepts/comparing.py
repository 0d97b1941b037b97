"""How texts and names differ, word by word; for many pairs at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from spanloom.hashing import Int64, UInt64, hash_text, hashes
from spanloom.sparse import gathered
from spanloom.vocabulary.folding import FoldedPieces, fold_word, pieces


class Compared(NamedTuple):
    """P texts beside P names.

    Args:
        numbers: (P, 6) the share of their closely folded words that both have (Jaccard), the share of the words of the
            text, and of the name, that the other has, Levenshtein similarity without case, the share of their loosely
            folded words that both have, and whether they end with the same word.
        values: (P, 7) how their numbers differ: 1 no numbers, 2 the same, 3 only the text has some, 4 only the name, 5
            others; 1 more than how many words only the text has, and only the name, at most 4; hashes of the first two
            of the former and of the latter, in the order of the alphabet, 0 for none.
    """

    numbers: NDArray[np.float64]
    values: UInt64


class _Words(NamedTuple):
    """The folded words of S texts.

    Args:
        known: the distinct words, ascending.
        ptr: (S + 1,) where those of each text begin.
        ids: numbers of the words, in the order of the text.
    """

    known: list[str]
    ptr: Int64
    ids: Int64

    @classmethod
    def of(cls, folded: Sequence[Sequence[str]], words: FoldedPieces) -> _Words:
        """Return the words of some texts, whose distinct pieces have been folded."""
        every = list(chain.from_iterable(folded))
        known = sorted(set(every))
        rank = {word: number for number, word in enumerate(known)}
        own = np.fromiter(map(rank.__getitem__, every), np.int64, len(every))
        rows, ptr = gathered(np.cumsum([0, *map(len, folded)], dtype=np.int64), words.ids)
        return cls(known, ptr[words.ptr], own[rows])

    def sets(self) -> _Words:
        """Return the distinct words of each text, ascending."""
        size, texts = max(1, len(self.known)), len(self.ptr) - 1
        keys = np.unique(np.repeat(np.arange(texts), np.diff(self.ptr)) * size + self.ids)
        return _Words(self.known, np.searchsorted(keys, np.arange(texts + 1) * size), keys % size)

    def at(self, texts: Int64, place: int) -> Int64:
        """Return the numbers of the words at a place, counted from the end if negative; -1 without a word there."""
        at = self.ptr[texts] + place if place >= 0 else self.ptr[texts + 1] + place
        there = (at >= self.ptr[texts]) & (at < self.ptr[texts + 1])
        found = np.full(len(texts), -1)
        found[there] = self.ids[at[there]]
        return found


class _Split(NamedTuple):
    """The words of P pairs of sets.

    Args:
        both: (P,) how many both have.
        left, right: (P,) how many each has.
        lost, more: words that only the left one has, and only the right one, by pair.
    """

    both: Int64
    left: Int64
    right: Int64
    lost: _Words
    more: _Words

    @property
    def overlap(self) -> NDArray[np.float64]:
        """(P,) the share that both have."""
        found: NDArray[np.float64] = self.both / np.maximum(1, self.left + self.right - self.both)
        return found


def _split(sets: _Words, left: Int64, right: Int64) -> _Split:
    size, every = max(1, len(sets.known)), np.arange(len(left) + 1)
    keys = []
    for texts in (left, right):
        rows, ptr = gathered(sets.ptr, texts)
        keys.append(np.repeat(every[:-1], np.diff(ptr)) * size + sets.ids[rows])
    shared = np.intersect1d(keys[0], keys[1], assume_unique=True)
    lost, more = (
        _Words(sets.known, np.searchsorted(own, every * size), own % size)
        for own in (np.setdiff1d(one, shared, assume_unique=True) for one in keys)
    )
    sizes = np.diff(sets.ptr)
    return _Split(np.diff(np.searchsorted(shared, every * size)), sizes[left], sizes[right], lost, more)


class FoldedTexts:
    """Texts and names with their folded words.

    Args:
        texts: of which equal ones count once.

    >>> folded = FoldedTexts(["renal cell tumour", "Renal tumors, type 2"])
    >>> found = folded.compared(*(folded.numbers([text]) for text in folded.texts))
    >>> found.numbers.round(2).tolist()[0], found.values[0, :3].tolist()
    ([0.5, 0.67, 0.67, 0.4, 0.5, 0.0], [4, 2, 2])
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        self.texts = list(self._numbers)
        words = pieces(self.texts)
        folded = [fold_word(word) for word in words.distinct]
        self._close, self._loose = (_Words.of([both[degree] for both in folded], words) for degree in (0, 1))
        self._hashes = np.append(hashes(self._close.known), np.uint64(0))  # the last for no word

    def numbers(self, texts: Iterable[str]) -> Int64:
        """Return the numbers of some of the texts."""
        return np.array([self._numbers[text] for text in texts], np.int64)

    def compared(self, texts: Int64, names: Int64) -> Compared:
        """Return how some texts and names differ, given their numbers."""
        close, loose = (_split(words.sets(), texts, names) for words in (self._close, self._loose))
        low = [text.casefold() for text in self.texts]
        pairs = zip(texts.tolist(), names.tolist(), strict=True)
        last = self._close.at(texts, -1)
        numbers = [
            close.overlap, close.both / np.maximum(1, close.left), close.both / np.maximum(1, close.right),
            np.array([Levenshtein.normalized_similarity(low[text], low[name]) for text, name in pairs], np.float64),
            loose.overlap, (last >= 0) & (last == self._close.at(names, -1)),
        ]  # fmt: skip
        digit = np.array([word.isdigit() for word in self._close.known], np.int64)

        def digits(words: _Words) -> Int64:
            return np.diff(np.append(0, np.cumsum(digit[words.ids]))[words.ptr])

        own, others = (digits(self._close)[which] > 0 for which in (texts, names))
        same = (digits(close.lost) == 0) & (digits(close.more) == 0)
        values = [
            np.where(same, 1 + own, np.where(others, 4 + own, 3)),
            *(1 + np.minimum(3, np.diff(words.ptr)) for words in (close.lost, close.more)),
            *(
                self._hashes[words.at(np.arange(len(texts)), place)]
                for words in (close.lost, close.more) for place in (0, 1)
            ),
        ]  # fmt: skip
        return Compared(np.stack(numbers, 1), np.stack([column.astype(np.uint64) for column in values], 1))

    def described(self, texts: Int64) -> UInt64:
        """Return the hash of the folded words of each text, in any order, and those of its first two, (3, T)."""
        words = self._close
        ptr, ids = words.ptr.tolist(), words.ids.tolist()
        joined = [
            " ".join(words.known[word] for word in sorted(ids[ptr[text] : ptr[text + 1]])) for text in texts.tolist()
        ]
        whole = hashes(joined)
        whole[whole == 0] = hash_text("")
        return np.stack([whole, *(self._hashes[words.at(texts, place)] for place in (0, 1))])
