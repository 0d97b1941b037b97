"""Tags and mentions: every set of mentions without overlap comes back."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import from_tags, to_bilou, to_bio
from spanloom.document.align import from_levels


@st.composite
def flat(draw: st.DrawFn) -> list[tuple[int, int, str]]:
    bounds = sorted(draw(st.sets(st.integers(0, 12), max_size=8)))
    touching = draw(st.booleans())
    pairs = pairwise(bounds) if touching else zip(bounds[::2], bounds[1::2], strict=False)
    return [(first, end, draw(st.sampled_from("ab"))) for first, end in pairs]


@given(flat())
def test_round_trips(mentions: list[tuple[int, int, str]]) -> None:
    assert from_tags(to_bio(mentions, 12)) == mentions
    assert from_tags(to_bilou(mentions, 12)) == mentions
    bioes = [tag.replace("L-", "E-").replace("U-", "S-") for tag in to_bilou(mentions, 12)]
    assert from_tags(bioes) == mentions


@pytest.mark.parametrize(
    ("tags", "mentions"),
    [
        ("I-a I-a O I-a", [(0, 2, "a"), (3, 4, "a")]),
        ("I-a B-a I-b", [(0, 1, "a"), (1, 2, "a"), (2, 3, "b")]),
        ("B-a E-a S-a M-a", [(0, 2, "a"), (2, 3, "a"), (3, 4, "a")]),
        ("B-a L-b", [(0, 1, "a"), (1, 2, "b")]),
        ("B-a-b I-a-b", [(0, 2, "a-b")]),
        ("O", []),
    ],
)
def test_other_schemes_and_broken_sequences(tags: str, mentions: list[tuple[int, int, str]]) -> None:
    assert from_tags(tags.split()) == mentions


RANGES = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 10)).filter(lambda one: one[0] < one[1]), max_size=6)


@given(RANGES, st.sampled_from(["BI", "BILU"]))
def test_mentions_that_overlap_come_back_from_a_tag_each(ranges: list[tuple[int, int]], letters: str) -> None:
    mentions = sorted(
        ((first, end, f"t{i}") for i, (first, end) in enumerate(ranges)), key=lambda one: (one[0], -one[1])
    )
    write = to_bio if letters == "BI" else to_bilou
    columns = [write([mention], 10) for mention in mentions]
    rows = [[tag for tag in row if tag != "O"] for row in zip(*columns, strict=True)] if columns else []
    assert sorted(from_levels(rows)) == sorted(mentions)
