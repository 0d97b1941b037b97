"""What a second pass over documents is worth: one pass and two, on development data alone.

    python benchmarks/document_passes.py --data DATA [--only "GENIA abstracts"]

Recognizers (`separators`) with a second stage and without, and cascades. lambda is 1. All is chosen on the same
development data, for one pass as for two, so the differences are comparable and the figures are somewhat high.

Cases are kept in the record: with --only, others stay as they are, with the commit that they were run on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from common import Clock, Result, commit, corpus, options, run_cases, say, timed, token_count
from spanloom.document import Document
from spanloom.formats import read
from spanloom.recognize import Recognizer
from spanloom.text import prepare
from spanloom_lab import Cascade

Loader = Callable[[], tuple[list[Document], list[Document]]]


class Case(NamedTuple):
    """A model on a corpus: its name, training and development data, and whether it is a cascade."""

    name: str
    load: Loader
    cascade: bool


def cases(folder: Path) -> Iterator[Case]:
    """Yield all cases."""

    def standard(name: str) -> Loader:
        return lambda: (corpus(folder, name, "train"), corpus(folder, name, "dev"))

    def files(place: str, pattern: str, names: Sequence[str], format: str | None = None) -> Loader:
        def load() -> tuple[list[Document], list[Document]]:
            train, dev = (list(read(folder / place / pattern.format(name), format=format)) for name in names)
            return train, dev

        return load

    corpora = {
        "GENIA abstracts": standard("genia_documents"),
        "GUM": standard("gum"),
        "BC5CDR": files("bc5cdr", "CDR_{}Set.BioC.xml", ("Training", "Development")),
        "NCBI Disease": files("ncbi_disease", "NCBI{}set_corpus.txt", ("train", "develop"), "pubtator"),
        "AnatEM": standard("anatem"),
    }
    for cascade in (False, True):
        for name, load in corpora.items():
            yield Case(f"{name}, {'cascade' if cascade else 'separators'}", load, cascade)


def measured(case: Case, seed: int) -> dict[str, Any]:
    """Train with one pass and with two."""
    train, dev = case.load()
    gold = [prepare(document) for document in dev]
    found: dict[str, Any] = {"commit": commit(), "tokens": token_count(gold)}
    for way in ("one", "two"):
        make = Cascade if case.cascade else Recognizer
        model = make(l2=1.0, passes=way, random_state=seed)
        seconds, _ = timed(lambda model=model: model.fit(train, dev=dev))
        second = None if case.cascade else model.report_.rescoring
        with Clock() as clock:
            model.predict(gold)
        found[way] = {
            "f1": second.before if second else model.report_.dev_f1,
            "rescored": second.after if second else None,
            "seconds": seconds.cpu, "rate": found["tokens"] / clock.seconds.cpu,
        }  # fmt: skip
        say(way, json.dumps(found[way]))
    return found


def written(kept: dict[str, Any], chosen: Any) -> None:
    """Write the record of the cases that have been run."""
    result = Result("One pass over documents, and two", chosen.seed)

    def row(name: str) -> list[Any]:
        one, two = kept[name]["one"], kept[name]["two"]
        cells = [name, *(f"{100 * way['f1']:.2f}" for way in (one, two)), f"{100 * (two['f1'] - one['f1']):+.2f}"]
        if one["rescored"] is None or two["rescored"] is None:
            cells += ["", "", ""]
        else:
            cells += [f"{100 * way['rescored']:.2f}" for way in (one, two)]
            cells += [f"{100 * (two['rescored'] - one['rescored']):+.2f}"]
        return [*cells, *(round(way[key]) for key in ("seconds", "rate") for way in (one, two)), kept[name]["commit"]]

    result.table(
        "Development F1",
        (
            "model", "one pass", "two", "difference", "with the second stage: one pass", "two", "difference",
            "training, processor seconds: one pass", "two", "tokens a processor second: one pass", "two", "commit",
        ),
        [row(case.name) for case in cases(chosen.data) if case.name in kept],
        "Recognizers are trained and timed with the second stage; their first columns are its first stage with the "
        "tuned mention penalty. `auto` trains both ways, and takes the time of both.",
    )  # fmt: skip
    result.data["cases"] = kept
    result.save(chosen.out)


def main() -> None:
    """Run the cases, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", action="append", help="names of cases, or how they begin [all]")

    chosen = options("document_passes", __doc__, add)
    run_cases(chosen, cases(chosen.data), lambda case: measured(case, chosen.seed), lambda kept: written(kept, chosen))


if __name__ == "__main__":
    main()
