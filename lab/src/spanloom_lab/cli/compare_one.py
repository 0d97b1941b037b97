"""Trains and measures one model of `spanloom lab compare`: a process of its own, so that its peak memory is its own.

It is started as ``python -m spanloom_lab.cli.compare_one JOB``, where JOB is JSON, and writes the rows, or an error, as
JSON to standard output. Nothing is read from standard input: when that ends, the parent is gone, and this process ends.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from spanloom.cli.execute import open_streams, os_error
from spanloom.cli.messages import Messages
from spanloom.cli.progress import Reporter
from spanloom.cli.reading import column_options
from spanloom.errors import LostWarning, SpanloomError
from spanloom.formats import read, write
from spanloom.formats.base import DEFAULTS
from spanloom_lab.cli.compare_records import PREDICTIONS, best_on_dev
from spanloom_lab.comparison import Parts, Variant, build, divide, finds_heads, fit, head_finders, measure

if sys.platform != "win32":
    import resource


class TrainingJob(NamedTuple):
    """A variant to train, with its parameters and data.

    Args:
        variant: the fields of a `Variant`.
        params: of a recognizer, but these two.
        train: data.
        dev: data, or ``None`` for a tenth of the training data.
        test: data, or ``None`` for the development data.
        input_format: of the data.
        columns: of column files.
        heads: whether they must match, too.
        seed: of that tenth and of the intervals.
        folder: where model and predictions go; it is there, and empty.
        quiet: show no progress.
        reading: how all data are read, as of `spanloom.formats.base.DEFAULTS`.
    """

    variant: list[Any]
    params: dict[str, Any]
    train: list[str]
    dev: list[str] | None
    test: list[str] | None
    input_format: str | None
    columns: str | None
    heads: bool
    seed: int
    folder: str
    quiet: bool
    reading: dict[str, Any]


def parts(
    train: list[str],
    dev: list[str] | None,
    test: list[str] | None,
    input_format: str | None,
    columns: str | None,
    seed: int,
) -> Parts:
    """The data, read and divided."""
    trained, tuned, tested = (
        None
        if path is None
        else read(
            path, format=input_format, notice=lambda _: None, **column_options(columns)
        )  # the run reports it once
        for path in (train, dev, test)
    )
    return divide(trained or (), tuned, tested, seed)


def work(job: TrainingJob) -> list[dict[str, Any]]:
    """Train, save, measure, predict; the rows."""
    log = Messages(job.quiet)
    data = parts(job.train, job.dev, job.test, job.input_format, job.columns, job.seed)
    variant = Variant(*job.variant)
    model = build(variant, job.params)
    with Reporter(job.quiet) as reporter:
        seconds = fit(variant.name, model, data, lambda _, step: reporter(step))
    memory = peak_memory()
    finders = None
    if job.heads:
        finders = {} if finds_heads(model) else head_finders(data, job.params)
    rows = measure(
        variant.name, model, data.dev, data.test, seconds=seconds, finders=finders, seed=job.seed, notice=log
    )
    model.save(job.folder)
    write(rows[best_on_dev(rows)].predicted, Path(job.folder, PREDICTIONS))
    about = {"structure": variant.structure, "counting": variant.counting, "peak_memory": memory}
    return [{**row.to_dict(), **about} for row in rows]


def peak_memory() -> int | None:
    """Return the largest resident memory of this process so far, in bytes; ``None`` if the system does not report it.

    Linux includes the parent's memory at the start of a process in its ``ru_maxrss``, so the process' own status is
    used there.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = None
    if sys.platform != "win32":
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return peak


def answer(job: TrainingJob) -> dict[str, Any]:
    """Return the rows, or one line with the reason why there are no rows."""
    try:
        return {"rows": work(job)}
    except SpanloomError as error:
        return {"error": str(error)}
    except OSError as error:
        return {"error": os_error(error)}
    except MemoryError:
        return {"error": "out of memory"}


def _end_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os._exit(1)


def main() -> None:
    """One job."""
    warnings.simplefilter("ignore", LostWarning)  # the tables count them
    open_streams()
    job = TrainingJob(**json.loads(sys.argv[1]))
    DEFAULTS.set(job.reading)
    Thread(target=_end_with_parent, daemon=True).start()
    print(json.dumps(answer(job)), flush=True)


if __name__ == "__main__":
    main()
