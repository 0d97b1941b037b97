"""What it costs to learn from other targets than complete annotation: masks of hyperedges, and soft counts.

    python benchmarks/masks.py

Sentences, types and scores are those of `engine.py`; there are no features and no corpora. In each sentence one
structure is drawn; at three tokens of ten only its hyperedges are allowed, as where annotation says what is there, and
elsewhere all are. A target is asked for what it wants of all sentences, as L-BFGS asks in each step. One core,
processor time, medians of turns.
"""

from __future__ import annotations

import argparse

import numpy as np

from common import Result, median, one_core, options, say, timed
from engine import TYPES, add, potentials, sentences, templates
from spanloom.hypergraph import ENGINES, Engine
from spanloom.learn import CountTarget, EdgeTarget

SHARE = 0.3  # of the tokens have a structure
COLUMNS = (
    "log-partition", "masked", "ratio", "marginals", "masked marginals", "ratio of marginals", "wanted of edges",
    "wanted of counts",
)  # fmt: skip


def measure(engine: Engine, types: int, chosen: argparse.Namespace) -> list[float]:
    """Microseconds a token, and ratios."""
    rng, offsets = np.random.default_rng(chosen.seed), sentences(chosen)
    tokens = int(offsets[-1])
    given = potentials(engine.template, tokens, types, 2.0, 0.5, chosen.seed)
    edges = engine.viterbi(potentials(engine.template, tokens, types, 0.0, 1.0, chosen.seed), offsets).edges
    allowed = np.zeros((tokens, len(engine.template.edges), types), bool)
    rows, kinds, depths = np.nonzero(edges >= 0)
    allowed[rows, edges[rows, kinds, depths], kinds] = True
    allowed[rng.random(tokens) >= SHARE] = True
    hard = EdgeTarget(engine, offsets, edges)
    works = (
        lambda: engine.log_partition(given, offsets),
        lambda: engine.log_partition(given, offsets, allowed=allowed),
        lambda: engine.expectations(given, offsets),
        lambda: engine.expectations(given, offsets, allowed=allowed),
        lambda: hard.target_counts(given),
        lambda: soft.target_counts(given),
    )
    soft = CountTarget.expected(engine, given, offsets)
    for work in works:
        work()
    turns = [[timed(work)[0] for work in works] for _ in range(chosen.repeats)]
    total, masked, sums, masked_sums, of_edges, of_counts = (
        1e6 * median(column).cpu / tokens for column in zip(*turns, strict=True)
    )
    return [total, masked, masked / total, sums, masked_sums, masked_sums / sums, of_edges, of_counts]


def main() -> None:
    """Run all."""
    chosen = options("masks", __doc__, add, corpora=False)
    one_core()
    result = Result("The cost of masks and of soft counts", chosen.seed)
    rows = []
    for name, (template, types) in templates().items():
        for counting, kind in ENGINES.items():
            if name.endswith(" tags") and counting == "derivations":
                continue  # a chain has one derivation a structure
            rows.append([name, counting, *measure(kind(template), types, chosen)])
            say(*rows[-1])
    result.table(
        "Microseconds a token, one core", ("template", "counting", *COLUMNS), rows,
        f"{len(TYPES)} types, 1 for tags; masks hold at {100 * SHARE:.0f} % of the tokens.",
    )  # fmt: skip
    for name, counting, *values in rows:
        result.at_most(f"{name}, {counting}: log-partition with a mask over that without", values[2], 1.3)
    for name, counting, *values in rows:
        result.at_most(f"{name}, {counting}: wanted of counts over wanted of edges", values[7] / values[6], 1.1)
    result.data["rows"] = [
        {"template": name, "counting": counting, **dict(zip(COLUMNS, values, strict=True))}
        for name, counting, *values in rows
    ]
    result.save(chosen.out)


if __name__ == "__main__":
    main()
