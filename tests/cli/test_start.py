"""`spanloom` without a verb: what the current folder holds, and commands that run as they are printed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spanloom.cli import start
from spanloom.data import clinical
from spanloom.formats import read, write
from spanloom.formats.store import Store

Command = Callable[..., Any]
NOTE = "echo 'No chest pain or dyspnea.' |"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(start, "installed", lambda: {"genia": None})
    return tmp_path


def suggested(command: Command) -> list[str]:
    """The commands that are printed, without their results."""
    result = command()
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith("\nAll commands: spanloom --help\n")
    lines = result.stdout.partition("Try next:\n")[2].partition("\n\n")[0].splitlines()
    assert all(re.search(r"\S  +\S", line.strip()) for line in lines)
    return [re.split(r"  +", line.strip())[0] for line in lines]


def test_an_empty_folder(here, command, monkeypatch):
    assert suggested(command) == ["spanloom demo", f"{NOTE} spanloom predict genia -"]
    monkeypatch.setattr(start, "installed", dict)
    assert suggested(command) == ["spanloom demo", "spanloom models"]


def test_brat_files_in_folders_of_parts_lead_to_training_and_the_command_runs(here, command):
    shutil.copytree(clinical(), here / "my notes")
    shown = suggested(command)
    assert shown[:3] == [
        "spanloom validate 'my notes/train'",
        "spanloom train recognizer --train 'my notes/train' --dev 'my notes/dev' --output model",
        "spanloom view 'my notes/train' --limit 1",
    ]
    assert shown[3] == "spanloom predict genia 'my notes/sample.txt'"
    for line in (shown[0], f"{shown[1]} --features fast --epochs 1", shown[2]):
        assert command(*shlex.split(line)[1:]).returncode == 0
    assert suggested(command) == [
        "spanloom predict model 'my notes/sample.txt'",
        "spanloom evaluate 'my notes/test' --model model",
        "spanloom inspect model",
        "spanloom serve model",
    ]


def test_files_of_brat_beside_each_other_are_one_folder(here, command):
    for file in (clinical() / "dev").iterdir():
        shutil.copy(file, here)
    assert suggested(command)[1] == "spanloom train recognizer --train . --output model"


@pytest.mark.parametrize(
    ("name", "path"), [("train.jsonl", "train.jsonl"), ("notes.xml", "notes.xml"), ("-x.jsonl", "./-x.jsonl")]
)
def test_one_file(here, command, name, path):
    write(read(clinical() / "dev"), here / name, force=True)
    assert suggested(command)[1] == f"spanloom train recognizer --train {path} --output model"


def test_a_column_file(here, command):
    (here / "dev.conll").write_text("No O\npain B-problem\n")
    assert suggested(command)[1] == "spanloom train recognizer --train dev.conll --output model"


def test_a_store(here, command):
    (here / "note.txt").write_text("No pain.")
    assert suggested(command)[1] == "spanloom annotate note.txt --output annotations.store"
    with Store(here / "notes.store", write=True, create=True) as store:
        store.add(*read(here / "note.txt"))
    (here / "note.txt").unlink()
    assert suggested(command)[0] == "spanloom annotate notes.store"


def test_what_cannot_be_read_leads_to_validate(here, command):
    (here / "notes.jsonl").write_text('{"text": "x", "mentions": [{"type": "a", "spans": [[0, 9]]}]}\n')
    (here / "settings.json").write_text("{}")
    (here / "table.csv").write_text("a,b\n1,2\n")
    assert suggested(command) == ["spanloom validate notes.jsonl"]
    assert command("validate", "notes.jsonl").returncode == 1


def test_a_large_file_and_a_text_of_any_encoding_are_not_read(here, command, monkeypatch):
    (here / "note.txt").write_bytes("naïve".encode("cp1252"))
    (here / "train.jsonl").write_text("no JSON\n")
    monkeypatch.setattr(start, "_OPENED", 3)
    assert suggested(command)[1] == "spanloom train recognizer --train train.jsonl --output model"
    assert suggested(command)[3] == "spanloom predict genia note.txt"


def test_files_are_opened_up_to_a_size_of_all(here, monkeypatch):
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        (here / name).write_text("no JSON\n")
    monkeypatch.setattr(start, "_OPENED", 17)
    found = start.found_in(Path())
    assert (found["not readable"], found["annotated"]) == (["a.jsonl", "b.jsonl"], ["c.jsonl"])


def test_names_that_a_terminal_would_follow_and_files_that_cannot_be_opened(here, command, monkeypatch):
    for name in ("\x1b[31mred.jsonl", "two\nlines.txt", "back\u202etxt.txt"):
        (here / name).write_text("No pain.")
    (here / os.fsdecode(b"caf\xe9.txt")).write_text("No pain.")
    (here / "a.txt").write_text("No pain.")

    def closed(path: Path) -> bool:
        raise PermissionError(13, "permission denied", str(path))

    assert suggested(command)[0] == "spanloom predict genia a.txt"
    monkeypatch.setattr(Path, "is_file", closed)
    assert suggested(command)[0] == "spanloom demo"
