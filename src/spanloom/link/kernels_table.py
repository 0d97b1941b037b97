"""Weights by 64-bit key, in arrays.

A key that is not there weighs nothing; keys enter when they are first updated. Beside each weight w stands u, the sum
of its changes, each times the number of steps before it: the mean of w after each of c steps is w - u / c.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel_only_no_refcount
from spanloom.kernels_hashing import HALF, LOW, ZERO, find


class WeightTable(NamedTuple):
    """Keys and their weights, in the order in which they entered.

    Args:
        slots, shift: the number of each key (see `spanloom.kernels_hashing`).
        keys: uint64, distinct, with room for more where something is learned, 0 there.
        weights: float32.
        sums: float64, u; empty where nothing is learned.
        used: (1,) int64, how many keys there are.
    """

    slots: NDArray[np.uint64]
    shift: np.uint64
    keys: NDArray[np.uint64]
    weights: NDArray[np.float32]
    sums: NDArray[np.float64]
    used: NDArray[np.int64]


@kernel_only_no_refcount
def weight(table, key):
    """The weight of a key; 0 if it is unknown, and of key 0, which means that a feature is absent."""
    if key == ZERO:
        return np.float32(0)
    word = table.slots[find(table.slots, table.shift, key)]
    return table.weights[np.int64(word & LOW) - 1] if word != ZERO else np.float32(0)


@kernel_only_no_refcount
def change(table, key, delta, step):
    """Add to the weight of a key, which may be new; there must be room."""
    if key == ZERO:
        return
    slot = find(table.slots, table.shift, key)
    if table.slots[slot] == ZERO:
        table.keys[table.used[0]] = key
        table.used[0] += 1
        table.slots[slot] = (key << HALF) | np.uint64(table.used[0])
    number = np.int64(table.slots[slot] & LOW) - 1
    table.weights[number] += np.float32(delta)
    table.sums[number] += delta * step
