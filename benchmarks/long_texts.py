"""How prediction grows with one sentence that never ends: processor time and memory at n, 2 n and 4 n characters.

    python benchmarks/long_texts.py

Models of every kind are trained on the corpora that come with Spanloom, and read texts that a person would not write
but a machine might send: one character or one mention repeated, brackets in brackets, Chinese without a full stop,
words without any. The recognizers also learn that brackets are mentions, so that thousands of mentions cover one
another. Each measurement is a process of its own, forked from one that has loaded the model and used it;
memory is what that process takes at most beyond what it began with, when it had given back what was free (Linux). A
slope of 1 means that twice the text takes twice the time.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import math
import multiprocessing
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from common import Clock, Result, options, say
from spanloom.data import chinese_clinical, clinical
from spanloom.document import Document, Mention
from spanloom.formats import read
from spanloom.link import Linker
from spanloom.models import load
from spanloom.recognize import Recognizer
from spanloom.segment import Segmenter
from spanloom.structures import STRUCTURES
from spanloom_lab import Cascade

SLOPE = 1.1
MEMORY = 500.0  # MB, 2^20 bytes, that a process may take in all
SHARING = ("mention_hypergraph", "heads", "shared", "split")  # structures that are counted in two ways


def texts() -> dict[str, Callable[[int], str]]:
    """Texts of so many characters."""
    notes = " ".join(document.text for document in read(clinical() / "train"))
    words = " ".join(word for word in notes.split() if word.isalpha() and word.islower())
    repeated = {"brackets": "(", "mentions": "chest pain ", "Chinese": "无关节疼痛", "words": words + " "}
    found = {name: lambda size, text=text: (text * (size // len(text) + 1))[:size] for name, text in repeated.items()}
    return {**found, "brackets in brackets": nested}


def nested(size: int) -> str:
    """As many opening brackets, and then closing ones, as fit."""
    return "(" * (size // 2) + ")" * (size // 2)


def nested_mentions() -> list[Document]:
    """Brackets that are mentions."""
    return [
        Document(nested(2 * depth), f"{depth}-{copy}",
                 mentions=[Mention("problem", [(i, 2 * depth - i)]) for i in range(depth)])
        for depth in range(1, 9) for copy in range(10)
    ]  # fmt: skip


def recognizer(structure: str, counting: str) -> Recognizer:
    """A recognizer of the clinical corpus."""
    model = Recognizer(structure, "small", counting=counting, headless="whole", epochs=3)
    return model.fit([*read(clinical() / "train"), *nested_mentions()], dev=list(read(clinical() / "dev")))


def cascade() -> Cascade:
    """A cascade of the same."""
    return Cascade(features="small", epochs=3).fit(list(read(clinical() / "train")), dev=list(read(clinical() / "dev")))


def linker() -> Linker:
    """A linker of the same."""
    model = Linker("small", iterations=2, folds=2)
    train, dev = list(read(clinical() / "train")), list(read(clinical() / "dev"))
    return model.fit(train, dev=dev, vocabulary=str(clinical() / "vocabulary.tsv"))


def segmenter(method: str) -> Segmenter:
    """A segmenter of the Chinese corpus."""
    train, dev = (list(read(chinese_clinical() / f"{part}.jsonl")) for part in ("train", "dev"))
    return Segmenter(method, epochs=3).fit(train, dev=dev)


def kinds() -> dict[str, Callable[[], Any]]:
    """The models: names, and how they are trained."""
    found: dict[str, Callable[[], Any]] = {}
    for name in STRUCTURES:
        for counting in ("subgraphs", "derivations") if name in SHARING else ("subgraphs",):
            label = f"{name}, {counting}" if name in SHARING else name
            found[label] = lambda name=name, counting=counting: recognizer(name, counting)
    found["cascade"] = cascade
    found["linker"] = linker
    for method in ("exact", "dual", "joint_labels", "independent"):
        found[f"segmenter, {method}"] = lambda method=method: segmenter(method)
    return found


def read_text(model: Any, text: str, answer: Any) -> None:
    """Predict in this process; sends seconds, megabytes and mentions."""
    gc.freeze()  # else the collector looks through the model's objects when the text's become many
    before = forget_peak()
    with Clock() as clock:
        [found] = model.predict([Document(text)])
    most = memory("VmHWM")
    answer.send((clock.seconds.cpu, most, most - before, len(found.mentions)))


def forget_peak() -> float:
    """Give free memory back to the system, begin a new maximum, and return what this process takes now."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def memory(name: str) -> float:
    """A line of ``/proc/self/status``, in MB."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{name}:")]
    return int(line.split()[1]) / 1024


def measure(model: Any, text: str, repeats: int) -> tuple[float, float, float, int]:
    """As `read_text`, the quickest of several."""
    return min(measure_once(model, text) for _ in range(repeats))


def measure_once(model: Any, text: str) -> tuple[float, float, float, int]:
    """As `read_text`, in a process of its own."""
    context = multiprocessing.get_context("fork")
    mine, its = context.Pipe(duplex=False)
    child = context.Process(target=read_text, args=(model, text, its))
    child.start()
    its.close()
    found: tuple[float, float, float, int] = mine.recv()
    child.join()
    return found


def slope(sizes: Sequence[int], values: Sequence[float]) -> float:
    """From the first to the last, of logarithms."""
    return math.log(max(values[-1], 1e-3) / max(values[0], 1e-3)) / math.log(sizes[-1] / sizes[0])


def rows_of(kind: str, train: Callable[[], Any], folder: Path, chosen: argparse.Namespace) -> list[list[Any]]:
    """The rows of a model; kept in the folder, so that the script can be run in parts."""
    kept = folder / f"{kind.replace(', ', '-')}-{chosen.characters}.json"
    if kept.exists():
        return list(json.loads(kept.read_text()))
    path = folder / kind.replace(", ", "-")
    if not path.exists():
        train().save(path)
    model, every, rows = load(path), texts(), list[list[Any]]()
    for text in every.values():  # warm-up, also with many mentions
        list(model.predict([Document(text(200))]))
    sizes = sizes_of(chosen)
    for name, text in every.items():
        found = [measure(model, text(size), chosen.repeats) for size in sizes]
        seconds, peak, more, mentions = zip(*found, strict=True)
        rows.append([
            kind, name, mentions[-1], *seconds, slope(sizes, seconds), *more, slope(sizes, more), peak[-1],
        ])  # fmt: skip
        say(*(f"{value:.2f}" if isinstance(value, float) else value for value in rows[-1]))
    kept.write_text(json.dumps(rows))
    return rows


def sizes_of(chosen: argparse.Namespace) -> list[int]:
    """A quarter, a half, the whole."""
    return [chosen.characters // 4, chosen.characters // 2, chosen.characters]


def report(chosen: argparse.Namespace) -> None:
    """All models on all texts."""
    result = Result("Texts without an end: time and memory of prediction", chosen.seed)
    sizes = sizes_of(chosen)
    with tempfile.TemporaryDirectory() as temporary:
        rows = [
            row
            for kind, train in kinds().items()
            if not chosen.only or any(kind.startswith(name) for name in chosen.only)
            for row in rows_of(kind, train, chosen.work or Path(temporary), chosen)
        ]
    result.table(
        f"Processor seconds, and MB beyond those of the loaded model, for {', '.join(f'{size:,}' for size in sizes)} "
        "characters",
        ("model", "text", "mentions", *(f"s, {size:,}" for size in sizes), "slope",
         *(f"MB, {size:,}" for size in sizes), "slope", "MB in all"),
        rows,
        "A slope is that from the first size to the last, of logarithms.",
    )  # fmt: skip
    result.at_most("steepest slope of time", max(row[6] for row in rows), SLOPE)
    result.at_most("steepest slope of memory", max(row[10] for row in rows), SLOPE)
    result.at_most("largest memory of a process, MB", max(row[11] for row in rows), MEMORY)
    result.data["rows"] = rows
    result.save(chosen.out)


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--characters", type=int, default=50_000, help="of the longest text [50000]")
    parser.add_argument("--repeats", type=int, default=3, help="measurements, of which the quickest counts [3]")
    parser.add_argument("--only", nargs="*", help="kinds of models whose names begin so")
    parser.add_argument("--work", type=Path, help="a folder that keeps models and measurements")


def main() -> None:
    """Measure."""
    report(options("long_texts", __doc__, _more, corpora=False))


if __name__ == "__main__":
    main()
