from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.text import split_sentences, tokenize
from spanloom.text.lines import line_breaks

CASES = tomllib.loads((Path(__file__).parents[1] / "cases" / "sentences.toml").read_text(encoding="utf-8"))["case"]


def sentences(text, tokens=None):
    tokens = tokenize(text) if tokens is None else np.array(tokens, np.int64).reshape(-1, 2)
    return [text[tokens[first, 0] : tokens[end - 1, 1]] for first, end in split_sentences(text, tokens).tolist()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_cases(case):
    text = case.get("text", " ".join(case["sentences"]))
    assert sentences(text) == case["sentences"]


@given(st.text("abAB. ?!\n\r\f\u2028()[]1\"'-:。*", max_size=80))
def test_sentences_cover_all_tokens(text):
    tokens = tokenize(text)
    bounds = split_sentences(text, tokens)
    assert bounds.dtype == np.int64 and bounds.shape[1:] == (2,)
    assert np.all(bounds[:, 0] < bounds[:, 1])
    assert [0, *bounds[:, 1].tolist()] == [*bounds[:, 0].tolist(), len(tokens)]


def test_no_sentence_ends_inside_a_token():
    text = "No fever. No pain.\n\nHome."
    assert sentences(text, [[0, 12], [13, 18], [20, 25]]) == ["No fever. No pain.", "Home."]
    assert sentences(text, [[0, 25]]) == [text]
    assert sentences(text, []) == []


def test_tokens_of_white_space():
    text = "Seen by Dr. Lee. No fever."
    assert sentences(text, [[0, 4], [5, 7], [8, 11], [12, 16], [17, 19], [20, 26]]) == ["Seen by Dr. Lee.", "No fever."]


def test_line_ends_of_all_systems():
    assert line_breaks("x\nb\r\nc\rd\u2029f") == [2, 5, 7, 9]


@pytest.mark.parametrize(
    "piece",
    [
        ".",
        ". ",
        '."',
        "\n",
        " \n",
        "a.",
        "A. ",
        " ",
        "a\n",
        "A:",
        "я.",
        "Я. ",
        "3. ",
        "am 3. A",
        ".[1]",
        "- ",
        "(",
        "。",
        "\t",
    ],
)
def test_long_texts_take_linear_time(assert_linear, piece):
    def prepare(length):
        text = piece * (length // len(piece)) + "b"
        return partial(split_sentences, text, tokenize(text))

    assert_linear(prepare, 50_000)


def test_a_wrapped_text_splits_as_the_same_text_on_one_line():
    plain = "The quick heart beats on. While the slow lung rests at night, it breathes. Nothing moves. " * 6
    lines, line = [], ""
    for word in plain.split():
        if len(line) + 1 + len(word) > 70:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    wrapped = "\n".join([*lines, line])
    assert [sentence.replace("\n", " ") for sentence in sentences(wrapped)] == sentences(plain)
