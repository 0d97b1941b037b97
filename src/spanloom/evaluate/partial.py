"""Partial matches and kinds of error.

Mentions that do not match exactly are paired in this order, one to one:

0. *head* error, where heads are compared: same type and spans, another head.
1. *boundary* error: same type, at least one character shared. As many pairs as possible (a maximum matching, so that
   the count depends neither on the order of the mentions nor on which side is called gold).
2. *type* error: same spans, another type.
3. Remaining gold mentions are *missed*, remaining predicted ones are *spurious*.

The partial score is that of MUC: an exact match counts 1, a boundary error 1/2, for precision and for recall. It is not
the measure *partial* of SemEval-2013 task 9, which does not look at types. Where heads are compared, a head error
counts 1/2, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Mention
from spanloom.evaluate.compare import ComparedSide, MentionComparison, flatten, shared
from spanloom.sparse import largest_matching

Ints = NDArray[np.int64]


class Errors(NamedTuple):
    """The errors of a prediction, as rows of the two sides of a `MentionComparison`.

    Args:
        head: (A, 2) gold and predicted mention of each head error.
        boundary: (B, 2) gold and predicted mention of each boundary error.
        type: (C, 2) gold and predicted mention of each type error.
        missed: (D,) gold mentions.
        spurious: (E,) predicted mentions.
    """

    head: Ints
    boundary: Ints
    type: Ints
    missed: Ints
    spurious: Ints


def errors(comparison: MentionComparison) -> Errors:
    """Sort the mentions that do not match exactly into kinds of error."""
    gold, predicted = comparison.gold, comparison.predicted
    missed, spurious = _rest(gold, np.flatnonzero(~gold.hit)), _rest(predicted, np.flatnonzero(~predicted.hit))
    heads = _pair_equal(gold, missed, predicted, spurious, lambda mention: mention.key)
    missed, spurious = _without(missed, heads[:, 0]), _without(spurious, heads[:, 1])
    columns, rows = _edges(gold, missed, predicted, spurious)
    match = largest_matching(rows, columns, (len(missed), len(spurious)))
    paired = np.flatnonzero(match >= 0)
    boundary = np.stack([missed[paired], spurious[match[paired]]], axis=1)
    missed, spurious = _without(missed, boundary[:, 0]), _without(spurious, boundary[:, 1])
    types = _pair_equal(gold, missed, predicted, spurious, lambda mention: mention.spans)
    return Errors(heads, boundary, types, _without(missed, types[:, 0]), _without(spurious, types[:, 1]))


def _rest(side: ComparedSide, rows: Ints) -> Ints:
    """Return the rows without a hit, in an order that depends on their content alone."""
    key = [
        (int(side.document[i]), side.mentions[i].spans, side.mentions[i].type, side.mentions[i].head or (), int(i))
        for i in rows.tolist()
    ]
    return np.array([item[-1] for item in sorted(key)], np.int64)


def _without(rows: Ints, used: Ints) -> Ints:
    return rows[~np.isin(rows, used)]


def _place(side: ComparedSide, row: int) -> tuple[int, str]:
    return int(side.document[row]), side.mentions[row].type


def _edges(gold: ComparedSide, missed: Ints, predicted: ComparedSide, spurious: Ints) -> tuple[Ints, Ints]:
    """Return the possible boundary errors as positions in ``missed`` and in ``spurious``."""
    candidates: dict[tuple[int, str], list[int]] = defaultdict(list)
    for j, row in enumerate(spurious.tolist()):
        candidates[_place(predicted, row)].append(j)
    flat = {
        place: (np.array(there), *flatten([predicted.mentions[spurious[j]] for j in there]))
        for place, there in candidates.items()
    }
    columns, rows = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for i, row in enumerate(missed.tolist()):
        place = _place(gold, row)
        if place in flat:
            there, spans, first = flat[place]
            columns.append(there[shared(spans, first, gold.mentions[row].spans) > 0])
            rows.append(np.full(len(columns[-1]), i))
    return np.concatenate(columns), np.concatenate(rows)


def _pair_equal(
    gold: ComparedSide, missed: Ints, predicted: ComparedSide, spurious: Ints, part: Callable[[Mention], Hashable]
) -> Ints:
    """Pair mentions of which a part is equal, one to one."""
    waiting: dict[tuple[int, Hashable], list[int]] = defaultdict(list)
    for row in spurious.tolist():
        waiting[int(predicted.document[row]), part(predicted.mentions[row])].append(row)
    pairs = []
    for row in missed.tolist():
        rows = waiting.get((int(gold.document[row]), part(gold.mentions[row])))
        if rows:
            pairs.append((row, rows.pop(0)))
    return np.array(pairs, np.int64).reshape(-1, 2)
