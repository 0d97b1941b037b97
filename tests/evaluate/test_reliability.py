"""Calibration."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.evaluate import calibration


def documents(*scores: tuple[float, bool]) -> tuple[list[Document], list[Document]]:
    mentions = [Mention("a", [(i, i + 1)], score=score) for i, (score, _) in enumerate(scores)]
    gold = [mention for mention, (_, right) in zip(mentions, scores, strict=True) if right]
    text = "x" * len(scores)
    return [Document(text, id="d", mentions=gold)], [Document(text, id="d", mentions=mentions)]


def test_counted_by_hand() -> None:
    found = calibration(*documents((0.9, True), (0.8, False), (0.3, False), (0.1, False)), bins=2)
    assert found.count == 4
    assert found.score == pytest.approx(0.525)
    assert found.accuracy == 0.25
    # bins: {0.3, 0.1}, none right, mean 0.2; {0.9, 0.8}, half right, mean 0.85
    assert found.error == pytest.approx(0.5 * 0.2 + 0.5 * 0.35)
    assert found.brier == pytest.approx((0.1**2 + 0.8**2 + 0.3**2 + 0.1**2) / 4)
    assert found.bins[1] == (0.5, 1.0, 2, pytest.approx(0.85), 0.5)


@pytest.mark.parametrize(("score", "place"), [(0.0, 0), (0.1, 1), (0.3, 3), (0.7, 7), (0.999, 9), (1.0, 9)])
def test_a_score_on_an_edge_is_in_the_upper_bin(score: float, place: int) -> None:
    found = calibration(*documents((score, True)))
    assert [entry.mentions for entry in found.bins].index(1) == place


def test_text() -> None:
    found = calibration(*documents((0.9, True), (0.8, False), (0.3, False)), bins=2)
    assert found.to_text() == (
        "expected calibration error 33.33 %, Brier score 0.2467\n"
        "3 mentions, mean score 66.67 %, right 33.33 %\n"
        "\n"
        "      score  mentions    mean   right  0      right = #, mean score = |       1\n"
        "0.00 - 0.50         1   30.00    0.00              |\n"
        "0.50 - 1.00         2   85.00   50.00  ####################              |\n"
    )
    json.dumps(found.to_dict())


def test_repeated_mentions_count_once_with_the_highest_score() -> None:
    gold, predicted = documents((0.5, True))
    predicted[0].mentions.insert(0, predicted[0].mentions[0].replace(score=0.25))
    assert calibration(gold, predicted).score == 0.5
    assert calibration(gold, predicted).count == 1


@pytest.mark.parametrize("score", [None, -0.1, 1.1, float("nan")])
def test_scores_must_be_probabilities(score: float | None) -> None:
    document = Document("x", id="d7", mentions=[Mention("a", [(0, 1)], score=score)])
    with pytest.raises(DataError, match=f"document 'd7': the predicted mention 'a' at 0 has the score {score}"):
        calibration([document], [document])


def test_no_mentions_and_no_bins() -> None:
    assert calibration(*documents()).error == 0.0
    assert calibration(*documents()).to_text()
    with pytest.raises(UsageError, match="bins is 0, expected a whole number from 1"):
        calibration(*documents(), bins=0)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=20), st.integers(1, 12))
def test_laws(scores: list[tuple[float, bool]], bins: int) -> None:
    found = calibration(*documents(*scores), bins=bins)
    assert sum(entry.mentions for entry in found.bins) == len(scores)
    assert 0 <= found.error <= 1
    assert abs(found.score - found.accuracy) <= found.error + 1e-9
    assert all(len(line) <= 80 for line in found.to_text().splitlines())
