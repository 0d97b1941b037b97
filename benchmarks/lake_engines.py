"""What is left of the rate of an `Annotator` when Spark, Ray, Dask, DuckDB, Polars or `datasets` run it.

    python benchmarks/lake_engines.py --data DATA --work WORK

Model and lake are those of `lake.py`, in the same WORK. Every engine reads the fragments, and writes Parquet; it is a
program of its own, and is given as many fragments first as it has processes, so that its workers run and, where it
keeps them, have opened the model. Those that run in one process stand beside a plain loop over the fragments, those
with two beside the job of `spanloom predict LAKE/`, which starts its processes anew. The best of several rounds counts;
in a round everything runs once, one after the other. An engine that is not installed is left out.

Of what runs in one process the processor time stands beside the wall clock: where an engine takes no more of it than
the loop, and yet longer, it waited for a core or a disk, and its adapter converts nothing in vain.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from common import Clock, Result, Seconds, options, say
from lake import TOKENS, job, lake_in, model_in, notes
from spanloom.integrations.engines import with_dask, with_datasets, with_duckdb, with_polars, with_ray, with_spark
from spanloom.lake import Annotator

Runner = Callable[[list[str], Path], object]


def loop(annotator: Annotator) -> Runner:
    """No engine."""

    def run(fragments: list[str], out: Path) -> None:
        for fragment in fragments:
            pq.write_table(annotator.table(pq.read_table(fragment)), out / Path(fragment).name)

    return run


def polars(annotator: Annotator) -> Runner:
    """In this process."""
    import polars as pl

    def run(fragments: list[str], out: Path) -> None:
        for fragment in fragments:
            with_polars(pl.read_parquet(fragment), annotator).write_parquet(out / Path(fragment).name)

    return run


def duckdb(annotator: Annotator) -> Runner:
    """In this process."""
    import duckdb as engine

    def run(fragments: list[str], out: Path) -> None:
        reader = with_duckdb(engine.connect().read_parquet(fragments), annotator)
        with pq.ParquetWriter(out / "all.parquet", reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)

    return run


def datasets(annotator: Annotator) -> Runner:
    """In this process."""
    from datasets import Dataset, disable_caching, disable_progress_bars

    disable_caching()
    disable_progress_bars()

    def run(fragments: list[str], out: Path) -> None:
        given = Dataset.from_parquet(fragments, cache_dir=str(out / "cache"))
        with_datasets(given, annotator).to_parquet(out / "all.parquet")

    return run


def dask(annotator: Annotator) -> Runner:
    """Two processes."""
    import dask
    import dask.dataframe as dd

    # else a process is handed several partitions at a time, and another waits at the end
    dask.config.set(scheduler="processes", chunksize=1, pool=ProcessPoolExecutor(2, get_context("spawn")))

    def run(fragments: list[str], out: Path) -> None:
        made = with_dask(dd.read_parquet(fragments), annotator)
        made.to_parquet(out, schema=annotator.schema(pq.read_schema(fragments[0])), write_index=False)

    return run


def ray(annotator: Annotator) -> Runner:
    """Two processes."""
    import ray as engine

    engine.init(num_cpus=2, include_dashboard=False, log_to_driver=False)

    def run(fragments: list[str], out: Path) -> None:
        given = engine.data.read_parquet(fragments).repartition(len(fragments))  # read at once, they would be one task
        with_ray(given, annotator).write_parquet(str(out))

    return run


def spark(annotator: Annotator) -> Runner:
    """Two threads of Java, each with a process of Python."""
    from pyspark.sql import SparkSession

    made = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = made.config("spark.log.level", "ERROR").getOrCreate()

    def run(fragments: list[str], out: Path) -> None:
        with_spark(session.read.parquet(*fragments), annotator).write.mode("overwrite").parquet(str(out))

    return run


ENGINES: dict[str, tuple[Callable[[Annotator], Runner], int]] = {
    "loop": (loop, 1), "polars": (polars, 1), "duckdb": (duckdb, 1), "datasets": (datasets, 1),
    "dask": (dask, 2), "ray": (ray, 2), "spark": (spark, 2),
}  # fmt: skip
"""Name -> what runs an annotator, and the number of its processes."""
MODULES = {"spark": "pyspark", "loop": "pyarrow"}


def add(parser: ArgumentParser) -> None:
    """Add the script's own options."""
    parser.add_argument("--work", type=Path, required=True, help="keeps models and lakes")
    parser.add_argument("--notes", type=int, default=40_000, help="in the lake [40000]")
    parser.add_argument("--rounds", type=int, default=3, help="of which the best counts [3]")
    parser.add_argument("--only", choices=ENGINES, help="run this one, and say how long it took")


def timed_run(name: str, model: Path, lake: Path, out: Path) -> Seconds:
    """Seconds of an engine for a lake, once it is warm; those of the processor are of this process alone."""
    start, processes = ENGINES[name]
    run = start(Annotator(model))
    fragments = sorted(map(str, lake.glob("*.parquet")))
    for folder in ("first", "all"):
        shutil.rmtree(out / folder, ignore_errors=True)
        (out / folder).mkdir(parents=True)
    run(fragments[:processes], out / "first")
    with Clock() as clock:
        run(fragments, out / "all")
    rows = sum(pq.read_metadata(path).num_rows for path in (out / "all").rglob("*.parquet"))
    if rows != sum(pq.read_metadata(path).num_rows for path in fragments):
        raise SystemExit(f"{name} wrote {rows} rows")
    return clock.seconds


def apart(name: str, chosen: Any) -> Seconds:
    """`timed_run` in a program of its own."""
    line = [sys.executable, __file__, "--data", str(chosen.data), "--work", str(chosen.work), "--only", name]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(line, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    wall, cpu = map(float, done.stdout.split()[-2:])
    return Seconds(wall, cpu)


def main() -> None:
    """Run every engine."""
    chosen: Any = options("lake_engines", __doc__, add)
    chosen.work.mkdir(parents=True, exist_ok=True)
    if chosen.only:
        wall, cpu = timed_run(chosen.only, chosen.work / "one", chosen.work / "lake", chosen.work / "out")
        sys.stdout.write(f"{wall} {cpu}\n")
        return
    result = Result("Engines that run an annotator", chosen.seed)
    model = model_in(chosen.work, chosen.data, rescore=False)
    lake = lake_in(chosen.work, notes(chosen.data, chosen.notes, chosen.seed))
    names = [name for name in ENGINES if find_spec(MODULES.get(name, name)) is not None]
    best: dict[str, float] = {}
    processor: dict[str, float] = {}
    for _ in range(chosen.rounds):
        for name in ("job", *names):
            ran = Seconds(*job(model, lake, chosen.work / "out", 2)) if name == "job" else apart(name, chosen)
            best[name] = min(ran.wall, best.get(name, ran.wall))
            processor[name] = min(ran.cpu, processor.get(name, ran.cpu))
            say(f"{name}: {chosen.notes / ran.wall:,.0f} notes a second")
    rows = []
    for name in names:
        processes = ENGINES[name][1]
        share = best["loop" if processes == 1 else "job"] / best[name]
        of_processor = processor["loop"] / processor[name] if processes == 1 else None
        rows.append([name, processes, chosen.notes / best[name], share, of_processor])
        if name != "loop":
            result.at_least(f"{name}: its rate over that without an engine", share, 0.9)
    rows.insert(1, ["spanloom predict LAKE/", 2, chosen.notes / best["job"], 1.0, None])
    result.table(
        "Notes a second, from Parquet to Parquet",
        ["engine", "processes", "notes a second", "of the rate without it", "the same by processor time"],
        rows,
        f"{chosen.notes:,} notes of {TOKENS} tokens or a little more; the best of {chosen.rounds} rounds.",
        f"pyarrow {pa.__version__}.",
    )
    result.data["seconds"], result.data["processor"] = best, processor
    result.save(chosen.out)


if __name__ == "__main__":
    main()
