"""Partial annotation: what is left of a model's F1 where mentions of its training data were deleted.

    python benchmarks/partial.py --data DATA [--only "GENIA, 50 %"] [--seeds 5] [--limit 400]
    python benchmarks/partial.py --data DATA --encoder FOLDER --only "GENIA, 50 %" --seeds 1 --limit 200 --passes 4

Deleted are 30, 50 or 70 % of all training mentions, drawn by a seed, or those of as large a share of all distinct
texts (*by text*: what an annotator never noticed). A tenth of the training documents, drawn by the seed, keeps all, and
tells the density; *density given* is that of all training data, as it is, less 30 %, but not less than what is left, or
30 % more. *As if complete* is trained on the same mentions as if they were all.

F1 on test data (of CRAFT on its development articles) as a share of that of the same model with all mentions.
*Untuned*: without a mention penalty. *Tuned*: with one, on complete development data for the model with all mentions,
and on data with as many mentions deleted for all others. *As if complete* takes these as complete, too, and completion
is told that they are not, so that its penalty makes as many mentions found as the density tells. Recognizers with
`separators` (of CRAFT `shared`), features `fast`, lambda 1, no second stage.

With an encoder, in a record of its own, a recognizer on features completes the annotation, and the development data,
which choose the pass, are complete. The folder is that of MiniLM, and its rate the one of `encoders.py`.

Cases are kept in the record: with --only, others stay as they are, with the commit that they were run on.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from common import RESULTS, Result, commit, options, parts_of, run_cases, say, token_count
from spanloom.document import Document
from spanloom.evaluate import evaluate
from spanloom.recognize import Recognizer

FIXED: dict[str, Any] = {"features": "fast", "l2": 1.0, "rescore": False}
SHARES = (0.3, 0.5, 0.7)
WHOLE = 10  # one document in so many keeps all mentions
CORPORA = {
    "GENIA": ("genia_documents", "test", "separators"),
    "CRAFT": ("craft", "dev", "shared"),
    "GUM": ("gum", "test", "separators"),
}


class Case(NamedTuple):
    """A corpus without some of its mentions.

    Args:
        name: in the table.
        place: its folder.
        tested: the part that F1 is on.
        structure: of the recognizer.
        share: of the mentions that are deleted.
        by_text: whether all mentions of a text are deleted, or none.
    """

    name: str
    place: str
    tested: str
    structure: str
    share: float
    by_text: bool


def cases() -> Iterator[Case]:
    """Yield all cases."""
    for name, (place, tested, structure) in CORPORA.items():
        for share in SHARES:
            yield Case(f"{name}, {100 * share:.0f} %", place, tested, structure, share, False)
        yield Case(f"{name}, 50 % by text", place, tested, structure, 0.5, True)


def without(documents: Sequence[Document], case: Case, seed: Sequence[int]) -> list[Document]:
    """Return documents without a share of their mentions."""
    draw = random.Random(str(seed))

    @cache
    def missed(_: tuple[str, str]) -> bool:
        return draw.random() < case.share

    def kept(document: Document, mention: Any) -> bool:
        if case.by_text:
            return not missed((mention.type, mention.text(document.text).lower()))
        return draw.random() >= case.share

    return [one.copy(mentions=[mention for mention in one.mentions if kept(one, mention)]) for one in documents]


def measured(case: Case, chosen: Any) -> dict[str, Any]:
    """Train on all mentions, and in all ways on those that are left."""
    train, dev, gold = parts_of(case.place, case.tested, chosen)
    per = _densities(train)
    rows: dict[str, list[float]] = {}
    for seed in range(chosen.seeds):
        parts = without(train, case, (chosen.seed, seed)), without(dev, case, (chosen.seed, seed, 1))
        for way, found in _ways(case, train, dev, parts, per, chosen, seed):
            rows.setdefault(way, []).append(evaluate(gold, found(gold)).overall.f1)
            say(case.name, f"seed {seed}", way, f"{rows[way][-1]:.4f}")
    return {"commit": commit(), "seeds": chosen.seeds, "documents": len(train), "rows": rows}


Predict = Callable[[Sequence[Document]], list[Document]]


def _ways(
    case: Case, train: list[Document], dev: list[Document], parts: tuple[list[Document], list[Document]],
    per: dict[str, float], chosen: Any, seed: int,
) -> Iterator[tuple[str, Predict]]:  # fmt: skip
    """Yield the name of each way, and what predicts in it."""
    left, held = parts
    draw = np.random.default_rng((chosen.seed, seed)).permutation(len(train))
    whole = set(draw[: max(1, len(train) // WHOLE)].tolist())
    given = [train[i] if i in whole else one for i, one in enumerate(left)]
    says = [one if i in whole else one.copy(meta={"annotation": "at-least"}) for i, one in enumerate(given)]
    some, some_held = ([one.copy(meta={"annotation": "at-least"}) for one in part] for part in (left, held))
    low = {name: max(0.7 * rate, _densities(left).get(name, 0.0)) for name, rate in per.items()}
    own = FIXED
    if chosen.encoder is not None:
        own = FIXED | {"encoder": chosen.encoder, "encoder_rate": 3e-4, "encoder_epochs": chosen.passes}

    def fit(documents: list[Document], held: list[Document], **more: Any) -> Recognizer:
        model = Recognizer(case.structure, **own, random_state=seed, n_jobs=chosen.jobs, **more)
        model.fit(documents, dev=held if chosen.encoder is None else dev)
        say(case.name, f"seed {seed}", f"dev F1 {model.report_.dev_f1:.4f}")
        return model

    full = fit(train, dev)
    yield "all mentions, tuned", full.predict
    yield "all mentions, untuned", full.with_penalty(0.0).predict
    for name, documents, more in (
        ("as if complete", given, {}),
        ("completed, density of the tenth", says, {}),
        ("completed, density given", some, {"density": per}),
        (
            "completed, density 30 % too low",
            some,
            {"density": low},
        ),
        ("completed, density 30 % too high", some, {"density": {k: 1.3 * v for k, v in per.items()}}),
    ):
        if (more and not chosen.densities) or (documents is given and chosen.encoder is not None):
            continue
        model = fit(documents, held if documents is given else some_held, **more)
        yield f"{name}, tuned", model.predict
        yield f"{name}, untuned", model.with_penalty(0.0).predict


def _densities(train: Sequence[Document]) -> dict[str, float]:
    """Return the mentions per 1,000 tokens of each type."""
    found: dict[str, float] = {}
    for document in train:
        for mention in document.mentions:
            found[mention.type] = found.get(mention.type, 0.0) + 1
    return {name: 1000 * count / token_count(train) for name, count in found.items()}


def written(kept: dict[str, Any], chosen: Any) -> None:
    """Write the record of the cases that have been run."""
    result = Result("Learning where mentions are missing", chosen.seed)
    rows = []
    for case in cases():
        if case.name not in kept:
            continue
        one = kept[case.name]
        for way, values in one["rows"].items():
            whole = np.array(one["rows"]["all mentions, " + way.rsplit(", ", 1)[1]])
            shares = 100 * np.array(values) / whole
            rows.append(
                [
                    case.name, way, f"{100 * np.mean(values):.1f}", f"{shares.mean():.1f}",
                    f"{shares.min():.1f} to {shares.max():.1f}", one["seeds"], one["documents"], one["commit"],
                ]
            )  # fmt: skip
            if case.share == 0.5 and way.startswith("completed, density of the tenth, "):
                result.at_least(f"{case.name}: {way}, share of F1 with all mentions", shares.mean(), 93)
    result.table(
        "F1 where mentions are missing",
        ("corpus, deleted", "way", "F1", "share of all mentions', %", "range", "seeds", "training documents", "commit"),
        rows,
    )
    result.data["cases"] = kept
    result.save(chosen.out)


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")
        parser.add_argument("--seeds", type=int, default=5, help="draws of what is deleted [5]")
        parser.add_argument("--limit", type=int, help="training documents, the first ones [all]")
        parser.add_argument(
            "--densities", action="store_true", help="also with a density that is given, right or wrong"
        )
        parser.add_argument("--jobs", type=int, default=1, help="threads [1]")
        parser.add_argument("--encoder", type=Path, help="the folder of an encoder [features]")
        parser.add_argument("--passes", type=int, help="of the encoder, at most [those of the default]")

    chosen = options("partial", __doc__, add)
    if chosen.encoder is not None and chosen.out == RESULTS / "partial.json":
        chosen.out = RESULTS / "partial_encoder.json"
    run_cases(chosen, cases(), lambda case: measured(case, chosen), lambda kept: written(kept, chosen))


if __name__ == "__main__":
    main()
