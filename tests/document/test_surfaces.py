"""A mention's text in a file, compared with the text at its offsets."""

import time

import pytest

from spanloom.document import Mention
from spanloom.document.surfaces import difference, trimmed

SPELLINGS = "spelling of characters"


@pytest.mark.parametrize(
    ("stands", "given", "kind"),
    [
        ("chest pain", "chest pain", ""),
        ("chest\npain", "chest pain", ""),
        ("chest\r\npain", "chest pain", "white space"),
        ("chest  pain", "chest pain", "white space"),
        ("chest\u00a0pain", "chest pain", "white space"),
        ("chest\u2009pain ", "chestpain", "white space"),
        ("Sjögren", "Sjo\u0308gren", SPELLINGS),
        ("Sjo\u0308gren", "Sjögren", SPELLINGS),
        ("ﬁbrosis", "fibrosis", SPELLINGS),
        ("H₂O", "H2O", SPELLINGS),
        ("half\u2010life", "half-life", SPELLINGS),
        ("half-life", "half–life", SPELLINGS),
        ("“mild”", '"mild"', SPELLINGS),
        ("Crohn’s", "Crohn's", SPELLINGS),
        ("TNF-α", "TNF-alpha", SPELLINGS),
        ("TNF-alpha", "TNF-α", SPELLINGS),
        ("5 µg", "5 μg", SPELLINGS),
        ("∆F508", "Δ-F508".replace("-", ""), SPELLINGS),
        ("R&D", "R&amp;D", SPELLINGS),
        ("p &lt; 0.05", "p < 0.05", SPELLINGS),
        ("car\u00adcinoma", "carcinoma", SPELLINGS),
        ("Pain", "pain", None),
        ("pain", "pains", None),
        ("chest pain", "pain chest", None),
        ("pain", "", None),
        ("α", "β", None),
        ("1-2", "12", None),
    ],
)
def test_differences_with_one_meaning_are_known(stands, given, kind):
    assert difference(f"No {stands}.", [(3, 3 + len(stands))], given) == kind


@pytest.mark.parametrize("mark", [" ", " ... ", "...", " … ", " .. ", " | ", ";", " [...] ", "_", ", "])
def test_marks_between_parts_are_known(mark):
    assert difference("stem and germ cells", [(0, 4), (14, 19)], f"stem{mark}cells") is not None


@pytest.mark.parametrize("given", ["stem x cells", "stem... cells ...", "... stem cells", "cells ... stem"])
def test_words_between_parts_are_another_text(given):
    assert difference("stem and germ cells", [(0, 4), (14, 19)], given) is None


@pytest.mark.parametrize("spans", [[(-3, 4)], [(3, 2)], [(90, 99)], [(0, 10**15)]])
def test_spans_outside_the_text_have_no_text(spans):
    assert difference("mild pain" * 9, spans, "x") is None


def test_a_comparison_takes_linear_time():
    text, started = "." * 200_000, time.process_time()
    assert difference(text, [(i, i + 1) for i in range(0, 100_000, 2)], "." * 150_000 + "x") is None
    assert difference("a" * 10_000_000, [(0, 10_000_000)], "b") is None
    assert time.process_time() - started < 5


def test_white_space_at_the_ends_is_trimmed():
    mention = Mention("problem", [(0, 5), (9, 10), (10, 15)], id="T1", head=(10, 15), concepts=["C1"])
    found = trimmed(mention, "mild and  pain ")
    assert found == mention.replace(spans=[(0, 4), (10, 14)], head=(10, 14))
    assert trimmed(mention.replace(spans=[(0, 4)], head=None), "mild") is not None
    assert trimmed(Mention("problem", [(2, 2)]), "mild") is None
    blank = Mention("problem", [(4, 6)])
    assert trimmed(blank, "mild  pain") is blank
