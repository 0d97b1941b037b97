"""Lakes that are half annotated when their job is killed: the next job gives the bytes of one that nobody disturbed.

A case kills the job after at least one fragment is done and before all are, once or several times; whatever is in place
then is whole, and what is done is not done again.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random

from campaign.frame import Record, generator
from campaign.outputs import make_data
from spanloom.formats import read

_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_FRAGMENTS = 10
_ROWS = 250
_PATIENCE = 300.0  # seconds for one job


def make_lake(lake: Path, texts: list[str]) -> None:
    """Fragments of all kinds, in folders."""
    import pyarrow as pa
    import pyarrow.ipc
    import pyarrow.parquet as pq

    draw = Random(0)
    for number in range(_FRAGMENTS):
        folder = lake / ("", "a", "a/b")[number % 3]
        folder.mkdir(parents=True, exist_ok=True)
        rows = [{"id": str(i), "text": " ".join(draw.choices(texts, k=20))} for i in range(_ROWS)]
        name = folder / f"part-{number}"
        if number % 4 == 3:
            name.with_suffix(".jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        elif number % 4 == 2:
            table = pa.Table.from_pylist(rows)
            with pa.ipc.new_file(name.with_suffix(".arrow"), table.schema) as file:
                file.write_table(table)
        else:
            pq.write_table(pa.Table.from_pylist(rows), name.with_suffix(".parquet"))


def outputs(out: Path) -> dict[str, bytes]:
    """The fragments that are in place."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in out.rglob("*.parquet")
        if not any(part[0] == "." for part in path.relative_to(out).parts)
    }


def run(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """Each case is one lake whose job is killed when it is half done."""
    record = Record("lakes", seed)
    data = folder / "data"
    data.mkdir()
    make_data(data, models=True)
    lake, model = folder / "lake", data / "new" / "model"
    make_lake(lake, [document.text for document in read(data / "new" / "notes.jsonl")])
    line = [sys.executable, "-m", "spanloom.cli", "predict", str(model), str(lake), "--quiet", "-o"]
    subprocess.run([*line, f"{folder / 'whole'}/", "--jobs", "1"], check=True)
    wanted = outputs(folder / "whole")
    for case in cases:
        draw, out = generator("lakes", seed, case), folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        outcome, found = _case([*line, f"{out}/", "--jobs", str(draw.choice((1, 2)))], out, wanted, draw)
        if found:
            record.fail("lake", outcome, case, found)
        else:
            record.add("lake", outcome)
    return record


def _case(line: list[str], out: Path, wanted: Mapping[str, bytes], draw: Random) -> tuple[str, str]:
    kills = 0
    for _ in range(draw.choice((1, 1, 2, 3))):
        before = len(_done(out))
        code = _killed(line, out, before + draw.randrange(1, 4), draw)
        for name, content in outputs(out).items():
            if content != wanted[name]:
                return "torn", f"{name} after exit code {code}"
        kills += code is not None and 0 < len(_done(out)) < len(wanted)
    kept = {name: (out / name).stat().st_mtime_ns for name in _done(out)}
    again = subprocess.run(line, capture_output=True, encoding="utf-8", timeout=_PATIENCE, check=False)
    if again.returncode:
        return "exit code", f"{again.returncode}: {again.stderr[-300:]}"
    if outputs(out) != wanted:
        return "other bytes", f"{len(outputs(out))} of {len(wanted)} fragments"
    if changed := [name for name, written in kept.items() if (out / name).stat().st_mtime_ns != written]:
        return "done again", ", ".join(changed)
    if left := [str(path) for path in (*out.rglob(".*"), *(out / "_spanloom" / "claims").iterdir())]:
        return "leftover", ", ".join(left)
    return (f"killed {kills} times when half done" if kills else "ended before it was killed"), ""


def _done(out: Path) -> list[str]:
    """Names of outputs whose record says that they are finished."""
    records = (out / "_spanloom" / "done").glob("*.json")
    names = [json.loads(path.read_bytes())["fragment"] for path in records]
    return [name if name.endswith(".parquet") else f"{name}.parquet" for name in names]


def _killed(line: list[str], out: Path, done: int, draw: Random) -> int | None:
    """Kill a job when so many fragments are done, and a moment later; its exit code, or ``None`` if it ended before."""
    job = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + _PATIENCE
    while job.poll() is None and len(list((out / "_spanloom" / "done").glob("*.json"))) < done:
        time.sleep(0.01)
        assert time.monotonic() < until, "the job does not end"
    time.sleep(draw.uniform(0.0, 0.1))
    if job.poll() is not None:
        return None
    os.kill(job.pid, draw.choice(_SIGNALS))
    code = job.wait(_PATIENCE)
    time.sleep(0.3)  # its processes end with it, those that write after their fragment
    return code
