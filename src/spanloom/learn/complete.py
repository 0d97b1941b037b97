"""Completion of partial annotation by the expectations of models trained on other folds, fitted to a density.

A model that is trained as if all unannotated text were free of mentions expects too few mentions, and one that is free
to place mentions in unannotated text marks everything. Therefore the training data are split into folds. The target of
a sentence is the expectation of a model of the other folds, over the structures that the annotation allows. An offset
for each type, added to the roles that start mentions, makes the expected number of mentions that of a known density.

A model of the targets then separates likely structures from others, and training continues from it with the annotation
itself: the structure is one of those that it allows, and there are as many mentions as the density gives
(`spanloom.learn.density`). From other initial weights it would mark everything, or spread mentions over all text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from spanloom.hypergraph import Edges, Engine, Expectations, Floats, Ints, Potentials
from spanloom.learn.corpus_target import CorpusTarget
from spanloom.learn.data import TrainingSet
from spanloom.learn.density import DensityTarget
from spanloom.learn.descent import adagrad
from spanloom.learn.held_out import Held, HeldOut, held_out, in_order
from spanloom.learn.readings import Readings, ReadingsTarget
from spanloom.learn.target import EdgeTarget
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import Weights

_WIDEST = 12.0  # offset, in logarithms of odds
_HALVINGS = 16  # of the range of offsets: to 0.0004
_PULL = 1.0  # weight of the density: less lets too many mentions in where it is too low


@dataclass(frozen=True)
class Completion:
    """Settings of a completion.

    Args:
        starts: (S,) the numbers of the roles that start mentions.
        target_counts: (K,) how often they are to occur in all of the text; no number where all of it is complete.
        models: how those are trained that complete.
    """

    starts: Ints
    target_counts: Floats
    models: Held


class Completed(NamedTuple):
    """Partial annotation that has been completed.

    Args:
        target: the annotation, with a density.
        start: weights of a model of the expected counts, from which training continues.
        offsets: (K,) that were added to the scores of starts.
        expected: (K,) starts of mentions in all of the text.
        sure: (K,) the share of the added ones whose probability is above one half at their place.
    """

    target: DensityTarget
    start: Weights
    offsets: Floats
    expected: Floats
    sure: Floats


def complete(
    data: TrainingSet, edges: Edges, allowed: Readings, settings: Completion, run: Executor = SERIAL
) -> Completed:
    """Complete the annotation of a corpus.

    Args:
        data: the corpus; its target is what is annotated, as if it were complete.
        edges: (T, K, D) the structures of what is annotated.
        allowed: the structures that each sentence may have.
        settings: how.
        run: how folds and pieces of the work are run; the result does not depend on it.
    """
    engine, offsets = data.engine, data.offsets
    given = data.target.target_counts(_nothing(data)).roles[:, settings.starts]
    folds = held_out(data, edges, settings.models, 1, run)
    own = [allowed.take(fold.sentences, fold.tokens) for fold in folds]
    # 1. The offsets with which the expected starts are those that are wanted, and what is expected then.
    starts, target_counts = settings.starts, settings.target_counts
    widest = np.where(np.isnan(target_counts), 0.0, _WIDEST)
    low, high = -widest, widest
    for _ in range(_HALVINGS if widest.any() else 0):
        middle = (low + high) / 2
        found = _expected(engine, folds, own, starts, middle, run)
        few = sum(one.roles[:, starts].sum((0, 1), dtype=float) for one in found) < target_counts
        low, high = np.where(few, middle, low), np.where(few, high, middle)
    offset = (low + high) / 2
    soft = in_order(folds, _expected(engine, folds, own, starts, offset, run))
    # 2. A target of these, and weights to begin with.
    filled_in = replace(data, target=CorpusTarget(EdgeTarget(engine, offsets[:1], edges[:0]), soft))
    expected = soft.roles[:, starts].astype(np.float32)
    filled = np.maximum(expected - given, 0.0)
    likely = np.where(expected > 0.5, filled, 0.0).sum((0, 1), dtype=float)
    sure = likely / np.maximum(filled.sum((0, 1), dtype=float), 1e-12)
    l2, epochs, rate, seed = settings.models
    start = adagrad(filled_in, l2=l2, epochs=epochs, rate=rate, seed=(seed, 0), run=run)
    within = ReadingsTarget(engine, offsets, allowed)
    target = DensityTarget(engine, offsets, within, starts, target_counts / max(offsets[-1], 1), _PULL)
    return Completed(target, start, offset, expected.sum((0, 1), dtype=float), sure)


def _nothing(data: TrainingSet) -> Potentials:
    _, tokens, roles, constants, types = data.target.shape
    return Potentials(np.zeros((tokens, roles, types), np.float32), np.zeros((constants, types), np.float32))


def _expected(
    engine: Engine, folds: list[HeldOut], allowed: list[Readings], starts: Ints, offset: Floats, run: Executor
) -> list[Expectations]:
    """Return what is expected of each fold with an offset (K,) of the roles that start mentions."""
    found = []
    for fold, own in zip(folds, allowed, strict=True):
        roles = fold.potentials.roles.copy()
        roles[:, starts] += offset.astype(np.float32)
        scores = Potentials(roles, fold.potentials.constants)
        found.append(own.expectations(engine, scores, fold.offsets, run))
    return found
