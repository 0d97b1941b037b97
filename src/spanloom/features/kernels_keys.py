"""Kernel that evaluates all templates at all tokens."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel, kernel_only
from spanloom.kernels_hashing import ONE, ZERO, mix

CONJUNCTION, BAG, SET = 0, 1, 2


class FeatureProgram(NamedTuple):
    """Compiled templates, which the kernel evaluates.

    Args:
        kinds: (features,) int64: conjunction, bag or set.
        seeds: (features,) the hash of the feature's text.
        places: (features + 1,) offsets of each feature's distances.
        distances: of a conjunction, from a token's row in the buffer to each value; of a bag its column and the first
            and last offset; of a set the distance and the offset.
        before, after: (margin,) boundary values, in text order.
        members: the hashes of the members of a set, by bit.
    """

    kinds: NDArray[np.int64]
    seeds: NDArray[np.uint64]
    places: NDArray[np.int64]
    distances: NDArray[np.int64]
    before: NDArray[np.uint64]
    after: NDArray[np.uint64]
    members: NDArray[np.uint64]


class Columns(NamedTuple):
    """Values of C columns at T tokens: ``values[base[c] + ids[source[c], t] * stride[c]]``; 0 if absent.

    Args:
        ids: (sources, T) the number of a token's value: source 0 is the word, each other one a column of the data.
        values: the tables of all sources, each (distinct values, columns of this source), flat, one after the other.
        source, base, stride: (C,) int64.
        sizes: (sources,) int64: distinct values.
    """

    ids: NDArray[np.int32]
    values: NDArray[np.uint64]
    source: NDArray[np.int64]
    base: NDArray[np.int64]
    stride: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def of(self, columns: NDArray[np.int64]) -> Columns:
        """Return some of the columns."""
        return self._replace(source=self.source[columns], base=self.base[columns], stride=self.stride[columns])


@kernel
def evaluate(program, table, sentences, keys, offsets):
    """Compute the keys of all tokens of some sentences, in the order of the features; absent ones are left out.

    The values of a sentence are first laid out token by token in a buffer, with a margin of boundary values on both
    sides; a place of a template is then one fixed distance in the buffer, and no place needs a test of bounds.

    Args:
        program: the templates.
        table: the values of the columns.
        sentences: (N + 1,) int64, first tokens of the sentences, and the end of the last.
        keys: uint64, output, large enough for ``program.most`` keys a token.
        offsets: (T + 1,) int64, output, T = ``sentences[-1] - sentences[0]``.

    Returns:
        The number of keys.
    """
    width = len(table.source)
    margin = len(program.before)
    longest = 0
    for s in range(len(sentences) - 1):
        longest = max(longest, sentences[s + 1] - sentences[s])
    buffer = np.empty((longest + 2 * margin) * width, np.uint64)
    for m in range(margin):
        for c in range(width):
            buffer[m * width + c] = program.before[m]
    n = np.int64(0)
    offsets[0] = 0
    base = sentences[0]
    for s in range(len(sentences) - 1):
        first = sentences[s]
        length = sentences[s + 1] - first
        for t in range(length):
            row = (margin + t) * width
            for c in range(width):
                buffer[row + c] = table.values[table.base[c] + table.ids[table.source[c], first + t] * table.stride[c]]
        for m in range(margin):
            row = (margin + length + m) * width
            for c in range(width):
                buffer[row + c] = program.after[m]
        for t in range(length):
            row = (margin + t) * width
            for f in range(len(program.kinds)):
                state = program.seeds[f]
                begin = program.places[f]
                if program.kinds[f] == CONJUNCTION:
                    present = True
                    for k in range(begin, program.places[f + 1]):
                        value = buffer[row + program.distances[k]]
                        present &= value != ZERO
                        state = mix(state, value)
                    keys[n] = state
                    n += present
                elif program.kinds[f] == BAG:
                    n = _bag(
                        buffer,
                        width,
                        margin,
                        length,
                        t,
                        program.distances[begin],
                        program.distances[begin + 1],
                        program.distances[begin + 2],
                        state,
                        keys,
                        n,
                    )
                else:
                    value = buffer[row + program.distances[begin]]
                    if 0 <= t + program.distances[begin + 1] < length:
                        for bit in range(len(program.members)):
                            keys[n] = mix(state, program.members[bit])
                            n += np.int64((value >> np.uint64(bit)) & ONE)
                    else:
                        keys[n] = mix(state, value)
                        n += 1
            offsets[first - base + t + 1] = n
    return n


@kernel_only
def _bag(buffer, width, margin, length, t, column, first, last, state, keys, n):
    """Add the keys of the distinct values of a column at the tokens around t; return the number of keys."""
    low = (margin + max(0, t + first)) * width + column
    high = (margin + min(length - 1, t + last)) * width + column
    here = (margin + t) * width + column
    for p in range(low, high + 1, width):
        value = buffer[p]
        fresh = (p != here) & (value != ZERO)
        for q in range(low, p, width):
            fresh &= (buffer[q] != value) | (q == here)
        keys[n] = mix(state, value)
        n += fresh
    return n
