"""Keys of features from columns of small numbers, for whole arrays at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UInt64 = NDArray[np.uint64]
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_START = np.uint64(0x243F6A8885A308D3)
_HALF = np.uint64(32)


def mixed(template: int, *columns: NDArray[np.generic]) -> UInt64:
    """(N,) the key of a template with the values of some columns at each of N rows; never 0.

    >>> a = np.array([1, 2, 1])
    >>> keys = mixed(7, a)
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    state = np.full(len(columns[0]), _START, np.uint64)
    for column in (np.full(len(state), template), *columns):
        value = column.astype(np.int64).view(np.uint64) if column.dtype != np.uint64 else column
        state = (state ^ value) * _MULTIPLIER
        state ^= state >> _HALF
    state[state == 0] = 1
    return state


def buckets(values: NDArray[np.generic], edges: tuple[float, ...]) -> NDArray[np.int64]:
    """(N,) how many of the ascending edges each value reaches.

    >>> buckets(np.array([0, 1, 5]), (1, 2)).tolist()
    [0, 1, 2]
    """
    return np.searchsorted(np.array(edges), values, side="right").astype(np.int64)
