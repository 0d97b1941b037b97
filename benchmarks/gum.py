"""Accuracy on GUM, which stands in for the licensed ACE corpora: separators over mention hypergraph over BILOU.

    python benchmarks/gum.py --data DATA

Standard split, the features of the papers for ACE (preset `ace`). Lambda, the number of passes and the mention penalty
are chosen by F1 on the development data; the test data are looked at once. The papers' figures are of ACE2004 and
ACE2005, other texts and other types of the same kind: they show the order and the distances, not the level. Paper 001
is Muis and Lu (2017), paper 003 Lu and Roth (2015).
"""

from __future__ import annotations

import argparse

from accuracy import COLUMNS, Fitted, Parts, Row, cells, compare, fit, overlap_rows, record, rows
from common import Result, corpus, options

GRIDS = {"adagrad": (0.1, 1.0, 5.0), "lbfgs": (0.1, 1.0)}  # paper 001: 0, 0.001, 0.01, 0.1, 1
MULTIGRAPH, HYPERGRAPH = "separators", "mention_hypergraph, derivations"
# paper 001, Table 2: ACE2004 and ACE2005; untuned and tuned; Lin-CRF is its BILOU chain
MODELS: dict[str, tuple[dict[str, str], tuple[str, str]]] = {
    "bilou": ({"structure": "bilou"}, ("70.3 / 42.0 / 52.6; 67.0 / 45.6 / 54.3", "")),
    HYPERGRAPH: (
        {"structure": "mention_hypergraph", "counting": "derivations"},
        ("80.7 / 46.1 / 58.7; 77.6 / 47.3 / 58.8", "71.0 / 55.4 / 62.2; 67.0 / 57.3 / 61.7"),
    ),
    MULTIGRAPH: (
        {"structure": "separators"},
        ("76.3 / 52.0 / 61.9; 73.5 / 51.6 / 60.6", "71.6 / 58.3 / 64.3; 67.5 / 59.1 / 63.0"),
    ),
}
TABLE_4 = {
    (HYPERGRAPH, "with overlap"): "72.8 / 51.0 / 60.0; 68.6 / 52.8 / 59.7",
    (HYPERGRAPH, "without overlap"): "73.1 / 62.8 / 67.5; 64.8 / 64.8 / 64.8",
    (MULTIGRAPH, "with overlap"): "71.3 / 56.2 / 62.8; 68.5 / 55.7 / 61.4",
    (MULTIGRAPH, "without overlap"): "72.5 / 64.2 / 68.1; 66.0 / 64.7 / 65.4",
}


def train_all(parts: Parts, chosen: argparse.Namespace) -> dict[str, list[Fitted]]:
    """All structures with each optimizer."""
    return {
        optimizer: [
            fit(
                name, parts, paper, features="ace", optimizer=optimizer, l2=list(grid), epochs=chosen.epochs,
                iterations=chosen.iterations, n_jobs=-1, random_state=chosen.seed, **parameters,
            )
            for name, (parameters, paper) in MODELS.items()
        ]
        for optimizer, grid in GRIDS.items()
    }  # fmt: skip


def report(found: dict[str, list[Row]], chosen: argparse.Namespace, parts: Parts) -> Result:
    """Tables, tests and targets."""
    result = Result("Accuracy on GUM", chosen.seed)
    for optimizer, some in found.items():
        grid = ", ".join(f"{l2:g}" for l2 in GRIDS[optimizer])
        result.table(
            f"Test data, {optimizer}", COLUMNS, [cells(row) for row in some],
            f"The paper's figures are of ACE2004 and ACE2005. Lambda chosen from {grid}; steps are passes of AdaGrad "
            "or iterations of L-BFGS. Seconds: features, all values of lambda and tuning, on all cores.",
        )  # fmt: skip
        by_name = {(row.fitted.name, row.tuned): row for row in some}
        order = [(MULTIGRAPH, HYPERGRAPH), (HYPERGRAPH, "bilou"), (MULTIGRAPH, "bilou")]
        compare(result, parts.test, [(by_name[a, t], by_name[b, t]) for a, b in order for t in (False, True)])
        result.data[f"tests, {optimizer}"] = result.data.pop("tests")
        for a, b in order[:2]:
            difference = by_name[a, True].report.overall.f1 - by_name[b, True].report.overall.f1
            result.at_least(f"{optimizer}: F1 of {a} over {b}, tuned", 100 * difference, 0.0)
    result.table(
        "Sentences with and without overlapping mentions, tuned, adagrad (paper 001, Table 4: ACE2004; ACE2005)",
        ("structure", "sentences", "P", "R", "F1", "paper P / R / F1"),
        overlap_rows(found["adagrad"], TABLE_4),
    )
    record(result, [row for some in found.values() for row in some])
    return result


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--epochs", type=int, default=6, help="of AdaGrad, at most [6]")
    parser.add_argument("--iterations", type=int, default=80, help="of L-BFGS, at most [80]")
    parser.add_argument("--limit", type=int, help="use only so many documents of each part, to try the script")


def main() -> None:
    """Train, choose, evaluate, write."""
    chosen = options("gum", __doc__, _more)
    parts = Parts(*(corpus(chosen.data, "gum", part, chosen.limit) for part in ("train", "dev", "test")))
    fitted = train_all(parts, chosen)
    found = {
        name: [row for model in models for row in rows(model, parts, chosen.seed)] for name, models in fitted.items()
    }
    report(found, chosen, parts).save(chosen.out)


if __name__ == "__main__":
    main()
