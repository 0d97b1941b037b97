"""Possessive repetitions as atomic groups, for versions of Python whose own are wrong."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.text import patterns
from spanloom.text.patterns import compile_atomic, pattern

ATOMS = st.sampled_from(["a", "b", "[ab]", "(?:ab?c)", "(?:a|ab)", "(?:ab)", "(?=a)", r"\w", "(?<=b)", "(?:a{1,2}b)"])
CLEAN = not patterns._LEAKS


@pytest.mark.skipif(not CLEAN, reason="compared with possessive repetitions of Python 3.11.5 and newer")
@given(st.lists(st.tuples(ATOMS, st.sampled_from(["", "+", "++", "*+", "?+", "{1,2}+"])), max_size=5), st.text("abc"))
def test_atomic_groups_match_as_possessive_repetitions(parts: list[tuple[str, str]], text: str) -> None:
    expression = "|".join(["".join(map("".join, parts)), "(?:(?:ab?c)++b?)*+c"])
    own, others = (compiled.finditer(text) for compiled in (compile_atomic(expression), re.compile(expression)))
    assert [match.span() for match in own] == [match.span() for match in others]


def test_groups_flags_and_bytes_are_kept() -> None:
    found = compile_atomic(r"(?P<one>A++) (b)*+", re.IGNORECASE).match("aA bb")
    assert found is not None and (found["one"], found[2]) == ("aA", "b")
    assert compile_atomic(rb"\d++x").findall(b"12x") == [b"12x"]
    assert pattern("a++").pattern == "a++"


def test_a_failed_repetition_leaves_nothing() -> None:
    found = pattern("(?:ab?c)++").match("aca")
    assert found is not None and found.group() == "ac"
