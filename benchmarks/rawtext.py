"""Clusters of raw text: what they bring on the development data of six corpora, and what much text costs.

    python benchmarks/rawtext.py --data DATA --cache FOLDER

A recognizer (`separators`, preset `biomedical`, lambda 1) is trained on the training data and tuned on the development
data, whose F1 is told; no annotations of test data are read. There is no second stage. Parts of speech are left out, as
new text has none. Raw text is that of all parts of all other corpora with the training text of the corpus itself;
documents of the others that share a sentence of eight words or more with its development or test text are left out.
Cost is measured on words drawn from a Zipf-Mandelbrot distribution in which new words keep coming as in text (the raw
text has 55,000 different words in two million), with about as many different pairs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from choices import FILES, Parts, cached, parts
from common import Result, options, peak_memory, say, timed
from spanloom import read
from spanloom.document import Document
from spanloom.features import PRESETS
from spanloom.features.clusters import Clusters, induce_from, write_paths
from spanloom.features.counting import count_words
from spanloom.features.vectors import induce_vectors
from spanloom.formats.text import read_raw
from spanloom.recognize import Recognizer
from spanloom.text import prepare, sentence_words

FOLDERS = {"genia": "genia_documents"}
CORPORA = ("gum", "genia", "bc5cdr", "ncbi_disease", "anatem", "cancer_genetics")
TESTS = {"bc5cdr": "bc5cdr/CDR_TestSet.BioC.xml", "ncbi_disease": "ncbi_disease/NCBItestset_corpus.txt"}
SHARED = 8  # words of a sentence that two documents do not share by chance
MILLIONS = (1, 2, 4, 8)
TAIL, HEAD, SENTENCE = 0.45, 5, 20  # of the drawn text: its rare words, its frequent words, and its sentences

# name -> text (of vectors, or Brown clusters), number of clusters, least count, letters, more templates
ROWS: dict[str, tuple[str, int, int, bool, tuple[str, ...]]] = {
    "training text, 500": ("own", 500, 1, False, ()),
    "training text, 512, letters": ("own", 512, 2, True, ()),
    "raw text, 256, letters": ("raw", 256, 3, True, ()),
    "raw text, 512, letters": ("raw", 512, 3, True, ()),
    "raw text, 1000, letters": ("raw", 1000, 3, True, ()),
    "raw text, 1000": ("raw", 1000, 1, False, ()),
    "raw text, 1000, letters, 10 times or more": ("raw", 1000, 10, True, ()),
    "raw text, 1000, letters, bands": ("raw", 1000, 3, True, ("band[0]",)),
    "vectors of raw text, 1000, letters, 10 times or more": ("vectors", 1000, 10, True, ()),
}


def texts(data: Path, name: str) -> list[Document]:
    """All texts of a corpus, the training, development and test parts."""
    if name in FILES:
        kind = "pubtator" if name == "ncbi_disease" else None
        files: list[Path] = [data / file for file in (*FILES[name], TESTS[name])]
    else:
        kind = None
        folder = data / FOLDERS.get(name, name)
        files = [folder / f"{part}.jsonl" for part in ("train", "dev", "test") if (folder / f"{part}.jsonl").exists()]
    return [prepare(document) for file in files for document in read(file, format=kind, mentions=False)]


def sentences(document: Document) -> set[tuple[str, ...]]:
    """The sentences of a document by which it is known again."""
    return {tuple(words) for words in sentence_words([document]) if len(words) >= SHARED}


def raw_text(everything: dict[str, list[Document]], name: str, own: Parts) -> list[Document]:
    """The text that clusters of a corpus may see."""
    train = {document.text for document in own.train}
    held: set[tuple[str, ...]] = set()
    for document in everything[name]:
        if document.text not in train:
            held |= sentences(document)
    others = [document for other, documents in everything.items() if other != name for document in documents]
    kept = [document for document in others if not sentences(document) & held]
    say(f"{name}: {len(others) - len(kept)} documents of other corpora left out")
    return [*own.train, *kept]


def vectors_of(data: Path, name: str, cache: Path) -> Path:
    """Clusters of word vectors of the raw text of a corpus, as recommended; made once."""
    path = cache / f"{name}-vectors-1000-10-True.paths"
    if not path.exists():
        own = parts(data, FOLDERS.get(name, name))
        train = [prepare(document) for document in own.train]
        everything = {other: texts(data, other) for other in (*CORPORA, "craft")}
        write_paths(path, induce_vectors(raw_text(everything, name, Parts(train, own.dev)), 1000, 10))
    return path


def dev_f1(own: Parts, path: Path | None, more: tuple[str, ...], seed: int) -> float:
    """Development F1 in percent."""
    templates = [t for t in PRESETS["biomedical"] if "pos" not in t and (path is not None or "cluster" not in t)]
    recognizer = Recognizer(
        "separators", [*templates, *more], clusters=None if path is None else str(path), l2=1, pos=None,
        split_tokens=False, rescore=False, random_state=seed,
    )  # fmt: skip
    seconds, _ = timed(lambda: recognizer.fit(own.train, dev=own.dev))
    say(f"  {path}: {100 * recognizer.report_.dev_f1:.2f}, {seconds.wall:.0f} s")
    return 100 * recognizer.report_.dev_f1


def accuracy(result: Result, chosen: Any) -> None:
    """A row for each kind of clusters, a column for each corpus."""
    everything = {name: texts(chosen.data, name) for name in (*CORPORA, "craft")}
    store = chosen.cache / "f1.json"  # an interrupted run resumes
    kept: dict[str, dict[str, float]] = json.loads(store.read_text()) if store.exists() else {}
    found: dict[str, dict[str, float]] = {}
    for name in chosen.corpora.split(","):
        read_parts = parts(chosen.data, FOLDERS.get(name, name))
        own = Parts([prepare(d) for d in read_parts.train], [prepare(d) for d in read_parts.dev])
        raw = raw_text(everything, name, own)
        sources = {"own": own.train, "raw": raw, "vectors": raw}
        say(f"{name}: {sum(document.token_count for document in raw):,} tokens of raw text")
        found[name] = kept.setdefault(name, {})
        if "none" not in found[name]:
            found[name]["none"] = dev_f1(own, None, (), chosen.seed)
        for row, (source, size, least, letters, more) in ROWS.items():
            if row in found[name]:
                continue
            path = chosen.cache / f"{name}-{source}-{size}-{least}-{letters}.paths"
            if not path.exists():
                induce = induce_vectors if source == "vectors" else induce_from
                made = induce(sources[source], size, least)
                write_paths(path, made if letters else Clusters(made, made.counts))
            found[name][row] = dev_f1(own, path, more, chosen.seed)
            store.write_text(json.dumps(kept))
    rows = ["none", *ROWS]
    table = [[row, *(found[name][row] for name in found)] for row in rows]
    means = [float(np.mean([found[name][row] - found[name]["none"] for name in found])) for row in rows]
    result.table(
        "Clusters", ["clusters", *found, "gain on average"],
        [[*cells, f"{mean:+.2f}"] for cells, mean in zip(table, means, strict=True)],
        "F1 on development data. Letters: words that occur less than 3 times (2 in training text, 10 where said) get "
        "their bits by their letters, as unknown words do; without, each word has a cluster and unknown ones none.",
    )  # fmt: skip
    result.data["dev_f1"] = found


def drawn(path: Path, millions: int, seed: int) -> None:
    """Write so many million words."""
    random = np.random.default_rng(seed)
    with path.open("w") as file:
        for _ in range(10 * millions):
            words = (HEAD * random.pareto(TAIL, 100_000)).clip(max=1e15).astype(int).reshape(-1, SENTENCE).tolist()
            file.writelines(" ".join(f"w{word}" for word in line) + ".\n" for line in words)


def ready(path: Path, seconds: list[float]) -> Iterator[Document]:
    """The documents of a file, with the time that reading and splitting them takes; at last the time when it was."""
    documents = read_raw([path])
    while True:
        began = process_time()
        document = next(documents, None)
        if document is None:
            seconds.append(process_time())
            return
        document = prepare(document)
        seconds.append(process_time() - began)
        yield document


def clustering(induce: Callable[[Iterator[Document], int, int], Clusters], path: Path) -> tuple[float, Clusters]:
    """Processor time of clustering, once all text is counted; and the clusters."""
    seconds: list[float] = []
    made = induce(ready(path, seconds), 1000, 10)
    return process_time() - seconds[-1], made


def cost(result: Result, chosen: Any) -> None:
    """Time and memory by the amount of text."""
    rows: list[list[Any]] = []
    for millions in MILLIONS:
        path = chosen.cache / "drawn.txt"
        drawn(path, millions, chosen.seed)
        splitting: list[float] = []
        counting, counted = timed(lambda path=path, splitting=splitting: count_words(ready(path, splitting)))
        reading, memory = sum(splitting[:-1]), peak_memory()
        different, pairs = len(counted.words), len(counted.neighbours.pairs)
        del counted
        brown, made = clustering(induce_from, path)
        brown_memory = peak_memory()
        vectors, _ = clustering(induce_vectors, path)
        rows.append(
            [millions, different, pairs, reading, counting.cpu - reading, memory, len(made), brown, brown_memory,
             vectors, peak_memory()]
        )  # fmt: skip
        say(rows[-1])
        path.unlink()
    (first, *_), (last, *_) = rows[-2], rows[-1]
    slopes = [np.log2(rows[-1][k] / rows[-2][k]) for k in range(len(rows[0]))]
    times = 100 / last
    estimate = [100, *(float(rows[-1][k] * times ** slopes[k]) for k in range(1, len(slopes)))]
    shown = [f"{value:,.0f}" if k in (1, 2, 6) else float(value) for k, value in enumerate(estimate)]
    shown[0] = "100, estimated"
    result.table(
        "Cost",
        ["million words", "different words", "different pairs", "reading and splitting, s", "counting, s",
         "memory so far, GB", "words that occur 10 times", "Brown clusters, 1,000, s", "memory so far, GB",
         "of vectors, 1,000, s", "memory in all, GB"],
        [*rows, shown],
        f"Processor time, one core. The last row goes on with the slope from {first} to {last} million words, on "
        "logarithmic scales.",
    )  # fmt: skip
    result.data["cost"] = rows


def main() -> None:
    """Cluster, train, look at development data, write."""
    chosen = options("rawtext", __doc__, partial(cached, corpora=CORPORA))
    chosen.cache.mkdir(parents=True, exist_ok=True)
    result = Result("Clusters of raw text", chosen.seed)
    cost(result, chosen)  # first, so that its memory is its own
    accuracy(result, chosen)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
