"""Constraints at prediction: whether they ever are violated, and what they cost.

    python benchmarks/constraints.py --cases 100000
    python benchmarks/constraints.py --cases 0 --data DATA --corpus bc5cdr

1. Random sentences of two to four words, random scores and random constraints, in every structure without heads: kept
   and required mentions, forbidden ones, exact words, regular expressions and types that may not nest. What is found is
   compared with the enumeration of all structures: it violates nothing, it is the best one that violates nothing, its
   probabilities are the conditional ones, and it is refused only where there is none (`tests/recognize/
   constraint_cases.py`).
2. With `--data`: a recognizer of the preset fast, and the time of prediction with constraints over that without: the
   ten most frequent predictions forbidden; a third of the gold mentions kept; both, with types that may not nest.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from common import ROOT, Result, one_core, options, parts_of, say, timed
from spanloom import Document, Recognizer

sys.path.append(str(ROOT / "tests" / "recognize"))
from constraint_cases import NAMES, Case


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--cases", type=int, default=100_000, help="random cases; 0 for none [100000]")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop drawing cases after so long")
    parser.add_argument("--data", type=Path, help="the folder that holds the corpora")
    parser.add_argument("--corpus", default="bc5cdr", help="one of them [bc5cdr]")
    parser.add_argument("--limit", type=int, help="of training documents")
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


def measure(result: Result, train: list[Document], dev: list[Document], test: list[Document], repeats: int) -> None:
    """Time prediction with constraints and without."""
    model = Recognizer(features="fast", n_jobs=1).fit(train, dev=dev)
    found = model.predict(test)
    common = Counter((m.type, m.text(d.text)) for d in found for m in d.mentions if len(m.spans) == 1)
    forbid = [f"{name}: {text}" for (name, text), _ in common.most_common(10)]
    random = np.random.default_rng(result.seed)
    free = [[m for m in d.mentions if f"{m.type}: {m.text(d.text)}" not in forbid] for d in test]
    kept = [d.copy(mentions=[m for m in own if random.random() < 1 / 3]) for d, own in zip(test, free, strict=True)]
    inner, outer = (model.types_ * 2)[:2]
    works = {
        "none": (test, None),
        "ten words forbidden": (test, {"forbid": forbid}),
        "a third of gold kept": (kept, {"keep": True}),
        "both, and a rule": (kept, {"keep": True, "forbid": [*forbid, f"{inner} inside {outer}"]}),
    }
    turns = [
        [timed(lambda w=w: model.predict(w[0], constraints=w[1]))[0].cpu for w in works.values()]
        for _ in range(repeats)
    ]
    seconds = [float(np.median(column)) for column in zip(*turns, strict=True)]
    rows = [[name, one, one / seconds[0]] for name, one in zip(works, seconds, strict=True)]
    result.table("Processor seconds of prediction", ("constraints", "seconds", "ratio"), rows)
    for name, _, ratio in rows[1:]:
        result.at_most(f"{name}: time over that without constraints", ratio, 1.5)


def main() -> None:
    """Run what is asked for."""
    chosen = options("constraints", __doc__, add, corpora=False)
    one_core()
    result = Result("Constraints are never violated, and cost little", chosen.seed)
    if chosen.cases:
        check(result, chosen.cases, chosen.seconds)
    if chosen.data is not None:
        tested = "test" if (chosen.data / chosen.corpus / "test.jsonl").exists() else "dev"
        measure(result, *parts_of(chosen.corpus, tested, chosen), chosen.repeats)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
