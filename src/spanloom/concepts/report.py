"""Report of the training of the linking stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from spanloom.document import Document
from spanloom.evaluate.concepts import Resolver
from spanloom.learn.platt import IDENTITY, Platt, fit_platt


@dataclass(frozen=True)
class ConceptReport:
    """Report of the training of the linking stage.

    Args:
        mentions: of training whose concepts the vocabulary has, or that have none.
        lacking: training mentions whose concepts the vocabulary lacks.
        reached: share of the former whose concept is among the candidates.
        l2: lambda.
        measured: development mentions of the same kind.
        first: share of them of which the most similar candidate is right.
        right: share of them whose concept is right.
        unseen: those whose concept no training mention has.
        unseen_right: share of the unseen ones whose concept is right.
    """

    mentions: int
    lacking: int
    reached: float
    l2: float
    measured: int
    first: float
    right: float
    unseen: int
    unseen_right: float

    def lines(self) -> Iterator[str]:
        """Describe it."""
        lacking = f"; the vocabulary lacks those of {self.lacking:,} more" if self.lacking else ""
        yield (
            f"concepts: those of {self.mentions:,} training mentions, {100 * self.reached:.1f} % of them among the "
            f"candidates, lambda {self.l2:g}{lacking}"
        )
        unseen = f", {100 * self.unseen_right:.1f} % of {self.unseen:,} unseen ones" if self.unseen else ""
        yield (
            f"concepts of {self.measured:,} given development mentions: {100 * self.right:.1f} % right{unseen}; by the "
            f"most similar name or training mention {100 * self.first:.1f} %"
        )


# Concepts of documents, with the probability that a document mentions each.

__all__ = ["document_concepts", "fit_document_scaling", "with_document_concepts"]


def document_concepts(document: Document, scaling: Platt = IDENTITY) -> dict[str, float | None]:
    """Return the concepts of a document's mentions with the probability that the document mentions each.

    The probability of a mention with a concept is ``score`` times that of the concept. The largest over the mentions
    is that of the document: mentions share words and evidence, so a combination that takes them for independent would
    be too sure. It is too modest where a document mentions the concept with other boundaries than were found, so that
    models that link have a ``document_scaling`` from development data. ``None`` where no mention with the concept has
    a score of either kind.

    Args:
        document: with linked mentions.
        scaling: from the largest probability of a mention to that of the document.

    Returns:
        Identifier -> probability, the most probable first, then in the order of identifiers.

    >>> from spanloom import Document, Mention
    >>> pain = Mention("problem", [(0, 4)], concepts=["D1"], score=0.9, concept_scores=[0.5])
    >>> again = Mention("problem", [(9, 13)], concepts=["D1", "D2"], score=0.8, concept_scores=[0.75, 0.25])
    >>> document_concepts(Document("pain and pain", mentions=[pain, again]))
    {'D1': 0.6000000000000001, 'D2': 0.2}
    """
    found: dict[str, list[float]] = {}
    for mention in document.mentions:
        scores = mention.concept_scores or (None,) * len(mention.concepts)
        for concept, score in zip(mention.concepts, scores, strict=True):
            known = [value for value in (mention.score, score) if value is not None]
            found.setdefault(concept, []).extend([prod(known)] if known else [])
    scored = {concept: max(values) for concept, values in found.items() if values}
    scaled: dict[str, float] = dict(zip(scored, scaling(np.array(list(scored.values()))).tolist(), strict=True))
    order = sorted(found, key=lambda concept: (-scaled.get(concept, -1.0), concept))
    return {concept: scaled.get(concept) for concept in order}


def fit_document_scaling(found: Iterable[Document], gold: Sequence[Document], resolver: Resolver) -> Platt:
    """Return the map from the largest probability of a mention to how often the document mentions the concept.

    Args:
        found: what a model predicts.
        gold: the same documents with their own mentions.
        resolver: of the concepts.
    """
    probability, right = [], []
    for one, own in zip(found, gold, strict=True):
        mentioned = {resolver.find(concept) for mention in own.mentions for concept in mention.concepts}
        for concept, value in document_concepts(one).items():
            probability.append(value or 0.0)
            right.append(resolver.find(concept) in mentioned)
    with np.errstate(divide="ignore"):
        return fit_platt(np.log(np.array(probability)), np.array(right, bool))


def with_document_concepts(documents: Iterable[Document], scaling: Platt = IDENTITY) -> Iterator[Document]:
    """Yield documents with ``meta["concepts"]``: objects with ``concept``, ``probability`` and number of ``mentions``.

    Args:
        documents: with linked mentions.
        scaling: as for `document_concepts`.
    """
    for document in documents:
        counts = Counter(concept for mention in document.mentions for concept in set(mention.concepts))
        listed = [
            {"concept": concept, "probability": probability, "mentions": counts[concept]}
            for concept, probability in document_concepts(document, scaling).items()
        ]
        yield document.copy(meta={**document.meta, "concepts": listed})
