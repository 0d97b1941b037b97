"""Feature indices of compact models: rows that are taken out, and smaller numbers in the model file."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import ModelError
from spanloom.hashing import HALF, LOW, Int64, UInt64
from spanloom.modelfile import Array, ModelPart

PASSED: Final = np.uint64(1)
"""The word of a slot whose key was removed, behind which a look-up may have to continue: key 0 with the first row.

One in 2^32 unknown keys that pass such a slot is mistaken for it, as often as for any other slot.
"""
_SIZES: Final = (np.uint8, np.uint16, np.uint32)


def smallest(values: Array) -> Array:
    """Return whole numbers from 0 as the smallest unsigned type that holds them.

    >>> smallest(np.array([0, 255])).dtype, smallest(np.array([256])).dtype
    (dtype('uint8'), dtype('uint16'))
    """
    most = int(values.max(initial=0))
    return values.astype(next(size for size in _SIZES if most <= np.iinfo(size).max))


def whole_numbers(part: ModelPart, name: str, length: int | None) -> Int64:
    """Return an array that `smallest` made.

    Raises:
        ModelError: it is missing, or of another type or length.
    """
    found = part.arrays.get(name)
    dtype = np.uint32 if found is None or found.dtype.type not in _SIZES else found.dtype
    return part.array(name, dtype, length).astype(np.int64)


def table_of_rows(table: UInt64, rows: NDArray[np.bool_]) -> UInt64:
    """Return the table of an index with some of its rows, renumbered in their order.

    A slot does not hold the preferred place of its key, so a key that stays keeps its place, and those that are taken
    out before it, up to the first empty slot, become `PASSED`.

    Args:
        table: of an index: it has an empty slot.
        rows: (F,) which rows stay.
    """
    numbers = np.cumsum(rows).astype(np.uint64)  # counted from 1
    row = (table & LOW).astype(np.int64) - 1
    stays = (table != 0) & (table != PASSED)
    stays[stays] = rows[row[stays]]
    begin = int(np.argmin(table != 0))  # an empty slot: no run of keys goes across it
    turned, kept = np.roll(table, -begin), np.roll(stays, -begin)
    run = np.cumsum(turned == 0)
    last = np.zeros(len(table) + 1, np.int64)
    places = np.flatnonzero(kept)
    last[run[places]] = places  # of several, the last one
    passed = (turned != 0) & ~kept & (np.arange(len(table)) < last[run])
    made = np.zeros_like(table)
    made[stays] = (table[stays] & ~LOW) | numbers[row[stays]]
    made[np.roll(passed, begin)] = PASSED
    return made


def packed_index(table: UInt64, group_sizes: NDArray[np.float32]) -> ModelPart:
    """Return an index as a part: slots with a word, which of these have a key, and of each key its half and row."""
    filled = table != 0
    words = table[filled]
    keys = words != PASSED
    rows = (words[keys] & LOW).astype(np.int64) - 1
    arrays = {
        "slots": np.packbits(filled), "keys": np.packbits(keys), "tags": (words[keys] >> HALF).astype(np.uint32),
        "rows": smallest(rows), "group_sizes": smallest(group_sizes),
    }  # fmt: skip
    return ModelPart(arrays=arrays)


def unpacked_index(part: ModelPart) -> tuple[UInt64, NDArray[np.float32]]:
    """Return the table and the group sizes that `packed_index` was given.

    Raises:
        ModelError: arrays that do not belong together, or rows that there are not.
    """
    tags = part.array("tags", np.uint32, None)
    rows, sizes = whole_numbers(part, "rows", len(tags)), whole_numbers(part, "group_sizes", None)
    if rows.max(initial=-1) >= len(sizes):
        raise ModelError(f"{part.name}rows: row {rows.max()} of {len(sizes)}; the model is damaged")
    filled = np.unpackbits(part.array("slots", np.uint8, None)).view(np.bool_)
    count = int(filled.sum())
    keys = np.unpackbits(part.array("keys", np.uint8, (count + 7) // 8)).view(np.bool_)
    if keys[count:].any() or keys.sum() != len(tags):
        raise ModelError(f"feature table has {keys.sum()} keys for {len(tags)} tags; the model is damaged")
    words = np.full(count, PASSED)
    words[keys[:count]] = (tags.astype(np.uint64) << HALF) | (rows + 1).astype(np.uint64)
    table = np.zeros(len(filled), np.uint64)
    table[filled] = words
    return table, sizes.astype(np.float32)
