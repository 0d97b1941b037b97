"""`spanloom view --output`: files that are whole or not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RECORD = {"id": "n1", "text": "Mild or severe pain.", "mentions": [{"type": "problem", "spans": [[0, 4], [15, 19]]}]}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    path.write_text((json.dumps(RECORD) + "\n") * 2)
    return path


@pytest.mark.parametrize(
    ("name", "beginning"), [("p.html", "<!DOCTYPE html>"), ("p.HTM", "<!DOCTYPE"), ("p.svg", "<svg ")]
)
def test_files(command, data, tmp_path, name, beginning) -> None:
    result = command("view", data, "--output", tmp_path / name)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    written = (tmp_path / name).read_text(encoding="utf-8")
    assert written.startswith(beginning)
    assert "problem: Mild … pain" in written


def test_standard_input_and_limit(command, data, tmp_path) -> None:
    arguments = ("view", "-", "--input-format", "jsonl", "--output", tmp_path / "p.html", "--limit", "1")
    result = command(*arguments, input=json.dumps(RECORD) + "\nbroken")
    assert result.returncode == 0, result.stderr
    assert "1 document," in (tmp_path / "p.html").read_text()


def test_a_file_that_is_there_stays(command, data, tmp_path) -> None:
    (tmp_path / "p.svg").write_text("mine")
    result = command("view", data, "--output", tmp_path / "p.svg")
    assert result.returncode == 2
    assert "is there already" in result.stderr
    assert (tmp_path / "p.svg").read_text() == "mine"
    assert command("view", data, "--output", tmp_path / "p.svg", "--force").returncode == 0
    assert (tmp_path / "p.svg").read_text().startswith("<svg ")


@pytest.mark.parametrize("name", ["p.pdf", "p", "-"])
def test_other_names(command, data, name) -> None:
    result = command("view", data, "--output", name)
    assert result.returncode == 2
    assert result.stderr == f"spanloom: error: found the output {name}, expected a name that ends in .html or .svg\n"


def test_bad_data_leaves_nothing(command, tmp_path) -> None:
    (tmp_path / "bad.jsonl").write_text("{")
    assert command("view", tmp_path / "bad.jsonl", "--output", tmp_path / "p.html").returncode == 1
    assert not (tmp_path / "p.html").exists()
