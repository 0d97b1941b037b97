"""Where prediction from raw text spends its time: in which kernels, and how much outside of them.

    python benchmarks/kernel_time.py --data DATA

A recognizer (`separators`, preset `fast`, lambda 1, no parts of speech, one stage) is trained on documents of GENIA and
a segmenter on sentences of UNER Chinese; each predicts from raw text on one core, in one thread: documents from texts,
with scores, as `predict` does by default; the recognizer also a table of Arrow from another, as a lake has them, and
the segmenter documents without scores, whose kernels then do a third of the work. Each call of a kernel from Python is
timed with the check of its arguments, in processor time of the thread; what is left of the whole is Python, NumPy and
regular expressions. Tokens and sentences are also made alone, which says how much of that they are. Medians of several
rounds.
"""

from __future__ import annotations

import statistics
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time
from typing import Any

import pyarrow as pa

from common import Result, corpus, one_core, options, say, timed
from lake import notes
from segmentation import UNER, sentences
from spanloom.document import Document
from spanloom.lake import Annotator
from spanloom.native import Kernel
from spanloom.recognize import Recognizer
from spanloom.segment import Segmenter
from spanloom.text import prepare

SHOWN = 8  # kernels
RATES = {"English, names": 796_000, "Chinese, words and names": 324_000}  # twice those of 0.1, compiled when first used


def watched() -> Counter[str]:
    """Time all calls of kernels from now on; the seconds of each, by name."""
    seconds: Counter[str] = Counter()
    call = Kernel.__call__

    def timing(kernel: Kernel, *arguments: Any) -> int:
        began = thread_time()
        try:
            return call(kernel, *arguments)
        finally:
            seconds[kernel.name] += thread_time() - began

    Kernel.__call__ = timing
    return seconds


def spent(predict: Callable[[], Any], texts: list[str], seconds: Counter[str], rounds: int) -> dict[str, float]:
    """Seconds of a prediction: as a whole, for tokens and sentences outside kernels, and in each kernel."""
    predict()  # warm-up, not timed
    found: list[dict[str, float]] = []
    for _ in range(rounds):
        seconds.clear()
        whole, _ = timed(predict)
        own = dict(seconds)
        seconds.clear()
        preparing, _ = timed(lambda: [prepare(Document(text)) for text in texts])
        outside = preparing.cpu - sum(seconds.values())
        found.append({"all": whole.cpu, "tokens and sentences": outside, **own})
    return {name: statistics.median(one.get(name, 0.0) for one in found) for name in found[0]}


def told(result: Result, name: str, units: int, unit: str, seconds: dict[str, float]) -> None:
    """Write the table of a model."""
    whole, preparing = seconds.pop("all"), seconds.pop("tokens and sentences")
    inside = sum(seconds.values())
    first = sorted(seconds.items(), key=lambda item: -item[1])[:SHOWN]
    parts = [*first, ("other kernels", inside - sum(own for _, own in first)), ("all kernels", inside)]
    parts += [("tokens and sentences, outside kernels", preparing), ("all else", whole - inside - preparing)]
    result.table(
        f"{name}: {units / whole:,.0f} {unit} a second",
        ["where", f"ns a {unit.removesuffix('s')}", "share, %"],
        [[where, 1e9 * own / units, 100 * own / whole] for where, own in parts],
    )
    result.data[name] = {**seconds, "all": whole, "tokens and sentences": preparing, "units": units}
    if name in RATES:
        result.at_least(f"{name}: {unit} a second", units / whole, RATES[name])


def add(parser: ArgumentParser) -> None:
    """Add the script's own options."""
    parser.add_argument("--notes", type=int, default=1500, help="that the recognizer reads [1500]")
    parser.add_argument("--documents", type=int, default=300, help="of GENIA, for training [300]")
    parser.add_argument("--sentences", type=int, default=1500, help="of UNER, for training [1500]")
    parser.add_argument("--rounds", type=int, default=3, help="of each measurement [3]")


def main() -> None:
    """Train, watch, write."""
    chosen: Any = options("kernel_time", __doc__, add)
    one_core()
    result = Result("Time in kernels, from raw text on one core", chosen.seed)
    train, dev = (corpus(chosen.data, "genia_documents", part, chosen.documents) for part in ("train", "dev"))
    say("training a recognizer")
    recognizer = Recognizer("separators", "fast", pos=None, l2=1.0, rescore=False, epochs=5).fit(train, dev=dev)
    data = sentences(UNER, chosen.data)
    say("training a segmenter")
    segmenter = Segmenter(epochs=5, l2=1.0, random_state=chosen.seed)
    segmenter.fit(data["train"][: chosen.sentences], dev=data["dev"])
    texts = notes(chosen.data, chosen.notes, chosen.seed)
    rows = pa.table({"id": range(len(texts)), "text": texts})
    chinese = [document.text for document in [*data["test"], *data["train"][chosen.sentences :]]]
    tokens = sum(found.token_count for found in recognizer.predict(texts))
    characters = sum(map(len, chinese))
    with TemporaryDirectory() as folder:
        recognizer.save(Path(folder) / "model")
        annotator = Annotator(Path(folder) / "model")
        seconds = watched()
        for name, units, unit, own, predict in (
            ("English, names", tokens, "tokens", texts, lambda: recognizer.predict(texts)),
            ("English, names, Arrow to Arrow", tokens, "tokens", texts, lambda: annotator.table(rows)),
            ("Chinese, words and names", characters, "characters", chinese, lambda: segmenter.predict(chinese)),
            (
                "Chinese, words and names without scores", characters, "characters", chinese,
                lambda: segmenter.predict(chinese, scores=False),
            ),
        ):  # fmt: skip
            told(result, name, units, unit, spent(predict, own, seconds, chosen.rounds))
    result.save(chosen.out)


if __name__ == "__main__":
    main()
