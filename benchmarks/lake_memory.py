"""Memory of a job over ten million notes, from its first tenth to its last.

    python benchmarks/lake_memory.py --data DATA --work WORK

Notes are sentences of GENIA's test text, drawn with repetition, one each: what a job holds besides the note at hand
grows, if it grows, with the number of notes and of fragments, and not with their length. The model is that of
`lake.py`, in the same WORK. While two processes annotate, the memory of all processes of the job is read once a second
from /proc: private pages whole, pages that several share by each one's part.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from common import Result, corpus, options, say
from lake import model_in, sentences_of

ROWS = 50_000  # of a fragment
TENTHS = 10
GROWTH = 5.0  # percent that the last tenth may hold more than the second


def add(parser: ArgumentParser) -> None:
    """Add the script's own options."""
    parser.add_argument("--work", type=Path, required=True, help="keeps the model and the lake")
    parser.add_argument("--notes", type=int, default=10_000_000, help="in the lake [10000000]")


def lake_of(folder: Path, sentences: list[str], count: int, seed: int) -> int:
    """Write so many notes as fragments; return how many these are."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    drawn = Random(seed)
    for number, start in enumerate(range(0, count, ROWS)):
        rows = range(start, min(count, start + ROWS))
        table = pa.table({"id": rows, "text": drawn.choices(sentences, k=len(rows))})
        pq.write_table(table, folder / f"{number:05}.parquet")
    return -(-count // ROWS)


def tree(root: int) -> list[int]:
    """Return the numbers of a process and of all that it has started."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                told = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            parents.setdefault(int(told[1]), []).append(int(folder.name))
    found = [root]
    for pid in found:  # grows meanwhile
        found += parents.get(pid, [])
    return found


def held(root: int) -> float:
    """Return the memory of a process and of all that it has started, in MB."""
    total = 0
    for pid in tree(root):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1e3


def watched(model: Path, lake: Path, out: Path) -> list[tuple[int, float]]:
    """Run the job; return, once a second, how many fragments are done, and the memory."""
    shutil.rmtree(out, ignore_errors=True)
    line = [sys.executable, "-m", "spanloom.cli", "predict", str(model), str(lake), "-o", f"{out}/", "-j", "2"]
    found = []
    with subprocess.Popen([*line, "--quiet"]) as process:
        while process.poll() is None:
            time.sleep(1)
            done = len(list(out.glob("*.parquet"))) if out.exists() else 0
            found.append((done, held(process.pid)))
    if process.returncode:
        raise SystemExit(f"the job ended with {process.returncode}")
    return found[:-1]  # it may have been ending


def main() -> None:
    """Write the lake, annotate it, look at the memory."""
    chosen: Any = options("lake_memory", __doc__, add)
    chosen.work.mkdir(parents=True, exist_ok=True)
    sentences = sentences_of(corpus(chosen.data, "genia_documents", "test"))
    lake, model = chosen.work / "many", model_in(chosen.work, chosen.data, rescore=False)
    fragments = lake_of(lake, [text for text, _ in sentences], chosen.notes, chosen.seed)
    say(f"{chosen.notes:,} notes in {fragments} fragments")
    began = time.monotonic()
    seen = watched(model, lake, chosen.work / "out")
    seconds = time.monotonic() - began
    parts = [
        [memory for done, memory in seen if part <= TENTHS * done / fragments < part + 1] for part in range(TENTHS)
    ]
    result = Result("Memory of a job over ten million notes", chosen.seed)
    result.table(
        "Memory of all processes, MB", ("tenth of the fragments", "median", "most"),
        [[number, round(float(np.median(part))), round(max(part))] for number, part in enumerate(parts, 1) if part],
        f"{chosen.notes:,} notes of {np.mean([size for _, size in sentences]):.1f} tokens on average, in {fragments} "
        f"fragments; {seconds:.0f} s, {chosen.notes / seconds:,.0f} notes a second.",
    )  # fmt: skip
    # in the first tenth processes start, and distinct words are met for the first time
    growth = 100 * (np.median(parts[-1]) / np.median(parts[1]) - 1)
    result.at_most("memory in the last tenth, more than in the second, %", growth, GROWTH)
    result.data = {"seen": seen, "seconds": seconds, "fragments": fragments}
    result.save(chosen.out)
    for folder in (lake, chosen.work / "out"):
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
