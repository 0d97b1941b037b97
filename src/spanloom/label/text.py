"""The tokens of a batch as rules see them: numbers of distinct words, and hashes of runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.errors import DataError, clip
from spanloom.features.tokens import flatten
from spanloom.hashing import Int64, RangeHashes, hashes, intern, numbered
from spanloom.vocabulary.runs import Runs, runs

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
        found: Mask = apart[:-1] | apart[1:]
        return found

    def where(self, test: Callable[[str], bool]) -> Mask:
        """Return (T,) whether each word passes a test, which is asked once for each distinct word that is not empty."""
        return np.array([bool(word) and test(word) for word in self.distinct], np.bool_)[self.ids]

    def column(self, name: str, test: Callable[[str], bool]) -> Mask:
        """Return (T,) whether each value of a column passes a test; never in a document that lacks the column.

        Raises:
            DataError: a document has more or fewer values than tokens.
        """
        if name not in self._columns:
            self._columns[name] = self._numbered(name)
        distinct, ids = self._columns[name]
        passed = np.array([test(value) for value in distinct] + [False], np.bool_)
        found: Mask = passed[ids]
        return found

    def lacking(self, name: str) -> int:
        """Return how many documents with tokens lack a column."""
        return sum(1 for _ in self.batch.lacking(name))

    def _numbered(self, name: str) -> tuple[list[str], Int64]:
        """Return the distinct values of a column, and the number of each token's value, or -1."""
        values: list[str] = []
        there: list[Sequence[bool]] = []
        for document, size in zip(self.batch.documents, np.diff(self.batch.starts).tolist(), strict=True):
            own = document.columns.get(name)
            if own is not None and len(own) != size:
                raise DataError(
                    f"document {clip(document.id)} has {len(own)} values in column {name!r}, expected {size}, one a "
                    "token"
                )
            values += own or ()
            there.append([own is not None] * size)
        distinct, numbers = numbered(values)
        ids = np.full(len(self), -1, np.int64)
        ids[np.fromiter((one for part in there for one in part), np.bool_, len(self))] = numbers
        return distinct, ids
