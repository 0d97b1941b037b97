"""Mentions of documents as arrays, in characters: what tables of other programs are made of, without an object each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import numpy as np

from spanloom.document import Batch, Document
from spanloom.document.arrays import MentionArrays
from spanloom.hypergraph import Floats, Ints
from spanloom.parallel import grouped
from spanloom.structures import MentionTable

_AT_ONCE: Final = 1000  # documents


def place_arrays(
    batch: Batch, found: MentionTable, types: Sequence[str], scores: Floats, threshold: float,
    documents: Callable[[], Sequence[Document]],
) -> MentionArrays:  # fmt: skip
    """Return the found mentions of a batch in characters; the arguments are those of `place`.

    Args:
        batch: what the mentions were found in.
        found: M mentions.
        types: K names.
        scores: (M,) probabilities.
        threshold: mentions with a lower score are left out.
        documents: as of `MentionArrays`.
    """
    order = found.order()
    kept = order[scores[order] >= threshold]
    found = found.take(kept)
    ptr = np.searchsorted(found.sentence, batch.firsts)
    return MentionArrays(
        tuple(types), ptr, found.kind, found.ptr, *in_characters(batch, found), scores[kept], documents
    )


def arrays_of(documents: Iterable[Document], types: Sequence[str]) -> Iterator[MentionArrays]:
    """Yield the mentions of documents, in their order, for some documents at a time.

    Args:
        documents: whose mentions have scores.
        types: K names.
    """
    number = {name: kind for kind, name in enumerate(types)}
    for some in grouped(documents, lambda _: 1, _AT_ONCE):
        mentions = [mention for document in some for mention in document.mentions]
        yield MentionArrays(
            tuple(types),
            np.cumsum([0, *(len(document.mentions) for document in some)]),
            np.array([number[mention.type] for mention in mentions], np.int64),
            np.cumsum([0, *(len(mention.spans) for mention in mentions)]),
            np.array([*chain.from_iterable(mention.spans for mention in mentions)], np.int64).reshape(-1, 2),
            np.array([mention.head or (-1, -1) for mention in mentions], np.int64).reshape(-1, 2),
            np.array([1.0 if mention.score is None else mention.score for mention in mentions]),
            lambda documents=some: documents,  # type: ignore[misc]
        )


def in_characters(batch: Batch, found: MentionTable) -> tuple[Ints, Ints]:
    """Return start and end in characters of the ranges of mentions, (S, 2), and of their heads, (M, 2); -1 for none."""
    base = batch.sentences[found.sentence]
    token, first = batch.tokens, np.repeat(base, np.diff(found.ptr))
    spans = np.stack([token[first + found.first, 0], token[first + found.end - 1, 1]], axis=1)
    start, end = np.maximum(found.heads, (0, 1)).T  # of those without one, any
    heads = np.stack([token[base + start, 0], token[base + end - 1, 1]], axis=1)
    heads[found.heads[:, 0] < 0] = -1
    return spans, heads
