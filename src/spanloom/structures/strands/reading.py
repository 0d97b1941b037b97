"""The paths of a strand as mentions: the fewest that use every arc, all of them, or only their number.

Muis and Lu (2016), section 3.3 and supplement, section 3, name the readings ENOUGH and ALL; the algorithms are
ours. Runs of arcs without a choice, from a start to an end, are read for the whole batch at once; only branches are
walked. A strand must be valid: every place with links is reached, and leads to an end. Strands from `draw`, and from
any sub-hypergraph of a template, are valid.

ENOUGH is a minimum path cover of all arcs, starts and ends included: a minimum flow with at least one unit on each
arc. Write the flow of an arc as 1 + its *spare* units. A joint with more arcs in than out has spare units to give away,
one with more arcs out than in needs some.

1. From left to right, each joint first serves itself from the spare units that come in, then passes on the rest.
2. Again from left to right, each joint that needs more searches backwards, against arcs or along spare units, for a
   spare unit that leaves by an end, and leads it here: an augmenting path. The joints of a search without success are
   closed, as none of them can find one later.
3. The remaining need comes from the starts. No augmenting path is left, so no unit can be saved: the cover is minimal.
   From right to left, each joint asks the one before it.

Where 1 and 3 have a choice, components and mentions become as long as they can, and gaps as short as they can.

Then the units become paths. A joint in a component is a stack: the unit that started, or entered the component, last
is on top; from the top, first the steps into a gap are served, then the ends. So mentions nest rather than cross, and
the shorter of two continues after a gap: "blood in stomach and ... lac" is *blood in stomach* and *stomach ... lac*
(Figure 1). Without gaps an end closes the latest open start. A joint in a gap is a queue, first in, first out, so
"alpha and beta chains 1 and 2" is *alpha ... 1* and *beta ... 2*. Of the orders tried this restores gold mentions
best: of GENIA with conjuncts (training and development data, 1,082 mentions with gaps) it misses 25 mentions in SHARED
and 14 in SPLIT, where brackets in gaps miss 181 and 166.

On strands of heads a joint is a stack with the latest start on top. Before a head, the steps into the head are served
from the top, so that the inner of two mentions has its head first: "the [blue car]'s owner". Of two mentions that go
through the same head words, the inner one has the longer head, as in GUM, where "the [White House] [staff]" has names
as heads of names and words as heads of descriptions: in a head, the ends are served first, from the top, then the units
that stay. Of GUM (training and development data, 25,323 mentions) this misses 97 mentions; 239 if the outer mention
has the longer head, 542 if the outer one has its head first.

ALL lists the paths from each start to each token where one of them ends, by a walk that enters only arcs that lead
there, so that it can stop after any number of paths. The number of paths is counted from right to left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain, groupby, islice
from operator import or_
from typing import NamedTuple

import numpy as np

from spanloom.hypergraph import Ints
from spanloom.native import Kernel
from spanloom.sparse import ascending
from spanloom.structures.base import MOST_MENTIONS, Crowd, MentionTable
from spanloom.structures.strands.graph import Strand, StrandRuns, contract
from spanloom.structures.strands.pieces import ADVANCE, END, STAY

Bounds = tuple[int, ...]
_cover_runs, _read_paths = Kernel("cover_runs"), Kernel("read_paths")
_TURN = np.zeros((5, 5), np.int64)  # which run out of a joint is served first: `turn` of `native/strands.c`
_TURN[0, [STAY, END, ADVANCE]] = 0, 1, 2
_TURN[1, [ADVANCE, STAY]] = 0, 1
_TURN[2, [STAY, ADVANCE]] = 0, 1
_TURN[3, [ADVANCE, STAY, END]] = 0, 1, 2
_TURN[4, [STAY, END]] = 0, 1


class FoundPaths(NamedTuple):
    """M paths, sorted by sentence, first token, longest first, type.

    Those that are equal so far come with longer components and shorter gaps first; on a strand of heads, with later and
    then with shorter heads first.

    Args:
        sentence: (M,).
        kind: (M,) the type's number.
        size: (M,) how many bounds each has.
        bounds: (M, P + 1) tokens in the sentence, see `spanloom.structures.strands.graph`; -1 where there are fewer.
    """

    sentence: Ints
    kind: Ints
    size: Ints
    bounds: Ints


def read(strand: Strand, offsets: Ints, reading: str) -> FoundPaths:
    """The paths of a reading, as `spanloom.structures.Structure.decode` names them.

    Args:
        strand: valid.
        offsets: (N + 1,) first token of each sentence.
        reading: ``enough``, as few paths as use every start, link and end, nested rather than crossing, but parallel
            across gaps; or ``all``, at most `MOST_MENTIONS` of a sentence and type.
    """
    if reading == "all":
        return find_all(strand, offsets, MOST_MENTIONS)
    runs = contract(strand, offsets)
    units = np.empty(len(runs.tail), np.int64)
    _cover_runs(runs, units)
    count = int(units[runs.tail < 0].sum())
    sentence, kind, size = (np.empty(count, np.int64) for _ in range(3))
    found = FoundPaths(sentence, kind, size, np.empty((count, strand.links.shape[2] + 1), np.int64))
    _read_paths(runs, units, *found)
    return _sorted(found, offsets)


def find_all(strand: Strand, offsets: Ints, most: int) -> FoundPaths:
    """Every path, but of each sentence and type no more than the first ``most``, in the order of the result.

    Args:
        strand: valid.
        offsets: (N + 1,) first token of each sentence.
        most: at least 1.
    """
    if strand.links.shape[2] == 1:
        return _pairs(strand, offsets, most)
    runs = contract(strand, offsets)
    found = _found(runs, list(every(branches(runs), offsets, most)), offsets)
    order = np.lexsort((found.kind, found.sentence))
    same = (np.diff(found.sentence[order]) == 0) & (np.diff(found.kind[order]) == 0)
    place = np.arange(len(order))
    kept = np.empty(len(order), np.bool_)  # by how many of the same sentence and type are before each
    kept[order] = place - np.maximum.accumulate(np.where(np.append([False], same)[: len(order)], 0, place)) < most
    return found if kept.all() else FoundPaths(*(column[kept] for column in found))


def _pairs(strand: Strand, offsets: Ints, most: int) -> FoundPaths:
    """`find_all` for one position: each start with each end up to where nothing continues, the last first."""
    tokens = len(strand.start)
    links = strand.links[..., 0].T.ravel()  # types one after the other
    stretch = np.cumsum(np.append(False, (links & STAY == 0)[:-1])[: len(links)])
    first, last = np.flatnonzero(strand.start.T), np.flatnonzero(links & END)
    beyond = np.searchsorted(stretch[last], stretch[first], side="right")
    count = beyond - np.searchsorted(last, first)
    sentence = np.searchsorted(offsets, first % tokens, side="right") - 1
    before = np.cumsum(count) - count
    group = np.flatnonzero(np.diff(first // tokens * len(offsets) + sentence, prepend=-1))
    before -= np.repeat(before[group], np.diff(np.append(group, len(first))))
    count = np.clip(most - before, 0, count)
    row = np.repeat(np.arange(len(first)), count)
    place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    bounds = np.stack([first[row], last[beyond[row] - 1 - place] + 1], 1) - (first[row] // tokens * tokens)[:, None]
    return _sorted(FoundPaths(sentence[row], first[row] // tokens, np.full(len(row), 2), bounds), offsets)


def ranges(found: FoundPaths) -> MentionTable:
    """Paths as mentions with gaps: each two bounds are a range."""
    pairs = found.bounds.ravel().compress((np.arange(found.bounds.shape[1]) < found.size[:, None]).ravel())
    ptr = np.concatenate([[0], np.cumsum(found.size // 2)])
    heads = np.full((len(found.sentence), 2), -1)
    return MentionTable(found.sentence, found.kind, ptr, pairs[0::2].copy(), pairs[1::2].copy(), heads)


def crowded(strand: Strand, offsets: Ints, most: int) -> list[Crowd]:
    """Return the sentences and types with more than ``most`` paths; they are counted exactly, however many.

    Args:
        strand: valid.
        offsets: (N + 1,) first token of each sentence.
        most: as for `find_all`.

    Returns:
        In order of sentences and types.
    """
    runs = contract(strand, offsets)
    ahead = [*([0] * len(runs.place)), 1]  # paths from each joint; from an end, whose number is -1, there is one
    inner = np.flatnonzero(runs.tail >= 0)
    inner = inner[np.argsort(-runs.tail[inner], kind="stable")]  # from right to left
    for tail, head in zip(runs.tail[inner].tolist(), runs.head[inner].tolist(), strict=True):
        ahead[tail] += ahead[head]
    starts = runs.tail < 0
    keys = zip(runs.sentence[starts].tolist(), runs.kind[starts].tolist(), strict=True)
    found: Counter[tuple[int, int]] = Counter()
    for key, head in zip(keys, runs.head[starts].tolist(), strict=True):
        found[key] += ahead[head]
    return [Crowd(*key, paths) for key, paths in sorted(found.items()) if paths > most]


def _found(runs: StrandRuns, paths: Sequence[Path], offsets: Ints) -> FoundPaths:
    """The runs that are mentions, and paths, sorted."""
    whole = (runs.tail < 0) & (runs.head < 0)
    sizes = np.diff(runs.ptr)
    size = np.concatenate([sizes[whole], _ints(len(path.bounds) for path in paths)])
    bounds = np.full((len(size), int(size.max(initial=2))), -1)
    bounds[np.arange(bounds.shape[1]) < size[:, None]] = np.concatenate(
        [runs.bounds[np.repeat(whole, sizes)], _ints(bound for path in paths for bound in path.bounds)]
    )
    sentence = np.concatenate([runs.sentence[whole], _ints(path.sentence for path in paths)])
    kind = np.concatenate([runs.kind[whole], _ints(path.kind for path in paths)])
    return _sorted(FoundPaths(sentence, kind, size, bounds), offsets)


def _sorted(found: FoundPaths, offsets: Ints) -> FoundPaths:
    """Paths whose bounds are tokens of the batch, sorted as `FoundPaths` documents, and with tokens of the sentence."""
    bounds = found.bounds
    ties = [bounds[:, at] if at % 2 == 0 else -bounds[:, at] for at in range(1, bounds.shape[1])]
    order = ascending(bounds[:, 0], -reduce(np.maximum, bounds.T), found.kind, *ties)  # -1 is no bound
    sentence, kind, size, bounds = (column.take(order, 0) for column in found)
    bounds = np.where(bounds < 0, -1, bounds - offsets[sentence, None])
    return FoundPaths(sentence, kind, size, bounds)


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, np.int64)


class Path(NamedTuple):
    """A mention as bounds: tokens of the batch, as in `spanloom.structures.strands.graph`."""

    sentence: int
    kind: int
    bounds: Bounds


class Branches(NamedTuple):
    """Runs and joints, for loops in Python.

    Args:
        begins: the runs from a start to a joint, from left to right.
        outs: for each joint, the runs out of it: in a component `STAY`, `END`, `ADVANCE`; in a gap `ADVANCE`, `STAY`;
            in a head `ADVANCE`, `STAY`, `END`; elsewhere as in a component.
        tail: for each run, its joint; -1 for a start.
        head: for each run, its joint; -1 for an end.
        sentence: for each run, its sentence.
        kind: for each run, its type.
        bounds: for each run, its bounds.
    """

    begins: list[int]
    outs: list[list[int]]
    tail: list[int]
    head: list[int]
    sentence: list[int]
    kind: list[int]
    bounds: list[Bounds]


def branches(runs: StrandRuns) -> Branches:
    """All runs but those from a start to an end, which need no choice."""
    kept = np.flatnonzero((runs.tail >= 0) | (runs.head >= 0))
    tail = runs.tail[kept].tolist()
    outs: list[list[int]] = [[] for _ in runs.place]
    place = np.append(runs.place, 0)[runs.tail[kept]]
    for run in np.argsort(_TURN[place, runs.leaves[kept]], kind="stable").tolist():
        if tail[run] >= 0:
            outs[tail[run]].append(run)
    begins = [run for run, joint in enumerate(tail) if joint < 0]
    head, sentence, kind = (column[kept].tolist() for column in (runs.head, runs.sentence, runs.kind))
    pieces = zip(runs.ptr[kept].tolist(), runs.ptr[kept + 1].tolist(), strict=True)
    return Branches(begins, outs, tail, head, sentence, kind, [tuple(runs.bounds[a:b].tolist()) for a, b in pieces])


def every(graph: Branches, offsets: Ints, most: int) -> Iterator[Path]:
    """The first ``most`` paths of each sentence and type.

    They come by first token, then longest first, then with longer components and shorter gaps before others, or with
    later heads and then shorter heads before others.

    Args:
        graph: the runs.
        offsets: (N + 1,) first token of each sentence.
        most: at least 1.
    """
    reach = _reach(graph, offsets)
    room: dict[tuple[int, int], int] = {}
    for place, begins in groupby(
        graph.begins, lambda run: (graph.sentence[run], graph.kind[run], graph.bounds[run][0])
    ):
        group, key = list(begins), place[:2]
        left, ends = room.get(key, most), reduce(or_, (reach[begin] for begin in group))
        while left and ends:
            latest = ends & -ends
            ends ^= latest
            for path in islice(_walk(graph, reach, group, latest), left):
                yield Path(*key, path)
                left -= 1
        room[key] = left


def _reach(graph: Branches, offsets: Ints) -> list[int]:
    """For each run, where paths through it end: one bit a token, the lowest for the last token of the sentence."""
    reach, merged = [0] * len(graph.tail), [0] * (len(graph.outs) + 1)  # the last is for what has no joint
    stops = offsets[1:].tolist()
    for run in (*chain.from_iterable(reversed(graph.outs)), *graph.begins):
        joint = graph.head[run]
        reach[run] = merged[joint] if joint >= 0 else 1 << (stops[graph.sentence[run]] - graph.bounds[run][-1])
        merged[graph.tail[run]] |= reach[run]
    return reach


def _walk(graph: Branches, reach: list[int], begins: Sequence[int], end: int) -> Iterator[Bounds]:
    """The bounds of the paths from the starts at one token to the token of one bit, depth first."""
    waiting: list[tuple[int, Bounds]] = [(begin, ()) for begin in reversed(begins) if reach[begin] & end]
    while waiting:
        run, path = waiting.pop()
        path += graph.bounds[run]
        joint = graph.head[run]
        if joint < 0:
            yield path
            continue
        waiting += [(other, path) for other in reversed(graph.outs[joint]) if reach[other] & end]
