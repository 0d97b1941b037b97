"""Weights by 64-bit key: a hash table with open addressing, in arrays.

A key that is not there weighs nothing; keys enter when they are first updated. Beside each weight w stands u, the sum
of its changes, each times the number of steps before it: the mean of w after each of c steps is w - u / c.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel, kernel_only_no_refcount

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)
ZERO = np.uint64(0)
ONE = np.uint64(1)


class Table(NamedTuple):
    """Keys and their weights.

    Args:
        keys: uint64, a power of two of them; 0 where empty.
        weights: float32.
        sums: float64, u; empty where nothing is learned.
        used: (1,) int64, how many slots are taken.
    """

    keys: NDArray[np.uint64]
    weights: NDArray[np.float32]
    sums: NDArray[np.float64]
    used: NDArray[np.int64]


@partial(kernel, signature="uint64(uint64, uint64)")
def mix(state, value):
    """One step of the hash that features use (see `spanloom.features.columns.mix`)."""
    state = (state ^ value) * MULTIPLIER
    return state ^ (state >> HALF)


@kernel_only_no_refcount
def find(keys, key):
    """The slot that holds a key, or the empty one where it belongs."""
    mask = np.uint64(len(keys) - 1)
    slot = ((key ^ (key >> HALF)) * MULTIPLIER >> np.uint64(20)) & mask
    while keys[slot] != ZERO and keys[slot] != key:
        slot = (slot + ONE) & mask
    return slot


@kernel_only_no_refcount
def weight(table, key):
    """The weight of a key; 0 if it is unknown, and of key 0, which means that a feature is absent."""
    if key == ZERO:
        return np.float32(0)
    slot = find(table.keys, key)
    return table.weights[slot] if table.keys[slot] == key else np.float32(0)


@kernel_only_no_refcount
def change(table, key, delta, step):
    """Add to the weight of a key, which may be new; there must be room."""
    if key == ZERO:
        return
    slot = find(table.keys, key)
    if table.keys[slot] == ZERO:
        table.keys[slot] = key
        table.used[0] += 1
    table.weights[slot] += np.float32(delta)
    table.sums[slot] += delta * step


@kernel
def enter(table, keys, weights, sums):
    """Enter keys that are not there; there must be room."""
    for i in range(len(keys)):
        if keys[i] == ZERO:
            continue
        slot = find(table.keys, keys[i])
        if table.keys[slot] == ZERO:
            table.keys[slot] = keys[i]
            table.used[0] += 1
        table.weights[slot] = weights[i]
        if len(table.sums):
            table.sums[slot] = sums[i]
