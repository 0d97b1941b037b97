"""Kernel that conjoins named values to the keys of features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel
from spanloom.kernels_hashing import ONE, ZERO, mix


class ConjunctionProgram(NamedTuple):
    """F compiled templates.

    Args:
        seeds: (F,) the hash of each template.
        ptr: (F + 1,) where the atoms of each begin.
        row: the row of each atom's values.
        most: what each atom's value counts at most.
    """

    seeds: NDArray[np.uint64]
    ptr: NDArray[np.int64]
    row: NDArray[np.int64]
    most: NDArray[np.uint64]


@kernel
def conjoin(program, values, ids, offsets):
    """Compute the keys of N things, in the order of the templates; one that lacks a value lacks the feature.

    Args:
        program: the templates.
        values: (V, N) uint64; 0 says that a thing has none.
        ids: uint64, output, with room for F N keys.
        offsets: (N + 1,) int64, output.

    Returns:
        The number of keys.
    """
    n = np.int64(0)
    offsets[0] = 0
    for thing in range(values.shape[1]):
        for f in range(len(program.seeds)):
            state, there = program.seeds[f], True
            for i in range(program.ptr[f], program.ptr[f + 1]):
                value = values[program.row[i], thing]
                if value == ZERO:
                    there = False
                    break
                state = mix(state, min(value, program.most[i]))
            if there:
                ids[n] = state if state != ZERO else ONE
                n += 1
        offsets[thing + 1] = n
    return n
