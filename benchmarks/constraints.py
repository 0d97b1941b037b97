"""Constraints at prediction: whether they ever are violated, and what they cost.

    python benchmarks/constraints.py --cases 100000
    python benchmarks/constraints.py --cases 0 --data DATA --corpus genia --limit 3000

1. Random sentences of two to four words, random scores and random constraints, in every structure without heads: kept
   and required mentions, forbidden ones, exact words, regular expressions and types that may not nest. What is found is
   compared with the enumeration of all structures: it violates nothing, it is the best one that violates nothing, its
   probabilities are the conditional ones, and it is refused only where there is none (`tests/recognize/
   constraint_cases.py`).
2. With `--data`: recognizers of the preset fast, and the time of prediction with constraints over that without: the
   ten most frequent predictions forbidden; a third of the gold mentions kept, where the structure holds them; both,
   with types that may not nest. Processor time, the least of several turns; with the second stage, which has the
   target, and without.

The record is of a whole run, both parts of it; by default, others write to ``build``.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from common import RESULTS, ROOT, Result, one_core, options, parts_of, say, timed
from spanloom import Document, Recognizer
from spanloom.errors import DataError

sys.path.append(str(ROOT / "tests" / "recognize"))
from constraint_cases import NAMES, Case

CASES = 100_000


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--cases", type=int, default=CASES, help=f"random cases; 0 for none [{CASES}]")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop drawing cases after so long")
    parser.add_argument("--data", type=Path, help="the folder that holds the corpora")
    parser.add_argument("--corpus", default="genia", help="one of them [genia]")
    parser.add_argument("--limit", type=int, help="of training documents")
    parser.add_argument("--structures", default="separators", help="to time, with commas [separators]")
    parser.add_argument("--repeats", type=int, default=5, help="of each timing [5]")


def check(result: Result, cases: int, seconds: float) -> None:
    """Compare random cases with enumeration, the structures in turn."""
    began, done, wrong, refused = time.monotonic(), Counter[str](), Counter[str](), Counter[str]()
    for seed in range(result.seed, result.seed + cases):
        name = NAMES[seed % len(NAMES)]
        case = Case(name, seed)
        problem = case.wrong()
        done[name] += 1
        refused[name] += case.refused
        if sum(done.values()) % 1000 == 0:
            say(sum(done.values()), "cases")
        if problem is not None:
            wrong[name] += 1
            say(name, seed, problem)
        if time.monotonic() - began > seconds:
            break
    rows = [[name, done[name], refused[name], wrong[name]] for name in NAMES]
    result.table("Random cases against enumeration", ("structure", "cases", "refused rightly", "wrong"), rows)
    result.at_most("cases that are wrong", sum(wrong.values()), 0)
    result.data["cases"] = {"all": sum(done.values()), "wrong": dict(wrong)}


def works_of(model: Recognizer, test: list[Document], seed: int) -> dict[str, tuple[list[Document], Any]]:
    """Return documents with constraints on them, by a name."""
    common = Counter((m.type, m.text(d.text)) for d in model.predict(test) for m in d.mentions if len(m.spans) == 1)
    forbid = [f"{name}: {text}" for (name, text), _ in common.most_common(10)]
    inner, outer = (model.types_ * 2)[:2]
    both = {"keep": True, "forbid": [*forbid, f"{inner} inside {outer}"]}
    random = np.random.default_rng(seed)
    kept = []
    for document in test:
        free = [m for m in document.mentions if f"{m.type}: {m.text(document.text)}" not in forbid]
        some = document.copy(mentions=[m for m in free if random.random() < 1 / 3])
        try:
            model.predict([some], constraints=both)
        except DataError:
            some = document.copy(mentions=[])
        kept.append(some)
    return {
        "none": (test, None),
        "ten words forbidden": (test, {"forbid": forbid}),
        "a third of gold kept": (kept, {"keep": True}),
        "both, and a rule": (kept, both),
    }


def measure(result: Result, parts: Sequence[list[Document]], structures: Sequence[str], repeats: int) -> None:
    """Time prediction with constraints and without."""
    train, dev, test = parts
    rows = []
    for structure in structures:
        model = Recognizer(structure=structure, features="fast", n_jobs=1).fit(train, dev=dev)
        for stages in ("two", "one"):
            if stages == "one":
                model.second_ = None
            works = works_of(model, test, result.seed)
            turns = [
                [timed(partial(model.predict, given, constraints=rules))[0].cpu for given, rules in works.values()]
                for _ in range(repeats)
            ]
            seconds = [min(column) for column in zip(*turns, strict=True)]
            for name, one in zip(works, seconds, strict=True):
                rows.append([structure, stages, name, one, one / seconds[0]])
                say(*rows[-1])
    result.table("Processor seconds of prediction", ("structure", "stages", "constraints", "seconds", "ratio"), rows)
    for structure, stages, name, _, ratio in rows:
        if stages == "two" and name != "none":
            result.at_most(f"{structure}, {name}: time over that without constraints", ratio, 1.5)


def main() -> None:
    """Run what is asked for."""
    chosen = options("constraints", __doc__, add, corpora=False)
    is_whole = chosen.cases >= CASES and chosen.seconds == math.inf and chosen.data is not None
    if not is_whole and chosen.out == RESULTS / "constraints.json":
        chosen.out = ROOT / "build" / "constraints.json"
    one_core()
    result = Result("Constraints are never violated, and cost little", chosen.seed)
    if chosen.cases:
        check(result, chosen.cases, chosen.seconds)
    if chosen.data is not None:
        tested = "test" if (chosen.data / chosen.corpus / "test.jsonl").exists() else "dev"
        measure(result, parts_of(chosen.corpus, tested, chosen), chosen.structures.split(","), chosen.repeats)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
