"""Jobs over a lake, and trainings from disk, that are killed with `kill -9` and started again until they end.

    python benchmarks/lake_kills.py [--data DATA] [--kills 50] [--training-kills 20]

Training: `spanloom train recognizer --work FOLDER` is killed at random moments and started again with the same command;
the model has to be the bytes of one whose training nobody disturbed, with a folder and in memory. Lakes: `spanloom
predict MODEL LAKE --output OUT/ --jobs 2` is killed at random moments, a third of a second to eight seconds after its
start: all its processes at once, the parent alone, or one worker alone. Of each lake that is done the files are
compared with those of an undisturbed job: rows that are lost or stand twice, fragments whose bytes differ, and files
that are left over. Without DATA the bundled notes are taken, to try the script.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from beyond import files
from common import Result, options, say, timed
from lake import notes
from spanloom import read
from spanloom.data import clinical

WHOM = ("all processes", "the parent alone", "a worker alone")
SHORTEST, LONGEST = 0.3, 8.0  # seconds from a start, or from the kill of a worker, to the next kill of a job
PATIENCE = 60.0  # seconds in which processes that lost their parent have to end
LOOK = 0.02  # seconds from one look at a process to the next
LATEST = 1.2  # times the seconds of an undisturbed training: the last moment of a kill
AGAIN = 100  # starts of one job, after which it is taken for one that does not end
JOB = (sys.executable, "-m", "spanloom.cli")


@dataclass
class Tally:
    """What was done, and what came of it.

    Args:
        counts: name -> how many.
        found: a line for each thing that should not be.
    """

    counts: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)

    def broken(self, name: str, what: list[str]) -> None:
        """Count what should not be."""
        self.counts[name] += len(what)
        self.found += [f"{name}: {one}" for one in what]
        for one in what:
            say(f"{name}: {one}")


class Process:
    """A command in a process group of its own, which can be killed in parts."""

    def __init__(self, *command: object) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen([*JOB, *map(str, command)], stderr=self._file, start_new_session=True)

    def ends_within(self, seconds: float) -> bool:
        """Return whether it ends by itself."""
        until = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < until:
            time.sleep(LOOK)
        return self._process.poll() is not None

    def kill(self, whom: str, chosen: Random) -> bool:
        """Kill all processes, the parent or a worker; return false where there is none."""
        if whom == "a worker alone":
            found = self._workers()
            if not found:
                return False
            os.kill(chosen.choice(found), signal.SIGKILL)
            return True
        if whom == "all processes":
            os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()
        self._process.wait()
        return True

    def end(self) -> tuple[int, str]:
        """Wait for it, and for all that it started; return its exit code and what it said."""
        code = self._process.wait()
        until = time.monotonic() + PATIENCE
        while _alive(self._process.pid):
            if time.monotonic() > until:
                raise SystemExit(f"processes of {self._process.args} outlive it by {PATIENCE:.0f} s")
            time.sleep(LOOK)
        self._file.seek(0)
        return code, self._file.read().decode()

    def _workers(self) -> list[int]:
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        try:
            pids = [int(pid) for pid in children.read_text().split()]
            return [pid for pid in pids if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        except OSError:  # one has just ended
            return []


def _alive(group: int) -> bool:
    """Return whether a process group has a process that is no zombie."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, own, *_ = status.read_text().rpartition(")")[2].split()
        except (OSError, ValueError):  # it has just ended
            continue
        if int(own) == group and state not in "ZX":
            return True
    return False


def undisturbed(*command: object) -> float:
    """Run a command to its end, and return its seconds."""
    seconds, (code, told) = timed(lambda: Process(*command).end())
    if code:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {code}\n{told}")
    return seconds.wall


@dataclass(frozen=True)
class Texts:
    """The files to train on, and texts to annotate."""

    train: Path
    dev: Path
    notes: list[str]


def texts(chosen: argparse.Namespace, place: Path) -> Texts:
    """GENIA's, or the bundled notes."""
    if chosen.data is None:
        own = [document.text for document in read(clinical() / "train")]
        drawn = Random(chosen.seed)
        return Texts(clinical() / "train", clinical() / "dev", drawn.choices(own, k=chosen.notes))
    train, dev = place / "train.jsonl", chosen.data / "genia" / "dev.jsonl"
    with (chosen.data / "genia" / "train.jsonl").open("rb") as source, train.open("wb") as sink:
        sink.writelines(islice(source, chosen.sentences))
    return Texts(train, dev, notes(chosen.data, chosen.notes, chosen.seed))


def training(chosen: argparse.Namespace, place: Path, given: Texts, tally: Tally) -> tuple[Path, list[Any]]:
    """Trainings that are killed; the model of one that is not, and a row."""

    def command(name: str, *more: object) -> list[object]:
        line = ["train", "recognizer", "--train", given.train, "--dev", given.dev, "--output", place / name, "--force"]
        return [*line, "--features", "fast", "--l2", 1, "--epochs", chosen.epochs, "--pos", "none", "--jobs", 2, *more]

    work, chance, shared = place / "work", Random(f"training {chosen.seed}"), ("--work", place / "work")
    memory = undisturbed(*command("memory"))
    seconds = undisturbed(*command("folder", *shared))
    say(f"training: {memory:.1f} s in memory, {seconds:.1f} s with a folder")
    wanted, kills, starts = files(place / "memory"), 0, 0
    tally.broken("models that differ", [] if files(place / "folder") == wanted else ["with a folder, undisturbed"])
    while kills < chosen.training_kills:
        shutil.rmtree(place / "killed", ignore_errors=True)
        for _ in range(AGAIN):
            starts += 1
            process = Process(*command("killed", *shared))
            if kills < chosen.training_kills and not process.ends_within(chance.uniform(0, LATEST * seconds)):
                kills += process.kill("all processes", chance)
            code, told = process.end()
            if code != -signal.SIGKILL:
                break
        tally.counts["trainings"] += 1
        tally.broken("trainings that failed", [f"exit code {code}: {told}"] if code else [])
        tally.broken("models that differ", [] if not code and files(place / "killed") == wanted else [f"at {kills}"])
        left = [path for path in (work, *place.glob(".*")) if path.exists()]
        tally.broken("files of trainings that are left over", [str(path) for path in left])
        say(f"training: {kills} kills, {tally.counts['trainings']} models")
    return place / "memory", ["training with a folder", kills, 0, 0, starts, tally.counts["trainings"], seconds]


def make_lake(place: Path, given: Texts, size: int) -> Path:
    """A folder of fragments of so many notes, in two folders."""
    lake = place / "lake"
    for number, start in enumerate(range(0, len(given.notes), size)):
        part = given.notes[start : start + size]
        folder = lake / ("odd" if number % 2 else "even")
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"id": range(start, start + len(part)), "text": part}), folder / f"{number}.parquet")
    return lake


def lakes(chosen: argparse.Namespace, place: Path, given: Texts, model: Path, tally: Tally) -> list[Any]:
    """Jobs that are killed; a row."""
    lake, chance = make_lake(place, given, chosen.fragment), Random(f"lakes {chosen.seed}")
    seconds = undisturbed("predict", model, lake, "--output", f"{place}/wanted/", "--jobs", 2)
    say(f"lake: {seconds:.1f} s")
    kills, starts, done = Counter[str](), 0, 0
    while kills.total() < chosen.kills:
        out = place / f"out-{done}"
        for _ in range(AGAIN):
            starts += 1
            process = Process("predict", model, lake, "--output", f"{out}/", "--jobs", 2)
            while kills.total() < chosen.kills and not process.ends_within(chance.uniform(SHORTEST, LONGEST)):
                whom = chance.choice(WHOM)
                kills[whom] += process.kill(whom, chance)
            code, told = process.end()
            if not code:
                break
            if code not in (-signal.SIGKILL, 1):  # 1: two workers died with one fragment, which was left out
                tally.broken("jobs that failed", [f"exit code {code}: {told}"])
                break
        done += 1
        compare(place / "wanted", out, len(given.notes), tally)
        say(f"lakes: {kills.total()} kills, {done} lakes")
        shutil.rmtree(out)
    tally.counts["lakes"] = done
    return ["a lake, 2 processes", *(kills[whom] for whom in WHOM), starts, done, seconds]


def compare(wanted: Path, out: Path, rows: int, tally: Tally) -> None:
    """Compare an annotated lake with that of an undisturbed job."""
    expected, found = _files(wanted), _files(out)
    tables = {name for name in expected if name.endswith(".parquet")}
    tally.broken("files that are left over", sorted(found - expected))
    tally.broken("fragments that are lost", sorted(expected - found))
    there = sorted(tables & found)
    tally.broken(
        "fragments that differ", [name for name in there if (wanted / name).read_bytes() != (out / name).read_bytes()]
    )
    counted = Counter(key for name in there for key in pq.read_table(out / name)["id"].to_pylist())
    tally.broken("rows that are lost", [str(key) for key in range(rows) if not counted[key]])
    tally.broken("rows that stand twice", [str(key) for key, count in counted.items() if count > 1])
    told = [_told(folder) for folder in (wanted, out)]
    tally.broken("manifests that differ", [str(out)] if told[0] != told[1] else [])
    tally.counts["fragments"] += len(there)
    tally.counts["rows"] += counted.total()


def _files(folder: Path) -> set[str]:
    """All of a folder, hidden files and empty folders among them."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def _told(folder: Path) -> Any:
    """A manifest without what tells of the clock."""
    said = json.loads((folder / "_spanloom" / "manifest.json").read_text(encoding="utf-8"))
    for record in said["fragments"].values():
        del record["seconds"]
    return said


BROKEN = (
    "fragments that are lost", "rows that are lost", "rows that stand twice", "fragments that differ",
    "manifests that differ", "files that are left over", "jobs that failed", "models that differ",
    "files of trainings that are left over", "trainings that failed",
)  # fmt: skip


def report(chosen: argparse.Namespace) -> None:
    """Train, then annotate."""
    result, tally = Result("Jobs over a lake and trainings from disk that are killed", chosen.seed), Tally()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        place = Path(folder)
        given = texts(chosen, place)
        model, trained = training(chosen, place, given, tally)
        annotated = lakes(chosen, place, given, model, tally)
    for name in BROKEN:
        result.at_most(name, tally.counts[name], 0)
    result.table(
        "What was killed with kill -9, and started again until it ended",
        ["what", *(f"kills of {whom}" for whom in WHOM), "starts", "that ended", "seconds of one, undisturbed"],
        [annotated, trained],
        f"A lake has {len(given.notes):,} texts in fragments of {chosen.fragment}; {tally.counts['fragments']:,} "
        f"fragments and {tally.counts['rows']:,} rows were compared with those of an undisturbed job, byte by byte. "
        f"A training (separators, preset `fast`, second stage, {chosen.epochs} passes at most) is one process; "
        f"{tally.counts['trainings']} models were compared with that of an undisturbed training with a folder, and "
        "with that of one in memory. A kill of a worker ends no job.",
    )
    result.data.update(counts=tally.counts, found=tally.found)
    result.save(chosen.out)


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, help="the folder that holds genia/ and genia_documents/ [bundled notes]")
    parser.add_argument("--kills", type=int, default=50, help="of jobs over lakes [50]")
    parser.add_argument("--training-kills", type=int, default=20, help="of trainings [20]")
    parser.add_argument("--notes", type=int, default=1500, help="in a lake [1500]")
    parser.add_argument("--fragment", type=int, default=25, help="notes in a fragment [25]")
    parser.add_argument("--sentences", type=int, default=1000, help="of GENIA to train on [1000]")
    parser.add_argument("--epochs", type=int, default=5, help="passes of a training, at most [5]")
    parser.add_argument("--folder", help="where lakes and models are written [that of temporary files]")


def main() -> None:
    """Kill, start again, compare."""
    report(options("lake_kills", __doc__, _more, corpora=False))


if __name__ == "__main__":
    main()
