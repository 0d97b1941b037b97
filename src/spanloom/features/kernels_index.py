"""Kernels of the feature index: the merging of identical columns, and rows of keys."""

from __future__ import annotations

import numpy as np

from spanloom.kernels import kernel, kernel_only
from spanloom.kernels_hashing import BATCH, FINISHER, LOW, MULTIPLIER, ONE, ZERO, find

CHUNK = 64  # keys that are looked up at a time
THREE, SEVEN = np.uint64(3), np.uint64(7)
SECOND = np.uint64(0x94D049BB133111EB)


@kernel_only
def _random(state):
    """Return the next random number of splitmix64 (Steele, Lea & Flood 2014)."""
    state = (state ^ (state >> np.uint64(30))) * FINISHER
    state = (state ^ (state >> np.uint64(27))) * SECOND
    return state ^ (state >> np.uint64(31))


@kernel
def signatures(numbers, offsets, begin, end, signature):
    """Add to each distinct key the number of its tokens, and two sums of random numbers of these tokens.

    Two keys with equal counts and sums occur at the same tokens: for different sets of tokens, sums of random 64-bit
    numbers agree with probability 2**-128.

    Args:
        numbers: int32, the keys' numbers; those of token t are ``numbers[offsets[t]:offsets[t + 1]]``.
        begin, end: of the tokens that are looked at.
        signature: (distinct, 3) uint64, added to: count and sums.
    """
    for t in range(begin, end):
        one = _random(np.uint64(2 * t + 1) * MULTIPLIER)
        two = _random(np.uint64(2 * t + 2) * MULTIPLIER)
        for i in range(offsets[t], offsets[t + 1]):
            row = numbers[i]
            signature[row, 0] += ONE
            signature[row, 1] += one
            signature[row, 2] += two


@kernel
def group(signature, min_count, table, groups, first, counts, sizes):
    """Group the keys of equal signature, in the order of their first occurrence.

    Args:
        signature: (distinct, 3), from `signatures`.
        min_count: keys of fewer tokens get group -1.
        table: int32, zeros, a power of two, more than the distinct keys.
        groups: (distinct,) int32, output.
        first, counts, sizes: (distinct,) int32, output: of each group its first key, its tokens, its keys.

    Returns:
        The number of groups.
    """
    mask = len(table) - 1
    found = 0
    touched = np.empty(BATCH, np.int32)
    for begin in range(0, len(groups), BATCH):
        end = min(begin + BATCH, len(groups))
        for i in range(begin, end):
            touched[i - begin] = table[np.int64(signature[i, 1] >> ONE) & mask]
        for i in range(begin, end):
            if signature[i, 0] < min_count:
                groups[i] = -1
                continue
            slot = np.int64(signature[i, 1] >> ONE) & mask
            while table[slot] != 0:
                other = first[table[slot] - 1]
                if (
                    signature[other, 1] == signature[i, 1]
                    and signature[other, 2] == signature[i, 2]
                    and signature[other, 0] == signature[i, 0]
                ):
                    break
                slot = (slot + 1) & mask
            if table[slot] == 0:
                first[found] = i
                counts[found] = signature[i, 0]
                sizes[found] = 0
                found += 1
                table[slot] = found
            groups[i] = table[slot] - 1
            sizes[groups[i]] += 1
    return found


@kernel
def rows_of_tokens(numbers, offsets, rows, last, begin, end, out_offsets, first):
    """Replace, in place, the keys of tokens ``begin`` to ``end`` by their rows, each row once.

    Args:
        numbers: int32, the keys' numbers, of token t at ``offsets[t]:offsets[t + 1]``; output: the rows.
        rows: (distinct,) int32, each key's row, or -1.
        last: (F,) int32, scratch, filled with -1 before the first token.
        begin, end: of the tokens, which come in their order.
        out_offsets: (T + 1,) int64, output, 0 at first; that of ``begin`` says where entries go on.
        first: (F,) int32, output: the first token of each row.
    """
    n = out_offsets[begin]
    for t in range(begin, end):
        for i in range(offsets[t], offsets[t + 1]):
            row = rows[numbers[i]]
            if row >= 0 and last[row] != t:
                if last[row] < 0:
                    first[row] = t
                last[row] = t
                numbers[n] = row
                n += 1
        out_offsets[t + 1] = n


@kernel
def lookup(keys, offsets, table, shift, bits, bits_shift, indices, out_offsets):
    """Look up the rows of keys; unknown keys are left out.

    A map of bits, which the processor's caches hold, leaves out most of them before the table is touched at all.

    Args:
        keys, offsets: of the tokens to look up; ``keys[offsets[t]:offsets[t + 1]]``.
        table, shift: as `spanloom.kernels_hashing.fill` left them.
        bits, bits_shift: uint8, the map: the topmost bits of a key's lower half are the place of its bit.
        indices: int32, output, as many as keys.
        out_offsets: (T + 1,) int64, output.

    Returns:
        The number of keys that are known.
    """
    kept, touched = np.empty(CHUNK, np.int64), np.empty(CHUNK, np.uint64)
    n = 0
    t = 0
    for begin in range(offsets[0], offsets[-1], CHUNK):
        likely = 0
        for i in range(begin, min(begin + CHUNK, offsets[-1])):
            place = (keys[i] & LOW) >> bits_shift
            kept[likely] = i
            likely += np.int64((np.uint64(bits[place >> THREE]) >> (place & SEVEN)) & ONE)
        for j in range(likely):
            touched[j] = table[keys[kept[j]] >> shift]
        for j in range(likely):
            i = kept[j]
            while offsets[t] <= i:
                out_offsets[t] = n
                t += 1
            word = table[find(table, shift, keys[i])]
            if word != ZERO:
                indices[n] = np.int64(word & LOW) - 1
                n += 1
    out_offsets[t:] = n
    return n
