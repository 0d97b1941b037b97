"""Attributes on the command line: `evaluate --attributes`, `validate`, `convert` and `view`."""

from __future__ import annotations

import json

import pytest

TEXT = "no pain, old stroke"


def record(name, negated, **more):
    mentions = [
        {"type": "problem", "spans": [[3, 7]], "attributes": {"negated": negated}},
        {"type": "problem", "spans": [[13, 19]], "attributes": {"course": "old"}},
    ]
    return json.dumps({"id": name, "text": TEXT, "mentions": mentions, **more}) + "\n"


@pytest.fixture
def folder(tmp_path):
    sections = [{"name": "plan", "span": [0, 19]}]
    (tmp_path / "gold.jsonl").write_text("".join(record(str(i), True, sections=sections) for i in range(8)))
    (tmp_path / "found.jsonl").write_text("".join(record(str(i), i > 3) for i in range(8)))
    return tmp_path


def test_evaluate(command, folder):
    files = [folder / "gold.jsonl", folder / "found.jsonl"]
    result = command("evaluate", *files, "--attributes")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    row = next(line for line in lines if line.startswith("negated: true "))
    assert row.split()[2:7] == ["100.00", "50.00", "66.67", "8", "4"]
    assert any(line.startswith("  negated: accuracy 75.00 %") for line in lines)
    report = json.loads(command("evaluate", *files, "--attributes", "--json").stdout)
    assert report["attributes"]["attributes"]["negated"]["accuracy"] == 0.75
    assert "attributes" not in json.loads(command("evaluate", *files, "--json").stdout)


def test_validate(command, folder):
    result = command("validate", folder / "gold.jsonl")
    rows = dict(line.rsplit(maxsplit=1) for line in result.stdout.splitlines())
    found = {name.strip(): number for name, number in rows.items()}
    assert (found["attributes"], found["negated: true"], found["course: old"], found["sections"]) == (
        "16",
        "8",
        "8",
        "8",
    )
    counts = json.loads(command("validate", folder / "gold.jsonl", "--json").stdout)["counts"]
    assert (counts["attributes"], counts["sections"]) == ({"course": {"old": 8}, "negated": {"true": 8}}, 8)


def test_convert_and_view(command, folder):
    result = command("convert", folder / "gold.jsonl", folder / "brat", "--format", "brat")
    assert (result.returncode, result.stderr) == (0, "spanloom: not written: 8 sections\n")
    assert "A1\tnegated T1\n" in (folder / "brat" / "0.ann").read_text()
    drawn = command("view", folder / "gold.jsonl").stdout
    assert "problem · negated\n" in drawn and "problem · course old\n" in drawn
    assert command("view", folder / "gold.jsonl", "--output", folder / "a.html").returncode == 0
    page = (folder / "a.html").read_text(encoding="utf-8")
    assert "<b>problem · negated</b>" in page and "problem · course old" in page
