"""Folders of strangers: made-up rests of interrupted writes, ledgers, leases, checkpoints and work folders.

Each case builds a home with work of its owner and a download, puts hostile files at random places of the download, and
reads it or writes to it. Nothing outside the output may change; reading may change nothing at all.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import spanloom
from campaign.frame import Record, generator
from campaign.mutate import VALUES, damaged
from campaign.outputs import run_here
from campaign.trace import changes, system_calls
from spanloom.document import Document, Mention
from spanloom.errors import SpanloomError
from spanloom.files.output import output_folder
from spanloom.lake.job import Leases
from spanloom.learn.checkpoints import Checkpoint, Kept, Run
from spanloom.model.work import Work
from spanloom.vocabulary import read_vocabulary

sys.path.append(str(Path(__file__).parents[3] / "lab" / "src"))  # where it is not installed
from spanloom_lab.cli.compare_records import kept

NAMES = "id\tname\tsynonyms\nX:1\tInfarction\tHeart Attack|MI\n"
RUN = Run(settings="s", data="d", encoder="e")
NOTE = Document("No chest pain.", "n", mentions=[Mention("problem", [(3, 13)])])


def _journal(home: Path, place: Path, draw: random.Random) -> None:
    """What looks like the rest of an interrupted write, beside or in a place."""
    base = place.parent if draw.random() < 0.7 or not place.is_dir() else place
    name = draw.choice((place.name, place.name, "notes.jsonl", "model.json", "n.ann", "x"))
    part = base / f".{name}.{draw.randrange(1 << 32):08x}.part"
    if os.path.lexists(part):
        return
    out = os.path.relpath(home, base)
    thesis = str(home / "thesis.tex")
    targets = (f"{out}/project/sitecustomize.py", f"{out}/thesis.tex", thesis, "..", ".", name, "made.txt")
    stamp = [(home / "thesis.tex").stat().st_size, (home / "thesis.tex").stat().st_mtime_ns]
    lines: Any = [
        {
            "place": draw.choice(targets), "name": draw.choice(("0", "0", "1", "x", str(home / "thesis.tex"), "../0")),
            "folder": draw.random() < 0.5, "stamp": draw.choice(([], [1], stamp)),
        }
        for _ in range(draw.choice((1, 1, 2, 5)))
    ]  # fmt: skip
    for folder in ("new", "old"):
        if draw.random() < 0.15:
            (part / folder).parent.mkdir(exist_ok=True, parents=True)
            (part / folder).symlink_to(home / "project")
        else:
            (part / folder).mkdir(parents=True, exist_ok=True)
            (part / folder / "0").write_text("print('code of the data runs')\n")
    data = json.dumps(lines).encode()
    if draw.random() < 0.3:
        data = damaged(data, draw)
    kind = draw.random()
    if kind < 0.85:
        (part / "undo").write_bytes(data)
    elif kind < 0.95:
        (part / "undo").symlink_to(home / "project" / "undo")
    if draw.random() < 0.2:
        (part / "lock").symlink_to(home / "project" / "made.txt")


def _linked(home: Path, place: Path, draw: random.Random) -> None:
    """A link, or damage, at a place that a run writes to or believes."""
    if place.parent.resolve() != place.parent or not place.parent.is_dir():
        return  # an earlier link leads elsewhere
    if place.is_symlink():
        place.unlink()
    target = draw.choice((home / "thesis.tex", home / "project" / "made.py", home / "project", home / "project" / "0"))
    kind = draw.random()
    if kind < 0.5 or not place.is_file():
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        if kind < 0.4:
            place.symlink_to(target)
        elif kind < 0.5:
            os.mkfifo(place)
        else:
            place.write_bytes(json.dumps(draw.choice(VALUES)).encode(errors="surrogatepass"))
    else:
        place.write_bytes(damaged(place.read_bytes(), draw))


Step = Callable[[Path, random.Random], None]


def _lake(home: Path, draw: random.Random) -> None:
    """Annotate a lake, beginning and leases alone; the model is another section's."""
    from spanloom.lake.ledger import fragments_of

    out = home / "download" / "out"
    leases = Leases(out / "_spanloom" / "claims")
    ledger = _ledger(out)
    places = ("a.jsonl.parquet", "_spanloom", "_spanloom/claims", "_spanloom/done", "_spanloom/job.json",
              "_spanloom/manifest.json", f"_spanloom/claims/{leases._path('a.jsonl').name}",
              f"_spanloom/done/{leases._path('a.jsonl').stem}.json")  # fmt: skip
    for _ in range(draw.choice((1, 1, 2))):
        _linked(home, out / draw.choice(places), draw)
    ledger = _ledger(out)
    for one in fragments_of(home / "download" / "lake"):
        if ledger.record(one) is None and leases.take(one.name):
            ledger.place(one)
            ledger.note(one, {"rows": 1, "mentions": 0, "problems": 0}, 0.1)
            leases.release(one.name)
    ledger.write_manifest(fragments_of(home / "download" / "lake"), {})


def _ledger(out: Path) -> Any:
    import pyarrow as pa

    from spanloom.lake.ledger import Ledger

    class Asked:
        digest, text, id, keep, threshold, longest, expand = "d", "text", "id", (), 0.0, 1000, False

    return Ledger.open(out, Asked(), pa.schema([("text", pa.string())]))  # type: ignore[arg-type]


def _checkpoint(home: Path, draw: random.Random) -> None:
    checkpoint = Checkpoint(home / "download" / "kept" / "seed-0", RUN)
    checkpoint.write(Kept(), {"w": np.ones(2)})
    place = checkpoint.folder / draw.choice(("checkpoint.json", "checkpoint.safetensors", ""))
    draw.choice((_linked, _linked, _journal))(home, place, draw)
    with suppress(SpanloomError):
        checkpoint.read()
    checkpoint.write(Kept(), {"w": np.zeros(2)})


def _work(home: Path, draw: random.Random) -> None:
    own = home / "download" / "work" / "spanloom-training"
    (own / "passes-1.0-0").mkdir(parents=True)
    names = ("spanloom.lock", "table.array", "passes-1.0-0/passes.json", *draw.choice(((), ("work.json",))))
    for name in names:
        (own / name).write_bytes(b"")
    for _ in range(draw.choice((0, 1, 2))):
        _linked(home, own / draw.choice((*names, "work.json.new", "passes-1.0-0")), draw)
    with Work(own.parent) as work:
        work.spooled([[Document("a", tokens=[(0, 1)], sentences=[(0, 1)])]], "documents")  # type: ignore[list-item]
        work.begin()


def _written(home: Path, draw: random.Random) -> None:
    download = home / "download"
    name = draw.choice(("notes.jsonl", "n.ann", "brat", "x"))
    for _ in range(2):
        _journal(home, download / name, draw)
    if name == "x":
        with output_folder(download / name, force=True, may_replace=lambda file: True) as folder:
            (folder / "0").write_text("")
    else:
        spanloom.write([NOTE], download / name, format="brat" if name == "brat" else None, force=True)


READING: dict[str, Callable[[Path], object]] = {
    "validate": lambda path: run_here(["validate", str(path / "brat")]),
    "validate, file": lambda path: run_here(["validate", str(path / "notes.jsonl")]),
    "read, folder": lambda path: list(spanloom.read(path / "brat")),
    "read, pair": lambda path: list(spanloom.read(path / "brat" / "n.txt")),
    "read, file": lambda path: list(spanloom.read(path / "notes.jsonl")),
    "vocabulary": lambda path: read_vocabulary(path / "names.tsv"),
    "model": lambda path: spanloom.load(path / "index"),
    "model, missing": lambda path: spanloom.load(path / "x"),
    "inspect": lambda path: run_here(["inspect", str(path / "index")]),
    "comparison": lambda path: kept(path / "index", {}),
}
WRITING: dict[str, Step] = {
    "output": _written, "ledger and leases": _lake, "checkpoint": _checkpoint, "work": _work,
}  # fmt: skip


def make_home(home: Path) -> None:
    """A home with work of its owner, and a download of every kind."""
    shutil.rmtree(home, ignore_errors=True)
    download = home / "download"
    for name in ("project", "download/lake"):
        (home / name).mkdir(parents=True)
    (home / "thesis.tex").write_text("years of work")
    (home / "project" / "0").write_text("mine")
    (home / "project" / "undo").write_text(json.dumps([{"place": "x", "name": "0", "folder": False, "stamp": []}]))
    (download / "names.tsv").write_text(NAMES)
    (download / "lake" / "a.jsonl").write_text('{"text": "No chest pain."}\n')
    spanloom.write([NOTE], download / "notes.jsonl")
    spanloom.write([NOTE], download / "brat", format="brat")
    read_vocabulary(download / "names.tsv").save(download / "index")


def tree(folder: Path, without: str = "\0") -> dict[str, object]:
    """Kinds, times and contents of all that is in a folder."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name, status = str(path.relative_to(folder)), path.lstat()
        if not name.startswith(without):
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else None
            found[name] = (status.st_mode, status.st_mtime_ns if content is not None else 0, content)
    return found


def run(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """Each case is one home for each way of reading and of writing."""
    record, home = Record("strangers", seed), folder / "home"
    with warnings.catch_warnings(action="ignore"):
        for case in cases:
            for name in (*READING, *WRITING):
                _one(record, name, case, generator(f"strangers {name}", seed, case), home)
    return record


def _one(record: Record, name: str, case: int, draw: random.Random, home: Path) -> None:
    make_home(home)
    if name in READING:
        _strew(home, draw)
    before = tree(home, "\0" if name in READING else "download")
    outcome = "done"
    with changes() as found:
        try:
            if name in READING:
                READING[name](home / "download")
            else:
                WRITING[name](home, draw)
        except SpanloomError as error:
            outcome = "refused"
            if "\n" in str(error):
                record.fail(name, "message", case, repr(str(error))[:200])
        except Exception:
            record.fail(name, "foreign exception", case, traceback.format_exc().strip().splitlines()[-1][:300])
            return
    if tree(home, "\0" if name in READING else "download") != before:
        record.fail(name, "changed", case, "files outside the output, or of an input, are not what they were")
    elif found := [one for one in found if name in READING or _is_outside(one, home / "download")]:
        record.fail(name, "wrote", case, "; ".join(found)[:300])
    else:
        record.add(name, outcome)


def _is_outside(change: str, folder: Path) -> bool:
    """Return whether a change has a path that is not in a folder; names alone are of folders that are being removed."""
    path = change.partition(" ")[2]
    return Path(path).is_absolute() and not path.startswith(f"{folder}{os.sep}")


def _strew(home: Path, draw: random.Random) -> None:
    """Put journals at random places of the download."""
    download = home / "download"
    for _ in range(draw.choice((1, 3, 8))):
        place = draw.choice(
            ("brat", "brat/n.txt", "brat/n.ann", "notes.jsonl", "names.tsv", "index", "index/model.json", "x")
        )
        _journal(home, download / place, draw)


TRACED = {
    "validate": ("validate", "{}/brat"),
    "inspect": ("inspect", "{}/index"),
    "view": ("view", "{}/notes.jsonl"),
    "convert": ("convert", "{}/brat", "-", "--format", "jsonl"),
    "evaluate": ("evaluate", "{}/brat", "{}/brat"),
    "vocabulary": ("vocabulary", "{}/names.tsv"),
    "convert, over": ("convert", "{}/brat", "{}/notes.jsonl", "--force"),
}


def traced(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """Each case is a verb as a process under strace, over a home with journals: all its system calls are looked at."""
    record, home = Record("strangers-traced", seed), folder / "home"
    names = list(TRACED)
    for case in cases:
        name, draw = names[case % len(names)], generator("strangers-traced", seed, case)
        with warnings.catch_warnings(action="ignore"):
            make_home(home)
        _strew(home, draw)
        line = [part.replace("{}", str(home / "download")) for part in TRACED[name]]
        before = tree(home, "\0" if name != "convert, over" else "download")
        code, found = system_calls([sys.executable, "-m", "spanloom.cli", *line], folder, folder / "strace.log")
        outside = [one for one in found if not (name == "convert, over" and f"{home}/download/" in one)]
        if code not in (0, 1, 2):
            record.fail(name, "exit code", case, str(code))
        elif outside:
            record.fail(name, "wrote", case, "; ".join(outside)[:300])
        elif tree(home, "\0" if name != "convert, over" else "download") != before:
            record.fail(name, "changed", case, "files are not what they were")
        else:
            record.add(name, f"exit code {code}")
    return record
