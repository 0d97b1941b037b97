"""The readings of a trained model, and what is said where `all` is cut short."""

import warnings
from itertools import combinations, pairwise

import pytest

from spanloom.document import Document, Mention
from spanloom.recognize import Recognizer
from spanloom.structures import MOST_MENTIONS


def everything(words: int) -> Document:
    """A text of which every subset of words, of at most three runs, is a mention."""
    mentions = []
    for size in range(1, words + 1):
        for chosen in combinations(range(words), size):
            spans = [(2 * word, 2 * word + 1) for word in chosen]
            runs = 1 + sum(b - a > 1 for a, b in pairwise(chosen))
            if runs <= 3:
                mentions.append(Mention("x", spans))
    return Document(" ".join("a" * words), id=f"of {words}", mentions=mentions)


@pytest.fixture(scope="module")
def crowded():
    documents = [everything(5) for _ in range(40)]
    model = Recognizer("shared", ["bias"], reading="all", tune_penalty=False, l2=0.01, epochs=20, rate=1.0)
    return model.fit(documents, dev=documents[:5])


def test_a_short_text_is_read_whole(crowded):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [found] = crowded.predict([everything(5)])
    assert len(found.mentions) == 31  # all of them


def test_a_cut_is_said(crowded):
    documents = [everything(2), Document(" ".join("a" * 40), id="long")]
    with pytest.warns(UserWarning, match=r"document 'long', sentence 1: [\d,]+ mentions of type 'x' have a path"):
        found = list(crowded.predict(documents))
    assert len(found[1].mentions) == MOST_MENTIONS
    said = []
    list(crowded.predict(documents, notice=said.append))
    assert len(said) == 1
    assert f"the first {MOST_MENTIONS:,}" in said[0]


def test_enough_is_never_cut(crowded):
    crowded.set_params(reading="enough")
    try:
        said = []
        [found] = crowded.predict([Document(" ".join("a" * 40))], notice=said.append)
    finally:
        crowded.set_params(reading="all")
    assert not said
    assert 0 < len(found.mentions) < MOST_MENTIONS
