"""Parts of the training data: train/dev splits and cross-validation folds for stacking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np

from spanloom.document import Document
from spanloom.hypergraph import Ints
from spanloom.learn.target import PIECE_TOKENS
from spanloom.parallel import SERIAL, Executor

HELD_OUT = 0.1  # of the training data, where no development data are given
FEW = 20  # documents; fewer are cut into sentences before they are dealt to parts
M = TypeVar("M")
R = TypeVar("R")
Y = TypeVar("Y")
Cut = Callable[[Document], Sequence[Document]]
"""A function from a document to documents of one sentence each."""


class Fitting(NamedTuple):
    """What a stage that follows recognition learns from.

    Args:
        documents: training documents, with mentions.
        held: development documents; ``None`` if the training documents are cross-validated.
        linked: vocabularies and their types, if mentions are linked.
        attributes: the parameter of this name, ``auto`` or ``off``.
        tokens: of the training documents.
        seed: deals documents to folds.
        run: how pieces of the work are run; the result does not depend on it.
        callback: called with the name of each step.
    """

    documents: Sequence[Document]
    held: Sequence[Document] | None
    linked: Any
    attributes: str
    tokens: int
    seed: int
    run: Executor
    callback: Callable[[str], object]


def deal(items: int, folds: int, seed: int) -> Ints:
    """Return the fold of each of some items, (items,): drawn by the seed, as evenly as can be.

    >>> sorted(deal(5, 2, seed=0).tolist())
    [0, 0, 0, 1, 1]
    """
    fold = np.empty(items, np.int64)
    fold[np.random.default_rng(seed).permutation(items)] = np.arange(items) % folds
    return fold


def cross_fit(
    fold: Ints, fit: Callable[[list[int]], M], predict: Callable[[M, list[int]], R], executor: Executor = SERIAL
) -> list[R]:
    """Return predictions for each fold, by models trained on the others (Wolpert 1992), in the order of the folds.

    A model that learns from the outputs of another model needs such predictions: outputs on that model's own training
    text are better than on new text, and it would rely on them too much.

    Args:
        fold: (items,) the number of each item's fold, such as from `deal`; folds without items are left out.
        fit: trains on the items of these numbers, those of the other folds.
        predict: applies a trained model to those of the fold.
        executor: runs folds in parallel.

    >>> cross_fit(np.array([0, 1, 0]), fit=sum, predict=lambda total, held: (held, total))
    [([0, 2], 1), ([1], 2)]
    """

    def one(number: int) -> R:
        rest, held = (np.flatnonzero(mask).tolist() for mask in (fold != number, fold == number))
        return predict(fit(rest), held)

    return executor.map(one, np.unique(fold).tolist())


def out_of_fold(
    fold: Ints, fit: Callable[[list[int]], M], predict: Callable[[M, list[int]], Sequence[Y]],
    executor: Executor = SERIAL,
) -> list[Y]:  # fmt: skip
    """Return a prediction for each item, by a model trained on other folds; arguments as of `cross_fit`.

    >>> out_of_fold(np.array([0, 1, 0]), fit=sum, predict=lambda total, held: [total] * len(held))
    [1, 2, 1]
    """
    predictions = list(chain.from_iterable(cross_fit(fold, fit, predict, executor)))
    place = np.argsort(np.argsort(fold, kind="stable"))
    return [predictions[i] for i in place.tolist()]


def units(documents: Sequence[Document], cut: Cut) -> list[Document]:
    """Return what is dealt to parts: the documents, or their sentences where there are fewer than `FEW`."""
    if len(documents) >= FEW:
        return list(documents)
    return [part for document in documents for part in cut(document)]


def held_numbers(count: int, seed: int) -> set[int]:
    """Return which of so many items are held out, drawn by the seed."""
    order = np.random.default_rng(seed).permutation(count)
    return set(order[: min(max(1, round(HELD_OUT * count)), count - 1)].tolist())


def spread(documents: Sequence[Document], tokens: int, most: int = PIECE_TOKENS) -> Sequence[Document]:
    """Return documents of at most about so many tokens, evenly spread: every second or third of many, all of few.

    That is for what is learned from a part of much text, whether that is in memory or on disk.

    Args:
        documents: with tokens.
        tokens: of all of them.
        most: tokens to return.

    >>> [document.text for document in spread([Document(text) for text in "abcde"], tokens=50, most=20)]
    ['a', 'd']
    """
    step = -(-tokens // most)
    return documents[::step] if step > 1 else documents


def hold_out(documents: Sequence[Document], seed: int, cut: Cut) -> tuple[list[Document], list[Document]]:
    """Return documents to train on and documents to tune on, drawn by the seed.

    Args:
        documents: the training data.
        seed: of the draw.
        cut: makes documents of sentences, which are dealt where documents are few.
    """
    parts = units(documents, cut)
    chosen = held_numbers(len(parts), seed)
    return (
        [part for i, part in enumerate(parts) if i not in chosen],
        [part for i, part in enumerate(parts) if i in chosen],
    )
