"""Short forms that a document defines, wherever they stand, as the long forms that they are read as."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from spanloom.document import Batch
from spanloom.hypergraph import Ints
from spanloom.text.abbreviations import short_form_places

__all__ = ["Forms"]


class Forms(NamedTuple):
    """Places of A short forms, by first token, none of them twice; all tokens are counted in the batch.

    Args:
        first, end: (A,) tokens of each, half-open.
        long_first, long_end: (A,) tokens of its long form, where the document defines it.
    """

    first: Ints
    end: Ints
    long_first: Ints
    long_end: Ints

    @classmethod
    def none(cls) -> Forms:
        """No short form."""
        return cls(*np.zeros((4, 0), np.int64))

    @classmethod
    def of(cls, batch: Batch) -> Forms:
        """Of a batch; of several definitions of a short form the first counts, and no form crosses a sentence.

        >>> from spanloom.document import Document
        >>> document = Document("Heart attack (HA). An HA?", tokens=[[0, 5], [6, 12], [13, 14], [14, 16], [16, 17],
        ...     [17, 18], [19, 21], [22, 24], [24, 25]], sentences=[[0, 6], [6, 9]])
        >>> [column.tolist() for column in Forms.of(Batch.of([document]))]
        [[3, 7], [4, 8], [0, 0], [2, 2]]
        """
        rows = [
            (base + first, base + end, base + longs[0][0], base + longs[0][1])
            for document, (base, stop) in zip(batch.documents, pairwise(batch.starts.tolist()), strict=True)
            for (first, end), longs in short_form_places(document.text, batch.tokens[base:stop])
        ]
        found = np.array(rows, np.int64).reshape(-1, 4).T
        sentence = np.searchsorted(batch.sentences, found, side="right")
        last = np.searchsorted(batch.sentences, found - 1, side="right")
        return cls(*found[:, (sentence[0] == last[1]) & (sentence[2] == last[3])])

    def read(self, first: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Return ranges, with long forms in the place of short ones.

        Args:
            first, end: (M,) ranges of tokens.
        """
        if not len(self.first):
            return first, end
        row = np.minimum(np.searchsorted(self.first, first), len(self.first) - 1)
        short = (self.first[row] == first) & (self.end[row] == end)
        return np.where(short, self.long_first[row], first), np.where(short, self.long_end[row], end)
