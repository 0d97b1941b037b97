"""One model of several corpora: how well it does on a corpus whose types it has not seen, and on its own.

    python benchmarks/union.py --data DATA [--only CASE]

Corpora are those of the ready model biomedical, with its types (models/biomedical.py); a type is learned from the
corpora that annotate it, and unknown in the others. The ready model and a model of each corpus alone, with the same
settings, are tested on the test documents of all corpora, by type. Some corpora have types that the ready model does
not learn from them, because their guidelines differ, such as the diseases of CRAFT: there it is tested on annotation
that is new to it. Models whose names begin with `leave` are of all corpora but one, with the settings of single models,
and are tested there. *Best single* is the single model with the best F1 there, which nobody could have chosen
beforehand. Plain text; strict F1 in percent; *overlap* counts a mention that shares characters with one of its type.
Choices were made on training and development documents.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from common import Clock, Result, options, run_cases, say

sys.path.append(str(Path(__file__).parents[1] / "models"))
from biomedical import SOURCES, Source, bare, material

from spanloom import Document, Recognizer, load
from spanloom.evaluate import evaluate

SETTINGS: dict[str, Any] = {"features": "fast", "l2": 1.0, "structure": "separators", "epochs": 8, "random_state": 0}
TYPES = ("gene_or_protein", "disease", "chemical", "species")
READY = Path(__file__).parents[1] / "models-sa" / "src" / "spanloom_models_sa" / "biomedical"
# types of test documents that the ready model does not learn from the corpus
UNSEEN = {
    "craft": {
        "MONDO": "disease", "CHEBI": "chemical", "CL": "cell", "UBERON": "anatomy", "GO_CC": "cellular_component",
    },
    "cancer_genetics": {"Cellular_component": "cellular_component"},
    "genia_documents": {"protein": "gene_or_protein", "cell_type": "cell"},
}  # fmt: skip


class Case(NamedTuple):
    """A model: that of a corpus, of all but one, or the ready one.

    Args:
        name: of the model, and in the record.
        sources: what it learns from, none for the ready one; nothing from a corpus without types, whose documents for
            tests are not learned from elsewhere, either.
    """

    name: str
    sources: Sequence[Source]


def types_of(source: Source) -> dict[str, str]:
    """Return the types of a corpus' test documents."""
    return source.types | UNSEEN.get(source.name, {})


CASES = [
    Case("biomedical", ()),
    *(Case(source.name, [source]) for source in SOURCES),
    *(
        Case(f"leave_{left.name}", [*(one for one in SOURCES if one != left), left._replace(types={})])
        for left in SOURCES
        if not {*TYPES}.isdisjoint(types_of(left).values())
    ),
]


def measured(case: Case, data: Path, limit: int | None) -> dict[str, Any]:
    """Return the figures of a model on the corpus that it leaves out, or on all."""
    if not case.sources:
        model: Any = load(READY)
    else:
        train, dev = (
            [one for one in part if one.meta["annotation"]["types"]] for part in material(data, case.sources)[:2]
        )
        with Clock() as clock:
            model = Recognizer(**SETTINGS).fit(train[:limit], dev=dev[:limit])
        say(f"{clock.seconds.cpu:.0f} s of processor time")
    left = [source.name for source in case.sources if not source.types]
    tests = [source._replace(types=types_of(source)) for source in SOURCES if source.name in left or not left]
    return {source.name: scores(model, source.parts(data)[2][:limit], source.types.values()) for source in tests}


def scores(model: Any, gold: Sequence[Document], types: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return strict and overlap F1 of each type that the model has."""
    kept = {*types} & {*model.types_}
    given, found = (
        [one.copy(mentions=[mention for mention in one.mentions if mention.type in kept]) for one in documents]
        for documents in (bare(gold), model.predict(bare(gold)))
    )
    strict = evaluate(given, found).types
    return {name: {"strict": 100 * strict[name].f1, "overlap": overlap(given, found, name)} for name in sorted(kept)}


def overlap(gold: Sequence[Document], found: Sequence[Document], name: str) -> float:
    """Return F1 of mentions of a type that share characters with one of the other side."""
    hits, sizes = [0, 0], [0, 0]
    for pair in zip(gold, found, strict=True):
        sides = [[m for m in one.mentions if m.type == name] for one in pair]
        for n in (0, 1):
            sizes[n] += len(sides[n])
            hits[n] += sum(any(a.start < b.end and b.start < a.end for b in sides[1 - n]) for a in sides[n])
    recall, precision = (hit / max(1, size) for hit, size in zip(hits, sizes, strict=True))
    return 200 * recall * precision / max(1e-9, recall + precision)


def singles(kept: dict[str, Any], corpus: str, name: str) -> dict[str, dict[str, float]]:
    """Return F1 of a type of a corpus by the models of one other corpus that have it."""
    found = {one.name: kept.get(one.name, {}).get(corpus, {}).get(name) for one in SOURCES if one.name != corpus}
    return {model: both for model, both in found.items() if both}


def against_singles(kept: dict[str, Any], model: str, corpus: str, types: Container[str]) -> list[list[Any]]:
    """Return a row of each type of a corpus that a model and one of one other corpus have."""
    rows = []
    for name, both in kept.get(model, {}).get(corpus, {}).items():
        if name in types and (others := singles(kept, corpus, name)):
            best = max(others, key=lambda one: others[one]["strict"])
            strict, loose = (fmean(one[way] for one in others.values()) for way in ("strict", "overlap"))
            rows.append(
                [corpus, name, strict, others[best]["strict"], best, both["strict"], loose, both["overlap"]]
            )  # fmt: skip
    return rows


def write(chosen: Any, kept: dict[str, Any]) -> None:
    """Write the record."""
    result = Result("One model of several corpora against models of one", chosen.seed)
    unseen, own, left = [], [], []
    for source in SOURCES:
        learned = {*source.types.values()}
        unseen += against_singles(kept, "biomedical", source.name, {*types_of(source).values()} - learned)
        left += against_singles(kept, f"leave_{source.name}", source.name, TYPES)
        for name in sorted(learned):
            single, both = (kept.get(one, {}).get(source.name, {}).get(name) for one in (source.name, "biomedical"))
            if single and both:
                found = singles(kept, source.name, name).items()
                others = ", ".join(f"{one['strict']:.1f} ({other})" for other, one in found)
                own.append([source.name, name, single["strict"], both["strict"], others])
    columns = ("corpus", "type", "mean single", "best single", "of", "{}", "mean single, overlap", "{}, overlap")
    for title, model, rows in (
        ("Types of a corpus that no model was trained on", "biomedical", unseen),
        ("A corpus that no model was trained on", "all others", left),
    ):
        result.table(title, [column.format(model) for column in columns], rows)
    gains = {
        name: [[row[5] - row[2], row[5] - row[3], row[7] - row[6]] for row in left if name in row[:2]]
        for name in (*TYPES, *dict.fromkeys(row[0] for row in left))
    }
    means = {name: [fmean(column) for column in zip(*rows, strict=True)] for name, rows in gains.items() if rows}
    result.table(
        "F1 gained there, mean",
        ("type or corpus", "over mean single", "over best single", "over mean single, overlap"),
        [[name, *row] for name, row in means.items()],
    )  # fmt: skip
    result.table(
        "Types of a corpus' own test documents",
        ("corpus", "type", "single", "biomedical", "models of one other corpus"), own,
    )  # fmt: skip
    if four := [row for row in unseen if row[1] in TYPES]:
        result.at_least("F1 gained over single models, types not trained on", fmean(r[5] - r[2] for r in four), 15.0)
    if four := [means[name] for name in TYPES if name in means]:
        for column, way in ((0, "strict"), (2, "overlap")):
            gained = fmean(row[column] for row in four)
            result.at_least(f"F1 gained over single models, corpus left out, mean of types, {way}", gained, 15.0)
    for corpus in dict.fromkeys(row[0] for row in own):
        lost = fmean(row[2] - row[3] for row in own if row[0] == corpus)
        result.at_most(f"F1 lost on {corpus}, mean of its types", lost, 1.0)
    result.data["cases"] = kept
    result.save(chosen.out)


def _more(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, help="use only so many documents of each corpus, to try the script")
    parser.add_argument("--only", action="append", help="run only models whose name begins so; others stay")


def main() -> None:
    """Measure, write."""
    chosen: Any = options("union", __doc__, _more)
    run_cases(chosen, CASES, lambda case: measured(case, chosen.data, chosen.limit), lambda kept: write(chosen, kept))


if __name__ == "__main__":
    main()
