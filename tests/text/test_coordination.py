"""The ways in which a phrase may be several mentions."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.text.coordination import _WEIGHTS, coordinated, expansion, features, ways

PRECISION, RECALL, ALONE = 0.90, 0.88, 0.88


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("breast and ovarian cancer", ["breast cancer", "ovarian cancer"]),
        ("T- and B-lymphocytes", ["T-lymphocytes", "B-lymphocytes"]),
        ("cancer of the breast and ovary", ["cancer of the breast", "cancer of the ovary"]),
        ("alpha 1, 2 and 3", ["alpha 1", "alpha 2", "alpha 3"]),
        ("left, right, and dual atrial enlargement",
         ["left atrial enlargement", "right atrial enlargement", "dual atrial enlargement"]),
        ("nausea and vomiting", ["nausea", "vomiting"]),
        ("optic/peripheral neuropathy", ["optic neuropathy", "peripheral neuropathy"]),
        ("hepatitis B or C", ["hepatitis B", "hepatitis C"]),
    ],
)  # fmt: skip
def test_a_way_gives_the_mentions(text: str, parts: list[str]) -> None:
    assert parts in coordinated(text)


@pytest.mark.parametrize("text", ["chest pain", "", "and", "x and", "a " * 200 + "and b", "hand band", "IL-2"])
def test_others_have_none(text: str) -> None:
    assert coordinated(text) == []


@given(st.text(alphabet="ab ,;-/&and or", max_size=60))
def test_any_text_is_taken(text: str) -> None:
    for way in coordinated(text):
        assert len(way) > 1 and all(part.strip() for part in way)


CASES = [
    (text.strip(), [part.strip() for part in parts.split("|") if part.strip()])
    for line in (Path(__file__).parent / "coordination_cases.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for text, parts in [line.split("=>")]
]


def test_expansions_of_two_hundred_phrases_are_those_of_gold() -> None:
    """Precision and recall of expansions, and the share of phrases that are rightly left alone."""
    found = [[one.text for one in expansion(text)] for text, _ in CASES]
    right = sum(len({*ours} & {*gold}) for ours, (_, gold) in zip(found, CASES, strict=True))
    precision, recall = right / sum(map(len, found)), right / sum(len(gold) for _, gold in CASES)
    alone = [not ours for ours, (_, gold) in zip(found, CASES, strict=True) if not gold]
    assert len(CASES) == 200
    assert precision > PRECISION and recall > RECALL and sum(alone) / len(alone) > ALONE, (precision, recall, alone)


@pytest.mark.parametrize("text", [text for text, _ in CASES[:20]])
def test_probabilities_are_those_of_the_ways_that_contain_a_mention(text: str) -> None:
    every = [*ways(text), None]
    weights = [
        math.exp(sum(_WEIGHTS.get(name, 0) * value for name, value in features(way, text, _no))) for way in every
    ]
    for one in expansion(text):
        own = sum(w for way, w in zip(every, weights, strict=True) if way is not None and one.parts in way.parts)
        assert one.probability == pytest.approx(own / sum(weights))


def test_a_listed_name_is_not_expanded() -> None:
    assert expansion("breast and ovarian cancer")
    assert not expansion("breast and ovarian cancer", listed=lambda text: text == "breast and ovarian cancer")


@given(st.text(alphabet="ab1 ,;-/&and or", max_size=60))
def test_ranges_lie_in_the_text_and_probabilities_in_their_bounds(text: str) -> None:
    for one in expansion(text):
        assert 0 < one.probability <= 1 + 1e-9
        assert all(0 <= a < b <= len(text) for a, b in one.parts)
        assert all(first[1] <= second[0] for first, second in pairwise(one.parts))


def _no(_: str) -> bool:
    return False
