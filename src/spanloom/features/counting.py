"""Counts of words and of neighbours in a stream of documents: each distinct word is kept once, and no text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from spanloom.document import Batch, Document, batches
from spanloom.errors import DataError, plural
from spanloom.features.tokens import StreamedWords
from spanloom.hashing import Int64, UInt64
from spanloom.sparse import changes
from spanloom.text import prepare_all

_BATCH_TOKENS = 200_000
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


class Neighbours(NamedTuple):
    """Pairs of neighbouring words, ascending and distinct.

    Args:
        pairs: (P,) number of the left word in the upper half, of the right word in the lower.
        times: (P,) occurrences.
    """

    pairs: UInt64
    times: Int64

    @property
    def left(self) -> Int64:
        """(P,) numbers of left words."""
        return (self.pairs >> _HALF).astype(np.int64)

    @property
    def right(self) -> Int64:
        """(P,) numbers of right words."""
        return (self.pairs & _LOW).astype(np.int64)


class TextCounts(NamedTuple):
    """Counts of a text of V distinct words.

    Args:
        words: in the order of their first occurrence, unless documented otherwise.
        counts: (V,) occurrences.
        neighbours: within sentences.
    """

    words: list[str]
    counts: Int64
    neighbours: Neighbours


def count_words(documents: Iterable[Document]) -> TextCounts:
    """Count the words and neighbours of documents, which are read once and a few at a time.

    Memory grows with the distinct words and pairs alone: runs of pairs are merged when they are of like length, as in
    a log-structured merge tree (O'Neil et al. 1996), so each pair is moved O(log T) times.

    Args:
        documents: tokens and sentences are made where they are missing.

    >>> counted = count_words([Document("No fever. No pain.")])
    >>> counted.words, counted.counts.tolist()
    (['No', 'fever', '.', 'pain'], [2, 1, 2, 1])
    >>> counted.neighbours.left.tolist(), counted.neighbours.right.tolist()
    ([0, 0, 1, 3], [1, 3, 2, 2])
    """
    seen = StreamedWords()
    counts = np.zeros(1 << 10, np.int64)
    runs: list[Neighbours] = []
    for some in batches(documents, _BATCH_TOKENS, prepare_all):
        batch = Batch.of(some)
        numbers = seen.numbers(batch)
        if len(seen.words) > len(counts):
            counts = np.append(counts, np.zeros(max(len(counts), len(seen.words) - len(counts)), np.int64))
        own = np.bincount(numbers)
        counts[: len(own)] += own
        inside = np.ones(max(len(numbers) - 1, 0), bool)  # pairs of neighbours within sentences
        inside[batch.sentences[(batch.sentences > 0) & (batch.sentences < len(numbers))] - 1] = False
        left, right = (some.astype(np.uint64)[inside] for some in (numbers[:-1], numbers[1:]))
        runs.append(Neighbours(*np.unique((left << _HALF) | right, return_counts=True)))
        while len(runs) > 1 and 2 * len(runs[-1].pairs) > len(runs[-2].pairs):
            runs[-2:] = [_merged(runs[-2:])]
    return TextCounts(seen.words, counts[: len(seen.words)].copy(), _merged(runs))


def frequent_words(counted: TextCounts, min_count: int) -> TextCounts:
    """Return the counts of the words that occur so often, by falling frequency (ties: the one seen first), and theirs.

    Raises:
        DataError: there are fewer than two.

    >>> frequent_words(count_words([Document("No fever. No pain. Fever?")]), 2).words
    ['No', '.']
    """
    order = np.argsort(-counted.counts, kind="stable")
    size = int((counted.counts >= min_count).sum())
    if size < 2:
        raise DataError(
            f"the raw text has {plural(int(counted.counts.sum()), 'word')}, {size} of them different and "
            f"{plural(min_count, 'time')} or more, expected at least 2; give more text, or a smaller min_count"
        )
    rank = np.empty(len(order), np.uint64)
    rank[order] = np.arange(len(order), dtype=np.uint64)
    left, right = rank[counted.neighbours.left], rank[counted.neighbours.right]
    kept = (left < size) & (right < size)
    keys = (left[kept] << _HALF) | right[kept]
    return TextCounts(
        [counted.words[i] for i in order[:size].tolist()],
        counted.counts[order[:size]],
        _merged([Neighbours(keys, counted.neighbours.times[kept])]),
    )


def _merged(runs: list[Neighbours]) -> Neighbours:
    pairs = np.concatenate([np.zeros(0, np.uint64), *(run.pairs for run in runs)])
    times = np.concatenate([np.zeros(0, np.int64), *(run.times for run in runs)])
    order = np.argsort(pairs, kind="stable")  # merges ascending runs
    pairs, times = pairs[order], times[order]
    starts = np.flatnonzero(changes(pairs))
    return Neighbours(pairs[starts], np.add.reduceat(times, starts) if len(starts) else times)
