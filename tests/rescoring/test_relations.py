"""What candidates are to one another, against plain loops over all pairs."""

from __future__ import annotations

import math
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Batch, Document
from spanloom.features import FeatureSet
from spanloom.model.pairs import CROSSING, NESTED, SAME, SHARING, overlapping
from spanloom.rescoring.candidates import GIVEN, CandidateMentions
from spanloom.rescoring.seen import SeenNames
from spanloom.rescoring.values import RELATIONS, CandidateValues, TokenColumns
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


def binned(odds: float, width: float = 1.5) -> int:
    """The number of a bin of log-odds, from 1, of which there are 16 on each side of 0; 0 for -inf."""
    return 0 if odds == -np.inf else min(15, math.floor(max(odds, -16 * width) / width)) + 17


def values(found: CandidateMentions, texts: list[str]) -> CandidateValues:
    """The values of candidates of documents of one sentence."""
    documents = []
    for text in texts:
        words = [match.span() for match in re.finditer(r"\S+", text)]
        documents.append(Document(text, tokens=words, sentences=[[0, len(words)]]))
    batch, nothing = Batch.of(documents), np.zeros(0, np.int64)
    names = SeenNames(nothing.astype(np.uint64), nothing)
    return CandidateValues(found, TokenColumns(batch, (), FeatureSet(["bias"])), names)


@given(candidates())
def test_relations_are_what_loops_over_all_pairs_find(found: CandidateMentions) -> None:
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
    of = values(found, ["a b c d e f g h"] * 2)
    for own, name in zip(expected.T.tolist(), RELATIONS, strict=True):
        assert of[name].tolist() == [binned(other) for other in own]
        less = [binned(one - other) if other > -np.inf else 0 for one, other in zip(odds, own, strict=True)]
        assert of[f"{name}.less"].tolist() == less


@given(found=candidates())
def test_pairs_are_all_that_overlap(found: CandidateMentions) -> None:
    rows = found.table.rows()
    tokens = [{token for first, end in pieces for token in range(first, end)} for _, _, pieces in rows]
    pairs, counts = overlapping(found.table, np.zeros((4, 2, 2), np.bool_))
    assert counts.sum((1, 2)).tolist() == np.bincount(pairs.way, minlength=4).tolist()
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


ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([-1.0, 0.5, 2.0]), st.integers(0, 2), st.booleans()))


@given(ROWS)
def test_again_is_the_largest_of_another_candidate_with_the_text(rows: list[tuple[str, float, int, bool]]) -> None:
    table = MentionTable.build([(0, row[2], ((i, i + 1),)) for i, row in enumerate(rows)])
    level = np.array([0 if row[3] else GIVEN for row in rows], np.int64)
    found = values(CandidateMentions(table, level, np.array([row[1] for row in rows])), [" ".join(r[0] for r in rows)])

    def largest(i: int, of_type: bool) -> float:
        word, _, kind, _ = rows[i]
        others = (other for j, other in enumerate(rows) if j != i and other[3] and other[0] == word)
        return max((other[1] for other in others if (other[2] == kind) == of_type), default=-np.inf)

    assert found["again"].tolist() == [binned(largest(i, True)) for i in range(len(rows))]
    assert found["again.other"].tolist() == [binned(largest(i, False)) for i in range(len(rows))]
