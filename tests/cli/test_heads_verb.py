"""`train --headless`, `predict`, `evaluate --heads` and `heads` on data with heads."""

from __future__ import annotations

import json

import pytest

TEXTS = [
    {"id": "1", "text": "the old house of the mayor", "mentions": [
        {"type": "place", "spans": [[0, 26]], "head": [8, 13]},
        {"type": "person", "spans": [[17, 26]], "head": [21, 26]},
    ]},
    {"id": "2", "text": "the mayor left", "mentions": [{"type": "person", "spans": [[0, 9]], "head": [4, 9]}]},
]  # fmt: skip


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps({**TEXTS[i % 2], "id": str(i)}) + "\n" for i in range(40)))
    return path


def without_heads(path):
    bare = path.with_name("bare.jsonl")
    bare.write_text("".join(map(_bare, path.read_text().splitlines())))
    return bare


def _bare(line):
    record = json.loads(line)
    for mention in record["mentions"]:
        del mention["head"]
    return json.dumps(record) + "\n"


def test_train_predict_evaluate(command, data, tmp_path):
    options = ["--structure", "heads", "--features", "small", "--rate", "0.5", "--l2", "0.01", "--quiet"]
    result = command("train", "recognizer", "--train", data, "--dev", data, "--output", tmp_path / "m", *options)
    assert (result.returncode, result.stderr) == (0, "")
    command("predict", tmp_path / "m", data, "--output", tmp_path / "found.jsonl", "--quiet")
    report = json.loads(command("evaluate", data, tmp_path / "found.jsonl", "--heads", "--json").stdout)
    assert (report["match"], report["overall"]["f1"], report["errors"]["head"]) == ("heads", 1, 0)
    assert set(report["keys"]) == {"exact", "boundaries"}
    found = command("evaluate", "--model", tmp_path / "m", data, "--heads", "--quiet").stdout
    assert found.splitlines()[1].startswith("heads ")
    assert "calibration" in found


def test_rules_and_paired_tests(command, data, tmp_path):
    for rule in ("first", "last"):
        result = command("heads", rule, data, "--output", tmp_path / f"{rule}.jsonl")
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    options = ["--compare", tmp_path / "first.jsonl", "--json"]
    with_heads, without = (
        json.loads(command("evaluate", data, tmp_path / "last.jsonl", *options, *more).stdout)
        for more in (["--heads"], [])
    )
    assert with_heads["overall"]["f1"] == pytest.approx(2 / 3)
    assert with_heads["paired_test"]["difference"] == pytest.approx(2 / 3)
    assert without["overall"]["f1"] == 1
    assert without["paired_test"]["difference"] == 0
    first = json.loads(command("heads", "first", data).stdout.splitlines()[0])
    assert [mention["head"] for mention in first["mentions"]] == [[0, 3], [17, 20]]
    result = command("heads", "middle", data)
    assert (result.returncode, "whole, first, last" in result.stderr) == (2, True)


def test_gold_without_heads_is_one_line(command, data, tmp_path):
    bare = without_heads(data)
    result = command("evaluate", bare, data, "--heads")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "document '0', characters 0-26" in result.stderr
    options = ["--structure", "heads", "--features", "small", "--epochs", "1", "--quiet"]
    line = ["train", "recognizer", "--train", bare, "--dev", bare, "--output", tmp_path / "m", *options]
    result = command(*line)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert "--headless whole" in result.stderr
    assert command(*line, "--headless", "whole").returncode == 0
