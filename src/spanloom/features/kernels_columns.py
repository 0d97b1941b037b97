"""Kernels over code points: the hashed values of the columns of distinct words.

The definitions are the plain functions of `spanloom.features.columns`; names here follow them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spanloom.hashing import hash_text
from spanloom.kernels import kernel, kernel_only
from spanloom.kernels_hashing import START, ZERO, finish, mix

TRUE = np.uint64(hash_text("True"))
FALSE = np.uint64(hash_text("False"))
KINDS = 128  # what is less is a kind

WORD, LOW, NORM, KIND = 0, 1, 2, 3  # rows of CharacterTable.maps
UPPER, TITLE, LOWER, DIGIT, ALNUM, MARK = 1, 2, 4, 8, 16, 32  # bits of CharacterTable.flags
ROMAN = np.array([[67, 68, 77], [88, 76, 67], [73, 86, 88]])  # CDM, XLC, IVX: one, five and ten of each power of ten


class CharacterTable(NamedTuple):
    """Properties of each code point up to the highest of the batch.

    Args:
        maps: (4, code points) uint32: itself, its lower case, the same with digits as 0, and its kind in a word shape
            (below 128).
        flags: (code points,) uint8: bits of UPPER, TITLE, LOWER, DIGIT, ALNUM, MARK.
    """

    maps: np.ndarray
    flags: np.ndarray


@kernel_only
def _hash(codes, start, end, maps, row):
    """Return the hash of the string that row ``row`` of the maps makes of ``codes[start:end]``."""
    state = START
    for k in range(start, end):
        state = mix(state, np.uint64(maps[row, codes[k]]))
    return finish(state)


@kernel_only
def _shape(codes, start, end, maps):
    if end - start <= 4:
        return _hash(codes, start, end, maps, KIND)
    state = START
    for k in range(start, start + 2):
        state = mix(state, np.uint64(maps[KIND, codes[k]]))
    last = -1
    while last < KINDS:  # the next larger one of those in between, until there is none; there are few
        kind = KINDS
        for k in range(start + 2, end - 2):
            other = np.int64(maps[KIND, codes[k]])
            if last < other < kind:
                kind = other
        if kind < KINDS:
            state = mix(state, np.uint64(kind))
        last = kind
    for k in range(end - 2, end):
        state = mix(state, np.uint64(maps[KIND, codes[k]]))
    return finish(state)


@kernel_only
def _short_shape(codes, start, end, maps):
    state = START
    for k in range(start, end):
        kind = maps[KIND, codes[k]]
        if k == start or kind != maps[KIND, codes[k - 1]]:
            state = mix(state, np.uint64(kind))
    return finish(state)


@kernel_only
def _is_title(codes, start, end, flags):
    cased = inside = False  # a letter with case so far; the character before is one
    for k in range(start, end):
        capital = (flags[codes[k]] & (UPPER | TITLE)) != 0
        small = (flags[codes[k]] & LOWER) != 0
        if (capital and inside) or (small and not inside):
            return False
        inside = capital or small
        cased |= inside
    return cased


@kernel_only
def _is_roman(codes, start, end):
    """Return whether the word is a well-formed numeral: thousands, then hundreds, tens and ones."""
    k = start
    while k < end and codes[k] == ROMAN[0, 2]:
        k += 1
    for power in range(3):
        one, five, ten = ROMAN[power, 0], ROMAN[power, 1], ROMAN[power, 2]
        if k + 1 < end and codes[k] == one and (codes[k + 1] == ten or codes[k + 1] == five):
            k += 2
            continue
        if k < end and codes[k] == five:
            k += 1
        most = min(end, k + 3)
        while k < most and codes[k] == one:
            k += 1
    return end > start and k == end


@kernel_only
def _is_url(codes, start, end, maps):
    w, dot, colon, slash = 119, 46, 58, 47
    found = end - start >= 4 and codes[start + 3] == dot  # www.
    for k in range(start, min(end, start + 3)):
        found &= maps[LOW, codes[k]] == w
    for k in range(start, end - 2):
        found |= codes[k] == colon and codes[k + 1] == slash and codes[k + 2] == slash
    return found


@kernel_only
def _orthography(codes, start, end, maps, flags, every, some):
    """Return the flags that hold, as bits in the order of ``columns.ORTHOGRAPHY``."""
    dot = hyphen = False
    for k in range(start, end):
        dot |= codes[k] == 46
        hyphen |= codes[k] == 45
    length = end - start
    capital = length > 0 and (flags[codes[start]] & UPPER) != 0
    bits = 1 * ((every & UPPER) != 0)
    bits |= 2 * ((every & DIGIT) != 0)
    bits |= 4 * ((every & ALNUM) != 0)
    bits |= 8 * ((some & DIGIT) != 0)
    bits |= 16 * dot
    bits |= 32 * hyphen
    bits |= 64 * capital
    bits |= 128 * (length == 2 and capital and codes[start + 1] == 46)
    bits |= 256 * ((every & MARK) != 0)
    bits |= 512 * _is_roman(codes, start, end)
    bits |= 1024 * (length == 1)
    bits |= 2048 * _is_url(codes, start, end, maps)
    return np.uint64(bits)


@kernel_only
def _value(codes, start, end, code, size, maps, flags, every, some):
    if code == 3:
        return _shape(codes, start, end, maps)
    if code == 4:
        return _short_shape(codes, start, end, maps)
    if code == 8:
        return _orthography(codes, start, end, maps, flags, every, some)
    if 5 <= code <= 7:
        holds = (every & DIGIT) != 0
        if code == 5:
            holds = (some & UPPER) != 0 and (some & (LOWER | TITLE)) == 0
        elif code == 6:
            holds = _is_title(codes, start, end, flags)
        return TRUE if holds else FALSE
    if code == 10 and end - start < abs(size):
        return ZERO
    if size > 0:
        end = min(end, start + size)
    elif size < 0:
        start = max(start, end + size)
    return _hash(codes, start, end, maps, code if code < 3 else WORD)


@kernel
def word_columns(codes, starts, ends, specifications, characters, values):
    """Compute the columns of each distinct word.

    Args:
        codes, starts, ends: as in `spanloom.kernels_hashing.intern`, one entry a distinct word.
        specifications: (columns, 2) int64: code and parameter, as `columns.word_column` gives them.
        characters: `CharacterTable` of all code points that occur.
        values: (words, columns) uint64, output: the hash of the value; 0 if absent; for ``orth`` bits.
    """
    maps, flags = characters
    for i in range(len(starts)):
        start, end = starts[i], ends[i]
        every = np.uint64(255 if end > start else 0)
        some = ZERO
        for k in range(start, end):
            every &= np.uint64(flags[codes[k]])
            some |= np.uint64(flags[codes[k]])
        for c in range(len(specifications)):
            code, size = specifications[c, 0], specifications[c, 1]
            values[i, c] = _value(codes, start, end, code, size, maps, flags, every, some)
