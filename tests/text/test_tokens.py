from __future__ import annotations

import re
import tomllib
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.text import tokenize
from spanloom.text.characters import CJK, EMOJI, IGNORED, MARKS

CASES = tomllib.loads((Path(__file__).parents[1] / "cases" / "tokens.toml").read_text(encoding="utf-8"))["case"]


def words(text):
    return [text[start:end] for start, end in tokenize(text).tolist()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_cases(case):
    assert words(case["text"]) == case["tokens"]


@given(st.text(st.characters() | st.sampled_from("aZ1.,-'’ \n\u0301\u200d👍患°"), max_size=60))
def test_tokens_cover_all_that_can_be_seen(text):
    tokens = tokenize(text)
    assert tokens.dtype == np.int64 and tokens.ndim == 2 and tokens.shape[1] == 2
    assert np.all(tokens[:, 0] < tokens[:, 1]) and np.all(tokens[1:, 0] >= tokens[:-1, 1])
    covered = {i for start, end in tokens.tolist() for i in range(start, end)}
    assert all(re.match(f"[{IGNORED}]", text[i]) for i in range(len(text)) if i not in covered)
    assert not any(re.search(r"\s", word) for word in words(text))


@given(st.text("ab1.,-'’ \u0301", max_size=40))
def test_white_space_parts_texts(text):
    assert words(text + "\n" + text) == words(text) * 2


NASTY = [
    "a",
    "1",
    ".",
    "a.",
    "1.",
    "1,111",
    "-",
    "é",
    "\u0301",
    "n't",
    "an'",
    "5'",
    "http://",
    "👍\u200d",
    "患",
    "a1.",
    "(",
    "\x00",
]


@pytest.mark.parametrize("piece", NASTY)
def test_long_strings_without_space_take_linear_time(assert_linear, piece):
    assert_linear(lambda length: partial(tokenize, piece * (length // len(piece)) + "b"), 75_000)


def test_classes_of_characters():
    """Samples of each class, by name."""
    for characters, pattern in [
        ("患はカ々ㄅ𠀀ｱ", CJK),
        ("\u0301\u20d7\u0903\u064b\u200d\u00ad\ufe0f🏽", MARKS),
        ("😀❤⭐🇩🫀", EMOJI),
        ("\x00\x1f\x7f\ufeff\u200b\u2060 \u00a0", IGNORED),
    ]:
        assert all(re.fullmatch(f"[{pattern}]", character) for character in characters)
        assert not any(re.fullmatch(f"[{pattern}]", character) for character in "aZ9é.α-한")
