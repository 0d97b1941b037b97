"""The vectors that come with Spanloom: development F1 without them, with them, and by the default, which chooses.

    python benchmarks/english.py --data DATA [--only gum]

A recognizer is trained by default on the text and the mentions of the training part, and finds the mentions of the
development part, which chooses its penalties, too. The bundled notes have too little text for the default to try
vectors. Test data are not read. The vectors' raw text holds the training parts of these corpora, without annotation
(`models/english.py`).
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NamedTuple

from choices import Parts, parts
from common import Result, options, run_cases, say, token_count
from spanloom import Document, Recognizer, read
from spanloom.data import clinical
from spanloom.evaluate import evaluate
from spanloom.text import prepare

WAYS = ("none", "english", "auto")


class Case(NamedTuple):
    """A corpus."""

    name: str


CASES = [Case(name) for name in ("notes", "gum", "ncbi_disease", "bc5cdr", "cancer_genetics", "anatem")]


def loaded(case: Case, data: Path) -> Parts:
    """Return training and development data as plain text with mentions."""
    if case.name == "notes":
        own = Parts(*(list(read(clinical() / part)) for part in ("train", "dev")))
    else:
        own = parts(data, case.name)
    return Parts(*([Document(one.text, id=one.id, mentions=one.mentions) for one in part] for part in own[:2]))


def measured(case: Case, data: Path, seed: int) -> dict[str, Any]:
    """Return F1 of each way, in percent, and what the default chose."""
    train, dev, *_ = loaded(case, data)
    found: dict[str, Any] = {"tokens": token_count(map(prepare, train))}
    for way in WAYS:
        model = Recognizer(vectors=way, random_state=seed).fit(train, dev=dev)
        report = evaluate(dev, model.predict([one.copy(mentions=()) for one in dev]))
        found[way] = 100 * report.overall.f1
        say(f"{case.name}, {way}: {found[way]:.2f}")
    found["chosen"] = "none" if model.report_.vectors is None else "english"
    return found


def write(chosen: Any, kept: dict[str, Any]) -> None:
    """Write the record."""
    result = Result("The vectors that come with Spanloom", chosen.seed)
    rows = [
        [name, found["tokens"], found["none"], found["english"], found["english"] - found["none"], found["auto"],
         found["chosen"]]
        for name, found in kept.items()
    ]  # fmt: skip
    result.table(
        "Development F1", ("corpus", "tokens", "without", "with", "gain", "by default", "the default chose"), rows
    )
    result.data["cases"] = kept
    result.save(chosen.out)


def _more(parser: ArgumentParser) -> None:
    parser.add_argument("--only", action="append", help="run only corpora whose name begins so; others stay")


def main() -> None:
    """Measure, write."""
    chosen: Any = options("english", __doc__, _more)
    run_cases(chosen, CASES, lambda case: measured(case, chosen.data, chosen.seed), lambda kept: write(chosen, kept))


if __name__ == "__main__":
    main()
