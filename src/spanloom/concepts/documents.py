"""Concepts of documents, with the probability that a document mentions each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from spanloom.document import Document

__all__ = ["document_concepts", "with_document_concepts"]


def document_concepts(document: Document) -> dict[str, float | None]:
    """Return the concepts of a document's mentions with the probability that the document mentions each.

    The probability of a mention with a concept is ``score`` times that of the concept, and the largest over the
    mentions is that of the document: mentions share words and evidence, so a combination that takes them for
    independent would be too sure. ``None`` where no mention with the concept has a score of either kind.

    Args:
        document: with linked mentions.

    Returns:
        Identifier -> probability, the most probable first, then in the order of identifiers.

    >>> from spanloom import Document, Mention
    >>> pain = Mention("problem", [(0, 4)], concepts=["D1"], score=0.9, concept_scores=[0.5])
    >>> again = Mention("problem", [(9, 13)], concepts=["D1", "D2"], score=0.8, concept_scores=[0.75, 0.25])
    >>> document_concepts(Document("pain and pain", mentions=[pain, again]))
    {'D1': 0.6000000000000001, 'D2': 0.2}
    """
    found: dict[str, float | None] = {}
    for mention in document.mentions:
        scores = mention.concept_scores or (None,) * len(mention.concepts)
        for concept, score in zip(mention.concepts, scores, strict=True):
            known = [value for value in (mention.score, score) if value is not None]
            own = known[0] * known[-1] if len(known) == 2 else known[0] if known else None
            before = found.get(concept)
            found[concept] = before if own is None else own if before is None else max(before, own)
    return dict(sorted(found.items(), key=lambda one: (1.0 if one[1] is None else -one[1], one[0])))


def with_document_concepts(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield documents with ``meta["concepts"]``: objects with ``concept``, ``probability`` and number of ``mentions``.

    Args:
        documents: with linked mentions.
    """
    for document in documents:
        counts = Counter(concept for mention in document.mentions for concept in set(mention.concepts))
        listed = [
            {"concept": concept, "probability": probability, "mentions": counts[concept]}
            for concept, probability in document_concepts(document).items()
        ]
        yield document.copy(meta={**document.meta, "concepts": listed})
