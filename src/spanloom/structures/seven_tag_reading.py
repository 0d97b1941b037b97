"""From seven tags to mentions: runs of tags of one family, and how they form mentions.

Muis and Lu (2016), supplement, section 3, give the two readings in words, for *components* of three families:
contiguous ones (B, I), bodies (BD, ID) and heads (BH, IH). Bodies and contiguous components do not combine.

``enough`` is their rule: each head forms at most two mentions with bodies, the closest on its left first; if one body
is left then, a third mention; remaining bodies form mentions of two or three. Cases that they leave open:

- Contiguous components and the heads that touch them are one mention, and so are heads that touch each other.
- A body is one component with the head that it continues, and with the head that follows it without a gap.
- A head that is still in fewer than two mentions takes bodies on its right, after all heads have had those on their
  left; if a body continues the head, the two are paired as one.
- Components of a mention never touch. Remaining bodies are paired with the next one that does not touch; the last
  three form one mention.
- A head that is in fewer than two mentions in the end is a mention itself, too.
- A remaining body that cannot be paired, such as the only BD of a sentence, is in no mention.

``all`` gives every mention that is in some set of mentions with this encoding. Inside a head any mention may begin and
end, and a mention may cross from one head to the next, or from a body or a contiguous component to the head behind it.
Only neighbouring tags decide whether a mention is possible: of the mentions that it gives for all encodings of
four tokens, 6 % are in no set that has the encoding. So its mentions are exactly those with a path in the lattice.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, groupby, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Ints

CONTIGUOUS, BODY, HEAD = 0, 1, 2
Ranges = tuple[tuple[int, int], ...]


class Run(NamedTuple):
    """Neighbouring tokens of one family.

    Args:
        first: token in the sentence.
        end: half-open.
        family: CONTIGUOUS, BODY or HEAD.
        joined: whether it continues the head before it.
    """

    first: int
    end: int
    family: int
    joined: bool


class SevenTagRuns(NamedTuple):
    """The runs of a batch in text order, as columns; see `Run`.

    Args:
        sentence: its number.
        kind: the type's number.
        first: token in the sentence.
        end: half-open.
        family: CONTIGUOUS, BODY or HEAD.
        joined: whether it continues the head before it.
        clear: whether its sentence has no head and no body of its type, so that it is a mention.
    """

    sentence: Ints
    kind: Ints
    first: Ints
    end: Ints
    family: Ints
    joined: NDArray[np.bool_]
    clear: NDArray[np.bool_]

    def groups(self) -> Iterator[tuple[int, int, list[Run]]]:
        """Sentence, type and runs, of those that are not clear."""
        rest = np.flatnonzero(~self.clear)
        rest = rest[np.lexsort((rest, self.kind[rest], self.sentence[rest]))]
        rows = zip(*(column[rest].tolist() for column in self[:6]), strict=True)
        for (sentence, kind), group in groupby(rows, key=lambda row: (row[0], row[1])):
            yield sentence, kind, [Run(*row[2:]) for row in group]


def find_runs(kind: Ints, letter: Ints, offsets: Ints) -> SevenTagRuns:
    """Return the runs of a batch.

    Args:
        kind: (T,) the type's number, -1 for O.
        letter: (T,) twice the family, plus 1 for a tag that continues; free for O.
        offsets: (N + 1,) first token of each sentence.
    """
    family = letter // 2
    sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    near = np.zeros(len(kind), bool)  # the token before is of the same sentence and type
    near[1:] = (kind[1:] == kind[:-1]) & (sentence[1:] == sentence[:-1]) & (kind[1:] >= 0)
    before = np.concatenate([[-1], family])[: len(family)]
    goes_on = near & (letter % 2 == 1)
    first = np.flatnonzero((kind >= 0) & ~(goes_on & (before == family)))
    last = np.flatnonzero((kind >= 0) & ~np.append((goes_on & (before == family))[1:], False)[: len(kind)])
    keys = sentence[first] * (kind.max(initial=0) + 1) + kind[first]
    unsure = np.unique(keys[family[first] != CONTIGUOUS])
    base = offsets[sentence[first]]
    return SevenTagRuns(
        sentence[first], kind[first], first - base, last + 1 - base, family[first],
        goes_on[first] & (before[first] == HEAD), ~np.isin(keys, unsure),
    )  # fmt: skip


def read_enough(runs: Sequence[Run], components: int) -> list[Ranges]:
    """As few mentions as explain the runs of one sentence and type, by the rule above.

    >>> read_enough([Run(0, 1, HEAD, False), Run(2, 4, BODY, False), Run(5, 6, BODY, False)], 3)
    [((0, 1), (2, 4)), ((0, 1), (5, 6))]
    """
    enough = _Enough(runs, components)
    enough.stretches()
    if components > 1:
        enough.to_the_left()
        enough.to_the_right()
        enough.bodies()
    enough.found += [(enough.span[h],) for h in enough.heads if enough.explained[h] < 2]
    return list(dict.fromkeys(enough.found))


class _Enough:
    """The state of `read_enough`: ``free`` bodies in text order, and how many mentions explain each run."""

    def __init__(self, runs: Sequence[Run], components: int) -> None:
        self.runs, self.components = runs, components
        self.heads = [i for i, run in enumerate(runs) if run.family == HEAD]
        self.free = [i for i, run in enumerate(runs) if run.family == BODY]
        self.explained = [0] * len(runs)
        self.made = dict.fromkeys(self.heads, 0)
        self.found: list[Ranges] = []
        self.members = [(i, i) for i in range(len(runs))]
        for i in self.free:
            follows = i + 1 < len(runs) and runs[i + 1].family == HEAD and runs[i + 1].first == runs[i].end
            self.members[i] = (i - runs[i].joined, i + follows)
        self.span = [(runs[a].first, runs[b].end) for a, b in self.members]

    def apart(self, i: int, j: int) -> bool:
        """Return whether two runs, with the heads that belong to them, do not touch."""
        return self.span[i][1] < self.span[j][0] or self.span[j][1] < self.span[i][0]

    def form(self, *parts: int) -> None:
        self.found.append(tuple(sorted(self.span[i] for i in parts)))
        for i in parts:
            for member in range(self.members[i][0], self.members[i][1] + 1):
                self.explained[member] += 1
            if self.runs[i].family == BODY:
                del self.free[bisect(self.free, i) - 1]

    def stretches(self) -> None:
        """Contiguous components with the heads that touch them, and heads that touch each other."""
        first = 0
        for i, run in enumerate(self.runs):
            onward = self.runs[i + 1] if i + 1 < len(self.runs) else None
            goes_on = onward and onward.first == run.end and (
                (onward.family == CONTIGUOUS and onward.joined) or (onward.family == HEAD and run.family != BODY)
            )  # fmt: skip
            if goes_on:
                continue
            if first < i or run.family == CONTIGUOUS:
                self.found.append(((self.runs[first].first, run.end),))
                for member in range(first, i + 1):
                    self.explained[member] += 1
            first = i + 1

    def to_the_left(self) -> None:
        for h in self.heads:
            before = (self.free[at] for at in reversed(range(bisect(self.free, h))))
            for i in islice((i for i in before if self.apart(i, h)), 2):
                self.form(h, i)  # takes i from what is free; those before it keep their places
                self.made[h] += 1

    def to_the_right(self) -> None:
        for h in self.heads:
            while self.explained[h] < 2 and self.made[h] < 2:
                at = bisect(self.free, h)
                own = h + 1 if self.free[at : at + 1] == [h + 1] and self.runs[h + 1].joined else h
                after = (self.free[k] for k in range(at, len(self.free)))
                i = next((i for i in after if self.apart(i, own)), None)
                if i is None:
                    break
                self.form(own, i)
                self.made[h] += 1

    def bodies(self) -> None:
        """The third mention of the nearest head, if one body is left; else bodies with each other."""
        if len(self.free) == 1:
            last = self.free[0]
            near = [h for h in self.heads if self.apart(h, last)]
            if near:
                self.form(min(near, key=lambda h: abs(h - last)), last)
        while self.free:
            i = self.free[0]
            others = list(islice((j for j in self.free if self.apart(i, j)), 2))
            if not others:
                del self.free[0]
            elif len(self.free) == 3 and len(others) == 2 and self.apart(*others) and self.components > 2:
                self.form(i, *others)
            else:
                self.form(i, others[0])


class _Spots(NamedTuple):
    """The tokens of one sentence and type that mentions of a family may have: heads, and those of the family.

    Args:
        place: token in the sentence.
        start: whether a component may begin there.
        stop: whether it may end there.
        reach: the last spot that a component from here can continue to.
        after: the first spot that the next component can begin at, if one ends here.
    """

    place: list[int]
    start: list[bool]
    stop: list[bool]
    reach: list[int]
    after: list[int]


def read_all(runs: Sequence[Run], components: int, most: int) -> list[Ranges]:
    """Every mention that a set of mentions with these runs may hold, but no more than ``most``.

    Of one component first, then of two and so on; of equally many from left to right, shorter components first.
    """
    spots = _spots(runs, CONTIGUOUS)
    whole = _walk(spots, _chains(spots, 1), 1, 0)
    spots = _spots(runs, BODY)
    chains = _chains(spots, components)
    parted = (_walk(spots, chains, size, 0) for size in range(2, components + 1))
    return list(islice(chain(whole, *parted), most))


def number(runs: Sequence[Run], components: int) -> int:
    """Count the mentions that `read_all` gives without a limit."""
    parted = _chains(_spots(runs, BODY), components)
    return _chains(_spots(runs, CONTIGUOUS), 1)[1][0] + sum(chains[0] for chains in parted[2:])


def _spots(runs: Sequence[Run], family: int) -> _Spots:
    place: list[int] = []
    start: list[bool] = []
    stop: list[bool] = []
    linked: list[bool] = []
    bound = False  # whether the token before is of the family, so that what continues it is the same mention
    for run in runs:
        if run.family not in (family, HEAD):
            continue
        head = run.family == HEAD
        for token in range(run.first, run.end):
            begins = token == run.first and not run.joined
            linked.append(bool(place) and place[-1] == token - 1 and (head or not begins))
            if linked[-1] and bound and not head:
                stop[-1] = False
            place.append(token)
            start.append(head or begins)
            stop.append(True)
            bound = not head
    size = len(place)
    reach, after = list(range(size)), [size] * size
    for i in reversed(range(size - 1)):
        if linked[i + 1]:
            reach[i] = reach[i + 1]
        after[i] = i + 1 if place[i + 1] > place[i] + 1 else i + 2
    return _Spots(place, start, stop, reach, after)


def _chains(spots: _Spots, components: int) -> list[list[int]]:
    """For 0, 1, ... components and each spot: how many mentions of so many components begin there or later."""
    size = len(spots.place)
    chains = [[1] * (size + 2)]
    for _ in range(components):
        onward = (chains[-1][after] if stop else 0 for after, stop in zip(spots.after, spots.stop, strict=True))
        total = list(accumulate(onward, initial=0))
        own = [
            total[reach + 1] - total[i] if start else 0
            for i, (start, reach) in enumerate(zip(spots.start, spots.reach, strict=True))
        ]
        chains.append([*reversed(list(accumulate(reversed(own), initial=0))), 0])
    return chains


def _walk(spots: _Spots, chains: Sequence[Sequence[int]], components: int, first: int) -> Iterator[Ranges]:
    """The mentions of so many components that begin at a spot or later; no step is a dead end."""
    if not components:
        yield ()
        return
    for i in range(first, len(spots.place)):
        if not chains[components][i]:
            return
        for j in range(i, spots.reach[i] + 1) if spots.start[i] else ():
            if spots.stop[j] and chains[components - 1][spots.after[j]]:
                for rest in _walk(spots, chains, components - 1, spots.after[j]):
                    yield (spots.place[i], spots.place[j] + 1), *rest
