"""Prediction with an encoder: PyTorch in 32 and 16 bits, ONNX Runtime in 32 and 8 bits, side by side on one core.

    python benchmarks/encoders_onnx.py --data DATA --model FOLDER [--documents 213] [--turns 3]

The folder is that of a recognizer that was trained with an encoder on GENIA's abstracts (`genia_documents`). It is
exported three times, and each way tags the same test documents in turns, the order alternating; times are medians of
processor time of this process, which keeps to one core, from words to calibrated mentions. Tokens are those of the
documents, not sub-words. Short windows show sentences less of their neighbours, which costs F1.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import spanloom
from common import Clock, Result, Seconds, corpus, median, one_core, options, say, timed, token_count
from spanloom.document import Batch, Document
from spanloom.evaluate import calibration, evaluate, paired_test
from spanloom.recognize import Recognizer, to_onnx
from spanloom.scoring.encoder.packing import by_length
from spanloom.text import prepare

FIRST = "PyTorch, float32"
SHORT = 128  # sub-words of a short window
LOSS = 0.2  # points of F1
TARGET = 8000  # tokens a second of the fastest way


class Way(NamedTuple):
    """A way to predict: the model, seconds to load it, and the size of its files in MB."""

    model: Recognizer
    loading: Seconds
    size: float


def ways(folder: Path, scratch: Path) -> dict[str, Way]:
    """Return all ways, by name."""
    found = {}
    for precision in ("float32", "bfloat16"):
        loading, model = timed(lambda: spanloom.load(folder))  # each its own network, which has one precision
        model.model_ = model.fitted.scored_by(lambda scorer, to=precision: scorer.with_settings(precision=to))
        found[f"PyTorch, {precision}"] = Way(model, loading, _size(folder))
    for precision, window in (("float32", None), ("int8", None), ("int8", SHORT)):
        name = precision if window is None else f"{precision}, windows of {window}"
        path = scratch / name
        seconds, exported = timed(lambda to=precision, window=window: to_onnx(model, to, window))
        say(f"exported with {name} in {seconds.wall:.1f} s")
        exported.save(path)
        loading, again = timed(lambda path=path: spanloom.load(path))
        found[f"ONNX Runtime, {name}"] = Way(again, loading, _size(path))
    return found


def _size(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.iterdir()) / 1e6


def stages(model: Recognizer, documents: list[Document]) -> dict[str, float]:
    """Return the processor seconds of each stage of prediction."""
    with Clock() as preparing:
        batch = Batch.of(model.ready(documents))
    scorer: Any = model.fitted.scorer
    with Clock() as reading:
        read = scorer.read(batch)
    chosen = list(by_length(read, scorer.at_once))
    with Clock() as packing:
        packs = [scorer.pack(read, each) for each in chosen]
    with Clock() as computing:
        potentials = scorer.potentials(read)
    with Clock() as decoding:
        model.fitted.decode(potentials, batch.sentences)
    padded = sum(pack.ids.size for pack in packs) / sum(int(pack.mask.sum()) for pack in packs)
    return {
        "tokens, sentences": preparing.seconds.cpu, "sub-words, windows": reading.seconds.cpu,
        "packs": packing.seconds.cpu, "encoder": computing.seconds.cpu - packing.seconds.cpu,
        "best structures": decoding.seconds.cpu, "sub-words a token": len(read.subwords.ids) / len(batch.tokens),
        "read with padding, a sub-word": padded,
    }  # fmt: skip


def measured(found: dict[str, Way], documents: list[Document], turns: int) -> dict[str, list[Seconds]]:
    """Return the seconds of each way, which take turns."""
    seconds: dict[str, list[Seconds]] = {name: [] for name in found}
    for way in found.values():
        way.model.predict(documents[:5])  # kernels are compiled, libraries prepared
    for turn in range(turns):
        for name in list(found)[:: 1 if turn % 2 == 0 else -1]:
            spent, _ = timed(lambda name=name: found[name].model.predict(documents))
            seconds[name].append(spent)
            say(f"turn {turn + 1}, {name}: {spent.cpu:.1f} s of the processor, {spent.wall:.1f} s by the clock")
    return seconds


def main() -> None:
    """Measure, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--model", type=Path, required=True, help="the folder of a recognizer with an encoder")
        parser.add_argument("--documents", type=int, default=None, help="of the test data [all]")
        parser.add_argument("--part", choices=("dev", "test"), default="test", help="of the corpus [test]")
        parser.add_argument("--turns", type=int, default=3, help="of each way [3]")

    chosen = options("encoders_onnx", __doc__, add)
    one_core()
    gold = [prepare(document) for document in corpus(chosen.data, "genia_documents", chosen.part, chosen.documents)]
    tokens = token_count(gold)
    with tempfile.TemporaryDirectory() as scratch:
        found = ways(chosen.model, Path(scratch))
        written(found, gold, tokens, chosen)


def written(found: dict[str, Way], gold: list[Document], tokens: int, chosen: argparse.Namespace) -> None:
    """Write the record."""
    result = Result("Prediction with an encoder, with PyTorch and without", chosen.seed)
    seconds = measured(found, gold, chosen.turns)
    batch = Batch.of(found[FIRST].model.ready(gold[:20]))
    expected = found[FIRST].model.fitted.scorer.score(batch).roles
    predicted = {name: way.model.predict(gold) for name, way in found.items()}
    known = {(d, mention.key) for d, document in enumerate(predicted[FIRST]) for mention in document.mentions}
    rows, data = [], {}
    for name, way in found.items():
        report = evaluate(gold, predicted[name])
        keys = {(d, mention.key) for d, document in enumerate(predicted[name]) for mention in document.mentions}
        test = paired_test(gold, predicted[name], predicted[FIRST], seed=chosen.seed)
        difference = float(np.abs(way.model.fitted.scorer.score(batch).roles - expected).max())
        spent = median(seconds[name])
        data[name] = {
            "rate": tokens / spent.cpu, "seconds": [each._asdict() for each in seconds[name]],
            "f1": report.overall.f1, "calibration": calibration(gold, predicted[name]).error, "p": test.p_value,
            "low": test.interval.low, "high": test.interval.high, "same": len(known & keys) / max(1, len(known | keys)),
            "difference": difference, "loading": way.loading._asdict(), "size": way.size,
        }  # fmt: skip
        one = data[name]
        rows.append(
            [
                name, round(one["rate"]), f"{100 * one['f1']:.2f}",
                "" if name == FIRST else f"{100 * one['low']:+.2f} to {100 * one['high']:+.2f}, p {one['p']:.4f}",
                f"{100 * one['same']:.1f}", f"{one['difference']:.2g}", f"{100 * one['calibration']:.1f}",
                f"{way.size:.0f}", f"{way.loading.wall:.1f}",
            ]
        )  # fmt: skip
    result.table(
        "Ways to predict, one core",
        (
            "computed by", "tokens a processor second", "F1", "less the first", "mentions that are the same, %",
            "largest difference of a score", "calibration error, %", "model file, MB", "loaded in, s",
        ),
        rows,
        f"{len(gold)} documents of {tokens:,} tokens. The first loading includes the import of PyTorch.",
    )  # fmt: skip
    split = {name: stages(way.model, gold) for name, way in found.items()}
    result.table(
        "Where the time goes, processor seconds", ("computed by", *split[FIRST]),
        [[name, *each.values()] for name, each in split.items()],
    )  # fmt: skip
    cost = {name: 100 * (data[FIRST]["f1"] - one["f1"]) for name, one in data.items()}
    best = max(one["rate"] for name, one in data.items() if cost[name] <= LOSS)
    result.at_least(f"tokens a processor second of the fastest way that costs at most {LOSS} of F1", best, TARGET)
    exact = data["ONNX Runtime, float32"]["difference"]
    result.at_most("largest difference of a score between the libraries, 32 bits", exact, 1e-3)
    for name in list(data)[-2:]:
        result.at_most(f"{name}: F1 that it costs", cost[name], LOSS)
    result.data = {"ways": data, "stages": split, "tokens": tokens}
    result.save(chosen.out)


if __name__ == "__main__":
    main()
