"""How time grows: with the length of sentences, and with the number of types.

    python benchmarks/growth.py --data DATA

GENIA's own tokens, cut again into sentences of 10 to 2,000 tokens: time per token must not change. And GENIA's
mentions, their types split at random into 1 to 64, as paper 003 (Lu and Roth 2015, section 4.1.1, Table 3) does:
separators and the mention hypergraph grow linearly, a linear chain with its square. One core; times are medians.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from common import Result, Seconds, corpus, median, one_core, options, say, timed, token_count
from spanloom.document import Batch, Document, Mention, Span
from spanloom.features import FeatureSet, available_columns, build_index
from spanloom.hypergraph import ENGINES
from spanloom.learn import EdgeTarget, Objective, TrainingSet, adagrad
from spanloom.model.corpus import Gold
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.scoring import LinearScorer, Weights
from spanloom.structures import STRUCTURES, MentionTable

LENGTHS = (10, 30, 100, 300, 1000, 2000)
TYPES = (1, 2, 4, 8, 16, 32, 64)
COUNTING = {"separators": "subgraphs", "mention_hypergraph": "derivations", "bilou": "subgraphs"}
BATCH_TOKENS = 2000  # of an AdaGrad step, the same for all lengths
L2, RATE = 1.0, 0.05
FLAT = 1.25
ASYMPTOTIC = 8  # slopes are fitted from so many types on, where what does not depend on types weighs little


@dataclass(frozen=True)
class Model:
    """A corpus with a trained tagger."""

    tagger: LinearModel
    data: TrainingSet
    weights: Weights

    @property
    def size(self) -> int:
        """The number of weights."""
        return self.weights.features.size + self.weights.constants.size


def joined(documents: Sequence[Document]) -> Document:
    """One document of one sentence."""
    texts, tokens, pos, mentions, at = [], [], [], [], 0
    for document in documents:
        texts.append(document.text)
        if document.tokens is not None:
            tokens.append(document.tokens + at)
        pos += document.columns["pos"]
        mentions += [Mention(m.type, tuple(Span(s.start + at, s.end + at) for s in m.spans)) for m in document.mentions]
        at += len(document.text) + 1
    whole = np.concatenate(tokens)
    return Document(" ".join(texts), "all", whole, np.array([[0, len(whole)]]), {"pos": pos}, mentions)


def cut(document: Document, length: int) -> Document:
    """The same tokens in sentences of this length."""
    size = token_count([document])
    first = np.arange(0, size, length)
    return document.copy(sentences=np.stack([first, np.minimum(first + length, size)], 1))


def train(name: str, documents: Sequence[Document], types: Sequence[str], batch: int, seed: int) -> Model:
    """One pass of AdaGrad: weights that look like weights, for time does not depend on them otherwise."""
    structure = STRUCTURES[name]
    features = FeatureSet.preset("genia", available=available_columns(documents))
    known = Batch.of(documents)
    built = build_index(features.keys(known))
    engine = ENGINES[COUNTING[name]](structure.template(types))
    edges = structure.encode(Gold(known, types).table, known.sentences, types).edges
    data = TrainingSet(
        engine,
        built.matrix,
        known.sentences,
        EdgeTarget(engine, known.sentences, edges),
        built.index.group_sizes,
        built.counts,
    )
    weights = adagrad(data, l2=L2, epochs=1, rate=RATE, batch=batch, seed=seed)
    single = data.single(weights)
    scorer = LinearScorer(features, built.index, single)
    return Model(StructuredModel.build(structure, COUNTING[name], types, scorer), data, weights)


def tag_seconds(model: Model, documents: Sequence[Document], repeats: int) -> Seconds:
    """Seconds of tagging, features included."""

    def run() -> MentionTable:
        batch = Batch.of(documents)
        return model.tagger.decode(model.tagger.scorer.score(batch), batch.sentences)

    run()
    return median(timed(run)[0] for _ in range(repeats))


def objective_seconds(model: Model, repeats: int) -> Seconds:
    """Seconds of one evaluation of the objective and its gradient, a step of L-BFGS."""
    objective = Objective(model.data, L2)
    point, gradient = objective.point(model.weights), np.empty(objective.size, np.float32)
    run = lambda: objective.value_and_gradient(point, gradient)  # noqa: E731
    run()
    return median(timed(run)[0] for _ in range(repeats))


def pass_seconds(model: Model, batch: int, seed: int, repeats: int) -> Seconds:
    """Seconds of a pass of AdaGrad."""
    run = lambda: adagrad(model.data, l2=L2, epochs=1, rate=RATE, batch=batch, seed=seed)  # noqa: E731
    return median(timed(run)[0] for _ in range(repeats))


def lengths(result: Result, chosen: argparse.Namespace) -> None:
    """Time per token for sentences of each length."""
    whole = joined(corpus(chosen.data, "genia", "train", chosen.sentences))
    tokens, names = token_count([whole]), sorted({mention.type for mention in whole.mentions})
    measured: dict[str, list[list[Any]]] = {}
    for name in ("separators", "mention_hypergraph"):
        for length in LENGTHS:
            document, batch = cut(whole, length), max(1, BATCH_TOKENS // length)
            model = train(name, [document], names, batch, chosen.seed)
            seconds = (
                tag_seconds(model, [document], chosen.repeats),
                objective_seconds(model, chosen.repeats),
                pass_seconds(model, batch, chosen.seed, chosen.repeats),
            )
            measured.setdefault(name, []).append([length, *(1e6 * s.cpu / tokens for s in seconds)])
            say(f"{name}, sentences of {length}: {measured[name][-1][1:]} microseconds a token")
    what = ("tagging", "objective and gradient", "a pass of AdaGrad")
    result.table(
        f"Microseconds a token, by the length of sentences ({tokens:,} tokens of GENIA, preset `genia`, one core)",
        ("structure", "tokens a sentence", *what),
        [[name, *row] for name, rows in measured.items() for row in rows],
        f"A step of AdaGrad takes about {BATCH_TOKENS:,} tokens at every length. Processor time.",
    )
    for name, rows in measured.items():
        for column, title in enumerate(what, 1):
            values = [row[column] for row in rows]
            result.at_most(f"{name}, {title}: slowest length over fastest, per token", max(values) / min(values), FLAT)
    result.data["lengths"] = {name: [dict(zip(("length", *what), row, strict=True)) for row in rows]
                              for name, rows in measured.items()}  # fmt: skip


def split_types(documents: Iterable[Document], count: int, seed: int) -> list[Document]:
    """Every mention's type replaced by one of its subtypes, drawn at random; merged where there are fewer."""
    documents = list(documents)
    names = sorted({mention.type for document in documents for mention in document.mentions})
    if count < len(names):
        choices = {name: [f"type{i % count}"] for i, name in enumerate(names)}
    else:
        choices = {name: [f"type{j}" for j in range(i, count, len(names))] for i, name in enumerate(names)}
    random = np.random.default_rng(seed)
    return [
        document.copy(
            mentions=[
                m.replace(type=choices[m.type][int(random.integers(len(choices[m.type])))]) for m in document.mentions
            ]
        )
        for document in documents
    ]


def types(result: Result, chosen: argparse.Namespace) -> None:
    """Time per token and number of weights for each number of types."""
    documents = corpus(chosen.data, "genia", "train", chosen.few)
    tokens = token_count(documents)
    rows: list[list[Any]] = []
    for name in COUNTING:
        for count in TYPES:
            changed = split_types(documents, count, chosen.seed)
            model = train(name, changed, [f"type{i}" for i in range(count)], 32, chosen.seed)
            repeats = chosen.repeats if count < 32 or name != "bilou" else 1
            seconds = tag_seconds(model, changed, repeats), objective_seconds(model, repeats)
            rows.append(
                [name, count, *(1e6 * s.cpu / tokens for s in seconds), model.size,
                 model.weights.constants.size, round(tokens / seconds[0].cpu)]
            )  # fmt: skip
            say(f"{name}, {count} types: {rows[-1][2:4]} microseconds a token, {model.size:,} weights")
    columns = ("tagging", "objective and gradient", "weights", "weights of pairs of tags")
    result.table(
        f"Microseconds a token and number of weights, by the number of types ({tokens:,} tokens of GENIA, one core)",
        ("structure", "types", *columns, "tokens/s in tagging"), rows,
        "Paper 003, Table 3, reports this for 7, 14 and 28 types of ACE2004: linear for the mention hypergraph, square "
        "for the chain (the figures are not legible in our copy). Its chain joins every feature with every pair of "
        "tags; ours, like CRFsuite's, gives a pair one weight, so only these and the time grow with the square.",
    )  # fmt: skip
    slopes = []
    for name in COUNTING:
        own = np.array([row[1:6] for row in rows if row[0] == name], float)
        own = own[own[:, 0] >= ASYMPTOTIC]
        fitted = [float(np.polyfit(np.log(own[:, 0]), np.log(own[:, i]), 1)[0]) if own[:, i].all() else None
                  for i in range(1, 5)]  # fmt: skip
        slopes.append([name, *fitted])
    result.table(
        f"Slopes in log-log from {ASYMPTOTIC} types on: 1 is linear, 2 is square", ("structure", *columns), slopes
    )
    for name, tagging, training, *_ in slopes[:2]:
        result.at_most(f"{name}: slope of tagging time over types", tagging, 1.1)
        result.at_most(f"{name}: slope of training time over types", training, 1.1)
    result.at_least("bilou: slope of training time over types", slopes[2][2], 1.5)
    result.data["types"] = [dict(zip(("structure", "types", *columns), row, strict=False)) for row in rows]
    result.data["slopes"] = {name: dict(zip(columns, values, strict=True)) for name, *values in slopes}


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sentences", type=int, default=3000, help="of GENIA, for lengths [3000]")
    parser.add_argument("--few", type=int, default=300, help="sentences of GENIA, for types [300]")
    parser.add_argument("--repeats", type=int, default=5, help="of each measurement [5]")


def main() -> None:
    """Measure, write."""
    chosen = options("growth", __doc__, _more)
    one_core()
    result = Result("Growth with length and with types", chosen.seed)
    lengths(result, chosen)
    types(result, chosen)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
