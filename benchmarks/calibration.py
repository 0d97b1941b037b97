"""Are scores what they claim to be? Of the mentions with score 0.8, four in five should be right.

    python benchmarks/calibration.py --data DATA --cache CACHE

One model each, trained with the default settings but one lambda (1; 0.1 for Chinese): GENIA and BC5CDR with
separators, GUM with separators and with heads (preset `ace`), CRAFT with SHARED and SPLIT (the types GO_BP, CL and
UBERON), UNER Chinese with the segmenter. Passes, penalty and the map of the scores come from development data; test
data are looked at once. CRAFT is measured on its development part, with a tenth of the training articles held out as
development data.

Models have no second stage and no rules of overlap, so that all of the best structure is scored by marginals; scores
with both, which are the default, are those of `second_stage.py`.

Three ways to score the same mentions: exact marginals under the scores with the mention penalty, as version 0.1.0 had
them; exact marginals of the trained model, without it; and those calibrated, which is what a model gives.

What a model gave is kept in the folder CACHE, and an interrupted run goes on where it was. CACHE knows nothing of
changes of the program.

An expected calibration error is not 0 even for probabilities that are right to the last digit, because right and wrong
are drawn: *by chance* says how large it then is, in the mean of 200 draws with the calibrated scores.
"""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from common import Result, corpus, options, say
from gapped import Data, Task
from segmentation import sentences
from spanloom.document import Batch, Document, batches
from spanloom.evaluate import KEYS, Calibration, calibration
from spanloom.evaluate.compare import compare
from spanloom.evaluate.measures import calibration_error
from spanloom.evaluate.units import units
from spanloom.formats import read
from spanloom.learn.platt import FEWEST, IDENTITY, UNSCALED, fit_platt
from spanloom.model.calibration import judged_sentences
from spanloom.model.corpus import place
from spanloom.parallel import SERIAL
from spanloom.recognize import Progress, Recognizer, TrainingReport
from spanloom.recognize.recognizer import BATCH_TOKENS
from spanloom.segment import Segmenter
from spanloom.segment.characters import split, word_starts
from spanloom.segment.placing import placed
from spanloom.text import prepare, prepare_all
from spanloom_lab.comparison import Parts

WAYS = ("with the penalty", "without", "calibrated")
CRAFT = Task("craft", "craft", ("GO_BP", "CL", "UBERON"), ("all",), ())
TARGET = 3.0  # per cent
DRAWS, FOLDS = 200, 5
COUNTS, CURVE_DRAWS = (FEWEST, 100, 200, 400), 20
PRIOR = 10.0  # of `spanloom.learn.platt`


class Case(NamedTuple):
    """A model on a corpus.

    Args:
        name: in the tables.
        load: the parts of the corpus.
        model: untrained.
        match: what makes a mention right, a key of `KEYS`.
    """

    name: str
    load: Callable[[], Parts]
    model: Recognizer | Segmenter
    match: str = "exact"


@dataclass
class Outcome:
    """What one part of a corpus says of a trained model.

    Args:
        ways: the calibration of each of `WAYS`.
        chance: the error that right probabilities would show.
        exact, right: (M,) marginals of the predicted mentions, and whether they are right.
        document: (M,) where each stands.
        answers: sentences, the part of them that is right, and the errors of exact and of calibrated probabilities.
        others: of mentions that are considered, but not predicted.
    """

    ways: dict[str, Calibration]
    chance: float
    exact: NDArray[np.float64]
    right: NDArray[np.bool_]
    document: NDArray[np.int64]
    answers: tuple[int, float, float, float]
    others: Calibration | None


class Measured(NamedTuple):
    """What a model gave on both parts, and what training chose."""

    dev: Outcome
    test: Outcome
    facts: dict[str, Any]


def cases(chosen: argparse.Namespace) -> list[Case]:
    """All of them."""
    common = {"n_jobs": -1, "random_state": chosen.seed}
    given = {"l2": 1.0, "rescore": False, "overlap": "free", **common}

    def standard(name: str) -> Parts:
        return Parts(*(corpus(chosen.data, name, part, chosen.limit) for part in ("train", "dev", "test")))

    def bc5cdr() -> Parts:
        names = ("Training", "Development", "Test")
        return Parts(*(list(read(chosen.data / "bc5cdr" / f"CDR_{n}Set.BioC.xml"))[: chosen.limit] for n in names))

    def craft() -> Parts:
        data = Data(CRAFT, chosen.data, chosen.limit)
        return Parts(*data.training("all", chosen.seed), data.dev)

    def uner() -> Parts:
        found = sentences("uner_zh", chosen.data)
        return Parts(*(found[part][: chosen.limit] for part in ("train", "dev", "test")))

    return [
        Case("UNER Chinese, segmenter", uner, Segmenter(l2=0.1, **common)),
        Case("BC5CDR, separators", bc5cdr, Recognizer("separators", **given)),
        Case("GUM, separators", lambda: standard("gum"), Recognizer("separators", "ace", **given)),
        Case("GUM, heads", lambda: standard("gum"), Recognizer("heads", "ace", headless="whole", **given), "heads"),
        Case("GENIA, separators", lambda: standard("genia"), Recognizer("separators", **given)),
        Case("CRAFT, shared", craft, Recognizer("shared", **given)),
        Case("CRAFT, split", craft, Recognizer("split", **given)),
    ]


def scored(model: Recognizer | Segmenter, documents: Sequence[Document]) -> dict[str, list[Document]]:
    """What a model finds, scored in each of `WAYS`."""
    rows = _by_segmenter(model, documents) if isinstance(model, Segmenter) else _by_recognizer(model, documents)
    return {way: list(found) for way, found in zip(WAYS, zip(*rows, strict=True), strict=True)}


def _by_recognizer(model: Recognizer, documents: Sequence[Document]) -> Iterator[tuple[Document, ...]]:
    tagger = model.fitted
    for batch in batches(documents, BATCH_TOKENS, prepare_all):
        ready = Batch.of(model.ready(batch))
        potentials, offsets = tagger.scorer.score(ready), ready.sentences
        found = tagger.decode(potentials, offsets, model.reading)
        moved = tagger.penalized(potentials)
        ways = (
            tagger.probabilities(moved, offsets, found, calibrated=False),
            tagger.probabilities(potentials, offsets, found, calibrated=False),
            tagger.probabilities(potentials, offsets, found),
        )
        yield from zip(*(place(ready, found, tagger.types, scores, 0.0) for scores in ways), strict=True)


def _by_segmenter(model: Segmenter, documents: Sequence[Document]) -> Iterator[tuple[Document, ...]]:
    for ready in batches(documents, BATCH_TOKENS, prepare_all):
        batch = split(ready)
        decoded = model._decode(model.fitted, batch, SERIAL)
        side = decoded.side(words=False)
        moved = side.model.penalized(side.potentials)
        ways = (
            side.model.probabilities(moved, batch.offsets, side.numbered(decoded.mentions), calibrated=False),
            decoded.probabilities(decoded.mentions, words=False, calibrated=False),
            decoded.probabilities(decoded.mentions, words=False),
        )
        marked = (placed(batch.batch, decoded, scores, model.types_, 0.0) for scores in ways)
        yield from zip(*marked, strict=True)


def outcome(case: Case, gold: Sequence[Document], seed: int) -> Outcome:
    """Measure a trained model."""
    model, key = case.model, KEYS[case.match]
    found = scored(model, gold)
    exact, right, document = _judged(gold, found["without"], case.match)
    calibrated = _judged(gold, found["calibrated"], case.match)[0]
    rng = np.random.default_rng(seed)
    chance = np.mean([calibration_error(calibrated, rng.random(len(calibrated)) < calibrated) for _ in range(DRAWS)])
    considered = None
    if isinstance(model, Recognizer):
        considered = calibration(gold, list(model.alternatives(gold)), key=key)
    return Outcome(
        {way: calibration(gold, documents, key=key) for way, documents in found.items()}, float(chance), exact, right,
        document, _answers(case, gold), considered,
    )  # fmt: skip


def _judged(
    gold: Sequence[Document], found: Sequence[Document], match: str
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
    side = compare(gold, found, units(gold, found), KEYS[match]).predicted
    return np.array([mention.score for mention in side.mentions]), side.hit, side.document


def _answers(case: Case, gold: Sequence[Document]) -> tuple[int, float, float, float]:
    found = case.model.predict(gold, answers=True)
    asked, right = judged_sentences([prepare(document) for document in gold], found, KEYS[case.match])
    if isinstance(case.model, Segmenter):
        right &= _same_words(gold, found)
    right = right[asked]
    exact, calibrated = (
        calibration_error(_of_sentences(documents)[asked], right)
        for documents in (uncalibrated(case.model).predict(gold, answers=True), found)
    )
    return len(right), float(right.mean()), exact, calibrated


def _of_sentences(documents: Sequence[Document]) -> NDArray[np.float64]:
    return np.array([p for document in documents for p in document.meta["answer"]["sentences"]])


def uncalibrated(model: Recognizer | Segmenter) -> Recognizer | Segmenter:
    """The same with exact probabilities."""
    other = copy(model)
    if isinstance(other, Recognizer):
        other.model_ = replace(other.fitted, scalings=UNSCALED)
    else:
        other.model_ = replace(other.fitted, scalings=UNSCALED)
    return other


def _same_words(gold: Sequence[Document], found: Sequence[Document]) -> NDArray[np.bool_]:
    one, other = (split([prepare(document) for document in side]) for side in (gold, found))
    unlike = np.append(0, np.cumsum(word_starts(one.batch) != word_starts(other.batch)))
    same: NDArray[np.bool_] = np.diff(unlike[one.offsets]) == 0
    return same


def maps(found: Outcome, seed: int) -> dict[str, tuple[float, float]]:
    """Calibration error and log loss of several maps on development data, fitted on the other folds' documents."""
    fold = np.random.default_rng(seed).permutation(int(found.document.max()) + 1)[found.document] % FOLDS
    with np.errstate(divide="ignore"):
        low, high = (np.log(np.maximum(p, 1e-6)) for p in (found.exact, 1 - found.exact))
    one, x = np.ones_like(low), low - high
    columns = {
        "none": (np.stack([x]), [1.0], False),
        "intercept": (np.stack([x, one]), [1.0, 0.0], True),
        "slope and intercept": (np.stack([x, one]), [1.0, 0.0], True),
        "beta, three numbers": (np.stack([low, -high, one]), [1.0, 1.0, 0.0], True),
    }
    result = {}
    for name, (rows, start, fits) in columns.items():
        free = np.array([False, True]) if name == "intercept" else np.ones(len(start), bool)
        p = np.empty_like(x)
        for number in range(FOLDS):
            rest, held = fold != number, fold == number
            weights = _fitted(rows[:, rest], found.right[rest], np.array(start), free) if fits else np.array(start)
            p[held] = 1 / (1 + np.exp(-weights @ rows[:, held]))
        p = np.clip(p, 1e-9, 1 - 1e-9)
        loss = -np.where(found.right, np.log(p), np.log1p(-p)).mean()
        result[name] = calibration_error(p, found.right), float(loss)
    return result


def _fitted(
    rows: NDArray[np.float64], right: NDArray[np.bool_], start: NDArray[np.float64], free: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Newton's method, with the prior of `spanloom.learn.platt`."""
    weights = start.copy()
    for _ in range(30):
        p = 1 / (1 + np.exp(-weights @ rows))
        gradient = (rows @ (right - p) - PRIOR * (weights - start))[free]
        second = ((rows * (p * (1 - p))) @ rows.T + PRIOR * np.eye(len(start)))[np.ix_(free, free)]
        weights[free] += np.linalg.solve(second, gradient)
    return weights


def learning_curve(found: Outcome, seed: int) -> list[tuple[float, float]]:
    """Errors without and with a map fitted to a few predictions, on all the others, for each of `COUNTS`."""
    rng, rows = np.random.default_rng(seed), []
    with np.errstate(divide="ignore"):
        given = np.log(found.exact)
    for count in COUNTS:
        errors = []
        for _ in range(CURVE_DRAWS):
            order = rng.permutation(len(given))
            some, rest = order[:count], order[count:]
            both = IDENTITY, fit_platt(given[some], found.right[some])
            errors.append([calibration_error(one.of_log(given[rest]), found.right[rest]) for one in both])
        without, with_map = np.mean(errors, axis=0).tolist()
        rows.append((without, with_map))
    return rows


def report(found: dict[str, Measured], seed: int) -> Result:
    """Tables and targets."""
    result = Result("Calibration of scores", seed)
    result.table(
        "Expected calibration error of predicted mentions, %",
        ("model", "data", "mentions", "right %", *WAYS, "by chance", "Brier score, with the penalty", "calibrated"),
        [
            [
                name, part, one.ways[WAYS[0]].count, f"{100 * one.ways[WAYS[0]].accuracy:.1f}",
                *(f"{100 * one.ways[way].error:.2f}" for way in WAYS), f"{100 * one.chance:.2f}",
                f"{one.ways[WAYS[0]].brier:.4f}", f"{one.ways[WAYS[2]].brier:.4f}",
            ]
            for name, (*both, _) in found.items()
            for part, one in zip(("dev", "test"), both, strict=True)
        ],
        "The map was fitted to the development data. In GUM, heads, a mention is right with its head.",
    )  # fmt: skip
    for name, (_, test, _) in found.items():
        result.at_most(f"{name}, test: calibration error, %", 100 * test.ways[WAYS[2]].error, TARGET)
    result.table(
        "Test data: mentions in each bin of the calibrated score, their mean score and how many are right, %",
        ("model", *(f"{low / 10:.1f}" for low in range(10))),
        [
            [name, *(f"{b.mentions:,}: {100 * b.score:.0f}, {100 * b.accuracy:.0f}" for b in test.ways[WAYS[2]].bins)]
            for name, (_, test, _) in found.items()
        ],
    )
    result.table(
        "Test data: the same with the mention penalty in the scores",
        ("model", *(f"{low / 10:.1f}" for low in range(10))),
        [
            [name, *(f"{b.mentions:,}: {100 * b.score:.0f}, {100 * b.accuracy:.0f}" for b in test.ways[WAYS[0]].bins)]
            for name, (_, test, _) in found.items()
        ],
    )
    result.table(
        "Mentions with a calibrated score of at least 0.05 that are not predicted",
        ("model", "data", "mentions", "mean score %", "right %", "calibration error %"),
        [
            [name, part, c.count, *(f"{100 * value:.1f}" for value in (c.score, c.accuracy, c.error))]
            for name, (*both, _) in found.items()
            for part, one in zip(("dev", "test"), both, strict=True)
            if (c := one.others) is not None
        ],
        "Of those that the best structures with higher penalties propose. The map was fitted to predicted mentions.",
    )
    result.table(
        "Whole sentences: is the answer right?",
        ("model", "data", "sentences", "right %", "error of exact probabilities %", "calibrated"),
        [
            [name, part, one.answers[0], *(f"{100 * value:.2f}" for value in one.answers[1:])]
            for name, (*both, _) in found.items()
            for part, one in zip(("dev", "test"), both, strict=True)
        ],
    )
    tried = {name: maps(dev, seed) for name, (dev, _, _) in found.items()}
    result.table(
        f"Maps compared on development data, {FOLDS} folds of documents: calibration error in %, log loss",
        ("model", *next(iter(tried.values()))),
        [[name, *(f"{100 * e:.2f}, {loss:.4f}" for e, loss in own.values())] for name, own in tried.items()],
        "Slope and intercept (Platt 1999) are used. Beta calibration (Kull et al. 2017) has a slope for each side.",
    )
    curves = {name: learning_curve(dev, seed) for name, (dev, _, _) in found.items()}
    result.table(
        "How many predictions a map needs: calibration error in % on the other development data, without and with one",
        ("model", *(f"{count:,}" for count in COUNTS)),
        [[name, *(f"{100 * a:.2f}, {100 * b:.2f}" for a, b in rows)] for name, rows in curves.items()],
        f"Means of {CURVE_DRAWS} draws. From {FEWEST} predictions on a map is fitted.",
    )
    result.data["models"] = {
        name: {**facts, "dev": _figures(dev), "test": _figures(test)} for name, (dev, test, facts) in found.items()
    }
    result.data["maps"], result.data["curves"] = tried, curves
    return result


def _figures(one: Outcome) -> dict[str, Any]:
    return {
        "ways": {way: found.to_dict() for way, found in one.ways.items()}, "chance": one.chance,
        "answers": one.answers, "others": None if one.others is None else one.others.to_dict(),
    }  # fmt: skip


def measured(case: Case, chosen: argparse.Namespace) -> Measured:
    """Train and measure, or take what was kept."""
    kept = chosen.cache / f"{case.name}, limit {chosen.limit}, seed {chosen.seed}.pickle"
    if kept.exists():
        found: Measured = pickle.loads(kept.read_bytes())
        return found
    parts, model = case.load(), case.model
    say(case.name)
    model.fit(parts.train, dev=parts.dev, progress=_tell)
    report = model.report_
    penalties = (
        report.penalty if isinstance(report, TrainingReport) else {k: c.penalty for k, c in report.chains.items()}
    )
    facts = {
        "parameters": model.get_params(), "scalings": asdict(model.fitted.scalings), "penalty": penalties,
        "dev_f1": report.dev_f1,
    }  # fmt: skip
    found = Measured(outcome(case, parts.dev, chosen.seed), outcome(case, parts.test, chosen.seed), facts)
    chosen.cache.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(pickle.dumps(found))
    return found


def _tell(step: Progress) -> None:
    if step.dev_f1 is not None:
        say(f"  {step.seconds:6.1f} s {step.stage} {step.step}: dev F1 {100 * step.dev_f1:.2f}")


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cache", required=True, type=Path, help="a folder for what was measured")
    parser.add_argument("--limit", type=int, help="documents of each part, at most")


def main() -> None:
    """Train, measure, write."""
    chosen = options("calibration", __doc__, _more)
    report({case.name: measured(case, chosen) for case in cases(chosen)}, chosen.seed).save(chosen.out)


if __name__ == "__main__":
    main()
