"""Simulated annotators who begin with a ready model: corrections per gold mention, before and after it is replaced.

    python benchmarks/annotators_start.py --data DATA [--only "GENIA, teacher"] [--seeds 5]

The annotator reads whole documents in random order, corrects the suggestions of the present model, and a model is
trained after 100, 300, 600, 1,000, 2,000 and 4,500 sentences, as `spanloom annotate --learn` trains it: of ten finished
documents one is held out, and a new model takes the place of the present one where its F1 on these is larger; of the
ready model only where these have 20 mentions or more, and approximate randomization gives p < 0.05.

*Corrections*: mentions that are added, removed, or changed in border or type, of the documents read between one
training and the next. No model has learned from these.

- *none*: no ready model; before the first training there are no suggestions.
- *kept*: the ready model suggests to the end.
- *own*: models learn from the finished documents alone, with the parameters of the ready model.
- *teacher*: models learn from the finished documents, and from what the ready model expects in up to 500 of the others.

Neither ready model has learned from what is annotated here: `genia` suggests in the development data of GENIA, whose
guidelines it knows (the size and the penalty of that model were chosen on them); `bc5cdr` in the training data of NCBI
Disease, whose guidelines differ and whose types are merged to one, *Disease*. Only types of the corpus are suggested.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from annotators_simulated import actions_for
from common import Clock, Result, commit, options, run_cases, say
from spanloom import load, read
from spanloom.annotate.learning import Lesson, compared, found_by, is_held_out, learned
from spanloom.document import Document, Mention
from spanloom.errors import DataError
from spanloom.model.protocol import MentionModel
from spanloom.recognize import Recognizer, teach
from spanloom.text import prepare

STOPS = (0, 100, 300, 600, 1000, 2000, 4500)  # sentences
RAW = 500  # documents that the ready model marks for its student
WAYS = ("none", "kept", "own", "teacher")


class Case(NamedTuple):
    """A corpus and a ready model, and how models learn."""

    name: str
    place: str
    ready: str
    way: str


class Block(NamedTuple):
    """What was read between two trainings, with the suggestions of the model before."""

    sentences: int
    mentions: int
    corrections: int
    actions: int
    replaced: bool
    seconds: float


def cases() -> Iterator[Case]:
    """Yield all cases."""
    for name, place, ready in (
        ("GENIA", "genia_documents/dev.jsonl", "genia"),
        ("NCBI Disease", "ncbi_disease/NCBItrainset_corpus.txt", "bc5cdr"),
    ):
        for way in WAYS:
            yield Case(f"{name}, {way}", place, ready, way)


def documents(place: Path) -> list[Document]:
    """Return what is annotated; the four types of NCBI Disease as one."""
    if place.suffix == ".jsonl":
        return [prepare(one) for one in read(place)]
    found = read(place, format="pubtator")
    return [prepare(one.copy(mentions=[Mention("Disease", each.spans) for each in one.mentions])) for one in found]


def suggested(model: MentionModel | None, given: Sequence[Document], types: set[str]) -> list[Document]:
    """Return documents with what a model finds of some types."""
    found = [one.copy(mentions=[]) for one in given] if model is None else found_by(model, given)
    return [one.copy(mentions=[each for each in one.mentions if each.type in types]) for one in found]


def trained(case: Case, known: list[Document], rest: Sequence[Document], ready: Recognizer) -> Recognizer | None:
    """Return a model that learned from finished documents; ``None`` where these are too few."""
    try:
        if case.way == "teacher" and rest:
            raw = [one.copy(mentions=[]) for one in rest[:RAW]]
            return teach(ready, raw, train=known, features="fast", l2=1.0, rescore=False, n_jobs=1)
        return learned(Lesson(known, [], len(known)), None if case.way == "none" else ready)
    except DataError as error:
        say(case.name, "no model:", error)
        return None


def annotated(case: Case, pool: Sequence[Document], seed: int) -> list[Block]:
    """Read documents in random order, to the last stop that the corpus reaches."""
    order = random.Random(str(seed)).sample(list(pool), len(pool))
    types = {each.type for one in pool for each in one.mentions}
    ready = load(case.ready)
    assert isinstance(ready, Recognizer)
    present: MentionModel | None = None if case.way == "none" else ready
    taken, count = 0, 0
    blocks: list[Block] = []
    for stop, following in zip(STOPS, (*STOPS[1:], None), strict=True):
        with Clock() as clock:
            replaced = False
            if stop and case.way != "kept":
                marks = [is_held_out(place, str(seed)) for place in range(taken)]
                known = [one for one, held in zip(order, marks, strict=False) if not held]
                held_out = [one for one, held in zip(order, marks, strict=False) if held]
                new = trained(case, known, order[taken:], ready)
                if new is not None and held_out:
                    others = None if present is None else found_by(present, held_out)
                    found = compared(held_out, found_by(new, held_out), others, earlier=present is not ready)
                    replaced = not found.why
                    present = new if replaced else present
        first, start = taken, count
        while taken < len(order) and (following is None or count < following):
            count += order[taken].sentence_count
            taken += 1
        golds = order[first:taken]
        finds = suggested(present, golds, types)
        actions = sum(map(actions_for, golds, finds))
        corrections = actions - sum(1 + bool(one.mentions) for one in finds)
        mentions = sum(len(one.mentions) for one in golds)
        blocks.append(Block(start, mentions, corrections, actions, replaced, clock.seconds.cpu))
        say(case.name, f"seed {seed}", start, f"{corrections / max(mentions, 1):.3f}", "replaced" if replaced else "")
        if taken == len(order):
            return blocks
    return blocks


def measured(case: Case, chosen: Any) -> dict[str, Any]:
    """Annotate by each seed."""
    pool = documents(chosen.data / case.place)
    every = [annotated(case, pool, seed) for seed in range(chosen.seeds)]
    return {
        "commit": commit(), "seeds": chosen.seeds, "documents": len(pool),
        "sentences": sum(one.sentence_count for one in pool), "mentions": sum(len(one.mentions) for one in pool),
        "blocks": [[one._asdict() for one in of_seed] for of_seed in every],
    }  # fmt: skip


def written(kept: dict[str, Any], chosen: Any) -> None:
    """Write the record of the cases that have been run."""
    result = Result("Simulated annotators: a ready model as a start", chosen.seed)
    rows: list[list[Any]] = []
    for case in cases():
        for number, stop in enumerate(STOPS):
            found = [each[number] for each in kept.get(case.name, {"blocks": []})["blocks"] if number < len(each)]
            if not found:
                continue
            per = np.array([one["corrections"] / one["mentions"] for one in found])
            actions = np.array([one["actions"] / one["mentions"] for one in found])
            rows.append(
                [
                    case.name, f"{stop:,}", f"{per.mean():.2f}", f"{per.min():.2f} to {per.max():.2f}",
                    f"{actions.mean():.2f}", f"{sum(one['replaced'] for one in found)} of {len(found)}",
                    round(np.mean([one["mentions"] for one in found])),
                    f"{np.mean([one['seconds'] for one in found]):.1f}", len(found), kept[case.name]["commit"],
                ]
            )  # fmt: skip
    result.table(
        "Corrections per gold mention, up to the next training",
        (
            "corpus, way", "sentences read", "corrections per mention", "range", "actions per mention",
            "model replaced", "mentions", "seconds of training", "seeds", "commit",
        ),
        rows,
        "Actions: corrections, and of each document one to accept what is right and one to finish. The last row of a "
        "corpus goes to its end. Seconds are of the processor.",
    )  # fmt: skip
    result.data["cases"] = kept
    result.save(chosen.out)


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")
        parser.add_argument("--seeds", type=int, default=5, help="annotators [5]")

    chosen = options("annotators_start", __doc__, add)
    warnings.simplefilter("ignore")  # of each training, that there is little to learn from
    run_cases(chosen, cases(), lambda case: measured(case, chosen), lambda kept: written(kept, chosen))


if __name__ == "__main__":
    main()
