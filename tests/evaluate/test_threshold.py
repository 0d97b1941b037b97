"""Precision and recall over a threshold: the same as evaluating what is above it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document, Mention
from spanloom.errors import DataError
from spanloom.evaluate import precision_recall, score

TEXT = "abcdefghij"
MENTIONS = st.lists(
    st.builds(
        lambda start, kind, score: Mention(kind, [(start, start + 1)], score=score),
        st.integers(0, 9), st.sampled_from("ab"), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
    ),
    max_size=12,
    unique_by=lambda mention: mention.key,
)  # fmt: skip


@given(MENTIONS, MENTIONS)
def test_each_point_is_the_score_above_its_threshold(gold: list[Mention], predicted: list[Mention]) -> None:
    expected = Document(TEXT, mentions=gold)
    points = precision_recall([expected], [Document(TEXT, mentions=predicted)])
    assert [point.threshold for point in points] == sorted({mention.score for mention in predicted}, reverse=True)
    for point in points:
        kept = [mention for mention in predicted if mention.score >= point.threshold]
        found = score([expected], [Document(TEXT, mentions=kept)])
        assert (point.precision, point.recall, point.f1) == pytest.approx((found.precision, found.recall, found.f1))


def test_all_need_scores() -> None:
    document = Document(TEXT, mentions=[Mention("a", [(0, 1)])])
    with pytest.raises(DataError, match="predict with a model that gives scores"):
        precision_recall([document], [document])
