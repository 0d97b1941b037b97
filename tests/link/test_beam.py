"""The beam against the list of all derivations."""

from __future__ import annotations

import numpy as np
import pytest
from link_cases import Case, derivations, listed, make_case, score, trace, weigh
from link_cases import search as search_once

from spanloom.link.learning import FREE


def search(case: Case, table: object, forced: np.ndarray | None = None) -> tuple[list[int], list[int], float]:
    length = len(case.local)
    work = case.search.workspace(case.data)
    free = np.full(length, FREE, np.int32) if forced is None else forced
    none = np.full(length, -2, np.int32)
    steps, _ = search_once(
        case.search.model(table), case.data, work, 0, case.local, case.search.width, free, none, none, False, 0.0
    )
    labels, choices = np.empty(steps, np.int32), np.empty(steps, np.int32)
    trace(work, steps, labels, choices)
    return labels.tolist(), choices.tolist(), float(work.scores[steps % 2, 0])


@pytest.mark.parametrize(
    ("length", "types", "seed"), [(1, 1, 0), (3, 1, 1), (4, 1, 2), (4, 1, 3), (3, 2, 4), (3, 2, 5)]
)
def test_unlimited_beam_is_exhaustive_search(length: int, types: int, seed: int) -> None:
    case = make_case(length, types, seed, width=5000)
    table = weigh(case, seed)
    every = {
        (tuple(labels), tuple(choices)): score(case, table, labels, choices)
        for labels, choices in derivations(length, types, case.search.longest, case.data)
    }
    best = max(every, key=every.__getitem__)
    labels, choices, value = search(case, table)
    assert value == pytest.approx(every[best], abs=1e-3)
    assert every[tuple(labels), tuple(choices)] == pytest.approx(every[best], abs=1e-3)


def test_a_narrow_beam_never_beats_a_wide_one() -> None:
    for seed in range(5):
        values = []
        for width in (1, 2, 16, 5000):
            case = make_case(4, 1, seed, width)
            values.append(search(case, weigh(case, seed))[2])
        assert max(values) == pytest.approx(values[-1], abs=1e-4)


def test_score_of_the_path_is_the_sum_of_its_features() -> None:
    case = make_case(4, 2, 11, width=4)
    table = weigh(case, 3)
    labels, choices, value = search(case, table)
    assert score(case, table, labels, choices) == pytest.approx(value, abs=1e-3)


def test_prescribed_labels_are_kept() -> None:
    case = make_case(4, 1, 7, width=16)
    forced = np.array([1, 2, 0, 1], np.int32)
    labels, choices, _ = search(case, weigh(case, 7), forced)
    assert labels[:4] == forced.tolist()
    assert [choice >= 0 for choice in choices] == [False, False, True, False, True]


def test_of_equal_derivations_the_first_wins() -> None:
    case = make_case(3, 1, 2, width=16)
    case.local[:] = 0
    empty = weigh(case, 0)
    empty.weights[:] = 0  # type: ignore[attr-defined]
    assert search(case, empty)[0] == [0, 0, 0, 0]  # SEPN is offered before SEPY


def test_no_entity_is_longer_than_allowed() -> None:
    case = make_case(5, 1, 3, width=16, longest=2)
    case.local[:, 2] += 100  # I
    labels, _, _ = search(case, weigh(case, 1))
    assert "122" not in "".join(map(str, labels))


def test_features_from_a_later_action_on_are_a_part_of_all() -> None:
    case = make_case(4, 1, 5, width=16)
    table = weigh(case, 5)
    labels, choices, _ = search(case, table)
    whole, tail = listed(case, table, labels, choices)[0], listed(case, table, labels, choices, begin=2)[0]
    assert whole[len(whole) - len(tail) :] == tail
