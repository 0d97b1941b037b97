"""`spanloom lab ambiguity`: figures of Muis and Lu (2016), its supplement, and wrong use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanloom.structures import STRUCTURES


def values(result):
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_counts_as_json(command):
    result = command("ambiguity", "--structure", "shared", "--components", "3", "--length", "5", "--json")
    assert result.stdout.startswith('{"canonical": [2, 8, 80, 3584, 533504], ')
    found = values(result)
    assert found["combinations"] == [2, 8, 128, 32768, 2147483648]
    assert (found["bound"], found["growth_is"], found["against"]) == (None, "exact", None)
    [part] = found["parts"]
    assert (part["states"], part["matrix"]) == (32, None)


def test_shared_is_what_is_counted_without_a_name(command):
    assert command("ambiguity").stdout == command("ambiguity", "--structure", "shared", "--components", "3").stdout


def test_matrix_is_printed_where_it_is_small(command):
    result = command("ambiguity", "--components", "2", "--against", "split")
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert "growth a token        80.61 = 2^6.33" in lines
    assert [row.split() for row in lines[-2:]] == [
        ["B1", "O2", "0", "1", "3", "5", "0", "5", "11", "17"],
        ["B1", "O2", "B2", "0", "3", "3", "21", "0", "15", "11", "73"],
    ]
    assert any(line.startswith("relative ambiguity    1.2") for line in lines)


def test_seven_tags_are_bounded(command):
    found = values(command("ambiguity", "--structure", "seven_tag", "--against", "shared", "--json"))
    assert found["canonical"][:3] == [2, 8, 46]
    assert found["canonical"][4] is None
    assert all(found["canonical"][n - 1] < found["bound"][n - 1] <= 7**n for n in (1, 2, 3, 4))
    against = found["against"]
    assert against["relation"] == "at least"
    assert against["relative_ambiguity"] > 10 / 3  # equation 9
    back = values(command("ambiguity", "--structure", "shared", "--against", "seven_tag", "--json"))["against"]
    assert back["relation"] == "at most"
    assert back["relative_ambiguity"] * against["relative_ambiguity"] == pytest.approx(1)
    same = values(command("ambiguity", "--structure", "seven_tag", "--against", "seven_tag", "--json"))["against"]
    assert (same["relation"], same["relative_ambiguity"]) == ("=", 1)
    text = command("ambiguity", "--structure", "seven_tag", "--against", "shared").stdout
    assert "growth a token        at most 5.28" in text
    assert "relative ambiguity    at least 4.292 against shared" in text


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_structure(command, name):
    result = command("ambiguity", "--structure", name, "--length", "3")
    assert (result.returncode, result.stderr) == (0, "")
    assert f"structure             {name}\n" in result.stdout


def test_long_texts_have_more_sets_of_mentions_than_can_be_written(command):
    found = values(command("ambiguity", "--length", "100", "--json"))
    assert len(found["canonical"]) == 100
    assert found["combinations"][-1] is None
    assert found["combinations_log2"][-1] > 1024
    assert command("ambiguity", "--length", "100").returncode == 0


def test_on_data(command, corpus):
    result = command("ambiguity", corpus / "train.jsonl")
    assert (result.returncode, result.stderr) == (0, "")
    blocks = result.stdout.split("\n\n")
    assert [block.split(" sentences:")[0] for block in blocks] == ["all", "discontiguous"]
    rows = [line.split()[:2] for line in blocks[0].splitlines()[2:8]]
    assert rows == [[name, reading] for reading in ("all", "enough") for name in ("seven_tag", "shared", "split")]


def test_on_data_as_json(command, corpus):
    result = command("ambiguity", corpus / "train.jsonl", "--structure", "shared", "--structure", "bio", "--json")
    found = values(result)
    assert list(found["structures"]) == ["shared", "bio"]
    shared = found["structures"]["shared"]["subsets"]
    assert shared["all"]["readings"]["all"]["recall_error"] == 0
    assert shared["discontiguous"]["sentences"] == 1
    assert found["structures"]["bio"]["subsets"]["all"]["lost"]


def test_one_structure_with_several_parameters(command, corpus):
    chosen = ["shared", "shared(components=1)"]
    line = [part for text in chosen for part in ("--structure", text)]
    found = values(command("ambiguity", corpus / "train.jsonl", *line, "--json"))["structures"]
    assert list(found) == chosen
    assert [found[text]["subsets"]["discontiguous"]["sentences"] for text in chosen] == [1, 1]
    assert not found["shared"]["subsets"]["all"]["lost"]
    assert found["shared(components=1)"]["subsets"]["all"]["lost"]


def test_what_else_is_to_be_said_goes_to_standard_error(command, tmp_path):
    record = {"text": "No pain.", "mentions": [{"type": "x", "spans": [[3, 7]]}] * 2}
    path = tmp_path / "twice.jsonl"
    path.write_text(json.dumps(record) + "\n")
    result = command("ambiguity", path, "--structure", "separators")
    assert (result.returncode, result.stderr) == (0, "repeated mentions counted once: 1\n")
    assert command("ambiguity", path, "--structure", "separators", "--quiet").stderr == ""
    piped = command("ambiguity", "-", "--input-format", "jsonl", "--structure", "separators", input=path.read_text())
    assert piped.stdout == result.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--structure", "nothing"], "structure is 'nothing', expected one of bio, "),
        (["--against", "nothing"], "structure is 'nothing'"),
        (["--structure", "bio", "--structure", "bilou"], "give one --structure"),
        (["--input-format", "jsonl"], "there is no DATA"),
        (["data.jsonl", "--length", "3"], "leave out DATA"),
        (["data.jsonl", "--against", "bio"], "leave out DATA"),
        (["--components", "6"], "use fewer components"),
        (["--components", "0"], "'--components'"),
        (["--length", "101"], "'--length'"),
    ],
)
def test_wrong_use(command, arguments, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data.jsonl").write_text('{"text": "No pain."}\n')
    result = command("ambiguity", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert says in result.stderr


def test_missing_data(command, tmp_path):
    result = command("ambiguity", tmp_path / "none.jsonl")
    assert (result.returncode, result.stdout) == (1, "")
    assert len(result.stderr.splitlines()) == 1
