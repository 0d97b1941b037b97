"""Teaching: what a linear student gains from a teacher's expected counts on raw text, on GENIA or another corpus.

    python benchmarks/teaching.py --data DATA
    python benchmarks/teaching.py --data DATA --teacher FOLDER [--features fast --features biomedical] \
        [--cache CACHE] [--crossed ENCODER] --out benchmarks/results/teaching_encoder.json

GENIA as abstracts, `separators`, or the case of `encoders.py` that --case names: of CRAFT with gaps F1 is on the
sentences with gaps, and on mentions with gaps alone. Without --teacher, the teacher is a recognizer with the default
features, trained on all of the training data: it is hardly better than its student, so this says whether teaching does
harm, and how much is learned from raw text alone; what a better teacher is worth, --teacher tells (several times for
the mean of several), in a record of its own that --out names. The student has the features `fast`, or those that
--features names, several times for several students; with --cache it has clusters of word vectors of raw text, too,
the ones that `rawtext.py` recommends. Raw text: all parts of CRAFT, BC5CDR, AnatEM and Cancer Genetics, but for the
corpus of the case, in an order drawn by the seed, without their annotations.

*A fifth annotated*: the teacher is trained on a fifth of GENIA's training abstracts, drawn by the seed, and the text of
the others is the raw text, so that it is of the same kind. Not with --teacher, which may have seen all.

*And crossed*: with --crossed, which names an encoder's folder, the gold text is learned from twice, as people and as
models see it. Each half of the training abstracts is marked up by a model with that encoder, three passes and a rate of
3e-4, that is trained on the other half and chosen on the development data; --cache keeps both.

lambda is 1 or 3, and the weight of raw text 0.3, 1 or 3, or what --l2 and --weight say, by development F1, which also
chooses the pass and the mention penalty. No model has a second stage, but for the students whose names say so. Test
data are looked at by this script alone; with a MiniLM teacher they were before, with the training parts of the raw text
and without the weight 3, where the student had 74.1 on development data and 72.0 on test data.

What teachers say of raw text is computed once a run, so the seconds of the first student have it in them, those of the
others have not.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from common import Clock, Result, check_only, commit, corpus, options, peak_memory, say, timed, token_count
from encoders import GENIA, all_cases
from rawtext import vectors_of
from second_stage import Case, compared, gap_f1
from spanloom.document import Batch, Document
from spanloom.evaluate import evaluate, paired_test
from spanloom.features import PRESETS
from spanloom.formats import read
from spanloom.hypergraph import Potentials
from spanloom.learn import SoftCounts
from spanloom.models import load
from spanloom.parallel import SERIAL
from spanloom.recognize import Recognizer, compact, teach
from spanloom.text import prepare

OTHERS = ("craft", "anatem", "cancer_genetics")
BC5CDR = {"train": "Training", "dev": "Development", "test": "Test"}
GIVEN: dict[str, Any] = {"rescore": False, "n_jobs": -1}
L2 = (1.0, 3.0)
WEIGHTS = (0.3, 1.0, 3.0)
SHARES = (0.25, 0.5, 1.0)  # of the raw text
BEHIND = 1.5  # points of F1 that the best student is to be behind its teacher, at most
FASTER = 250_000  # tokens a second and core that it is to read
FIFTH = 5
COMPACT = ", compact"
STAGES = {"": False, ", second stage": True}
_CELL = 4  # bytes of a count in a list: 16 bits, and 16 of its number


class Row(NamedTuple):
    """A row of the table.

    Args:
        name: of the model.
        make: trains it; returns it, and the seconds of training in wall clock and processor time, its teacher's word
            included.
        against: the row that it is compared with.
        teachers: the rows of those that teach it.
    """

    name: str
    make: Callable[[], tuple[Any, Any]]
    against: str | None = None
    teachers: Sequence[str] = ()


class Once:
    """A teacher's scorer, which reads each batch once.

    Args:
        scorer: that.
    """

    def __init__(self, scorer: Any) -> None:
        self._scorer = scorer
        self._known: dict[bytes, Potentials] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scorer, name)

    def score(self, batch: Batch, run: Any = SERIAL) -> Potentials:
        """The potentials of a batch."""
        text = repr((batch.words, batch.sentences.tolist(), [len(one.text) for one in batch.documents]))
        key = blake2b(text.encode("utf-8", "surrogatepass")).digest()
        if key not in self._known:
            self._known[key] = self._scorer.score(batch, run)
        return self._known[key]


@cache
def opened(path: str | Path) -> Recognizer:
    """A saved model, as a teacher."""
    model: Recognizer = load(path)
    model.model_ = model.fitted.scored_by(Once)
    return model


def raw_text(chosen: Any) -> list[Document]:
    """The raw documents, shuffled."""
    documents = []
    others = [name for name in OTHERS if not chosen.case.lower().startswith(name)]
    for part, name_of in BC5CDR.items():
        there = [name for name in others if (chosen.data / name / f"{part}.jsonl").exists()]
        documents += [document for name in there for document in corpus(chosen.data, name, part)]
        documents += read(chosen.data / f"bc5cdr/CDR_{name_of}Set.BioC.xml")
    random.Random(chosen.seed).shuffle(documents)
    return [prepare(Document(document.text)) for document in documents]


def all_annotated(
    chosen: Any, params: dict[str, Any], train: list[Document], dev: list[Document], raw: list[Document]
) -> Iterator[Row]:
    """Yield teacher and students on all of the training data, and on raw text of other corpora."""
    given = GIVEN | {"l2": list(chosen.l2 or L2), "random_state": chosen.seed}
    fast, weight = given | {"features": "fast"}, tuple(chosen.weight or WEIGHTS)
    teachers = [opened(path) for path in chosen.teacher or ()]
    names = [f"teacher {number}" for number in range(1, len(teachers) + 1)] or ["teacher"]
    for name, teacher in zip(names, teachers, strict=False):
        yield Row(name, lambda teacher=teacher: (teacher, (0.0, 0.0)))
    if not teachers:
        teachers = [Recognizer(**params, **given)]
        yield Row(names[0], partial(_fitted, teachers[0], train, dev))
    for preset in chosen.features or ["fast"]:
        name = "student" if preset == "fast" else f"student, features {preset}"
        own = fast | {"features": preset}
        if chosen.cache:
            name, own = f"{name}, clusters", own | {"clusters": str(vectors_of(chosen.data, "genia", chosen.cache))}
        for ending, stage in STAGES.items():
            own |= {"rescore": stage}
            against = f"{name}, gold alone{ending}"
            yield Row(against, partial(_fitted, Recognizer(**params, **own), train, dev))
            given = {"train": train, "weight": weight, "dev": dev, **own}
            for share in SHARES:
                taught = cache(partial(_taught, teachers, raw[: round(share * len(raw))], **given))
                told = f"{name}, gold and {100 * share:.0f} % of the raw text{ending}"
                yield from _and_compact(told, taught, against, names, dev)
            if chosen.crossed:
                taught = cache(partial(_taught_crossed, chosen, teachers, raw, **given))
                told = f"{name}, gold, all of the raw text, and crossed{ending}"
                yield from _and_compact(told, taught, against, names, dev)
    if not chosen.teacher:
        taught = partial(_taught, teachers, raw, dev=dev, **fast)
        yield Row("student, raw text alone", taught, "student, gold alone", names)


def a_fifth_annotated(chosen: Any, train: list[Document], dev: list[Document]) -> Iterator[Row]:
    """Yield teacher and students on a fifth of the training data; the text of the others is raw."""
    order = np.random.default_rng(chosen.seed).permutation(len(train)).tolist()
    cut = len(train) // FIFTH
    gold, rest = [train[i] for i in order[:cut]], [train[i] for i in order[cut:]]
    texts = _texts(rest)
    given = GIVEN | {"l2": list(chosen.l2 or L2), "random_state": chosen.seed}
    fast = given | {"features": "fast"}
    teacher = Recognizer("separators", **given)
    yield Row("a fifth annotated: teacher", partial(_fitted, teacher, gold, dev))
    name = "a fifth annotated: student, gold alone"
    yield Row(name, partial(_fitted, Recognizer("separators", **fast), gold, dev))
    taught = partial(_taught, [teacher], texts, train=gold, weight=tuple(chosen.weight or WEIGHTS), dev=dev, **fast)
    others = "a fifth annotated: student, gold and the text of the others"
    yield Row(others, taught, name, ["a fifth annotated: teacher"])


def _fitted(model: Recognizer, train: Sequence[Document], dev: Sequence[Document]) -> tuple[Recognizer, Any]:
    seconds, _ = timed(lambda: model.fit(train, dev=dev))
    return model, seconds


def _taught(teachers: list[Any], raw: list[Document], **given: Any) -> tuple[Recognizer, Any]:
    seconds, made = timed(lambda: teach(teachers, raw, **given))
    return made, seconds


def _and_compact(
    name: str, taught: Callable[[], tuple[Recognizer, Any]], against: str, names: list[str], dev: list[Document]
) -> Iterator[Row]:
    """Yield a student, and the same as `compact` makes it smaller by what it finds in development data."""

    def smaller() -> tuple[Recognizer, Any]:
        model, trained = taught()
        seconds, made = timed(lambda: compact(model, dev=dev))
        return made, (trained[0] + seconds.wall, trained[1] + seconds.cpu)

    yield Row(name, taught, against, names)
    yield Row(f"{name}{COMPACT}", smaller, against, names)


def _taught_crossed(
    chosen: Any, teachers: list[Any], raw: list[Document], train: list[Document], dev: list[Document], **given: Any
) -> tuple[Recognizer, Any]:
    halves = [train[::2], train[1::2]]
    others = [_of_half(chosen, number, half, dev) for number, half in enumerate(halves)]
    for one in others:
        one.splitter_ = teachers[0].splitter_  # each has learned its own, and teachers of a student must agree
    crossed = [(others[1], _texts(halves[0])), (others[0], _texts(halves[1]))]
    return _taught(teachers, raw, crossed=crossed, train=train, dev=dev, **given)


def _of_half(chosen: Any, number: int, half: list[Document], dev: list[Document]) -> Recognizer:
    """The model of a half of the training data, trained once."""
    folder = chosen.cache / f"half-{number}-{chosen.seed}"
    if not folder.exists():
        encoder = {"encoder": chosen.crossed, "encoder_rate": 3e-4, "encoder_epochs": 3}
        made, seconds = _fitted(Recognizer("separators", **encoder, random_state=chosen.seed), half, dev)
        say(f"model of half {number}: dev F1 {100 * made.report_.dev_f1:.2f}, {seconds.cpu:.0f} s")
        made.save(folder)
    return opened(folder)


def _texts(documents: Sequence[Document]) -> list[Document]:
    return [Document(one.text, tokens=one.tokens, sentences=one.sentences, columns=one.columns) for one in documents]


def wanted(rows: Sequence[Row], only: Sequence[str] | None) -> list[Row]:
    """Return the rows whose names begin as said, and those that they need."""
    check_only(only, [row.name for row in rows])
    named = [row for row in rows if only is None or row.name.startswith(tuple(only))]
    needed = {name for row in named for name in (row.name, row.against, *row.teachers)}
    return [row for row in rows if row.name in needed]


def measured(
    row: Row, model: Any, seconds: Any, case: Case, gold: Sequence[Document], seed: int,
    found: dict[str, Sequence[Document]],
) -> dict[str, Any]:  # fmt: skip
    """Return the figures of a model on test data; what it found of what counts is kept."""
    model = model.set_params(n_jobs=1)
    model.predict(gold[:2])
    with Clock() as clock:
        predicted = model.predict(gold)
    expected, found[row.name] = compared(case, gold, predicted)
    report = evaluate(expected, found[row.name], seed=seed)
    told = getattr(model.report_, "teaching", None)
    figures: dict[str, Any] = {
        "name": row.name, "dev_f1": model.report_.dev_f1, "precision": report.overall.precision,
        "recall": report.overall.recall, "f1": report.overall.f1,
        "gaps": gap_f1(expected, found[row.name]), "rate": token_count(gold) / clock.seconds.cpu,
        "seconds": list(seconds), "l2": model.report_.l2, "rows": model.report_.rows,
        "teaching": None if told is None else told.__dict__, "commit": commit(),
    }  # fmt: skip
    if row.against is not None:
        test = paired_test(expected, found[row.name], found[row.against], seed=seed)
        figures["paired"] = test.to_dict()
    say(row.name, figures["dev_f1"], figures["f1"], figures["rate"])
    return figures


def keeping(teacher: Any, raw: Sequence[Document]) -> list[list[Any]]:
    """Return what ways to keep counts take and lose, on the first of the raw documents."""
    batch, model = Batch.of(teacher.ready(raw[:100])), teacher.fitted
    potentials = model.scorer.score(batch)
    roles = model.engine.expectations(potentials, batch.sentences).roles
    none = np.zeros((len(batch.sentences) - 1, len(potentials.constants), roles.shape[2]))
    every, rows = float(roles.sum(dtype=float)), []
    for least in (1e-4, 1e-3, 1e-2):
        held = roles >= least
        lost = 1 - float(roles[held].sum(dtype=float)) / every
        rows.append([f"{least:g}", _CELL * held.sum() / len(roles), f"{100 * lost:.3f}"])
    soft = SoftCounts.of(roles, none, batch.sentences)
    rows.append(["none: all, 16 bits each", soft.roles.nbytes / len(roles), _rounding(soft, roles)])
    return [*rows, ["none: all, 32 bits each", roles.nbytes / len(roles), "0"]]


def _rounding(soft: SoftCounts, roles: Any) -> str:
    """Return what rounding to 16 bits changes in all, as a share of all."""
    changed = np.abs(soft.dense(np.arange(len(roles))) - roles).sum(dtype=float) / roles.sum(dtype=float)
    return f"{100 * changed:.3f}"


def main() -> None:
    """Train, choose, evaluate, write."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--case", default=GENIA, help="of encoders.py [GENIA abstracts, separators]")
        parser.add_argument("--teacher", action="append", help="a saved model; several times for the mean of several")
        parser.add_argument("--features", action="append", choices=PRESETS, help="of a student; several times [fast]")
        parser.add_argument("--cache", type=Path, help="a folder for clusters, which students then have [no clusters]")
        parser.add_argument("--crossed", type=Path, help="an encoder for models of halves; wants --cache [none]")
        parser.add_argument("--l2", action="append", type=float, help="lambda; several times [1 and 3]")
        parser.add_argument("--weight", action="append", type=float, help="of raw text; several times [0.3, 1 and 3]")
        parser.add_argument("--only", action="append", help="how names of rows begin; others stay as they are [all]")
        parser.add_argument("--limit", type=int, help="use only so many documents of each part, to try the script")

    chosen: Any = options("teaching", __doc__, add)
    if chosen.crossed and not chosen.cache:
        raise SystemExit("--crossed wants --cache, where models of halves are kept")
    if chosen.case != GENIA and (chosen.cache or not chosen.teacher):
        raise SystemExit("another case than GENIA's wants --teacher, and no --cache")
    case = next(case for case in all_cases(chosen.data, chosen.seed) if case.name == chosen.case)
    train, dev, test = (list(part)[: chosen.limit] for part in case.load())
    raw = raw_text(chosen)[: chosen.limit]
    gold = [prepare(document) for document in test]
    say(f"{len(raw):,} raw documents, {sum(len(d.sentences) for d in raw):,} sentences, {token_count(raw):,} tokens")
    before = json.loads(chosen.out.read_text())["data"] if chosen.only and chosen.out.exists() else {}
    rows, small = {row["name"]: row for row in before.get("rows", ())}, before.get("keeping")
    every = list(all_annotated(chosen, case.params, train, dev, raw))
    if not chosen.teacher:
        every += a_fifth_annotated(chosen, train, dev)
    found: dict[str, Sequence[Document]] = {}
    for row in wanted(every, chosen.only):
        model, seconds = row.make()
        small = small or keeping(model, raw)
        rows[row.name] = measured(row, model, seconds, case, gold, chosen.seed, found)
        written(chosen, rows, small, raw)


def written(chosen: Any, rows: dict[str, Any], small: list[list[Any]], raw: Sequence[Document]) -> None:
    """Write the record of the rows that have been run, those of other runs among them."""
    result = Result(f"Students of a teacher: {chosen.case}", chosen.seed)
    result.table(
        "Students and teachers",
        (
            "model", "dev F1", "test F1", "P", "R", "F1 of mentions with gaps", "against gold alone", "p",
            "weight of raw text", "lambda",
            "tokens a processor second", "training, processor seconds", "commit",
        ),
        [
            [
                row["name"], *(f"{100 * row[name]:.1f}" for name in ("dev_f1", "f1", "precision", "recall")),
                f"{100 * row['gaps']:.1f}" if row.get("gaps") else "",
                f"{100 * row['paired']['difference']:+.2f}" if "paired" in row else "",
                f"{row['paired']['p_value']:.4f}" if "paired" in row else "",
                "" if row["teaching"] is None else row["teaching"]["weight"], row["l2"], round(row["rate"]),
                round(row["seconds"][1]), row.get("commit", ""),
            ]
            for row in rows.values()
        ],
        f"Raw text of other corpora: {len(raw):,} documents, {sum(len(d.sentences) for d in raw):,} sentences, "
        f"{token_count(raw):,} tokens. p by approximate randomization over sentences. Training of the first student "
        f"of a run includes what its teacher says, not the teacher's own training. Peak memory {peak_memory():.1f} GB.",
    )  # fmt: skip
    result.table(
        "Keeping what is expected: lists of counts that are not small, and all of them; the first 100 raw documents",
        ("least count", "bytes a token", "share of all that is expected and lost or changed, %"), small,
    )  # fmt: skip
    if chosen.teacher:
        taught = [name for name, row in rows.items() if row["teaching"] is not None and not name.endswith(COMPACT)]
        teacher = max(row["f1"] for name, row in rows.items() if name.startswith("teacher"))
        for best in sorted(taught, key=lambda name: rows[name]["dev_f1"])[-1:]:
            for name in (best, f"{best}{COMPACT}"):
                if name in rows:
                    result.at_most(
                        f"{name}: test F1, less than its teacher's", 100 * (teacher - rows[name]["f1"]), BEHIND
                    )
                    result.at_least(f"{name}: tokens a processor second", rows[name]["rate"], FASTER)
    result.data = {"rows": list(rows.values()), "keeping": small}
    result.save(chosen.out)


if __name__ == "__main__":
    main()
