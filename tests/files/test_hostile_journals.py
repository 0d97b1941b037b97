"""Journals of interrupted writes that somebody made up: no reader acts on one, and no write follows one elsewhere."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spanloom
from spanloom.cli.app import main
from spanloom.document import Document, Mention
from spanloom.errors import DataError, DataWarning, ModelError, UsageError
from spanloom.files.output import output_file, output_files, output_folder
from spanloom.files.staging import recover
from spanloom.learn.checkpoints import Checkpoint, Kept, Run
from spanloom.modelfile import read_kind
from spanloom.modelfile.folder import is_model
from spanloom.vocabulary import read_vocabulary
from spanloom_lab.cli.compare_records import kept

NAMES = "id\tname\tsynonyms\nX:1\tInfarction\tHeart Attack|MI\n"


def journal(part: Path, *lines: dict[str, Any], old: str | None = "from the journal") -> Path:
    """A staging folder with a journal."""
    (part / "new").mkdir(parents=True)
    (part / "old").mkdir()
    if old is not None:
        (part / "old" / "0").write_text(old)
    (part / "undo").write_text(json.dumps(lines))
    return part


def line(place: str, name: str = "0", folder: bool = True, stamp: object = (1,)) -> dict[str, Any]:
    return {"place": place, "name": name, "folder": folder, "stamp": stamp}


def stamp(path: Path) -> list[int]:
    return [path.stat().st_size, path.stat().st_mtime_ns]


def everything(folder: Path) -> dict[str, object]:
    """All paths in a folder with kinds, times and contents."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else None,
        )
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a project and a thesis, and downloads of every kind, each with journals that reach for them."""
    for name in ("project", "download/dataset", "download/lake"):
        (tmp_path / name).mkdir(parents=True)
    thesis, download = tmp_path / "thesis.tex", tmp_path / "download"
    thesis.write_text("years of work")
    (download / "dataset" / "a.txt").write_text("No chest pain.")
    (download / "notes.jsonl").write_text('{"text": "No chest pain."}\n')
    (download / "lake" / "n.jsonl").write_text('{"text": "No chest pain."}\n')
    (download / "names.tsv").write_text(NAMES)
    read_vocabulary(download / "names.tsv").save(download / "index")
    Checkpoint(download / "seed-0", RUN).write(Kept(), {"w": np.ones(1)})
    for place in ("dataset/.a.txt", "dataset/.a.ann", ".dataset", ".notes.jsonl", "lake/.n.jsonl", ".names.tsv",
                  ".index", ".seed-0", "index/.model.json", "dataset/.new.jsonl"):  # fmt: skip
        base = (download / place).parent
        out = os.path.relpath(tmp_path, base)
        journal(
            download / f"{place}.00000000.part",
            line(f"{out}/project/sitecustomize.py"),
            line(f"{out}/thesis.tex", folder=False, stamp=stamp(thesis)),
            line("taken.txt", name=str(thesis)),
            line("absolute.txt", name="1", stamp=[]),
        )
        (download / f"{place}.11111111.part").mkdir()
    return tmp_path


RUN = Run(settings="s", data="d", encoder="e")


def _validate(path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["validate", str(path)])
    assert not ended.value.code


READERS: dict[str, Callable[[Path], object]] = {
    "validate a folder": lambda path: _validate(path / "dataset"),
    "validate a file": lambda path: _validate(path / "notes.jsonl"),
    "read a folder": lambda path: list(spanloom.read(path / "dataset")),
    "read a text": lambda path: list(spanloom.read(path / "dataset" / "a.txt")),
    "read a file": lambda path: list(spanloom.read(path / "notes.jsonl")),
    "read all": lambda path: list(spanloom.read(path / "lake")),
    "vocabulary": lambda path: read_vocabulary(path / "names.tsv"),
    "index": lambda path: spanloom.load(path / "index"),
    "index by format": lambda path: read_vocabulary(path / "index"),
    "kind": lambda path: (is_model(path / "index"), read_kind(path / "index")),
    "comparison": lambda path: kept(path / "index", {}),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.filterwarnings("ignore::spanloom.errors.DataWarning")
def test_reading_changes_nothing(home: Path, reader: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(home)
    READERS[reader](home / "download")
    assert everything(home) == before


@pytest.mark.parametrize(
    ("reader", "place"),
    [("read a file", ".notes.jsonl"), ("vocabulary", ".names.tsv"), ("index", ".index"), ("read all", "lake/.n.jsonl")],
)
def test_readers_report_leftovers(home: Path, reader: str, place: str) -> None:
    with pytest.warns(DataWarning) as told:
        READERS[reader](home / "download")
    messages = [str(warning.message) for warning in told]
    assert any(f"{place}.00000000.part: left by an interrupted write, and not used" in message for message in messages)
    assert all("\n" not in message and "delete this folder" in message for message in messages)


def test_a_missing_model_names_what_is_left_of_it(tmp_path: Path) -> None:
    part = journal(tmp_path / ".model.00000000.part", line("model"))
    with pytest.raises(ModelError, match=f"{part.name} is there, left by an interrupted write, and not used"):
        spanloom.load(tmp_path / "model")


WRITERS: dict[str, Callable[[Path], Any]] = {
    "a file": lambda path: output_file(path / "a", force=True),
    "two files": lambda path: output_files([path / "a", path / "b"], force=True),
    "a folder": lambda path: output_folder(path / "a", force=True, may_replace=lambda file: True),
}


def elsewhere(folder: Path) -> Iterator[tuple[str, Callable[[Path], object]]]:
    """Journals that a write of ``a`` must refuse; each is a name, and what makes it."""
    thesis = folder / "thesis.tex"
    for name, one in {
        "a file above": line("../project/x.py"),
        "an absolute place": line(str(folder / "project" / "x.py")),
        "a neighbour": line("sitecustomize.py"),
        "the folder": line("."),
        "the folder above": line(".."),
        "no place": line(""),
        "an absolute name": line("a", name=str(thesis)),
        "a name above": line("a", name="../../../thesis.tex"),
        "a name that is no number": line("a", name="x"),
        "digits of another script": line("a", name="٠"),
        "a name that is an integer": {**line("a"), "name": 0},
        "a place that is a list": {**line("a"), "place": ["a"]},
        "a key too many": {**line("a"), "more": 1},
        "a key too few": {"place": "a"},
    }.items():
        yield name, lambda part, one=one: journal(part, line("a"), one)
    yield "not JSON", lambda part: (journal(part) / "undo").write_text("{")
    yield "deep JSON", lambda part: (journal(part) / "undo").write_text("[" * 60_000)
    yield "an object", lambda part: (journal(part) / "undo").write_text('{"place": "a"}')
    yield "a number", lambda part: (journal(part) / "undo").write_text("1")
    yield "too large", lambda part: (journal(part) / "undo").write_text("[" + " " * 100_000 + "]")
    yield "a link to a journal", _linked_journal
    for name in ("old", "new"):
        yield f"{name} is a link", lambda part, name=name: _linked(part, name, folder)
    yield "the old one is a link", lambda part: _old_link(part, thesis)
    yield "the old one is a folder", lambda part: (journal(part, line("a", folder=False), old=None) / "old/0").mkdir()
    yield "the journal is a folder", lambda part: (part / "undo").mkdir(parents=True)


def _linked_journal(part: Path) -> None:
    journal(part, line("a"))
    (part / "undo").rename(part.parent / "journal.json")
    (part / "undo").symlink_to(part.parent / "journal.json")


def _linked(part: Path, name: str, folder: Path) -> None:
    journal(part, line("a"), old=None)
    (part / name).rmdir()
    (part / name).symlink_to(folder / "project")


def _old_link(part: Path, thesis: Path) -> None:
    journal(part, line("a", folder=False), old=None)
    (part / "old" / "0").symlink_to(thesis)


CASES = [name for name, _ in elsewhere(Path("x"))]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_write_refuses_a_journal_that_reaches_elsewhere(tmp_path: Path, case: str, writer: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "0").write_text("mine")
    (tmp_path / "thesis.tex").write_text("years of work")
    part = tmp_path / "out" / ".a.00000000.part"
    dict(elsewhere(tmp_path))[case](part)
    (part / "lock").touch()
    before = everything(tmp_path)
    refusal = pytest.raises(DataError, match="not the journal of an interrupted write of a")
    with refusal as refused, WRITERS[writer](tmp_path / "out"):
        raise AssertionError("nothing is written")
    assert "\n" not in str(refused.value)
    assert everything(tmp_path) == before


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_lock_that_is_no_file_is_not_followed(tmp_path: Path, kind: str) -> None:
    part = journal(tmp_path / ".a.00000000.part", line("a"))
    if kind == "link":
        (part / "lock").symlink_to(tmp_path / "made.txt")
    elif kind == "pipe":
        os.mkfifo(part / "lock")
    else:
        (part / "lock").mkdir()
    try:
        spanloom.write([Document("x")], tmp_path / "a", format="jsonl")
    except DataError as error:
        assert "\n" not in str(error)
    assert not (tmp_path / "made.txt").exists()


def test_a_folder_with_other_files_is_no_staging_folder(tmp_path: Path) -> None:
    part = tmp_path / ".a.jsonl.00000000.part"
    (part / "photos").mkdir(parents=True)
    spanloom.write([Document("x")], tmp_path / "a.jsonl")
    assert (part / "photos").is_dir()


def test_an_own_journal_is_used(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("new")
    journal(tmp_path / ".a.00000000.part", line("a", folder=False, stamp=stamp(tmp_path / "a")), old="old")
    recover(tmp_path / "a")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}


def test_a_checkpoint_with_a_journal_that_reaches_elsewhere(home: Path) -> None:
    before = everything(home)
    for step in ("read", "write"):
        checkpoint = Checkpoint(home / "download" / "seed-0", RUN)
        with pytest.raises(DataError, match="not the journal of an interrupted write of seed-0"):
            checkpoint.read() if step == "read" else checkpoint.write(Kept(), {"w": np.zeros(1)})
    after = everything(home)
    (lock := "download/.seed-0.00000000.part/lock") in before or after.pop(lock)
    kept_times = {name: content for name, content in after.items() if name != "download/.seed-0.00000000.part"}
    assert kept_times == {name: before[name] for name in kept_times}


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_of_a_pair_into_two_folders(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "n.ann").symlink_to(tmp_path / "one" / "n.ann")
    (tmp_path / "n.txt").symlink_to(tmp_path / "two" / "n.txt")
    with pytest.raises(UsageError, match="are links into two folders, expected one"):
        spanloom.write([Document("pain", mentions=[Mention("x", [(0, 4)])])], tmp_path / "n.ann")
    assert not list((tmp_path / "one").iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("name", ["", "checkpoint.json", "checkpoint.safetensors"])
@pytest.mark.parametrize("step", ["read", "write"])
def test_a_checkpoint_with_a_link(tmp_path: Path, name: str, step: str) -> None:
    checkpoint, elsewhere = Checkpoint(tmp_path / "run" / "seed-0", RUN), tmp_path / "elsewhere"
    checkpoint.write(Kept(), {"w": np.ones(1)})
    checkpoint.folder.rename(elsewhere)
    if name:
        checkpoint.folder.mkdir()
    (checkpoint.folder / name).symlink_to(elsewhere / name)
    before = everything(elsewhere)
    with pytest.raises(DataError, match="a link, where files that Spanloom made are expected; remove it"):
        checkpoint.read() if step == "read" else checkpoint.write(Kept(), {"w": np.zeros(1)})
    assert everything(elsewhere) == before


@pytest.mark.parametrize("content", [b"[" * 100_000, b"{}", b"\xff", b" " * (1 << 23), b'{"format": 1}'], ids=len)
def test_a_checkpoint_with_a_damaged_description(tmp_path: Path, content: bytes) -> None:
    checkpoint = Checkpoint(tmp_path / "seed-0", RUN)
    checkpoint.write(Kept(), {"w": np.ones(1)})
    (checkpoint.folder / "checkpoint.json").write_bytes(content)
    with pytest.raises(ModelError, match=r"is damaged: .*; delete that folder") as refused:
        checkpoint.read()
    assert "\n" not in str(refused.value)
