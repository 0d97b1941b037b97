"""`train tagger`, and `predict` and `evaluate` with its model."""

from __future__ import annotations

import json

import pytest

import spanloom
from spanloom.document import Document

WORDS = {"the": "DT", "valve": "NN", "atrium": "NN", "leaks": "VBZ", "is": "VBZ", "dilated": "JJ"}


@pytest.fixture(scope="module")
def tagged(tmp_path_factory):
    documents = []
    for number, text in enumerate(["the valve leaks", "the atrium is dilated", "the valve is dilated"] * 5):
        words = text.split()
        starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
        tokens = [(start, start + len(word)) for start, word in zip(starts, words, strict=True)]
        documents.append(Document(text, f"d{number}", tokens=tokens, columns={"pos": [WORDS[word] for word in words]}))
    path = tmp_path_factory.mktemp("tagged") / "data.jsonl"
    spanloom.write(documents, path)
    return path


@pytest.fixture(scope="module")
def model(command, tagged, tmp_path_factory):
    path = tmp_path_factory.mktemp("tagger") / "model"
    result = command("train", "tagger", "--train", tagged, "--dev", tagged, "--output", path, "--epochs", "3")
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    assert "trained on 15 sentences, 55 tokens, 4 tags" in result.stderr
    assert "development accuracy 100.00 on 55 tokens" in result.stderr
    return path


def test_predict_fills_the_column(command, model):
    result = command("predict", model, "-", input="the valve leaks")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["columns"] == {"pos": ["DT", "NN", "VBZ"]}
    assert "3 tags in column 'pos'" in result.stderr
    result = command("predict", model, "-", "--threshold", "0.5", input="the valve")
    assert (result.returncode, result.stdout) == (2, "")
    assert "--threshold" in result.stderr


def test_evaluate_counts_tokens(command, model, tagged, tmp_path):
    result = command("evaluate", tagged, "--model", model)
    assert (result.returncode, result.stdout.split(" (")[0]) == (0, "pos: accuracy 100.00"), result.stderr
    out = tmp_path / "out.jsonl"
    assert command("predict", model, tagged, "--output", out, "--quiet") == (0, "", "")
    result = command("evaluate", tagged, out, "--column", "pos", "--json")
    assert json.loads(result.stdout)["correct"] == 55
    for options in (["--model", model, "--column", "lemma"], [out, "--column", "pos", "--heads"]):
        result = command("evaluate", tagged, *options)
        assert (result.returncode, result.stdout) == (2, "")


def test_configuration_and_missing_options(command, tagged, tmp_path):
    config = tmp_path / "tagger.toml"
    config.write_text(f"train = {json.dumps(str(tagged))}\nepochs = 1\nfeatures = ['bias', 'w[0]']\nl2 = 0.5\n")
    result = command("train", "tagger", "--config", config, "--output", tmp_path / "model", "--quiet")
    assert result == (0, "", "")
    description = json.loads((tmp_path / "model" / "model.json").read_text())
    assert (description["kind"], description["params"]["features"]) == ("tagger", ["bias", "w[0]"])
    config.write_text("structure = 'bio'\n")
    result = command("train", "tagger", "--config", config, "--train", tagged, "--output", tmp_path / "other")
    assert result.returncode == 2
    assert "unknown key 'structure'" in result.stderr
    assert command("train", "tagger", "--train", tagged).returncode == 2
    assert command("train", "tagger", "--train", tagged, "--output", tmp_path / "model").returncode == 2


def test_data_without_the_column(command, corpus, tmp_path):
    result = command("train", "tagger", "--train", corpus / "train.jsonl", "--output", tmp_path / "model")
    assert (result.returncode, result.stdout) == (1, "")
    assert "no column 'pos'" in result.stderr
    assert not (tmp_path / "model").exists()
