"""Sentences of unusual letter case are read in the usual case of their words."""

from __future__ import annotations

import re

import numpy as np
import pytest

from spanloom.document import Batch, Document
from spanloom.errors import ModelError
from spanloom.features import FeatureSet, Resources
from spanloom.features.letter_case import UsualCase, feature_tokens
from spanloom.modelfile import ModelPart

TEXTS = [
    "We found that mRNA of the Pax6 gene and of BRCA1 is essential in mice.",
    "The mRNA of Pax6 was found in the mice of Aachen, and BRCA1 is essential.",
]


def document(*sentences: str) -> Document:
    text = " ".join(sentences)
    starts = np.cumsum([0, *(len(sentence) + 1 for sentence in sentences[:-1])]).tolist()
    places = [
        [(at + match.start(), at + match.end()) for match in re.finditer(r"[\w-]+|[^\w\s]", sentence)]
        for at, sentence in zip(starts, sentences, strict=True)
    ]
    ends = np.cumsum([len(tokens) for tokens in places]).tolist()
    bounds = list(zip([0, *ends[:-1]], ends, strict=True))
    return Document(text, tokens=[token for tokens in places for token in tokens], sentences=bounds)


def usual() -> UsualCase:
    found = UsualCase.of([document(text) for text in TEXTS])
    assert found is not None
    return found


def reading(*sentences: str) -> str:
    return feature_tokens(Batch.of([document(*sentences)]), usual()).text


@pytest.mark.parametrize("change", [str.upper, str.lower, lambda text: re.sub(r"[A-Za-z]+", title, text)])
def test_a_sentence_of_another_letter_case_is_read_in_the_usual_one(change) -> None:
    text = "In mice the mRNA of Pax6 and BRCA1 is essential."
    assert reading("We like it.", change(text), "No.") == f"We like it. {text} No."


def test_sentences_of_short_words_need_words_that_are_usually_small() -> None:
    assert reading("THE MRNA OF PAX6 WAS IN THE MICE.") == "The mRNA of Pax6 was in the mice."
    assert reading("WBC, RBC, HGB, PLT, CRP, BRCA1, PAX6, ALT") == "WBC, RBC, HGB, PLT, CRP, BRCA1, PAX6, ALT"


def title(found: re.Match[str]) -> str:
    return found[0][0].upper() + found[0][1:]


def test_unknown_words_stay_small_or_in_title_case() -> None:
    assert reading("in the mice of bonn il-2 is essential.") == "In the mice of bonn il-2 is essential."
    assert reading("IN THE MICE OF BONN IL-2 IS ESSENTIAL.") == "In the mice of bonn il-2 is essential."
    assert reading("In The Mice Of Bonn IL-2 Is Essential.") == "In the mice of Bonn IL-2 is essential."


@pytest.mark.parametrize(
    "text",
    [
        "In mice the mRNA of Pax6 was found.",
        "mice of Aachen and the mRNA of Pax6",  # a capital letter
        "the mice are.",  # few letters
        "Berlin, Hamburg, Aachen And Potsdam",  # one word that is usually in lower case
        "The Aachen Centre of Found Essential Mice in Potsdam",  # words in lower case
        "Найдено в мышах, и нужно в городе",
        "",
    ],
)
def test_other_sentences_are_read_as_they_are(text: str) -> None:
    assert reading(text) == text


def test_words_of_text_without_capital_letters_have_no_usual_case() -> None:
    assert UsualCase.of([document(text.lower()) for text in TEXTS]) is None
    assert UsualCase.of([]) is None
    letters = Document("aBaBaBc", tokens=[[i, i + 1] for i in range(7)], sentences=[[0, 7]])
    assert UsualCase.of([letters]) is None  # tokens that are characters


def test_rare_long_and_first_words_do_not_count() -> None:
    long = "X" * 33
    text = f"Zeta and Eta, eta and Eta and {long} and {long} and Theta"
    found = UsualCase.of([document(text)])
    assert found is not None
    assert len(found.keys) == 2  # and, eta


def test_names_of_features_agree_with_their_keys() -> None:
    features = FeatureSet(["w[-1..1]", "shape[0]", "suffix(1..3)"], resources=Resources(usual=usual()))
    one = document(
        "IN THE MICE OF BONN IL-2 IS ESSENTIAL.", "In The Mice Of Bonn IL-2 Is Essential.", "we found the mice."
    )
    keys = features.keys(Batch.of([one]))
    named = features.named_keys(one, range(one.token_count))
    assert [key for row in named for _, key in row] == keys.ids.tolist()
    assert "w[0]=In" in features.names(one, 0)


def test_a_model_file_with_hashes_out_of_order_is_refused() -> None:
    arrays = usual().to_arrays()
    restored = UsualCase.from_part(ModelPart({}, arrays))
    assert all((a == b).all() for a, b in zip(restored, usual(), strict=True))
    with pytest.raises(ModelError, match="not in order"):
        UsualCase.from_part(ModelPart({}, arrays | {"case_keys": arrays["case_keys"][::-1].copy()}))
    with pytest.raises(ModelError):
        UsualCase.from_part(ModelPart({}, arrays | {"case_capitals": arrays["case_capitals"][1:]}))


def test_further_words_count_where_the_text_lacks_them() -> None:
    found = UsualCase.of([document(text) for text in TEXTS], ["the", "Bonn", "bonn", "PAX6", "The"])
    assert found is not None
    batch = Batch.of([document("in the mice of bonn pax6 is essential.")])
    assert feature_tokens(batch, found).text == "In the mice of Bonn Pax6 is essential."
    small = UsualCase.of([document(text) for text in TEXTS], ["the", "bonn"])  # of a file without capital letters
    assert small is not None
    assert len(small.keys) == len(usual().keys)
