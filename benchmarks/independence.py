"""Predictions of documents alone and in company: 10,000 random combinations of model, options, way in and company.

    python benchmarks/independence.py [--count 10000] [--jobs 2]

The cases are those of `python tests/hostile/campaign independence`: a model of some kind is given some documents at
once, in some order, by some way (a list, a stream, a request to the server, rows of a table, the command line), with
some number of threads and tokens at once. Each document's record must be the bytes that it has alone. With --encoders
the models with an encoder compute on whatever device PyTorch finds; else on the processor.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from common import Result, options, say, timed

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "hostile"))


def measured(number: int, count: int, seed: int) -> dict[str, Any]:
    """Return what came of the cases of one kind of model."""
    from campaign.independence import KINDS, run

    with tempfile.TemporaryDirectory() as folder:
        seconds, record = timed(lambda: run(range(number, count, len(KINDS)), seed, Path(folder)))
    return {"kind": list(KINDS)[number], **record.values(), "seconds": seconds.cpu}


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, default=10_000, help="cases, of all kinds together [10000]")
    parser.add_argument("--jobs", type=int, default=2, help="processes [2]")
    parser.add_argument("--encoders", action="store_true", help="kinds with an encoder alone, on any device")


def main() -> None:
    """Run them."""
    chosen = options("independence", __doc__, _more, corpora=False)
    if not chosen.encoders:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    from campaign.independence import ENCODERS, KINDS

    numbers = [n for n, name in enumerate(KINDS) if name in ENCODERS or not chosen.encoders]
    result = Result("A document's record is the same alone and in any company", chosen.seed)
    with ProcessPoolExecutor(chosen.jobs, get_context("spawn")) as pool:
        waiting = [pool.submit(measured, n, chosen.count, chosen.seed) for n in numbers]
        found = [one.result() for one in waiting]
    outcomes = [Counter(one["counts"][one["kind"]]) for one in found]
    every: Counter[str] = sum(outcomes, Counter())
    say(f"{every.total():,} cases")
    result.at_most("cases in which a record differs", every["different"], 0)
    result.at_least("cases", every.total(), chosen.count if not chosen.encoders else 1)
    result.table(
        "Kinds of models", ("model", "cases", "different", "processor seconds"),
        [
            [one["kind"], own.total(), own["different"], round(one["seconds"])]
            for one, own in zip(found, outcomes, strict=True)
        ],
        *(line for one in found for line in one["broken"]),
    )  # fmt: skip
    result.data["kinds"] = found
    result.save(chosen.out)


if __name__ == "__main__":
    main()
