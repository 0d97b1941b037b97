"""Kernels that find the places of documents that have the words of some candidates, by a trie of their hashes."""

from __future__ import annotations

import numpy as np

from spanloom.kernels import kernel
from spanloom.kernels_hashing import START, enter, find_number, mix


@kernel
def prefixes(words, documents, begins, ends, table, shift, keys, numbers):
    """Number the prefixes of some stretches of words, those of each document by themselves.

    Args:
        words: (T,) hashes.
        documents, begins, ends: (L,) of each stretch, its document and its tokens.
        table, shift: an empty hash table with room for all prefixes.
        keys: output: the hash of each prefix.
        numbers: (L,) output: the number of each stretch among the prefixes.

    Returns:
        How many prefixes there are.
    """
    count = 0
    for stretch in range(len(begins)):
        state = mix(START, np.uint64(documents[stretch]))
        for token in range(begins[stretch], ends[stretch]):
            state = mix(state, words[token])
            number = find_number(table, shift, keys, state)
            if number < 0:
                keys[count] = state
                number = count
                count += 1
                enter(table, shift, state, count)
            numbers[stretch] = number
    return count


@kernel
def places(words, documents, offsets, table, shift, keys, ptr, found):
    """Find the places that have the words of a numbered stretch.

    Args:
        words: (T,) hashes.
        documents: (N,) of each sentence.
        offsets: (N + 1,) first token of each sentence.
        table, shift, keys: from `prefixes`.
        ptr: (prefixes + 1,) offsets of what is said of each prefix.
        found: (M, 4) output: sentence, first token and end in it, and the number of what is said.

    Returns:
        How many there are; those beyond M are only counted.
    """
    count = 0
    for n in range(len(offsets) - 1):
        start = mix(START, np.uint64(documents[n]))
        for begin in range(offsets[n], offsets[n + 1]):
            state = start
            for token in range(begin, offsets[n + 1]):
                state = mix(state, words[token])
                number = find_number(table, shift, keys, state)
                if number < 0:
                    break
                for i in range(ptr[number], ptr[number + 1]):
                    if count < len(found):
                        found[count, 0] = n
                        found[count, 1], found[count, 2] = begin - offsets[n], token + 1 - offsets[n]
                        found[count, 3] = i
                    count += 1
    return count
