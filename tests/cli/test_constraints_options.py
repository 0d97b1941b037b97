"""`spanloom predict` with constraints."""

from __future__ import annotations

import json

import spanloom


def mentions(result):
    return [one for line in result.stdout.splitlines() for one in json.loads(line)["mentions"]]


def test_options_are_the_constraints_of_python(command, model, corpus, tmp_path):
    plain = mentions(command("predict", model, corpus / "dev.jsonl"))
    [document, *_] = list(spanloom.read(corpus / "dev.jsonl"))
    name, text = document.mentions[0].type, document.mentions[0].text(document.text)
    found = mentions(command("predict", model, corpus / "dev.jsonl", "--forbid", f"{name}: {text}"))
    assert found != plain
    rules = tmp_path / "rules.txt"
    rules.write_text(f"# none of these\n{name}: {text}\n")
    assert mentions(command("predict", model, corpus / "dev.jsonl", "--forbid", rules)) == found
    kept = mentions(command("predict", model, corpus / "dev.jsonl", "--keep", "own"))
    assert sum(one["score"] == 1 for one in kept) >= len(document.mentions)
    both = command("predict", model, corpus / "dev.jsonl", "--keep", corpus / "dev.jsonl", "--forbid", rules)
    assert (both.returncode, both.stderr.count("\n")) == (1, 1)
    assert "is required, and it is forbidden" in both.stderr


def test_wrong_options(command, model, corpus):
    wrong = command("predict", model, corpus / "dev.jsonl", "--rely", "nan")
    assert (wrong.returncode, wrong.stderr) == (2, "spanloom: error: --rely is nan, expected a finite number\n")
    wrong = command("predict", model, corpus / "dev.jsonl", "--keep", "nothing.jsonl")
    assert (wrong.returncode, "--keep is nothing.jsonl, expected own, or files with documents" in wrong.stderr) == (
        2,
        True,
    )
