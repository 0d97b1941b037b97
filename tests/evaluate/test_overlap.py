"""Nested, crossing and discontiguous mentions."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document, Mention, Span
from spanloom.evaluate import evaluate, join_spans, overlaps


def mention(*spans: tuple[int, int], kind: str = "a") -> Mention:
    return Mention(kind, spans)


@pytest.mark.parametrize(
    ("mentions", "nested", "crossing", "discontiguous"),
    [
        ([mention((0, 4)), mention((4, 8))], [], [], []),
        ([mention((0, 8)), mention((2, 4))], [0, 1], [], []),
        ([mention((0, 4)), mention((0, 4), kind="b")], [0, 1], [], []),
        ([mention((0, 4)), mention((0, 6))], [0, 1], [], []),
        ([mention((0, 5)), mention((4, 8))], [], [0, 1], []),
        # "infarctions either watershed or embolic": the head is shared
        ([mention((0, 11), (19, 28)), mention((0, 11), (32, 39))], [], [0, 1], [0, 1]),
        # a mention in the gap
        ([mention((0, 2), (6, 8)), mention((3, 5))], [], [], [0]),
        # one that fills the gap and the ends contains it; one that covers gap and one end crosses it
        ([mention((0, 2), (6, 8)), mention((0, 8))], [0, 1], [], [0]),
        ([mention((0, 2), (6, 8)), mention((2, 8))], [], [0, 1], [0]),
        # crossing gaps without a shared character
        ([mention((0, 1), (4, 5)), mention((2, 3), (6, 7))], [], [], [0, 1]),
        # both at once
        ([mention((0, 5)), mention((3, 8)), mention((6, 7))], [1, 2], [0, 1], []),
        ([], [], [], []),
    ],
)
def test_cases(mentions: list[Mention], nested: list[int], crossing: list[int], discontiguous: list[int]) -> None:
    found = overlaps(mentions)
    assert [flags.nonzero()[0].tolist() for flags in found] == [nested, crossing, discontiguous]
    assert found.flat.nonzero()[0].tolist() == sorted(set(range(len(mentions))) - {*nested, *crossing, *discontiguous})
    assert found.overlapping.nonzero()[0].tolist() == sorted({*nested, *crossing})


@st.composite
def mention_sets(draw: st.DrawFn) -> list[Mention]:
    found = set()
    for _ in range(draw(st.integers(0, 10))):
        cuts = sorted(draw(st.sets(st.integers(0, 20), min_size=2, max_size=6)))
        found.add(Mention(draw(st.sampled_from("ab")), list(zip(cuts[::2], cuts[1::2], strict=False))))
    return list(found)


@given(mention_sets())
def test_agrees_with_sets_of_characters(mentions: list[Mention]) -> None:
    covered = [{i for start, end in mention.spans for i in range(start, end)} for mention in mentions]
    nested, crossing = set(), set()
    for i, j in combinations(range(len(mentions)), 2):
        if covered[i] & covered[j]:
            (nested if covered[i] <= covered[j] or covered[i] >= covered[j] else crossing).update((i, j))
    found = overlaps(mentions)
    assert set(found.nested.nonzero()[0].tolist()) == nested
    assert set(found.crossing.nonzero()[0].tolist()) == crossing


def test_a_whole_article_takes_linear_time(assert_linear) -> None:
    def nest(count):
        mentions = [mention((i, 40_000 - i)) for i in range(count)]
        return lambda: overlaps(mentions).nested.all() or pytest.fail("not nested")

    def row(count):
        mentions = [mention((i, i + 5)) for i in range(0, 3 * count, 3)]
        return lambda: overlaps(mentions).crossing.all() or pytest.fail("not crossing")

    assert_linear(nest, 300)  # pairs that meet are compared; of a few hundred that costs nothing yet
    assert_linear(row, 5000)


def test_join_spans() -> None:
    text = "a b,c \n d"
    assert join_spans(text, [Span(0, 1), Span(2, 3)]) == ((0, 3),)
    assert join_spans(text, [Span(2, 3), Span(3, 4)]) == ((2, 4),)
    assert join_spans(text, [Span(2, 3), Span(4, 5), Span(8, 9)]) == ((2, 3), (4, 9))


def test_empty_spans_are_neither_nested_nor_crossing():
    spans = [[(4, 9), (10, 10)], [(4, 4)], [(6, 6)]]
    document = Document("", mentions=[Mention("a", one) for one in spans])
    assert evaluate([document], [document], bootstrap=0).overall.f1 == 1
