"""Kinds of error: each by a case, and laws that hold for any documents."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document, Mention
from spanloom.errors import DataError
from spanloom.evaluate import ERROR_KINDS, boundary_kind, evaluate, findings

TEXT = "no chest pain . pain in left and right arm"
PAIN = (16, 20)
LEFT, RIGHT, ARM = (24, 28), (33, 38), (39, 42)


def kinds(gold: list[Mention], predicted: list[Mention]) -> list[str]:
    found = findings([Document(TEXT, mentions=gold)], [Document(TEXT, mentions=predicted)])
    return [finding.kind for finding in found]


def part(*spans: tuple[int, int], **fields: object) -> Mention:
    return Mention("part", spans, **fields)


@pytest.mark.parametrize(
    ("gold", "predicted", "kind"),
    [
        ([LEFT, ARM], [(24, 42)], "gap missed"),
        ([LEFT, ARM], [(20, 42)], "gap missed"),
        ([PAIN, LEFT, ARM], [PAIN, (24, 42)], "gap missed"),  # one of two gaps
        ([(24, 42)], [LEFT, ARM], "gap invented"),
        ([(24, 42)], [(26, 28), ARM], "gap invented"),
        ([LEFT, ARM], [ARM], "fragment wrong"),
        ([LEFT, ARM], [LEFT], "fragment wrong"),
        ([ARM], [LEFT, ARM], "fragment wrong"),
        ([LEFT, ARM], [PAIN, ARM], "fragment wrong"),
        ([PAIN, ARM], [PAIN, LEFT, ARM], "fragment wrong"),
        ([LEFT, ARM], [LEFT, (33, 42)], "boundary"),  # the component only begins earlier
        ([LEFT, ARM], [(25, 28), ARM], "boundary"),
        ([(3, 13)], [(9, 13)], "boundary"),
    ],
)
def test_boundary_errors(gold, predicted, kind) -> None:
    assert boundary_kind(part(*gold), part(*predicted)) == kind
    assert kinds([part(*gold)], [part(*predicted)]) == [kind]


def test_white_space_is_no_gap() -> None:
    assert kinds([part((3, 8), (9, 13))], [part((3, 13))]) == []
    assert kinds([part((3, 8), (9, 13))], [part((3, 8))]) == ["boundary"]


def test_others() -> None:
    assert kinds([part(ARM)], []) == ["missed"]
    assert kinds([], [part(ARM)]) == ["spurious"]
    assert kinds([part(ARM)], [Mention("problem", [ARM])]) == ["type"]
    assert kinds([part(ARM)], [part(ARM, score=0.5)]) == []


def test_heads_are_compared_where_both_sides_have_some() -> None:
    assert kinds([part((33, 42), head=ARM)], [part((33, 42), head=RIGHT)]) == ["head"]
    assert kinds([part((33, 42), head=ARM)], [part((33, 42))]) == []
    assert kinds([part((33, 42))], [part((33, 42), head=ARM)]) == []
    both = [part((33, 42), head=ARM), part(PAIN, head=PAIN)]
    assert kinds(both, [part((33, 42)), part(PAIN, head=PAIN)]) == ["head"]


def test_concepts_are_compared_where_both_sides_have_some() -> None:
    assert kinds([part(ARM, concepts=("C1", "C2"))], [part(ARM, concepts=("C2", "C1"))]) == []
    assert kinds([part(ARM, concepts=("C1",))], [part(ARM, concepts=("C2",))]) == ["concept"]
    assert kinds([part(ARM, concepts=("C1",))], [part(ARM)]) == []
    other = part(PAIN, concepts=("C1",))
    assert kinds([part(ARM, concepts=("C1",)), other], [part(ARM), other]) == ["NIL"]
    assert kinds([part(ARM), other], [part(ARM, concepts=("C1",)), other]) == ["NIL"]


def test_a_mention_can_be_wrong_in_two_ways() -> None:
    gold, found = part((33, 42), head=ARM, concepts=("C1",)), part((33, 42), head=RIGHT, concepts=("C2",))
    assert kinds([gold], [found]) == ["head", "concept"]


def test_documents_are_matched_by_id() -> None:
    one, two = Document(TEXT, id="1", mentions=[part(ARM)]), Document(TEXT, id="2", mentions=[part(LEFT)])
    assert findings([one, two], [two, one]) == []
    (error,) = findings([one, two], [two.copy(mentions=[]), one])
    assert (error.kind, error.document, error.predicted) == ("missed", 1, None)
    with pytest.raises(DataError):
        findings([one], [two])


SPANS = st.sampled_from([(0, 2), (3, 8), (9, 13), PAIN, LEFT, (24, 42), RIGHT, ARM, (33, 42)])


@st.composite
def mentions(draw: st.DrawFn) -> list[Mention]:
    found = []
    for spans in draw(st.lists(st.lists(SPANS, min_size=1, max_size=3, unique=True), max_size=5)):
        spans = sorted(spans)
        if all(left[1] <= right[0] for left, right in pairwise(spans)):
            found.append(Mention(draw(st.sampled_from("ab")), spans, score=draw(st.none() | st.floats(0, 1))))
    return found


@given(mentions(), mentions())
def test_counts_are_those_of_the_report(gold: list[Mention], predicted: list[Mention]) -> None:
    sides = [Document(TEXT, mentions=gold)], [Document(TEXT, mentions=predicted)]
    counts = Counter(finding.kind for finding in findings(*sides))
    expected = evaluate(*sides, bootstrap=0).errors
    assert counts["missed"] == expected["missed"]
    assert counts["spurious"] == expected["spurious"]
    assert counts["type"] == expected["type"]
    assert (
        sum(counts[kind] for kind in ("boundary", "gap missed", "gap invented", "fragment wrong"))
        == expected["boundary"]
    )
    assert set(counts) <= set(ERROR_KINDS)


@given(mentions(), mentions())
def test_exchanged_sides_exchange_the_kinds(gold: list[Mention], predicted: list[Mention]) -> None:
    for one in gold:
        for other in predicted:
            turned = {"gap missed": "gap invented", "gap invented": "gap missed"}
            here, there = boundary_kind(one, other), boundary_kind(other, one)
            both = {"gap missed", "gap invented"} >= {here, there}  # each joins a gap of the other
            assert here == turned.get(there, there) or both
