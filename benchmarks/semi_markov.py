"""What a semi-Markov chain costs: training on GENIA beside BILOU, and mentions of any length in its longest sentences.

    python benchmarks/semi_markov.py --data DATA

Lu and Roth (2015), section 4.1: mentions of at most 6 tokens, or of any length. Each training is a process of its own
on one core: features, the surface of whole mentions among them, and a few passes of AdaGrad over the data. Its memory
is the largest that was resident. Trainings take turns, and times are medians.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from common import Result, Seconds, corpus, median, one_core, options, peak_memory, say, timed, token_count
from spanloom import Recognizer
from spanloom.document import Document

TIMES, LIMIT = 6.0, 3.0  # c = 6 beside BILOU; GB, 2^30 bytes
WHOLE = {"bilou": ("bilou", None), "semi_markov, c = 6": ("semi_markov", 6), "semi_markov": ("semi_markov", None)}


def longest(documents: Sequence[Document], count: int) -> list[Document]:
    """The documents, of one sentence each, with the most tokens."""
    return sorted(documents, key=lambda document: -len(document.words))[:count]


def train(chosen: argparse.Namespace) -> None:
    """Train in this process, and print what it took as JSON."""
    structure, limit = WHOLE[chosen.case]
    documents = corpus(chosen.data, "genia", "train", chosen.limit)
    if chosen.longest:
        documents = longest(documents, chosen.longest)
    shared: dict[str, Any] = {"epochs": chosen.epochs, "tune_penalty": False, "random_state": chosen.seed, "n_jobs": 1}
    few = documents[:20]
    shared["pos"] = None
    recognizer = Recognizer(structure, "genia", rescore=False, overlap="free", longest=limit, **shared)
    seconds, _ = timed(lambda: recognizer.fit(documents, dev=few))
    print(
        json.dumps(
            {
                "seconds": seconds._asdict(),
                "peak_gb": peak_memory(),
                "tokens": token_count(documents),
                "longest_sentence": max(len(document.words) for document in documents),
                "lost": sum(recognizer.report_.lost.values()),
                "rows": recognizer.report_.rows,
            }
        )
    )


def child(chosen: argparse.Namespace, case: str, few: int = 0) -> dict[str, Any]:
    """A training in a process of its own."""
    line = [
        sys.executable, __file__, "--data", chosen.data, "--seed", chosen.seed, "--case", case, "--epochs",
        chosen.epochs, "--longest", few, *(("--limit", chosen.limit) if chosen.limit else ()),
    ]  # fmt: skip
    found: dict[str, Any] = json.loads(subprocess.run(map(str, line), stdout=subprocess.PIPE, check=True).stdout)
    say(case, found)
    return found


def measure(chosen: argparse.Namespace, result: Result) -> None:
    """All trainings, tables and targets."""
    runs: dict[str, list[dict[str, Any]]] = {case: [] for case in WHOLE}
    for repeat in range(chosen.repeats):
        for case in list(WHOLE) if repeat % 2 == 0 else list(WHOLE)[::-1]:
            runs[case].append(child(chosen, case))
    seconds = {case: median([Seconds(**run["seconds"]) for run in found]) for case, found in runs.items()}
    base = seconds["bilou"].cpu
    result.table(
        f"Training on GENIA: features and {chosen.epochs} passes over {runs['bilou'][0]['tokens']:,} tokens",
        ("model", "seconds", "beside bilou", "peak GB", "rows of weights", "mentions lost"),
        [
            [case, seconds[case].cpu, seconds[case].cpu / base, max(run["peak_gb"] for run in found), found[0]["rows"],
             found[0]["lost"]]
            for case, found in runs.items()
        ],
        "Processor time. Mentions that overlap are lost, of c = 6 also those of more tokens.",
    )  # fmt: skip
    few = [child(chosen, "semi_markov", count) for count in (50, 200, 1000)]
    result.table(
        "Mentions of any length: training on GENIA's longest sentences",
        ("sentences", "tokens", "longest sentence", "peak GB", "seconds"),
        [
            [count, run["tokens"], run["longest_sentence"], run["peak_gb"], run["seconds"]["cpu"]]
            for count, run in zip((50, 200, 1000), few, strict=True)
        ],
    )
    result.data = {"trainings": runs, "longest": few}
    ratio = seconds["semi_markov, c = 6"].cpu / base
    result.at_most("training with c = 6, times that of bilou", ratio, TIMES)
    result.at_most("GB, any length, all of GENIA", max(run["peak_gb"] for run in runs["semi_markov"]), LIMIT)
    result.at_most("GB, any length, the longest sentences", max(run["peak_gb"] for run in few), LIMIT)


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--epochs", type=int, default=3, help="passes of AdaGrad [3]")
    parser.add_argument("--repeats", type=int, default=3, help="of each training [3]")
    parser.add_argument("--limit", type=int, help="sentences of the training data [all]")
    parser.add_argument("--longest", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--case", choices=WHOLE, help=argparse.SUPPRESS)


def main() -> None:
    """Measure, write."""
    chosen = options("semi_markov", __doc__, _more)
    one_core()
    if chosen.case:
        train(chosen)
        return
    result = Result("What a semi-Markov chain costs", chosen.seed)
    measure(chosen, result)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
