"""What the defaults rest on: lambda, presets and Brown clusters on the development data of seven corpora.

    python benchmarks/choices.py --data DATA

A recognizer (`separators`) is trained on the training data and tuned on the development data, whose F1 is told. No test
data are read. Parts of speech are left out, as new text has none. Clusters are induced from the training text, or from
the training text of all seven corpora.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from common import Result, corpus, options, save_clusters, say, timed
from spanloom import read
from spanloom.document import Document
from spanloom.model.parameters import LAMBDAS as DEFAULTS
from spanloom.recognize import Recognizer
from spanloom.text import prepare

LAMBDAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
PRESETS = ("biomedical", "clinical", "genia", "ace", "conll", "small")
CLUSTERS = 500
CRAFT_ARTICLES = 20
FILES = {
    "bc5cdr": ("bc5cdr/CDR_TrainingSet.BioC.xml", "bc5cdr/CDR_DevelopmentSet.BioC.xml"),
    "ncbi_disease": ("ncbi_disease/NCBItrainset_corpus.txt", "ncbi_disease/NCBIdevelopset_corpus.txt"),
}
CORPORA = ("gum", "genia", "craft", "bc5cdr", "ncbi_disease", "anatem", "cancer_genetics")


class Parts(NamedTuple):
    """One corpus."""

    train: list[Document]
    dev: list[Document]


def parts(data: Path, name: str) -> Parts:
    """Its training and development data."""
    if name in FILES:
        kind = "pubtator" if name == "ncbi_disease" else None
        found = [list(read(data / file, format=kind)) for file in FILES[name]]
        # one document is twice in a corpus
        return Parts(*(list({document.id: document for document in documents}.values()) for documents in found))
    train = corpus(data, name, "train", CRAFT_ARTICLES if name == "craft" else None)
    types = {mention.type for document in train for mention in document.mentions}
    dev = [
        document.copy(mentions=[mention for mention in document.mentions if mention.type in types])
        for document in corpus(data, name, "dev")
    ]
    return Parts(train, dev)


def dev_f1(own: Parts, seed: int, **params: Any) -> float:
    """Development F1 in percent, tuned."""
    recognizer = Recognizer(rescore=False, overlap="free", ignore=["pos"], n_jobs=-1, random_state=seed, **params)
    seconds, _ = timed(lambda: recognizer.fit(own.train, dev=own.dev))
    say(f"  {params}: {100 * recognizer.report_.dev_f1:.2f}, {seconds.wall:.0f} s")
    return 100 * recognizer.report_.dev_f1


def marked(values: Sequence[float]) -> list[str]:
    """Figures, the best of them bold."""
    return [f"**{value:.1f}**" if value == max(values) else f"{value:.1f}" for value in values]


def table(result: Result, title: str, names: Sequence[str], rows: dict[str, list[float]], *notes: str) -> None:
    """A row a corpus, and how far each column is behind the best on average."""
    behind = [sum(max(row) - row[i] for row in rows.values()) / len(rows) for i in range(len(names))]
    lines: Iterable[list[str]] = [[name, *marked(row)] for name, row in rows.items()]
    last = ["behind the best, on average", *(f"{value:.2f}" for value in behind)]
    result.table(title, ["corpus", *names], [*lines, last], *notes)
    result.data[title] = {name: dict(zip(names, row, strict=True)) for name, row in rows.items()}


def cached(parser: argparse.ArgumentParser, corpora: Sequence[str] = CORPORA) -> None:
    """Add the options of a benchmark of some corpora that keeps clusters."""
    parser.add_argument("--cache", type=Path, required=True, help="a folder for clusters")
    parser.add_argument("--corpora", default=",".join(corpora), help="which, with commas between [all]")


def main() -> None:
    """Train, look at development data, write."""
    chosen = options("choices", __doc__, cached)
    chosen.cache.mkdir(parents=True, exist_ok=True)
    all_parts = {name: parts(chosen.data, name) for name in chosen.corpora.split(",")}
    text = [prepare(document) for own in all_parts.values() for document in own.train]
    raw = save_clusters(text, CLUSTERS, chosen.cache)
    lambdas: dict[str, list[float]] = {}
    presets: dict[str, list[float]] = {}
    clusters: dict[str, list[float]] = {}
    for name, own in all_parts.items():
        say(name)
        lambdas[name] = [dev_f1(own, chosen.seed, l2=l2) for l2 in LAMBDAS]
        best = LAMBDAS[lambdas[name].index(max(lambdas[name]))]
        presets[name] = [dev_f1(own, chosen.seed, features=preset, l2=best) for preset in PRESETS]
        clusters[name] = [
            presets[name][0],
            *(dev_f1(own, chosen.seed, clusters=source, l2=best) for source in (CLUSTERS, raw)),
        ]
    result = Result("What the defaults rest on", chosen.seed)
    table(
        result, "Lambda", [f"{l2:g}" for l2 in LAMBDAS], lambdas,
        f"F1 on development data, preset `biomedical`. The default tries {', '.join(f'{l2:g}' for l2 in DEFAULTS)}.",
    )  # fmt: skip
    table(result, "Presets", PRESETS, presets, "F1 on development data, with the lambda that is best for `biomedical`.")
    table(
        result, "Brown clusters", ["none", "of the training text", "of the training text of all corpora"], clusters,
        f"F1 on development data, {CLUSTERS} clusters, preset `biomedical`.",
    )  # fmt: skip
    result.save(chosen.out)


if __name__ == "__main__":
    main()
