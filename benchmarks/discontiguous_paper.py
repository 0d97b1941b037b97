"""Discontiguous mentions as Muis and Lu (2016) train and measure: their Table 2, and the rows of Table 4.

    python benchmarks/discontiguous_paper.py --data DATA --cache CACHE
    python benchmarks/discontiguous_paper.py --data DATA --cache CACHE --training all --model seven_tag

Where `discontiguous.py` has our own settings, this has the paper's: the features of its section 5.2 (preset
`clinical`) with all prefixes of 1,000 Brown clusters of the text of all parts, the optimum of the likelihood (by
L-BFGS, until its stopping rule ends it; the paper names no optimizer), lambda from 0.125, 0.25, 0.5, 1 and 2 by F1 on
development data with the reading `enough`, and no mention penalty. SHARED and SPLIT have at most three components,
and are counted by `derivations`, as in the paper, and by `subgraphs`.

The paper's two sizes are two splits of one corpus of clinical notes that is not free. What stands in for them:

- GENIA with resolved conjuncts, five types. LARGE: the three parts of the corpus. SMALL, as in the paper: a fifth of
  the training articles, drawn by the seed, to choose lambda; the others to train on; the development part to test.
- CRAFT with GO_BP, CL and UBERON, of which two parts are free. LARGE: a tenth of the training articles to choose
  lambda, the others to train on, the development part to test. SMALL: of what LARGE trains on a fifth to choose
  lambda, the others to train on; the same test.

Not in these corpora, and so not among the features: types and sections of notes, semantic categories of words.

Predictions are kept in CACHE, as `discontiguous.py` keeps them. The tables are of all that is there, and of what the
record has besides, each with the commit that it was trained on; two models are compared where CACHE has both.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from common import Result, options, save_clusters
from discontiguous import CHAIN, FEW_TYPES, MODELS, TABLE_2, TRAININGS, Row, rows_of, train
from gapped import Data, Task, chosen, hold_out, only_gaps
from kept import Key, Store
from spanloom.document import Document
from spanloom.evaluate import PairedTest, exact, paired_test
from spanloom.structures import READINGS

PARAMETERS: dict[str, Any] = {
    "features": "clinical",
    "components": 3,
    "optimizer": "lbfgs",
    "l2": (0.125, 0.25, 0.5, 1.0, 2.0),
    "iterations": 2000,
    "tune_penalty": False,
}
CLUSTERS = 1000
SIZES = ("LARGE", "SMALL")
FIFTH, TENTH = 0.2, 0.1
CORPORA = {"craft": FEW_TYPES, "genia_discontiguous": None}
PAIRS = (  # the better one of the paper first
    ("shared_derivations", CHAIN),
    ("split_derivations", CHAIN),
    ("shared_subgraphs", CHAIN),
    ("split_subgraphs", CHAIN),
    ("shared_subgraphs", "shared_derivations"),
    ("split_subgraphs", "split_derivations"),
)
# precision, recall and F1 of Table 2, SMALL; LARGE is in `discontiguous.py`
SMALL = {
    ("disc", "seven_tag", "enough"): "59.7 / 39.8 / 47.8",
    ("disc", "seven_tag", "all"): "16.6 / 43.5 / 24.1",
    ("disc", "shared", "enough"): "85.9 / 39.7 / 54.3",
    ("disc", "shared", "all"): "85.9 / 39.7 / 54.3",
    ("disc", "split", "enough"): "86.7 / 37.8 / 52.7",
    ("disc", "split", "all"): "86.7 / 37.8 / 52.7",
    ("all", "seven_tag", "enough"): "71.0 / 45.8 / 55.7",
    ("all", "seven_tag", "all"): "55.5 / 49.2 / 52.2",
    ("all", "shared", "enough"): "82.2 / 48.0 / 60.6",
    ("all", "shared", "all"): "82.2 / 48.0 / 60.6",
    ("all", "split", "enough"): "82.5 / 48.0 / 60.7",
    ("all", "split", "all"): "82.5 / 48.0 / 60.7",
}
PAPER = {"SMALL": SMALL, "LARGE": TABLE_2}
# supplement, Table 2
LAMBDA = {
    ("SMALL", "disc", "seven_tag"): 0.25, ("SMALL", "disc", "shared"): 0.5, ("SMALL", "disc", "split"): 2.0,
    ("SMALL", "all", "seven_tag"): 0.125, ("SMALL", "all", "shared"): 0.125, ("SMALL", "all", "split"): 0.125,
    ("LARGE", "disc", "seven_tag"): 0.125, ("LARGE", "disc", "shared"): 0.125, ("LARGE", "disc", "split"): 0.5,
    ("LARGE", "all", "seven_tag"): 0.25, ("LARGE", "all", "shared"): 0.125, ("LARGE", "all", "split"): 0.25,
}  # fmt: skip
ROWS = ("corpus", "size", "training", "model", "reading")  # what names a row of the record
TESTS = ("corpus", "size", "training", "first", "second", "mentions")  # and a test of it
COLUMNS = (
    "model", "reading", "P", "R", "F1", "gaps alone: P", "R", "F1", "paper P / R / F1", "mentions", "with gaps",
    "held-out F1", "lambda", "paper's lambda", "iterations", "lost in training", "seconds", "commit",
)  # fmt: skip


class Split(Data):
    """A corpus in one of the paper's sizes."""

    def __init__(self, name: str, size: str, folder: Path, limit: int | None) -> None:
        self.size = size
        self.three_parts = name == "genia_discontiguous"
        tested = "test" if self.three_parts and size == "LARGE" else "dev"
        task = Task(f"{name}-{size}", name, CORPORA[name], TRAININGS, tuple(MODELS))
        super().__init__(task, folder, limit, tested)

    def training(self, name: str, seed: int) -> tuple[list[Document], list[Document]]:
        """What a model is trained on, and what its lambda is chosen on."""
        rest, held = self.train, None
        if not self.three_parts:
            rest, held = hold_out(rest, TENTH, seed)
        if self.size == "SMALL":
            rest, held = hold_out(rest, FIFTH, seed)
        return chosen(rest, name), chosen(held if held is not None else self.read("dev"), name)

    def clusters(self, store: Store) -> str:
        """The file of Brown clusters of the text of all parts."""
        path = store.folder / self.task.corpus / f"limit-{self.limit}" / f"{CLUSTERS}.paths"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            parts = ("train", "dev", "test") if self.three_parts else ("train", "dev")
            save_clusters([document for part in parts for document in self.read(part)], CLUSTERS, path.parent)
        return str(path)


def parameters_of(key: Key, data: Split, seed: int) -> dict[str, Any]:
    """Everything that a model's predictions depend on, but the program."""
    return {
        **PARAMETERS, **MODELS[key.model], "clusters": CLUSTERS, "types": data.task.types, "random_state": seed,
        "limit": data.limit,
    }  # fmt: skip


def update(record: dict[str, Any], data: Split, training: str, keys: Sequence[Key], store: Store, seed: int) -> None:
    """Put what the cache has of a part into the record, in place of what stood there of the same models."""
    gold = data.discontiguous(data.dev)
    rows = rows_of(keys, data, store, seed)
    place = {"corpus": data.task.corpus, "size": data.size, "training": training}
    for row in rows:
        record["rows", *place.values(), row.kept.key.model, row.reading] = {
            **place, "model": row.kept.key.model, "reading": row.reading, "parameters": row.kept.parameters,
            **row.kept.facts, "evaluated_sentences": len(gold), "discontiguous_sentences": row.report.to_dict(),
        }  # fmt: skip
    for first, second, what, test in compare(rows, gold, seed):
        pair = {"first": first.kept.key.model, "second": second.kept.key.model, "mentions": what}
        record["tests", *place.values(), *pair.values()] = {**place, **pair, **test.to_dict()}


def compare(rows: Sequence[Row], gold: Sequence[Document], seed: int) -> Iterator[tuple[Row, Row, str, PairedTest]]:
    """Paired tests between models that are both there, reading `enough`; of all mentions, and of those with gaps."""
    by_name = {row.kept.key.model: row for row in rows if row.reading == "enough"}
    for first, second in PAIRS:
        if first in by_name and second in by_name:
            a, b = by_name[first], by_name[second]
            for what, key in (("all", exact), ("with gaps", only_gaps)):
                yield a, b, what, paired_test(gold, a.predicted, b.predicted, seed=seed, key=key)


def read_record(path: Path) -> dict[str, Any]:
    """The rows and tests of an earlier record, by what names them; none where there is no record."""
    if not path.exists():
        return {}
    data = json.loads(path.read_text(encoding="utf-8"))["data"]
    return {
        (kind, *(one[name] for name in names)): one
        for kind, names in (("rows", ROWS), ("tests", TESTS))
        for one in data[kind]
    }


def written(record: Mapping[Any, Any], wanted: argparse.Namespace) -> None:
    """Write the record: for each part a table, its tests, and the rows by type."""
    result = Result("Discontiguous mentions as in Muis and Lu (2016)", wanted.seed)
    for name in CORPORA:
        for size in SIZES:
            for training in TRAININGS:
                place = (name, size, training)
                rows = [
                    row
                    for model in MODELS
                    for reading in READINGS
                    if (row := record.get(("rows", *place, model, reading))) is not None
                ]
                pairs = [
                    test
                    for pair in PAIRS
                    for what in ("all", "with gaps")
                    if (test := record.get(("tests", *place, *pair, what))) is not None
                ]
                if rows:
                    tell(result, rows, pairs)
    result.save(wanted.out)


def tell(result: Result, rows: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]) -> None:
    """The table of a part, its tests, and the rows by type."""
    one, whole = rows[0], rows[0]["discontiguous_sentences"]
    kind = {"disc": "discontiguous", "all": "all"}[one["training"]]
    title = f"{one['corpus']}, {one['size']}, trained on {kind} sentences"
    result.table(
        title, COLUMNS, map(cells, rows),
        f"Evaluated on {one['evaluated_sentences']:,} discontiguous sentences, {whole['overall']['gold']:,} mentions, "
        f"{whole['structures']['discontiguous']['gold']:,} with gaps. Trained on {one['sentences']:,} sentences; "
        f"lambda chosen on {one['held_out_sentences']:,} others. No mention penalty. In brackets 95 % intervals. The "
        "paper's figures are of clinical notes with one type.",
    )  # fmt: skip
    enough = [row for row in rows if row["reading"] == "enough"]
    for row in enough:
        claim = f"{title}, {row['model']}: iterations until L-BFGS stopped by its rule"
        result.at_most(claim, row["steps"], PARAMETERS["iterations"] - 1)
    if pairs:
        tests(result, title, pairs)
    by_type(result, title, enough)
    result.data.setdefault("rows", []).extend(rows)
    result.data.setdefault("tests", []).extend(pairs)


def cells(row: Mapping[str, Any]) -> list[Any]:
    """A row of the table with `COLUMNS`."""
    structure = MODELS[row["model"]]["structure"]
    found = row["discontiguous_sentences"]
    whole, gaps = found["overall"], found["structures"]["discontiguous"]
    return [
        row["model"], row["reading"], *rates(whole), *rates(gaps),
        PAPER[row["size"]][row["training"], structure, row["reading"]], whole["predicted"], gaps["predicted"],
        f"{100 * row['held_out_f1']:.1f}", f"{row['lambda']:g}",
        f"{LAMBDA[row['size'], row['training'], structure]:g}", row["steps"], sum(row["lost"].values()),
        f"{row['seconds']['wall']:.0f}", row["commit"],
    ]  # fmt: skip


def rates(score: Mapping[str, Any]) -> list[str]:
    """Precision, recall and F1 in percent, each with its interval."""
    return [
        f"{100 * score[name]:.1f} ({100 * low:.1f} to {100 * high:.1f})"
        for name, (low, high) in score["intervals"].items()
    ]


def tests(result: Result, title: str, pairs: Sequence[Mapping[str, Any]]) -> None:
    """The paired tests of a part."""
    result.table(
        f"{title}: paired tests, reading `enough`",
        ("first", "second", "mentions", "difference of F1", "95 % interval", "p"),
        [
            [
                test["first"], test["second"], test["mentions"], f"{100 * test['difference']:+.2f}",
                " to ".join(f"{100 * end:+.2f}" for end in test["interval"]), f"{test['p_value']:.4f}",
            ]
            for test in pairs
        ],
        "Approximate randomization over sentences, 10,000 samples; interval by the paired bootstrap.",
    )  # fmt: skip


def by_type(result: Result, title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """The rows of Table 4: each type, reading `enough`."""
    types = [row["discontiguous_sentences"]["types"] for row in rows]
    result.table(
        f"{title}: each type, reading `enough`",
        ("type", "mentions", *(f"{row['model']} P / R / F1" for row in rows)),
        [[name, types[0][name]["gold"], *(triple(own[name]) for own in types)] for name in sorted(types[0])],
    )


def triple(score: Mapping[str, Any]) -> str:
    """Precision, recall and F1 in percent."""
    return " / ".join(f"{100 * score[name]:.1f}" for name in ("precision", "recall", "f1"))


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cache", required=True, type=Path, help="a folder where predictions are kept")
    parser.add_argument("--corpus", nargs="+", choices=tuple(CORPORA), default=list(CORPORA), help="train on these")
    parser.add_argument("--size", nargs="+", choices=SIZES, default=list(SIZES), help="train these sizes")
    parser.add_argument(
        "--training", nargs="+", choices=TRAININGS, default=list(TRAININGS), help="train on these parts"
    )
    parser.add_argument("--model", nargs="+", choices=tuple(MODELS), default=list(MODELS), help="train these")
    parser.add_argument("--report", action="store_true", help="train nothing, only write the tables")
    parser.add_argument("--limit", type=int, help="use only so many documents of each part, to try the script")


def main() -> None:
    """Train what is wanted and not there yet; report all that is there."""
    wanted = options("discontiguous_paper", __doc__, _more)
    store, record = Store(wanted.cache), read_record(wanted.out)
    for name in CORPORA:
        for size in SIZES:
            data = Split(name, size, wanted.data, wanted.limit)
            for training in TRAININGS:
                there = []
                for model in MODELS:
                    key = Key(data.task.name, training, model)
                    parameters = parameters_of(key, data, wanted.seed)
                    found = store.has(key, parameters)
                    asked = name in wanted.corpus and size in wanted.size and training in wanted.training
                    if asked and model in wanted.model and not found and not wanted.report:
                        train(key, data, store, parameters, data.clusters(store))
                        found = True
                    if found:
                        there.append(key)
                if there:
                    update(record, data, training, there, store, wanted.seed)
    written(record, wanted)


if __name__ == "__main__":
    main()
