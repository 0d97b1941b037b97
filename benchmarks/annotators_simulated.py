"""Simulated annotators: what a model learns from documents chosen to be annotated next, and with how many actions.

    python benchmarks/annotators_simulated.py --data DATA [--only "GUM, gain"] [--seeds 3] [--limit 400]

The annotator answers with the gold mentions of training documents. All begin with the same 1 % of the tokens, drawn at
random; then a model is trained, what is read next is chosen as `spanloom next` chooses it (a tenth at random), until 2,
4, 8, 16 and 30 % of the tokens have been read. Articles of CRAFT and texts of GUM are cut into documents of 20
sentences. F1 is on development data, which nothing is chosen by.

*Actions*: of a document with suggestions, one to accept all mentions that the model finds, one to finish it, and one
for each mention that is added, removed, or corrected: a wrong mention that overlaps a missed one becomes that one by a
change of its border or type. *From scratch*: one for each mention, and one to finish.

*Estimated time*: 3 s for each document and 0.4 s for each token, as `spanloom next` counts reading, and 2 s for each
action.

Recognizers with `separators` (of CRAFT `shared`), features `fast`, lambda 1, no second stage, penalty and calibration
by cross-fitting within what has been read.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from common import Clock, Result, commit, corpus, options, run_cases, say, token_count
from spanloom.annotate.ranking import ORDERS, Order, ranked
from spanloom.document import Document, Mention
from spanloom.evaluate import evaluate
from spanloom.recognize import Recognizer
from spanloom.text import prepare

SETTINGS: dict[str, Any] = {"features": "fast", "l2": 1.0, "rescore": False}
DOCUMENT, TOKEN, ACTION = 3.0, 0.4, 2.0  # seconds
SHARES = (0.01, 0.02, 0.04, 0.08, 0.16, 0.3)
CORPORA = {
    "GENIA": ("genia_documents", "separators", 0),
    "CRAFT": ("craft", "shared", 20),
    "GUM": ("gum", "separators", 20),
}


class Case(NamedTuple):
    """A corpus, and a way to choose what is read next.

    Args:
        name: in the table.
        place: its folder.
        structure: of the recognizer.
        size: sentences of a document; 0 to leave documents whole.
        order: of `ranked`.
    """

    name: str
    place: str
    structure: str
    size: int
    order: Order


class Read(NamedTuple):
    """What has been read after a round, and what a model learned from it."""

    tokens: int
    mentions: int
    actions: int
    scratch: int
    f1: float
    seconds: float


def cases() -> Iterator[Case]:
    """Yield all cases."""
    for name, (place, structure, size) in CORPORA.items():
        for order in ORDERS:
            yield Case(f"{name}, {order}", place, structure, size, order)


def cut(document: Document, size: int) -> Iterator[Document]:
    """Yield a document in pieces of some sentences; a mention that reaches beyond one is in none."""
    if not size or document.sentence_count <= size:
        yield document
        return
    assert document.tokens is not None and document.sentences is not None
    for first in range(0, document.sentence_count, size):
        rows = document.sentences[first : first + size]
        low, high = int(rows[0, 0]), int(rows[-1, 1])
        tokens = document.tokens[low:high]
        start, end = int(tokens[0, 0]), int(tokens[-1, 1])
        inside = [one for one in document.mentions if start <= one.start and one.end <= end]
        moved = [Mention(one.type, [(a - start, b - start) for a, b in one.spans]) for one in inside]
        columns = {name: values[low:high] for name, values in document.columns.items()}
        name = f"{document.id}.{first}"
        yield Document(document.text[start:end], name, tokens - start, rows - low, columns, moved)


def actions_for(gold: Document, found: Document) -> int:
    """Return the actions that make the gold mentions of a document out of those that a model found.

    1. Mentions that are right are accepted, all at once.
    2. A wrong mention that overlaps a missed one, of its own type if there is one, is corrected to it.
    3. Other wrong ones are removed, other missed ones are added.
    """
    right = {one.key for one in gold.mentions} & {one.key for one in found.mentions}
    missed = [one for one in gold.mentions if one.key not in right]
    wrong = [one for one in found.mentions if one.key not in right]
    count = 1 + bool(found.mentions)
    for one in wrong:
        over = [other for other in missed if other.start < one.end and one.start < other.end]
        if over:
            missed.remove(min(over, key=lambda other: other.type != one.type))
        count += 1
    return count + len(missed)


def measured(case: Case, chosen: Any) -> dict[str, Any]:
    """Annotate by each seed."""
    whole = corpus(chosen.data, case.place, "train", chosen.limit)
    pool = [part for one in whole for part in cut(prepare(one), case.size)]
    dev = [prepare(one) for one in corpus(chosen.data, case.place, "dev")]
    size = token_count(pool)
    rounds = [annotated(case, pool, dev, size, chosen, seed) for seed in range(chosen.seeds)]
    return {
        "commit": commit(), "seeds": chosen.seeds, "documents": len(pool), "tokens": size,
        "mentions": sum(len(one.mentions) for one in pool), "limit": chosen.limit,
        "rounds": [[one._asdict() for one in of_seed] for of_seed in rounds],
    }  # fmt: skip


def annotated(
    case: Case, pool: Sequence[Document], dev: Sequence[Document], size: int, chosen: Any, seed: int
) -> list[Read]:
    """Return what was read, and the F1 after it, of each round."""
    left = list(range(len(pool)))
    random.Random(str((chosen.seed, seed))).shuffle(left)
    model: Recognizer | None = None
    read: list[Document] = []
    tokens = actions = scratch = 0
    found: list[Read] = []
    for share in SHARES:
        with Clock() as clock:
            if model is not None:
                count = 2 * int((share * size - tokens) / size * len(pool)) + 1  # more than needed, unless short
                texts = [pool[number].copy(mentions=[]) for number in left]
                order = ranked(texts, model, count, by=case.order, seed=1000 * chosen.seed + seed)
                first = [left[one.number] for one in order]
                left = first + [number for number in left if number not in first]
            taken = []
            while left and tokens < share * size:
                taken.append(pool[left.pop(0)])
                tokens += max(taken[-1].token_count, 1)
            blank = [one.copy(mentions=[]) for one in taken]
            suggested = blank if model is None else list(model.stream(blank))
            actions += sum(map(actions_for, taken, suggested))
            scratch += sum(len(one.mentions) + 1 for one in taken)
            read += taken
            model = Recognizer(case.structure, **SETTINGS, random_state=seed, n_jobs=chosen.jobs).fit(read)
        f1 = evaluate(dev, model.predict(dev)).overall.f1
        mentions = sum(len(one.mentions) for one in read)
        found.append(Read(tokens, mentions, actions, scratch, f1, clock.seconds.cpu))
        say(case.name, f"seed {seed}", f"{100 * share:.0f} %", f"F1 {f1:.4f}", f"{clock.seconds.cpu:.1f} s")
    return found


def written(kept: dict[str, Any], chosen: Any) -> None:
    """Write the record of the cases that have been run."""
    result = Result("Simulated annotators: what is read next", chosen.seed)
    rows: list[list[Any]] = []
    beside: list[list[Any]] = []
    for case in cases():
        if case.name not in kept:
            continue
        one = kept[case.name]
        by_seed = one["rounds"]
        corpus_name = case.name.partition(",")[0]
        random_ = kept.get(f"{corpus_name}, random")
        for number, share in enumerate(SHARES):
            of = {name: np.array([rounds[number][name] for rounds in by_seed], float) for name in Read._fields}
            read = (
                DOCUMENT * (of["scratch"] - of["mentions"]) + TOKEN * of["tokens"]
            )  # from scratch: and one a document
            rows.append(
                [
                    case.name, f"{100 * share:.0f} %", f"{100 * of['f1'].mean():.1f}",
                    f"{100 * of['f1'].min():.1f} to {100 * of['f1'].max():.1f}", round(of["mentions"].mean()),
                    round(of["actions"].mean()), f"{(of['actions'] / of['scratch']).mean():.2f}",
                    f"{(read + ACTION * of['actions']).mean() / 3600:.1f}",
                    f"{of['seconds'].mean():.1f}", one["seeds"], one["commit"],
                ]
            )  # fmt: skip
            if random_ and case.order != "random" and number and random_["seeds"] == one["seeds"]:
                other = np.array([rounds[number]["f1"] for rounds in random_["rounds"]])
                gains = 100 * (of["f1"] - other)
                beside.append(
                    [
                        case.name, f"{100 * share:.0f} %", f"{gains.mean():+.1f}",
                        f"{gains.min():+.1f} to {gains.max():+.1f}", f"{(gains > 0).sum()} of {len(gains)}",
                    ]
                )  # fmt: skip
    result.table(
        "F1 on development data against what was read",
        (
            "corpus, order", "tokens read", "F1", "range", "mentions", "actions", "actions, of those from scratch",
            "estimated hours", "seconds of the round", "seeds", "commit",
        ),
        rows,
        "Mentions and actions are sums up to the round; seconds are of the processor, to choose and to train.",
    )  # fmt: skip
    result.table(
        "F1 minus that of random, by seed", ("corpus, order", "tokens read", "points", "range", "better seeds"), beside
    )
    result.data["cases"] = kept
    result.save(chosen.out)


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")
        parser.add_argument("--seeds", type=int, default=5, help="annotators [5]")
        parser.add_argument("--limit", type=int, help="training documents to choose from, the first ones [all]")
        parser.add_argument("--jobs", type=int, default=1, help="threads [1]")

    chosen = options("annotators_simulated", __doc__, add)
    run_cases(chosen, cases(), lambda case: measured(case, chosen), lambda kept: written(kept, chosen))


if __name__ == "__main__":
    main()
