"""`convert`, `validate` and `view`: the verbs that need no model."""

from __future__ import annotations

import json

import pytest

from spanloom import Mention
from spanloom.data import clinical
from spanloom.formats import read

RECORD = {
    "id": "n1",
    "text": "Mild or severe pain.",
    "mentions": [
        {"type": "problem", "spans": [[0, 4], [15, 19]]},
        {"type": "problem", "spans": [[8, 19]]},
        {"type": "sign", "spans": [[15, 19]]},
    ],
}


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text(json.dumps(RECORD) + "\n")
    return path


def test_convert_there_and_back(command, data, tmp_path):
    result = command("convert", data, tmp_path / "brat", "--format", "brat")
    assert (result.returncode, result.stdout) == (0, "")
    assert (tmp_path / "brat" / "n1.txt").read_text() == RECORD["text"]
    result = command("convert", tmp_path / "brat", "-", "--format", "jsonl")
    spans = [mention["spans"] for mention in json.loads(result.stdout)["mentions"]]
    assert spans == [mention["spans"] for mention in RECORD["mentions"]]


def test_convert_says_what_it_lost(command, data, tmp_path):
    result = command("convert", data, tmp_path / "out.conll")
    assert result.returncode == 0
    assert "1 discontiguous" in result.stderr
    assert command("convert", data, tmp_path / "quiet.conll", "--quiet").stderr == ""


@pytest.mark.parametrize("name", ["out.pubtator", "out.conll"])
def test_convert_says_how_many_gaps_it_lost(command, tmp_path, name):
    result = command("convert", clinical(), tmp_path / name)
    assert (result.returncode, result.stdout) == (0, "")
    other, lost = result.stderr.splitlines(keepends=True)
    assert other.startswith(
        f"spanloom: {clinical() / 'vocabulary.tsv'}: not read: a table with columns of unknown meaning"
    )
    assert lost.startswith("spanloom: not written: 310 discontiguous mentions, 1,040 heads")
    others = "jsonl, brat, bioc, bioc-json, label-studio, json, parquet, arrow, xmi, spacy, csv and tsv"
    assert lost.endswith(f"; this format has no place for gaps, but {others} have\n")


def test_predict_says_how_many_gaps_it_lost(command, model, corpus, tmp_path):
    command("predict", model, corpus / "train.jsonl", "--output", tmp_path / "all.jsonl")
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    mentions = [mention for line in lines for mention in json.loads(line)["mentions"]]
    gaps = sum(len(mention["spans"]) > 1 for mention in mentions)
    result = command("predict", model, corpus / "train.jsonl", "--output", tmp_path / "all.pubtator")
    assert (f"{gaps} discontiguous mentions" in result.stderr) == (gaps > 0)
    written = list(read(tmp_path / "all.pubtator"))
    assert sum(len(document.mentions) for document in written) == len(mentions) - gaps


def test_what_was_read_other_than_it_stands_is_told(command, tmp_path):
    (tmp_path / "a.txt").write_text("No chest pain.\n")
    (tmp_path / "a.ann").write_text("T1\tproblem 9 13;3 8\tpain chest\n")
    result = command("convert", tmp_path / "a.txt", "-", "--format", "jsonl")
    line = f"{tmp_path}/a.ann:1: mention T1: the fragments 9-13;3-8 are out of text order; they were sorted\n"
    assert (result.returncode, result.stderr) == (0, f"spanloom: {line}")
    assert command("convert", tmp_path / "a.txt", "-", "--format", "jsonl", "--quiet").stderr == ""
    result = command("validate", tmp_path / "a.txt")
    assert result.stdout.startswith(line.replace("1: mention", "1: warning: mention"))
    assert result.stderr == "0 errors and 1 warning\n"


def test_a_pubtator_file_of_another_name(command, tmp_path):
    (tmp_path / "corpus.txt").write_text("1|t|Pain.\n1|a|\n1\t0\t4\tPain\tDisease\tD010146\n")
    result = command("convert", tmp_path / "corpus.txt", "-", "--input-format", "pubtator", "--format", "jsonl")
    assert json.loads(result.stdout)["mentions"][0]["concepts"] == ["D010146"]
    assert result.stderr == ""


def test_convert_columns(command, tmp_path):
    (tmp_path / "in.conll").write_text("N\tmild\tB-p\nN\tpain\tI-p\n")
    options = ["--columns", "pos,word,tag", "--scheme", "bilou", "--format", "conll"]
    result = command("convert", tmp_path / "in.conll", "-", *options)
    assert "L-p" in result.stdout
    result = command("validate", tmp_path / "in.conll", "--columns", "word,tag")
    assert result.returncode == 1
    assert f"{tmp_path / 'in.conll'}:1: error: " in result.stdout


@pytest.mark.parametrize("name", ["a.conll", "a.conllu"])
def test_formats_of_tokens_take_documents_without(command, tmp_path, name):
    line = '{"text": "No pain.", "mentions": [{"type": "problem", "spans": [[3, 7]]}]}'
    result = command("convert", "-", tmp_path / name, input=line)
    assert (result.returncode, result.stderr) == (0, "")
    [document] = read(tmp_path / name)
    assert (document.words, document.mentions) == (["No", "pain", "."], [Mention("problem", [(3, 7)])])


def test_convert_from_standard_input(command, data):
    result = command("convert", "-", "-", "--input-format", "jsonl", "--format", "jsonl", input=data.read_text())
    assert json.loads(result.stdout)["id"] == "n1"


def test_convert_needs_a_format_that_it_can_tell(command, data, tmp_path):
    result = command("convert", data, tmp_path / "out.other")
    assert (result.returncode, result.stdout) == (2, "")
    assert "name the format" in result.stderr


def test_validate_counts(command, data):
    result = command("validate", data)
    assert result.returncode == 0
    rows = dict(line.rsplit(maxsplit=1) for line in result.stdout.splitlines())
    rows = {name.strip(): int(number) for name, number in rows.items()}
    assert rows == {
        "documents": 1,
        "sentences": 1,
        "tokens": 5,
        "mentions": 3,
        "problem": 2,
        "sign": 1,
        "nested": 3,
        "crossing": 2,
        "discontiguous": 1,
        "begin or end inside a token": 0,
        "cross a sentence end": 0,
    }
    assert result.stderr == "0 errors and 0 warnings\n"


def test_validate_lists_every_problem_with_its_line(command, data):
    bad = '{"text": "pain", "mentions": [{"type": "p", "spans": [[0, 9]]}, {"type": "p", "spans": [[2, 2]]}]}\n'
    data.write_text(json.dumps(RECORD) + "\n" + bad + "{\n")
    result = command("validate", data)
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        [f"{data}:2", "warning"],  # the mention of no character is left out
        [f"{data}:2", "error"],
        [f"{data}:3", "error"],
    ]
    assert "2 errors and 1 warning" in result.stderr


def test_validate_as_json_from_standard_input(command, data):
    result = command(
        "validate", "-", "--input-format", "jsonl", "--json", "--quiet", input='{"text": "pain"}\n{"text": 1}\n'
    )
    assert (result.returncode, result.stderr) == (1, "")
    report = json.loads(result.stdout)
    assert [(p["path"], p["line"], p["severity"]) for p in report["problems"]] == [("standard input", 2, "error")]
    assert report["counts"] is None
    result = command("validate", "-", "--input-format", "jsonl", "--json", input=data.read_text())
    assert json.loads(result.stdout)["counts"]["types"] == {"problem": 2, "sign": 1}


def test_validate_names_standard_input_whose_format_is_not_told(command):
    result = command("validate", "-", input="no pain\n")
    assert result.returncode == 2
    assert result.stderr.startswith("spanloom: error: the format of - is not clear; name it (--input-format, --format)")


def test_a_mention_that_cuts_a_token_is_a_warning_even_without_tokens(command, data):
    data.write_text('{"id": "n7", "text": "painful", "mentions": [{"type": "p", "spans": [[0, 4]]}]}\n')
    result = command("validate", data)
    assert result.returncode == 0
    assert "warning" in result.stdout and "inside the token 'painful'" in result.stdout
    assert "1 warning" in result.stderr


def test_view_shows_text_and_mentions(command, data):
    result = command("view", data)
    assert result.returncode == 0
    assert "Mild or severe pain." in result.stdout
    assert result.stdout.count("problem") == 2
    assert "\x1b[" not in result.stdout


def test_view_stops_at_the_limit(command, data):
    data.write_text((json.dumps(RECORD) + "\n") * 3 + "broken")
    assert command("view", data, "--limit", "2").stdout.count("Mild or severe pain.") == 2
    assert command("view", data).returncode == 1
