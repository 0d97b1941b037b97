"""`evaluate --concepts`, with a vocabulary and with other predictions, and BioC files on the command line."""

from __future__ import annotations

import json

import pytest

TEXT = "colon cancer and pain"
VOCABULARY = "nr\tname\nMESH:D015179\tcolon cancer\nMESH:D010146\tpain\n"


def record(name, *concepts):
    spans = [[0, 12], [17, 21]]
    mentions = [
        {"type": "Disease", "spans": [span], "concepts": found} for span, found in zip(spans, concepts, strict=False)
    ]
    return json.dumps({"id": name, "text": TEXT, "mentions": mentions}) + "\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "gold.jsonl").write_text("".join(record(str(i), ["D015179"], ["MESH:D010146"]) for i in range(8)))
    (tmp_path / "found.jsonl").write_text("".join(record(str(i), ["MESH:D015179"], ["D0"]) for i in range(8)))
    (tmp_path / "other.jsonl").write_text("".join(record(str(i)) for i in range(8)))
    (tmp_path / "v.tsv").write_text(VOCABULARY)
    return tmp_path


def test_text(command, folder):
    result = command(
        "evaluate",
        folder / "gold.jsonl",
        folder / "found.jsonl",
        "--concepts",
        "--vocabulary",
        folder / "v.tsv",
        "--vocabulary-columns",
        "id=nr",
    )
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert next(line for line in lines if line.startswith("documents ")).split()[1:6] == [
        "50.00",
        "50.00",
        "50.00",
        "16",
        "16",
    ]
    assert "mentions that were recognized: 50.00 % (50.00 to 50.00) of 16 with the right concepts" in lines
    assert "not in the vocabulary, Disease in predicted: D0 (8)" in lines
    assert "not in the vocabulary, in gold: none" in lines


def test_json_and_the_paired_test(command, folder):
    files = [folder / "gold.jsonl", folder / "found.jsonl"]
    report = json.loads(command("evaluate", *files, "--concepts", "--json", "--compare", folder / "other.jsonl").stdout)
    assert report["overall"]["f1"] == 1
    assert (report["concepts"]["documents"]["f1"], report["concepts"]["lacking"]) == (0.5, None)
    assert report["concept_test"]["documents"]["difference"] == 0.5
    assert report["concept_test"]["documents"]["t_test"] == 0
    text = command("evaluate", *files, "--concepts", "--compare", folder / "other.jsonl").stdout
    assert "p < 0.0001 (paired t-test of F1 over documents)" in text
    plain = json.loads(command("evaluate", *files, "--json").stdout)
    assert "concepts" not in plain


def test_wrong_usage(command, folder):
    files = [folder / "gold.jsonl", folder / "found.jsonl"]
    result = command("evaluate", *files, "--vocabulary", folder / "v.tsv")
    assert result.returncode == 2
    assert "add --concepts" in result.stderr
    result = command("evaluate", *files, "--concepts", "--vocabulary", folder / "none.tsv")
    assert result.returncode == 1
    assert "none.tsv" in result.stderr


def test_convert_to_bioc_and_back(command, folder):
    assert command("convert", folder / "gold.jsonl", folder / "gold.xml").returncode == 0
    assert command("convert", folder / "gold.xml", folder / "gold.json").returncode == 0
    result = command("evaluate", folder / "gold.jsonl", folder / "gold.json", "--concepts", "--json")
    assert json.loads(result.stdout)["concepts"]["mentions"]["f1"] == 1
    options = ["--input-format", "bioc", "--format", "pubtator"]
    result = command("convert", "-", "-", *options, input=(folder / "gold.xml").read_text())
    assert result.stdout.startswith("0|t|colon cancer and pain\n0|a|\n0\t0\t12\tcolon cancer\tDisease\tD015179\n")
