"""`spanloom label`: documents, the report, and what it refuses."""

from __future__ import annotations

import json

import pytest

from spanloom import read
from spanloom.data import clinical
from spanloom.label import label

RULES = """
[[rule]]
name = "names"
kind = "phrases"
type = "problem"
phrases = ["pain", "fever"]

[[rule]]
name = "rare"
kind = "phrases"
type = "problem"
phrases = ["fever"]
vote = "against"
weight = 0.9
"""


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(RULES)
    return path


def test_the_command_line_does_what_python_does(command, rules, tmp_path):
    out = tmp_path / "labels.jsonl"
    result = command("label", rules, clinical() / "train", clinical() / "dev", "--output", out)
    assert (result.returncode, result.stdout) == (0, "")
    texts = [document for part in ("train", "dev") for document in read(clinical() / part, mentions=False)]
    documents = label(texts, rules)
    assert [(one.id, one.mentions, one.meta) for one in read(out)] == [
        (one.id, one.mentions, one.meta) for one in documents
    ]
    assert result.stderr.startswith("rule   matches  documents  overlaps  conflicts\nnames")
    assert "spans outvoted" in result.stderr
    before = out.read_bytes()
    refused = command("label", rules, clinical() / "dev", "--output", out)
    assert refused.returncode == 2 and "is there already" in refused.stderr and out.read_bytes() == before
    again = command("label", rules, clinical() / "train", clinical() / "dev", "--output", out, "--force", "--json")
    told = json.loads(again.stdout)
    assert out.read_bytes() == before
    assert told["mentions"] == sum(len(one.mentions) for one in documents) and len(told["rules"]) == 2


def test_standard_input_and_output(command, rules):
    result = command("label", rules, "-", "--quiet", input="No pain, no fever.")
    assert (result.returncode, result.stderr) == (0, "")
    record = json.loads(result.stdout)
    assert [one["spans"] for one in record["mentions"]] == [[[3, 7]]]
    denied = [{"spans": [[12, 17]], "types": ["problem"]}]
    assert record["meta"] == {"annotation": {"default": "at-least", "not": denied}, "rules": [["names"]]}
    lines = command("label", rules, "-", "--quiet", "--each", "--annotation", "unknown", input="Pain.").stdout
    assert [json.loads(line)["meta"]["annotator"] for line in lines.splitlines()] == ["names"]
    columns = command("label", rules, "-", "--format", "conll", "--quiet", input="Pain.")
    assert "Pain" in columns.stdout and "B-problem" in columns.stdout


@pytest.mark.parametrize("options", [("-f", "brat", "-o", "out"), ("-o", "out.csv"), ("-f", "conll")])
def test_each_needs_a_format_with_a_place_for_annotators(command, rules, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    result = command("label", rules, "-", "--each", *options, input="Pain.")
    assert (result.returncode, result.stdout, list(tmp_path.iterdir())) == (2, "", [rules])
    assert "has no place for; write jsonl, json, parquet or arrow" in result.stderr


def test_a_rule_that_matches_nothing_is_told_even_if_quiet(command, rules):
    result = command("label", rules, "-", "--quiet", input="A cough, a pain.")
    assert result.stderr == (
        "spanloom: rule 'rare' matches nothing; look at its words and at how they are compared\n"
    )  # fmt: skip
    assert result.returncode == 0


def test_errors_are_one_line_and_leave_no_output(command, rules, tmp_path):
    out = tmp_path / "out.jsonl"
    rules.write_text(RULES.replace("weight = 0.9", "weight = 9"))
    result = command("label", rules, "-", "-o", out, input="Pain.")
    assert result.returncode == 1
    assert result.stderr == (
        f"spanloom: error: {rules}: rule 2 ('rare'): weight: found 9, expected a probability above 0 and below 1\n"
    )
    rules.write_text("[[rule]]\nkind = 'pattern'\ntype = 'x'\npattern = ['.+']\n")
    result = command("label", rules, "-", "-o", out, input="word " * 1200)
    assert result.returncode == 1 and "matches 1,200 of the first 1,200 tokens" in result.stderr
    result = command("label", tmp_path / "gone.toml", "-", "-o", out, input="Pain.")
    assert result.returncode == 2 and "cannot be read" in result.stderr
    rules.write_text(RULES)
    assert command("label", rules, "-", "--json", input="Pain.").returncode == 2
    assert command("label", rules, "-", "--annotation", "most", "-o", out, input="Pain.").returncode == 2
    assert command("label", rules, tmp_path / "gone.txt", "-o", out).returncode == 1
    assert not out.exists()
