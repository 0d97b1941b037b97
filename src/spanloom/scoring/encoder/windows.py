"""Windows: what an encoder reads at once. Sentences of a document share windows, so that each sees its neighbours."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from spanloom.document import Batch
from spanloom.hypergraph import Ints


class Windows(NamedTuple):
    """W windows over the tokens of a batch, in their order.

    Args:
        first, end: (W,) the tokens that a window reads.
        own_first, own_end: (W,) those of them whose vectors are taken from it; each token has one such window.
        sentences: (W + 1,) the sentence that each window begins or continues, and N; windows of one long sentence have
            the same.
        overlapping: windows with a part of a sentence that is longer than a window.
        document: (W,) number of each one's document.
    """

    first: Ints
    end: Ints
    own_first: Ints
    own_end: Ints
    sentences: Ints
    overlapping: int
    document: Ints

    def units(self) -> list[range]:
        """Return the windows that belong together, because they share a sentence.

        >>> import numpy as np
        >>> none = np.zeros(3, int)
        >>> Windows(none, none, none, none, np.array([0, 4, 4, 5]), 2, none).units()
        [range(0, 1), range(1, 3)]
        """
        begins = self.sentences[:-1]
        later = np.flatnonzero(begins[1:] != begins[:-1]) + 1
        cuts = [0, *later.tolist(), len(begins)]
        return [range(a, b) for a, b in pairwise(cuts) if a < b]


def cut_windows(batch: Batch, ptr: Ints, room: int, *, context: bool = True) -> Windows:
    """Cut a batch into windows.

    Sentences that follow each other in a document share a window while there is room. A longer sentence has several
    windows, of which each shares half of its tokens with the next; a token's vector is that of the window in whose
    middle it lies best.

    Args:
        batch: documents.
        ptr: (T + 1,) first sub-word of each token; no token has more than half of ``room``.
        room: sub-words of a window, at most.
        context: whether sentences share windows.
    """
    rows: list[tuple[int, int, int, int, int]] = []
    overlapping = 0
    bounds = batch.sentences.tolist()
    for first, last in zip(batch.firsts[:-1].tolist(), batch.firsts[1:].tolist(), strict=True):
        n = first
        while n < last:
            begin, m = bounds[n], n + 1
            while context and m < last and ptr[bounds[m + 1]] - ptr[begin] <= room:
                m += 1
            if ptr[bounds[m]] - ptr[begin] <= room:
                rows.append((begin, bounds[m], begin, bounds[m], n))
            else:
                pieces = _pieces(begin, bounds[m], ptr, room)
                overlapping += len(pieces)
                rows += [(*piece, n) for piece in pieces]
            n = m
    columns = np.array(rows, np.int64).reshape(-1, 5)
    filled = columns[columns[:, 1] > columns[:, 0]]  # sentences without tokens need none
    first, end, own_first, own_end, sentence = filled.T
    document = np.searchsorted(batch.starts, first, side="right") - 1
    return Windows(first, end, own_first, own_end, np.append(sentence, len(bounds) - 1), overlapping, document)


def _pieces(begin: int, end: int, ptr: Ints, room: int) -> list[tuple[int, int, int, int]]:
    """Return the windows of one long sentence: first and last token read, first and last token owned."""
    read = []
    first = begin
    while True:
        last = int(np.searchsorted(ptr, ptr[first] + room, side="right")) - 1
        read.append((first, min(last, end)))
        if last >= end:
            break
        first = max(int(np.searchsorted(ptr, ptr[first] + room // 2)), first + 1)
    middles = [(a_end + b_first) // 2 for (_, a_end), (b_first, _) in pairwise(read)]
    cuts = [begin, *middles, end]
    return [(*window, *own) for window, own in zip(read, pairwise(cuts), strict=True)]
