"""Several annotators: test F1 where three of them miss, shift and mistype mentions of the same texts.

    python benchmarks/annotators.py --data DATA [--only GENIA] [--limit 400]

Each of three simulated annotators misses 20 % of all training mentions, has 10 % one token longer or shorter at one
end, and gives 5 % another type, drawn by the seed and independently. One recognizer is trained on each of them; on the
mentions that two have at least (*majority*); on those of any (*union*); on all three as if they had marked different
texts (*pooled*); on all three as annotators, whose quality is estimated; and on the clean annotation.

All are tuned on the same clean development data. Recognizers with `separators` (of CRAFT `shared`), features `fast`,
lambda 1, no second stage. F1 is on test data, of CRAFT on its development articles, and there a tenth of the training
articles, drawn by the seed, is what is tuned on. Differences are tested by randomization over sentences.

Cases are kept in the record: with --only, others stay as they are, with the commit that they were run on.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from common import Result, commit, options, parts_of, run_cases, say, timed
from spanloom.document import Document, Mention
from spanloom.document.annotators import key_of
from spanloom.evaluate import evaluate, paired_test
from spanloom.recognize import Recognizer

FIXED: Final[dict[str, Any]] = {"features": "fast", "l2": 1.0, "rescore": False}
NAMES: Final = ("A", "B", "C")
MISSED, SHIFTED, MISTYPED = 0.2, 0.1, 0.05
OURS, MAJORITY = "three annotators", "majority"
LEVEL = 0.05


class Case(NamedTuple):
    """A corpus.

    Args:
        name: in the table.
        place: its folder.
        tested: the part that F1 is on.
        structure: of the recognizer.
    """

    name: str
    place: str
    tested: str
    structure: str


CASES = (Case("GENIA", "genia_documents", "test", "separators"), Case("CRAFT", "craft", "dev", "shared"))


def annotated(documents: Sequence[Document], name: str, seed: int) -> list[Document]:
    """Return documents as a simulated annotator marks them."""
    draw = random.Random(f"{seed} {name}")
    types = sorted({mention.type for one in documents for mention in one.mentions})
    found = []
    for document in documents:
        drawn = (_drawn(document, mention, types, draw) for mention in document.mentions)
        own = {key_of(mention): mention for mention in drawn if mention is not None}
        found.append(document.copy(mentions=list(own.values()), meta={"annotator": name}))
    return found


def _drawn(document: Document, mention: Mention, types: Sequence[str], draw: random.Random) -> Mention | None:
    chance = draw.random()
    if chance < MISSED:
        return None
    if chance < MISSED + SHIFTED:
        return _shifted(document, mention, draw)
    if chance < MISSED + SHIFTED + MISTYPED:
        return mention.replace(type=draw.choice([name for name in types if name != mention.type] or types))
    return mention


def _shifted(document: Document, mention: Mention, draw: random.Random) -> Mention:
    """Return a mention whose first or last span has a token more or less at the outer end, within its sentence."""
    tokens, sentences = document.tokens, document.sentences
    assert tokens is not None
    assert sentences is not None
    starts, ends = tokens[:, 0].tolist(), tokens[:, 1].tolist()
    head, tail = mention.spans[0], mention.spans[-1]
    if head.start not in starts or tail.end not in ends:
        return mention
    first, last = starts.index(head.start), ends.index(tail.end)
    begin, end = sentences[np.searchsorted(sentences[:, 1], first, side="right")].tolist()
    ways = [(starts[i], None) for i in (first - 1, first + 1) if begin <= i < end and starts[i] < head.end]
    ways += [(None, ends[i]) for i in (last - 1, last + 1) if begin <= i < end and ends[i] > tail.start]
    if not ways:
        return mention
    start, stop = draw.choice(ways)
    spans = [list(span) for span in mention.spans]
    if start is not None:
        spans[0][0] = start
    if stop is not None:
        spans[-1][1] = stop
    return mention.replace(spans=spans, head=None)


def voted(versions: Sequence[Sequence[Document]], least: int) -> list[Document]:
    """Return documents with the mentions that so many annotators have at least."""
    found = []
    for each in zip(*versions, strict=True):
        every = {key_of(mention): mention for one in each for mention in one.mentions}
        votes = Counter(key_of(mention) for one in each for mention in one.mentions)
        found.append(each[0].copy(mentions=[every[key] for key in every if votes[key] >= least], meta={}))
    return found


def measured(case: Case, chosen: Any) -> dict[str, Any]:
    """Train in all ways, and test the differences."""
    train, dev, gold = parts_of(case.place, case.tested, chosen)
    train = [one.copy(id=str(i)) for i, one in enumerate(train)]  # GENIA has a text twice
    rows: dict[str, dict[str, Any]] = {}
    found = {}
    for way, documents in _ways(train, chosen.seed):
        model = Recognizer(case.structure, **FIXED, random_state=chosen.seed, n_jobs=chosen.jobs)
        seconds, _ = timed(lambda model=model, documents=documents: model.fit(documents, dev=dev))  # type: ignore[misc]
        found[way] = model.predict(gold)
        score = evaluate(gold, found[way]).overall
        marked = _quality(train, documents) if way not in (OURS, "pooled") else None
        rows[way] = {"f1": score.f1, "precision": score.precision, "recall": score.recall}
        rows[way] |= {"dev_f1": model.report_.dev_f1, "seconds": seconds.cpu, "marked": marked}
        if model.report_.annotators is not None:
            rows[way]["report"] = list(model.report_.annotators.lines())
        say(case.name, way, f"{score.f1:.4f}")
    best = max((_single(name) for name in NAMES), key=lambda way: rows[way]["f1"])
    tests = {}
    for way in (MAJORITY, best):
        tests[way] = paired_test(gold, found[OURS], found[way], seed=chosen.seed).to_dict()
    return {"commit": commit(), "documents": len(train), "rows": rows, "tests": tests}


def _single(name: str) -> str:
    return f"annotator {name} alone"


def _ways(train: list[Document], seed: int) -> Iterator[tuple[str, list[Document]]]:
    """Yield the name of each way, and what is learned in it."""
    versions = [annotated(train, name, seed) for name in NAMES]
    every = [one for version in versions for one in version]
    yield "clean annotation", train
    yield OURS, every
    yield MAJORITY, voted(versions, 2)
    for name, version in zip(NAMES, versions, strict=True):
        yield _single(name), [one.copy(meta={}) for one in version]
    yield "union", voted(versions, 1)
    yield "pooled", [one.copy(id=f"{one.id} {one.meta['annotator']}", meta={}) for one in every]


def _quality(train: Sequence[Document], documents: Sequence[Document]) -> float:
    """Return the F1 of what is learned, by the clean annotation."""
    return evaluate(train, documents).overall.f1


def written(kept: dict[str, Any], chosen: Any) -> None:
    """Write the record of the cases that have been run."""
    result = Result("Learning from three annotators who err", chosen.seed)
    rows = []
    for case in (one for one in CASES if one.name in kept):
        one = kept[case.name]
        for way, row in one["rows"].items():
            marked = "" if row["marked"] is None else f"{100 * row['marked']:.1f}"
            figures = (f"{100 * row[name]:.1f}" for name in ("f1", "precision", "recall", "dev_f1"))
            rows.append([case.name, way, marked, *figures, round(row["seconds"]), one["documents"], one["commit"]])
        for way, test in one["tests"].items():
            name = f"{case.name}: three annotators against {way}"
            result.at_least(f"{name}, points of test F1", 100 * test["difference"], 0.0)
            if test["difference"] > 0:
                result.at_most(f"{name}, p", test["p_value"], LEVEL)
    result.table(
        "F1 by what is learned from",
        ("corpus", "learned from", "its own F1", "test F1", "P", "R", "dev F1", "seconds", "documents", "commit"),
        rows,
        "*Its own F1*: of the mentions that are learned from, by the clean annotation.",
    )
    for case in (one for one in CASES if one.name in kept):
        told = [[line] for line in kept[case.name]["rows"][OURS]["report"]]
        result.table(f"What training says of {case.name}'s annotators", ("said",), told)
    result.data["cases"] = kept
    result.save(chosen.out)


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")
        parser.add_argument("--limit", type=int, help="training documents, the first ones [all]")
        parser.add_argument("--jobs", type=int, default=1, help="threads [1]")

    chosen = options("annotators", __doc__, add)
    run_cases(chosen, CASES, lambda case: measured(case, chosen), lambda kept: written(kept, chosen))


if __name__ == "__main__":
    main()
