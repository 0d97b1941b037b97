"""Two layers of tags beside SHARED and SPLIT: F1 on sentences with gaps, and the time of an iteration.

    python benchmarks/two_layer.py --data DATA

Trained on the sentences with at least one discontiguous mention, and evaluated on those of the development data, with
the parameters of `discontiguous.py`: lambda, passes and penalty are chosen on a tenth of the training articles. CRAFT
with the types GO_BP, CL and UBERON, and GENIA with resolved conjuncts. Where a mention shares nothing its first part is
written as the shared one, as `encode` does; it is not latent.

The time is the processor time of iterations of L-BFGS, each an objective and its gradient, over the same sentences,
features and lambda, one thread, a run of each model after the other, three times; what is told is the least.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from common import Result, options, say
from discontiguous import FEW_TYPES, PARAMETERS, SAMPLES, rates
from gapped import Data, Task, only_gaps
from spanloom.evaluate import evaluate, exact, paired_test
from spanloom.recognize import Recognizer
from spanloom_lab import TwoLayer

MODELS = ("shared", "split", "two_layer")
TASKS = (
    Task("craft", "craft", FEW_TYPES, ("disc",), MODELS),
    Task("genia_discontiguous", "genia_discontiguous", None, ("disc",), MODELS),
)
FEW, ITERATIONS = 2, 40
TUNED = 3  # sentences that are looked at where the time is taken
ROUNDS = 3


def fitted(structure: str, data: Data, seed: int, tuned: int | None = None, **more: Any) -> Recognizer:
    """Train a model, tuned on some of the held-out sentences."""
    documents, held = data.training("disc", seed)
    own = {**PARAMETERS, "pos": None, "rescore": False, "overlap": "free", "random_state": seed, **more}
    return Recognizer(TwoLayer() if structure == "two_layer" else structure, **own).fit(documents, dev=held[:tuned])


def seconds(structure: str, data: Data, seed: int) -> float:
    """Return the processor time of an iteration: that of many less that of a few, which has all else in it."""
    found = []
    for iterations in (FEW, FEW + ITERATIONS):
        began = time.process_time()
        more: dict[str, Any] = {"optimizer": "lbfgs", "l2": 1.0, "iterations": iterations, "tune_penalty": False}
        fitted(structure, data, seed, TUNED, **more, n_jobs=1)
        found.append(time.process_time() - began)
    return (found[1] - found[0]) / ITERATIONS


def compared(task: Task, chosen: argparse.Namespace, result: Result) -> None:
    """Train all models on a corpus, and write what was found."""
    data = Data(task, chosen.data, None)
    gold = data.discontiguous(data.dev)
    found, rows = {}, []
    least = dict.fromkeys(MODELS, float("inf"))
    for _ in range(ROUNDS):
        for name in MODELS:
            least[name] = min(least[name], seconds(name, data, chosen.seed))
    for name in MODELS:
        model = fitted(name, data, chosen.seed, n_jobs=chosen.jobs)
        found[name] = data.discontiguous(model.predict(data.dev))
        report = evaluate(gold, found[name], bootstrap=SAMPLES, seed=chosen.seed)
        told = model.report_
        rows.append(
            [
                name, *rates(report.overall), *rates(report.structures["discontiguous"]), f"{100 * told.dev_f1:.1f}",
                f"{told.l2:g}", told.steps, sum(told.lost.values()), f"{least[name]:.3f}",
            ]
        )  # fmt: skip
        say(task.name, name, f"{100 * report.overall.f1:.1f}")
    columns = (
        "structure", "P", "R", "F1", "gaps alone: P", "R", "F1", "held-out F1", "lambda", "passes", "lost in training",
        "seconds an iteration",
    )  # fmt: skip
    result.table(f"{task.name}: the {len(gold):,} sentences with gaps of the development data", columns, rows)
    tests = []
    for other in ("split", "shared"):
        for what, key in (("all", exact), ("with gaps", only_gaps)):
            test = paired_test(gold, found["two_layer"], found[other], seed=chosen.seed, key=key)
            tests.append([f"two_layer less {other}", what, f"{100 * test.difference:+.2f}", f"{test.p_value:.4f}"])
            if (other, what) == ("split", "with gaps"):
                place = f"{task.name}: two_layer less split, F1 of mentions with gaps"
                result.at_least(place, 100 * test.difference, 0.0)
    result.table(f"{task.name}: paired tests", ("models", "mentions", "difference of F1", "p"), tests)
    result.at_least(
        f"{task.name}: speed of an iteration, two_layer over split", least["split"] / least["two_layer"], 2.0
    )


def main() -> None:
    """Compare the structures on both corpora."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--jobs", type=int, default=1, help="threads of what is not timed [1]")

    chosen = options("two_layer", __doc__, add)
    result = Result("Two layers of tags beside SHARED and SPLIT", chosen.seed)
    for task in TASKS:
        compared(task, chosen, result)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
