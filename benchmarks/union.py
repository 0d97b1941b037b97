"""One model of several corpora: how well it does on a corpus whose types it has not seen, and on its own.

    python benchmarks/union.py --data DATA [--only CASE]

Corpora are those of the ready model biomedical, with its types (models/biomedical.py); a type is learned from the
corpora that annotate it, and unknown in the others. The ready model and a model of each corpus alone, with the same
settings, are tested on the test documents of all corpora, by type. Some corpora have types that the ready model does
not learn from them, because their guidelines differ, such as the diseases of CRAFT: there it is tested on annotation
that is new to it. *Best single* is the single model with the best F1 there, which nobody could have chosen beforehand.
Plain text; strict F1 in percent; *overlap* counts a mention that shares characters with one of its type. Choices were
made on training and development documents.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
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
    """A model: that of a corpus, or the ready one.

    Args:
        name: of the model, and in the record.
        source: ``None`` for the ready one.
    """

    name: str
    source: Source | None


CASES = [Case("biomedical", None), *(Case(source.name, source) for source in SOURCES)]


def measured(case: Case, data: Path, limit: int | None) -> dict[str, Any]:
    """Return the figures of a model on all corpora."""
    if case.source is None:
        model: Any = load(READY)
    else:
        train, dev, _ = material(data, [case.source])
        with Clock() as clock:
            model = Recognizer(**SETTINGS).fit(train[:limit], dev=dev[:limit])
        say(f"{clock.seconds.cpu:.0f} s of processor time")
    tests = [source._replace(types=source.types | UNSEEN.get(source.name, {})) for source in SOURCES]
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


def write(chosen: Any, kept: dict[str, Any]) -> None:
    """Write the record."""
    result = Result("One model of several corpora against models of one", chosen.seed)
    ready, unseen, own = kept.get("biomedical", {}), [], []
    for source in SOURCES:
        for name, both in ready.get(source.name, {}).items():
            singles = {
                other: found[source.name][name]
                for other, found in kept.items()
                if other not in ("biomedical", source.name) and name in found[source.name]
            }
            if name in source.types.values():
                single = kept.get(source.name, {}).get(source.name, {}).get(name)
                others = [f"{one['strict']:.1f} ({other})" for other, one in singles.items()]
                if single is not None:
                    own.append([source.name, name, single["strict"], both["strict"], ", ".join(others)])
            elif singles:
                best = max(singles, key=lambda one: singles[one]["strict"])
                means = [fmean(one[way] for one in singles.values()) for way in ("strict", "overlap")]
                unseen.append(
                    [source.name, name, means[0], singles[best]["strict"], best, both["strict"], means[1],
                     both["overlap"]]
                )  # fmt: skip
    result.table(
        "Types of a corpus that no model was trained on",
        ("corpus", "type", "mean single", "best single", "of", "biomedical", "mean single, overlap", "overlap"), unseen,
    )  # fmt: skip
    result.table(
        "Types of a corpus' own test documents",
        ("corpus", "type", "single", "biomedical", "models of one other corpus"), own,
    )  # fmt: skip
    four = [row for row in unseen if row[1] in TYPES]
    if four:
        result.at_least("F1 gained over single models, types not trained on", fmean(r[5] - r[2] for r in four), 15.0)
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
