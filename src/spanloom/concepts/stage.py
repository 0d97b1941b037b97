"""The stage of a model that gives mentions their concepts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.concepts.forms import BY_ENCODER, NIL, NUMBERS, TEMPLATES, Form, FormTable, Parents, VocabularyForms
from spanloom.concepts.similarity import NameVectors
from spanloom.document import Document
from spanloom.document.span import found_mention
from spanloom.errors import ModelError
from spanloom.evaluate.concepts import Resolver
from spanloom.features import FeatureIndex, build_index
from spanloom.features.conjunctions import conjunctions
from spanloom.hashing import Int64, UInt64
from spanloom.hypergraph import Floats, Singles
from spanloom.learn.lbfgs import minimize
from spanloom.learn.platt import IDENTITY, Platt
from spanloom.modelfile import Array, Described, ModelPart
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import Part, Weights, role_gradient, role_scores, transpose
from spanloom.scoring import encoder as encoders
from spanloom.scoring.explanation import Candidate
from spanloom.sparse import gathered
from spanloom.text.abbreviations import abbreviations, expand
from spanloom.vocabulary.candidates import CandidateFinder
from spanloom.vocabulary.key_table import best_elsewhere
from spanloom.vocabulary.memory import Memory
from spanloom.vocabulary.records import Concept
from spanloom.vocabulary.store import Vocabulary

_ALL: Final = slice(None)
_OPEN: Final = re.compile(r"(?<=\w)[-‐‑–]\s")  # before a gap: micro- vesicles


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


def candidates_of(vocabulary: VocabularyForms, forms: Sequence[Placed], types: Collection[str]) -> Linked:
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
    table = vocabulary.table(list(numbers))
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
            gap, long = len(mention.spans) > 1, expanded[text]
            if gap:  # without the hyphens before it
                closed = _OPEN.sub("", long or text)
                long = None if closed == text else closed
            placed.append((place, Form(text, mention.type, long, gap)))
        found.append(placed)
    return found


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
    nothing in common with the text, unless training mentions have. An encoder, if there is one, compares texts with
    names, but finds no candidates.

    Args:
        vocabularies: that mentions are linked to.
        types: of the mentions that are linked -> number of their vocabulary.
        ranker: of candidates.
        scaling: from the share of the best candidate to how often such candidates are right.
        document_scaling: from the largest probability of a mention with a concept to that of the document.
    """

    name: ClassVar = "concepts"
    gives: ClassVar = frozenset({"concepts"})
    vocabularies: tuple[VocabularyForms, ...]
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
            yield vocabulary.vocabulary, candidates_of(vocabulary, forms, chosen)

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
                    evidence = linked.groups.numbers[row, [NUMBERS.index(name) for name in ("name", "memory")]] > 0
                    by = " and ".join(compress(("a name", "training mentions"), evidence)) or "its words"
                    several = "a phrase that names several concepts" if concepts else "no concept"
                    way = by if len(concepts) == 1 else several
                    identifiers = tuple(concept.id for concept in concepts)
                    found[place].append(Candidate(identifiers, name, way, float(scores[row]), tuple(over)))
        return found

    @property
    def resolver(self) -> Resolver:
        """The concepts of all vocabularies, by their identifiers."""
        return Vocabularies([one.vocabulary for one in self.vocabularies])

    def describe(self) -> dict[str, Any]:
        """Describe the stage; ready for JSON."""
        return {
            "types": {kind: f"vocabulary {number + 1}" for kind, number in self.types.items()},
            "vocabularies": [one.vocabulary.counts() for one in self.vocabularies],
            "features": len(self.ranker.index),
        } | ({} if (vectors := self.vocabularies[0].vectors) is None else {"similarity": vectors.encoder.describe()})

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file, with the vocabularies."""
        values = _Described(
            types=dict(self.types), k=self.vocabularies[0].k, scaling=self.scaling,
            numbers=list(self.ranker.numbers),
            templates=list(TEMPLATES), document_scaling=self.document_scaling,
        )  # fmt: skip
        parts: dict[str, ModelPart | None] = {"index": self.ranker.index.to_part()}
        for number, one in enumerate(self.vocabularies):
            parts[f"vocabulary{number}"] = one.vocabulary.to_part()
            parts[f"finder{number}"] = ModelPart(arrays=one.finder.arrays())
            parts[f"memory{number}"] = ModelPart(arrays=one.memory.arrays())
        ranker = self.ranker
        arrays: dict[str, Array] = {"sparse": ranker.sparse, "dense": ranker.dense, "unseen": ranker.unseen}
        for number, one in enumerate(self.vocabularies):
            if one.vectors is not None:
                arrays[f"names{number}"] = one.vectors.names
                parts["encoder"] = one.vectors.encoder.to_part()
        return values.part(arrays, parts)

    @classmethod
    def from_part(cls, part: ModelPart) -> ConceptStage:
        """Return what `to_part` gave.

        Raises:
            ModelError: it is damaged, or has features that this version lacks.
        """
        values = part.read(_Described)
        encoder = encoders.FrozenEncoder.from_part(part.part("encoder")) if "encoder" in part.parts else None
        numbers = [*NUMBERS, *(BY_ENCODER if encoder else ())]
        if values.numbers != numbers or not set(TEMPLATES).issuperset(values.templates):  # other ones have no weights
            raise ModelError(
                "the linking stage has features of another version of Spanloom; train the model again, or use the "
                "version that made it"
            )
        vocabularies: list[VocabularyForms] = []
        while f"vocabulary{(number := len(vocabularies))}" in part.parts:
            vocabulary = Vocabulary.from_part(part.part(f"vocabulary{number}"))
            finder = CandidateFinder.from_arrays(vocabulary, part.part(f"finder{number}").arrays, k=values.k)
            memory = Memory.from_arrays(part.part(f"memory{number}").arrays, len(vocabulary))
            vectors = None
            if encoder is not None:
                own = part.array(f"names{number}", np.int8, len(vocabulary.names), encoder.size)
                vectors = NameVectors(encoder, own)
            vocabularies.append(VocabularyForms(vocabulary, memory, values.k, finder, vectors))
        if not vocabularies or not all(0 <= number < len(vocabularies) for number in values.types.values()):
            raise ModelError(
                f"types of the linking stage name vocabularies beyond the {len(vocabularies)} that there are"
            )
        index = FeatureIndex.from_part(part.part("index"))
        stored = ("dense", "unseen") if "unseen" in part.arrays else ("dense",)
        dense, *unseen = (part.array(name, np.float32, len(numbers)) for name in stored)
        ranker = Ranker(index, part.array("sparse", np.float32, len(index)), dense, *unseen or [np.zeros_like(dense)])
        return cls(tuple(vocabularies), values.types, ranker, values.scaling, values.document_scaling)


# Evidence for a candidate from the other mentions of its document.


def with_evidence(table: FormTable, forms: Int64, documents: Int64, parents: Parents) -> tuple[Int64, Int64, Floats]:
    """Return the candidates of mentions, with the numbers that depend on their documents.

    1. Each concept of a document gets the two largest `FormTable.likely` that different forms give it.
    2. A candidate's support is the largest that another form gives its concept; its related evidence is the largest
       that another form gives to a parent of it. Sets of concepts have none.

    Args:
        table: of the forms.
        forms: (M,) number of each mention's form.
        documents: (M,) number of each mention's document, ascending.
        parents: of the vocabulary.

    Returns:
        Rows of the table, (C,), where those of each mention begin, (M + 1,), and (C, D) their numbers.
    """
    pairs, inverse = np.unique(np.stack([documents, forms]), axis=1, return_inverse=True)
    rows, ptr = gathered(table.ptr, pairs[1])
    size = len(parents.ptr) - 1
    concept, likely, numbers = table.concept[rows], table.likely[rows], table.numbers[rows]
    pair = np.repeat(np.arange(pairs.shape[1]), np.diff(ptr))
    single = np.flatnonzero((concept >= 0) & (concept < size))
    key = pairs[0][pair[single]] * size + concept[single]
    own, who = likely[single], pair[single]

    def largest(sought: Int64, asking: Int64) -> Floats:
        """Return the largest that another pair than the asking one gives to some documents' concepts."""
        row = best_elsewhere(key, own, who, sought, asking)
        return np.where(row >= 0, own[row], 0.0)

    if len(single):
        numbers[single, _SUPPORT] = largest(key, who)
        at, parent = parents.of(concept[single])
        related = np.zeros(len(single))
        np.maximum.at(related, at, largest((key - concept[single])[at] + parent, who[at]))
        numbers[single, _RELATED] = related
    taken, every = gathered(ptr, inverse)
    return rows[taken], every, numbers[taken]


# A conditional log-linear model that chooses one of several candidates.

_ITERATIONS = 200
_RIDGE = 0.1  # on the weights of numbers: they are few, and seen by all


class Groups(NamedTuple):
    """The candidates of M mentions, C in all.

    Args:
        ptr: (M + 1,) where those of each mention begin.
        numbers: (C, D).
        values: (V, C), in the order in which the templates read them.
    """

    ptr: Int64
    numbers: Floats
    values: UInt64

    @property
    def unseen(self) -> NDArray[np.bool_]:
        """(C,) whether no training mention had the text of the mention."""
        lengths = np.diff(self.ptr)
        shares = np.maximum.reduceat(self.numbers[:, _SHARE], self.ptr[:-1]) if len(lengths) else np.empty(0)
        return np.repeat(shares == 0, lengths)

    def best(self, scores: Floats) -> Int64:
        """Return the row of the largest score of each mention, (M,); of equal ones the first."""
        if len(self.ptr) == 1:
            return np.empty(0, np.int64)
        largest = np.repeat(np.maximum.reduceat(scores, self.ptr[:-1]), np.diff(self.ptr))
        rows = np.flatnonzero(scores == largest)
        owner = np.searchsorted(self.ptr, rows, side="right") - 1
        return rows.take(np.searchsorted(owner, np.arange(len(self.ptr) - 1)))


@dataclass(frozen=True)
class Ranker:
    """A trained model.

    Args:
        index: which feature has which weight.
        sparse: (F,) float32, the weight of each single feature.
        dense: (D,) float32, those of the numbers.
        unseen: (D,) float32, more weight that numbers have where no training mention had the text.
    """

    index: FeatureIndex
    sparse: Singles
    dense: Singles
    unseen: Singles

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the numbers of a candidate."""
        return (*NUMBERS, *BY_ENCODER)[: len(self.dense)]

    def log_shares(self, groups: Groups) -> Floats:
        """Return the logarithm of each candidate's probability, (C,): of its share among those of its mention."""
        if not len(groups.numbers):
            return np.empty(0)
        sums = self.index.weighed(conjunctions(TEMPLATES), groups.values, self.sparse)
        return log_shares(sums + self._weighed(groups).sum(1), groups.ptr)

    def _weighed(self, groups: Groups) -> Floats:
        found: Floats = groups.numbers * (self.dense + groups.unseen[:, None] * self.unseen)
        return found

    def parts(self, groups: Groups) -> tuple[tuple[str, ...], Floats]:
        """Return names of P parts of a score, numbers and templates, and what each gives each candidate, (C, P)."""
        names = conjunctions(TEMPLATES).names
        columns = [self._weighed(groups)]
        for template in TEMPLATES:
            made = conjunctions((template,))
            values = np.ascontiguousarray(groups.values[[names.index(name) for name in made.names]])
            columns.append(self.index.weighed(made, values, self.sparse)[:, None].astype(np.float64))
        return (*self.numbers, *TEMPLATES), np.concatenate(columns, 1)


def log_shares(scores: Floats, ptr: Int64) -> Floats:
    """Return the logarithm of each candidate's share among those of its mention, (C,)."""
    largest = np.repeat(np.maximum.reduceat(scores, ptr[:-1]), np.diff(ptr))
    total = np.add.reduceat(np.exp(scores - largest), ptr[:-1])
    found: Floats = scores - largest - np.repeat(np.log(total), np.diff(ptr))
    return found


def fit_ranker(
    groups: Groups, right: NDArray[np.bool_], l2: float, *, min_count: int = 2, run: Executor = SERIAL,
    tolerance: float = 1e-5,
) -> Ranker:  # fmt: skip
    """Return the model that gives right candidates the largest likelihood, less ``l2`` times its squared weights.

    Args:
        groups: candidates of training mentions, each of which has a right one.
        right: (C,) which of them are right; of several, their sum counts.
        l2: lambda.
        min_count: features of fewer candidates have no weight.
        run: how pieces of the work are run; the result does not depend on it.
        tolerance: the relative improvement below which it ends.
    """
    built = build_index(conjunctions(TEMPLATES).keys(groups.values), min_count=min_count)
    numbers = np.concatenate([groups.numbers, groups.numbers * groups.unseen[:, None]], 1)
    sizes = built.index.group_sizes
    features, scale = len(sizes), np.sqrt(sizes)
    transposed = transpose(built.matrix, features)
    gather = np.empty((features, 1, 1), np.float32)
    lengths, nothing = np.diff(groups.ptr), np.zeros((0, 1), np.float32)

    def value(point: Singles, gradient: Singles) -> float:
        own = (point[:features] * scale)[:, None, None]
        sums = role_scores(built.matrix, Weights(own, nothing), run=run).roles[:, 0, 0]
        scores = sums + np.einsum("cd,d->c", numbers, point[features:].astype(np.float64))
        every = log_shares(scores, groups.ptr)
        gold = np.where(right, every, -np.inf)
        top = np.maximum.reduceat(gold, groups.ptr[:-1])
        reached = top + np.log(np.add.reduceat(np.exp(gold - np.repeat(top, lengths)), groups.ptr[:-1]))
        slope = np.exp(every) - np.exp(gold - np.repeat(reached, lengths))
        role_gradient(transposed, slope.astype(np.float32)[:, None, None], gather, run)
        gradient[:features] = gather[:, 0, 0] * scale + np.float32(2 * l2) * point[:features]
        gradient[features:] = np.einsum("c,cd->d", slope, numbers) + 2 * _RIDGE * point[features:]
        squares = np.square(point, dtype=np.float64)
        return float(-reached.sum() + l2 * squares[:features].sum() + _RIDGE * squares[features:].sum())

    point = minimize(
        value, np.zeros(features + numbers.shape[1], np.float32), iterations=_ITERATIONS, tolerance=tolerance,
        run=run,
    )  # fmt: skip
    dense, unseen = point[features:].reshape(2, -1)
    return Ranker(built.index, (point[:features] * scale / sizes).astype(np.float32), dense, unseen)


_SHARE, _SUPPORT, _RELATED = (NUMBERS.index(name) for name in ("share", "support", "related"))
