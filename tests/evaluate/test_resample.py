"""Bootstrap intervals and the paired test."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document, Mention
from spanloom.errors import UsageError
from spanloom.evaluate import evaluate, paired_test
from spanloom.evaluate.measures import rates
from spanloom.evaluate.rows import randomization

TEXT = "x" * 10


def documents(hits: list[tuple[int, int]], gold: int = 3) -> list[Document]:
    """Documents with so many right and wrong mentions each."""
    return [
        Document(
            TEXT, id=str(i), mentions=[Mention("a", [(k, k + 1)]) for k in (*range(right), *range(9, 9 - wrong, -1))]
        )
        for i, (right, wrong) in enumerate(hits)
    ]


GOLD = documents([(3, 0)] * 5)
A = documents([(3, 0), (2, 1), (3, 1), (1, 0), (2, 0)])
B = documents([(1, 0), (2, 1), (1, 1), (2, 0), (0, 0)])


def f1(counts: list[tuple[int, int]]) -> float:
    right = sum(r for r, _ in counts)
    return 2 * right / (sum(r + w for r, w in counts) + 3 * len(counts))


def test_randomization_is_the_full_enumeration() -> None:
    a = [(3, 0), (2, 1), (3, 1), (1, 0), (2, 0)]
    b = [(1, 0), (2, 1), (1, 1), (2, 0), (0, 0)]
    observed = abs(f1(a) - f1(b))
    extreme = 0
    for flips in product([False, True], repeat=5):
        swapped = [(y, x) if flip else (x, y) for x, y, flip in zip(a, b, flips, strict=True)]
        extreme += abs(f1([x for x, _ in swapped]) - f1([y for _, y in swapped])) >= observed - 1e-12
    test = paired_test(GOLD, A, B)
    assert test.enumerated
    assert test.p_value == extreme / 32
    assert test.difference == pytest.approx(f1(a) - f1(b))


def test_sign_test() -> None:
    """One prediction better in each of n units: only the two extreme exchanges of 2^n are as large, p = 2 / 2^n."""
    for n in (1, 4, 9):
        gold = documents([(1, 0)] * n)
        assert paired_test(gold, gold, documents([(0, 0)] * n)).p_value == 2 / 2**n


def test_sampling_comes_near_the_enumeration() -> None:
    """Twelve units, each of which differs, so that all 4,096 exchanges are tried or a sample of them."""
    right = np.array([[3, 1], [2, 3], [1, 0], [4, 2], [0, 1], [2, 1], [3, 2], [1, 2], [4, 1], [2, 0], [1, 3], [3, 1]])
    a, b = (np.column_stack([column, column + 1, column, np.full(12, 4)]).astype(np.float64) for column in right.T)
    exact, enumerated = randomization(a, b, 4096, 0)
    sampled, sampled_enumerated = randomization(a, b, 4095, 0)
    assert (enumerated, sampled_enumerated) == (True, False)
    assert sampled == pytest.approx(exact, abs=0.02)
    assert 0.05 < exact < 0.5


def test_equal_predictions_do_not_differ() -> None:
    test = paired_test(GOLD, A, A)
    assert (test.difference, test.p_value, test.interval) == (0.0, 1.0, (0.0, 0.0))


def test_sides_change_only_the_sign() -> None:
    one, other = paired_test(GOLD, A, B, samples=500), paired_test(GOLD, B, A, samples=500)
    assert one.difference == -other.difference
    assert one.p_value == other.p_value
    assert one.interval.low == pytest.approx(-other.interval.high)


def test_p_is_never_zero_when_sampled() -> None:
    gold = documents([(1, 0)] * 40)
    test = paired_test(gold, gold, documents([(0, 0)] * 40), samples=99)
    assert test.p_value == 1 / 100
    assert test.to_text() == (
        "F1 100.00 and 0.00, difference +100.00\n"
        "95 % interval of the difference: +100.00 to +100.00\n"
        "p = 0.0100 (approximate randomization, 99 samples over 40 sentences)\n"
    )
    assert list(json.loads(json.dumps(test.to_dict()))) == [
        *("a", "b", "difference", "interval", "p_value", "enumerated", "samples", "units", "unit")
    ]


def test_no_samples() -> None:
    with pytest.raises(UsageError, match="samples is 0, expected a whole number from 1"):
        paired_test(GOLD, A, B, samples=0)
    with pytest.raises(UsageError, match="there are no gold documents"):
        paired_test([], [], [])


def test_intervals_follow_the_seed() -> None:
    one = evaluate(GOLD, A, seed=1)
    assert one == evaluate(GOLD, A, seed=1)
    assert one != evaluate(GOLD, A, seed=2)


def test_interval_of_a_known_proportion() -> None:
    """Precision of n documents with one mention each is a binomial proportion: its interval is near p +- 1.96 s."""
    n, right = 400, 300
    predicted = documents([(1, 0)] * right + [(0, 1)] * (n - right))
    interval = evaluate(documents([(1, 0)] * n), predicted, bootstrap=4000).overall.intervals
    assert interval is not None
    half = 1.96 * np.sqrt(0.75 * 0.25 / n)
    assert interval.precision == pytest.approx((0.75 - half, 0.75 + half), abs=0.006)


def test_samples_of_many_sentences_take_linear_time(assert_linear) -> None:
    def prepare(sentences):
        gold, predicted = documents([(3, 0)] * sentences), documents([(2, 1)] * sentences)
        return lambda: evaluate(gold, predicted, bootstrap=1000)

    assert_linear(prepare, 1000)


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 2), min_size=1, max_size=8), st.integers(0, 9))
def test_intervals_are_ordered_fractions(hits: list[tuple[int, int]], seed: int) -> None:
    report = evaluate(documents([(5, 0)] * len(hits)), documents(hits), bootstrap=20, seed=seed)
    for row in (report.overall, report.partial, *report.types.values(), *report.structures.values()):
        assert row.intervals is not None
        assert all(0 <= interval.low <= interval.high <= 1 for interval in row.intervals)


def test_rates() -> None:
    assert rates(np.array([[1.0, 2.0, 1.0, 4.0], [0.0, 0.0, 0.0, 0.0]])).tolist() == [
        [0.5, 0.25, pytest.approx(1 / 3)],
        [0.0, 0.0, 0.0],
    ]
