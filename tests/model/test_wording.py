"""Explanations in a sentence."""

from __future__ import annotations

import pytest

from spanloom import Document, Mention
from spanloom.model.wording import in_words
from spanloom.scoring import Part
from spanloom.scoring.explanation import Contribution

WORDS = ["mild", "or", "severe", "pain", "today"]
TEXT = " ".join(WORDS)
STARTS = [TEXT.index(word) for word in WORDS]
DOCUMENT = Document(TEXT, tokens=[[start, start + len(word)] for start, word in zip(STARTS, WORDS, strict=True)])
GAPPED = Mention("problem", [(0, 4), (15, 19)])


def said(
    parts: dict[str, float], token: int = 0, times: int = 1, predicted: bool = True, mention: Mention = GAPPED
) -> str:
    features = tuple(Part(name, score) for name, score in parts.items())
    one = Contribution("S", times, times * sum(parts.values()), token, features=features)
    return in_words(DOCUMENT, mention, [one], predicted)


@pytest.mark.parametrize(
    ("token", "place"),
    [(0, "its first word"), (1, "in its gap"), (2, "in its gap"), (3, "its last word"), (4, "just after it")],
)
def test_where_a_word_stands(token: int, place: str) -> None:
    assert said({f"low[{token}]=x": 1.0}) == f"found, above all for “{WORDS[token]}” ({place}, +1.00)"


def test_a_mention_of_one_word() -> None:
    pain = Mention("problem", [(15, 19)])
    assert "“pain” (the word itself, +1.00)" in said({"low[0]=pain": 1.0}, token=3, mention=pain)
    assert "“mild” (3 words before it, +1.00)" in said({"low[-3]=mild": 1.0}, token=3, mention=pain)


def test_features_of_one_word_add_up_and_those_of_several_are_shared() -> None:
    found = said(
        {"low[1]=or": 0.5, "suffix2[1]=or": 0.25, "w[0]|w[1]=mild|or": -1.0, "bias": 9.0, "mention penalty": 9.0}
    )
    assert found == "found, above all for “or” (in its gap, +0.25); against that speaks “mild” (its first word, -0.50)"


def test_what_the_other_structure_has_speaks_against() -> None:
    assert said({"low[0]=mild": 1.0}, times=-1) == ""
    assert said({"low[0]=mild": 1.0}, times=-1, predicted=False).startswith(
        "not found, above all for “mild” (its first"
    )


def test_values_with_brackets_are_no_places() -> None:
    assert said({"low[0]=[5]": 1.0}) == "found, above all for “mild” (its first word, +1.00)"


def test_words_outside_the_text_and_control_characters() -> None:
    assert said({"low[-1]=<s>": 1.0}) == ""
    odd = Document("a\tb", tokens=[[0, 3]])
    one = Contribution("S", 1, 1.0, 0, features=(Part("low[0]=x", 1.0),))
    assert "“a\\tb”" in in_words(odd, Mention("problem", [(0, 3)]), [one], True)
