"""Constraints as text, and what they allow."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom.errors import UsageError
from spanloom.segment.constraints import constraints_of, parse
from spanloom.structures.product import MENTION_CHAIN, WORD_TAGS, allowed_pairs

TYPES = ("drug", "body part")


def forbidden(*texts: str, single: tuple[str, ...] = ()) -> set[str]:
    allowed = allowed_pairs(constraints_of(TYPES, single, texts), TYPES)
    return {f"{WORD_TAGS[w]} {MENTION_CHAIN.tags(TYPES)[m]}" for w, m in np.argwhere(~allowed).tolist()}


def test_mentions_are_made_of_whole_words():
    expected = {f"{w} {m}-{t}" for t in TYPES for m in "BU" for w in "IE"} | {
        f"{w} {m}-{t}" for t in TYPES for m in "LU" for w in "BI"
    }
    assert forbidden() == expected


def test_a_type_of_single_words():
    more = forbidden(single=("drug",)) - forbidden()
    assert more == {"B I-drug", "S I-drug", "S L-drug"}  # given whole words, B and E follow from these


def test_constraints_of_a_user():
    assert (
        forbidden("body part inside -> word continues") - forbidden()
        == {f"{w} {m}-body part" for w, ms in (("B", "BILU"), ("S", "BILU")) for m in ms} - forbidden()
    )
    assert str(parse(" * ends ->  not word begins ")) == "* ends -> not word begins"


@pytest.mark.parametrize(
    "text",
    ["", "begins -> word begins", "drug begins word begins", "drug is -> word begins", "drug begins -> word inside"],
)
def test_what_is_no_constraint(text):
    with pytest.raises(UsageError, match=r"expected 'TYPE WHAT -> \[not\] word WHAT', WHAT being one of begins, ends"):
        parse(text)


@pytest.mark.parametrize(("single", "more"), [(("surgery",), ()), ((), ("surgery begins -> word begins",))])
def test_an_unknown_type(single, more):
    with pytest.raises(UsageError, match=r"there is no mention type 'surgery'; there are drug, body part"):
        constraints_of(TYPES, single, more)
