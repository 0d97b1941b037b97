"""GUM with the optimizer of Lu and Roth (2015): L-BFGS until its stopping rule ends it, for each lambda by itself.

    python benchmarks/gum_optimum.py --data DATA --work FOLDER

Two tables of two papers on GUM, which stands in for the licensed ACE corpora: mentions (Muis and Lu 2017, Table 2) and
mentions with heads (Lu and Roth 2015, Table 4). Features of the papers for ACE (preset `ace`), counted by `derivations`
where that makes a difference, lambda and the mention penalty chosen by F1 on the development data. The rules and the
chain for heads are those of `spanloom lab compare`; the chain is trained by L-BFGS, too.

L-BFGS stops when ten iterations lower the objective by less than a hundred-thousandth of it, or after --iterations, and
the record says which. Each model is kept in FOLDER, and what is there is not trained again; the tables are of all that
is there, and say which values of lambda were tried.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from accuracy import Fitted, Row, interval, overlap_rows, percent
from common import Result, Seconds, corpus, options, say, timed
from spanloom.evaluate import KEYS, paired_test
from spanloom.recognize import Progress, Recognizer, load
from spanloom.text import prepare
from spanloom_lab.comparison import HeadFinder, Parts, head_finders, measure

CHAIN, HYPERGRAPH, MULTIGRAPH, HEADS = "bilou", "mention_hypergraph, derivations", "separators", "heads, derivations"
MODELS: dict[str, dict[str, str]] = {
    CHAIN: {"structure": "bilou"},
    HYPERGRAPH: {"structure": "mention_hypergraph", "counting": "derivations"},
    MULTIGRAPH: {"structure": "separators"},
    HEADS: {"structure": "heads", "counting": "derivations"},
}
GRID = (0.01, 0.1, 1.0)  # paper 001: 0, 0.001, 0.01, 0.1, 1
PARAMETERS: dict[str, Any] = {"features": "ace", "optimizer": "lbfgs", "pos": None}
TOLERANCE = 1e-5  # of L-BFGS
# precision, recall and F1, untuned and tuned, of ACE2004; ACE2005
PAPER = {
    CHAIN: ("70.3 / 42.0 / 52.6; 67.0 / 45.6 / 54.3", ""),
    HYPERGRAPH: ("80.7 / 46.1 / 58.7; 77.6 / 47.3 / 58.8", "71.0 / 55.4 / 62.2; 67.0 / 57.3 / 61.7"),
    MULTIGRAPH: ("76.3 / 52.0 / 61.9; 73.5 / 51.6 / 60.6", "71.6 / 58.3 / 64.3; 67.5 / 59.1 / 63.0"),
}
PAPER_HEADS = {
    f"{HYPERGRAPH}, head: last": ("64.7 / 38.2 / 48.1; 69.2 / 43.0 / 53.0", ""),
    HEADS: ("79.0 / 44.1 / 56.6; 70.1 / 45.1 / 54.8", "74.4 / 50.0 / 59.8; 63.4 / 53.8 / 58.3"),
}
TABLE_4 = {
    (HYPERGRAPH, "with overlap"): "72.8 / 51.0 / 60.0; 68.6 / 52.8 / 59.7",
    (HYPERGRAPH, "without overlap"): "73.1 / 62.8 / 67.5; 64.8 / 64.8 / 64.8",
    (MULTIGRAPH, "with overlap"): "71.3 / 56.2 / 62.8; 68.5 / 55.7 / 61.4",
    (MULTIGRAPH, "without overlap"): "72.5 / 64.2 / 68.1; 66.0 / 64.7 / 65.4",
}
COLUMNS = (
    "model", "penalty tuned", "P", "R", "F1", "95 % interval of F1", "paper P / R / F1", "dev F1", "lambda", "penalty",
    "iterations", "calibration error %", "rows of weights",
)  # fmt: skip


def place(folder: Path, name: str, l2: float) -> Path:
    """Where a model is kept."""
    return folder / f"{name.partition(',')[0]}-{l2:g}"


def train(name: str, l2: float, parts: Parts, chosen: argparse.Namespace) -> None:
    """Train a model with one lambda, and keep it."""
    given = {**MODELS[name], **PARAMETERS, "iterations": chosen.iterations}
    model = Recognizer(**given, rescore=False, overlap="free", l2=l2, n_jobs=-1, random_state=chosen.seed)
    seconds, _ = timed(lambda: model.fit(parts.train, dev=parts.dev, progress=_tell))
    model.save(place(chosen.work, name, l2))
    found = model.report_
    say(f"{name}, lambda {l2:g}: dev F1 {100 * found.dev_f1:.2f}, {found.steps} iterations, {seconds.wall:.0f} s")


def _tell(step: Progress) -> None:
    if step.step % 20 == 1 and step.objective is not None:
        say(f"  {step.seconds:6.1f} s {step.stage} {step.step}: {step.objective:,.0f}, dev F1 {step.dev_f1}")


def share_to_go(model: Recognizer) -> float:
    """How much the last ten iterations lowered the objective, as a part of it."""
    values = [objective for objective, _ in model.report_.history]
    return (values[-11] - values[-1]) / abs(values[-1]) if len(values) > 10 else 1.0


def kept(name: str, folder: Path) -> dict[float, Recognizer]:
    """The models of each lambda that is there."""
    return {l2: load(place(folder, name, l2)) for l2 in GRID if place(folder, name, l2).exists()}


def rows(
    name: str, model: Recognizer, parts: Parts, seed: int, finders: Mapping[str, HeadFinder] | None = None
) -> list[Row]:
    """A model on test data, untuned and tuned; with ``finders`` its heads count, too."""
    found = []
    for row in measure(name, model, parts.dev, parts.test, seed=seed, finders=finders):
        label = name if row.heads in ("", "model") else f"{name}, head: {row.heads}"
        paper = (PAPER if finders is None else PAPER_HEADS).get(label, ("", ""))
        fitted = Fitted(label, model, Seconds(0.0, 0.0), paper)
        found.append(Row(fitted, row.tuned, row.dev_f1, row.predicted, row.test, row.calibration_error))
    return found


def cells(row: Row) -> list[Any]:
    """A row of a table with `COLUMNS`."""
    report = row.fitted.recognizer.report_
    return [
        row.fitted.name, "yes" if row.tuned else "no", *percent(row.report.overall), interval(row.report),
        row.fitted.paper[row.tuned], f"{100 * row.dev_f1:.1f}", f"{report.l2:g}", f"{row.penalty:g}", report.steps,
        f"{100 * row.error:.1f}", report.rows,
    ]  # fmt: skip


def compare(result: Result, title: str, found: Sequence[Row], parts: Parts, key: str) -> None:
    """Paired tests of the last model of a table against the others."""
    lines = []
    for tuned in (False, True):
        *others, last = [row for row in found if row.tuned == tuned]
        for other in others:
            test = paired_test(parts.test, last.predicted, other.predicted, seed=result.seed, key=KEYS[key])
            low, high = (100 * end for end in test.interval)
            lines.append(
                [
                    last.fitted.name, other.fitted.name, "yes" if tuned else "no", f"{100 * test.difference:+.2f}",
                    f"{low:+.2f} to {high:+.2f}", f"{test.p_value:.4f}",
                ]
            )  # fmt: skip
    result.table(
        f"{title}: paired tests", ("first", "second", "penalty tuned", "difference of F1", "95 % interval", "p"), lines,
        "Approximate randomization over sentences, 10,000 samples; interval by the paired bootstrap.",
    )  # fmt: skip


def report(result: Result, parts: Parts, folder: Path) -> None:
    """The tables of what is kept."""
    models = {name: there for name in MODELS if (there := kept(name, folder))}
    result.table(
        "Every lambda",
        ("model", "lambda", "iterations", "objective", "by the last ten", "dev F1, tuned", "penalty"),
        [
            [name, f"{l2:g}", one.report_.steps, one.report_.history[-1][0], f"{share_to_go(one):.1e}",
             f"{100 * one.report_.dev_f1:.1f}",
             f"{one.report_.penalty:g}"]
            for name, there in models.items()
            for l2, one in there.items()
        ],
        f"From weights of one pass of AdaGrad, until ten iterations lower the objective by less than {TOLERANCE:g} of "
        "it: where the last ten lowered it by more, L-BFGS was cut before its optimum. Chosen below: the lambda of the "
        "best dev F1. A lambda that is not here was not run.",
    )  # fmt: skip
    for name, there in models.items():
        for l2, one in there.items():
            claim = f"{name}, lambda {l2:g}: part of the objective that the last ten iterations took off"
            result.at_most(claim, share_to_go(one), TOLERANCE)
    best = {name: max(there.values(), key=lambda one: one.report_.dev_f1) for name, there in models.items()}
    flat = [row for name in MODELS if name in best and name != HEADS
            for row in rows(name, best[name], parts, result.seed)]  # fmt: skip
    note = "The papers' figures are of ACE2004; ACE2005."
    if flat:
        result.table("Mentions, test data", COLUMNS, [cells(row) for row in flat], note)
        compare(result, "Mentions, test data", flat, parts, "exact")
        result.table(
            "Sentences with and without overlapping mentions, tuned (paper 001, Table 4: ACE2004; ACE2005)",
            ("structure", "sentences", "P", "R", "F1", "paper P / R / F1"), overlap_rows(flat, TABLE_4),
        )  # fmt: skip
    if HEADS in best:
        headed = []
        if HYPERGRAPH in best:
            params = {**PARAMETERS, "iterations": 1000, "l2": 1.0, "n_jobs": -1, "random_state": result.seed}
            finders = head_finders(parts, params)
            headed = rows(HYPERGRAPH, best[HYPERGRAPH], parts, result.seed, finders)
        headed += rows(HEADS, best[HEADS], parts, result.seed, {})
        result.table("Heads must match, test data", COLUMNS, [cells(row) for row in headed], note)
        if len(headed) > 2:
            compare(result, "Heads must match, test data", headed, parts, "heads")


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--work", type=Path, required=True, help="a folder for the models; goes on where it was")
    parser.add_argument("--model", nargs="*", choices=tuple(MODELS), default=list(MODELS), help="train these [all]")
    parser.add_argument("--l2", nargs="+", type=float, default=list(GRID), help="with these lambdas [all]")
    parser.add_argument("--iterations", type=int, default=5000, help="of L-BFGS, at most [5000]")
    parser.add_argument("--limit", type=int, help="use only so many documents of each part, to try the script")


def main() -> None:
    """Train what is not there yet, and report."""
    chosen = options("gum_optimum", __doc__, _more)
    chosen.work.mkdir(parents=True, exist_ok=True)
    parts = Parts(
        *(
            [prepare(document) for document in corpus(chosen.data, "gum", part, chosen.limit)]
            for part in ("train", "dev", "test")
        )
    )
    for name in chosen.model:
        for l2 in chosen.l2:
            if not place(chosen.work, name, l2).exists():
                train(name, l2, parts, chosen)
    result = Result("GUM, trained to the optimum by L-BFGS", chosen.seed)
    report(result, parts, chosen.work)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
