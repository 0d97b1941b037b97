"""Which mentions may overlap, learned from training, and the best set of candidates among which none may not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Floats, Ints
from spanloom.modelfile import ModelPart
from spanloom.rescoring.relations import CROSSING, SAME, Pairs, joined, overlapping
from spanloom.structures import MentionTable

__all__ = ["OverlapRules", "best_set"]

_EXPECTED = 3.0  # pairs; so many and none seen is chance in one of twenty cases
_MOST_EXACT, _MOST_STEPS = 64, 100_000  # candidates that hang together, and steps of their search
Mask = NDArray[np.bool_]


class OverlapRules:
    """Which pairs of types may overlap, and how.

    Args:
        allowed: (3, K, K) whether mentions of two types may have the same extent, nest (the first contains the second),
            or cross; by `SAME`, `NESTED` and `CROSSING`. The extent is that from the first to the last token.

    >>> rows = [row for n in range(20) for row in ((n, 0, ((0, 3),)), (n, 1, ((1, 2),)))]
    >>> OverlapRules.learn(MentionTable.build(rows), 2).allowed[1].tolist()  # NESTED
    [[False, True], [False, False]]
    """

    def __init__(self, allowed: Mask) -> None:
        self.allowed = allowed

    @classmethod
    def free(cls, types: int) -> OverlapRules:
        """Return that all may."""
        return cls(np.ones((3, types, types), np.bool_))

    @classmethod
    def learn(cls, gold: MentionTable, types: int) -> OverlapRules:
        """Return what training shows, and what it could not be expected to show.

        A pair of types that is not seen is forbidden where chance would have given three: as many pairs as overlap in
        this way, dealt to types by how frequent they are. Where no two mentions overlap in a way, no types may.

        Args:
            gold: training mentions.
            types: K.
        """
        first, end = gold.first[gold.ptr[:-1]], gold.end[gold.ptr[1:] - 1]
        gold = gold.take(np.lexsort((-end, first, gold.sentence)))
        seen = np.zeros((3, types, types), np.int64)
        for pairs in overlapping(gold):
            np.add.at(seen, (pairs.way, gold.kind[pairs.one], gold.kind[pairs.other]), 1)
        for way in (SAME, CROSSING):  # of whose two mentions neither is the first
            seen[way] += seen[way].T
        share = np.bincount(gold.kind, minlength=types) / max(1, len(gold))
        total = seen.sum((1, 2), keepdims=True)
        unlikely = total * np.outer(share, share) < _EXPECTED
        return cls((seen > 0) | ((total > 0) & unlikely))

    def conflicts(self, table: MentionTable) -> Pairs:
        """Return the pairs of mentions that may not stand together.

        Args:
            table: by sentence and first token.
        """
        return joined(self._forbidden(pairs, table.kind) for pairs in overlapping(table))

    def _forbidden(self, pairs: Pairs, kind: Ints) -> Pairs:
        kept = ~self.allowed[pairs.way, kind[pairs.one], kind[pairs.other]]
        return Pairs(*(column[kept] for column in pairs))

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file."""
        return ModelPart(arrays={"allowed": self.allowed.astype(np.uint8)})

    @classmethod
    def from_part(cls, part: ModelPart, types: int) -> OverlapRules:
        """Return what `to_part` gave."""
        return cls(part.array("allowed", np.uint8, 3, types, types) > 0)


def best_set(weights: Floats, conflicts: Pairs) -> Mask:
    """Return the set of largest total weight without a pair in conflict, (C,).

    What hangs together by conflicts is searched exactly, by branch and bound, if it is at most 64 candidates and takes
    at most 100,000 steps. Else it is the best set that was found, or the one that takes the heaviest first. Weights of
    0 and below are never chosen.

    Args:
        weights: (C,) of each candidate.
        conflicts: pairs of them.

    >>> conflicts = Pairs(np.array([0, 1]), np.array([1, 2]), np.array([0, 0]))
    >>> best_set(np.array([2.0, 3.0, 2.0, -1.0]), conflicts).tolist()
    [True, False, True, False]
    """
    chosen: Mask = weights > 0
    held = chosen[conflicts.one] & chosen[conflicts.other]
    rivals: dict[int, set[int]] = {}
    for one, other in zip(conflicts.one[held].tolist(), conflicts.other[held].tolist(), strict=True):
        rivals.setdefault(one, set()).add(other)
        rivals.setdefault(other, set()).add(one)
    for group in _connected(rivals):
        chosen[group] = False
        chosen[_heaviest({i: float(weights[i]) for i in group}, rivals)] = True
    return chosen


def _connected(rivals: dict[int, set[int]]) -> Iterator[list[int]]:
    """Yield the components of a graph."""
    seen = set[int]()
    for start in rivals:
        if start in seen:
            continue
        group, todo = {start}, [start]
        while todo:
            new = rivals[todo.pop()] - group
            group |= new
            todo += new
        seen |= group
        yield sorted(group)


def _heaviest(weights: dict[int, float], rivals: dict[int, set[int]]) -> list[int]:
    """Return the independent set of the largest weight, of what hangs together."""
    order = sorted(weights, key=lambda i: (-weights[i], i))
    best = _greedy(order, rivals)
    if len(order) > _MOST_EXACT:
        return best
    most = sum(weights[i] for i in best)
    todo: list[tuple[list[int], float, list[int]]] = [(order, 0.0, [])]
    for _ in range(_MOST_STEPS):
        if not todo:
            break
        left, total, taken = todo.pop()
        if total > most:
            best, most = taken, total
        if not left or total + sum(weights[i] for i in left) <= most:
            continue
        first, *rest = left
        if not rivals[first].isdisjoint(rest):
            todo.append((rest, total, taken))  # without it; the other branch is looked at first
        todo.append(([i for i in rest if i not in rivals[first]], total + weights[first], [*taken, first]))
    return best


def _greedy(order: list[int], rivals: dict[int, set[int]]) -> list[int]:
    taken, blocked = [], set[int]()
    for i in order:
        if i not in blocked:
            taken.append(i)
            blocked |= rivals[i]
    return taken
