"""The table of values by key against a plain dictionary, and what it refuses."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.errors import ModelError
from spanloom.vocabulary.key_table import KeyTable

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 4)), max_size=30)


def build(pairs: list[tuple[int, int]], most: int | None = None) -> KeyTable:
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return KeyTable.build(table[:, 0].astype(np.uint64), table[:, 1].astype(np.int32), most)


@given(PAIRS, st.integers(1, 3) | st.none())
def test_it_holds_what_a_dictionary_holds(pairs: list[tuple[int, int]], most: int | None) -> None:
    wanted: dict[int, Counter[int]] = {}
    for key, value in pairs:
        if key:
            wanted.setdefault(key, Counter())[value] += 1
    wanted = {key: own for key, own in wanted.items() if most is None or len(own) <= most}
    table = build(pairs, most)
    queries = np.array([3, 9, 0, *range(7), 3], np.uint64)
    places = table.find(queries)
    assert [int(table.keys[place]) if place >= 0 else None for place in places] == [
        key if key in wanted else None for key in queries.tolist()
    ]
    ptr, values = table.gather(places)
    assert [values[a:b].tolist() for a, b in pairwise(ptr)] == [sorted(wanted.get(key, ())) for key in queries.tolist()]
    assert table.counts.tolist() == [wanted[key][value] for key in sorted(wanted) for value in sorted(wanted[key])]


@pytest.mark.parametrize(
    "change",
    [
        {"ptr": np.array([0, 5])},
        {"ptr": np.array([0])},
        {"keys": np.array([9], np.int64)},
        {"keys": np.array([9, 9], np.uint64), "ptr": np.array([0, 1, 1])},
        {"counts": np.zeros(3, np.int32)},
        {"values": np.array([1.0], np.float32)},
    ],
)
def test_damaged_tables_are_refused(change: dict[str, np.ndarray]) -> None:
    table = build([(4, 1)])
    arrays = {name: getattr(table, name) for name in ("keys", "ptr", "values", "counts")}
    assert KeyTable(**arrays).find(np.array([4], np.uint64)).tolist() == [0]
    with pytest.raises(ModelError, match="damaged"):
        KeyTable(**{**arrays, **change})


def test_pairs_may_come_with_counts() -> None:
    keys, values = np.array([7, 0, 5, 7, 7], np.uint64), np.array([1, 4, 2, 1, 3], np.int32)
    table = KeyTable.build(keys, values, counts=np.array([2, 9, 1, 5, 1], np.int32))
    assert table.keys.tolist() == [5, 7] and table.values.tolist() == [2, 1, 3] and table.counts.tolist() == [1, 7, 1]
