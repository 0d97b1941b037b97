"""Training: passes that stop early, by whatever measure development data are judged with; lambda and a start offset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from spanloom.learn.bounds import check_weights
from spanloom.learn.data import TrainingSet
from spanloom.learn.descent import Epoch, Keeper, adagrad, adagrad_together
from spanloom.learn.lbfgs import Iteration, minimize
from spanloom.learn.objective import Objective
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import Weights

PATIENCE: Final = 3
"""Passes without a better measure before training stops."""
_TOLERANCE = 1e-5  # of L-BFGS
_EVERY = 10  # iterations of L-BFGS from one look at development data to the next

W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a training, passed to callbacks.

    Args:
        stage: what is done.
        step: how far; 0 before the first.
        steps: of how many, if that is known.
        objective: minus log-likelihood plus penalty.
        dev_f1: F1 on development data, 0 to 1; of a tagger its accuracy.
        seconds: since training began.
        seconds_left: an estimate; of passes that stop early, for the case that none is better than the best so far.
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


class TrainingHistory:
    """The steps of one run, of which a callback is informed.

    Args:
        stage: what the run is called.
        steps: at most so many.
        callback: the listener.
        began: when training began, by `monotonic`; now when ``None``.

    Attributes: ``entries``, the objective and the measure at each step; ``details``, what else is measured at each, if
    anything is.
    """

    def __init__(self, stage: str, steps: int, callback: Listener, began: float | None = None) -> None:
        self.entries: list[tuple[float, float]] = []
        self.details: list[tuple[float, ...]] = []
        self._stage, self._steps, self._callback = stage, steps, callback
        self._run_began = monotonic()
        self._began = self._run_began if began is None else began

    def add(self, objective: float, value: float, more: int) -> None:
        """Note a step, after which so many more are to come, each of which takes as long as those before."""
        self.entries.append((objective, value))
        now, number = monotonic(), len(self.entries)
        left = (now - self._run_began) / number * more
        self._callback(Progress(self._stage, number, self._steps, objective, value, now - self._began, left))


class BestPass(NamedTuple, Generic[W]):
    """The best pass so far: its number, its objective, its measure, and its weights."""

    number: int
    objective: float
    value: float
    weights: W


def best_pass(values: Sequence[float]) -> int:
    """Return the number of the pass that `EarlyStopping` keeps, after passes with these measures.

    >>> best_pass([0.5, 0.7, 0.6, 0.7]), best_pass([0.0, 0.0])
    (2, 2)
    """
    best = 0
    for number, value in enumerate(values):
        if _better(value, values[best]):
            best = number
    return best + 1


def _better(value: float, best: float) -> bool:
    """Return whether a later pass is kept; where nothing is found yet, it is as good as any."""
    return value > best or not best


class EarlyStopping(Generic[W]):
    """Called after each pass: keeps the best weights, and stops when no more passes are worth making.

    Args:
        metric: measures weights, such as F1 on development data; 0 where they find nothing. Weights that are always
            worth 0 are trained to the last pass, and that is kept.
        passes: at most so many.
        history: takes a note of each pass.
        copy: keeps weights that are used again; they are kept as they are when ``None``.
        patience: passes without a better measure before training stops.

    >>> values = iter([0.5, 0.7, 0.6, 0.7, 0.6])
    >>> history = TrainingHistory("training", 20, lambda progress: None)
    >>> stopping = EarlyStopping(lambda weights: next(values), 20, history)
    >>> [stopping(Epoch(number, 1.0, "w")) for number in range(1, 6)]
    [False, False, False, False, True]
    >>> stopping.best.number
    2
    """

    def __init__(
        self, metric: Callable[[W], float], passes: int, history: TrainingHistory, copy: Callable[[W], W] | None = None,
        patience: int = PATIENCE,
    ) -> None:  # fmt: skip
        self._metric, self._passes, self._patience = metric, passes, patience
        self.history, self._copy = history, copy
        self._best: BestPass[W] | None = None

    def __call__(self, epoch: Epoch[W]) -> bool:
        """Look at the end of a pass; whether training stops."""
        value = self._metric(epoch.weights)
        best = self._best
        if best is None or _better(value, best.value):
            weights = epoch.weights if self._copy is None else self._copy(epoch.weights)
            self._best = BestPass(epoch.number, epoch.objective, value, weights)
        more = self._more(epoch.number)
        self.history.add(epoch.objective, value, more)
        return more == 0

    def resume(self, best: BestPass[W], entries: Sequence[tuple[float, float]]) -> bool:
        """Take over the passes of a run that was interrupted; whether training stops.

        Args:
            best: of these passes.
            entries: objective and measure of each.
        """
        self._best = best
        self.history.entries[:] = entries
        return self._more(len(entries)) == 0

    def _more(self, number: int) -> int:
        """Return how many passes are to come after that one, if none is better than the best so far."""
        return min(self.best.number + self._patience, self._passes) - number

    @property
    def best(self) -> BestPass[W]:
        """The best pass, after the first."""
        if self._best is None:
            raise AttributeError("there was no pass yet")
        return self._best


class Judge(Protocol):
    """Development data, and what is tuned on them. Weights are those of single features."""

    tunes: bool
    """True if there is a start offset to tune."""

    def metric(self, weights: Weights, run: Executor) -> float:
        """Return how good weights are at the end of a pass."""

    def tuned(self, weights: Weights, run: Executor) -> tuple[float, float]:
        """Return the start offset that is best for trained weights, and how good they are with it."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What training chose, and how good it is.

    Args:
        l2: lambda; 0 where there is no such penalty.
        steps: passes or iterations behind the weights.
        objective: at the last of them.
        history: objective and development F1 at each step.
        dev_f1: with the penalty; of a tagger its accuracy.
        penalty: the start offset that was tuned, the mention penalty.
    """

    l2: float
    steps: int
    objective: float
    history: tuple[tuple[float, float], ...]
    dev_f1: float
    penalty: float


@dataclass(frozen=True, slots=True)
class Fit(Chosen):
    """Trained weights and their results on development data.

    Args:
        weights: of rows; a row's weight is that of all features that share it.
    """

    weights: Weights


@dataclass(frozen=True, kw_only=True)
class Training:
    """All that the fits of one corpus share.

    Args:
        data: the corpus.
        judge: chooses passes, lambda and the start offset.
        optimizer: ``adagrad`` or ``lbfgs``.
        epochs: AdaGrad's passes.
        runs: of AdaGrad, whose weights are averaged.
        iterations: of L-BFGS, at most.
        rate: AdaGrad's.
        seed: of the order of sentences.
        executor: runs values of lambda and runs of AdaGrad side by side, and where there is one of each the pieces of
            its steps. Weights do not depend on it. With processes no callback gets their steps.
        callback: called at each step.
        began: when, by `monotonic`.
        workers: what L-BFGS's objective is summed by, in place of ``executor``; values of lambda then wait for each
            other. See `Objective`.
        keeper: makes what keeps the passes of a run of AdaGrad, by its name and what judges each of what is trained in
            it together.
        start: weights of rows to begin with; zero when ``None``.
    """

    data: TrainingSet
    judge: Judge
    optimizer: str = "adagrad"
    epochs: int
    runs: int = 1
    iterations: int = 0
    rate: float
    seed: int
    executor: Executor = SERIAL
    callback: Listener
    began: float
    workers: Executor | None = None
    keeper: Callable[[str, Sequence[EarlyStopping[Weights]]], Keeper | None] | None = None
    start: Weights | None = None

    @property
    def begin(self) -> Weights:
        """Weights to begin with, which may be written to."""
        return self.data.zeros if self.start is None else copied(self.start)

    def alone(self) -> Training:
        """The same as one of several pieces of work: on one thread, and without a listener in another process."""
        shares = self.executor.shared is self.executor
        return replace(self, executor=SERIAL, callback=self.callback if shares else _ignore_progress)

    def watched(self, l2: float, number: int) -> EarlyStopping[Weights]:
        """Return the callback that is called after each pass of a run of AdaGrad."""
        which = f", run {number + 1} of {self.runs}" if self.runs > 1 else ""
        history = TrainingHistory(f"training, lambda {l2:g}{which}", self.epochs, self.callback, self.began)
        return EarlyStopping(self.metric, self.epochs, history, copied)

    def mean_fit(self, runs: Sequence[Fit], l2: float) -> Fit:
        """The mean over runs of AdaGrad, tuned; with the weights of the first, changed in place."""
        weights = runs[0].weights
        for number, other in enumerate(runs[1:], 2):
            for mean, array in zip(weights, other.weights, strict=True):
                mean += (array - mean) / np.float32(number)
        return self._tuned(weights, l2, sum(fit.steps for fit in runs), [step for fit in runs for step in fit.history])

    def optimum(self, l2: float) -> Fit:
        """L-BFGS' weights, tuned."""
        history = TrainingHistory(f"training, lambda {l2:g}", self.iterations, self.callback, self.began)
        run = self.executor.shared
        objective = Objective(self.data, l2, run, workers=self.workers)
        start = adagrad(self.data, l2=l2, epochs=1, rate=self.rate, seed=(self.seed, 0), run=run, start=self.begin)

        def after(iteration: Iteration) -> bool:
            value = history.entries[-1][1] if history.entries else 0.0
            if iteration.number % _EVERY == 1:
                value = self.metric(objective.weights(iteration.point))
            history.add(iteration.objective, value, self.iterations - iteration.number)
            return False

        point = minimize(
            objective.value_and_gradient, objective.point(start), iterations=self.iterations,
            tolerance=_TOLERANCE, run=run, callback=after,
        )  # fmt: skip
        weights = objective.weights(point)
        check_weights(weights, f"iteration {len(history.entries)}", l2=l2)
        return self._tuned(weights, l2, len(history.entries), history.entries)

    def metric(self, weights: Weights) -> float:
        """Return the judge's measure of weights of rows."""
        return self.judge.metric(self.data.single(weights), self.executor.shared)

    def _tuned(self, weights: Weights, l2: float, steps: int, history: Sequence[tuple[float, float]]) -> Fit:
        if self.judge.tunes:
            self.callback(Progress(f"tuning the mention penalty, lambda {l2:g}", seconds=monotonic() - self.began))
        penalty, value = self.judge.tuned(self.data.single(weights), self.executor.shared)
        objective = history[-1][0] if history else float("nan")
        return Fit(l2, steps, objective, tuple(history), value, penalty, weights)


def fit_together(trainings: Sequence[Training], grid: Sequence[float]) -> list[Fit]:
    """Train several structures of the same text; to each the fit of the lambda that its judge prefers.

    AdaGrad trains them in the same passes, which is faster than one after the other; each stops by its own judge. Where
    several runs are wanted, orders of the sentences differ, and the mean does better than any run (Breiman 1996).

    Args:
        trainings: alike, but for what belongs to the structure: ``data``, ``judge`` and ``callback``.
        grid: values of lambda, one at least; of several each is tried with one run.
    """
    first = trainings[0]
    if len(grid) > 1:
        several = first.workers is None  # side by side
        once = [replace(training.alone() if several else training, runs=1) for training in trainings]
        tried = (first.executor if several else SERIAL).map(partial(_fits, once), grid)
        best = [max(fits, key=lambda fit: fit.dev_f1) for fits in zip(*tried, strict=True)]
        if first.runs == 1:
            return best
        return [_fits([training], fit.l2)[0] for training, fit in zip(trainings, best, strict=True)]
    return _fits(trainings, grid[0])


def _fits(trainings: Sequence[Training], l2: float) -> list[Fit]:
    """The fit of each for one lambda."""
    first = trainings[0]
    if first.optimizer != "adagrad":
        return [training.optimum(l2) for training in trainings]
    own = trainings if first.runs == 1 else [training.alone() for training in trainings]
    runs = first.executor.map(partial(_run, own, l2), range(first.runs))  # a single piece stays in this thread
    return [training.mean_fit([fits[i] for fits in runs], l2) for i, training in enumerate(trainings)]


def _run(trainings: Sequence[Training], l2: float, number: int) -> list[Fit]:
    """One run of AdaGrad: the best pass of each, not tuned, with the history of all passes."""
    first = trainings[0]
    stops = [training.watched(l2, number) for training in trainings]
    keeper = None if first.keeper is None else first.keeper(f"{l2!r}-{number}", stops)
    adagrad_together(
        [training.data for training in trainings], l2=l2, epochs=first.epochs, rate=first.rate,
        seed=(first.seed, number), run=first.executor.shared, callbacks=stops,
        keeper=keeper, starts=[training.begin for training in trainings],
    )  # fmt: skip
    return [
        Fit(l2, best.number, best.objective, tuple(stop.history.entries), best.value, 0.0, best.weights)
        for stop in stops
        for best in (stop.best,)
    ]


def copied(weights: Weights) -> Weights:
    """Return a copy of weights."""
    return Weights(*(array.copy() for array in weights))


def _ignore_progress(progress: Progress) -> None:
    """Ignore progress, in worker processes."""
