"""The demo keeps what it promises: a model, predictions, the note on the screen, commands that work."""

from __future__ import annotations

import json
import re


def test_demo(command, tmp_path):
    folder = tmp_path / "demo"
    result = command("demo", "--output", folder)
    assert result.returncode == 0, result.stderr
    assert "enlargement" in result.stdout
    assert "trained on 25 documents" in result.stderr
    assert "development F1" in result.stderr
    assert "rows of weights" not in result.stderr  # `inspect` shows it to those who know the model
    assert "problem" in result.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["model", "sample.jsonl"]
    (record,) = [json.loads(line) for line in (folder / "sample.jsonl").read_text().splitlines()]
    assert all(0 < mention["score"] <= 1 for mention in record["mentions"])

    suggested = [line.split() for line in result.stderr.partition("Try next:")[2].splitlines() if "evaluate" in line]
    again = command(*suggested[0][1:])
    assert again.returncode == 0
    assert "exact" in again.stdout

    taken = command("demo", "--output", folder)
    assert (taken.returncode, taken.stdout) == (2, "")
    assert "--force" in taken.stderr
    assert "Training" not in taken.stderr


def test_demo_of_a_linker(command, tmp_path):
    folder = tmp_path / "demo"
    result = command("demo", "--linker", "--output", folder)
    assert result.returncode == 0, result.stderr
    drawn, _, names = result.stdout.rpartition("\n\n")
    shown = [line.split(maxsplit=1) for line in names.splitlines()]
    assert len(shown) > 3 and ["SPL:0170", "dyspnea"] in shown
    assert all(re.search(rf"(problem|treatment)( · \w+)* \d+% {identifier}\b", drawn) for identifier, _ in shown)
    (record,) = [json.loads(line) for line in (folder / "sample.jsonl").read_text().splitlines()]
    linked = {concept for mention in record["mentions"] for concept in mention.get("concepts", ())}
    assert linked == {identifier for identifier, _ in shown}

    suggested = [line.split() for line in result.stderr.partition("Try next:")[2].splitlines() if "evaluate" in line]
    again = command(*suggested[0][1:])
    assert again.returncode == 0
    assert "concepts of" in again.stdout
