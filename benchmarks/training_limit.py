"""An objective and its gradient beside what the machine's memory allows at least.

    python benchmarks/training_limit.py --data DATA

The size is that of CoNLL 2003: 200,000 tokens of GENIA with four of its types, so nine tags of a BIO chain, and the 23
features a token of the preset `small`. The limit is the time in which a bare loop reads the same rows: those of the
weights of each token's features, and those of the residuals of each feature's tokens, in the order that the objective
reads them, summed into one row that stays in registers. It has no chain, no exponential, and writes nothing. One core,
processor time; the two sides take turns; medians.
"""

from __future__ import annotations

import argparse

import numpy as np

from bare import read_rows
from chains import CHAINS, prepare
from common import Result, corpus, median, one_core, options, say, timed, token_count
from spanloom.learn import Objective
from spanloom.scoring import transpose

DROPPED = "RNA"  # the fewest mentions
MOST = 2.5


def main() -> None:
    """Measure, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--tokens", type=int, default=200_000, help="of the text, at least [200000]")
        parser.add_argument("--repeats", type=int, default=9, help="turns [9]")

    chosen = options("training_limit", __doc__, add)
    one_core()
    documents, tokens = [], 0
    for document in corpus(chosen.data, "genia", "train"):
        if tokens >= chosen.tokens:
            break
        documents.append(document.copy(mentions=[m for m in document.mentions if m.type != DROPPED]))
        tokens += token_count(documents[-1:])
    ours = prepare(documents, CHAINS["bio"])
    objective = Objective(ours.data, 1.0)
    point = np.random.default_rng(chosen.seed).normal(0, 0.1, objective.size).astype(np.float32)
    gradient = np.empty_like(point)
    matrix = ours.data.matrix
    weights = objective.weights(point).features.reshape(len(ours.data.group_sizes), -1)
    residuals = np.ones((tokens, weights.shape[1]), np.float32)
    transposed = transpose(matrix, len(weights))
    works = {
        "objective and gradient": lambda: objective.value_and_gradient(point, gradient),
        "reading the weights": lambda: read_rows(matrix.indices, weights),
        "reading the residuals": lambda: read_rows(transposed.tokens, residuals),
    }
    for work in works.values():
        work()
    turns = [[timed(work)[0] for work in works.values()] for _ in range(chosen.repeats)]
    whole, forward, backward = (median(column).cpu for column in zip(*turns, strict=True))
    gathered = len(matrix.indices)
    result = Result("An objective and its gradient beside the limit of the machine's memory", chosen.seed)
    result.table(
        f"{len(documents):,} sentences, {tokens:,} tokens, {len(ours.tags)} tags, {gathered / tokens:.1f} features a "
        f"token, {len(weights):,} rows of {weights.shape[1]} weights, one core",
        ("what", "ms", "million rows a second", "of the limit"),
        [
            ["objective and gradient", 1000 * whole, 2 * gathered / whole / 1e6, f"{whole / (forward + backward):.2f}"],
            ["reading the weights", 1000 * forward, gathered / forward / 1e6, ""],
            ["reading the residuals", 1000 * backward, gathered / backward / 1e6, ""],
        ],
    )  # fmt: skip
    result.at_most("objective and gradient over the limit", whole / (forward + backward), MOST)
    result.data |= {"whole": whole, "weights": forward, "residuals": backward, "rows": gathered, "tokens": tokens}
    result.save(chosen.out)
    say(f"{1e9 * whole / tokens:.0f} ns a token")


if __name__ == "__main__":
    main()
