"""Rows that are taken out of a feature index, and what of it stands in the file of a compact model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.errors import ModelError
from spanloom.features import FeatureIndex, Keys, build_index
from spanloom.features.packing import PASSED, smallest
from spanloom.modelfile import ModelPart


def index_of(count: int, seed: int, crowded: bool) -> tuple[FeatureIndex, np.ndarray]:
    """An index of random keys, some of which share rows; crowded, they begin with the same bits and stand in a row."""
    draw = np.random.default_rng(seed)
    ids = draw.integers(1, 2**64, count, dtype=np.uint64)
    if crowded:
        ids = (ids & np.uint64((1 << 40) - 1)) | (np.uint64(0xFFFFFF) << np.uint64(40))
    ids = np.unique(ids)
    offsets = np.unique(np.concatenate([[0, len(ids)], draw.integers(0, len(ids) + 1, len(ids) // 2)]))
    return build_index(Keys(ids, offsets.astype(np.int64))).index, ids


@given(st.integers(1, 300), st.integers(0, 2**32), st.booleans(), st.floats(0, 1))
def test_rows_that_stay_are_found_and_others_are_not(count: int, seed: int, crowded: bool, share: float) -> None:
    index, ids = index_of(count, seed, crowded)
    before = index.rows(ids)
    stays = np.random.default_rng(seed + 1).random(len(index)) < share
    small = index.keeping(stays)
    wanted = np.where(stays[before], np.cumsum(stays)[before] - 1, -1)
    assert small.rows(ids).tolist() == wanted.tolist()
    assert small.group_sizes.tolist() == index.group_sizes[stays].tolist()
    again = FeatureIndex.from_part(small.to_part())
    assert again.table.tolist() == small.table.tolist()
    assert again.group_sizes.tolist() == small.group_sizes.tolist()
    assert again.keyed == small.keyed
    twice = again.keeping(np.ones(len(again), bool))
    assert twice.rows(ids).tolist() == wanted.tolist()


def test_a_table_without_an_empty_slot_at_its_begin_and_end() -> None:
    """Keys that went on at the begin of the table after its end keep their places."""
    table = np.zeros(8, np.uint64)
    for slot, tag, row in ((7, 5, 1), (0, 6, 2), (1, 7, 3)):  # all of them would like to be in slot 7
        table[slot] = (tag << 32) | row
    index = FeatureIndex(table, np.ones(3, np.float32))
    ids = (np.uint64(7) << np.uint64(61)) | np.array([5, 6, 7], np.uint64)
    assert index.rows(ids).tolist() == [0, 1, 2]
    small = index.keeping(np.array([False, False, True]))
    assert small.rows(ids).tolist() == [-1, -1, 0]
    assert [slot for slot in range(8) if small.table[slot] == PASSED] == [0, 7]


def test_nothing_left() -> None:
    index, ids = index_of(50, 0, False)
    empty = index.keeping(np.zeros(len(index), bool))
    assert not empty.table.any()
    assert len(FeatureIndex.from_part(empty.to_part())) == 0
    assert (empty.rows(ids) == -1).all()


def damaged(**arrays: np.ndarray) -> ModelPart:
    index, _ = index_of(50, 1, False)
    part = index.keeping(np.arange(len(index)) % 2 == 0).to_part()
    return ModelPart(arrays={**part.arrays, **arrays})


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"tags": np.zeros(5, np.uint64)}, "tags"),
        ({"tags": np.zeros(5, np.uint32)}, "rows"),
        ({"rows": np.zeros(25, np.int64)}, "rows"),
        ({"rows": np.full((1, 25), 0, np.uint8)}, "rows"),
        ({"group_sizes": np.zeros(25, np.uint8)}, "group sizes"),
        ({"group_sizes": np.ones(2, np.uint8)}, "row"),
        ({"group_sizes": np.ones(25, np.float32)}, "group_sizes"),
        ({"slots": np.zeros(32, np.uint8)}, "keys"),
        ({"slots": np.full(32, 255, np.uint8)}, "keys"),
        ({"slots": np.zeros(0, np.uint8)}, "keys"),
        ({"keys": np.zeros(6, np.int8)}, "keys"),
        ({"keys": np.full(5, 255, np.uint8)}, "keys"),
    ],
)
def test_hostile_arrays(changed: dict[str, np.ndarray], told: str) -> None:
    with pytest.raises(ModelError, match=told):
        FeatureIndex.from_part(damaged(**changed))


@given(st.lists(st.integers(0, 2**32 - 1)))
def test_smallest_holds_what_it_is_given(values: list[int]) -> None:
    found = smallest(np.array(values, np.int64))
    assert found.tolist() == values
    assert found.dtype.itemsize == (1 if max(values, default=0) < 256 else 2 if max(values) < 65536 else 4)
