"""Fitting the weights of one recognizer, and choosing between several by development F1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np

from spanloom.document import Batch
from spanloom.hypergraph import Ints, Potentials
from spanloom.learn import (
    Epoch,
    Iteration,
    Objective,
    TrainingSet,
    adagrad,
    adagrad_together,
    check_weights,
    minimize,
    search_step,
)
from spanloom.model.corpus import Gold
from spanloom.model.structured import LinearModel
from spanloom.parallel import Map, parallel_map, serial, threads
from spanloom.scoring import Weights, role_scores


@dataclass(frozen=True, slots=True)
class Progress:
    """A step of training, for somebody who waits.

    Args:
        stage: what is done.
        step: how far; 0 before the first.
        steps: of how many, if that is known.
        objective: minus log-likelihood plus penalty.
        dev_f1: F1 on development data, 0 to 1.
        seconds: since training began.
        seconds_left: an estimate; of AdaGrad, for the case that development F1 does not rise again.
        dev_concepts: F1 of documents' concepts on development data, where mentions are linked; ``dev_f1`` is then of
            mentions.
    """

    stage: str
    step: int = 0
    steps: int | None = None
    objective: float | None = None
    dev_f1: float | None = None
    seconds: float = 0.0
    seconds_left: float | None = None
    dev_concepts: float | None = None


Listener = Callable[[Progress], None]
Notice = Callable[[str], object]
"""Told what somebody should know, in one line; `warnings.warn` is one."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Trained weights and what development data say of them.

    Args:
        weights: of rows; a row's weight stands for all features that share it.
        l2: lambda.
        steps: passes or iterations behind the weights.
        objective: at the last of them.
        history: objective and development F1 at each step.
        dev_f1: with the penalty.
        penalty: the mention penalty.
    """

    weights: Weights
    l2: float
    steps: int
    objective: float
    history: tuple[tuple[float, float], ...]
    dev_f1: float
    penalty: float


_ASTRAY = 100  # times as many mentions as there are: F1 is below 2 %


class Development:
    """Development data whose features are looked up once."""

    def __init__(
        self, batch: Batch, tagger: LinearModel, reading: str, n_jobs: int = 1, headless: str | None = None
    ) -> None:
        gold = Gold(batch, tagger.types, headless)
        self._reading = reading
        self._gold = frozenset(gold.table.headed())
        self._total = gold.total
        self._matrix = tagger.scorer.matrix(batch, n_jobs)
        self._offsets: Ints = batch.sentences

    def score(self, weights: Weights, run: Map = serial) -> Potentials:
        """Potentials under weights of single features."""
        return role_scores(self._matrix, weights, run=run)

    def f1(self, tagger: LinearModel, potentials: Potentials, n_jobs: int = 1) -> float:
        """F1 of exact boundaries, types and heads, if there are; mentions that no model can hold count as missed."""
        edges = tagger.best(potentials, self._offsets, n_jobs)
        if tagger.starting(edges) > _ASTRAY * max(1, self._total):
            return 0.0  # a penalty of 10 may start a mention of each type at each token; to read them takes long
        found = set(tagger.structure.decode(edges, self._offsets, tagger.types, self._reading).headed())
        return 2 * len(found & self._gold) / max(1, len(found) + self._total)


@dataclass(frozen=True)
class Trainer:
    """All that the fits of one corpus share.

    Args:
        data: the corpus.
        tagger: with any weights.
        development: to choose by.
        optimizer: ``adagrad`` or ``lbfgs``.
        epochs: AdaGrad's passes.
        runs: of AdaGrad, whose weights are averaged.
        iterations: of L-BFGS, at most.
        rate: AdaGrad's.
        tune_penalty: whether to tune the mention penalty.
        seed: of the order of sentences.
        n_jobs: threads.
        listener: told of each step.
        began: when, by `monotonic`.
    """

    data: TrainingSet
    tagger: LinearModel
    development: Development
    optimizer: str
    epochs: int
    runs: int
    iterations: int
    rate: float
    tune_penalty: bool
    seed: int
    n_jobs: int
    listener: Listener
    began: float

    LARGEST_BATCH = 32
    STEPS = 100  # of a pass, at least, where the corpus has so many sentences
    PATIENCE = 3  # passes without a better development F1 before training stops
    TOLERANCE = 1e-5
    EVERY = 10  # iterations of L-BFGS from one look at development F1 to the next
    PENALTIES = (0.0, 0.5, 1.0, 1.5)  # of which a pass is given the best, since it is used with a tuned one

    @property
    def batch(self) -> int:
        """Sentences a step of AdaGrad: few where the corpus is small, so that it still takes enough steps."""
        return min(self.LARGEST_BATCH, max(1, (len(self.data.offsets) - 1) // self.STEPS))

    def fit(self, l2: float) -> Fit:
        """Weights for one lambda: AdaGrad's after the pass that development F1 prefers, or those of the optimum."""
        return fit_together([self], l2)[0]

    def best(self, grid: Sequence[float]) -> Fit:
        """The fit of the lambda that development F1 prefers; it is chosen with one run each, on one thread each."""
        if len(grid) > 1:
            alone = replace(self, n_jobs=1, runs=1)
            best = max(parallel_map(alone.fit, grid, self.n_jobs), key=lambda fit: fit.dev_f1)
            if self.runs == 1:
                return best
            grid = [best.l2]
        return self.fit(grid[0])

    def mean_fit(self, runs: Sequence[Fit], l2: float, run: Map) -> Fit:
        """The mean over runs of AdaGrad, tuned; with the weights of the first, changed in place."""
        weights = runs[0].weights
        for number, other in enumerate(runs[1:], 2):
            for mean, array in zip(weights, other.weights, strict=True):
                mean += (array - mean) / np.float32(number)
        steps = sum(fit.steps for fit in runs)
        return self._tuned(weights, l2, steps, [step for fit in runs for step in fit.history], run)

    def optimum(self, l2: float, run: Map) -> Fit:
        """L-BFGS' weights, tuned."""
        history: list[tuple[float, float]] = []
        objective = Objective(self.data, l2, self.n_jobs, run)
        began = monotonic()
        start = adagrad(self.data, l2=l2, epochs=1, rate=self.rate, batch=self.batch, seed=(self.seed, 0), run=run)

        def after(iteration: Iteration) -> bool:
            f1 = history[-1][1] if history else 0.0
            if iteration.number % self.EVERY == 1:
                f1 = self.f1(objective.weights(iteration.point), run)
            history.append((iteration.objective, f1))
            left = (monotonic() - began) / iteration.number * (self.iterations - iteration.number)
            self.tell(f"training, lambda {l2:g}", iteration.number, self.iterations, iteration.objective, f1, left)
            return False

        point = minimize(
            objective.value_and_gradient, objective.point(start), iterations=self.iterations,
            tolerance=self.TOLERANCE, run=run, callback=after,
        )  # fmt: skip
        weights = objective.weights(point)
        check_weights(weights, f"iteration {len(history)}", l2=l2)
        return self._tuned(weights, l2, len(history), history, run)

    def finished(self, fit: Fit) -> LinearModel:
        """The tagger of a fit."""
        scorer = self.tagger.scorer.with_weights(single(fit.weights, self.data))
        return replace(self.tagger, scorer=scorer, penalty=fit.penalty)

    def f1(self, weights: Weights, run: Map) -> float:
        """Development F1 at the best of a few penalties."""
        potentials = self.development.score(single(weights, self.data), run)
        penalties = self.PENALTIES if self.tune_penalty else (0.0,)
        return max(
            self.development.f1(self.tagger.with_penalty(penalty), potentials, self.n_jobs) for penalty in penalties
        )

    def _tuned(self, weights: Weights, l2: float, steps: int, history: list[tuple[float, float]], run: Map) -> Fit:
        potentials = self.development.score(single(weights, self.data), run)

        def measure(penalty: float) -> float:
            return self.development.f1(self.tagger.with_penalty(penalty), potentials, self.n_jobs)

        penalty = 0.0
        if self.tune_penalty:
            self.tell(f"tuning the mention penalty, lambda {l2:g}")
            penalty = search_step(measure)
        objective = history[-1][0] if history else float("nan")
        return Fit(weights, l2, steps, objective, tuple(history), measure(penalty), penalty)

    def tell(
        self, stage: str, step: int = 0, steps: int | None = None, objective: float | None = None,
        f1: float | None = None, left: float | None = None,
    ) -> None:  # fmt: skip
        """Tell the listener of a step."""
        self.listener(Progress(stage, step, steps, objective, f1, monotonic() - self.began, left))


class _Passes:
    """The passes of one run of AdaGrad, as development F1 sees them.

    Args:
        trainer: whose run it is.
        l2: lambda.
        number: of the run.
        run: how pieces of the work are run.
    """

    def __init__(self, trainer: Trainer, l2: float, number: int, run: Map) -> None:
        self._trainer, self._l2, self._run = trainer, l2, run
        self._stage = f"training, lambda {l2:g}"
        if trainer.runs > 1:
            self._stage += f", run {number + 1} of {trainer.runs}"
        self._began = monotonic()
        self._history: list[tuple[float, float]] = []
        self._best: Fit | None = None

    def after(self, epoch: Epoch) -> bool:
        """Look at the end of a pass; whether training stops."""
        trainer = self._trainer
        f1 = trainer.f1(epoch.weights, self._run)
        self._history.append((epoch.objective, f1))
        best = self._best
        # Where nothing is found yet, a later pass is as good as any.
        if best is None or f1 > best.dev_f1 or not best.dev_f1:
            kept = Weights(*(array.copy() for array in epoch.weights))
            best = self._best = Fit(kept, self._l2, epoch.number, epoch.objective, (), f1, 0.0)
        more = min(best.steps + trainer.PATIENCE, trainer.epochs) - epoch.number
        left = (monotonic() - self._began) / epoch.number * more
        trainer.tell(self._stage, epoch.number, trainer.epochs, epoch.objective, f1, left)
        return more == 0

    @property
    def fit(self) -> Fit:
        """The best pass, not tuned, with the history of all."""
        assert self._best is not None  # epochs is at least 1
        return replace(self._best, history=tuple(self._history))


def fit_together(trainers: Sequence[Trainer], l2: float) -> list[Fit]:
    """Weights for one lambda of several structures of the same text: to each those that its `Trainer.fit` gives.

    AdaGrad trains them in the same passes, which is faster; each stops by its own development F1. Where a trainer wants
    several runs, orders of the sentences differ, and the mean does better than any run (Breiman 1996).

    Args:
        trainers: alike, but for what belongs to the structure: ``data``, ``tagger``, ``development``, ``tune_penalty``.
        l2: lambda.
    """
    first = trainers[0]
    with threads(first.n_jobs) as run:
        if first.optimizer != "adagrad":
            return [trainer.optimum(l2, run) for trainer in trainers]
        if first.runs == 1:
            runs = [_passes(trainers, l2, 0, run)]
        else:  # side by side, each on one thread
            alone = [replace(trainer, n_jobs=1) for trainer in trainers]
            runs = parallel_map(lambda number: _passes(alone, l2, number, serial), range(first.runs), first.n_jobs)
        return [trainer.mean_fit([fits[i] for fits in runs], l2, run) for i, trainer in enumerate(trainers)]


def _passes(trainers: Sequence[Trainer], l2: float, number: int, run: Map) -> list[Fit]:
    """One run of AdaGrad."""
    first = trainers[0]
    passes = [_Passes(trainer, l2, number, run) for trainer in trainers]
    adagrad_together(
        [trainer.data for trainer in trainers], l2=l2, epochs=first.epochs, rate=first.rate, batch=first.batch,
        seed=(first.seed, number), run=run, callbacks=[own.after for own in passes],
    )  # fmt: skip
    return [own.fit for own in passes]


def single(weights: Weights, data: TrainingSet) -> Weights:
    """Weights of single features: those of a row that g share, divided by g."""
    return Weights(weights.features / data.group_sizes[:, None, None], weights.constants)
