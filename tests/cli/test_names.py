"""Names that are misspelt: what was probably meant, and quickly; no library for numbers is loaded for an error."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from spanloom.data import clinical

NOTE = '{"text": "No pain.", "mentions": [{"type": "problem", "spans": [[3, 7]]}]}\n'


@pytest.fixture
def folder(tmp_path, monkeypatch, model):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes" / "train").mkdir(parents=True)
    (tmp_path / "notes" / "train" / "one.jsonl").write_text(NOTE)
    (tmp_path / "note.jsonl").write_text(NOTE)
    (tmp_path / "rules.toml").write_text("")
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "model").symlink_to(model)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("predict fuond/model note.jsonl", "found/model"),
        ("predict found note.jsonl", "found/model"),
        ("predict foun note.jsonl", "found"),
        ("inspect fonud/modle", "found/model"),
        ("predict found/model notes.jsonl", "note.jsonl"),
        ("predict found/model nots/trian", "notes/train"),
        ("view Note.json", "note.jsonl"),
        ("validate notes/train/onne.jsonl", "notes/train/one.jsonl"),
        ("evaluate note.jsnl note.jsonl", "note.jsonl"),
        ("train recognizer --train ntoes --output m", "notes"),
        ("label rule.toml note.jsonl", "rules.toml"),
        ("convert note.jsonl - --format jsnl", "jsonl"),
        ("convert note.jsonl - --input-format PubTater", "pubtator"),
        ("convert note.jsonl - --format conll --scheme bilo", "bilou"),
        ("split note.jsonl --output parts --format jsol", "jsonl"),
        ("train recognizer --train notes --output m --structure atuo", "auto"),
        ("train recognizer --train notes --output m --structure shard", "shared"),
        ("train recognizer --train notes --output m --structure shard(components=2)", "shared"),
        ("train recognizer --train notes --output m --features bimedical", "biomedical"),
        ("train recognizer --train notes --output m --optimizer adagrd", "adagrad"),
        ("evaluate note.jsonl note.jsonl --types problm", "problem"),
        ("inspect found/model --role Sbody", "S body"),
    ],
)
def test_what_was_meant(command, folder, line, meant):
    result = command(*line.split())
    assert result.returncode in (1, 2) and result.stdout == ""
    assert result.stderr.endswith(f"; did you mean {meant}?\n"), result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("line", ["view zzzzzz", "predict zzzzzz note.jsonl", "view zzzzzz/note.jsonl"])
def test_nothing_like_it_is_there(command, folder, line):
    result = command(*line.split(" "))
    assert result.returncode == 1 and "did you mean" not in result.stderr


@pytest.mark.parametrize(
    "line",
    [
        "--version", "--help", "models", "predict genai note.jsonl", "predict found/modle note.jsonl",
        "predict found/model notes.jsonl", "inspect modle", "evaluate note.jsonl notes.jsonl", "explain modle --text x",
        "view notes.jsonl", "view note.jsonl", "train recognizer --train ntoes --output m", "clean ntoes",
    ],
)  # fmt: skip
def test_no_engine_is_loaded_for_it(folder, line):
    code = (
        "import sys\nfrom spanloom.cli import main\nout, sys.stdout, sys.stderr = sys.stdout, sys.stderr, sys.stderr\n"
        f"try:\n    main({line.split()!r})\nexcept SystemExit:\n    pass\n"
        "print(sorted({'spanloom.features', 'spanloom.hypergraph'} & set(sys.modules)), file=out)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "[]\n"


def test_the_options_of_one_verb_are_those_of_all(process):
    one, of_all = (process(*before, "predict", "--help") for before in ([], ["--log", "text"]))
    assert "--threshold" in one.stdout and one.stdout == of_all.stdout


def test_a_prediction_says_where_it_is(command, model, tmp_path):
    result = command("predict", model, clinical() / "sample.txt", "--output", tmp_path / "out")
    assert result.stderr.endswith(f" in 1 document, written to {tmp_path / 'out'} as jsonl\n")
    assert json.loads((tmp_path / "out").read_text())["id"] == "sample"


def test_a_folder_without_a_model_is_not_suggested_in_its_own_place(command, tmp_path):
    result = command("inspect", tmp_path)
    assert result.returncode == 1 and "model.json is missing" in result.stderr and "did you mean" not in result.stderr
