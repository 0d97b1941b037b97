"""Kernel that evaluates all templates at all tokens."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel, kernel_only_no_refcount
from spanloom.kernels_hashing import ONE, ZERO, mix

CONJUNCTION, BAG, SET = 0, 1, 2


class FeatureProgram(NamedTuple):
    """Compiled templates, which the kernel evaluates.

    Args:
        kinds: (features,) int64: conjunction, bag or set.
        seeds: (features,) the hash of the feature's text.
        places: (features + 1,) offsets of each feature's places.
        columns: the column of each place.
        shifts: where each place stands, in tokens from the current one; a bag has two, its first and its last.
        before, after: (margin,) boundary values, in text order.
        members: the hashes of the members of a set, by bit.
    """

    kinds: NDArray[np.int64]
    seeds: NDArray[np.uint64]
    places: NDArray[np.int64]
    columns: NDArray[np.int64]
    shifts: NDArray[np.int64]
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

    The values of a sentence are first laid out column by column, with a margin of boundary values on both sides, so
    that no place needs a test of bounds. A conjunction is then evaluated at all tokens before the next one: each of its
    places stands at a fixed distance, so the inner loops go through neighbours in memory.

    Args:
        program: the templates.
        table: the values of the columns.
        sentences: (N + 1,) int64, first tokens of the sentences, and the end of the last.
        keys: uint64, output, large enough for ``program.most`` keys a token.
        offsets: (T + 1,) int64, output, T = ``sentences[-1] - sentences[0]``.

    Returns:
        The number of keys.
    """
    width, count = len(table.source), len(program.kinds)
    margin = len(program.before)
    longest = 0
    for s in range(len(sentences) - 1):
        longest = max(longest, sentences[s + 1] - sentences[s])
    values = np.empty((width, longest + 2 * margin), np.uint64)
    states, present = np.empty((count, longest), np.uint64), np.empty((count, longest), np.uint8)
    for c in range(width):
        for m in range(margin):
            values[c, m] = program.before[m]
    n = np.int64(0)
    offsets[0] = 0
    for s in range(len(sentences) - 1):
        first = sentences[s]
        length = sentences[s + 1] - first
        for c in range(width):
            row, ids, base, stride = values[c], table.ids[table.source[c]], table.base[c], table.stride[c]
            for t in range(length):
                row[margin + t] = table.values[base + ids[first + t] * stride]
            for m in range(margin):
                row[margin + length + m] = program.after[m]
        for f in range(count):
            state, there, seed = states[f], present[f], program.seeds[f]
            for t in range(length):
                state[t] = seed
                there[t] = 1
            for k in range(program.places[f], program.places[f + 1] if program.kinds[f] == CONJUNCTION else 0):
                row, at = values[program.columns[k]], margin + program.shifts[k]
                for t in range(length):
                    value = row[at + t]
                    there[t] &= value != ZERO
                    state[t] = mix(state[t], value)
        for t in range(length):
            for f in range(count):
                if program.kinds[f] == CONJUNCTION:
                    keys[n] = states[f, t]
                    n += present[f, t]
                elif program.kinds[f] == BAG:
                    n = _bag(program, f, values, margin, length, t, keys, n)
                else:
                    n = _set(program, f, values, margin, length, t, keys, n)
            offsets[first - sentences[0] + t + 1] = n
    return n


@kernel_only_no_refcount
def _set(program, f, values, margin, length, t, keys, n):
    """Add the keys of the members of a set; return the number of keys."""
    state, place = program.seeds[f], program.places[f]
    at = t + program.shifts[place]
    value = values[program.columns[place], margin + at]
    if not 0 <= at < length:
        keys[n] = mix(state, value)
        return n + 1
    for bit in range(len(program.members)):
        keys[n] = mix(state, program.members[bit])
        n += np.int64((value >> np.uint64(bit)) & ONE)
    return n


@kernel_only_no_refcount
def _bag(program, f, values, margin, length, t, keys, n):
    """Add the keys of the distinct values of a column at the tokens around t; return the number of keys."""
    place = program.places[f]
    row = values[program.columns[place]]
    low = margin + max(0, t + program.shifts[place])
    high = margin + min(length - 1, t + program.shifts[place + 1])
    for p in range(low, high + 1):
        value = row[p]
        fresh = (p != margin + t) & (value != ZERO)
        for q in range(low, p):
            fresh &= (row[q] != value) | (q == margin + t)
        keys[n] = mix(program.seeds[f], value)
        n += fresh
    return n
