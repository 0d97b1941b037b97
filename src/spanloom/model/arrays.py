"""Mentions of documents as arrays, in characters: what tables of other programs are made of, without an object each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spanloom.document import Batch
from spanloom.hypergraph import Floats, Ints
from spanloom.structures import MentionTable


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
    """

    types: tuple[str, ...]
    ptr: Ints
    kind: Ints
    bounds: Ints
    spans: Ints
    heads: Ints
    scores: Floats


def place_arrays(
    batch: Batch, found: MentionTable, types: Sequence[str], scores: Floats, threshold: float = 0.0
) -> MentionArrays:
    """Return the found mentions of a batch in characters; the arguments are those of `place`.

    Args:
        batch: what the mentions were found in.
        found: M mentions.
        types: K names.
        scores: (M,) probabilities.
        threshold: mentions with a lower score are left out.
    """
    order = found.order()
    kept = order[scores[order] >= threshold]
    found, scores = found.take(kept), scores[kept]
    base = batch.sentences[found.sentence]
    own = np.repeat(base, np.diff(found.ptr))
    heads = _characters(batch, base, *np.maximum(found.heads, (0, 1)).T)  # of those without one, any
    heads[found.heads[:, 0] < 0] = -1
    ptr = np.searchsorted(found.sentence, batch.firsts)
    return MentionArrays(
        tuple(types), ptr, found.kind, found.ptr, _characters(batch, own, found.first, found.end), heads, scores
    )


def _characters(batch: Batch, base: Ints, first: Ints, end: Ints) -> Ints:
    """Return start and end in characters, (M, 2), of ranges of tokens that are counted from a base."""
    return np.stack((batch.tokens[base + first, 0], batch.tokens[base + end - 1, 1]), axis=1)
