"""What each addition to a plain recognizer is worth alone, and what is lost without it, on development data.

    python benchmarks/ablations.py --data DATA --cache FOLDER [--only GUM]

The plain recognizer is `separators`, or `split` where mentions have gaps, with one pass, no second stage, all overlaps
allowed, tokens as they are and no clusters. Added are: a second pass over documents; the second stage; overlaps as
training shows; tokens split where training mentions cut them; clusters of raw text (`rawtext.py`, `vectors_of`); and,
where mentions have gaps, the second stage's templates of gaps, which are nothing without that stage. lambda is 1. All
rows of a corpus are chosen by the same development data that they are shown on, so differences are comparable and
figures are somewhat high.

Corpora are kept in the record: with --only, others stay as they are, with the commit that they were run on.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from common import Result, commit, corpus, options, run_cases, say, timed
from gapped import Data, Task
from rawtext import vectors_of
from spanloom.document import Document
from spanloom.formats import read
from spanloom.recognize import Recognizer
from spanloom.rescoring import fitting
from spanloom.rescoring.values import GROUPS

Parts = tuple[list[Document], list[Document]]
PLAIN: dict[str, Any] = {"passes": "one", "rescore": False, "overlap": "free", "split_tokens": False, "clusters": None}
GAPS = "templates of gaps"


class Case(NamedTuple):
    """A corpus.

    Args:
        name: of the rows.
        load: training and development data.
        clusters: its name in `rawtext.py`; none for a corpus that is not there.
        gaps: whether mentions have gaps.
    """

    name: str
    load: Callable[[], Parts]
    clusters: str | None
    gaps: bool = False


def cases(folder: Path, seed: int) -> Iterator[Case]:
    """Yield all corpora, quick ones first."""

    def files(*paths: str, format: str | None = None) -> Parts:
        train, dev = (list(read(folder / path, format=format)) for path in paths)
        return train, dev

    def standard(name: str) -> Callable[[], Parts]:
        return lambda: (corpus(folder, name, "train"), corpus(folder, name, "dev"))

    def craft() -> Parts:
        data = Data(Task("CRAFT", "craft", ("GO_BP", "CL", "UBERON"), ("disc",), ("split",)), folder, None, "dev")
        return data.training("disc", seed)

    ncbi = [f"ncbi_disease/NCBI{part}set_corpus.txt" for part in ("train", "develop")]
    yield Case("NCBI Disease", lambda: files(*ncbi, format="pubtator"), "ncbi_disease")
    cdr = [f"bc5cdr/CDR_{part}Set.BioC.xml" for part in ("Training", "Development")]
    yield Case("BC5CDR", lambda: files(*cdr), "bc5cdr")
    yield Case("CRAFT, sentences with gaps", craft, None, gaps=True)
    yield Case("GUM", standard("gum"), "gum")
    yield Case("AnatEM", standard("anatem"), "anatem")
    yield Case("GENIA abstracts", standard("genia_documents"), "genia")


def additions(case: Case, chosen: Any) -> dict[str, dict[str, Any]]:
    """Return the parameters that each addition sets."""
    found: dict[str, dict[str, Any]] = {
        "two passes": {"passes": "two"},
        "second stage": {"rescore": True},
        "overlaps as in training": {"overlap": "learned"},
        "split tokens": {"split_tokens": True},
    }
    if case.clusters is not None:
        found["clusters of raw text"] = {"clusters": str(vectors_of(chosen.data, case.clusters, chosen.cache))}
    if case.gaps:
        found[GAPS] = {}
    return found


def f1(case: Case, parts: Parts, added: dict[str, dict[str, Any]], seed: int) -> float:
    """Return development F1 in percent with some additions."""
    params = dict(PLAIN)
    for own in added.values():
        params |= own
    templates = [text for name, group in GROUPS.items() for text in group if name != "gaps" or GAPS in added]
    model = Recognizer("split" if case.gaps else "separators", l2=1.0, random_state=seed, **params)
    with patch.object(fitting, "TEMPLATES", tuple(templates)):
        seconds, _ = timed(lambda: model.fit(parts[0], dev=parts[1]))
    say(f"  {', '.join(added) or 'plain'}: {100 * model.report_.dev_f1:.2f}, {seconds.cpu:.0f} s")
    return 100 * model.report_.dev_f1


def measured(case: Case, chosen: Any) -> dict[str, Any]:
    """Train with nothing added, each addition, all, and all but each."""
    parts, every = case.load(), additions(case, chosen)

    def of(*names: str) -> float:
        return f1(case, parts, {name: every[name] for name in names}, chosen.seed)

    plain, whole = of(), of(*every)
    alone = {name: of(name) - plain for name in every if name != GAPS}
    without = {name: whole - of(*(other for other in every if other != name)) for name in every}
    return {"commit": commit(), "plain": plain, "all": whole, "alone": alone, "without": without}


def written(names: list[str], kept: dict[str, Any], chosen: Any) -> None:
    """Write the record of the corpora that have been run."""
    result = Result("Each addition alone, and left out", chosen.seed)
    run = [name for name in names if name in kept]
    every = list(dict.fromkeys(name for corpus_name in run for name in kept[corpus_name]["without"]))

    def row(label: str, key: str, addition: str) -> list[str]:
        return [label, *(f"{kept[n][key][addition]:+.2f}" if addition in kept[n][key] else "" for n in run)]

    result.table(
        "Development F1",
        ["", *run],
        [
            ["plain", *(f"{kept[name]['plain']:.2f}" for name in run)],
            *(row(f"+ {name}", "alone", name) for name in every if name != GAPS),
            ["all", *(f"{kept[name]['all']:.2f}" for name in run)],
            *(row(f"lost without {name}", "without", name) for name in every),
            ["commit", *(kept[name]["commit"] for name in run)],
        ],
    )
    result.data["cases"] = kept
    result.save(chosen.out)


def main() -> None:
    """Run the corpora, and write the record."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--cache", type=Path, required=True, help="a folder for clusters")
        parser.add_argument("--only", action="append", help="names of corpora, or how they begin [all]")

    chosen = options("ablations", __doc__, add)
    chosen.cache.mkdir(parents=True, exist_ok=True)
    every = list(cases(chosen.data, chosen.seed))
    names = [case.name for case in every]
    run_cases(chosen, every, lambda case: measured(case, chosen), lambda kept: written(names, kept, chosen))


if __name__ == "__main__":
    main()
