"""Ranges that a regular expression matches, against a trial of each range."""

from __future__ import annotations

import random
import re
import time

import pytest

from spanloom.recognize import expressions
from spanloom.recognize.expressions import automaton_of, ranges

ATOMS = ["a", "b", ".", "[ab]", "[^a]", r"\w", r"\s", " ", r"\.", "(?:a|b)", "(a b|b)", "(a*|b+)", "(?:)", "[]b]"]
TIMES = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}", "*?", "+?", "{1,3}?"]


def expression(draw: random.Random, depth: int = 0) -> str:
    parts = []
    for _ in range(draw.randint(1, 3)):
        inner = f"({expression(draw, depth + 1)})" if depth < 2 and draw.random() < 0.25 else draw.choice(ATOMS)
        parts.append(inner + draw.choice(TIMES))
    return "".join(parts) + (f"|{expression(draw, depth + 1)}" if depth < 2 and draw.random() < 0.2 else "")


def found(pattern: re.Pattern[str], text: str, automaton: object) -> list[tuple[int, int]]:
    tokens = [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]
    return (
        sorted((one, end) for some, end in ranges(pattern, automaton, text, tokens) for one in some) if tokens else []
    )


@pytest.mark.parametrize("seed", range(20))
def test_all_ranges_are_those_of_a_trial_of_each(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    for _ in range(40):
        pattern = re.compile(draw.choice(["", "", "(?i)", "(?s)"]) + expression(draw))
        text = "".join(draw.choice("aabbA .\n") for _ in range(draw.randint(0, 9)))
        monkeypatch.setattr(expressions, "_FEW", 0)
        automaton = automaton_of(pattern)
        if automaton is not None:
            assert found(pattern, text, automaton) == found(pattern, text, None), (pattern, text)


def test_which_expressions_have_an_automaton() -> None:
    for one in ("chest.*", "(?i)pain|ache", r"[A-Z]{2,5}\d?", "a{,3}", "(a|b)*c+?", "a{3", r"\x41", "a{\u0663}"):
        assert automaton_of(re.compile(one)) is not None
    for one in (r"\bpain\b", "^a", "a$", "(?=a)a", r"(a)\1", "(?i:a)b", "(?P<x>a)", "a*+", "(a{99}){99}"):
        assert automaton_of(re.compile(one)) is None
    assert automaton_of(re.compile("a b # c", re.VERBOSE)) is None
    assert automaton_of(re.compile("(" * 300 + "a" + ")" * 300)) is None
    nothing = automaton_of(re.compile("(){3000000}"))
    assert nothing is not None and nothing.matches("") and not nothing.matches("a")


def test_steps_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanloom.text.expressions._KEPT", 10)
    monkeypatch.setattr(expressions, "_FEW", 0)
    pattern, text = re.compile(".*a.{3}"), "ab ba aab bba ab " * 4
    automaton = automaton_of(pattern)
    assert automaton is not None
    assert found(pattern, text, automaton) == found(pattern, text, None)
    assert automaton.step.cache_info().currsize == 10


def test_a_long_sentence_takes_no_longer_than_its_length() -> None:
    text = "word " * 20_000
    pattern = re.compile(".*a.*b.*c")
    began = time.process_time()
    assert found(pattern, text, automaton_of(pattern)) == []
    assert time.process_time() - began < 5
