"""Cross-validation of small training data: all of them are development data, as models of the other folds see them.

A tenth of few mentions is chance: what is tuned on it is tuned to it, and its F1 is no estimate. So each fold is scored
by a model of the others. The mention penalty, the second stage and the calibration are chosen on all of these scores at
once, and the model itself is trained on all data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from spanloom.document import Batch, Document
from spanloom.features import Sparse
from spanloom.hypergraph import Edges, Ints, Potentials
from spanloom.learn import Fit, Training, fit_together
from spanloom.learn.folds import FEW, HELD_OUT, deal
from spanloom.learn.subsets import subset
from spanloom.learn.target import tokens_of
from spanloom.model.corpus import Gold, by_sentence, number_of_texts
from spanloom.model.development import HeldOut
from spanloom.parallel import Executor
from spanloom.scoring import Weights, role_scores
from spanloom.structures import MentionTable
from spanloom.structures.base import identities

FOLDS: Final = 10
_THIRDS = 3  # parts of the data by which lambda and passes are chosen
_FEW_HELD, _MANY = 100, 3000  # mentions: held out, below which folds are better; and in all, above which they take long


def needs_folds(documents: int, mentions: int, sentences: int) -> bool:
    """Return whether training data are too few to hold out a tenth of them: fewer than 20 documents, or few mentions.

    Args:
        documents, mentions, sentences: how many, where no development data are given.
    """
    few = documents < FEW or HELD_OUT * mentions < _FEW_HELD
    return few and mentions <= _MANY and sentences >= _THIRDS


def crossed_folds(train: Batch, seed: int) -> Ints:
    """Return the fold of each sentence, (N,): that of its document, or where there are one or two, its own."""
    documents, sentences = len(train.documents), len(train.sentences) - 1
    if documents < _THIRDS:
        return deal(sentences, min(FOLDS, sentences), seed)
    return np.repeat(deal(documents, min(FOLDS, documents), seed), np.diff(train.firsts))


class _Unjudged:
    """A judge of a training whose length is known: it never stops before the last pass."""

    tunes = False

    def metric(self, weights: Weights, run: Executor) -> float:
        return 0.0

    def tuned(self, weights: Weights, run: Executor) -> tuple[float, float]:
        return 0.0, 0.0


class _OfFold(HeldOut):
    """A fold as development data."""

    def __init__(self, held: HeldOut, mentions: MentionTable, matrix: Sparse, offsets: Ints, tokens: Ints) -> None:
        self.__dict__.update(held.__dict__)
        self._gold, self._total, self._offsets = np.unique(identities(mentions)), len(mentions), offsets
        self._matrix, self._tokens = matrix, tokens

    def metric(self, weights: Weights, run: Executor) -> float:
        """F1, as `highest` has it."""
        return self.highest(role_scores(self._matrix, weights, self._tokens, run=run), run)

    def tuned(self, weights: Weights, run: Executor) -> tuple[float, float]:
        """F1; no penalty is tuned on a fold alone."""
        return 0.0, self.metric(weights, run)


def cross_fitted(
    training: Training, edges: Edges, gold: Gold, fold: Ints, held: HeldOut, grid: Sequence[float], run: Executor
) -> tuple[Fit, Potentials]:  # fmt: skip
    """Train on all data, and on all folds but each; return the fit, and all tokens' potentials by models of folds.

    1. For each lambda, models of two thirds are trained until their F1 on the other third no longer rises. The lambda
       with the largest mean is taken, and the median of the passes.
    2. With these, a model of each fold's others scores the fold, so that none is chosen by what it scores.
    3. The mention penalty is tuned on all these scores, and the model itself is trained on all data.

    Args:
        training: of all data; its judge is not asked.
        edges: (T, K, D) their gold structures.
        gold: their mentions.
        fold: (N,) of each sentence.
        held: all data as development data.
        grid: values of lambda.
        run: runs folds side by side; the result does not depend on it.
    """
    thirds = [_Part.of(training, edges, gold, fold % _THIRDS, held, number) for number in range(_THIRDS)]
    tried = [run.map(partial(_Part.fitted, l2=l2), thirds) for l2 in grid]
    first = max(tried, key=lambda fits: sum(fit.dev_f1 for fit in fits))
    l2, steps = first[0].l2, max(1, int(np.median([fit.steps for fit in first])))
    parts = [_Part.of(training, edges, gold, fold, held, number) for number in np.unique(fold).tolist()]
    scored = run.map(partial(_Part.scored, l2=l2, steps=steps), parts)
    roles = np.concatenate([found.roles for found in scored])
    roles[np.concatenate([part.tokens for part in parts])] = roles.copy()
    # constants are few and no matter of single sentences, and sums take one set of them
    potentials = Potentials(roles, np.mean([found.constants for found in scored], axis=0))
    penalty, f1 = held.best_penalty(potentials, run)
    [fit] = fit_together([_to_the_end(training, steps)], [l2])
    history = tuple((objective, value) for (objective, _), (_, value) in zip(fit.history, _means(first), strict=False))
    return replace(fit, steps=steps, history=history, dev_f1=f1, penalty=penalty), potentials


def _to_the_end(training: Training, steps: int) -> Training:
    """Return a training of so many steps, whose progress has no F1."""
    listener = training.callback
    return replace(
        training, epochs=steps, iterations=steps, judge=_Unjudged(),
        callback=lambda progress: listener(replace(progress, dev_f1=None)),
    )  # fmt: skip


class _Part(NamedTuple):
    """The training of a fold's others.

    Args:
        training: judged by the fold.
        tokens: of the fold.
        matrix: of all tokens.
    """

    training: Training
    tokens: Ints
    matrix: Sparse

    @classmethod
    def of(cls, training: Training, edges: Edges, gold: Gold, fold: Ints, held: HeldOut, number: int) -> _Part:
        """Return the part of a fold."""
        data, sentences = training.data, np.flatnonzero(fold == number)
        offsets, tokens = tokens_of(data.offsets, sentences)
        own = gold.table.take(fold[gold.table.sentence] == number)
        table = MentionTable(np.searchsorted(sentences, own.sentence), *own[1:])
        judge = _OfFold(held, table, data.matrix, offsets, tokens)
        rest = subset(data, edges, np.flatnonzero(fold != number))
        own_training = replace(training, data=rest, judge=judge, keeper=None, workers=None)
        return cls(own_training.alone(), tokens, data.matrix)

    def fitted(self, l2: float) -> Fit:
        """Return the fit that the fold likes best."""
        return fit_together([replace(self.training, runs=1)], [l2])[0]

    def scored(self, l2: float, steps: int) -> Potentials:
        """Return the potentials of the fold after so many steps."""
        [fit] = fit_together([_to_the_end(self.training, steps)], [l2])
        return role_scores(self.matrix, self.training.data.single(fit.weights), self.tokens)


def _means(fits: Sequence[Fit]) -> Iterator[tuple[float, float]]:
    """Yield the mean objective and F1 at each step; a model that stopped stays at its last."""
    runs = [fit.history for fit in fits]
    for step in range(max(map(len, runs)) if all(runs) else 0):
        objective, f1 = np.mean([run[min(step, len(run) - 1)] for run in runs], axis=0).tolist()
        yield objective, f1


def f1_interval(gold: Sequence[Document], predicted: Sequence[Document], seed: int) -> tuple[float, float]:
    """Return a 95 % interval of F1 on other documents of the same kind, 0 to 1, by the bootstrap.

    Sentences of a document are alike, so documents are resampled where there are three; but few documents may be alike
    by chance, so sentences are resampled, too, and the interval holds both.

    Args:
        gold: prepared documents.
        predicted: the same, with what is found; heads are not looked at.
        seed: of the samples.
    """
    of_gold, of_predicted = ([part for one in each for part in by_sentence(one)] for each in (gold, predicted))
    found = [_resampled(of_gold, of_predicted, seed)]
    if number_of_texts(gold) > 2:
        found.append(_resampled(gold, predicted, seed))
    return min(low for low, _ in found), max(high for _, high in found)


def _resampled(gold: Sequence[Document], predicted: Sequence[Document], seed: int) -> tuple[float, float]:
    """Return the interval by documents; few vary less than others would, so it is wider, as Student's t."""
    pairs = [
        ({(m.type, m.spans) for m in one.mentions}, {(m.type, m.spans) for m in other.mentions})
        for one, other in zip(gold, predicted, strict=True)
    ]
    counts = np.array([(2 * len(one & other), len(one) + len(other)) for one, other in pairs if one or other], float)
    units = len(counts)
    if units < 2:
        return 0.0, 1.0
    drawn = counts[np.random.default_rng(seed).integers(0, units, (1000, units))].sum(axis=1)
    f1 = counts[:, 0].sum() / counts[:, 1].sum()
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975]).tolist()
    z, free = 1.96, units - 1
    t = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)  # Fisher and Cornish 1960
    wider = t / z * np.sqrt(units / free)
    return max(0.0, float(f1 - (f1 - low) * wider)), min(1.0, float(f1 + (high - f1) * wider))
