"""The engine alone: sums, marginals and best structures of every template, with both countings.

    python benchmarks/engine.py

Sentences of about 24 tokens, five types, chains of tags with 5, 20, 45 and 69; no features, no corpora. To find the
best structure must take no longer than the logarithm of the sum over all, and a chain of 45 tags at most 4 microseconds
a token. One core, processor time, medians.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from common import Result, median, one_core, options, say, timed
from spanloom.hypergraph import ENGINES, Engine, Ints, Potentials, Template
from spanloom.structures import STRUCTURES, chain_template

TYPES = ("a", "b", "c", "d", "e")
TAGS = (5, 20, 45, 69)
COLUMNS = ("log-partition", "marginals", "best", "best of noise", "best / log-partition", "of noise")


def templates() -> dict[str, tuple[Template, int]]:
    """Templates and numbers of types, by name."""
    tags = {f"{n} tags": [str(tag) for tag in range(n)] for n in TAGS}
    return {
        **{name: (structure.template(TYPES), len(TYPES)) for name, structure in STRUCTURES.items()},
        **{name: (chain_template(names, lambda tag, after: True), 1) for name, names in tags.items()},
    }


def potentials(template: Template, tokens: int, types: int, spread: float, noise: float, seed: int) -> Potentials:
    """Scores around the mean of each role: as in a trained model, what is likely differs little from token to token."""
    rng = np.random.default_rng(seed)
    means = rng.normal(0, spread, (1, len(template.roles), types))
    roles = means + rng.normal(0, noise, (tokens, len(template.roles), types))
    constants = rng.normal(0, 1, (len(template.constants), types))
    return Potentials(roles.astype(np.float32), constants.astype(np.float32))


def microseconds(work: Callable[[], object], tokens: int, repeats: int) -> float:
    """Of a token."""
    work()
    return 1e6 * median(timed(work)[0] for _ in range(repeats)).cpu / tokens


def sentences(chosen: argparse.Namespace) -> Ints:
    """(N + 1,) the first token of each."""
    lengths = np.random.default_rng(chosen.seed).gamma(3, 8, chosen.sentences)
    return np.cumsum([0, *np.maximum(1, lengths).astype(int)])


def measure(engine: Engine, types: int, chosen: argparse.Namespace) -> list[float]:
    """Microseconds a token, and ratios."""
    offsets = sentences(chosen)
    tokens = int(offsets[-1])
    given = potentials(engine.template, tokens, types, 2.0, 0.5, chosen.seed)
    noise = potentials(engine.template, tokens, types, 0.0, 1.0, chosen.seed)
    total, marginals, best, other = (
        microseconds(work, tokens, chosen.repeats)
        for work in (
            lambda: engine.log_partition(given, offsets),
            lambda: engine.expectations(given, offsets),
            lambda: engine.viterbi(given, offsets),
            lambda: engine.viterbi(noise, offsets),
        )
    )
    return [total, marginals, best, other, best / total, other / total]


def add(parser: argparse.ArgumentParser) -> None:
    """The script's own options."""
    parser.add_argument("--sentences", type=int, default=800)
    parser.add_argument("--repeats", type=int, default=15)


def main() -> None:
    """Run all."""
    chosen = options("engine", __doc__, add, corpora=False)
    one_core()
    result = Result("The engine alone: sums, marginals and best structures", chosen.seed)
    rows = []
    for name, (template, types) in templates().items():
        for counting, kind in ENGINES.items():
            rows.append([name, counting, *measure(kind(template), types, chosen)])
            say(*rows[-1])
    result.table(
        "Microseconds a token, one core", ("template", "counting", *COLUMNS), rows,
        f"{len(TYPES)} types, 1 for tags. Scores lie around a mean of each role, as in a trained model; in noise no "
        "token says what the next will be, which costs the way back.",
    )  # fmt: skip
    for name, counting, *values in rows:
        result.at_most(f"{name}, {counting}: best over log-partition", values[4], 1.0)
    [chain] = [values for name, counting, *values in rows if (name, counting) == ("45 tags", "subgraphs")]
    result.at_most("45 tags: best structure, microseconds a token", chain[2], 4.0)
    result.data["rows"] = [
        {"template": name, "counting": counting, **dict(zip(COLUMNS, values, strict=True))}
        for name, counting, *values in rows
    ]
    result.save(chosen.out)


if __name__ == "__main__":
    main()
