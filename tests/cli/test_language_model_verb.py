"""`lab language-model`: from text, from annotated documents, from and to ARPA files."""

from __future__ import annotations

import numpy as np
import pytest

import spanloom
from spanloom_lab.lm.language_model import LanguageModel

TEXT = "The valve leaks. The valve is dilated. The left atrium is dilated, too.\n"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT * 3)
    return path


def test_from_text_to_a_model_and_to_arpa_and_back(command, text, corpus, tmp_path):
    both = ("--train", text, "--train", corpus / "train.jsonl")
    result = command("lab", "language-model", *both, "--dev", corpus / "dev.jsonl", "--output", tmp_path / "lm")
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    for words in ("1-grams", "3-grams", "perplexity of", f"saved as {tmp_path / 'lm'}"):
        assert words in result.stderr
    result = command("lab", "language-model", *both, "--output", tmp_path / "lm.arpa.gz", "--quiet")
    assert result == (0, "", "")
    arpa = ("--train", tmp_path / "lm.arpa.gz")
    assert command("lab", "language-model", *arpa, "--output", tmp_path / "again", "--quiet") == (0, "", "")
    documents = list(spanloom.read(text))
    one, two, three = (LanguageModel.load(tmp_path / name).trigram(documents) for name in ("lm", "lm.arpa.gz", "again"))
    assert np.array_equal(one, two)
    assert np.array_equal(one, three)


def test_order(command, text, tmp_path):
    assert (
        command("lab", "language-model", "--train", text, "--order", "2", "--output", tmp_path / "lm").returncode == 0
    )
    assert LanguageModel.load(tmp_path / "lm").order == 2


def test_what_cannot_be_meant(command, text, model, tmp_path):
    (tmp_path / "lm.arpa").write_text("no model")
    output = ("--output", tmp_path / "lm")
    for options, code, said in (
        (["--train", text], 2, "--output is missing"),
        ([*output], 2, "--train is missing"),
        (["--train", tmp_path / "none.txt", *output], 1, "none.txt"),
        (["--train", tmp_path / "lm.arpa", *output], 1, "lm.arpa"),
        (["--train", tmp_path / "lm.arpa", "--order", "2", *output], 2, "--order"),
        (["--train", tmp_path / "lm.arpa", "--train", text, *output], 2, "lm.arpa"),
        (["--train", text, "--output", text], 2, str(text)),
    ):
        result = command("lab", "language-model", *options)
        assert (result.returncode, result.stdout) == (code, "")
        assert said in result.stderr
        assert not (tmp_path / "lm").exists()
