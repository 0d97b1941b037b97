"""Which mentions may overlap and have gaps, learned from training, and the best set among which none may not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import ModelError, plural
from spanloom.hypergraph import Edges, Floats, Ints, Potentials
from spanloom.model.choices import Overlap
from spanloom.model.pairs import CROSSING, NESTED, SAME, SHARING, Pairs, overlapping
from spanloom.model.structured import AnyModel
from spanloom.modelfile import ModelPart
from spanloom.parallel import SERIAL, Executor
from spanloom.structures import MentionTable

_EXPECTED = 3.0  # pairs; so many and none seen is chance in one of twenty cases
_RARE = 0.005  # of the mentions of a type: so few nested ones of the same type are slips, and to allow them costs more
_MOST_EXACT, _MOST_STEPS = 64, 100_000  # candidates that hang together, and steps of their search
_WAYS: Final = {SAME: "have the same tokens", NESTED: "nest", CROSSING: "cross", SHARING: "share a part"}
Mask = NDArray[np.bool_]


class OverlapRules:
    """Which pairs of types may overlap, and how, and which types may have gaps.

    Args:
        allowed: (4, K, K) whether mentions of two types may have the same tokens, nest (the first contains the second),
            cross, or share a part beside a gap; by `SAME`, `NESTED`, `CROSSING` and `SHARING`.
        gaps: (K,) whether mentions of a type may have gaps.

    >>> rows = [row for n in range(20) for row in ((n, 0, ((0, 3),)), (n, 1, ((1, 2),)))]
    >>> OverlapRules.learn(MentionTable.build(rows), 2).allowed[1].tolist()  # NESTED
    [[False, True], [False, False]]
    """

    def __init__(self, allowed: Mask, gaps: Mask) -> None:
        self.allowed, self.gaps = allowed, gaps

    @classmethod
    def of_ways(cls, ways: Iterable[int], types: int) -> OverlapRules:
        """Return that all types may overlap in some ways, and have gaps."""
        allowed = np.zeros((len(_WAYS), types, types), np.bool_)
        allowed[[*ways]] = True
        return cls(allowed, np.ones(types, np.bool_))

    @classmethod
    def free(cls, types: int) -> OverlapRules:
        """Return that all may."""
        return cls.of_ways(_WAYS, types)

    @classmethod
    def learn(cls, gold: MentionTable, types: int, apart: Mask | None = None) -> OverlapRules:
        """Return what training shows, and what it could not be expected to show.

        A pair of types that is not seen is forbidden where chance would have given three: as many pairs as overlap in
        this way, dealt to types by how frequent they are. Where no two mentions overlap in a way, no types may. So are
        gaps. Mentions of one type may nest if at least one in 200 of them contains another, or if there are too few of
        them to show it.

        Args:
            gold: training mentions.
            types: K.
            apart: (K, K) pairs of types that no sentence could show together; they are allowed.
        """
        _, seen = overlapping(_sorted(gold), np.ones((len(_WAYS), types, types), np.bool_))
        for way in (SAME, CROSSING, SHARING):  # of whose two mentions neither is the first
            seen[way] += seen[way].T
        count = np.bincount(gold.kind, minlength=types)
        share = count / max(1, len(gold))
        gaps = np.bincount(gold.kind[~gold.contiguous], minlength=types)
        allowed = _shown(seen, np.outer(share, share), (1, 2))
        same = np.arange(types)
        nested = seen[NESTED, same, same]
        allowed[NESTED, same, same] &= (nested >= _RARE * count) | (nested == 0)
        return cls(allowed if apart is None else allowed | apart, _shown(gaps, share, 0))

    @property
    def forbid(self) -> bool:
        """True if there is something that may not be."""
        return not (self.allowed.all() and self.gaps.all())

    def consistent(self, table: MentionTable, weights: Floats) -> Mask:
        """Return which of M mentions are in the set of the largest total weight that the rules allow, (M,).

        Args:
            table: by sentence and first token.
            weights: (M,); those of 0 and below are never chosen.
        """
        chosen: Mask = (weights > 0) & (table.contiguous | self.gaps[table.kind])
        likely = np.flatnonzero(chosen)
        chosen[likely] = best_set(weights[likely], overlapping(table.take(likely), self.allowed)[0])
        return chosen

    def report(self, name: str, gold: MentionTable) -> OverlapReport:
        """Report which pairs are forbidden, and how many pairs of training mentions are."""
        broken = np.bincount(overlapping(_sorted(gold), self.allowed)[0].way, minlength=len(_WAYS))
        against = {phrase: int(broken[way]) for way, phrase in _WAYS.items() if broken[way]}
        never = [int((~allowed).sum()) for allowed in self.allowed]
        shown = _WAYS if self.gaps.any() else {way: phrase for way, phrase in _WAYS.items() if way != SHARING}
        forbidden = {phrase: never[way] for way, phrase in shown.items() if never[way]}
        return OverlapReport(name, len(self.gaps), forbidden, int((~self.gaps).sum()), against)

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file."""
        return ModelPart(arrays={"allowed": self.allowed.astype(np.uint8), "gaps": self.gaps.astype(np.uint8)})

    @classmethod
    def from_part(cls, part: ModelPart, types: int) -> OverlapRules:
        """Return what `to_part` gave; in older models a gap was a part of the mention, and sharing was nesting."""
        allowed = part.array("allowed", np.uint8, None, types, types) > 0
        if len(allowed) == SHARING:
            sharing = allowed[NESTED] | allowed[NESTED].T | allowed[CROSSING]
            allowed = np.concatenate([allowed, sharing[None]])
        if len(allowed) != len(_WAYS):
            raise ModelError(f"rules of {len(allowed)} ways to overlap, expected {len(_WAYS)}")
        return cls(allowed, part.array("gaps", np.uint8, types) > 0)


def _sorted(table: MentionTable) -> MentionTable:
    first, end = table.first[table.ptr[:-1]], table.end[table.ptr[1:] - 1]
    return table.take(np.lexsort((-end, first, table.sentence)))


def _shown(seen: Ints, share: Floats, axes: int | tuple[int, ...]) -> Mask:
    """Return what is seen, or is too rare by chance to be missed; nothing where nothing is seen."""
    total = seen.sum(axes, keepdims=True)
    shown: Mask = (seen > 0) | ((total > 0) & (total * share < _EXPECTED))
    return shown


def rules_of(name: Overlap, gold: MentionTable, types: int, silent: Mask | None = None) -> OverlapRules:
    """Return the rules that a parameter names.

    Args:
        name: ``learned``, ``free``, ``nested`` or ``none``.
        gold: training mentions.
        types: K.
        silent: (N, K) training sentences whose annotation of a type is unknown.
    """
    if name == "learned":
        shown = None if silent is None else (~silent).astype(np.float64)
        return OverlapRules.learn(gold, types, None if shown is None else shown.T @ shown == 0)
    return OverlapRules.of_ways({"free": _WAYS, "nested": (SAME, NESTED, SHARING), "none": ()}[name], types)


@dataclass(frozen=True)
class OverlapReport:
    """Report of which mentions may overlap.

    Args:
        rule: the parameter.
        types: K.
        forbidden: what mentions may do -> of how many of the K x K ordered pairs of types they may not.
        gapless: types whose mentions may have no gaps.
        against: what mentions may do -> pairs of training mentions that do, though they may not.
    """

    rule: str
    types: int
    forbidden: dict[str, int]
    gapless: int
    against: dict[str, int]

    def lines(self) -> Iterator[str]:
        """Yield the report as lines of text."""
        pairs = self.types**2
        never = [
            f"no two {phrase}" if count == pairs else f"{count:,} of {pairs:,} pairs of types do not {phrase}"
            for phrase, count in self.forbidden.items()
        ]
        if self.gapless:
            never.append("none has gaps" if self.gapless == self.types else f"{self.gapless:,} types have no gaps")
        yield f"overlaps, {self.rule}: {', '.join(never) or 'all may'}"
        if self.against:
            yield f"against training: {self.contradiction}"

    @property
    def contradiction(self) -> str:
        """What of training may not be, such as ``12 pairs that cross``."""
        return ", ".join(f"{plural(count, 'pair')} of mentions that {phrase}" for phrase, count in self.against.items())


class Consistent(NamedTuple):
    """The best structures of N sentences, without pairs of mentions that the rules forbid.

    Args:
        table: M mentions, by sentence and first token.
        edges: the hyperedges, (T, K, D).
        marginals: (M,) the exact marginal of each mention.
    """

    table: MentionTable
    edges: Edges
    marginals: Floats


def best_consistent(
    model: AnyModel, rules: OverlapRules, potentials: Potentials, offsets: Ints, reading: str,
    run: Executor = SERIAL,
) -> Consistent:  # fmt: skip
    """Find the mentions of the best structures, without pairs that the rules forbid.

    Of all such sets, it returns the one with the largest sum of marginals, the expected number of right mentions.

    Args:
        model: trained.
        rules: which mentions may overlap.
        potentials: of T tokens.
        offsets: (N + 1,) first token of each sentence.
        reading: of overlapping mentions.
        run: how pieces of the work are run; the result does not depend on it.
    """
    edges = model.best(potentials, offsets, run)
    table = model.structure.decode(edges, offsets, model.types, reading)
    marginals = model.probabilities(potentials, offsets, table, run, calibrated=False)
    kept = rules.consistent(table, np.maximum(marginals, np.finfo(np.float64).tiny))
    if kept.all():
        return Consistent(table, edges, marginals)
    return Consistent(table.take(kept), edges_of_kept(model, edges, table, kept, offsets), marginals[kept])


def edges_of_kept(model: AnyModel, edges: Edges, table: MentionTable, kept: Mask, offsets: Ints) -> Edges:
    """Return structures without some of their mentions: those of a sentence that loses none stay as they are.

    Args:
        model: of the structures.
        edges: (T, K, D).
        table: their M mentions.
        kept: (M,) which of them stay.
        offsets: (N + 1,) first token of each sentence.
    """
    changed = np.zeros(len(offsets) - 1, np.bool_)
    changed[table.sentence[~kept]] = True
    others = model.structure.encode(table.take(kept), offsets, model.types).edges
    return np.where(np.repeat(changed, np.diff(offsets))[:, None, None], others, edges)


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
        chosen[[*group]] = False
        chosen[_heaviest({i: float(weights[i]) for i in group}, rivals)] = True
    return chosen


def _heaviest(weights: dict[int, float], rivals: dict[int, set[int]]) -> list[int]:
    """Return the independent set of the largest weight, of what hangs together."""
    order = sorted(weights, key=lambda i: (-weights[i], i))
    best, blocked = list[int](), set[int]()  # the heaviest first
    for i in order:
        if i not in blocked:
            best.append(i)
            blocked |= rivals[i]
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
