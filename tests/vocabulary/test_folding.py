"""Folding: what is one, what stays apart, and keys that do not depend on order or on where tokens are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.hashing import hash_text
from spanloom.text import tokenize
from spanloom.vocabulary.folding import CLOSE, EXACT, LOOSE, fold_text, fold_word, pieces, text_form, text_keys
from spanloom.vocabulary.lexicon import runs


def key(text: str, *, loose: bool = False) -> int:
    return int(text_keys(pieces([text]))[LOOSE if loose else CLOSE, 0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Diabetes Mellitus, Type 2", "type II diabetes mellitus"),
        ("Parkinson's disease", "Parkinson Disease"),
        ("Parkinson’s diseases", "disease, Parkinsons"),
        ("tumour", "Tumors"),
        ("anaemia", "ANEMIA"),
        ("oesophageal oedema", "esophageal edema"),
        ("haemorrhage of the brain", "brain haemorrhages"),
        ("metastases", "metastasis"),
        ("thromboses", "thrombosis"),
        ("dialyses", "dialysis"),
        ("crises", "crisis"),
        ("neuropathies", "neuropathy"),
        ("viruses", "virus"),
        ("generalised", "generalized"),
        ("leucopenia", "leukopenia"),
        ("Sjögren syndrome", "Sjogren Syndrome"),
        ("β-thalassaemia", "beta thalassemia"),
        ("diseases", "disease"),
        ("second degree block", "block, degree 2"),
    ],
)
def test_close_folding_joins(one: str, other: str) -> None:
    assert key(one) == key(other) != 0
    assert key(one, loose=True) == key(other, loose=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("renal failure", "kidney failure"),
        ("hepatic disease", "disorders of the liver"),
        ("hypertensive", "hypertension"),
        ("psychotic", "psychosis"),
        ("epileptic", "epilepsy"),
        ("nephrotoxicity", "kidney damage"),
        ("breast cancer", "mammary neoplasms"),
        ("bleeding", "haemorrhagic"),
    ],
)
def test_loose_folding_joins_more(one: str, other: str) -> None:
    assert key(one) != key(other)
    assert key(one, loose=True) == key(other, loose=True) != 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hepatitis A", "hepatitis B"),
        ("hepatitis A", "hepatitis"),
        ("type 1 diabetes", "type 2 diabetes"),
        ("left failure", "right failure"),
        ("pain without fever", "pain with fever"),
        ("fever fever", "fever"),
        ("kidney", "heart"),
    ],
)
def test_what_differs_stays_apart(one: str, other: str) -> None:
    assert key(one) != key(other)
    assert key(one, loose=True) != key(other, loose=True)


@pytest.mark.parametrize("text", ["", "of the", "( - )", "'s", "\U0001f600"])
def test_what_folds_to_nothing_has_no_key(text: str) -> None:
    assert fold_text(text) == []
    assert key(text) == key(text, loose=True) == 0


@given(
    st.lists(st.sampled_from(["renal", "failure", "II", "Parkinson's", "of", "T-cell", "β"]), max_size=6), st.randoms()
)
def test_order_does_not_matter(words: list[str], chance) -> None:
    shuffled = list(words)
    chance.shuffle(shuffled)
    assert key(" ".join(words)) == key(", ".join(shuffled))


@given(st.text(max_size=30))
def test_any_text_can_be_folded(text: str) -> None:
    keys = text_keys(pieces([text, text_form(text)]))
    words = [word[a:b] for word in text.split() if fold_word(word)[0] for a, b in tokenize(word)]
    assert keys[EXACT, 0] == 0
    for degree in (CLOSE, LOOSE):
        folded = [part for word in words for part in fold_word(word)[degree - CLOSE]]
        assert keys[degree, 0] == sum(map(hash_text, folded)) % 2**64
    assert fold_text(text) == [part for word in text.split() for part in fold_word(word)[0]]


def test_a_text_has_the_key_of_the_run_of_its_tokens() -> None:
    """Names are found in text, whatever a tokenizer makes of their words."""
    texts = ["Chromosome 16p11.2 Deletion", "Parkinson's disease, type II", "non-Hodgkin lymphoma", "HbA1c > 6.5%"]
    keys = text_keys(pieces(texts))
    for column, text in enumerate(texts):
        words = [text[start:end] for start, end in tokenize(text)]
        end = len(words) if fold_word(words[-1])[0] else len(words) - 1
        for degree in (CLOSE, LOOSE):
            assert runs(words).keys(degree, np.array([0]), np.array([end])).tolist() == [keys[degree, column]]


def test_pieces_of_no_text() -> None:
    assert text_keys(pieces([])).shape == (3, 0)
    empty = pieces(["", " "])
    assert empty.ptr.tolist() == [0, 0, 0]
    taken = pieces(["a b", "c", "", "b"]).take(np.array([3, 0, 2], np.int32))
    assert ([taken.distinct[i] for i in taken.ids], taken.ptr.tolist()) == (["b", "a", "b"], [0, 1, 3, 3])
