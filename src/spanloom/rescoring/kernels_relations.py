"""Kernels of what candidates are to one another, and of bins of log-odds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel, kernel_only_no_refcount
from spanloom.kernels_hashing import enter, find_number

TWIN, OUTER, INNER, PARTLY, PART, WHOLE, HULL, SIBLING = 0, 1, 7, 13, 15, 17, 19, 21
"""The numbers of relations; from `OUTER` on each has another one behind it, for other types."""
RELATED = 23
BINS = 16  # on each side of 0


class Candidates(NamedTuple):
    """C candidates, by sentence and first token.

    Args:
        sentence, kind: (C,).
        ptr: (C + 1,) where the ranges of each begin.
        first, end: tokens of each range.
        odds: (C,) log-odds.
        given: (C,) whether it is only given, and so nothing to others.
    """

    sentence: NDArray[np.int64]
    kind: NDArray[np.int64]
    ptr: NDArray[np.int64]
    first: NDArray[np.int64]
    end: NDArray[np.int64]
    odds: NDArray[np.float64]
    given: NDArray[np.bool_]


@kernel_only_no_refcount
def _shared(one, other, table):
    """Count the ranges of a candidate that are ranges of another."""
    count = 0
    for i in range(table.ptr[one], table.ptr[one + 1]):
        for j in range(table.ptr[other], table.ptr[other + 1]):
            count += table.first[i] == table.first[j] and table.end[i] == table.end[j]
    return count


@kernel_only_no_refcount
def _note(one, other, table, found):
    """Note what the other is to one, of two candidates that overlap."""
    ptr = table.ptr
    first, end = table.first[ptr[one]], table.end[ptr[one + 1] - 1]
    first_other, end_other = table.first[ptr[other]], table.end[ptr[other + 1] - 1]
    parts, parts_other = ptr[one + 1] - ptr[one], ptr[other + 1] - ptr[other]
    stranger = np.int64(table.kind[one] != table.kind[other])
    edge = 0 if first == first_other else 1 if end == end_other else 2
    if first == first_other and end == end_other:
        relation = HULL + stranger
    elif first_other <= first and end <= end_other:
        relation = OUTER + 2 * edge + stranger
    elif first <= first_other and end_other <= end:
        relation = INNER + 2 * edge + stranger
    else:
        relation = PARTLY + stranger
    shared = 0
    if relation >= HULL or parts > 1 or parts_other > 1:
        shared = _shared(one, other, table)
    if relation >= HULL and shared == parts and shared == parts_other:
        relation = TWIN
    odds = table.odds[other]
    found[relation, one] = max(found[relation, one], odds)
    if shared > 0 and relation != TWIN and (parts > 1 or parts_other > 1):
        kind = SIBLING if parts > 1 and parts_other > 1 else PART if parts > 1 else WHOLE
        found[kind + stranger, one] = max(found[kind + stranger, one], odds)


@kernel
def strongest(table, following, found):
    """Compute the largest log-odds of the candidates that are something to each.

    Args:
        table: C candidates.
        following: how many that begin next each is compared with, at most.
        found: (`RELATED`, C), output.
    """
    found[:] = -np.inf
    count = len(table.kind)
    for one in range(count):
        end = table.end[table.ptr[one + 1] - 1]
        for other in range(one + 1, min(one + 1 + following, count)):
            if table.sentence[other] != table.sentence[one] or table.first[table.ptr[other]] >= end:
                break
            if not table.given[other]:
                _note(one, other, table, found)
            if not table.given[one]:
                _note(other, one, table, found)


@kernel_only_no_refcount
def _bin(odds, width):
    if odds == -np.inf:
        return np.int64(0)
    return np.int64(min(np.floor(max(odds, -BINS * width) / width), BINS - 1.0) + BINS + 1)


@kernel
def bins(odds, width, found):
    """Compute the bin of each of some log-odds, from 1; 0 for -inf."""
    for i in range(len(odds)):
        found[i] = _bin(odds[i], width)


@kernel
def bins_less(odds, others, width, found):
    """Compute the bin of the difference to each of some others; 0 where the other is -inf."""
    for i in range(len(odds)):
        found[i] = np.int64(0) if others[i] == -np.inf else _bin(odds[i] - others[i], width)


@kernel
def best_but(group, odds, label, counts, table, shift, keys, found):
    """Compute for each candidate the largest log-odds in its group among those with another label; -inf for none.

    Args:
        group: (C,) hashes.
        odds, label: (C,).
        counts: (C,) whose log-odds count.
        table, shift: an empty hash table with room for all groups.
        keys: (C,) scratch.
        found: (C,) output.
    """
    best, second = np.full(len(group), -np.inf), np.full(len(group), -np.inf)
    usual = np.empty(len(group), np.int64)  # the label of the best
    groups = 0
    for i in range(len(group)):
        if not counts[i]:
            continue
        g = find_number(table, shift, keys, group[i])
        if g < 0:
            keys[groups], usual[groups] = group[i], label[i]
            g = groups
            groups += 1
            enter(table, shift, group[i], groups)
        if label[i] != usual[g]:
            second[g] = max(second[g], min(odds[i], best[g]))
        if odds[i] > best[g]:
            best[g], usual[g] = odds[i], label[i]
    for i in range(len(group)):
        g = find_number(table, shift, keys, group[i])
        found[i] = -np.inf if g < 0 else second[g] if label[i] == usual[g] else best[g]
