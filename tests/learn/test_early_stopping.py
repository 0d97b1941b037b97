"""Early stopping, and training with every executor: the same bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from learn_helpers import corpus

from spanloom.learn import EarlyStopping, Epoch, Progress, Training, TrainingHistory, TrainingSet, fit_together
from spanloom.parallel import SERIAL, Executor, Processes, Threads
from spanloom.scoring import Weights, role_scores


def watched(values: list[float], passes: int, patience: int = 3) -> tuple[int, int, list[Progress]]:
    """The last pass, the best one, and what a listener is told."""
    told: list[Progress] = []
    stopping = EarlyStopping(values.__getitem__, passes, TrainingHistory("s", passes, told.append), patience=patience)
    last = next(n for n in range(1, passes + 1) if stopping(Epoch(n, 10.0 * n, n - 1)))
    assert stopping.history.entries == [(10.0 * n, values[n - 1]) for n in range(1, last + 1)]
    assert stopping.best.weights == stopping.best.number - 1
    return last, stopping.best.number, told


@pytest.mark.parametrize(
    ("values", "passes", "patience", "last", "best"),
    [
        ([0.5, 0.7, 0.6, 0.7, 0.6, 0.9], 6, 3, 5, 2),  # an equal one is no better
        ([0.1, 0.2, 0.3, 0.4], 4, 3, 4, 4),
        ([0.5, 0.4, 0.6, 0.5], 4, 1, 2, 1),
        ([0.0, 0.0, 0.0, 0.0, 0.3, 0.0], 6, 3, 6, 5),  # where nothing is found yet, it goes on
        ([0.0] * 5, 5, 1, 5, 5),  # and where nothing ever is, the last pass is kept
    ],
)
def test_passes_stop_early(values, passes, patience, last, best):
    assert watched(values, passes, patience)[:2] == (last, best)


def test_a_listener_is_told_of_each_pass_and_of_the_time_that_is_left():
    last, _, told = watched([0.5, 0.7, 0.6, 0.6, 0.6], 9)
    assert [(each.stage, each.step, each.steps) for each in told] == [("s", n, 9) for n in range(1, last + 1)]
    assert [each.dev_f1 for each in told] == [0.5, 0.7, 0.6, 0.6, 0.6]
    assert told[-1].seconds_left == 0 and all(each.seconds_left > 0 for each in told[:-1])


@dataclass
class _Likelihood:
    """A judge of a module of its own, which another process can have: how likely the corpus' structures are."""

    data: TrainingSet
    tunes: bool = True

    def metric(self, weights: Weights, run: Executor) -> float:
        data = self.data
        potentials = role_scores(data.matrix, weights, run=run)
        return float(np.exp(data.engine.log_probability(potentials, data.offsets, data.target.edges)).mean())

    def tuned(self, weights: Weights, run: Executor) -> tuple[float, float]:
        value = self.metric(weights, run)
        return value, value


def training(executor: Executor, told: list[Progress], **more) -> Training:
    data, _, _ = corpus("bio", "subgraphs", 5, [4, 0, 3, 6, 2, 5] * 4, vocabulary=9)
    settings = {"epochs": 3, "iterations": 5, "rate": 0.1, "seed": 4} | more
    return Training(data=data, judge=_Likelihood(data), executor=executor, callback=told.append, began=0.0, **settings)


@pytest.mark.parametrize(
    ("grid", "more"),
    [((0.1, 1.0, 10.0), {}), ((0.1, 1.0), {"runs": 2}), ((1.0,), {"runs": 3}), ((1.0, 2.0), {"optimizer": "lbfgs"})],
    ids=["grid", "grid and runs", "runs", "lbfgs"],
)
def test_every_executor_gives_the_same_bytes(grid, more):
    fits = []
    for executor in (SERIAL, Threads(2), Processes(2)):
        told: list[Progress] = []
        [fit] = fit_together([training(executor, told, **more)], grid)
        fits.append((*(array.tobytes() for array in fit.weights), fit.history, fit.l2, fit.steps, fit.dev_f1))
        assert told or executor.shared is not executor  # whoever listens is told, but for steps in other processes
        if executor is not SERIAL:
            executor.__exit__(None, None, None)
    assert fits[0] == fits[1] == fits[2]


def test_the_lambda_that_the_judge_prefers_is_chosen():
    grid = (0.1, 1.0, 100.0)
    alone = [fit_together([training(SERIAL, [])], [l2])[0] for l2 in grid]
    [fit] = fit_together([training(SERIAL, [])], grid)
    assert fit.dev_f1 == max(each.dev_f1 for each in alone) and len({each.dev_f1 for each in alone}) == 3
    assert fit.weights.features.tobytes() == alone[grid.index(fit.l2)].weights.features.tobytes()


@pytest.mark.parametrize("more", [{}, {"runs": 2}, {"optimizer": "lbfgs", "iterations": 1}])
def test_training_goes_on_from_given_weights(more):
    """It does not write to them, and with the shortest of steps comes to no others."""
    [before] = fit_together([training(SERIAL, [])], (0.1,))
    kept = [array.copy() for array in before.weights]
    [near] = fit_together([training(SERIAL, [], start=before.weights, **more | {"rate": 1e-9})], (0.1,))
    for array, start in zip(before.weights, kept, strict=True):
        np.testing.assert_array_equal(array, start)
    if "optimizer" not in more:
        np.testing.assert_allclose(near.weights.features, before.weights.features, atol=1e-6)
    assert near.dev_f1 > 0.9 * before.dev_f1
