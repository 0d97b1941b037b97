"""Accuracy on discontiguous mentions: SHARED and SPLIT, with both countings, beside a chain of seven tags.

    python benchmarks/discontiguous.py --data DATA --cache CACHE
    python benchmarks/discontiguous.py --data DATA --cache CACHE --table 4

The protocols of Tables 2 and 4 of Muis and Lu (2016). Table 2: CRAFT with the types GO_BP, CL and UBERON, and GENIA
with resolved conjuncts and its five types. Trained on the sentences with at least one discontiguous mention (`disc`,
the paper's Train-Disc) and on all (`all`, Train-Orig); evaluated on the discontiguous sentences of the development
data. Table 4: CRAFT with all its types, trained on all sentences.

The development data are what is measured here, so nothing is chosen on them: lambda, the number of passes and the
mention penalty are tuned for F1, reading `enough`, on the sentences of a tenth of the training articles, drawn by the
seed and held out. Both readings are of the same weights.

Predictions are kept in the folder CACHE; what is there is not trained again, and the tables are of all that is there.
So parts may be run by themselves (--table, --corpus, --training, --model), and an interrupted run goes on where it
was. What was trained with other parameters or other data is not used. CACHE knows nothing of changes of the program:
--again trains what is chosen again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import Result, commit, options, save_clusters, say, timed
from gapped import Data, Task, only_gaps
from kept import Kept, Key, Store
from spanloom.document import Document
from spanloom.evaluate import PairedTest, Report, Score, evaluate, exact, paired_test
from spanloom.recognize import Progress, Recognizer
from spanloom.structures import READINGS

# of `Recognizer`, for all models; the structure and its counting are in MODELS
PARAMETERS: dict[str, Any] = {
    "features": "biomedical",
    "components": 3,
    "optimizer": "adagrad",
    "rate": 0.1,
    "l2": (1.0, 3.0),
    "epochs": 15,
    "iterations": 150,
    "runs": 2,
}
CLUSTERS = 0  # Brown clusters of a corpus' training text; 0 for none
SAMPLES = 1000  # of the bootstrap
SIGNIFICANT = 0.05

CHAIN = "seven_tag"
MODELS: dict[str, dict[str, str]] = {
    CHAIN: {"structure": "seven_tag"},
    "shared_derivations": {"structure": "shared", "counting": "derivations"},
    "shared_subgraphs": {"structure": "shared", "counting": "subgraphs"},
    "split_derivations": {"structure": "split", "counting": "derivations"},
    "split_subgraphs": {"structure": "split", "counting": "subgraphs"},
}
BETTER = (  # first, second: what is tested, and expected to be better
    ("shared_subgraphs", CHAIN),
    ("split_subgraphs", CHAIN),
    ("shared_subgraphs", "shared_derivations"),
    ("split_subgraphs", "split_derivations"),
)
TRAININGS = ("disc", "all")
ALL_TYPES = "craft_all_types"
FEW_TYPES = ("GO_BP", "CL", "UBERON")
# (training, structure, reading) -> precision, recall and F1 of the paper's Table 2, LARGE
TABLE_2 = {
    ("disc", "seven_tag", "enough"): "54.7 / 41.2 / 47.0",
    ("disc", "seven_tag", "all"): "15.2 / 44.9 / 22.7",
    ("disc", "shared", "enough"): "76.9 / 40.1 / 52.7",
    ("disc", "shared", "all"): "76.0 / 40.5 / 52.8",
    ("disc", "split", "enough"): "79.4 / 38.6 / 52.0",
    ("disc", "split", "all"): "79.4 / 38.6 / 52.0",
    ("all", "seven_tag", "enough"): "64.1 / 46.5 / 53.9",
    ("all", "seven_tag", "all"): "52.8 / 49.4 / 51.1",
    ("all", "shared", "enough"): "73.9 / 49.1 / 59.0",
    ("all", "shared", "all"): "73.4 / 49.5 / 59.1",
    ("all", "split", "enough"): "75.3 / 48.8 / 59.2",
    ("all", "split", "all"): "75.3 / 48.8 / 59.2",
}
# Table 4 takes lambda from the main experiment, as the paper does: that of CRAFT, trained on all.
LAMBDA_OF_TABLE_2 = {"seven_tag": 1.0, "shared_subgraphs": 3.0, "split_subgraphs": 1.0}
TABLE_4 = "seven tags 60.3 / 41.7 / 49.3, SHARED 74.3 / 41.4 / 53.2, SPLIT 75.5 / 40.7 / 52.9"


def tasks(chosen: argparse.Namespace) -> dict[int, list[Task]]:
    """The tasks of each table."""
    return {
        2: [
            Task("craft", "craft", tuple(chosen.types), TRAININGS, tuple(MODELS)),
            Task("genia_discontiguous", "genia_discontiguous", None, TRAININGS, tuple(MODELS)),
        ],
        4: [Task(ALL_TYPES, "craft", None, ("all",), (CHAIN, "shared_subgraphs", "split_subgraphs"))],
    }


def parameters_of(key: Key, task: Task, chosen: argparse.Namespace) -> dict[str, Any]:
    """Everything that a model's predictions depend on, but the program."""
    l2 = {"l2": (LAMBDA_OF_TABLE_2[key.model],)} if task.name == ALL_TYPES else {}
    return {
        **PARAMETERS, **MODELS[key.model], **l2, "clusters": CLUSTERS, "types": task.types, "random_state": chosen.seed,
        "limit": chosen.limit,
    }  # fmt: skip


def train(key: Key, data: Data, store: Store, parameters: dict[str, Any], clusters: str | None = None) -> None:
    """Fit a model, and keep what it predicts with each reading."""
    own = {name: value for name, value in parameters.items() if name not in ("types", "limit", "clusters")}
    recognizer = Recognizer(**own, pos=None, rescore=False, overlap="free", clusters=clusters, n_jobs=-1)
    documents, held = data.training(key.training, parameters["random_state"])
    say(f"{key}: {len(documents):,} documents")
    seconds, _ = timed(lambda: recognizer.fit(documents, dev=held, progress=_tell))
    predicted = {}
    for reading in READINGS:
        recognizer.reading = reading
        predicted[reading] = list(recognizer.predict(data.dev))
    found = recognizer.report_
    facts = {
        "lambda": found.l2, "penalty": found.penalty, "steps": found.steps, "held_out_f1": found.dev_f1,
        "sentences": found.sentences, "held_out_sentences": found.development, "tokens": found.tokens,
        "mentions": found.mentions, "lost": found.lost, "rows_of_weights": found.rows, "seconds": seconds._asdict(),
        "commit": commit(),
    }  # fmt: skip
    store.keep(key, parameters, facts, predicted)
    say(f"{key}: held-out F1 {100 * found.dev_f1:.2f}, lambda {found.l2:g}, {found.steps} steps, {seconds.wall:.0f} s")


def _clusters(data: Data, store: Store) -> str | None:
    if not CLUSTERS:
        return None
    folder = store.folder / data.task.corpus / f"limit-{data.limit}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{CLUSTERS}.paths"
    return str(path) if path.exists() else save_clusters(data.train, CLUSTERS, folder)


def _tell(step: Progress) -> None:
    if step.dev_f1 is not None:
        say(
            f"  {step.seconds:6.1f} s {step.stage} {step.step}: {step.objective:,.0f}, "
            f"held-out F1 {100 * step.dev_f1:.2f}"
        )


@dataclass(frozen=True)
class Row:
    """A model on the discontiguous sentences, with a reading."""

    kept: Kept
    reading: str
    predicted: list[Document]
    report: Report


def rows_of(keys: Sequence[Key], data: Data, store: Store, seed: int) -> list[Row]:
    """What is in the cache, evaluated on the discontiguous sentences."""
    gold = data.discontiguous(data.dev)
    rows = []
    for key in keys:
        kept = store.load(key, READINGS, data.dev)
        for reading in READINGS:
            predicted = data.discontiguous(kept.predicted[reading])
            rows.append(Row(kept, reading, predicted, evaluate(gold, predicted, bootstrap=SAMPLES, seed=seed)))
    return rows


COLUMNS = (
    "model", "reading", "P", "R", "F1", "gaps alone: P", "R", "F1", "paper P / R / F1", "mentions", "with gaps",
    "held-out F1", "lambda", "penalty", "steps", "lost in training", "seconds",
)  # fmt: skip


def cells(row: Row, table: int) -> list[Any]:
    """A row of the table with `COLUMNS`."""
    key, facts = row.kept.key, row.kept.facts
    whole, gaps = row.report.overall, row.report.structures["discontiguous"]
    paper = TABLE_2[key.training, MODELS[key.model]["structure"], row.reading] if table == 2 else ""
    return [
        key.model, row.reading, *rates(whole), *rates(gaps), paper, int(whole.predicted), int(gaps.predicted),
        f"{100 * facts['held_out_f1']:.1f}", f"{facts['lambda']:g}", f"{facts['penalty']:g}", facts["steps"],
        sum(facts["lost"].values()), f"{facts['seconds']['wall']:.0f}",
    ]  # fmt: skip


def rates(score: Score) -> list[str]:
    """Precision, recall and F1 in percent, each with its interval."""
    if score.intervals is None:
        return [f"{100 * value:.1f}" for value in (score.precision, score.recall, score.f1)]
    return [
        f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"
        for value, (low, high) in zip((score.precision, score.recall, score.f1), score.intervals, strict=True)
    ]


def compare(rows: Sequence[Row], gold: Sequence[Document], seed: int) -> Iterator[tuple[Row, Row, str, PairedTest]]:
    """Paired tests between models that are both there, reading `enough`; of all mentions, and of those with gaps."""
    by_name = {row.kept.key.model: row for row in rows if row.reading == "enough"}
    for first, second in BETTER:
        if first in by_name and second in by_name:
            a, b = by_name[first], by_name[second]
            for what, key in (("all", exact), ("with gaps", only_gaps)):
                yield a, b, what, paired_test(gold, a.predicted, b.predicted, seed=seed, key=key)


def report(result: Result, table: int, data: Data, keys: Sequence[Key], store: Store) -> None:
    """The tables and tests of a task, for each training; targets for Table 2."""
    task, gold = data.task, data.discontiguous(data.dev)
    for training in task.trainings:
        rows = rows_of([key for key in keys if key.training == training], data, store, result.seed)
        if not rows:
            continue
        facts = rows[0].kept.facts
        result.table(
            f"{task.name}, trained on {'discontiguous' if training == 'disc' else 'all'} sentences (Table {table})",
            COLUMNS, [cells(row, table) for row in rows],
            f"Evaluated on the {len(gold):,} discontiguous sentences of the development data, "
            f"{int(rows[0].report.overall.gold):,} mentions, "
            f"{int(rows[0].report.structures['discontiguous'].gold):,} with gaps. Trained on {facts['sentences']:,} "
            f"sentences; lambda, passes and penalty chosen on {facts['held_out_sentences']:,} others, held out from "
            "the training data. In brackets 95 % intervals. The paper's figures are of clinical notes.",
        )  # fmt: skip
        _record(result, rows)
        if table == 4:
            by_type(result, rows, gold, data)
        tested = list(compare(rows, gold, result.seed))
        tests(result, task, training, tested)
        if table == 2:
            judge(result, f"{task.name}, {training}", tested)


def _record(result: Result, rows: Sequence[Row]) -> None:
    result.data.setdefault("rows", []).extend(
        {
            "corpus": row.kept.key.corpus, "training": row.kept.key.training, "model": row.kept.key.model,
            "reading": row.reading, "parameters": row.kept.parameters, **row.kept.facts,
            "discontiguous_sentences": row.report.to_dict(),
        }
        for row in rows
    )  # fmt: skip


def tests(result: Result, task: Task, training: str, tested: Sequence[tuple[Row, Row, str, PairedTest]]) -> None:
    if not tested:
        return
    result.table(
        f"{task.name}, trained on {training}: paired tests, reading `enough`",
        ("first", "second", "mentions", "difference of F1", "95 % interval", "p"),
        [
            [
                a.kept.key.model, b.kept.key.model, what, f"{100 * test.difference:+.2f}",
                f"{100 * test.interval.low:+.2f} to {100 * test.interval.high:+.2f}", f"{test.p_value:.4f}",
            ]
            for a, b, what, test in tested
        ],
        "Approximate randomization over sentences, 10,000 samples; interval by the paired bootstrap.",
    )  # fmt: skip
    result.data.setdefault("tests", []).extend(
        {
            "corpus": task.name, "training": training, "first": a.kept.key.model, "second": b.kept.key.model,
            "mentions": what, **test.to_dict(),
        }
        for a, b, what, test in tested
    )  # fmt: skip


def judge(result: Result, where: str, tested: Iterable[tuple[Row, Row, str, PairedTest]]) -> None:
    """The targets: better than seven tags with a paired test, and `subgraphs` better than `derivations`."""
    for a, b, what, test in tested:
        if what == "all":
            pair = f"{where}: {a.kept.key.model} over {b.kept.key.model}"
            result.at_least(f"{pair}, points of F1", 100 * test.difference, 0.0)
            if b.kept.key.model == CHAIN:
                result.at_most(f"{pair}, p", test.p_value, SIGNIFICANT)


def by_type(result: Result, rows: Sequence[Row], gold: Sequence[Document], data: Data) -> None:
    """Table 4: each type, reading `enough`, on the discontiguous sentences and on all of the development data."""
    chosen = [row for row in rows if row.reading == "enough"]
    whole = [evaluate(data.dev, row.kept.predicted["enough"], bootstrap=SAMPLES, seed=result.seed) for row in chosen]
    names = [row.kept.key.model for row in chosen]
    for where, reports, sentences in (
        ("discontiguous", [row.report for row in chosen], len(gold)),
        ("all", whole, len(data.gold)),
    ):
        types = sorted({name for found in reports for name in found.types})
        lines = [(name, [found.types.get(name) for found in reports]) for name in types]
        lines.append(("all of them", [found.overall for found in reports]))
        lines.append(("with gaps, any type", [found.structures["discontiguous"] for found in reports]))
        result.table(
            f"Each type, {where} sentences of the development data: {sentences:,} (Table 4)",
            ("type", "mentions", *(f"{name} {rate}" for name in names for rate in ("P", "R", "F1"))),
            [
                [name, max(int(score.gold) for score in scores if score), *_type_cells(scores)]
                for name, scores in lines
            ],
            f"The paper's totals, for three types of disorders in clinical notes: {TABLE_4}.",
        )  # fmt: skip
        result.data.setdefault("types", {})[where] = {
            name: found.to_dict() for name, found in zip(names, reports, strict=True)
        }


def _type_cells(scores: Iterable[Score | None]) -> list[str]:
    return [
        "" if score is None else f"{100 * value:.1f}"
        for score in scores
        for value in ((score.precision, score.recall, score.f1) if score else (0, 0, 0))
    ]


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cache", required=True, type=Path, help="a folder where predictions are kept")
    parser.add_argument("--table", nargs="+", type=int, choices=(2, 4), default=[2], help="to train for [2]")
    parser.add_argument("--corpus", nargs="+", help="train on these only, such as craft")
    parser.add_argument("--training", nargs="+", choices=TRAININGS, help="train on these parts only")
    parser.add_argument("--model", nargs="+", choices=tuple(MODELS), help="train these only")
    parser.add_argument("--types", nargs="+", default=list(FEW_TYPES), help="of CRAFT, in Table 2 [GO_BP CL UBERON]")
    parser.add_argument("--again", action="store_true", help="train what is chosen again, though it is in the cache")
    parser.add_argument("--report", action="store_true", help="train nothing, only write the tables")
    parser.add_argument("--limit", type=int, help="use only so many documents of each part, to try the script")


def wanted(task: Task, table: int, key: Key, chosen: argparse.Namespace) -> bool:
    """Whether the options ask for this model to be trained."""
    return (
        not chosen.report
        and table in chosen.table
        and (chosen.corpus is None or task.corpus in chosen.corpus)
        and (chosen.training is None or key.training in chosen.training)
        and (chosen.model is None or key.model in chosen.model)
    )


def main() -> None:
    """Train what is wanted and not there yet; report all that is there."""
    chosen = options("discontiguous", __doc__, _more)
    store = Store(chosen.cache)
    result = Result("Accuracy on discontiguous mentions", chosen.seed)
    for table, its in tasks(chosen).items():
        for task in its:
            keys = [Key(task.name, training, model) for training in task.trainings for model in task.models]
            data: Data | None = None
            there = []
            for key in keys:
                parameters = parameters_of(key, task, chosen)
                found = store.has(key, parameters)
                if wanted(task, table, key, chosen) and (chosen.again or not found):
                    data = data or Data(task, chosen.data, chosen.limit)
                    train(key, data, store, parameters, _clusters(data, store))
                    found = True
                if found:
                    there.append(key)
            if there:
                report(result, table, data or Data(task, chosen.data, chosen.limit), there, store)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
