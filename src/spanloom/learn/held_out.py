"""Scores of sentences by models that were trained on other folds, for targets that are made of what these expect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np

from spanloom.hypergraph import Edges, Expectations, Ints, Potentials
from spanloom.learn.corpus_target import SoftCounts
from spanloom.learn.data import TrainingSet
from spanloom.learn.descent import adagrad
from spanloom.learn.folds import cross_fit, deal
from spanloom.learn.subsets import subset
from spanloom.learn.target import tokens_of
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import Weights, role_scores

FOLDS: Final = 3
HELD_EPOCHS: Final = 8  # enough for models that only complete or judge annotation


R = TypeVar("R")


class Held(NamedTuple):
    """How models are trained that score what they have not seen.

    Args:
        l2, epochs, rate, seed: of AdaGrad.
    """

    l2: float
    epochs: int
    rate: float
    seed: int


class HeldOut(NamedTuple):
    """A fold as a model of the other folds sees it.

    Args:
        sentences, tokens: their numbers in the corpus.
        offsets: first token of each sentence, counted in the fold.
        potentials: of these tokens.
    """

    sentences: Ints
    tokens: Ints
    offsets: Ints
    potentials: Potentials


def held_out(data: TrainingSet, edges: Edges, settings: Held, number: int, run: Executor = SERIAL) -> list[HeldOut]:
    """Return the folds, which are other ones in each round.

    Args:
        data: the corpus.
        edges: (T, K, D) its structures, where its target is of structures.
        settings: of the models.
        number: of the round.
        run: how folds are run; the result does not depend on it.
    """
    sentences = len(data.offsets) - 1
    fold = deal(sentences, min(FOLDS, sentences), settings.seed + number)
    return of_folds(data, edges, fold, settings, number, lambda _, part: part, run)


def of_folds(
    data: TrainingSet, edges: Edges, fold: Ints, settings: Held, number: int, use: Callable[[Weights, HeldOut], R],
    run: Executor = SERIAL,
) -> list[R]:  # fmt: skip
    """Return something of each fold, by weights of rows that were trained on the others.

    Features that only the fold has keep the weight 0, as if they were not known.

    Args:
        data: the corpus.
        edges: (T, K, D) its structures, where its target is of structures.
        fold: of each sentence; sentences behind these are in no fold, and are learned from in all of them.
        settings: of the models.
        number: of the round, for the order of sentences.
        use: what is wanted of a fold.
        run: how folds are run; the result does not depend on it.
    """
    others = np.arange(len(fold), len(data.offsets) - 1)

    def fit(sentences: list[int]) -> Weights:
        part = subset(data, edges, np.append(np.array(sentences, np.int64), others))
        seed = settings.seed, number
        return adagrad(part, l2=settings.l2, epochs=settings.epochs, rate=settings.rate, seed=seed)

    def predict(weights: Weights, held: list[int]) -> R:
        sentences = np.array(held, np.int64)
        offsets, tokens = tokens_of(data.offsets, sentences)
        return use(weights, HeldOut(sentences, tokens, offsets, role_scores(data.matrix, weights, tokens)))

    return cross_fit(fold, fit, predict, run)


def in_order(folds: Sequence[HeldOut], found: Sequence[Expectations]) -> SoftCounts:
    """Return what is expected of folds as counts of the corpus, in the order of its sentences."""
    order = np.argsort(np.concatenate([fold.sentences for fold in folds]))
    soft = SoftCounts.join(
        [SoftCounts.of(one.roles, one.each, fold.offsets) for one, fold in zip(found, folds, strict=True)]
    )
    return soft.take(order)
