"""Tables on the command line: to a table of mentions, and from one beside its texts."""

from __future__ import annotations

import json

import pytest

from spanloom.formats import read

HEAD = "doc_id,start,end,type,text,score,spans,concepts,attributes"


def test_convert_there_and_back(command, corpus, tmp_path):
    result = command("convert", corpus / "train.jsonl", tmp_path / "out.csv")
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "out.csv").read_text().startswith(f"{HEAD}\nnote-0,0,10,problem,Chest pain,,,,\n")
    result = command("convert", tmp_path / "out.csv", "-", "--format", "jsonl", "--texts", corpus / "train.jsonl")
    given = [document.mentions for document in read(corpus / "train.jsonl")]
    (tmp_path / "back.jsonl").write_text(result.stdout)
    assert [document.mentions for document in read(tmp_path / "back.jsonl")] == given


def test_predictions_as_a_table(command, model, corpus, tmp_path):
    result = command("predict", model, corpus / "train.jsonl", "--output", tmp_path / "out.tsv", "--jobs", "1")
    assert result.returncode == 0
    assert "not written" not in result.stderr
    header, first, *_ = (tmp_path / "out.tsv").read_text().splitlines()
    assert header == HEAD.replace(",", "\t")
    assert first.split("\t")[0] == "note-0"
    assert 0 < float(first.split("\t")[5]) <= 1


def test_validate_and_options(command, tmp_path):
    (tmp_path / "a.csv").write_text("who,begin,end,type\nx,0,4,p\n")
    (tmp_path / "x.txt").write_text("pain")
    options = ["--input-format", "csv", "--columns", "id=who,start=begin", "--texts", tmp_path / "x.txt"]
    result = command("validate", tmp_path / "a.csv", *options)
    assert result.returncode == 0
    assert "mentions                              1" in result.stdout
    result = command("validate", tmp_path / "a.csv", "--input-format", "csv", "--columns", "id=who,start=begin")
    assert result.returncode == 1
    assert "holds mentions and no texts" in result.stdout


def test_names_of_tags(command, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"tokens": ["No", "pain"], "ner_tags": [0, 1]}\n')
    result = command("convert", tmp_path / "a.jsonl", "-", "--format", "jsonl", "--tag-names", "O,B-x")
    assert json.loads(result.stdout)["mentions"] == [{"type": "x", "spans": [[3, 7]]}]
    result = command("convert", tmp_path / "a.jsonl", "-", "--format", "jsonl")
    assert result.returncode == 1
    assert "--tag-names O,B-x,I-x" in result.stderr


@pytest.mark.parametrize("name", ["csv", "tsv", "conll", "conllu", "pubtator", "bioc", "bioc-json", "label-studio"])
def test_a_plain_prediction_loses_nothing_worth_a_warning(command, model, name):
    result = command("predict", model, "-", "--format", name, input="Lisinopril was stopped for cough.\n")
    assert result.returncode == 0
    assert result.stderr == "1 mention in 1 document\n", result.stderr


def test_losses_of_annotation_are_named_in_the_right_number(command, tmp_path):
    mention = {"type": "x", "spans": [[0, 1], [2, 3]], "concepts": ["C1"], "head": [0, 1], "id": "T1"}
    record = {"text": "a b c", "id": "n", "meta": {"ward": 3}, "mentions": [mention]}
    record |= {"tokens": [[0, 1], [2, 3], [4, 5]], "columns": {"pos": ["A", "B", "C"]}}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    result = command("convert", tmp_path / "a.jsonl", tmp_path / "a.csv")
    assert result.stderr == ("spanloom: not written: 1 token column, 1 meta field, 1 head, 1 mention identifier\n")
