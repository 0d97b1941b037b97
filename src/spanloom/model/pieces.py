"""Gold structures of a corpus, made and read back in pieces of whole sentences, so that little is held at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from spanloom.files.scratch import MEMORY, Scratch
from spanloom.hypergraph import Edges, Ints
from spanloom.learn.target import PIECE_TOKENS
from spanloom.parallel import whole_ranges
from spanloom.structures import MentionTable, Structure
from spanloom.structures.base import Encoded


def encode_pieces(
    structure: Structure, mentions: MentionTable, offsets: Ints, types: Sequence[str], scratch: Scratch = MEMORY,
    piece: int = PIECE_TOKENS,
) -> Encoded:  # fmt: skip
    """Return what `Structure.encode` gives.

    Args:
        structure: that the mentions are written in.
        mentions, offsets, types: as of `Structure.encode`.
        scratch: where the hyperedges are made.
        piece: tokens that are encoded at once, about.
    """
    parts = list(_pieces(mentions, offsets, piece))
    if len(parts) <= 1 and scratch is MEMORY:
        return structure.encode(mentions, offsets, types)
    edges: Edges | None = None
    lost: dict[int, str] = {}
    for first, end, rows in parts:
        table, bounds = _counted_from(mentions.take(rows), first), offsets[first : end + 1] - offsets[first]
        own = structure.encode(table, bounds, types)
        if edges is None:
            edges = scratch.empty("edges", (int(offsets[-1]), *own.edges.shape[1:]), own.edges.dtype)
        edges[offsets[first] : offsets[end]] = own.edges
        lost |= {int(rows[i]): reason for i, reason in own.lost.items()}
        scratch.release()
    return structure.encode(mentions, offsets, types) if edges is None else Encoded(edges, lost)


def count_ambiguous(
    structure: Structure, held: MentionTable, edges: Edges, offsets: Ints, types: Sequence[str],
    scratch: Scratch = MEMORY, piece: int = PIECE_TOKENS,
) -> int:  # fmt: skip
    """Return how many mentions a structure holds, but reads back otherwise, as crossing ones that it reads as nested.

    Args:
        structure: that the mentions are written in.
        held: mentions that it holds.
        edges: (T, K, D) their encoding.
        offsets: (N + 1,) first token of each sentence.
        types: K names.
        scratch: where the hyperedges are.
        piece: tokens that are read at once, about.
    """
    count = 0
    for first, end, rows in _pieces(held, offsets, piece):
        begin, stop = offsets[[first, end]].tolist()
        again = set(structure.decode(edges[begin:stop], offsets[first : end + 1] - begin, types).headed())
        count += sum(row not in again for row in _counted_from(held.take(rows), first).headed())
        scratch.release()
    return count


def _pieces(mentions: MentionTable, offsets: Ints, piece: int) -> Iterator[tuple[int, int, Ints]]:
    """Yield ranges of sentences, and the numbers of the mentions in each, in their order."""
    order = np.argsort(mentions.sentence, kind="stable")
    sentence = mentions.sentence[order]
    for first, end in whole_ranges(offsets, piece):
        yield first, end, np.sort(order[np.searchsorted(sentence, first) : np.searchsorted(sentence, end)])


def _counted_from(mentions: MentionTable, sentence: int) -> MentionTable:
    return MentionTable(mentions.sentence - sentence, *mentions[1:])
