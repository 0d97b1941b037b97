"""Comparison of concepts: by document as sets, by mention, and for the recognized mentions.

The shared tasks count sets (BioCreative V CDR, task DNER: Wei et al. 2016; NCBI Disease: Leaman et al.
2013): all concepts that a document mentions. A mention with several concepts, as composite mentions have, gives all
of them to its document's set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np

from spanloom.document import Document, Mention
from spanloom.document.span import normalize_identifier
from spanloom.evaluate.compare import Item, compare, in_both, joined
from spanloom.evaluate.rows import Ints, ReportRow, row
from spanloom.evaluate.units import ResamplingUnits


class Identified(Protocol):
    """Protocol of objects with an identifier, such as concepts."""

    @property
    def id(self) -> str:
        """The identifier."""

    @property
    def parents(self) -> Sequence[str]:
        """The identifiers of broader concepts."""


class Resolver(Protocol):
    """Protocol of vocabularies that resolve identifiers, such as `spanloom.vocabulary.Vocabulary`."""

    def find(self, id: str, /) -> int:
        """Return the number of the concept with this identifier, or alternative identifier, or -1."""

    def __getitem__(self, number: int, /) -> Identified:
        """Return the concept of a number."""


class Resolved:
    """Normalization of identifiers for comparison, each looked up once.

    Args:
        vocabulary: resolves alternatives; without one, only the spelling is normalized.

    >>> sorted(Resolved()(Mention("Disease", [(0, 4)], concepts=["D010146", "mesh:d010146", "OMIM:1"])))
    ['MESH:D010146', 'OMIM:1']
    """

    def __init__(self, vocabulary: Resolver | None = None) -> None:
        self._vocabulary = vocabulary
        self._forms: dict[str, str] = {}
        self._lacking: set[str] = set()

    def __call__(self, mention: Mention) -> frozenset[str]:
        """Return the different concepts of a mention."""
        return frozenset(map(self._form, mention.concepts))

    def broadened(self, concepts: Iterable[str]) -> frozenset[str]:
        """Return concepts and all broader ones, those that the vocabulary lacks among them; cycles end."""
        found, waiting = set[str](), list(concepts)
        while waiting:
            concept = waiting.pop()
            if concept not in found:
                found.add(concept)
                if self._vocabulary is not None and (number := self._vocabulary.find(concept)) >= 0:
                    waiting += map(self._form, self._vocabulary[number].parents)
        return frozenset(found)

    def lacking(self, documents: Iterable[Document]) -> dict[str, dict[str, int]]:
        """Count, by type, the mentions of each identifier that the vocabulary lacks; the most frequent first."""
        found: dict[str, Counter[str]] = {}
        for document in documents:
            for mention in document.mentions:
                lacking = self(mention) & self._lacking
                if lacking:
                    found.setdefault(mention.type, Counter()).update(sorted(lacking))
        return {kind: dict(counts.most_common()) for kind, counts in sorted(found.items())}

    def _form(self, identifier: str) -> str:
        form = self._forms.get(identifier)
        if form is None:
            form = normalize_identifier(identifier)
            if self._vocabulary is not None:
                number = self._vocabulary.find(form)
                if number < 0:
                    self._lacking.add(form)
                else:
                    form = self._vocabulary[number].id
            self._forms[identifier] = form
        return form


def concept_sets(documents: Iterable[Document], resolve: Resolved, kind: str | None = None) -> list[frozenset[str]]:
    """Return the concepts of each document, or of its mentions of one type.

    >>> document = Document("colon and lung cancer", mentions=[Mention("Disease", [(0, 21)], concepts=["D1", "D2"])])
    >>> [sorted(concepts) for concepts in concept_sets([document], Resolved())]
    [['D1', 'D2']]
    """
    return [
        frozenset(
            concept
            for mention in document.mentions
            if kind is None or mention.type == kind
            for concept in resolve(mention)
        )
        for document in documents
    ]


def by_document(gold: Sequence[frozenset[str]], predicted: Sequence[frozenset[str]]) -> ReportRow:
    """Return the row of the concepts of documents."""
    hits = _repeated([len(g & p) for g, p in zip(gold, predicted, strict=True)])
    return ReportRow.matched(_repeated(map(len, gold)), _repeated(map(len, predicted)), hits)


def by_mention(gold: Sequence[Document], predicted: Sequence[Document], resolve: Resolved) -> ReportRow:
    """Return the row of mentions whose type, boundaries and concepts are right; the units are documents."""

    def key(document: Document) -> Iterator[Item]:  # no concept equals no concept
        return (((one.key, resolve(one)), one) for one in joined(document))

    return row(compare(gold, predicted, whole_documents(len(gold)), key))


def whole_documents(count: int) -> ResamplingUnits:
    """Return documents as the units of resampling, without regard to sentences."""
    return ResamplingUnits([np.zeros(0, np.int64)] * count, np.arange(count), count, "document")


def accuracies(gold: Sequence[Document], predicted: Sequence[Document], resolve: Resolved) -> list[ReportRow]:
    """Return rows whose precision is the part of the recognized mentions that have the right concepts.

    Recognized are those whose type and boundaries are right; those of equal spans count once, with all concepts.

    Returns:
        the row of the mentions with gold concepts, and of those without.
    """
    both = in_both(gold, predicted, resolve, lambda one, two: one | two)
    rows = []
    for linked in (True, False):
        chosen = [(number, expected == found) for number, expected, found in both if bool(expected) == linked]
        document, right = np.array(chosen, np.int64).reshape(-1, 2).T
        rows.append(ReportRow.matched(document, document, document[right > 0]))
    return rows


def _repeated(counts: Iterable[int]) -> Ints:
    """Return each document's number, repeated by its count."""
    many = np.fromiter(counts, np.int64)
    return np.repeat(np.arange(len(many)), many)
