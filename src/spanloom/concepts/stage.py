"""The stage of a model that gives mentions their concepts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from spanloom.concepts.evidence import Parents, with_evidence
from spanloom.concepts.forms import NIL, NUMBERS, TEMPLATES, Form, VocabularyForms
from spanloom.concepts.ranker import Groups, Ranker
from spanloom.document import Document
from spanloom.document.span import found_mention
from spanloom.errors import ModelError
from spanloom.evaluate.concepts import Resolver
from spanloom.features import FeatureIndex
from spanloom.hashing import Int64
from spanloom.hypergraph import Floats
from spanloom.learn.platt import IDENTITY, Platt
from spanloom.modelfile import Described, ModelPart
from spanloom.scoring import Part
from spanloom.scoring.explanation import Candidate
from spanloom.text.abbreviations import abbreviations, expand
from spanloom.vocabulary.candidates import CandidateFinder
from spanloom.vocabulary.concept import Concept
from spanloom.vocabulary.memory import Memory
from spanloom.vocabulary.store import Vocabulary

_ALL: Final = slice(None)


Placed = list[tuple[int, Form]]
"""Places of mentions among those of a document, with their forms."""


class Vocabularies:
    """Several vocabularies as one in which identifiers are looked up; the first that has one counts.

    Args:
        several: the vocabularies.
    """

    def __init__(self, several: Sequence[Vocabulary]) -> None:
        self._several = several
        self._first: list[int] = np.append(0, np.cumsum([len(one) for one in several])).tolist()

    def find(self, id: str, /) -> int:
        """Return the number of a concept, -1 if no vocabulary has it."""
        found = ((first, one.find(id)) for first, one in zip(self._first, self._several, strict=False))
        return next((first + number for first, number in found if number >= 0), -1)

    def __getitem__(self, number: int, /) -> Concept:
        """Return the concept of a number."""
        at = bisect_right(self._first, number) - 1
        return self._several[at][number - self._first[at]]


@dataclass(frozen=True, eq=False)
class LinkedVocabulary:
    """A vocabulary that mentions are linked to.

    Args:
        forms: candidates of texts in it.
        parents: of its concepts.
    """

    forms: VocabularyForms
    parents: Parents

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, memory: Memory, k: int, finder: CandidateFinder | None = None
    ) -> LinkedVocabulary:
        """Return a vocabulary with the memory of training mentions; see `VocabularyForms`."""
        return cls(VocabularyForms(vocabulary, memory, k, finder), Parents(vocabulary))

    def with_memory(self, memory: Memory) -> LinkedVocabulary:
        """Return the same with another memory."""
        return LinkedVocabulary(self.forms.with_memory(memory), self.parents)


class Linked(NamedTuple):
    """The candidates of M mentions, C in all.

    Args:
        groups: of the mentions, for the ranker.
        concept: (C,) numbers of the vocabulary; from V on, of the sets; or `NIL`.
        sets: of concepts.
        documents: (M,) number of each mention's document.
        places: (M,) number of each mention in its document.
    """

    groups: Groups
    concept: Int64
    sets: tuple[tuple[int, ...], ...]
    documents: Int64
    places: Int64

    def readings(self, size: int, rows: Int64 | slice = _ALL) -> list[tuple[int, ...]]:
        """Return the numbers of the concepts of some candidates; none for `NIL`.

        Args:
            size: of the vocabulary.
            rows: of the candidates.
        """
        return [
            () if number == NIL else (number,) if number < size else self.sets[number - size]
            for number in self.concept[rows].tolist()
        ]


def candidates_of(vocabulary: LinkedVocabulary, forms: Sequence[Placed], types: Collection[str]) -> Linked:
    """Return the candidates of some mentions.

    Args:
        vocabulary: that they are linked to.
        forms: of the mentions of each document, from `forms_of`.
        types: of the mentions that are linked to it.
    """
    numbers: dict[Form, int] = {}
    rows = [
        (number, place, numbers.setdefault(form, len(numbers)))
        for number, own in enumerate(forms)
        for place, form in own
        if form.type in types
    ]
    owner, place, form = np.array(rows, np.int64).reshape(-1, 3).T.copy()
    table = vocabulary.forms.table(list(numbers))
    at, ptr, columns = with_evidence(table, form, owner, vocabulary.parents)
    groups = Groups(ptr, columns, np.ascontiguousarray(table.values[:, at]))
    return Linked(groups, table.concept[at], table.sets, owner, place)


def forms_of(documents: Sequence[Document], types: Collection[str]) -> list[Placed]:
    """Return the places of the mentions of some types in each document, with their forms."""
    found: list[Placed] = []
    for document in documents:
        own = [(place, mention) for place, mention in enumerate(document.mentions) if mention.type in types]
        defined = abbreviations(document) if own else {}
        expanded: dict[str, str | None] = {}  # a document repeats its words
        placed: Placed = []
        for place, mention in own:
            text = " ".join(mention.text(document.text).split())
            if text not in expanded:
                expanded[text] = expand(text, defined)
            placed.append((place, Form(text, mention.type, expanded[text], len(mention.spans) > 1)))
        found.append(placed)
    return found


def _way(concepts: int, numbers: Floats) -> str:
    """Return how a candidate was found, in words that follow *by*."""
    if concepts != 1:
        return "a phrase that names several concepts" if concepts else "no concept"
    by = ("a name", "name"), ("training mentions", "memory")
    return " and ".join(words for words, number in by if numbers[NUMBERS.index(number)] > 0) or "its words"


class _Described(Described):
    """Values of the stage in a model file."""

    types: dict[str, int]
    k: int
    scaling: Platt
    numbers: list[str]
    templates: list[str]
    document_scaling: Platt = IDENTITY


@dataclass(frozen=True, eq=False)
class ConceptStage:
    """Links mentions of any shape to vocabularies. Using it changes nothing, so threads may share it.

    It finds concepts whose names resemble the text of a mention, with gaps closed and abbreviations written out, those
    that training mentions with such a text had, sets of concepts for phrases such as *breast and ovarian cancer*, or no
    concept. A log-linear model over the candidates gives each a probability. It cannot find a concept whose names have
    nothing in common with the text, unless training mentions have.

    Args:
        vocabularies: that mentions are linked to.
        types: of the mentions that are linked -> number of their vocabulary.
        ranker: of candidates.
        scaling: from the share of the best candidate to how often such candidates are right.
        document_scaling: from the largest probability of a mention with a concept to that of the document.
    """

    name: ClassVar = "concepts"
    gives: ClassVar = frozenset({"concepts"})
    vocabularies: tuple[LinkedVocabulary, ...]
    types: Mapping[str, int]
    ranker: Ranker
    scaling: Platt = IDENTITY
    document_scaling: Platt = IDENTITY

    def run(self, documents: Sequence[Document]) -> list[Document]:
        """Return the documents with the concept of each mention, and its probability, in place of its own.

        What a document gets depends on no other.
        """
        mentions = [list(document.mentions) for document in documents]
        for names, linked in self._linked(documents):
            best, scores = self.best(linked)
            readings = linked.readings(len(names), best)
            for owner, place, reading, score in zip(
                linked.documents.tolist(), linked.places.tolist(), readings, scores.tolist(), strict=True
            ):
                concepts = tuple(map(names.identifier, reading))
                old = mentions[owner][place]
                mentions[owner][place] = found_mention(
                    old.type, old.spans, old.head, concepts, old.score, old.id, old.attributes, old.attribute_scores,
                    (score,) * len(concepts),
                )  # fmt: skip
        return [document.copy(mentions=own) for document, own in zip(documents, mentions, strict=True)]

    def _linked(self, documents: Sequence[Document]) -> Iterator[tuple[Vocabulary, Linked]]:
        """Yield each vocabulary with the candidates of the mentions that are linked to it."""
        forms = forms_of(documents, self.types)
        for number, vocabulary in enumerate(self.vocabularies):
            chosen = {kind for kind, own in self.types.items() if own == number}
            yield vocabulary.forms.vocabulary, candidates_of(vocabulary, forms, chosen)

    def best(self, linked: Linked) -> tuple[Int64, Floats]:
        """Return the row of the best candidate of each mention, (M,), and its calibrated probability."""
        shares = self.ranker.log_shares(linked.groups)
        best = linked.groups.best(shares)
        return best, self.scaling.of_log(shares[best])

    def candidates(self, document: Document) -> list[list[Candidate]]:
        """Return the candidates of each mention, the likeliest first; none where its type has no vocabulary.

        Args:
            document: with mentions.
        """
        found: list[list[Candidate]] = [[] for _ in document.mentions]
        for names, linked in self._linked([document]):
            readings, ptr = linked.readings(len(names)), linked.groups.ptr.tolist()
            labels, parts = self.ranker.parts(linked.groups)
            scores = parts.sum(1)
            for place, first, end in zip(linked.places.tolist(), ptr[:-1], ptr[1:], strict=True):
                order = (first + np.argsort(-scores[first:end], kind="stable")).tolist()
                for rank, row in enumerate(order):
                    other = order[0] if rank else order[min(1, len(order) - 1)]
                    named = zip(labels, (parts[row] - parts[other]).tolist(), strict=True)
                    over = sorted((Part(*one) for one in named if one[1]), key=lambda part: -abs(part.score))
                    concepts = [names[concept] for concept in readings[row]]
                    name = " + ".join(concept.name for concept in concepts)
                    way = _way(len(concepts), linked.groups.numbers[row])
                    identifiers = tuple(concept.id for concept in concepts)
                    found[place].append(Candidate(identifiers, name, way, float(scores[row]), tuple(over)))
        return found

    @property
    def resolver(self) -> Resolver:
        """The concepts of all vocabularies, by their identifiers."""
        return Vocabularies([one.forms.vocabulary for one in self.vocabularies])

    def describe(self) -> dict[str, Any]:
        """Describe the stage; ready for JSON."""
        return {
            "types": {kind: f"vocabulary {number + 1}" for kind, number in self.types.items()},
            "vocabularies": [one.forms.vocabulary.counts() for one in self.vocabularies],
            "features": len(self.ranker.index),
        }

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file, with the vocabularies."""
        said = _Described(
            types=dict(self.types), k=self.vocabularies[0].forms.k, scaling=self.scaling, numbers=list(NUMBERS),
            templates=list(TEMPLATES), document_scaling=self.document_scaling,
        )  # fmt: skip
        parts: dict[str, ModelPart | None] = {"index": self.ranker.index.to_part()}
        for number, one in enumerate(self.vocabularies):
            parts[f"vocabulary{number}"] = one.forms.vocabulary.to_part()
            parts[f"finder{number}"] = ModelPart(arrays=one.forms.finder.arrays())
            parts[f"memory{number}"] = ModelPart(arrays=one.forms.memory.arrays())
        return said.part({"sparse": self.ranker.sparse, "dense": self.ranker.dense}, parts)

    @classmethod
    def from_part(cls, part: ModelPart) -> ConceptStage:
        """Return what `to_part` gave.

        Raises:
            ModelError: it is damaged, or its features are those of another version.
        """
        said = part.read(_Described)
        if said.numbers != list(NUMBERS) or said.templates != list(TEMPLATES):
            raise ModelError(
                "the linking stage has features of another version of Spanloom; train the model again, or use the "
                "version that made it"
            )
        vocabularies: list[LinkedVocabulary] = []
        while f"vocabulary{len(vocabularies)}" in part.parts:
            number = len(vocabularies)
            vocabulary = Vocabulary.from_part(part.part(f"vocabulary{number}"))
            finder = CandidateFinder.from_arrays(vocabulary, part.part(f"finder{number}").arrays, k=said.k)
            memory = Memory.from_arrays(part.part(f"memory{number}").arrays, len(vocabulary))
            vocabularies.append(LinkedVocabulary.of(vocabulary, memory, said.k, finder))
        if not vocabularies or not all(0 <= number < len(vocabularies) for number in said.types.values()):
            raise ModelError(
                f"types of the linking stage name vocabularies beyond the {len(vocabularies)} that there are"
            )
        index = FeatureIndex.from_part(part.part("index"))
        ranker = Ranker(
            index, part.array("sparse", np.float32, len(index)), part.array("dense", np.float32, len(NUMBERS))
        )
        return cls(tuple(vocabularies), said.types, ranker, said.scaling, said.document_scaling)
