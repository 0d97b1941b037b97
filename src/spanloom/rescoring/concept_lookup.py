"""The likeliest concepts of candidates, as values of the second stage: names, training mentions, the document.

The concept of a candidate is the likeliest one by names and training mentions alone. The linking stage, which looks at
much more, chooses a concept for each mention that is found; here one shows whether the text may be a mention at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from spanloom.concepts.forms import NIL, Form, VocabularyForms
from spanloom.concepts.stage import ConceptStage, forms_of
from spanloom.document import Batch, Document
from spanloom.hashing import UInt64
from spanloom.hypergraph import Floats, Ints
from spanloom.model.corpus import place
from spanloom.rescoring.values import CONCEPTS
from spanloom.vocabulary.memory import Memory

if TYPE_CHECKING:
    from spanloom.rescoring.candidates import CandidateMentions

LEAST: Final = -4.0
"""Log-odds of the first stage below which a candidate's concept is not looked up."""
_SHARES: Final = np.array([1e-6, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.999])
_COUNTS: Final = np.array([1, 3, 10, 30])
_ODDS: Final = np.arange(-3.0, 7.0, 1.5)


@dataclass(frozen=True)
class ConceptLookup:
    """Looks up the concepts of candidates.

    Args:
        vocabularies: to look them up in.
        types: type of mentions -> number of its vocabulary.
        kinds: the types of the model.
    """

    vocabularies: tuple[VocabularyForms, ...]
    types: Mapping[str, int]
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, linking: ConceptStage, kinds: Sequence[str]) -> ConceptLookup:
        """Return what looks up concepts as a linking stage does, with its memory of training mentions."""
        return cls(linking.vocabularies, linking.types, tuple(kinds))

    def values(self, batch: Batch, candidates: CandidateMentions) -> UInt64:
        """Return the values that `CONCEPTS` names, (V, C); 0 for unlikely candidates, and for types without vocabulary.

        Args:
            batch: sentences.
            candidates: of the batch.
        """
        found = np.zeros((len(CONCEPTS), len(candidates)), np.uint64)
        linked = np.array([self.types.get(kind, -1) for kind in self.kinds])
        number = np.where(candidates.odds >= LEAST, linked[candidates.table.kind], -1)
        for own in range(len(self.vocabularies)):
            rows = np.flatnonzero(number == own)
            if len(rows):
                found[:, rows] = self._values(batch, candidates.take(rows), own)
        return found

    def identifier(self, number: int) -> str:
        """Return the identifier of a concept, given its value; empty for none."""
        for forms in self.vocabularies if number else ():
            if number <= len(forms.vocabulary):
                return forms.vocabulary.identifier(number - 1)
            number -= len(forms.vocabulary)
        return ""

    def held_out(self, batch: Batch, candidates: CandidateMentions, fold: Ints) -> UInt64:
        """Return the same for training data; the training mentions that each fold's candidates see are of other folds.

        Args:
            batch: training data, N sentences.
            candidates: of the batch.
            fold: (N,) of each sentence.
        """
        found = np.zeros((len(CONCEPTS), len(candidates)), np.uint64)
        for number in np.unique(fold).tolist():
            rest = _within(batch, fold != number)
            forms = (
                own.with_memory(Memory.build(rest, own.vocabulary, {k for k, n in self.types.items() if n == at}))
                for at, own in enumerate(self.vocabularies)
            )
            rows = np.flatnonzero(fold[candidates.table.sentence] == number)
            found[:, rows] = replace(self, vocabularies=tuple(forms)).values(batch, candidates.take(rows))
        return found

    def _values(self, batch: Batch, candidates: CandidateMentions, number: int) -> UInt64:
        table, forms = candidates.table, self.vocabularies[number]
        numbers: dict[Form, int] = {}  # a text means the same as a mention of any type
        placed = forms_of(place(batch, table, self.kinds), self.types)
        which = np.array([
            numbers.setdefault(Form(form.text, "", form.expanded), len(numbers)) for own in placed for _, form in own
        ])  # fmt: skip
        near = forms.nearest(list(numbers))
        expanded = np.array([form.expanded is not None for form in numbers])
        before = sum(len(one.vocabulary) for one in self.vocabularies[:number])
        shown = np.where(near.concept == NIL, 0, 1 + before + near.concept)
        name, share, *compared = (
            1 + np.searchsorted(_SHARES, one, "right") for one in (near.name, near.share, *near.compared[:, :5].T)
        )
        values = np.stack([
            shown, name, share,
            1 + np.searchsorted(_COUNTS, near.prior, "right"), *compared, 1 + near.compared[:, 5], 1 + expanded,
        ]).astype(np.uint64)  # fmt: skip
        base = batch.sentences[table.sentence]
        first, end = base + table.first[table.ptr[:-1]], base + table.end[table.ptr[1:] - 1]
        again = _again(near.concept[which], batch.owners[first], candidates.odds, first, end)
        return np.concatenate([values[:, which], again[None]])


def _again(concept: Ints, document: Ints, odds: Floats, first: Ints, end: Ints) -> UInt64:
    """Return the bin of the largest log-odds of a candidate elsewhere in the document with the same concept, (C,).

    1: no other candidate, 0: no concept. Candidates that overlap are not elsewhere.

    Args:
        concept, document: (C,) numbers of the concept and of the document of each candidate.
        odds: (C,) of each.
        first, end: (C,) tokens, counted in the batch.
    """
    code = document * (concept.max(initial=0) + 2) + concept  # `NIL` is -1
    _, group, sizes = np.unique(code, return_inverse=True, return_counts=True)
    order, start = np.lexsort((-odds, group)), np.cumsum(sizes) - sizes
    found, asking = np.where(concept == NIL, 0, 1), np.flatnonzero(concept != NIL)
    for rank in range(int(sizes.max(initial=0))):  # the best of each group, the second best, ...: hardly any overlap
        asking = asking[rank < sizes[group[asking]]]
        other = order[start[group[asking]] + rank]
        apart = (end[other] <= first[asking]) | (end[asking] <= first[other])
        found[asking[apart]] = 2 + np.searchsorted(_ODDS, odds[other[apart]], "right")
        asking = asking[~apart]
    return found.astype(np.uint64)


def _within(batch: Batch, sentences: NDArray[np.bool_]) -> list[Document]:
    """Return the documents with the mentions of some of the sentences, (N,)."""
    starts, bounds = batch.tokens[batch.sentences[:-1], 0], batch.firsts
    found = []
    for number, document in enumerate(batch.documents):
        own = slice(bounds[number], bounds[number + 1])
        at = np.searchsorted(starts[own], [mention.start for mention in document.mentions], "right") - 1
        kept = sentences[own][np.maximum(at, 0)].tolist() if len(document.mentions) else []
        found.append(document.copy(mentions=[one for one, stays in zip(document.mentions, kept, strict=True) if stays]))
    return found
