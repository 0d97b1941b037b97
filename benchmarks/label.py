"""Rules and dictionaries as annotators: their own F1, and that of recognizers that learn from nothing else.

    python benchmarks/label.py --data DATA [--only BC5CDR] [--limit 100]

*BC5CDR diseases*: the names of MEDIC, folded; words that end as diseases do (-itis, -emia); what is too general votes
against. The rules were written before the first run, which showed test scores; after it overlaps were resolved for
the longest mention, and one rule moved to another annotator, which these rows do not see. *CRAFT CL*: the texts of
the training mentions of cells, in lower case: a dictionary that fits the corpus. Test data of CRAFT are its development
articles, and every tenth of its training articles is its development data.

All rows of a recognizer but the last are trained on the texts of the training data with what rules mark in them: *as
if complete*, or as ``at-least`` with a density. That is counted on the annotated development documents, mentions per
1,000 tokens (where more than that is marked it is what is marked, and 2 % more), which is all that is taken from them
but where *tuned* stands: there they choose the penalty, the pass and the calibration, too. *Untuned*: what rules mark
in the development texts chooses the pass, and there is no penalty. *With what rules mark*: their mentions in the test
data, and those of the recognizer that overlap none of them. The last row is trained on the gold mentions of the
training data. Recognizers with `separators`, features `fast`, lambda 1, no second stage.

Cases are kept in the record: with --only, others stay as they are, with the commit that they were run on.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from common import Result, commit, corpus, options, run_cases, say, timed, token_count
from spanloom.document import Document
from spanloom.evaluate import evaluate
from spanloom.formats import read
from spanloom.label import LabelReport, LabelRules, label_stream, read_label_rules
from spanloom.recognize import Recognizer
from spanloom.text import prepare

FIXED: dict[str, Any] = {"features": "fast", "l2": 1.0, "rescore": False}
ENDINGS = "itis|osis|emia|aemia|pathy|algia|uria|oma|omas|plegia|paresis|penia|trophy|megaly|rrhea|rrhage"
GENERAL = (
    "disease", "diseases", "disorder", "disorders", "syndrome", "syndromes", "symptoms", "complications",
    "complication", "injury", "lesion", "lesions", "condition", "recurrence", "diagnosis",
)  # fmt: skip


class Case(NamedTuple):
    """A corpus that is labelled by rules.

    Args:
        name: in the table.
        type: of its mentions.
    """

    name: str
    type: str


CASES = (Case("BC5CDR diseases, MEDIC", "Disease"), Case("CRAFT CL, training names", "CL"))


class Data(NamedTuple):
    """Documents with gold mentions of one type, and the rules."""

    train: list[Document]
    dev: list[Document]
    test: list[Document]
    rules: LabelRules


def of_type(documents: Sequence[Document], kind: str) -> list[Document]:
    """Return prepared documents with the mentions of one type."""
    return [prepare(one).copy(mentions=[m for m in one.mentions if m.type == kind]) for one in documents]


def data_of(case: Case, chosen: Any) -> Data:
    """Return the documents and the rules of a case."""
    if case.type == "Disease":
        folder = chosen.data / "bc5cdr"
        parts = [
            of_type(list(read(folder / f"CDR_{name}Set.BioC.xml"))[: chosen.limit], case.type)
            for name in ("Training", "Development", "Test")
        ]
        return Data(*parts, medic_rules(folder / "CTD_diseases.xml", case.type))
    whole = of_type(corpus(chosen.data, "craft", "train", chosen.limit), case.type)
    dev, train = whole[::10], [one for number, one in enumerate(whole) if number % 10]
    names = sorted({m.text(one.text).lower() for one in train for m in one.mentions if len(m.spans) == 1})
    names = [name for name in names if name.strip()]
    rules = {"rule": [{"name": "names", "kind": "phrases", "type": case.type, "phrases": names}]}
    return Data(train, dev, of_type(corpus(chosen.data, "craft", "dev"), case.type), read_label_rules(rules))


def medic_rules(path: Path, kind: str) -> LabelRules:
    """Return the rules of diseases."""
    general = ", ".join(f'"{word}"' for word in GENERAL)
    text = f"""
        overlaps = "longest"

        [[rule]]
        name = "MEDIC"
        kind = "vocabulary"
        type = "{kind}"
        file = "{path.resolve()}"

        [[rule]]
        name = "endings"
        kind = "pattern"
        type = "{kind}"
        weight = 0.7
        pattern = ["[a-z]{{3,}}(?:{ENDINGS})"]

        [[rule]]
        name = "general"
        kind = "phrases"
        type = "{kind}"
        vote = "against"
        annotator = "MEDIC"
        weight = 0.95
        phrases = [{general}]
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rules.toml"
        file.write_text(text)
        return read_label_rules(file)


def density(documents: Sequence[Document]) -> float:
    """Return the mentions per 1,000 tokens."""
    return 1000 * sum(len(one.mentions) for one in documents) / token_count(documents)


def measured(case: Case, chosen: Any) -> dict[str, Any]:
    """Label, train in all ways, and evaluate."""
    data = data_of(case, chosen)
    report, rows = LabelReport(), dict[str, list[float]]()
    seconds, labelled = timed(lambda: list(label_stream(data.train, data.rules, report=report)))
    held, own = (list(label_stream(part, data.rules)) for part in (data.dev, data.test))

    def score(way: str, predicted: Sequence[Document]) -> None:
        found = evaluate(data.test, predicted).overall
        rows[way] = [100 * found.precision, 100 * found.recall, 100 * found.f1]
        say(case.name, way, *(f"{value:.1f}" for value in rows[way]))

    score("rules alone", own)
    for way, model in _models(data, labelled, held, chosen):
        found = model.predict(data.test)
        score(way, found)
        if way.startswith("labels as at-least"):
            score(f"{way}, with what rules mark", [_together(a, b) for a, b in zip(own, found, strict=True)])
    return {
        "commit": commit(), "documents": len(data.train), "rows": rows, "report": report.to_dict(),
        "density": density(data.dev), "labelled density": density(labelled), "density of training": density(data.train),
        "tokens a second": round(token_count(data.train) / seconds.cpu),
    }  # fmt: skip


def _together(labelled: Document, predicted: Document) -> Document:
    """Return what rules mark, and what a model finds that overlaps none of it."""
    taken = {at for one in labelled.mentions for start, end in one.spans for at in range(start, end)}
    free = [
        one for one in predicted.mentions
        if taken.isdisjoint(at for start, end in one.spans for at in range(start, end))
    ]  # fmt: skip
    return labelled.copy(mentions=[*labelled.mentions, *free])


def _models(
    data: Data, labelled: list[Document], held: list[Document], chosen: Any
) -> Iterator[tuple[str, Recognizer]]:
    """Yield the name of each way to train, and the model."""

    def fit(documents: list[Document], dev: list[Document], **more: Any) -> Recognizer:
        model = Recognizer("separators", **FIXED, random_state=chosen.seed, n_jobs=chosen.jobs, **more)
        return model.fit(documents, dev=dev)

    complete = [[one.copy(meta={}) for one in part] for part in (labelled, held)]
    yield "labels as if complete, untuned", fit(*complete).with_penalty(0.0)
    yield "labels as if complete, tuned", fit(complete[0], data.dev)
    given = max(density(data.dev), 1.02 * density(labelled))  # less than what is marked is refused
    yield "labels as at-least, untuned", fit(labelled, complete[1], density=given).with_penalty(0.0)
    yield "labels as at-least, tuned", fit(labelled, data.dev, density=given)
    yield "gold, tuned", fit(data.train, data.dev)


def written(kept: dict[str, Any], chosen: Any) -> None:
    """Write the record of the cases that have been run."""
    result = Result("Rules and dictionaries as annotators", chosen.seed)
    ran = [(case, kept[case.name]) for case in CASES if case.name in kept]
    result.table(
        "Test precision, recall and F1",
        ("corpus", "way", "P", "R", "F1", "training documents", "commit"),
        [
            [case.name, way, *(f"{value:.1f}" for value in values), one["documents"], one["commit"]]
            for case, one in ran
            for way, values in one["rows"].items()
        ],
    )
    result.table(
        "What rules did on the training text",
        ("corpus", "rule", "matches", "documents", "overlaps", "conflicts"),
        [
            [case.name, *(rule[name] for name in ("name", "matches", "documents", "overlaps", "conflicts"))]
            for case, one in ran
            for rule in one["report"]["rules"]
        ],
    )
    result.table(
        "Mentions per 1,000 tokens, and speed",
        ("corpus", "labels", "development data, given", "training data, not known", "tokens a second, one core"),
        [
            [
                case.name, f"{one['labelled density']:.1f}", f"{one['density']:.1f}",
                f"{one['density of training']:.1f}", f"{one['tokens a second']:,}",
            ]
            for case, one in ran
        ],
    )  # fmt: skip
    result.data["cases"] = kept
    result.save(chosen.out)


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")
        parser.add_argument("--limit", type=int, help="documents of each part, the first ones [all]")
        parser.add_argument("--jobs", type=int, default=1, help="threads [1]")

    chosen = options("label", __doc__, add)
    run_cases(chosen, CASES, lambda case: measured(case, chosen), lambda kept: written(kept, chosen))


if __name__ == "__main__":
    main()
