"""What is looked for in a quicker way is what the plain expression finds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from spanloom.text import sentences, tokens
from spanloom.text.full_stops import TITLES
from spanloom.text.lines import line_breaks
from spanloom.text.patterns import pattern

WORDS = (
    "Dr a A n't do 2D 11p15 9mgdlkg 10mg http://x https www. e.g p.o U.S 1 10 mg 3.5 1,000 , ; : ( ) - ... . ! ? … ' ’ "
    "s °C [** **] é e\u0301"
)
SIGNS = '\u200d 患者 。 ！ ． ｡ 😀 🇩🇪 _ / % IL-2 Α \u037e א"ת ۔ ። [1] » “'
PIECES = [*WORDS.split(), *SIGNS.split(), " ", "\n", "\t", "\u00a0", "\x00"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
OTHERS = {"fever", "IL-2", "x/fig", "(see", "ii", "ivx", "a", "ABC", "naïve", "Fig", "p53", "fig\nno"}
OTHERS |= {"gp160", "9)", "10%", "#2", "(1", "c-Myc", "vi"}
WORDS_BEFORE = sorted(sentences._RULED | TITLES | OTHERS)
STOPS = st.lists(
    st.tuples(
        st.sampled_from(WORDS_BEFORE), st.sampled_from([str, str.capitalize, str.upper]),
        st.sampled_from([". ", " ", ".  ", "\n", ".\n", " 5. ", "! ", "; ", " ("]),
    ),
    max_size=8,
).map(lambda words: "".join(change(word) + after for word, change, after in words))  # fmt: skip
_SLOW = pattern(f"({'|'.join(tokens._EXPRESSIONS)})")


def stops(text: str) -> list[int]:
    """The ends of full stops that end a sentence."""
    return sorted(sentences._stops([text], np.array([0, len(text)]))[0].tolist())


@given(TEXTS)
@example("don't do, can't; won’t) n't")
@example("  a.b -c --d /e .f .5 :// (g)  \n\n.\n--\n")
@example("10mg 2D, 3T3 1,5 1, 5 E13.5 a.) www. http: // x_y [**a**] 5' don't\r\n\tn't \u00a0")
def test_tokens_are_those_of_the_other_alternatives(text: str) -> None:
    assert tokens.tokenize(text).tolist() == [list(match.span()) for match in _SLOW.finditer(text)]


@given(TEXTS | STOPS)
@example("...!?. A. B")
def test_full_stops_are_those_of_the_whole_expression(text: str) -> None:
    expected = [match.end() for match in sentences._STOP.finditer(text) if sentences._ends(text, match)]
    assert stops(text) == expected


def test_tokens_of_all_characters_are_those_of_the_expressions() -> None:
    """Each character of the Basic Multilingual Plane, and some beyond: alone, twice, and inside words and numbers."""
    characters = map(chr, [*range(1 << 16), *range(0x1F1E6, 0x1F200), 0x1F44D, 0x20000, 0x10FFFF])
    text = " ".join(f"{c} {c}{c} a{c}b n{c}t 5{c} 1{c}2 1{c}234 {c}5 {c}{c}s 患{c}患 .{c} {c}." for c in characters)
    assert tokens.tokenize(text).tolist() == [list(match.span()) for match in _SLOW.finditer(text)]


def test_units_are_as_the_kernel_knows_them() -> None:
    assert all(2 <= len(unit) <= 4 and unit.isalpha() for unit in tokens._UNITS.split("|"))


@given(TEXTS, st.integers(1, 4))
@example("a. B", 4)
def test_sentences_begin_between_tokens_alone(text: str, width: int) -> None:
    """Of Spanloom's tokens, and of those that hold so many characters each, whatever these are."""
    wide = [[start, min(start + width, len(text))] for start in range(0, len(text), width)]
    ends = [*stops(text), *line_breaks(text)]
    for own in (tokens.tokenize(text).tolist(), wide):
        between = [i for i in range(1, len(own)) if any(own[i - 1][1] <= end <= own[i][0] for end in ends)]
        found = sentences.split_sentences(text, np.array(own, np.int64).reshape(-1, 2))
        assert found.dtype == np.int64
        assert found.tolist() == [[a, b] for a, b in pairwise([0, *between, len(own)]) if a < b]


@given(st.lists(TEXTS | STOPS, max_size=5))
def test_texts_together_have_the_sentences_of_each(texts: list[str]) -> None:
    own = [tokens.tokenize(text) for text in texts]
    together = sentences.split_all(texts, own)
    assert [one.tolist() for one in together] == [
        sentences.split_sentences(text, one).tolist() for text, one in zip(texts, own, strict=True)
    ]
