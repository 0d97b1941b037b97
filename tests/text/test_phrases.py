"""Phrases in text: against a plain search, and the folding of words."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.text import Phrases
from spanloom.text.phrases import PhraseMatch, fold

words = st.lists(st.sampled_from(["a1", "b1", "c1", "A1"]), max_size=6).map(tuple)
entries = st.lists(st.tuples(words, st.sampled_from(["x", "y", "z"])), max_size=12)


def plain(entries: list[tuple[tuple[str, ...], str]], sentence: tuple[str, ...]) -> list[PhraseMatch]:
    """The same by trying every phrase at every word."""
    folded = [(tuple(map(fold, phrase)), label) for phrase, label in entries if phrase]
    text = tuple(map(fold, sentence))
    found, at = [], 0
    while at < len(text):
        fits = {phrase for phrase, _ in folded if text[at : at + len(phrase)] == phrase}
        if fits:
            best = max(fits, key=len)
            labels = tuple(sorted({label for phrase, label in folded if phrase == best}))
            found.append(PhraseMatch(at, at + len(best), labels))
            at += len(best)
        else:
            at += 1
    return found


@given(entries, st.lists(st.sampled_from(["a1", "b1", "c1", "A1", "d1"]), max_size=12).map(tuple))
def test_the_longest_from_left_to_right(entries, sentence) -> None:
    phrases = Phrases(entries)
    assert phrases.find(sentence) == plain(entries, sentence)
    assert phrases.find(list(sentence)) == phrases.find(sentence)
    assert len(phrases) == len({tuple(map(fold, phrase)) for phrase, _ in entries if phrase})


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Effusions", "effusion"),
        ("ARTERIES", "artery"),
        ("branches", "branch"),
        ("reflexes", "reflex"),
        ("masses", "mass"),
        ("diseases", "disease"),
        ("thrombus", "thrombus"),
        ("stenosis", "stenosis"),
        ("gas", "gas"),
        ("ties", "tie"),
        ("Straße", "strasse"),
        ("AS", "AS"),
        ("As", "as"),
        ("s", "s"),
        ("", ""),
        ("ss", "ss"),
    ],
)
def test_folding(word: str, expected: str) -> None:
    assert fold(word) == expected


@given(st.one_of(st.text(max_size=8), st.text("aesiuyzxchAES", max_size=8)))
def test_folding_twice_is_folding_once(word: str) -> None:
    assert fold(fold(word)) == fold(word)


def test_other_folding() -> None:
    phrases = Phrases([(["IL", "2"], "drug")], fold=str.upper)
    assert [found.labels for found in phrases.find(["il", "2", "ILs"])] == [("drug",)]
    assert phrases.labels == {("IL", "2"): ("drug",)}


def test_eighty_thousand_names(assert_linear) -> None:
    names = [([f"w{i % 977}", f"v{i % 1009}", *["x"] * (i % 4)], "thing") for i in range(80_000)]
    text = [f"w{i % 2000}" if i % 3 else f"v{i % 1009}" for i in range(100_000)]
    assert_linear(lambda count: partial(Phrases, names[:count]), 20_000)
    phrases = Phrases(names)
    assert phrases.find(text)
    assert_linear(lambda count: partial(phrases.find, text[:count]), 25_000)
