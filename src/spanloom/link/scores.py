"""Scores of a linker on development data: mentions by position, and concepts by document."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spanloom.document import Document, align
from spanloom.link.names import Concepts


class LinkerScores(NamedTuple):
    """Measures between 0 and 1.

    Args:
        recognition: F1 of the spans and types of mentions.
        concepts: F1 of the sets of concepts of documents.
        accuracy: of the mentions that were recognized and have concepts, those with exactly these.
    """

    recognition: float
    concepts: float
    accuracy: float

    @property
    def mean(self) -> float:
        """Of both F1: what training chooses by."""
        return (self.recognition + self.concepts) / 2


def measure(
    documents: Sequence[Document], found: Sequence[tuple[int, int, int, int]], types: Sequence[str], concepts: Concepts
) -> LinkerScores:
    """The scores of some entities: first token and end counted over all documents, type, and concept.

    Mentions that no linker can hold count as missed. Identifiers that the vocabulary lacks are compared unchanged.
    """
    number = {name: kind for kind, name in enumerate(types)}
    gold: dict[tuple[int, int, int], frozenset[str]] = {}
    sets, mine = set[tuple[int, str]](), set[tuple[int, str]]()
    total, starts = 0, np.cumsum([0, *(document.token_count for document in documents)]).tolist()
    for at, document in enumerate(documents):
        chosen = [mention for mention in document.mentions if mention.type in number]
        total += len(chosen)
        for mention, ranges, _ in align(document, chosen):
            own = frozenset(known(identifier, concepts) for identifier in mention.concepts)
            sets |= {(at, identifier) for identifier in own}
            if ranges is not None and len(ranges) == 1:
                gold[starts[at] + ranges[0].first, starts[at] + ranges[0].end, number[mention.type]] = own
    right = linked = exact = 0
    for first, end, kind, concept in found:
        identifiers = frozenset(concepts.identifiers(concept))
        mine |= {(bisect_right(starts, first) - 1, identifier) for identifier in identifiers}
        own = gold.get((first, end, kind), frozenset())
        right += (first, end, kind) in gold
        linked += bool(own)
        exact += bool(own) and own == identifiers
    return LinkerScores(
        2 * right / max(1, len(found) + total),
        2 * len(mine & sets) / max(1, len(mine) + len(sets)),
        exact / max(1, linked),
    )


def known(identifier: str, concepts: Concepts) -> str:
    """The vocabulary's own identifier for one that it knows under another; what it lacks stays."""
    number = concepts.vocabulary.find(identifier)
    return identifier if number < 0 else concepts.vocabulary[number].id
