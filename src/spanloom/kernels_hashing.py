"""Kernels of the one family of hashes, and of the hash table with open addressing that all look-ups share.

A table is an array of 64-bit words, 0 where empty: the key's lower half above, and a number counted from 1 below. The
slot is the key's topmost bits, so 32 bits and the slot are compared, and a table of a hundred megabytes keeps only one
word a key. Keys are looked up in batches: the first loop of a batch only touches the slots, independently of one
another, so that the processor waits for many cache misses at a time instead of one after the other.
"""

from __future__ import annotations

import numpy as np

from spanloom.kernels import kernel, kernel_only, kernel_only_no_refcount

# Odd constants with half their bits set; the second is splitmix64's (Steele, Lea & Flood 2014).
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
FINISHER = np.uint64(0xBF58476D1CE4E5B9)
START = np.uint64(0x243F6A8885A308D3)
BATCH = 32
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ZERO = np.uint64(0)
ONE = np.uint64(1)


@kernel_only_no_refcount
def mix(state, value):
    """One step of the hash (see `spanloom.hashing.mix`); both are uint64."""
    state = (state ^ value) * MULTIPLIER
    return state ^ (state >> HALF)


@kernel_only
def finish(state):
    """The hash of a string from that of its characters; never 0, which means that a value is absent."""
    state = mix(state, FINISHER)
    return state if state != ZERO else ONE


@kernel_only_no_refcount
def find(table, shift, key):
    """The slot of a key, or the empty one where it belongs; ``shift`` is 64 minus the binary logarithm of the size."""
    mask = np.uint64(len(table) - 1)
    slot = key >> shift
    tag = key & LOW
    word = table[slot]
    while word != ZERO and word >> HALF != tag:
        slot = (slot + ONE) & mask
        word = table[slot]
    return slot


@kernel_only_no_refcount
def enter(table, shift, key, number):
    """Enter a key that is not there with its number, counted from 1."""
    mask = np.uint64(len(table) - 1)
    slot = key >> shift
    while table[slot] != ZERO:
        slot = (slot + ONE) & mask
    table[slot] = (key << HALF) | np.uint64(number)


@kernel_only_no_refcount
def find_number(table, shift, keys, key):
    """The number of a key by its 64 bits, -1 if it is not there; ``keys`` are those of the numbers."""
    mask = np.uint64(len(table) - 1)
    slot = find(table, shift, key)
    while table[slot] != ZERO:
        number = np.int64(table[slot] & LOW) - 1
        if keys[number] == key:
            return number
        slot = (slot + ONE) & mask
    return np.int64(-1)


@kernel
def intern(codes, starts, ends, ids, table, shift, hashes, first):
    """Number the distinct strings in the order of their first occurrence.

    Args:
        codes: code points (uint32); string i is ``codes[starts[i]:ends[i]]`` (int64).
        ids: (T,) int32, output: the number of each string.
        table: uint64, zeros, a power of two of them, more than the strings; ``shift`` as in `find`.
        hashes, first: (T,) uint64 and int64, output: of each distinct string its hash and its first occurrence.

    Returns:
        The number of distinct strings.
    """
    n = 0
    for i in range(len(starts)):
        state = START
        for k in range(starts[i], ends[i]):
            state = mix(state, np.uint64(codes[k]))
        state = finish(state)
        ids[i] = find_number(table, shift, hashes, state)
        if ids[i] < 0:
            hashes[n] = state
            first[n] = i
            ids[i] = n
            n += 1
            enter(table, shift, state, n)
    return n


@kernel
def find_numbers(wanted, table, shift, keys, numbers):
    """Find the number of each of some keys, -1 where there is none; other arguments as for `find_number`."""
    for i in range(len(wanted)):
        numbers[i] = find_number(table, shift, keys, wanted[i])


@kernel
def number(keys, begin, table, shift, distinct, found, limit, numbers):
    """Number distinct keys in the order of their first occurrence, until the table is full enough.

    Args:
        keys: uint64; read from ``begin``.
        table: uint64, a power of two; ``shift`` as in `find`.
        distinct: uint64, output: the key of each number; ``found`` of them are known.
        limit: stop when there are more distinct keys than this; ``distinct`` has room for ``BATCH`` more.
        numbers: int32, output: the number of each key.

    Returns:
        How far it came, and how many distinct keys are known.
    """
    touched = np.empty(BATCH, np.uint64)
    while begin < len(keys) and found <= limit:
        end = min(begin + BATCH, len(keys))
        for i in range(begin, end):
            touched[i - begin] = table[keys[i] >> shift]
        for i in range(begin, end):
            slot = find(table, shift, keys[i])
            if table[slot] == ZERO:
                distinct[found] = keys[i]
                found += 1
                table[slot] = (keys[i] << HALF) | np.uint64(found)
            numbers[i] = np.int64(table[slot] & LOW) - 1
        begin = end
    return begin, found


@kernel
def fill(keys, rows, table, shift):
    """Enter distinct keys into an empty table, each with its row; those with a negative row are left out."""
    touched = np.empty(BATCH, np.uint64)
    for begin in range(0, len(keys), BATCH):
        end = min(begin + BATCH, len(keys))
        for i in range(begin, end):
            touched[i - begin] = table[keys[i] >> shift]
        for i in range(begin, end):
            if rows[i] >= 0:
                enter(table, shift, keys[i], rows[i] + 1)
