"""Kernels of the features that depend on one value near the token: their keys, and which tokens have them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel, kernel_only_no_refcount
from spanloom.kernels_hashing import ONE, ZERO, mix


class SharedProgram(NamedTuple):
    """Compiled features of G groups; all of a group read the same value.

    Args:
        source: (G,) int64, of the value: the word is 0, each other one a column of the data.
        first, last: (G,) int64, where the value stands, in tokens from the current one. Groups of one place have twice
            the same number, but those that ``bag`` says have each value between the two, the current token left out.
        bag: (G,) bool.
        features: (G + 1,) int64, offsets of each group's features.
        seeds: (features,) the hash of the feature's text.
        sets: (features,) bool: whether the value is a set, whose members are features.
        places: (features + 1,) int64, offsets of each feature's columns.
        columns: int64, numbers of columns.
        before, after: (reach,) boundary values, in text order.
        members: the hashes of the members of a set, by bit.
    """

    source: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    bag: NDArray[np.bool_]
    features: NDArray[np.int64]
    seeds: NDArray[np.uint64]
    sets: NDArray[np.bool_]
    places: NDArray[np.int64]
    columns: NDArray[np.int64]
    before: NDArray[np.uint64]
    after: NDArray[np.uint64]
    members: NDArray[np.uint64]


@kernel_only_no_refcount
def _value(table, column, number):
    """The value of a column of a source's value of some number."""
    return table.values[table.base[column] + number * table.stride[column]]


@kernel
def value_keys(program, table, starts, keys, offsets):
    """Compute the keys of all values of all groups, in the order of the features; absent ones are left out.

    A group has a row for each distinct value of its source. Behind these a group of one place has a row for each
    distance from the sentence at which that place can be.

    Args:
        program: the groups.
        table: the values of the columns.
        starts: (G + 1,) int64, first row of each group.
        keys: uint64, output, large enough.
        offsets: (rows + 1,) int64, output.

    Returns:
        The number of keys.
    """
    n = np.int64(0)
    offsets[0] = 0
    for g in range(len(program.source)):
        size = table.sizes[program.source[g]]
        for number in range(starts[g + 1] - starts[g]):
            inside = number < size
            outside = ZERO
            if not inside:
                distance = number - size
                outside = program.after[distance] if program.first[g] > 0 else program.before[-1 - distance]
            for f in range(program.features[g], program.features[g + 1]):
                state = program.seeds[f]
                begin, end = program.places[f], program.places[f + 1]
                if inside and program.sets[f]:
                    value = _value(table, program.columns[begin], number)
                    for bit in range(len(program.members)):
                        keys[n] = mix(state, program.members[bit])
                        n += np.int64((value >> np.uint64(bit)) & ONE)
                    continue
                present = True
                for k in range(begin, end):
                    value = _value(table, program.columns[k], number) if inside else outside
                    present &= value != ZERO
                    state = mix(state, value)
                keys[n] = state
                n += present
            offsets[starts[g] + number + 1] = n
    return n


@kernel
def refer(program, table, starts, sentences, rows, offsets):
    """Tell which rows of `value_keys` the tokens of some sentences have, group by group.

    Args:
        program, table, starts: as for `value_keys`.
        sentences: (N + 1,) int64, first tokens of the sentences, and the end of the last.
        rows: int32, output, large enough.
        offsets: (T + 1,) int64, output, T = ``sentences[-1] - sentences[0]``.

    Returns:
        The number of rows.
    """
    longest = 0
    for s in range(len(sentences) - 1):
        longest = max(longest, sentences[s + 1] - sentences[s])
    earlier = np.empty((len(program.source), longest), np.int64)
    n = np.int64(0)
    offsets[0] = 0
    for s in range(len(sentences) - 1):
        first, end = sentences[s], sentences[s + 1]
        for g in range(len(program.source)):
            if program.bag[g]:
                _find_earlier(program, table, g, first, end, earlier[g])
        for t in range(first, end):
            for g in range(len(program.source)):
                source = program.source[g]
                if program.bag[g]:
                    n = _bag(program, table, starts, g, first, end, t, earlier[g], rows, n)
                    continue
                at = t + program.first[g]
                if at < first:
                    number = table.sizes[source] + first - at - 1
                elif at >= end:
                    number = table.sizes[source] + at - end
                else:
                    number = np.int64(table.ids[source, at])
                rows[n] = starts[g] + number
                n += 1
            offsets[t - sentences[0] + 1] = n
    return n


@kernel_only_no_refcount
def _find_earlier(program, table, g, first, end, earlier):
    """Find, within the reach of a bag's window, the last token before each one that has the same value; -1 if none."""
    source, column = program.source[g], program.columns[program.places[program.features[g]]]
    reach = program.last[g] - program.first[g]
    for t in range(first, end):
        value = _value(table, column, table.ids[source, t])
        q = t - 1
        least = max(first, t - reach)
        while q >= least and _value(table, column, table.ids[source, q]) != value:
            q -= 1
        earlier[t - first] = q if q >= least else -1


@kernel_only_no_refcount
def _bag(program, table, starts, g, first, end, t, earlier, rows, n):
    """Add the rows of the distinct values around t; return the number of rows.

    A value is new where its last token before is outside the window. The current token does not count, so one that was
    last there is new if that was new itself.
    """
    source, column = program.source[g], program.columns[program.places[program.features[g]]]
    low = max(first, t + program.first[g])
    for p in range(low, min(end - 1, t + program.last[g]) + 1):
        q = earlier[p - first]
        if q == t:
            q = earlier[t - first]
        number = table.ids[source, p]
        if p != t and q < low and _value(table, column, number) != ZERO:
            rows[n] = starts[g] + number
            n += 1
    return n
