"""L-BFGS by threads, processes, Ray and Spark: the time of an objective and of a training, and the optimum of each.

    python benchmarks/executors.py --data DATA [--work FOLDER] [--limit DOCUMENTS] [--iterations N] [--cases NAME ...]

GENIA's abstracts are made into arrays of a folder once. Each case then computes the objective and its gradient several
times, of which the median counts, and goes to the optimum of one lambda from weights of zero, until the stopping rule
of training. Workers have started, and have opened the folder, before anything is timed. What is measured is wall clock:
two of anything are only faster than one where two cores are free. An engine that is not installed is left out; Spark
needs Java (``JAVA_HOME``).
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from common import Result, corpus, median, options, say, timed
from spanloom import Recognizer
from spanloom.learn import Objective, TrainingSet, minimize
from spanloom.learn.executors import executor_named
from spanloom.learn.shards import Shards, shard_tokens
from spanloom.learn.training import _TOLERANCE
from spanloom.model.work import Work
from spanloom.parallel import Threads, threads
from spanloom.recognize.fitting import assembled
from spanloom.recognize.on_disk import prepared_on_disk

L2 = 1.0
FASTER = 1.7  # two processes than one
NEAR = 1e-6


class Case(NamedTuple):
    """Who sums the objective: workers of an executor."""

    name: str
    executor: str
    workers: int
    package: str = "spanloom"


CASES = (
    Case("one process", "threads", 1),
    Case("two threads", "threads", 2),
    Case("one process, through the folder", "processes", 1),
    Case("two processes", "processes", 2),
    Case("Ray, two processes", "ray", 2, "ray"),
    Case("Spark, two processes", "spark", 2, "pyspark"),
)


def training_set(chosen: argparse.Namespace, work: Work) -> TrainingSet:
    """GENIA's arrays, in a folder."""
    train, dev = (corpus(chosen.data, "genia_documents", part, chosen.limit) for part in ("train", "dev"))
    one = Recognizer(chosen.structure, chosen.features, optimizer="lbfgs", pos=None, min_count=chosen.min_count)
    ready = prepared_on_disk(one, iter(train), None, dev[:20], lambda _: None, work)
    given = ready.known, ready.types, ready.features
    _, _, data, _, _ = assembled(one, one._structure, None, *given, threads(2), None, work)
    return data


def measure(case: Case, data: TrainingSet, chosen: argparse.Namespace) -> dict[str, Any]:
    """Seconds of an objective, and a training of one case."""
    with ExitStack() as stack:
        run = stack.enter_context(Threads(case.workers))
        workers = (
            run if case.executor == "threads" else stack.enter_context(executor_named(case.executor, case.workers))
        )
        objective = Objective(data, L2, run, workers=workers)
        gradient, start = np.empty(objective.size, np.float32), np.zeros(objective.size, np.float32)
        for _ in range(2):  # whichever worker is slow to start has begun by the second
            objective.value_and_gradient(start, gradient)
        rounds = [timed(lambda: objective.value_and_gradient(start, gradient))[0] for _ in range(chosen.rounds)]
        values: list[float] = []
        seconds, point = timed(
            lambda: minimize(
                objective.value_and_gradient, start, iterations=chosen.iterations, tolerance=_TOLERANCE, run=run,
                callback=lambda iteration: values.append(iteration.objective) is not None,
            )
        )  # fmt: skip
        found = {
            "evaluation": median(rounds).wall, "training": seconds.wall, "iterations": len(values),
            "objective": objective.value_and_gradient(point, gradient),
            "digest": hashlib.sha256(point.tobytes()).hexdigest(),
        }  # fmt: skip
    say(f"{case.name}: {found}")
    return found


def report(chosen: argparse.Namespace) -> None:
    """All cases beside one process."""
    result = Result("Training by several processes", chosen.seed)
    wanted = [case for case in CASES if find_spec(case.package) and (not chosen.cases or case.executor in chosen.cases)]
    with tempfile.TemporaryDirectory(dir=chosen.work) as place, Work(Path(place) / "work") as work:
        data = training_set(chosen, work)
        most = shard_tokens(int(data.offsets[-1]))
        shards = len(Shards.of(data, "counted", most))
        found = {case.name: measure(case, data, chosen) for case in wanted}
    one, rows = found[CASES[0].name], []
    for case in wanted:
        own = found[case.name]
        faster = [one[key] / own[key] for key in ("evaluation", "training")]
        apart = abs(own["objective"] / one["objective"] - 1)
        same = "yes" if own["digest"] == one["digest"] else "no"
        rows.append(
            [case.name, own["evaluation"], faster[0], own["training"], faster[1], own["objective"], apart, same]
        )
        if case is not CASES[0]:
            result.at_most(f"{case.name}: relative difference of the objective at the optimum", apart, NEAR)
        if case.name == "two processes" and chosen.limit is None:
            result.at_least("two processes over one: objectives with gradients a second", faster[0], FASTER)
            result.at_least("two processes over one: training to the optimum", faster[1], FASTER)
    result.table(
        "Seconds, and the optimum",
        ("who", "s an objective", "times one process", "s of training", "times one process", "objective",
         "relative difference", "weights the same bytes"),
        rows,
        f"Preset `{chosen.features}`, {chosen.structure}, lambda {L2:g}, features of {chosen.min_count} tokens at "
        f"least; {len(data.offsets) - 1:,} sentences, {int(data.offsets[-1]):,} tokens in {shards} shards of at most "
        f"{most:,}, {data.zeros.features.size:,} weights; {one['iterations']} iterations.",
        "Training is L-BFGS from weights of zero. Beside the sums it has vector operations, on as many threads.",
    )  # fmt: skip
    result.data["cases"] = found
    result.save(chosen.out)


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--work", type=Path, help="where the folder is made [that of temporary files]")
    parser.add_argument("--limit", type=int, help="use only so many documents, to try the script")
    parser.add_argument("--iterations", type=int, default=200, help="of L-BFGS, at most [200]")
    parser.add_argument("--rounds", type=int, default=7, help="objectives that are timed [7]")
    parser.add_argument("--cases", nargs="*", choices=["threads", "processes", "ray", "spark"], help="executors [all]")
    parser.add_argument("--structure", default="separators", help="[separators]")
    parser.add_argument("--features", default="genia", help="the preset [genia]")
    parser.add_argument("--min-count", type=int, default=1, help="tokens of a feature, at least [1]")


if __name__ == "__main__":
    report(options("executors", __doc__, _more))
