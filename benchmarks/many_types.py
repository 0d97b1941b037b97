"""How the time of training grows with the number of types: SHARED beside a chain of seven tags.

    python benchmarks/many_types.py --data DATA

Section 6 of the supplement of Muis and Lu (2016), Table 3: each mention gets one of n types at random, and a pass over
the text is timed, relative to that with one type. SHARED has a copy of its nodes for each type, so its time grows with
n; a chain has its tags for each type, so the pairs of tags grow with the square of n. One core; times are medians of
passes that take turns, with the same features.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from common import Result, Seconds, corpus, one_core, options, say
from passes import Text, pass_seconds
from spanloom.document import Document

TYPES = (1, 2, 4, 8, 16)
CHAIN, COUNTINGS = ("seven_tag", "subgraphs"), ("derivations", "subgraphs")
MODELS = (CHAIN, *(("shared", counting) for counting in COUNTINGS))
# time relative to that with one type
TABLE_3 = {"seven_tag": (1.0, 2.015, 5.018, 12.174, 35.313), "shared": (1.0, 2.067, 4.552, 9.455, 19.272)}
ASYMPTOTIC = 4  # types from which on a second slope is fitted: what does not depend on them weighs less there
LINEAR = 1.1
CORPORA = ("genia_discontiguous", "craft")


def split_types(documents: Sequence[Document], count: int, seed: int) -> list[Document]:
    """Each mention with one of so many types, drawn at random."""
    names = [f"type{i:02}" for i in range(count)]
    random = np.random.default_rng(seed)
    return [
        document.copy(
            mentions=[mention.replace(type=names[int(random.integers(count))]) for mention in document.mentions]
        )
        for document in documents
    ]


def measure(text: Text, chosen: argparse.Namespace) -> dict[tuple[str, str], list[Seconds]]:
    """The time of a pass of each model with each number of types."""
    found: dict[tuple[str, str], list[Seconds]] = {model: [] for model in MODELS}
    for count in TYPES:
        changed = split_types(text.documents, count, chosen.seed)
        sets = {model: text.training_set(*model, changed) for model in MODELS}
        for model, seconds in pass_seconds(sets, chosen.repeats, chosen.seed).items():
            found[model].append(seconds)
            say(f"{', '.join(model)}, {count} types: {seconds.cpu:.3f} s")
    return found


def slope(values: Sequence[float], least: int = 1) -> float:
    """Fitted in log-log, from so many types on: 1 is linear, 2 is square."""
    chosen = np.array(TYPES) >= least
    return float(np.polyfit(np.log(TYPES)[chosen], np.log(values)[chosen], 1)[0])


def bends(values: Sequence[float]) -> list[float]:
    """Slopes over all numbers of types, over the larger ones, and over the last doubling."""
    return [slope(values, least) for least in (1, ASYMPTOTIC, TYPES[-2])]


def report(result: Result, text: Text, found: dict[tuple[str, str], list[Seconds]]) -> None:
    """Tables and targets."""
    rows: list[list[Any]] = []
    slopes: dict[tuple[str, str], float] = {}
    for model, seconds in found.items():
        times = [one.cpu for one in seconds]
        slopes[model] = slope(times, ASYMPTOTIC)
        rows += [
            [*model, "seconds", *times, None, None, None],
            [*model, "relative", *(f"{time / times[0]:.3f}" for time in times), *bends(times)],
        ]
        result.data[", ".join(model)] = [one._asdict() for one in seconds]
    for name, paper in TABLE_3.items():
        rows.append([name, "", "relative, paper", *(f"{value:.3f}" for value in paper), *bends(paper)])
    result.table(
        f"A pass of AdaGrad over {text.tokens:,} tokens, by the number of types (supplement, Table 3)",
        (
            "structure", "counting", "", *(f"n = {count}" for count in TYPES),
            "slope", f"slope from {ASYMPTOTIC} types on", f"slope from {TYPES[-2]} types on",
        ),
        rows,
        "Processor time. Slopes in log-log: 1 is linear, 2 is square. The paper's text is other; its chain joins every "
        "feature with every pair of tags, ours gives a pair one weight.",
    )  # fmt: skip
    for counting in COUNTINGS:
        own = "shared", counting
        result.at_most(f"{', '.join(own)}: slope from {ASYMPTOTIC} types on", slopes[own], LINEAR)
        result.at_least(
            f"slope of seven_tag less that of {', '.join(own)}, from {ASYMPTOTIC} types on",
            slopes[CHAIN] - slopes[own], 0.0,
        )  # fmt: skip


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpus", choices=CORPORA, default=CORPORA[0], help=f"[{CORPORA[0]}]")
    parser.add_argument("--few", type=int, default=2000, help="sentences of GENIA, or articles of CRAFT [2000]")
    parser.add_argument("--repeats", type=int, default=3, help="of each measurement [3]")


def main() -> None:
    """Measure, write."""
    chosen = options("many_types", __doc__, _more)
    one_core()
    result = Result("Time of training by the number of types", chosen.seed)
    text = Text.of(corpus(chosen.data, chosen.corpus, "train", chosen.few), "biomedical")
    report(result, text, measure(text, chosen))
    result.save(chosen.out)


if __name__ == "__main__":
    main()
