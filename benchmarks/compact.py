"""Compact models: size, F1 and calibration error before and after.

    python benchmarks/compact.py --data DATA [--only "genia, preset fast"] [--limit 400]

Each model is trained on training data and tuned on development data. It is then made compact by
`spanloom.recognize.compact` with its defaults: the threshold is the largest one tried that loses at most 0.3 points of
F1 on development data.
Test data (of CRAFT its development articles) are looked at when all is chosen. Sizes are those of the two files. GENIA
in sentences with its tokens and five types, with the lambda of the record `genia.py`; parts of speech come from the
model's own tagger, in development and test data, too. BC5CDR and CRAFT as text without tokens; of CRAFT a tenth of the
training articles, drawn by the seed, is the development data.

Cases are kept in the record: with --only, others stay as they are, with the commit that they were run on.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from common import Result, commit, corpus, options, run_cases, say
from spanloom import load, read
from spanloom.document import Document
from spanloom.evaluate import calibration, evaluate
from spanloom.recognize import Recognizer, compact
from spanloom.text import prepare

BC5CDR = {"train": "CDR_TrainingSet", "dev": "CDR_DevelopmentSet", "test": "CDR_TestSet"}


class Case(NamedTuple):
    """A model.

    Args:
        name: in the table.
        place: folder of its corpus.
        params: of the recognizer.
    """

    name: str
    place: str
    params: dict[str, Any]


def cases() -> Iterator[Case]:
    """Yield all cases."""
    for preset, l2 in (("genia", 5.0), ("fast", 1.0)):
        for stage, rescore in (("", False), (", second stage", True)):
            yield Case(f"genia, preset {preset}{stage}", "genia", {"features": preset, "l2": l2, "rescore": rescore})
    yield Case("bc5cdr, preset fast, second stage", "bc5cdr", {"features": "fast", "l2": 1.0})
    yield Case("craft, shared, preset fast", "craft", {
        "structure": "shared", "features": "fast", "l2": 1.0, "rescore": False,
    })  # fmt: skip


def parts(case: Case, chosen: Any) -> list[list[Document]]:
    """Return training, development and test data."""
    if case.place == "genia":
        names = ("train", "dev", "test")
        train, dev, test = (corpus(chosen.data, "genia", name, chosen.limit) for name in names)
        return [train, _untagged(dev), _untagged(test)]
    if case.place == "bc5cdr":
        files = [chosen.data / "bc5cdr" / f"{name}.BioC.xml" for name in BC5CDR.values()]
        return [_bare(read(file))[: chosen.limit] for file in files]
    articles, test = _bare(corpus(chosen.data, "craft", "train")), _bare(corpus(chosen.data, "craft", "dev"))
    order = np.random.default_rng(chosen.seed).permutation(len(articles)).tolist()[: chosen.limit]
    cut = max(1, len(order) // 10)
    return [[articles[i] for i in order[cut:]], [articles[i] for i in order[:cut]], test[: chosen.limit]]


def _untagged(documents: Sequence[Document]) -> list[Document]:
    return [document.copy(columns={}) for document in documents]


def _bare(documents: Any) -> list[Document]:
    return [prepare(Document(one.text, id=one.id, mentions=one.mentions)) for one in documents]


def measured(case: Case, chosen: Any) -> dict[str, Any]:
    """Train a model, make it compact, and compare."""
    train, dev, test = parts(case, chosen)
    model = Recognizer(**case.params, random_state=chosen.seed, n_jobs=chosen.jobs)
    model.fit(train, dev=dev)
    small = compact(model, dev=dev, progress=lambda step: say(step.stage, step.dev_f1))
    told = small.report_.compact
    with tempfile.TemporaryDirectory() as folder:
        rows = [_row(one, Path(folder) / name, test) for name, one in (("before", model), ("after", small))]
    dev_f1 = [told.f1_before, told.f1_after]
    both = [{**row, "dev_f1": f1} for row, f1 in zip(rows, dev_f1, strict=True)]
    return {"commit": commit(), "threshold": told.threshold, "rows": both, "documents": len(train)}


def _row(model: Recognizer, path: Path, test: Sequence[Document]) -> dict[str, Any]:
    """Save a model, load it, and predict."""
    model.save(path)
    loaded: Any = load(path)
    found = loaded.predict(test)
    report = evaluate(test, found)
    return {
        "megabytes": sum(file.stat().st_size for file in path.iterdir()) / 1e6,
        "rows": len(loaded.fitted.scorer.index), "f1": report.overall.f1,
        "error": calibration(test, found).error,
    }  # fmt: skip


def written(kept: dict[str, Any], chosen: Any) -> None:
    """Write the record of the cases that have been run."""
    result = Result("Compact models", chosen.seed)
    rows = []
    for case in cases():
        if case.name not in kept:
            continue
        one = kept[case.name]
        for when, row in zip(("before", "after"), one["rows"], strict=True):
            rows.append(
                [
                    case.name, when, f"{row['megabytes']:.2f}", row["rows"], f"{100 * row['dev_f1']:.2f}",
                    f"{100 * row['f1']:.2f}", f"{100 * row['error']:.1f}",
                    one["threshold"] if when == "after" else None, one["commit"],
                ]
            )  # fmt: skip
        before, after = one["rows"]
        if case.place == "genia":
            result.at_most(f"{case.name}: megabytes", after["megabytes"], 8)
        result.at_most(f"{case.name}: points of test F1 lost", 100 * (before["f1"] - after["f1"]), 0.3)
    result.table(
        "Before and after",
        (
            "model", "", "MB", "rows of weights", "dev F1", "test F1", "calibration error %", "threshold", "commit",
        ),
        rows,
    )  # fmt: skip
    result.data["cases"] = kept
    result.save(chosen.out)


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")
        parser.add_argument("--limit", type=int, help="documents of each part, the first ones [all]")
        parser.add_argument("--jobs", type=int, default=1, help="threads [1]")

    chosen = options("compact", __doc__, add)
    run_cases(chosen, cases(), lambda case: measured(case, chosen), lambda kept: written(kept, chosen))


if __name__ == "__main__":
    main()
