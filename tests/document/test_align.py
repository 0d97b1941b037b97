"""From characters to tokens and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document, Mention, Span, align, to_spans
from spanloom.errors import DataError

NOTE = Document("mild-pain today", tokens=[[0, 4], [4, 5], [5, 9], [10, 15]], sentences=[[0, 3], [3, 4]])  # type: ignore[arg-type]


def ranges(*spans: tuple[int, int]) -> list[tuple[int, int]] | None:
    (aligned,) = align(NOTE, [Mention("x", spans)])
    return None if aligned.ranges is None else [tuple(part) for part in aligned.ranges]


def test_spans_that_touch_are_one_range() -> None:
    assert ranges((0, 4), (4, 9)) == [(0, 3)]
    assert ranges((5, 9), (10, 15)) == [(2, 4)]
    assert ranges((0, 4), (5, 9)) == [(0, 1), (2, 3)]


@pytest.mark.parametrize("span", [(0, 3), (1, 4), (4, 10), (9, 15), (0, 99)])
def test_spans_that_cut_a_token(span: tuple[int, int]) -> None:
    assert ranges(span) is None


def test_sentences() -> None:
    mentions = [Mention("x", [(0, 9)]), Mention("x", [(10, 15)]), Mention("x", [(5, 15)]), Mention("x", [(1, 2)])]
    assert [aligned.sentence for aligned in align(NOTE, mentions)] == [0, 1, -1, -1]
    assert [aligned.sentence for aligned in align(NOTE.copy(sentences=None), mentions)] == [-1] * 4


@given(st.sets(st.integers(0, 4), min_size=2, max_size=4))
def test_ranges_come_back(bounds: set[int]) -> None:
    first, end = min(bounds), max(bounds)
    (aligned,) = align(NOTE, [Mention("x", to_spans(NOTE, [(first, end)]))])
    assert aligned.ranges == ((first, end),)


def test_no_tokens() -> None:
    with pytest.raises(DataError, match="tokenize it first"):
        align(Document("a", id="n"))
    with pytest.raises(DataError, match="'n' has no tokens"):
        to_spans(Document("a", id="n"), [])


def test_values() -> None:
    mention = Mention("x", [[0, 2], [3, 4]], head=[0, 1], concepts=["a"])  # type: ignore[list-item,arg-type]
    assert mention == Mention("x", (Span(0, 2), Span(3, 4)), None, Span(0, 1), ("a",))
    assert (mention.start, mention.end, mention.replace(type="y").type) == (0, 4, "y")
    with pytest.raises(DataError, match="no span"):
        Mention("x", [])
    copy = NOTE.copy()
    copy.mentions.append(mention)
    copy.meta["a"] = 1
    assert (NOTE.mentions, NOTE.meta) == ([], {})
