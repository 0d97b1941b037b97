"""Peak memory of training on GENIA with the full preset `genia`, for AdaGrad and for L-BFGS.

    python benchmarks/memory.py --data DATA

Each training is a process of its own; the figure is its largest resident memory, as the system reports it at the end.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from common import Result, corpus, options, peak_memory, save_clusters, say
from spanloom.recognize import Progress, Recognizer

LIMIT = 3.0  # GB, 2^30 bytes
CASES = {
    "adagrad": {"optimizer": "adagrad", "epochs": 2},
    "adagrad, three values of lambda side by side": {"optimizer": "adagrad", "epochs": 2, "l2": [0.1, 1.0, 5.0]},
    "lbfgs": {"optimizer": "lbfgs"},
}


def train(chosen: argparse.Namespace) -> None:
    """Train in this process, and print what it took as JSON."""
    documents = corpus(chosen.data, "genia", "train", chosen.limit)
    dev = corpus(chosen.data, "genia", "dev", chosen.limit)
    steps: list[dict[str, Any]] = [{"stage": "documents read", "peak_gb": peak_memory()}]

    def note(step: Progress) -> None:
        steps.append({"stage": step.stage, "step": step.step, "seconds": step.seconds, "peak_gb": peak_memory()})

    recognizer = Recognizer(
        chosen.structure, "genia", clusters=chosen.paths, iterations=chosen.iterations, n_jobs=-1,
        random_state=chosen.seed, pos=None, rescore=False, overlap="free", **CASES[chosen.case],
    )  # fmt: skip
    recognizer.fit(documents, dev=dev, progress=note)
    weights = recognizer.model_.scorer.weights
    print(json.dumps({"peak_gb": peak_memory(), "rows": recognizer.report_.rows, "steps": steps,
                      "weights": weights.features.size + weights.constants.size}))  # fmt: skip


def measure(case: str, structure: str, paths: str, chosen: argparse.Namespace) -> dict[str, Any]:
    """Train in a process of its own."""
    given = ["--data", chosen.data, "--seed", chosen.seed, "--iterations", chosen.iterations, "--case", case]
    given += ["--paths", paths, "--structure", structure]
    given += ["--limit", chosen.limit] if chosen.limit else []
    done = subprocess.run([sys.executable, __file__, *map(str, given)], stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    say(f"{structure}, {case}: {found['peak_gb']:.2f} GB")
    return found


def report(chosen: argparse.Namespace) -> None:
    """All cases."""
    result = Result("Peak memory of training on GENIA", chosen.seed)
    with tempfile.TemporaryDirectory() as folder:
        paths = save_clusters(corpus(chosen.data, "genia", "train", chosen.limit), chosen.clusters, Path(folder))
        found = {(structure, case): measure(case, structure, paths, chosen)
                 for structure in ("separators", "mention_hypergraph") for case in CASES}  # fmt: skip
    rows = [
        [structure, case, one["peak_gb"], one["steps"][0]["peak_gb"], one["rows"], one["weights"]]
        for (structure, case), one in found.items()
    ]
    result.table(
        "Largest resident memory, GB (2^30 bytes)",
        ("structure", "training", "peak", "of it when the documents are read", "rows of weights", "weights"),
        rows,
        f"L-BFGS is stopped after {chosen.iterations} iterations; its memory is full by then. The authors' Java takes "
        "more than 35 GB for the mention hypergraph on all of GENIA.",
    )
    for structure, case, peak, *_ in rows:
        result.at_most(f"{structure}, {case}: peak, GB", peak, LIMIT)
    result.data["cases"] = [{"structure": s, "case": c, **one} for (s, c), one in found.items()]
    result.save(chosen.out)


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--iterations", type=int, default=25, help="of L-BFGS; its memory is then full [25]")
    parser.add_argument("--clusters", type=int, default=1000, help="Brown clusters [1000]")
    parser.add_argument("--limit", type=int, help="use only so many sentences, to try the script")
    for hidden in ("--case", "--paths", "--structure"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)


def main() -> None:
    """Measure, or be measured."""
    chosen = options("memory", __doc__, _more)
    if chosen.case:
        train(chosen)
    else:
        report(chosen)


if __name__ == "__main__":
    main()
