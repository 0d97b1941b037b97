"""Expressions over a whole text: what `re` says, and in linear time."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.text.expressions import Expression, ExpressionError

LEAVES = st.sampled_from(["a", "b", "B", ".", "[ab]", "[^a]", r"\d", r"\w", r"\.", "[a-c]", r"\x61", "{", "é", "[]a]"])
QUANTIFIERS = st.sampled_from(["", "?", "*", "+", "{2}", "{1,2}", "{,2}", "{2,}", "{0}", "*?", "{1,2}?"])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, QUANTIFIERS).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    ),
    max_leaves=6,
)


@given(EXPRESSIONS, st.text("abBA1.é{]", max_size=6), st.booleans())
def test_it_says_what_re_says(source, token, ignore_case):
    flags = re.IGNORECASE if ignore_case else 0
    expected = re.fullmatch(source, token, flags) is not None
    assert Expression(source, flags).matches(token) == expected


@pytest.mark.parametrize("source", ["(a+)+b", "(?:a|a)*b", "(?:a?){30}a{30}b", "(.*)*x", "(?:a{1,20}){1,20}c"])
def test_no_expression_is_catastrophic(source):
    began = time.perf_counter()
    assert not Expression(source).matches("a" * 20_000)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("(", "not a regular expression"),
        ("[a", "not a regular expression"),
        ("[[a]", "ambiguous"),
        ("*a", "not a regular expression"),
        ("^a", "leave it out"),
        ("a$", "leave it out"),
        (r"\ba", "leave it out"),
        (r"(a)\1", "beyond what is taken"),
        ("(?=a)b", "beyond what is taken"),
        ("(?i)a", "beyond what is taken"),
        ("(?P<x>a)", "beyond what is taken"),
        ("a++", "write +"),
        ("a*+", "write *"),
        ("a{400}b{400}", "more than 500"),
        ("((a{90}){90}){90}", "more than 500"),
        ("(" * 60 + "a" + ")" * 60, "deep"),
        ("(" * 5000 + "a" + ")" * 5000, ""),
        ("a{99999999999999999999}", ""),
    ],
)
def test_what_is_refused_says_why(source, reason):
    with pytest.raises(ExpressionError) as raised:
        Expression(source)
    assert reason in str(raised.value)
