"""Simulated annotators: yes or no to single mentions, beside whole sentences, at equal estimated time.

    python benchmarks/annotators_questions.py --data DATA [--only "GENIA, questions"] [--seeds 5] [--limit 400]

All begin with the same 100 random sentences, which are complete; a model suggests, and another is trained when 0.25,
0.5, 1, 2 and 4 hours have gone into the rest. F1 is on development data, which nothing is chosen by.

- *sentences*: random sentences, whose suggestions are corrected to the gold mentions, as in `annotators_simulated.py`.
- *sentences by gain*: the same, in the order `gain` of `spanloom next`, a tenth at random.
- *questions*: whether one candidate is a mention, of all that the model finds or considers (probability 0.05 or more).
  Those with a probability nearest to 1/2 come first, at most one of a sentence between two trainings. An accepted one
  is a mention, a rejected one a claim under `not`; the rest of the sentence is `at-least`, as the page records it.

*Estimated time*: 0.4 s for each token that is read and 2 s for each action; 3 s more for each whole sentence, as for a
document of `spanloom next`. A question is one action, and nothing more is counted for finding its place; of its
sentence all tokens are read (*whole context*), or those of the mention and five on either side (*near context*).

Models are trained as `spanloom annotate --learn` trains them, with `separators` (features `fast`, no second stage).
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from annotators_simulated import ACTION, DOCUMENT, TOKEN, actions_for, cut
from common import Clock, Result, commit, corpus, options, run_cases, say
from spanloom.annotate.learning import Lesson, learned
from spanloom.annotate.ranking import ranked
from spanloom.document import Document, Mention
from spanloom.evaluate import evaluate
from spanloom.recognize import Recognizer
from spanloom.text import prepare

START = 100  # sentences
HOURS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
NEAR = 5  # tokens on either side of a mention
WAYS = ("sentences", "sentences by gain", "questions, whole context", "questions, near context")
CORPORA = {"GENIA": ("genia_documents", 0), "GUM": ("gum", 20)}


class Case(NamedTuple):
    """A corpus and a way to annotate it."""

    name: str
    place: str
    way: str


class Reached(NamedTuple):
    """What has been done after some hours, and what a model learned from it."""

    items: int
    accepted: int
    actions: int
    hours: float
    f1: float
    seconds: float


def cases() -> Iterator[Case]:
    """Yield all cases."""
    for name, (place, _) in CORPORA.items():
        for way in WAYS:
            yield Case(f"{name}, {way}", place, way)


class Annotator:
    """One annotator, who answers with gold mentions.

    Args:
        pool: sentences as documents, in random order.
        way: one of `WAYS`.
        seed: of the order `gain`.
    """

    def __init__(self, pool: Sequence[Document], way: str, seed: int) -> None:
        self._way, self._seed = way, seed
        self._pool = pool
        self._whole = list(range(START))
        self._open = list(range(START, len(pool)))
        self._answers: dict[int, tuple[list[Mention], list[Mention]]] = {}  # accepted, rejected
        self._seconds = 0.0
        self.items = self.accepted = self.actions = 0

    @property
    def hours(self) -> float:
        """Estimated."""
        return self._seconds / 3600

    def known(self) -> list[Document]:
        """Return what there is to learn from, as a store would give it."""
        found = [self._pool[number] for number in self._whole]
        for number, (accepted, rejected) in self._answers.items():
            claims = [{"spans": [list(span) for span in one.spans], "types": [one.type]} for one in rejected]
            said = {"annotation": {"default": "at-least", "not": claims}}
            found.append(self._pool[number].copy(mentions=accepted, meta=said))
        return found

    def work(self, model: Recognizer, hours: float) -> None:
        """Go on until so many hours have been spent."""
        blank = [self._pool[number].copy(mentions=[]) for number in self._open]
        if self._way.startswith("questions"):
            self._ask(model, blank, hours)
        else:
            self._read(model, blank, hours)

    def _read(self, model: Recognizer, blank: list[Document], hours: float) -> None:
        order = self._open
        if "gain" in self._way:
            most = int((hours - self.hours) * 3600 / DOCUMENT) + 1
            order = [self._open[one.number] for one in ranked(blank, model, most, by="gain", seed=self._seed)]
        for number in order:
            if self.hours >= hours:
                break
            gold = self._pool[number]
            [found] = model.stream([gold.copy(mentions=[])])
            actions = actions_for(gold, found)
            self._spend(DOCUMENT, gold.token_count, actions)
            self.accepted += len(gold.mentions)
            self._whole.append(number)
        done = set(self._whole)
        self._open = [number for number in self._open if number not in done]

    def _ask(self, model: Recognizer, blank: list[Document], hours: float) -> None:
        candidates: list[tuple[float, int, Mention]] = []
        for number, found, others in zip(self._open, model.stream(blank), model.alternatives(blank), strict=True):
            asked = {one.key for part in self._answers.get(number, ()) for one in part}
            left = [one for one in (*found.mentions, *others.mentions) if one.key not in asked]
            doubts = [(abs((one.score or 0.0) - 0.5), number, Mention(one.type, one.spans)) for one in left]
            candidates += [min(doubts, key=lambda one: one[0])] if doubts else []
        for _, number, mention in sorted(candidates, key=lambda one: one[:2]):
            if self.hours >= hours:
                break
            gold = self._pool[number]
            accepted, rejected = self._answers.setdefault(number, ([], []))
            right = mention.key in {one.key for one in gold.mentions}
            (accepted if right else rejected).append(mention)
            self._spend(0.0, near(gold, mention) if "near" in self._way else gold.token_count, 1)
            self.accepted += right

    def _spend(self, first: float, tokens: int, actions: int) -> None:
        self._seconds += first + TOKEN * tokens + ACTION * actions
        self.items += 1
        self.actions += actions


def near(document: Document, mention: Mention) -> int:
    """Return how many tokens a mention and the near context have."""
    assert document.tokens is not None
    starts, ends = document.tokens[:, 0], document.tokens[:, 1]
    touched = np.flatnonzero((starts < mention.end) & (ends > mention.start))
    return int(min(touched[-1] + NEAR, len(starts) - 1) - max(touched[0] - NEAR, 0) + 1)


def measured(case: Case, chosen: Any) -> dict[str, Any]:
    """Annotate by each seed."""
    whole = corpus(chosen.data, case.place, "train", chosen.limit)
    pool = [part for one in whole for part in cut(prepare(one), 1) if part.token_count]
    dev = [prepare(one) for one in corpus(chosen.data, case.place, "dev")]
    rounds = [annotated(case, pool, dev, chosen, seed) for seed in range(chosen.seeds)]
    return {
        "commit": commit(), "seeds": chosen.seeds, "sentences": len(pool), "limit": chosen.limit,
        "rounds": [[one._asdict() for one in of_seed] for of_seed in rounds],
    }  # fmt: skip


def annotated(case: Case, pool: Sequence[Document], dev: Sequence[Document], chosen: Any, seed: int) -> list[Reached]:
    """Return what was done, and the F1 after it, of each number of hours."""
    order = random.Random(str((chosen.seed, seed))).sample(list(pool), len(pool))
    annotator = Annotator(order, case.way, seed)
    settings = Recognizer("separators", features="fast", l2=1.0, rescore=False, random_state=seed)
    model: Recognizer | None = None
    found: list[Reached] = []
    for hours in HOURS:
        with Clock() as clock:
            if model is not None:
                annotator.work(model, hours)
            known = annotator.known()
            model = learned(Lesson(known, [], len(known)), settings)
        f1 = evaluate(dev, model.predict(dev)).overall.f1
        one = Reached(annotator.items, annotator.accepted, annotator.actions, annotator.hours, f1, clock.seconds.cpu)
        found.append(one)
        say(case.name, f"seed {seed}", f"{hours} h", f"{one.items} items", f"F1 {f1:.4f}", f"{one.seconds:.1f} s")
    return found


def written(kept: dict[str, Any], chosen: Any) -> None:
    """Write the record of the cases that have been run."""
    result = Result("Simulated annotators: single mentions and whole sentences", chosen.seed)
    rows: list[list[Any]] = []
    beside: list[list[Any]] = []
    for case in cases():
        if case.name not in kept:
            continue
        one = kept[case.name]
        other = kept.get(f"{case.name.partition(',')[0]}, sentences", {"rounds": []})["rounds"]
        for number, hours in enumerate(HOURS):
            of = {name: np.array([rounds[number][name] for rounds in one["rounds"]]) for name in Reached._fields}
            rows.append(
                [
                    case.name, f"{of['hours'].mean():.2f}", f"{100 * of['f1'].mean():.1f}",
                    f"{100 * of['f1'].min():.1f} to {100 * of['f1'].max():.1f}", round(of["items"].mean()),
                    round(of["accepted"].mean()), round(of["actions"].mean()), f"{of['seconds'].mean():.1f}",
                    one["seeds"], one["commit"],
                ]
            )  # fmt: skip
            if case.way != "sentences" and number and len(other) == one["seeds"]:
                gains = 100 * (of["f1"] - np.array([rounds[number]["f1"] for rounds in other]))
                beside.append(
                    [
                        case.name, f"{hours:g}", f"{gains.mean():+.1f}", f"{gains.min():+.1f} to {gains.max():+.1f}",
                        f"{(gains > 0).sum()} of {len(gains)}",
                    ]
                )  # fmt: skip
    result.table(
        "F1 on development data against estimated time",
        (
            "corpus, way", "estimated hours", "F1", "range", "sentences or questions", "mentions", "actions",
            "seconds of the round", "seeds", "commit",
        ),
        rows,
        f"Beside the first {START} sentences. Questions of which few are left end before the time does. Seconds are of "
        "the processor, to choose and to train.",
    )  # fmt: skip
    result.table(
        "F1 minus that of random sentences, by seed",
        ("corpus, way", "hours", "points", "range", "better seeds"),
        beside,
    )
    result.data["cases"] = kept
    result.save(chosen.out)


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")
        parser.add_argument("--seeds", type=int, default=5, help="annotators [5]")
        parser.add_argument("--limit", type=int, help="training documents to choose from, the first ones [all]")

    chosen = options("annotators_questions", __doc__, add)
    warnings.simplefilter("ignore")  # of each training, that there is little to learn from
    run_cases(chosen, cases(), lambda case: measured(case, chosen), lambda kept: written(kept, chosen))


if __name__ == "__main__":
    main()
