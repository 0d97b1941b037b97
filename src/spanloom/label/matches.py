"""What a rule has found in a batch, as arrays, and which of it stays where it overlaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.document.batch import column_of
from spanloom.features.tokens import flatten
from spanloom.hashing import Int64, RangeHashes, RangeTable, hashes, intern, numbered
from spanloom.sparse import gathered
from spanloom.text import tokenize
from spanloom.vocabulary.folding import CLOSE, LOOSE
from spanloom.vocabulary.lexicon import Lexicon, Runs, runs

Overlaps = Literal["longest", "all"]
"""Which of a rule's overlapping matches stay: the longest, of equally long ones the first; or all."""
OVERLAPS: Final[tuple[Overlaps, ...]] = get_args(Overlaps)
Ranges = tuple[tuple[int, int], ...]
"""Token ranges of one match, half-open, in text order, none touching the next."""


class Matches(NamedTuple):
    """M matches with P parts in all.

    Args:
        parts: (P, 2) first token and end of each part.
        ptr: (M + 1,) where the parts of each match begin.
    """

    parts: Int64
    ptr: Int64

    def __len__(self) -> int:  # of a named tuple it would be the number of fields
        return len(self.ptr) - 1

    @property
    def first(self) -> Int64:
        """(M,) the first token of each."""
        return np.asarray(self.parts[self.ptr[:-1], 0], np.int64)

    @property
    def end(self) -> Int64:
        """(M,) the end of each."""
        return np.asarray(self.parts[self.ptr[1:] - 1, 1], np.int64)

    def take(self, kept: Int64) -> Matches:
        """Return some of the matches."""
        rows, ptr = gathered(self.ptr, kept)
        return Matches(self.parts[rows], ptr)

    def ranges(self) -> list[Ranges]:
        """Return the parts of each match."""
        pairs = [(first, end) for first, end in self.parts.tolist()]
        return [tuple(pairs[a:b]) for a, b in pairwise(self.ptr.tolist())]

    def covered(self, tokens: int) -> Int64:
        """Return (T,) 1 where a token is in a match, else 0."""
        steps = np.bincount(self.parts[:, 0], minlength=tokens + 1) - np.bincount(
            self.parts[:, 1], minlength=tokens + 1
        )
        return (steps.cumsum()[:tokens] > 0).astype(np.int64)

    def touching(self, marked: Int64) -> Int64:
        """Return (M,) how many of each match's tokens are marked.

        Args:
            marked: (T,) 1 or 0.
        """
        sums = np.append(0, marked.cumsum())
        each = np.append(0, (sums[self.parts[:, 1]] - sums[self.parts[:, 0]]).cumsum())
        return np.asarray(each[self.ptr[1:]] - each[self.ptr[:-1]], np.int64)


def contiguous(first: Int64, end: Int64) -> Matches:
    """Return matches without gaps.

    >>> matches = contiguous(np.array([0, 1, 4]), np.array([2, 4, 5]))
    >>> longest(matches).ranges()
    [((1, 4),), ((4, 5),)]
    """
    return Matches(np.stack([first, end], 1).astype(np.int64), np.arange(len(first) + 1))


def gapped(found: Sequence[Ranges]) -> Matches:
    """Return matches of some parts each."""
    parts = [part for ranges in found for part in ranges]
    sizes = np.array([len(ranges) for ranges in found], np.int64)
    return Matches(np.array(parts, np.int64).reshape(-1, 2), np.append(0, sizes.cumsum()))


def longest(matches: Matches) -> Matches:
    """Return matches that share no token: of those that do the longest, of equally long ones the first.

    Args:
        matches: in any order.
    """
    if not len(matches):
        return matches
    matches = matches.take(np.lexsort((matches.end, matches.first)))
    reach = np.maximum.accumulate(matches.end)
    alone = np.append(True, matches.first[1:] >= reach[:-1])  # begins behind all that came before
    group = np.cumsum(alone) - 1
    crowded = np.bincount(group)[group] > 1
    kept = np.flatnonzero(~crowded).tolist()
    rows = np.flatnonzero(crowded)
    parts = np.diff(np.append(0, (matches.parts[:, 1] - matches.parts[:, 0]).cumsum())[matches.ptr])
    taken: set[int] = set()
    crowd = matches.take(rows)
    first, end, ptr = crowd.parts[:, 0].tolist(), crowd.parts[:, 1].tolist(), crowd.ptr.tolist()
    for at in np.lexsort((matches.first[rows], -parts[rows])).tolist():
        own = range(ptr[at], ptr[at + 1])
        if all(taken.isdisjoint(range(first[i], end[i])) for i in own):
            for i in own:
                taken.update(range(first[i], end[i]))
            kept.append(int(rows[at]))
    return matches.take(np.array(sorted(kept), np.int64))


# Phrases in a batch: by hashes of runs of words, or folded as names; and phrases with gaps.

_MORE = 2  # tokens of a folded run beyond those of the longest name: uninformative words
_APART = frozenset(";:.!?()[]{}")  # what no folded run goes over, where white space is beside it
_LONGEST_FOLDED = 40  # tokens of a folded run


def words_of(text: str) -> list[str]:
    """Return the tokens of a phrase."""
    return [text[start:end] for start, end in tokenize(text).tolist()]


class WordPhrases:
    """Phrases that are compared word by word, exactly or in lower case.

    Args:
        phrases: the words of each, at least one.
        match: ``exact`` or ``lower``.
    """

    def __init__(self, phrases: Sequence[Sequence[str]], match: Match) -> None:
        self.match = match
        sizes = np.array([len(words) for words in phrases], np.int64)
        values = hashes([compared(word, match) for word in chain.from_iterable(phrases)])
        self._table, self.number = RangeTable.of(values, sizes)

    def places(self, text: LabelText) -> tuple[Int64, Int64, Int64]:
        """Return first token, end and number of each occurrence; phrase i has the number ``number[i]``."""
        first, end, number = self._table.find(text.ranges(self.match), text.limit)
        order = np.lexsort((end, first))
        return first[order], end[order], number[order]

    def find(self, text: LabelText) -> Matches:
        """Return all occurrences."""
        first, end, _ = self.places(text)
        return contiguous(first, end)


class FoldedPhrases:
    """Phrases that are compared folded, as a vocabulary's names are; the order of their words is free.

    A comma may be between their words, but neither a bracket nor a mark that ends a sentence or a part of one.

    Args:
        phrases: texts.
        match: ``folded`` or ``loose``.
        capitals: whether a phrase in capitals (AIDS) is found in capitals only.
    """

    def __init__(self, phrases: Sequence[str], match: Match, capitals: bool = False) -> None:
        self._lexicon = Lexicon.of_names(phrases, np.arange(len(phrases), dtype=np.int32))
        self._degree = LOOSE if match == "loose" else CLOSE
        self._longest = _longest(phrases)
        self._capitals = np.array([capitals and phrase.isupper() for phrase in phrases], np.bool_)

    @property
    def empty(self) -> Int64:
        """The numbers of the phrases that fold to nothing."""
        return np.flatnonzero(self._lexicon.keys[self._degree] == 0)

    def find(self, text: LabelText) -> Matches:
        """Return all occurrences."""
        spans = self._lexicon.spans(text.runs, text.batch.sentences, self._longest, self._degree)
        if not len(spans.first):
            return gapped([])
        small = np.add.reduceat((~self._capitals[spans.name]).astype(np.int64), spans.ptr[:-1])
        upper = np.append(0, text.where(str.isupper).cumsum())
        shown = upper[spans.end] - upper[spans.first] == spans.end - spans.first
        apart = np.append(0, (text.where(_APART.__contains__) & text.spaced).cumsum())
        kept = ((small > 0) | shown) & (apart[spans.end] == apart[spans.first])
        return contiguous(spans.first[kept], spans.end[kept])


class GappedPhrases:
    """Phrases of several parts with other words between.

    Args:
        phrases: the parts of each, each of some words.
        gap: words between two parts at most.
        match: ``exact`` or ``lower``.
    """

    def __init__(self, phrases: Sequence[Sequence[Sequence[str]]], gap: int, match: Match) -> None:
        self._gap = gap
        self._table = WordPhrases([part for parts in phrases for part in parts], match)
        numbers = iter(self._table.number.tolist())
        self._phrases = [[next(numbers) for _ in parts] for parts in phrases]

    def find(self, text: LabelText) -> Matches:
        """Return all occurrences: of those with one last part the one with the fewest words between."""
        first, end, number = self._table.places(text)
        order = np.argsort(number, kind="stable")
        edges = np.searchsorted(number[order], np.arange(len(self._table.number) + 1))
        found = []
        for numbers in self._phrases:
            rows = [order[edges[one] : edges[one + 1]] for one in numbers]
            if all(map(len, rows)):
                found.append(self._chained([(first[row], end[row]) for row in rows], text))
        return found[0] if len(found) == 1 else gapped(sorted({ranges for one in found for ranges in one.ranges()}))

    def _chained(self, parts: Sequence[tuple[Int64, Int64]], text: LabelText) -> Matches:
        """Return the occurrences of parts one behind the other, each with the next of the following part, in order.

        Args:
            parts: first tokens and ends of the occurrences of each part, ascending.
        """
        here = np.arange(len(parts[0][0]))
        steps = []  # the occurrences of each part that were reached, and which of them the next part was reached from
        for (_, end), (first, _) in pairwise(parts):
            after = np.searchsorted(first, end[here])
            at = np.minimum(after, len(first) - 1)
            near = np.flatnonzero(
                (after < len(first)) & (first[at] <= end[here] + self._gap) & (first[at] < text.limit[end[here] - 1])
            )
            steps.append((here, near))
            here = at[near]
        # of those that end in one occurrence the last that begins is the closest
        kept = np.flatnonzero(np.append(here[1:] != here[:-1], True)[: len(here)])
        chosen = [here[kept]]
        for before, near in reversed(steps):
            kept = near[kept]
            chosen.append(before[kept])
        pairs = [(first[column], end[column]) for (first, end), column in zip(parts, reversed(chosen), strict=True)]
        starts, stops = (np.stack(columns, 1) for columns in zip(*pairs, strict=True))
        begins, ends = np.ones((2, *starts.shape), np.bool_)  # of parts that do not touch those beside them
        begins[:, 1:] = ends[:, :-1] = starts[:, 1:] != stops[:, :-1]
        return Matches(np.stack([starts[begins], stops[ends]], 1), np.append(0, begins.sum(1).cumsum()))


def _longest(phrases: Sequence[str]) -> int:
    """Return how many tokens a folded run of some phrases may have."""
    most = 0
    for phrase in sorted(phrases, key=len, reverse=True):
        if len(phrase) <= most or most >= _LONGEST_FOLDED:  # no shorter one has more tokens than characters
            break
        most = max(most, len(words_of(phrase)))
    return min(_LONGEST_FOLDED, most + _MORE)


# The tokens of a batch as rules see them: numbers of distinct words, and hashes of runs.

Match = Literal["exact", "lower", "folded", "loose"]
"""How words are compared: unchanged, ignoring case, or folded as a vocabulary's names are."""
MATCHES: Final[tuple[Match, ...]] = get_args(Match)
Mask = NDArray[np.bool_]


def compared(word: str, match: Match) -> str:
    """Return the form of a word that is compared, exactly or in lower case."""
    return word if match == "exact" else word.casefold()


class LabelText:
    """T tokens in N sentences of a batch.

    Args:
        batch: prepared documents.

    Attributes:
        ids: (T,) the number of each token's word in ``distinct``.
        distinct: the distinct words.
        limit: (T,) the end of each token's sentence.
        begin: (T,) its first token.
    """

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        tokens = flatten(batch)
        ids, _, first = intern(tokens.codes, tokens.starts, tokens.ends)
        self._places = tokens.starts, tokens.ends
        self.ids: Int64 = ids.astype(np.int64)
        self.distinct = [tokens.text[tokens.starts[at] : tokens.ends[at]] for at in first.tolist()]
        sizes = np.diff(batch.sentences)
        self.begin: Int64 = np.repeat(batch.sentences[:-1], sizes)
        self.limit: Int64 = np.repeat(batch.sentences[1:], sizes)
        self._ranges: dict[Match, RangeHashes] = {}
        self._columns: dict[str, tuple[list[str], Int64]] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def ranges(self, match: Match) -> RangeHashes:
        """Return the hashes of runs of words, compared exactly or in lower case."""
        if match not in self._ranges:
            self._ranges[match] = RangeHashes(hashes([compared(word, match) for word in self.distinct])[self.ids])
        return self._ranges[match]

    @cached_property
    def runs(self) -> Runs:
        """The folded words."""
        return runs([self.distinct[number] for number in self.ids.tolist()])

    @cached_property
    def spaced(self) -> Mask:
        """(T,) whether anything but a token is before or behind each token."""
        starts, ends = self._places
        apart = np.concatenate([[True], starts[1:] > ends[:-1], [True]])[: len(starts) + 1]
        return np.asarray(apart[:-1] | apart[1:], np.bool_)

    def where(self, test: Callable[[str], bool]) -> Mask:
        """Return (T,) whether each word passes a test, which is asked once for each distinct word that is not empty."""
        return np.array([bool(word) and test(word) for word in self.distinct], np.bool_)[self.ids]

    def column(self, name: str, test: Callable[[str], bool]) -> Mask:
        """Return (T,) whether each value of a column passes a test; never in a document that lacks the column.

        Raises:
            DataError: a document has more or fewer values than tokens.
        """
        if name not in self._columns:
            values: list[str] = []
            sizes = np.diff(self.batch.starts).tolist()
            there = [name in document.columns for document in self.batch.documents]
            for document, size, own in zip(self.batch.documents, sizes, there, strict=True):
                values += column_of(document, name, size) if own else ()
            known, numbers = numbered(values)
            ids = np.full(len(self), -1, np.int64)
            ids[np.repeat(there, sizes)] = numbers
            self._columns[name] = known, ids
        distinct, ids = self._columns[name]
        return np.array([*map(test, distinct), False], np.bool_)[ids]
