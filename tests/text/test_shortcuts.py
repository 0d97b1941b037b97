"""What is looked for in a quicker way is what the plain expression finds."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from spanloom.text import sentences, tokens

WORDS = (
    "Dr a A n't do http://x https www. e.g p.o U.S 1 10 mg 3.5 1,000 , ; : ( ) - ... . ! ? … ' ’ s °C [** **] é e\u0301"
)
SIGNS = '\u200d 患者 。 ！ ． ｡ 😀 🇩🇪 _ / % IL-2 Α \u037e א"ת ۔ ። [1] » “'
PIECES = [*WORDS.split(), *SIGNS.split(), " ", "\n", "\t", "\u00a0", "\x00"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
_SLOW = re.compile(f"({'|'.join(tokens._EXPRESSIONS)})")


@given(TEXTS)
@example("don't do, can't; won’t) n't")
@example("  a.b -c --d /e .f .5 :// (g)  \n\n.\n--\n")
def test_tokens_are_those_of_the_other_alternatives(text: str) -> None:
    assert tokens.tokenize(text).tolist() == [list(match.span()) for match in _SLOW.finditer(text)]


@given(TEXTS)
@example("...!?. A. B")
def test_full_stops_are_those_of_the_whole_expression(text: str) -> None:
    found = [match.span() for match in sentences._stops(text)]
    assert found == [match.span() for match in sentences._STOP.finditer(text)]
