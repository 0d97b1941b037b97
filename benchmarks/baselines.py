"""The models that Lu and Roth (2015) measure themselves against, on GUM and on GENIA, and the rules for heads.

    python benchmarks/baselines.py --data DATA --work FOLDER

Three tables: GUM (the rows of their Table 2), GUM with heads (Table 4), GENIA (Table 5, and Table 3 of Muis and Lu
2017). Each is made by `spanloom lab compare`: lambda, the number of passes and the mention penalty are chosen by F1 on
the development data. The models stay in FOLDER, and what is there is not trained again. GUM stands in for the licensed
ACE corpora, with other texts and ten other types: it shows the order and the distances, not the level.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from common import Result, corpus, options, save_clusters, say
from spanloom import read
from spanloom.evaluate import paired_test
from spanloom.text import prepare

FLAT = ("bio", "bilou", "cascade", "semi_markov:6", "semi_markov")
GRAPHS = ("mention_hypergraph", "separators")
# the order of sections 4.1 of paper 003 and 6 of paper 001, the better ones last
ORDER = (
    "bio", "bilou", "semi_markov", "semi_markov-6", "cascade", "mention_hypergraph-derivations", "separators",
)  # fmt: skip
RULES = {"whole": "whole mention", "first": "first word", "last": "last word", "chain": "a chain of its own"}
# precision, recall and F1 of test data, untuned and tuned; ACE2004 and ACE2005, paper 001, Table 2
ACE = {
    "bilou": ("70.3 / 42.0 / 52.6; 67.0 / 45.6 / 54.3", ""),
    "mention_hypergraph": ("80.7 / 46.1 / 58.7; 77.6 / 47.3 / 58.8", "71.0 / 55.4 / 62.2; 67.0 / 57.3 / 61.7"),
    "separators": ("76.3 / 52.0 / 61.9; 73.5 / 51.6 / 60.6", "71.6 / 58.3 / 64.3; 67.5 / 59.1 / 63.0"),
}
# paper 003, Table 4
HEADS = {
    "cascade, head: whole": ("52.7 / 31.2 / 39.2; 54.2 / 35.5 / 42.9", ""),
    "cascade, head: first": ("47.4 / 28.0 / 35.2; 51.3 / 33.6 / 40.6", ""),
    "cascade, head: last": ("61.6 / 36.4 / 45.8; 65.3 / 42.8 / 51.7", ""),
    "cascade, head: chain": ("60.8 / 36.1 / 45.3; 64.2 / 42.0 / 50.7", ""),
    "mention_hypergraph, head: last": ("64.7 / 38.2 / 48.1; 69.2 / 43.0 / 53.0", ""),
    "heads": ("79.0 / 44.1 / 56.6; 70.1 / 45.1 / 54.8", "74.4 / 50.0 / 59.8; 63.4 / 53.8 / 58.3"),
}
# paper 001, Table 3, as far as our copy is legible
GENIA = {
    "semi_markov": ("R 61.7 (Finkel and Manning 2009)", ""),
    "mention_hypergraph": ("R 58.6", "75.0 / 66.1 / 70.3"),
    "separators": ("R 61.6", "74.6 / 67.2 / 70.7"),
}
COLUMNS = (
    "model", "penalty", "P", "R", "F1", "95 % interval of F1", "paper P / R / F1", "dev F1", "lambda", "seconds",
    "peak GB", "features", "weights", "training mentions lost",
)  # fmt: skip


def compare(chosen: argparse.Namespace, data: str, place: str, more: Sequence[str]) -> dict[str, Any]:
    """The values of a comparison, trained or kept."""
    parts = [
        value for part in ("train", "dev", "test") for value in (f"--{part}", chosen.data / data / f"{part}.jsonl")
    ]
    line = [
        sys.executable, "-m", "spanloom.cli", "compare", *map(str, parts), *more, "--counting", chosen.counting,
        "--seed", str(chosen.seed), "--pos", "none", "--output", str(chosen.work / place), "--json",
    ]  # fmt: skip
    say(" ".join(line))
    found: dict[str, Any] = json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout)
    found |= {part: f"{data}/{part}.jsonl" for part in ("train", "dev", "test")}  # wherever the folder was
    if found["failed"]:
        raise SystemExit(f"failed: {found['failed']}")
    return found


def named(names: Sequence[str]) -> list[str]:
    """As options."""
    return [part for name in names for part in ("--structure", name)]


def label(row: Mapping[str, Any]) -> str:
    """A row's model, and what found its heads."""
    return row["name"] if row["heads"] in ("", "model") else f"{row['name']}, head: {row['heads']}"


def grid(*values: float) -> list[str]:
    """The values of lambda to choose from, as options."""
    return [part for value in values for part in ("--l2", f"{value:g}")]


def cells(row: Mapping[str, Any], paper: Mapping[str, tuple[str, str]]) -> list[Any]:
    """A row of the table."""
    overall = row["test"]["overall"]
    measures = [f"{100 * overall[name]:.1f}" for name in ("precision", "recall", "f1")]
    penalty = "-" if not row["tuned"] else "each" if row["penalty"] is None else f"{row['penalty']:.2f}"
    low, high = overall["intervals"]["f1"]
    cited = paper.get(label(row).replace("-derivations", ""), ("", ""))[row["tuned"]]
    lambdas = "each" if row["lambda"] is None else f"{row['lambda']:g}"
    return [
        label(row), penalty, *measures, f"{100 * low:.1f} to {100 * high:.1f}", cited, f"{100 * row['dev_f1']:.1f}",
        lambdas, f"{row['seconds']:.0f}", f"{row['peak_memory'] / 2**30:.2f}", row["features"], row["weights"],
        row["lost"],
    ]  # fmt: skip


def show(result: Result, title: str, found: dict[str, Any], paper: Mapping[str, tuple[str, str]], *notes: str) -> None:
    """The table and the tests of a comparison; `data` gets all of it."""
    result.table(title, COLUMNS, [cells(row, paper) for row in found["rows"]], *notes)
    result.table(
        f"{title}: the best model against the others, tuned",
        ("first", "second", "difference of F1", "95 % interval", "p"),
        [
            [
                test["first"], test["second"], f"{100 * test['difference']:+.2f}",
                " to ".join(f"{100 * end:+.2f}" for end in test["interval"]), f"{test['p_value']:.4f}",
            ]
            for test in found["tests"]
        ],
        "Approximate randomization over sentences; intervals by the paired bootstrap.",
    )  # fmt: skip
    result.table(
        f"{title}: F1 of sentences with and without overlapping mentions, tuned, and training mentions that were lost",
        ("model", "with overlap", "without overlap", "lost, %", "why"),
        [why_lost(row) for row in found["rows"] if row["tuned"]],
    )
    result.data[title] = found


def why_lost(row: Mapping[str, Any]) -> list[Any]:
    """A row of the table of what overlaps cost."""
    split = (f"{100 * row['test']['sentences'][name]['f1']:.1f}" for name in ("with overlap", "without overlap"))
    reasons = "; ".join(f"{count:,} {reason}" for reason, count in row["lost_for"].items())
    return [label(row), *split, f"{100 * row['lost'] / row['mentions']:.1f}", reasons]


def f1(found: dict[str, Any], tuned: bool = True) -> dict[str, dict[str, float]]:
    """Row -> measures in percent."""
    return {
        label(row): {name: 100 * row["test"]["overall"][name] for name in ("precision", "recall", "f1")}
        for row in found["rows"]
        if row["tuned"] == tuned
    }


def order(result: Result, chosen: argparse.Namespace, place: str, names: Sequence[str]) -> None:
    """Each model against the next better one in the order of the papers, tuned, from the predictions that are kept."""
    gold = [prepare(document) for document in corpus(chosen.data, place, "test")]
    found = {name: list(read(chosen.work / place / name / "predictions.jsonl")) for name in names}
    rows = []
    for worse, better in pairwise(names):
        test = paired_test(gold, found[better], found[worse], seed=chosen.seed)
        low, high = test.interval
        rows.append([better, worse, f"{100 * test.difference:+.2f}", f"{100 * low:+.2f} to {100 * high:+.2f}",
                     f"{test.p_value:.4f}"])  # fmt: skip
    result.table(
        f"{place}, tuned: neighbours in the papers' order, the better one there first",
        ("first", "second", "difference of F1", "95 % interval", "p"), rows,
        "Why the order differs where it does stands in docs/decisions.md.",
    )  # fmt: skip


def tuning_raises(result: Result, title: str, found: dict[str, Any], names: Sequence[str]) -> None:
    """Targets: recall and F1 of each hypergraph model rise with the penalty."""
    before, after = f1(found, False), f1(found)
    for name in names:
        for measure in ("recall", "f1"):
            gain = after[name][measure] - before[name][measure]
            result.at_least(f"{title}, {name}: {measure}, tuned less untuned", gain, 0.0)


def gum(chosen: argparse.Namespace, result: Result) -> None:
    """Tables 2 and 4 of Lu and Roth (2015)."""
    shared = ["--features", "ace", *grid(1, 5, 20)]
    found = compare(chosen, "gum", "gum", [*shared, *named((*FLAT, *GRAPHS))])
    show(result, "GUM", found, ACE, "The papers' figures are of ACE2004; ACE2005.")
    graphs = [name for name in f1(found) if name.startswith(GRAPHS)]
    order(result, chosen, "gum", ORDER)
    tuning_raises(result, "GUM", found, graphs)
    heads = compare(
        chosen, "gum", "gum-heads", [*shared, "--heads", *named(("cascade", "mention_hypergraph", "heads"))]
    )
    show(result, "GUM, heads must match", heads, HEADS, "Boundaries, type and head must match. " + "; ".join(
        f"{name}: {meaning}" for name, meaning in RULES.items()) + ".")  # fmt: skip
    after = f1(heads)
    joint = [name for name in after if name.startswith("heads")]
    tuning_raises(result, "GUM, heads", heads, joint)
    for name in joint:
        rules = max(value["f1"] for other, value in after.items() if other not in joint)
        result.at_least(
            f"GUM, heads: F1 of {name} less that of the best rule, all tuned", after[name]["f1"] - rules, 0.0
        )


def genia(chosen: argparse.Namespace, result: Result) -> None:
    """The same rows without heads on GENIA."""
    paths = chosen.work / "100.paths"
    if not paths.exists():
        save_clusters(corpus(chosen.data, "genia", "train"), 100, chosen.work)
    shared = ["--features", "genia", "--clusters", str(paths), *grid(1, 5, 10)]
    found = compare(chosen, "genia", "genia", [*shared, *named((*FLAT, *GRAPHS))])
    show(result, "GENIA", found, GENIA, "Features: the preset `genia` with 100 Brown clusters of the training text.")
    graphs = [name for name in f1(found) if name.startswith(GRAPHS)]
    order(result, chosen, "genia", ORDER)
    tuning_raises(result, "GENIA", found, graphs)


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--work", type=Path, required=True, help="a folder for the models; goes on where it was")
    parser.add_argument("--counting", default="both", help="as of spanloom lab compare [both]")
    parser.add_argument("--corpus", action="append", choices=("gum", "genia"), help="[both]")


def main() -> None:
    """Train or read, write."""
    chosen = options("baselines", __doc__, _more)
    chosen.work.mkdir(parents=True, exist_ok=True)
    result = Result("The models that the papers measure themselves against", chosen.seed)
    for name, run in (("gum", gum), ("genia", genia)):
        if not chosen.corpus or name in chosen.corpus:
            run(chosen, result)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
