"""Speed and number of features as types are split: a BILOU chain beside the mention hypergraph.

    python benchmarks/type_split.py --data DATA

Table 3 of Lu and Roth (2015): 7 types, then each split at random into 2 and into 4. As there, models are trained on
development data, which is smaller, and the time is that of finding the best structure in test data. GUM stands in for
ACE2004, with the 7 types that are most frequent. One core; times are medians of rounds that take turns. The features
of both models are the same; what grows is the number of their weights.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np

from common import Result, Seconds, corpus, median, one_core, options, say, timed, token_count
from spanloom import Recognizer
from spanloom.document import Batch, Document
from spanloom.model.structured import LinearModel
from spanloom.text import prepare

BASE, PARTS = 7, (1, 2, 4)
MODELS = {"bilou": "bilou", "mention_hypergraph": "mention_hypergraph"}


def frequent(documents: Sequence[Document], count: int) -> list[str]:
    """The types with the most mentions."""
    return [name for name, _ in Counter(m.type for document in documents for m in document.mentions).most_common(count)]


def split(documents: Sequence[Document], types: Sequence[str], parts: int, seed: int) -> list[Document]:
    """Mentions of these types, each with one of so many parts of its type, drawn at random."""
    random = np.random.default_rng(seed)
    return [
        document.copy(
            mentions=[
                mention.replace(type=f"{mention.type}{int(random.integers(parts)) + 1}")
                for mention in document.mentions
                if mention.type in types
            ]
        )
        for document in documents
    ]


def decode(tagger: LinearModel, documents: Sequence[Document]) -> None:
    """From tokens to the best structures, as the paper's decoding: features, scores and Viterbi."""
    batch = Batch.of(documents)
    tagger.best(tagger.scorer.score(batch), batch.sentences)


def search(tagger: LinearModel, documents: Sequence[Document], repeats: int) -> Seconds:
    """The time of Viterbi alone."""
    batch = Batch.of(documents)
    potentials, offsets = tagger.scorer.score(batch), batch.sentences
    tagger.best(potentials, offsets)
    return median([timed(lambda: tagger.best(potentials, offsets))[0] for _ in range(repeats)])


def measure(chosen: argparse.Namespace, result: Result) -> None:
    """Train, time, show."""
    dev = [prepare(document) for document in corpus(chosen.data, "gum", "dev")]
    test = [prepare(document) for document in corpus(chosen.data, "gum", "test")]
    types, words = frequent(dev, BASE), token_count(test)
    rows = []
    speeds: dict[str, list[float]] = {name: [] for name in MODELS}
    for parts in PARTS:
        data = split(dev, types, parts, chosen.seed)
        taggers = {
            name: Recognizer(
                structure, "ace", counting="derivations", epochs=chosen.epochs, tune_penalty=False, pos=None,
                rescore=False, overlap="free", n_jobs=1,
            ).fit(data, dev=data).fitted
            for name, structure in MODELS.items()
        }  # fmt: skip
        times: dict[str, list[Seconds]] = {name: [] for name in MODELS}
        for repeat in range(chosen.repeats):
            for name in list(MODELS) if repeat % 2 == 0 else list(MODELS)[::-1]:
                if not repeat:
                    decode(taggers[name], test)  # warm-up, not timed
                times[name].append(timed(partial(decode, taggers[name], test))[0])
        for name, tagger in taggers.items():
            whole, best = median(times[name]).cpu, search(tagger, test, chosen.repeats).cpu
            count = round(float(tagger.scorer.index.group_sizes.sum(dtype=float)))
            weights = sum(array.size for array in tagger.scorer.weights)
            active = sum(int(np.count_nonzero(array)) for array in tagger.scorer.weights)
            speeds[name].append(words / best)
            joined = count * int(np.prod(tagger.scorer.weights.features.shape[1:]))
            rows.append([name, BASE * parts, words / whole, words / best, count, joined, weights, active])
            say(name, BASE * parts, f"{words / whole:.0f} words/s, Viterbi alone {words / best:.0f}")
    result.table(
        f"Words a second on {words:,} words of test data, and the number of features",
        ("model", "types", "words/s", "words/s, Viterbi alone", "features of tokens", "features with roles",
         "weights", "weights that are not 0"),
        sorted(rows, key=lambda row: row[0]),
        "Features with roles: what the paper counts, each feature of a token with each role. Features that occur at "
        "the same tokens share a row of weights, so there are fewer weights.",
    )  # fmt: skip
    for name, values in speeds.items():
        result.data[name] = values
    slopes = {
        name: -float(np.polyfit(np.log([BASE * parts for parts in PARTS]), np.log(values), 1)[0])
        for name, values in speeds.items()
    }
    graph = slopes["mention_hypergraph"]
    result.at_most("mention_hypergraph: time of Viterbi a word over types, slope in log-log", graph, 1.1)
    result.at_least("bilou: the slope less that of mention_hypergraph", slopes["bilou"] - graph, 0.0)


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--epochs", type=int, default=5, help="of training [5]")
    parser.add_argument("--repeats", type=int, default=5, help="of each measurement [5]")


def main() -> None:
    """Measure, write."""
    chosen = options("type_split", __doc__, _more)
    one_core()
    result = Result("Speed and number of features as types are split", chosen.seed)
    measure(chosen, result)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
