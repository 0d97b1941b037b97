"""What candidates are to one another, against plain loops over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.hashing import Slots
from spanloom.model import pairs as pairs_module
from spanloom.model.pairs import CROSSING, NESTED, SAME, SHARING, joined, overlapping
from spanloom.native import Kernel
from spanloom.rescoring.candidates import GIVEN, CandidateMentions
from spanloom.rescoring.relations import RELATIONS, strongest
from spanloom.structures import MentionTable, TokenMention

RANGES = st.lists(st.integers(0, 8), min_size=2, max_size=4, unique=True).filter(lambda cuts: len(cuts) % 2 == 0)


@st.composite
def candidates(draw: st.DrawFn) -> CandidateMentions:
    """Distinct candidates of two sentences, contiguous and with gaps, some of them only given."""

    def mention(sentence: int, kind: int, cuts: list[int]) -> TokenMention:
        own = sorted(cuts)
        return sentence, kind, tuple(zip(own[::2], own[1::2], strict=True))

    rows = draw(st.lists(st.builds(mention, st.integers(0, 1), st.integers(0, 1), RANGES), unique=True, max_size=8))
    rows.sort(key=lambda row: (row[0], row[2][0][0], -row[2][-1][1], row[1], row[2]))
    level = draw(st.lists(st.sampled_from([0, GIVEN]), min_size=len(rows), max_size=len(rows)))
    odds = draw(st.lists(st.floats(-5, 5), min_size=len(rows), max_size=len(rows)))
    return CandidateMentions(MentionTable.build(rows), np.array(level, np.int64), np.array(odds))


def names(one: TokenMention, other: TokenMention) -> list[str]:
    """What the other is to the one, by the definition of `RELATIONS`."""
    (_, kind, mine), (_, kind_of_other, theirs) = one, other
    first, end, begin, stop = mine[0][0], mine[-1][1], theirs[0][0], theirs[-1][1]
    types = "same" if kind == kind_of_other else "other"
    shared = set(mine) & set(theirs)
    edge = "start" if first == begin else "end" if end == stop else "middle"
    if mine == theirs:
        return ["twin"]
    if (first, end) == (begin, stop):
        found = [f"hull.{types}"]
    elif begin <= first and end <= stop:
        found = [f"outer.{edge}.{types}"]
    elif first <= begin and stop <= end:
        found = [f"inner.{edge}.{types}"]
    else:
        found = [f"crossing.{types}"]
    if shared and len(mine) > 1:
        found.append(f"sibling.{types}" if len(theirs) > 1 else f"part.{types}")
    if shared and len(mine) == 1 and len(theirs) > 1:
        found.append(f"whole.{types}")
    return found


@given(candidates())
def test_strongest_is_what_loops_over_all_pairs_find(found: CandidateMentions) -> None:
    rows, odds = found.table.rows(), found.odds.tolist()
    expected = np.full((len(rows), len(RELATIONS)), -np.inf)
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            apart = other[2][-1][1] <= one[2][0][0] or one[2][-1][1] <= other[2][0][0]
            if i == j or one[0] != other[0] or apart or found.level[j] == GIVEN:
                continue
            for name in names(one, other):
                at = RELATIONS.index(name)
                expected[i, at] = max(expected[i, at], odds[j])
    np.testing.assert_array_equal(strongest(found).T, expected)


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
@given(found=candidates())
def test_pairs_are_all_that_overlap(found: CandidateMentions, block: int) -> None:
    rows = found.table.rows()
    tokens = [{token for first, end in pieces for token in range(first, end)} for _, _, pieces in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_module, "_BLOCK", block)
        pairs = joined(overlapping(found.table))
    seen = {frozenset(pair) for pair in zip(pairs.one.tolist(), pairs.other.tolist(), strict=True)}
    expected = {
        frozenset((i, j))
        for i, (sentence, _, _) in enumerate(rows)
        for j, (sentence_of_other, _, _) in enumerate(rows)
        if i != j and sentence == sentence_of_other and tokens[i] & tokens[j]
    }
    assert seen == expected
    assert len(pairs.one) == len(expected)
    for i, j, way in zip(*(column.tolist() for column in pairs), strict=True):
        gap = len(rows[i][2]) > 1 or len(rows[j][2]) > 1
        apart = SHARING if gap else CROSSING
        assert way == (SAME if tokens[i] == tokens[j] else NESTED if tokens[i] > tokens[j] else apart)


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([-1.0, 0.5, 2.0]), st.integers(0, 2), st.booleans())))
def test_best_but_is_the_largest_of_another_label(rows: list[tuple[int, float, int, bool]]) -> None:
    group, odds, label, counts = (np.array([row[i] for row in rows]) for i in range(4))
    group, found = group.astype(np.uint64), np.empty(len(rows))
    Kernel("best_but")(
        group, odds.astype(float), label.astype(np.int64), counts.astype(bool), *Slots.empty(len(rows)),
        np.empty_like(group), found,
    )  # fmt: skip
    expected = [
        max((other[1] for other in rows if other[3] and other[0] == row[0] and other[2] != row[2]), default=-np.inf)
        for row in rows
    ]
    assert found.tolist() == expected
