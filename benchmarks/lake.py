"""Notes a second of a lake of Parquet files: Parquet in, Parquet out, with one process and with two.

    python benchmarks/lake.py --data DATA --work WORK

A recognizer (`separators`, preset `fast`, lambda 1, no parts of speech) is trained on GENIA's documents once and kept
in WORK. Notes of 250 tokens or a little more are sentences of GENIA's test text, drawn with repetition. Beside the wall
clock, which is what a job takes, stands the processor time of all its processes: where cores times wall clock is much
more, other work ran on the machine. What `predict` takes for the same notes, as documents, is the row to compare with.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from common import Clock, Result, corpus, options, say, timed
from spanloom import Document, load
from spanloom.lake import Annotator
from spanloom.recognize import Recognizer

TOKENS = 250
FRAGMENTS = 8
HUNDRED_MILLION = 100_000_000


def add(parser: ArgumentParser) -> None:
    """Add the script's own options."""
    parser.add_argument("--work", type=Path, required=True, help="keeps models and lakes")
    parser.add_argument("--notes", type=int, default=40_000, help="in the lake [40000]")


def model_in(work: Path, data: Path, rescore: bool) -> Path:
    """The folder of a trained recognizer."""
    folder = work / ("second" if rescore else "one")
    if not folder.exists():
        recognizer = Recognizer("separators", "fast", pos=None, l2=1.0, rescore=rescore)
        train, dev = (corpus(data, "genia_documents", part) for part in ("train", "dev"))
        recognizer.fit(train, dev=dev).save(folder)
    return folder


def sentences_of(documents: Sequence[Document]) -> list[tuple[str, int]]:
    """The sentences of documents, with their numbers of tokens."""
    found = []
    for document in documents:
        assert document.tokens is not None and document.sentences is not None
        for first, end in document.sentences.tolist():
            found.append((document.text[document.tokens[first, 0] : document.tokens[end - 1, 1]], end - first))
    return found


def notes(data: Path, count: int, seed: int) -> list[str]:
    """So many notes."""
    sentences = sentences_of(corpus(data, "genia_documents", "test"))
    drawn, made = Random(seed), []
    for _ in range(count):
        size, parts = 0, []
        while size < TOKENS:
            text, tokens = drawn.choice(sentences)
            parts.append(text)
            size += tokens
        made.append(" ".join(parts))
    return made


def lake_in(work: Path, texts: list[str]) -> Path:
    """A folder of fragments."""
    folder = work / "lake"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    size = -(-len(texts) // FRAGMENTS)
    for i in range(FRAGMENTS):
        part = texts[i * size : (i + 1) * size]
        pq.write_table(pa.table({"id": range(i * size, i * size + len(part)), "text": part}), folder / f"{i}.parquet")
    return folder


def job(model: Path, lake: Path, out: Path, jobs: int) -> tuple[float, float]:
    """Wall clock and processor time of a job."""
    shutil.rmtree(out, ignore_errors=True)
    line = [sys.executable, "-m", "spanloom.cli", "predict", str(model), str(lake), "-o", f"{out}/", "-j", str(jobs)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Clock() as clock:
        subprocess.run([*line, "--quiet"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock.seconds.wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_process(model: Path, texts: list[str]) -> tuple[float, float]:
    """Processor time of `predict` and of an annotator on the same notes, once both are warm."""
    recognizer, annotator = load(model).set_params(n_jobs=1), Annotator(model)
    table = pa.table({"id": range(len(texts)), "text": texts})
    recognizer.predict(texts[:100])
    annotator.table(table.slice(0, 100))
    predicting, _ = timed(lambda: recognizer.predict(texts))
    annotating, _ = timed(lambda: annotator.table(table))
    return predicting.cpu, annotating.cpu


def main() -> None:
    """Train, write lakes, annotate them."""
    chosen: Any = options("lake", __doc__, add)
    chosen.work.mkdir(parents=True, exist_ok=True)
    result = Result("A lake of notes", chosen.seed)
    texts = notes(chosen.data, chosen.notes, chosen.seed)
    lake = lake_in(chosen.work, texts)
    some = texts[: min(len(texts), 4000)]
    rows: list[list[Any]] = []
    for name, rescore in (("one stage", False), ("with the second stage", True)):
        model = model_in(chosen.work, chosen.data, rescore)
        predicting, annotating = in_process(model, some)
        rows.append(
            [f"{name}, predict", 1, None, len(some) / predicting, HUNDRED_MILLION * predicting / len(some) / 3600]
        )
        rows.append(
            [f"{name}, annotator", 1, None, len(some) / annotating, HUNDRED_MILLION * annotating / len(some) / 3600]
        )
        for jobs in (1, 2):
            wall, cpu = job(model, lake, chosen.work / "out", jobs)
            rows.append(
                [f"{name}, lake", jobs, len(texts) / wall, len(texts) / cpu, HUNDRED_MILLION * cpu / len(texts) / 3600]
            )
            say(rows[-1])
    result.table(
        "Notes a second",
        ["what", "processes", "notes a second", "notes a second of processor time", "core-hours for 100 million notes"],
        rows,
        f"{len(texts):,} notes of {TOKENS} tokens or a little more; a job starts its processes and loads the model.",
    )
    result.data["rows"] = rows
    result.save(chosen.out)


if __name__ == "__main__":
    main()
