"""Accuracy on GENIA: every structure, untuned and with a tuned mention penalty, beside papers 001 and 003.

    python benchmarks/genia.py --data DATA

Standard split. Lambda, the number of passes, the number of Brown clusters and the mention penalty are chosen by F1 on
the development data; the test data are looked at once, when everything is chosen. Brown clusters are induced from the
training text. Paper 001 is Muis and Lu (2017), paper 003 Lu and Roth (2015).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from accuracy import COLUMNS, Fitted, Parts, Row, cells, compare, fit, overlap_rows, record, rows
from common import Result, corpus, options, save_clusters, say

GRID = (1.0, 5.0, 10.0)
RUNS = 4  # of AdaGrad, averaged; lambda is chosen with one
CLUSTERS = (100, 1000)  # those of paper 001, section 6.3
MULTIGRAPH, HYPERGRAPH = "separators", "mention_hypergraph, derivations"
OURS = ", features biomedical"
# name -> parameters; precision, recall and F1 of paper 001, Table 3, untuned and tuned
MODELS: dict[str, tuple[dict[str, str], tuple[str, str]]] = {
    "bio": ({"structure": "bio"}, ("", "")),
    "bilou": ({"structure": "bilou"}, ("", "")),
    HYPERGRAPH: (
        {"structure": "mention_hypergraph", "counting": "derivations"},
        ("? / 58.6 / ?", "75.0 / 66.1 / 70.3"),
    ),
    "mention_hypergraph, subgraphs": ({"structure": "mention_hypergraph"}, ("", "")),
    MULTIGRAPH: ({"structure": "separators"}, ("? / 61.6 / ?", "74.6 / 67.2 / 70.7")),
    "separator_states": ({"structure": "separator_states"}, ("", "")),
}
TABLE_4 = {
    (HYPERGRAPH, "with overlap"): "77.1 / 60.3 / 67.7",
    (HYPERGRAPH, "without overlap"): "73.9 / 70.1 / 71.9",
    (MULTIGRAPH, "with overlap"): "75.6 / 60.7 / 67.3",
    (MULTIGRAPH, "without overlap"): "74.1 / 71.6 / 72.9",
}
PEERS = (
    ("Finkel and Manning (2009), constituency parser", "75.4 / 65.9 / 70.3", "as paper 001 cites it"),
    ("semi-Markov CRF, Finkel and Manning (2009)", "? / 61.7 / ?", "as paper 001 cites it; P and F1 are not legible"),
    ("five flat chains, one a type, trained with CRFsuite", "F1 70.0", "measured on these files"),
    ("spaCy 3, spancat", "F1 71.7", "measured on these files, 7 minutes of training"),
)


def train_all(parts: Parts, folder: Path, chosen: argparse.Namespace) -> list[Fitted]:
    """The multigraph with each number of clusters, then all structures with the better one, then our own preset."""
    paths = {size: save_clusters(parts.train, size, folder) for size in CLUSTERS}
    shared: dict[str, Any] = {
        "l2": list(GRID), "epochs": chosen.epochs, "optimizer": chosen.optimizer, "n_jobs": -1,
        "random_state": chosen.seed, "runs": RUNS,
    }  # fmt: skip
    parameters, paper = MODELS[MULTIGRAPH]
    tried = {
        size: fit(MULTIGRAPH, parts, paper, features="genia", clusters=path, **parameters, **{**shared, "runs": 1})
        for size, path in paths.items()
    }
    best = max(tried, key=lambda size: tried[size].recognizer.report_.dev_f1)
    say(f"{best} clusters do best on the development data")
    fitted = {
        name: fit(name, parts, paper, features="genia", clusters=paths[best], **parameters, **shared)
        for name, (parameters, paper) in MODELS.items()
    }
    for name in (HYPERGRAPH, MULTIGRAPH):
        parameters, _ = MODELS[name]
        ours = {"features": "biomedical", "clusters": paths[best]}
        fitted[name + OURS] = fit(name + OURS, parts, **ours, **parameters, **shared)
    chosen.clusters = {size: tried[size].recognizer.report_.dev_f1 for size in tried}
    return [fitted[name] for name in (*MODELS, HYPERGRAPH + OURS, MULTIGRAPH + OURS)]


def report(found: Sequence[Row], chosen: argparse.Namespace, parts: Parts) -> Result:
    """Tables, tests and targets."""
    result = Result("Accuracy on GENIA", chosen.seed)
    clusters = ", ".join(f"{size}: dev F1 {100 * f1:.2f}" for size, f1 in chosen.clusters.items())
    result.table(
        "Test data", COLUMNS, [cells(row) for row in found],
        f"Features: the preset `genia`, but for the last four rows; weights are the mean of {RUNS} runs of AdaGrad. "
        f"Brown clusters tried with separators: {clusters}.",
        f"Lambda chosen from {', '.join(f'{l2:g}' for l2 in GRID)}; steps are passes of AdaGrad or iterations of "
        "L-BFGS. Seconds: features, all values of lambda and tuning, on all cores. `?`: not legible in our copy.",
    )  # fmt: skip
    result.table("Others, on the same corpus", ("system", "P / R / F1", "source"), PEERS)
    result.table(
        "Sentences with and without overlapping mentions, penalty tuned (paper 001, Table 4)",
        ("structure", "sentences", "P", "R", "F1", "paper P / R / F1"),
        overlap_rows(found, TABLE_4),
    )
    by_name = {(row.fitted.name, row.tuned): row for row in found}
    others = [name for name in (HYPERGRAPH, "bilou", "separator_states") if (name, True) in by_name]
    compare(
        result,
        parts.test,
        [(by_name[MULTIGRAPH, tuned], by_name[name, tuned]) for name in others for tuned in (False, True)],
    )
    record(result, found)
    for name, target in (
        (MULTIGRAPH + OURS, 72.5), (MULTIGRAPH, 72.5), (HYPERGRAPH + OURS, 70.3), (HYPERGRAPH, 70.3),
        ("mention_hypergraph, subgraphs", 70.3),
    ):  # fmt: skip
        result.at_least(f"{name}, tuned: test F1", 100 * by_name[name, True].report.overall.f1, target)
    return result


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--epochs", type=int, default=6, help="of AdaGrad, at most [6]")
    parser.add_argument("--optimizer", default="adagrad", help="adagrad or lbfgs [adagrad]")
    parser.add_argument("--limit", type=int, help="use only so many sentences of each part, to try the script")


def main() -> None:
    """Train, choose, evaluate, write."""
    chosen = options("genia", __doc__, _more)
    parts = Parts(*(corpus(chosen.data, "genia", part, chosen.limit) for part in ("train", "dev", "test")))
    with tempfile.TemporaryDirectory() as folder:
        fitted = train_all(parts, Path(folder), chosen)
    found = [row for model in fitted for row in rows(model, parts, chosen.seed)]
    report(found, chosen, parts).save(chosen.out)


if __name__ == "__main__":
    main()
