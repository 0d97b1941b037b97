"""Training of the linking stage: memories of other folds, and a ranker tuned on other data."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.concepts.forms import VocabularyForms
from spanloom.concepts.report import ConceptReport
from spanloom.concepts.similarity import NameVectors
from spanloom.concepts.stage import (
    ConceptStage,
    Groups,
    Linked,
    candidates_of,
    fit_ranker,
    forms_of,
)
from spanloom.document import Document, Mention
from spanloom.errors import DataError, DataWarning
from spanloom.learn.folds import Fitting, deal
from spanloom.learn.platt import FEWEST, IDENTITY, fit_platt
from spanloom.parallel import SERIAL, Executor
from spanloom.vocabulary.memory import Memory
from spanloom.vocabulary.read import read_vocabulary
from spanloom.vocabulary.store import Vocabulary

FOLDS: Final = 5
LAMBDAS: Final = (1.0, 3.0, 10.0)
_UNKNOWN: Final = 0.2  # of the training mentions of a type; with more the vocabulary may be another one
_MOST_UNKNOWN: Final = 0.5  # with as many it is


def linked_vocabularies(given: str | Path | Vocabulary | Sequence[str | Path | Vocabulary] | None) -> list[Vocabulary]:
    """Return the vocabularies that a parameter names; none for ``None``.

    Raises:
        DataError: one cannot be read.
    """
    several = [] if given is None else [given] if isinstance(given, str | Path | Vocabulary) else list(given)
    return [one if isinstance(one, Vocabulary) else read_vocabulary(one) for one in several]


def assigned(documents: Sequence[Document], vocabularies: Sequence[Vocabulary]) -> dict[str, int]:
    """Return, for each type whose mentions have concepts, the vocabulary that knows most of them.

    Raises:
        DataError: no training mention has a concept of any vocabulary.
    """
    counts: dict[str, Counter[int]] = {}
    total = Counter[str]()
    for document in documents:
        for mention in document.mentions:
            total[mention.type] += bool(mention.concepts)
            for number, vocabulary in enumerate(vocabularies):
                if any(vocabulary.find(concept) >= 0 for concept in mention.concepts):
                    counts.setdefault(mention.type, Counter())[number] += 1
    if not counts:
        example = next((one.concepts[0] for d in documents for one in d.mentions if one.concepts), None)
        found = "no training mention has a concept" if example is None else (
            f"no vocabulary has a concept of the training mentions, such as {example!r}; its own look like "
            f"{vocabularies[0][0].id!r}"
        )  # fmt: skip
        raise DataError(f"{found}; to link, give mentions with concepts and the vocabulary that these are of")
    best = {kind: max(found, key=lambda number: (found[number], -number)) for kind, found in sorted(counts.items())}
    missing = {kind: 1 - counts[kind][number] / total[kind] for kind, number in best.items()}
    chosen = {kind: number for kind, number in best.items() if missing[kind] < _MOST_UNKNOWN}
    for kind, share in missing.items():
        if share > _UNKNOWN:
            warnings.warn(
                f"the vocabulary lacks the concepts of {100 * share:.0f} % of the training mentions of type {kind}"
                f"{'' if kind in chosen else ', which is not linked'}; is it the right one?", DataWarning, stacklevel=3,
            )  # fmt: skip
    if not chosen:
        raise DataError(f"the vocabulary lacks most concepts of the types {', '.join(missing)}; give the right one")
    return chosen


class _Examples(NamedTuple):
    """Candidates of mentions with their answers.

    Args:
        groups: of M mentions.
        readings: C, the concepts of each candidate.
        right: (C,) which of them are right; of a set of concepts that is no candidate, each single one.
        exact: (C,) which of them are the whole answer.
        seen: (M,) whether a training mention has the concept.
        fold: (M,) of the document.
    """

    groups: Groups
    right: NDArray[np.bool_]
    exact: NDArray[np.bool_]
    seen: NDArray[np.bool_]
    fold: NDArray[np.int64]

    @property
    def reached(self) -> NDArray[np.bool_]:
        """(M,) whether a candidate is right."""
        return np.logical_or.reduceat(self.right, self.groups.ptr[:-1])

    def take(self, mentions: NDArray[np.bool_]) -> _Examples:
        """Return some of the mentions."""
        rows = np.repeat(mentions, np.diff(self.groups.ptr))
        ptr = np.append(0, np.cumsum(np.diff(self.groups.ptr)[mentions]))
        groups = Groups(ptr, self.groups.numbers[rows], np.ascontiguousarray(self.groups.values[:, rows]))
        return _Examples(groups, self.right[rows], self.exact[rows], self.seen[mentions], self.fold[mentions])


def _examples(parts: Sequence[tuple[VocabularyForms, Linked, Sequence[Document], int]]) -> _Examples:
    every = [own.groups for _, own, _, _ in parts]
    groups = Groups(
        np.append(0, np.cumsum(np.concatenate([np.diff(one.ptr) for one in every]))),
        np.concatenate([one.numbers for one in every]), np.concatenate([one.values for one in every], 1),
    )  # fmt: skip
    readings, gold, seen, fold = [], [], [], []
    for one, own, documents, number in parts:
        readings += own.readings(len(one.vocabulary))
        places = zip(own.documents.tolist(), own.places.tolist(), strict=True)
        answers = [_answer(one.vocabulary, documents[at].mentions[place]) for at, place in places]
        gold += answers
        seen += [not answer or any(one.prior[concept] for concept in answer) for answer in answers]
        fold += [number] * len(answers)
    right, exact = np.zeros(len(readings), np.bool_), np.zeros(len(readings), np.bool_)
    known = np.array([answer is not None for answer in gold], np.bool_)
    ptr = groups.ptr.tolist()
    for answer, first, end in zip(gold, ptr[:-1], ptr[1:], strict=True):
        if answer is not None:
            same = exact[first:end] = np.array([reading == answer for reading in readings[first:end]])
            among = [len(reading) == 1 and reading[0] in answer for reading in readings[first:end]]
            right[first:end] = same if same.any() else among
    return _Examples(groups, right, exact, np.array(seen, np.bool_), np.array(fold, np.int64)).take(known)


def _answer(vocabulary: Vocabulary, mention: Mention) -> tuple[int, ...] | None:
    """Return the numbers of a gold mention's concepts, ascending; ``None`` if the vocabulary lacks all of them."""
    numbers = sorted({vocabulary.find(concept) for concept in mention.concepts} - {-1})
    return tuple(numbers) if numbers or not mention.concepts else None


def fit_stage(fitting: Fitting) -> tuple[ConceptStage, ConceptReport] | None:
    """Train the linking stage if mentions are linked; see `fit_concepts`."""
    if fitting.linked is None:
        return None
    fitting.callback("linking")
    return fit_concepts(fitting.documents, fitting.held, *fitting.linked, seed=fitting.seed, run=fitting.run)


def fit_concepts(
    train: Sequence[Document], dev: Sequence[Document] | None, vocabularies: Sequence[Vocabulary],
    types: Mapping[str, int] | None = None, encoder: str | Path | None = None, *, k: int = 10, seed: int = 0,
    run: Executor = SERIAL,
) -> tuple[ConceptStage, ConceptReport]:  # fmt: skip
    """Train the linking stage.

    1. Folds of the training documents are searched with the memory of the other folds: a memory is always right
       for its own mentions, and would get too much weight.
    2. A ranker learns from all of them, for each lambda; development data choose.
    3. The best candidate's share is mapped to how often such candidates are right in development data.

    Args:
        train: documents with mentions and their concepts.
        dev: development documents; when ``None``, rankers that are trained on the other folds are judged, with the
            second lambda.
        vocabularies: that mentions are linked to.
        types: type -> number of its vocabulary; of each type the one that knows most of its concepts, when ``None``.
        encoder: the folder of one that compares texts with names, see `NameVectors`.
        k: candidates by names, and by training mentions, at most so many each.
        seed: deals documents to folds.
        run: how pieces of the work are run; the result does not depend on it.

    Raises:
        DataError: no training mention has a concept of a vocabulary, or there are fewer documents than folds.
        UsageError: the encoder cannot be used.
    """
    types = assigned(train, vocabularies) if types is None else types
    if len(train) < FOLDS:
        raise DataError(f"found {len(train)} training documents, expected at least {FOLDS} to learn to link")
    vectors = [None] * len(vocabularies) if encoder is None else NameVectors.of(vocabularies, encoder)
    whole = [
        VocabularyForms(vocabulary, Memory.build(train, vocabulary, _own(types, number)), k, vectors=own)
        for number, (vocabulary, own) in enumerate(zip(vocabularies, vectors, strict=True))
    ]
    fold = deal(len(train), FOLDS, seed)
    parts = []
    for part in range(FOLDS):
        held = [one for one, own in zip(train, fold.tolist(), strict=True) if own == part]
        rest = [one for one, own in zip(train, fold.tolist(), strict=True) if own != part]
        for number, one in enumerate(whole):
            chosen = _own(types, number)
            other = one.with_memory(Memory.build(rest, one.vocabulary, chosen))
            parts.append((other, candidates_of(other, forms_of(held, chosen), chosen), held, part))
    examples = _examples(parts)
    learned = examples.take(examples.reached)
    stage = ConceptStage(tuple(whole), types, fit_ranker(learned.groups, learned.right, LAMBDAS[1], run=run))
    if dev is None:
        judged, shares, l2 = examples, _crossed(examples, run), LAMBDAS[1]
    else:
        forms = forms_of(dev, types)
        searched = (candidates_of(one, forms, _own(types, n)) for n, one in enumerate(whole))
        judged = _examples([(one, found, dev, 0) for one, found in zip(whole, searched, strict=True)])
        tried = {
            l2: stage.ranker if l2 == LAMBDAS[1] else fit_ranker(learned.groups, learned.right, l2, run=run)
            for l2 in LAMBDAS
        }
        every = {l2: ranker.log_shares(judged.groups) for l2, ranker in tried.items()}
        l2 = max(LAMBDAS, key=lambda one: _mean(judged.exact[judged.groups.best(every[one])]))
        stage, shares = replace(stage, ranker=tried[l2]), every[l2]
    best = judged.groups.best(shares)
    good = judged.exact[best]
    stage = replace(stage, scaling=fit_platt(shares[best], good) if len(good) >= FEWEST else IDENTITY)
    first = judged.exact[judged.groups.best(judged.groups.numbers[:, 1:3].sum(1))]
    unseen = ~judged.seen
    total = sum(mention.type in types for document in train for mention in document.mentions)
    report = ConceptReport(
        len(examples.seen), total - len(examples.seen), _mean(examples.reached), l2, len(good), _mean(first),
        _mean(good), int(unseen.sum()), _mean(good[unseen]),
    )  # fmt: skip
    return stage, report


def _mean(values: NDArray[np.bool_]) -> float:
    return float(values.mean()) if len(values) else 0.0


def _own(types: Mapping[str, int], number: int) -> frozenset[str]:
    return frozenset(kind for kind, own in types.items() if own == number)


def _crossed(examples: _Examples, run: Executor) -> NDArray[np.float64]:
    """Return the log shares of candidates by rankers that are trained on the other folds, (C,)."""
    shares = np.empty(len(examples.right))
    for number in np.unique(examples.fold).tolist():
        rest = examples.take((examples.fold != number) & examples.reached)
        own = examples.fold == number
        held = examples.take(own)
        rows = np.repeat(own, np.diff(examples.groups.ptr))
        shares[rows] = fit_ranker(rest.groups, rest.right, LAMBDAS[1], run=run).log_shares(held.groups)
    return shares
