"""What the second stage is worth: each model with it and without it, trained once.

    python benchmarks/second_stage.py --data DATA --cache FOLDER [--only "GENIA abstracts, separators"]

lambda of the first stage is 1, or that of segmenters, which development F1 chooses; all else is chosen on development
data, and what is shown was looked at once. The model without the second stage is the same model with its tuned mention
penalty. Of CRAFT and of GENIA with conjuncts the sentences with a discontiguous mention are shown, as in
`discontiguous.py`: CRAFT's are those of its development part, and a tenth of the training articles is held out to tune
on. With clusters, these are the ones of word vectors that `rawtext.py` recommends, of raw text without the corpus' own
development and test documents.

A calibration error of ten bins is above 0 even where every probability is right, since of few predictions not exactly
the expected share is right. The record gives that floor beside it: the mean error of outcomes that are drawn with the
model's own probabilities.

*All on* is what development F1 chose for texts on diseases: these clusters, two passes, parts of speech by a tagger
that is trained on GENIA, and names of MEDIC as the column `category`. NCBI Disease is shown with its four types and, as
papers do, with one. Of UNER Chinese a segmenter with its default settings finds words, too.

Cases are kept in the record: with --only, others stay as they are, with the commit that they were run on.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from common import Clock, Result, commit, corpus, options, run_cases, timed, token_count
from gapped import Data, Task, only_gaps
from rawtext import vectors_of
from segmentation import sentences
from spanloom.document import Document
from spanloom.evaluate import KEYS, calibration, evaluate, paired_test
from spanloom.evaluate.compare import compare, exact
from spanloom.evaluate.measures import calibration_error
from spanloom.evaluate.units import units
from spanloom.features import PRESETS
from spanloom.formats import read
from spanloom.recognize import Recognizer
from spanloom.segment import Segmenter
from spanloom.tag.pos_tagger import PosTagger
from spanloom.text import prepare
from spanloom_lab.comparison import Parts

CATEGORIES = ("category[-1..1]", "category[-1]|category[0]", "category[0]|category[1]")
LENGTHS = (1, 2, 3, 4, 6)  # tokens, from which on a column of the table counts


class Case(NamedTuple):
    """A model on a corpus.

    Args:
        name: in the tables.
        load: the parts of the corpus.
        params: of the recognizer.
        match: what makes a mention right, a key of `KEYS`.
        targets: what F1, and F1 of mentions with gaps, are to be at least.
        data: where only sentences with gaps are shown.
        clusters: a corpus of `rawtext.py`, whose clusters are used.
        all_on: whether names of diseases, parts of speech and a second pass are, too.
        segmenter: whether the model finds words, too.
    """

    name: str
    load: Callable[[], Parts]
    params: dict[str, Any]
    match: str = "exact"
    targets: tuple[float | None, float | None] = (None, None)
    data: Data | None = None
    clusters: str | None = None
    all_on: bool = False
    segmenter: bool = False


def cases(folder: Path, seed: int) -> Iterator[Case]:
    """Yield all cases."""

    def standard(name: str) -> Parts:
        return Parts(*(corpus(folder, name, part) for part in ("train", "dev", "test")))

    def bc5cdr() -> Parts:
        names = ("Training", "Development", "Test")
        return Parts(*(list(read(folder / "bc5cdr" / f"CDR_{n}Set.BioC.xml")) for n in names))

    def ncbi() -> Parts:
        names = ("train", "develop", "test")
        paths = (folder / "ncbi_disease" / f"NCBI{name}set_corpus.txt" for name in names)
        return Parts(*(list(read(path, format="pubtator")) for path in paths))

    flat, heads = {"structure": "separators"}, {"structure": "heads", "headless": "whole"}
    yield Case("GENIA abstracts, separators", lambda: standard("genia_documents"), flat, targets=(74.5, None))
    yield Case("GUM, separators", lambda: standard("gum"), flat, targets=(57.0, None))
    yield Case("GUM, heads", lambda: standard("gum"), heads, "heads", (53.0, None))
    yield Case("BC5CDR, separators", bc5cdr, flat)
    yield Case("NCBI Disease, separators", ncbi, flat)
    yield Case("GENIA abstracts, clusters", lambda: standard("genia_documents"), flat, clusters="genia")
    yield Case("GUM, clusters", lambda: standard("gum"), flat, clusters="gum")
    yield Case("BC5CDR, clusters", bc5cdr, flat, clusters="bc5cdr")
    yield Case("BC5CDR, all on", bc5cdr, flat, targets=(86.0, None), clusters="bc5cdr", all_on=True)
    yield Case("NCBI Disease, clusters", ncbi, flat, clusters="ncbi_disease")

    def ncbi_as_one() -> Parts:
        return Parts(*([_as_one(document) for document in part] for part in ncbi()))

    yield Case("NCBI Disease as one type", ncbi_as_one, flat)
    yield Case(
        "NCBI Disease as one type, all on", ncbi_as_one, flat, targets=(85.0, None), clusters="ncbi_disease",
        all_on=True,
    )  # fmt: skip

    def uner() -> Parts:
        return Parts(**sentences("uner_zh", folder))

    yield Case("UNER Chinese, segmenter", uner, {"rescore": True}, segmenter=True)
    for name, place, goals in (
        ("CRAFT", "craft", {"all": (61.0, 35.0), "disc": (55.0, 40.0)}),
        ("GENIA with conjuncts", "genia_discontiguous_documents", {"all": (None, None), "disc": (65.0, 45.0)}),
    ):  # fmt: skip
        tested = "dev" if place == "craft" else "test"
        types = ("GO_BP", "CL", "UBERON") if place == "craft" else None
        for training, targets in goals.items():
            task = Task(name, place, types, (training,), ("split",))

            def load(task: Task = task, training: str = training, tested: str = tested) -> Parts:
                data = Data(task, folder, None, tested)
                return Parts(*data.training(training, seed), data.dev)

            yield Case(
                f"{name}, split, trained on {training}", load, {"structure": "split"}, "exact", targets,
                Data(task, folder, None, tested),
            )  # fmt: skip


def _as_one(document: Document) -> Document:
    return document.copy(mentions=[mention.replace(type="Disease") for mention in document.mentions])


def _params(case: Case, chosen: Any) -> dict[str, Any]:
    """Return the parameters of a case's model."""
    found: dict[str, Any] = {"l2": None if case.segmenter else 1.0, "random_state": chosen.seed, **case.params}
    if case.clusters is not None:
        found["clusters"] = str(vectors_of(chosen.data, case.clusters, chosen.cache))
    if case.all_on:
        tagger = chosen.cache / "tagger"
        if not tagger.exists():
            train = corpus(chosen.data, "genia_documents", "train")
            PosTagger(column="pos", epochs=5, random_state=chosen.seed).fit(train).save(tagger)
        names = chosen.data / "bc5cdr" / "CTD_diseases.xml"
        features = [*PRESETS["biomedical"], *CATEGORIES]
        found |= {"passes": "two", "pos": str(tagger), "vocabulary": str(names), "features": features}
    return found


def measured(case: Case, chosen: Any) -> dict[str, Any]:
    """Train a model, and measure it with the second stage and without."""
    parts, seed = case.load(), chosen.seed
    model = (Segmenter if case.segmenter else Recognizer)(**_params(case, chosen))
    seconds, _ = timed(lambda: model.fit(parts.train, dev=parts.dev))
    first = copy(model)
    first.second_ = None
    gold = [prepare(document) for document in parts.test]
    found: dict[str, Any] = {"commit": commit(), "train seconds": seconds, "tokens": token_count(gold)}
    found["rescoring"] = None if (told := model.report_.rescoring) is None else told.__dict__
    predictions = {}
    for way, one in (("first", first), ("both", model)):
        one.predict(gold[:2])
        with Clock() as clock:
            predicted = one.predict(gold)
        rate = found["tokens"] / clock.seconds.cpu
        expected, shown = compared(case, gold, predicted)
        report = evaluate(expected, shown, match=case.match, seed=seed)
        found[way] = {
            "overall": report.overall.to_dict() if hasattr(report.overall, "to_dict") else report.overall.__dict__,
            "gaps": gap_f1(expected, shown), "rate": rate,
            "calibration": calibration(gold, predicted, key=KEYS[case.match]).error,
            "floor": _floor(predicted, seed), **_recalls(parts.train, expected, shown),
        }  # fmt: skip
        predictions[way] = shown
    test = paired_test(expected, predictions["both"], predictions["first"], seed=seed, key=KEYS[case.match])
    return found | {"paired": test.to_dict()}


def compared(
    case: Case, gold: Sequence[Document], predicted: Sequence[Document]
) -> tuple[Sequence[Document], Sequence[Document]]:
    """Return what is wanted and what was found: all of it, or of the sentences with gaps, each as a document."""
    if case.data is None:
        return gold, predicted
    expected = [part for part, gap in zip(case.data.gold, case.data.gaps, strict=True) if gap]
    return expected, case.data.discontiguous(predicted)


def gap_f1(expected: Sequence[Document], shown: Sequence[Document]) -> float:
    """Return F1 of the mentions with gaps."""
    return _f1(compare(expected, shown, units(expected, shown), only_gaps))


def _floor(predicted: Sequence[Document], seed: int) -> float:
    """Return the calibration error to expect of scores that are all right."""
    scores = np.array([mention.score for document in predicted for mention in document.mentions], np.float64)
    random = np.random.default_rng(seed)
    return float(np.mean([calibration_error(scores, random.random(len(scores)) < scores) for _ in range(100)]))


def _f1(compared: Any) -> float:
    hits, total = int(compared.gold.hit.sum()), len(compared.gold.hit) + len(compared.predicted.hit)
    return 2 * hits / max(1, total)


def _recalls(train: Sequence[Document], gold: Sequence[Document], predicted: Sequence[Document]) -> dict[str, Any]:
    """Return recall by length and by whether training has a mention of this text."""
    seen = {mention.text(document.text).lower() for document in train for mention in document.mentions}
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for expected, found in zip(gold, predicted, strict=True):
        keys = {key for key, _ in exact(found)}
        for key, mention in exact(expected):
            words = len(mention.text(expected.text).split())
            length = max(size for size in LENGTHS if size <= max(1, words))
            for name in (f"{length} words", "seen" if mention.text(expected.text).lower() in seen else "unseen"):
                total[name] += 1
                right[name] += key in keys
    return {"recall": {name: (right[name] / count, count) for name, count in sorted(total.items())}}


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--cache", type=Path, required=True, help="a folder for clusters")
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")

    chosen = options("second_stage", __doc__, add)
    chosen.cache.mkdir(parents=True, exist_ok=True)
    every = list(cases(chosen.data, chosen.seed))
    run_cases(chosen, every, lambda case: measured(case, chosen), lambda kept: written(every, kept, chosen))


def written(every: Sequence[Case], kept: dict[str, Any], chosen: Any) -> None:
    """Write the record of the cases that have been run."""
    result = Result("Mentions scored as wholes: the second stage", chosen.seed)
    run = [case for case in every if case.name in kept]
    rows = []
    for case in run:
        one = kept[case.name]
        first, both = one["first"], one["both"]
        rows.append(
            [
                case.name, *(f"{100 * way['overall']['f1']:.1f}" for way in (first, both)),
                f"{100 * one['paired']['difference']:+.2f}", f"{one['paired']['p_value']:.4f}",
                *(f"{100 * way['gaps']:.1f}" if case.data else "" for way in (first, both)),
                *(f"{100 * way['calibration']:.1f}" for way in (first, both)),
                f"{100 * both['floor']:.1f}" if "floor" in both else "",
                *(round(way["rate"]) for way in (first, both)),
                round(one["train seconds"][1]), one["commit"],
            ]
        )  # fmt: skip
        goal, goal_of_gaps = case.targets
        if goal is not None:
            result.at_least(f"{case.name}: F1", 100 * both["overall"]["f1"], goal)
        if case.segmenter:
            result.at_least(f"{case.name}: F1, more than without", 100 * one["paired"]["difference"], 1.5)
        if goal_of_gaps is not None:
            result.at_least(f"{case.name}: F1 of mentions with gaps", 100 * both["gaps"], goal_of_gaps)
        result.at_most(f"{case.name}: calibration error, %", 100 * both["calibration"], 1.5)
    result.table(
        "With the second stage and without",
        (
            "model", "F1 without", "with", "difference", "p", "F1 of gaps, without", "with",
            "calibration error %, without", "with", "floor", "tokens a processor second, without", "with",
            "training, processor seconds", "commit",
        ),
        rows,
        "p by approximate randomization over sentences. The rate is that of `predict`, features included; documents "
        "have tokens and parts of speech as the corpus has them, or are given them before.",
    )  # fmt: skip
    result.table(
        "Recall by length and by whether training has a mention with the text",
        ("model", "mentions", "share of gold", "without", "with"),
        [
            [case.name, name, count, f"{100 * kept[case.name]['first']['recall'][name][0]:.1f}", f"{100 * share:.1f}"]
            for case in run
            for name, (share, count) in kept[case.name]["both"]["recall"].items()
        ],
    )
    result.data["cases"] = kept
    result.save(chosen.out)


if __name__ == "__main__":
    main()
