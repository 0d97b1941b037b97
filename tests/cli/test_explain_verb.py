"""`spanloom explain`."""

from __future__ import annotations

import json

import pytest

from spanloom.cli.explain import parse_mention

TEXT = "No chest pain today."


def test_what_is_found(command, model):
    result = command("explain", model, "--text", TEXT)
    assert (result.returncode, result.stderr) == (0, "")
    heading, words, odds, without, first, *_ = result.stdout.splitlines()
    assert words.startswith("  found, above all for “")
    assert heading.startswith("chest pain (problem)  3-13  ") and heading.endswith("%)  predicted")
    assert "% (marginal " in heading
    assert odds.startswith("  log-odds +") and odds.endswith(" against the best structure without it")
    assert without.startswith("  without it: ")
    assert first.split()[1:3] in (["it", "has"], ["the", "other"])


def test_what_is_shown_adds_up(command, model):
    lines = command("explain", model, "--text", TEXT, "--mention", "3-13:problem", "--top", "2").stdout.splitlines()
    odds = float(lines[2].split()[1])
    outer = sum(float(line.split()[0]) for line in lines[4:] if not line.startswith("      "))
    assert outer == pytest.approx(odds, abs=0.01)
    every = command("explain", model, "--text", TEXT, "--mention", "3-13:problem", "--top", "0").stdout
    assert " more" not in every and len(every) > len("\n".join(lines))


def test_json(command, model, corpus):
    result = command("explain", model, corpus / "train.jsonl", "--json", "--limit", "2", "--top", "1")
    records = json.loads(result.stdout)
    assert [record["document"] for record in records] == ["note-0", "note-1"]
    for record in records:
        for item in record["explanations"]:
            assert item["predicted"] and 0 <= item["probability"] <= 1
            assert all(len(part["features"]) <= 1 for part in item["contributions"])
            total = sum(part["score"] for part in item["contributions"])
            assert total == pytest.approx(item["log_odds"], abs=1e-3)


def test_one_document_of_several(command, model, corpus):
    result = command("explain", model, corpus / "train.jsonl", "--document", "note-1", "--mention", "3-13:problem")
    assert result.stdout.startswith("note-1\nchest pain (problem)")
    assert command("explain", model, "-", "--mention", "3-8:body", input=TEXT).stdout.startswith("chest (body)")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "explain needs either INPUT or --text TEXT"),
        (("--text", TEXT, "--mention", "x"), "found --mention x, expected START-END:TYPE"),
        (("--text", TEXT, "--mention", "8-3:problem"), "found --mention 8-3:problem, expected START-END:TYPE"),
        (("--text", TEXT, "--mention", "3-13:nonsense"), "no type 'nonsense'; the model knows body, drug, problem"),
        (("--text", TEXT, "--mention", "3-5:problem"), "the model cannot hold the mention at characters 3-5"),
        (("--text", TEXT, "--mention", "3-8,14-19:problem"), "it has a gap"),
        (("--text", TEXT, "--mention", "300-301:problem"), "characters 300 to 301 are outside the text, which has"),
    ],
)
def test_wrong_use(command, model, arguments, message):
    result = command("explain", model, *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr


def test_which_document(command, model, corpus):
    result = command("explain", model, corpus / "train.jsonl", "--mention", "3-13:problem")
    assert (result.returncode, "found several documents" in result.stderr) == (2, True)
    result = command("explain", model, corpus / "train.jsonl", "--document", "other")
    assert (result.returncode, "no document 'other'; the first are 'note-0'" in result.stderr) == (2, True)


def test_control_characters_are_pictures(command, model):
    result = command("explain", model, "--text", "No chest\x1b[31m pain.", "--mention", "3-8:body")
    assert "\x1b" not in result.stdout


def test_types_may_hold_colons():
    assert parse_mention("0-3:a:b").type == "a:b"
