"""Mentions of documents as arrays, in characters, without an object each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document.document import Document, Offsets


class MentionArrays(NamedTuple):
    """M mentions with S spans in D documents, in the order in which `place` would write them.

    Args:
        types: K names.
        ptr: (D + 1,) where each document's mentions begin.
        kind: (M,) the type's number.
        bounds: (M + 1,) where each mention's spans begin.
        spans: (S, 2) start and end in characters.
        heads: (M, 2) start and end of each mention's head; -1 where it has none.
        scores: (M,) calibrated probabilities.
        documents: gives the documents, with tokens and sentences, before more mentions are taken; their own mentions do
            not count.
    """

    types: tuple[str, ...]
    ptr: Offsets
    kind: Offsets
    bounds: Offsets
    spans: Offsets
    heads: Offsets
    scores: NDArray[np.float64]
    documents: Callable[[], Sequence[Document]]
