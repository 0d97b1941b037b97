"""The ways in which a phrase may be several mentions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.text.coordination import coordinated


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
