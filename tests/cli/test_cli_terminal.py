"""What differs on a terminal: colours and the progress bar."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from spanloom import Document
from spanloom.models import installed
from spanloom.tag.pos_tagger import PosTagger

pty = pytest.importorskip("pty")  # terminals of Unix

RECORD = {"text": "No pain.", "mentions": [{"type": "problem", "spans": [[3, 7]]}]}


def on_terminal(*arguments, stream: str, **environment: str) -> str:
    """What the command writes to a stream that is a terminal."""
    ours, theirs = pty.openpty()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs}
    line = [sys.executable, "-m", "spanloom.cli", *map(str, arguments)]
    variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(line, env={**variables, "TERM": "xterm-256color", **environment}, **streams)
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 4096):
            parts.append(part)
    except OSError:  # Linux: the other side is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return b"".join(parts).decode()


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "note.jsonl"
    path.write_text(json.dumps(RECORD) + "\n")
    return path


def test_view_has_colours_on_a_terminal(data):
    assert "\x1b[38;5;" in on_terminal("view", data, stream="stdout")


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_view_has_none_where_they_are_not_wanted(data, environment):
    shown = on_terminal("view", data, stream="stdout", **environment)
    assert "problem" in shown
    assert "\x1b" not in shown


def test_prediction_is_drawn_on_a_terminal(model, tmp_path):
    text = "Lisinopril was stopped for cough."
    (tmp_path / "note.txt").write_text(text)
    shown = on_terminal("predict", model, tmp_path / "note.txt", stream="stdout")
    assert text in shown and "└" in shown and "{" not in shown
    for option in (["--output", "-"], ["--format", "jsonl"]):
        assert (
            json.loads(on_terminal("predict", model, tmp_path / "note.txt", *option, stream="stdout"))["text"] == text
        )


@pytest.mark.skipif("genia" not in installed(), reason="the model of the README is not installed")
def test_the_readme_shows_what_its_second_command_draws(tmp_path):
    (tmp_path / "text").write_text("NF-kappa B activates the IL-2 promoter in T cells\n")
    options = ["--input-format", "text"]
    shown = on_terminal("predict", "genia", tmp_path / "text", *options, stream="stdout", NO_COLOR="1")
    page = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"```text\n{shown.replace(chr(13), '').partition(chr(10) * 2)[2]}```" in page


def test_new_words_tags_and_chances_are_drawn_too(model, data, tmp_path):
    tokens = [(0, 2), (3, 7), (8, 9)]
    note = Document("No pain .", tokens=tokens, sentences=[(0, 3)], columns={"pos": ["DT", "NN", "."]})
    PosTagger(["bias", "w[0]"], epochs=1).fit([note] * 20).save(tmp_path / "tagger")
    assert on_terminal("predict", tmp_path / "tagger", data, stream="stdout").split() == ["No/DT", "pain/NN", "./."]
    assert "all of this is right with a probability of" in on_terminal(
        "predict", model, data, "--answers", stream="stdout"
    )


def test_training_shows_a_bar_on_a_terminal(corpus, tmp_path):
    arguments = ["--train", corpus / "train.jsonl", "--output", tmp_path / "model", "--epochs", "200"]
    shown = on_terminal("train", "recognizer", *arguments, stream="stderr")
    assert "━" in shown
    assert "objective" in shown
