"""Text that differs from the training text: what it costs, and whether it is noticed.

    python benchmarks/shift.py --data DATA

Recognizers are trained as the ready models bc5cdr and genia are, and read the test texts of their corpora as they are,
in capitals, in small letters and wrapped at 60 columns; that of BC5CDR also reads those of NCBI Disease, whose types
all count as diseases, beside its own diseases. Of each: F1; the share of mentions that are right and the mean score,
which should be the same; the calibration error; and what the model tells of the text. The thresholds of what is told
were chosen on development texts. Noise is counted on test texts: documents of a corpus, each alone, of which a model of
the same corpus says that they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from common import Result, options, say
from line_breaks import wrapped
from spanloom import Recognizer, read
from spanloom.document import Document
from spanloom.evaluate import calibration, evaluate
from spanloom.model.profile import ShiftWatch

SETTINGS = {"features": "fast", "l2": 1.0, "structure": "separators", "random_state": 0}
PLACES = {
    "bc5cdr": ("bc5cdr", [f"CDR_{part}Set.BioC.xml" for part in ("Training", "Development", "Test")], None),
    "genia": ("genia_documents", ["train.jsonl", "dev.jsonl", "test.jsonl"], None),
    "ncbi": ("ncbi_disease", [f"NCBI{part}set_corpus.txt" for part in ("train", "develop", "test")], "pubtator"),
}


def bare(documents: Iterable[Document]) -> list[Document]:
    """Text and mentions only."""
    return [Document(one.text, id=one.id, mentions=one.mentions) for one in documents]


def cased(text: str, change: Callable[[str], str]) -> str:
    """A text of the same length in another case."""
    return "".join(new if len(new := change(character)) == 1 else character for character in text)


def only(documents: Iterable[Document], kinds: Sequence[str]) -> list[Document]:
    """Documents whose mentions of some types are diseases, without the others."""
    return [
        one.copy(mentions=[mention.replace(type="Disease") for mention in one.mentions if mention.type in kinds])
        for one in documents
    ]


def ways(test: list[Document], seed: int) -> Iterator[tuple[str, list[Document]]]:
    """Yield the test documents as they are, and changed."""
    random = np.random.default_rng(seed)
    yield "as they are", test
    yield "in capitals", [one.copy(text=cased(one.text, str.upper)) for one in test]
    yield "in small letters", [one.copy(text=cased(one.text, str.lower)) for one in test]
    yield "wrapped at 60", [one.copy(text=wrapped(one.text, 60, 0, random)) for one in test]


def row(name: str, model: Recognizer, gold: list[Document], kinds: Sequence[str] | None = None) -> list[Any]:
    """F1, precision, mean score, calibration error, and what is told."""
    told: list[str] = []
    watch = ShiftWatch(model.profile_)
    list(watch.over(gold, told.append))
    found = model.predict([Document(one.text, id=one.id) for one in gold], notice=lambda _: None)
    if kinds is not None:
        found, gold = only(found, ["Disease"]), only(gold, kinds)
    overall = evaluate(gold, found).overall
    scores = np.array([mention.score for one in found for mention in one.mentions], float)
    shown = "; ".join(told).partition("trained on: ")[2].rpartition("; ")[0]
    figures = (overall.f1, overall.precision, scores.mean(), calibration(gold, found).error)
    say(name, *(f"{100 * value:.1f}" for value in figures), shown)
    return [name, *(round(100 * float(value), 1) for value in figures), shown or "nothing"]


def main() -> None:
    """Measure."""
    chosen = options("shift", __doc__)
    corpora = {
        name: [bare(read(chosen.data / place / file, format=format, notice=lambda _: None)) for file in files]
        for name, (place, files, format) in PLACES.items()
    }
    models = {name: Recognizer(**SETTINGS).fit(corpora[name][0], dev=corpora[name][1]) for name in ("bc5cdr", "genia")}
    result = Result("Text that differs from the training text: what it costs, and that it is told", chosen.seed)
    rows = [
        [name, *row(way, model, gold)]
        for name, model in models.items()
        for way, gold in ways(corpora[name][2], chosen.seed)
    ]
    ncbi = corpora["ncbi"][2]
    kinds = sorted({mention.type for one in ncbi for mention in one.mentions})
    own = [
        ["bc5cdr, diseases", *row("as they are", models["bc5cdr"], corpora["bc5cdr"][2], ["Disease"])],
        ["bc5cdr, diseases", *row("NCBI Disease", models["bc5cdr"], ncbi, kinds)],
    ]
    columns = ("model", "test texts", "F1", "right, %", "mean score, %", "calibration error, %", "told")
    result.table("Test texts, changed or of another corpus", columns, rows + own)
    noise = []
    for name, model in models.items():
        told: list[str] = []
        for document in corpora[name][2]:
            list(ShiftWatch(model.profile_).over([document], told.append))
        noise.append([name, len(corpora[name][2]), len(told)])
        result.at_most(
            f"{name}: share of its own test documents that are told to differ", noise[-1][2] / noise[-1][1], 0.02
        )
    result.table("Documents of the same corpus, each alone", ("model", "documents", "told to differ"), noise)
    for name, way, *_, shown in rows:
        if way in ("in capitals", "in small letters"):
            result.at_least(f"{name}, {way}: told", float(shown != "nothing"), 1.0)
    result.data["rows"] = rows + own
    result.save(chosen.out)


if __name__ == "__main__":
    main()
