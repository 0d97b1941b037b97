"""What a verb says while somebody waits."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from spanloom.cli.messages import counted
from spanloom.cli.progress import Reporter
from spanloom.document import Document
from spanloom.recognize import Progress


def test_documents_pass_unchanged(capsys):
    documents = [Document("a"), Document("b")]
    assert list(counted(documents, "predicting", quiet=False, total=lambda: 2)) == documents
    assert capsys.readouterr().err == ""  # no terminal, no bar


def test_logs_are_json_lines_where_that_is_asked_for(command, corpus, tmp_path, monkeypatch):
    monkeypatch.setenv("SPANLOOM_LOG", "json")
    data = ["--train", corpus / "train.jsonl", "--dev", corpus / "dev.jsonl"]
    result = command("train", "recognizer", *data, "--features", "small", "--epochs", "1", "--output", tmp_path / "m")
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    by_level = {line["level"]: line for line in lines}
    assert by_level.keys() == {"info", "progress", "warning"}
    assert "the text of a training document" in by_level["warning"]["message"]
    assert lines[-1]["message"] == f"saved as {tmp_path / 'm'}"
    assert {"stage", "step", "steps", "objective", "dev_f1", "seconds", "seconds_left"} < by_level["progress"].keys()
    assert all(datetime.fromisoformat(line["time"]).tzinfo is not None for line in lines)
    [line] = command("predict", tmp_path / "m", tmp_path / "none.jsonl").stderr.splitlines()
    assert json.loads(line)["level"] == "error"
    assert "there is no such file" in json.loads(line)["message"]


def test_what_is_left_out_is_a_warning_in_logs(command, tmp_path, monkeypatch):
    monkeypatch.setenv("SPANLOOM_LOG", "json")
    (tmp_path / "a.jsonl").write_text('{"text":"pain","answer":"reject","spans":[]}\n{"text":"a","id":"b"}\nbad\n')
    result = command("convert", tmp_path / "a.jsonl", tmp_path / "b.txt")
    told = [(line["level"], line["message"]) for line in map(json.loads, result.stderr.splitlines())]
    assert {level for level, _ in told} == {"warning"}
    assert not any(message.startswith("spanloom") for _, message in told)
    assert any("left out" in message for _, message in told)


def test_the_option_sets_the_form(command, monkeypatch):
    monkeypatch.setenv("SPANLOOM_LOG", "text")
    assert command("--log", "json", "validate", "none.jsonl").stderr.startswith('{"time": ')
    assert command("--log", "text", "validate", "none.jsonl").stderr.startswith("spanloom: error: ")
    result = command("--log", "xml", "validate", "none.jsonl")
    assert result.returncode == 2
    assert "expected text or json" in result.stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("validate", "none.jsonl", "--no-such-option"), "No such option"),
        (("no-such-verb",), "No such command"),
        (("evaluate",), "Missing argument"),
        (("convert",), "Missing argument 'IN'"),
        (("convert", "notes.jsonl"), "Missing argument 'OUT'"),
        (("train", "--jobs", "2"), "expected first one of"),
    ],
)
def test_a_wrong_command_line_is_a_line_of_a_log(command, monkeypatch, line, words):
    monkeypatch.setenv("SPANLOOM_LOG", "text")
    result = command("--log", "json", *line)
    (told,) = map(json.loads, result.stderr.splitlines())
    assert result.returncode == 2
    assert told["level"] == "error"
    assert words in told["message"]


@pytest.mark.parametrize(("seconds", "words"), [(13.0, "13 s left"), (28020.0, "7 h 47 min left")])
def test_time_left_can_be_read(capsys, seconds, words):
    Reporter()(Progress("training", 1, 10, seconds_left=seconds))
    assert capsys.readouterr().err.rstrip().endswith(words)


def test_a_terminal_shows_the_pace(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("spanloom.cli.messages.EVERY", 0.0)
    assert len(list(counted([Document("a"), Document("b")], "predicting", quiet=False, total=lambda: 2))) == 2
    shown = capsys.readouterr().err
    assert "predicting" in shown
    assert "2 documents" in shown
    assert shown.endswith("\r\x1b[2K")
