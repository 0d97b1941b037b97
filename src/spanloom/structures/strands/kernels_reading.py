"""Kernels that contract strands to runs, and cover all of their arcs by as few paths as possible.

What is read, and why so, is said in `spanloom.structures.strands.reading`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel, kernel_only

START = 0  # a kind of arc; the others are links: STAY, ADVANCE and END
STAY, ADVANCE, END = 1, 2, 4
"""The links of a node, as bits: to itself at the next token, to the node after it, to the leaf."""
COMPONENT, GAP, BEFORE, HEAD, AFTER = 0, 1, 2, 3, 4  # what a position is

TURN = np.zeros((5, 5), np.int64)  # by what a position is, and kind of arc: which run out of a joint is served first
TURN[COMPONENT, np.array([STAY, END, ADVANCE])] = 0, 1, 2
TURN[GAP, np.array([ADVANCE, STAY])] = 0, 1
TURN[BEFORE, np.array([STAY, ADVANCE])] = 0, 1
TURN[HEAD, np.array([ADVANCE, STAY, END])] = 0, 1, 2
TURN[AFTER, np.array([STAY, END])] = 0, 1
RANK = np.array([2, 0, 1])  # of runs into a joint, by kind of arc: STAY, ADVANCE, START
_UNSEEN, _BEGIN = -2, -1

Ints = NDArray[np.int64]


class StrandRuns(NamedTuple):
    """R runs between J joints, which are numbered from left to right.

    Args:
        tail: (R,) the joint where each begins; -1 for a start.
        head: (R,) the joint where each ends; -1 for an end.
        leaves: (R,) kind of its first arc.
        enters: (R,) kind of its last arc.
        sentence: (R,) its number.
        kind: (R,) the type's number.
        ptr: (R + 1,) where the bounds of each begin.
        bounds: tokens of the batch, ascending in each run.
        place: (J,) whether a joint is in a `COMPONENT` or a `GAP`; or `BEFORE` a head, in a `HEAD`, or `AFTER` one.
    """

    tail: Ints
    head: Ints
    leaves: Ints
    enters: Ints
    sentence: Ints
    kind: Ints
    ptr: Ints
    bounds: Ints
    place: Ints


class _Graph(NamedTuple):
    """The runs of each joint, in the order in which they are served; -1 where there are fewer.

    Args:
        into, outs: (J, 3).
        ins, out: (J,) how many there are.
    """

    into: Ints
    outs: Ints
    ins: Ints
    out: Ints


class _Lists(NamedTuple):
    """Lists of the paths that wait at runs; a path is in one of them.

    Args:
        first, last: (R,) a run's first path and its last; -1 for none.
        before, after: (M,) the neighbours of each path in its list; -1 for none.
    """

    first: Ints
    last: Ints
    before: Ints
    after: Ints


@kernel_only
def _count(start, links, number):
    """Number the joints, in ``number``, with -1 for other nodes; return the count of joints, of runs and of bounds."""
    tokens, types, positions = links.shape
    joints, runs, bounds = 0, 0, 0
    for t in range(tokens):
        for k in range(types):
            for p in range(positions):
                number[t, k, p] = -1
                link = links[t, k, p]
                if link == 0:
                    continue
                begins = start[t, k] >> p & 1
                into = begins
                if t > 0:
                    into += links[t - 1, k, p] & STAY
                    if p > 0:
                        into += (links[t - 1, k, p - 1] & ADVANCE) // ADVANCE
                steps = (link & ADVANCE) // ADVANCE + (link & END) // END
                out = steps + (link & STAY)
                runs += begins
                bounds += steps + begins * (1 + p)
                if into != 1 or out != 1:
                    number[t, k, p] = joints
                    joints += 1
                    runs += out
    return joints, runs, bounds


@kernel_only
def _follow(run, step, t, k, p, links, number, runs):
    """Follow a run from a node by an arc, or from a start to a node, to a joint or an end; note where it leads."""
    at = runs.ptr[run]
    if step == START:
        for _ in range(1 + p):
            runs.bounds[at] = t
            at += 1
        link = links[t, k, p] if number[t, k, p] < 0 else START
    else:
        link = step
    while link != START:
        step = link
        if step != STAY:
            runs.bounds[at] = t + 1
            at += 1
            p += 1
        if step == END:
            break
        t += 1
        link = links[t, k, p] if number[t, k, p] < 0 else START
    runs.enters[run] = step
    runs.head[run] = -1 if step == END else number[t, k, p]
    runs.ptr[run + 1] = at


@kernel
def contract(start, links, heads, offsets):
    """Find the runs of a strand, by place of their first node; each arc is looked at twice.

    Args:
        start, links: of a valid `Strand`.
        heads: whether it is a strand of heads.
        offsets: (N + 1,) first token of each sentence.

    Returns:
        `StrandRuns`.
    """
    _, types, positions = links.shape
    number = np.empty(links.shape, np.int32)
    joints, count, length = _count(start, links, number)
    runs = StrandRuns(
        np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64),
        np.empty(count, np.int64), np.empty(count, np.int64), np.zeros(count + 1, np.int64),
        np.empty(length, np.int64), np.empty(joints, np.int64),
    )  # fmt: skip
    run = 0
    for n in range(len(offsets) - 1):
        for t in range(offsets[n], offsets[n + 1]):
            for k in range(types):
                for p in range(positions):
                    begins, joint = start[t, k] >> p & 1, number[t, k, p]
                    if joint >= 0:
                        runs.place[joint] = BEFORE + p if heads else p % 2
                    leaving = links[t, k, p] if joint >= 0 else 0
                    for step in (START, STAY, ADVANCE, END):
                        if (begins if step == START else leaving & step) > 0:
                            runs.tail[run] = -1 if step == START else joint
                            runs.leaves[run] = step
                            runs.sentence[run], runs.kind[run] = n, k
                            _follow(run, step, t, k, p, links, number, runs)
                            run += 1
    return runs


@kernel_only
def _graph(runs):
    """Sort the runs of each joint by `RANK` and `TURN`."""
    joints = len(runs.place)
    graph = _Graph(
        np.full((joints, 3), -1), np.full((joints, 3), -1), np.zeros(joints, np.int64), np.zeros(joints, np.int64)
    )
    for run in range(len(runs.tail)):
        if runs.head[run] >= 0:
            graph.into[runs.head[run], RANK[runs.enters[run]]] = run
        if runs.tail[run] >= 0:
            graph.outs[runs.tail[run], TURN[runs.place[runs.tail[run]], runs.leaves[run]]] = run
    for joint in range(joints):
        for table, count in ((graph.into, graph.ins), (graph.outs, graph.out)):
            for i in range(3):
                run = table[joint, i]
                if run >= 0:
                    table[joint, i] = -1
                    table[joint, count[joint]] = run
                    count[joint] += 1
    return graph


@kernel_only
def _search(runs, graph, spare, joint, closed, came, queue):
    """Search breadth first, from a joint to an end with a spare unit.

    Args:
        came: (J,) `_UNSEEN`; filled in: the run by which a joint was reached, `_BEGIN` for the first.
        queue: (J,) filled in: the joints that were seen.

    Returns:
        The run of the end, or -1, and how many joints were seen.
    """
    came[joint], queue[0] = _BEGIN, joint
    seen, place = 1, 0
    while place < seen:
        at = queue[place]
        place += 1
        for i in range(graph.out[at]):
            run = graph.outs[at, i]
            if spare[run] > 0:
                other = runs.head[run]
                if other < 0:
                    return run, seen
                if came[other] == _UNSEEN and not closed[other]:
                    came[other], queue[seen] = run, other
                    seen += 1
        for i in range(graph.ins[at]):
            run = graph.into[at, i]
            other = runs.tail[run]
            if other >= 0 and came[other] == _UNSEEN and not closed[other]:
                came[other], queue[seen] = run, other
                seen += 1
    return -1, seen


@kernel_only
def _augment(runs, graph, spare, needs):
    """Lead spare units from ends to the joints that need them: step 2."""
    joints = len(needs)
    closed, came, queue = np.zeros(joints, np.bool_), np.full(joints, _UNSEEN), np.empty(joints, np.int64)
    for joint in range(joints):
        while needs[joint] > 0 and not closed[joint]:
            run, seen = _search(runs, graph, spare, joint, closed, came, queue)
            if run >= 0:
                spare[run] -= 1
                at = runs.tail[run]
                while at != joint:
                    run = came[at]
                    if runs.tail[run] == at:
                        spare[run] += 1
                        at = runs.head[run]
                    else:
                        spare[run] -= 1
                        at = runs.tail[run]
                needs[joint] -= 1
            for i in range(seen):
                came[queue[i]] = _UNSEEN
                closed[queue[i]] |= run < 0


@kernel_only
def _cover(runs, graph):
    """Compute the units of each run in a minimum flow: steps 1 to 3."""
    joints = len(runs.place)
    spare, needs, given = np.zeros(len(runs.tail), np.int64), np.zeros(joints, np.int64), np.zeros(joints, np.int64)
    for joint in range(joints):
        rest = given[joint] + graph.ins[joint] - graph.out[joint]
        needs[joint] = max(-rest, 0)
        if rest > 0:
            run = graph.outs[joint, 0]
            spare[run] = rest
            if runs.head[run] >= 0:
                given[runs.head[run]] += rest
    _augment(runs, graph, spare, needs)
    for joint in range(joints - 1, -1, -1):
        if needs[joint] > 0:
            run = graph.into[joint, graph.ins[joint] - 1 if runs.place[joint] == GAP else 0]
            spare[run] += needs[joint]
            if runs.tail[run] >= 0:
                needs[runs.tail[run]] += needs[joint]
    return spare + 1


@kernel_only
def _gather(runs, graph, joint, lists, bounds):
    """Collect the paths that come to a joint; return the first of the list and the last.

    What stays at its position comes first, and is one list from joint to joint. So each path is touched only where it
    starts, goes on to another position, or ends, however many lie side by side.
    """
    first, last = lists.first[graph.into[joint, 0]], lists.last[graph.into[joint, 0]]
    for i in range(1, graph.ins[joint]):
        run = graph.into[joint, i]
        if runs.place[joint] < BEFORE:
            lists.after[last], lists.before[lists.first[run]] = lists.first[run], last
            last = lists.last[run]
            continue
        path = lists.first[run]
        while path >= 0:  # into its place, by start; behind those that start there, too
            onward, here = lists.after[path], last
            while here >= 0 and bounds[here, 0] > bounds[path, 0]:
                here = lists.before[here]
            behind = lists.after[here] if here >= 0 else first
            lists.before[path], lists.after[path] = here, behind
            if here >= 0:
                lists.after[here] = path
            else:
                first = path
            if behind >= 0:
                lists.before[behind] = path
            else:
                last = path
            path = onward
    return first, last


@kernel_only
def _deal(graph, joint, units, lists, first, last):
    """Lead a list of paths to the runs out of a joint, in their order; the list itself goes where most do."""
    most = 0
    for i in range(graph.out[joint]):
        if units[graph.outs[joint, i]] > units[graph.outs[joint, most]]:
            most = i
    for i in range(most):
        run, path = graph.outs[joint, i], first
        for _ in range(units[run] - 1):
            path = lists.after[path]
        lists.first[run], lists.last[run] = first, path
        first = lists.after[path]
        lists.after[path] = lists.before[first] = -1
    for i in range(graph.out[joint] - 1, most, -1):
        run, path = graph.outs[joint, i], last
        for _ in range(units[run] - 1):
            path = lists.before[path]
        lists.first[run], lists.last[run] = path, last
        last = lists.before[path]
        lists.before[path] = lists.after[last] = -1
    lists.first[graph.outs[joint, most]], lists.last[graph.outs[joint, most]] = first, last


@kernel_only
def _extend(run, runs, path, size, bounds):
    """Add the bounds of a run to those of a path."""
    for i in range(runs.ptr[run], runs.ptr[run + 1]):
        bounds[path, size[path]] = runs.bounds[i]
        size[path] += 1


@kernel
def enough(runs, width):
    """Find as few paths as use every run.

    Args:
        runs: from `contract`.
        width: bounds of a path, at most.

    Returns:
        (M,) sentence, kind and size, and (M, width) bounds, tokens of the batch, with -1 where there are fewer.
    """
    graph = _graph(runs)
    units = _cover(runs, graph)
    count = 0
    for run in range(len(units)):
        if runs.tail[run] < 0:
            count += units[run]
    sentence, kind, size = np.empty(count, np.int64), np.empty(count, np.int64), np.zeros(count, np.int64)
    bounds = np.full((count, width), -1)
    lists = _Lists(np.full(len(units), -1), np.full(len(units), -1), np.full(count, -1), np.full(count, -1))
    path = 0
    for run in range(len(units)):
        if runs.tail[run] >= 0:
            continue
        lists.first[run], lists.last[run] = path, path + units[run] - 1
        for i in range(units[run]):
            lists.before[path] = path - 1 if i > 0 else -1
            lists.after[path] = path + 1 if i < units[run] - 1 else -1
            sentence[path], kind[path] = runs.sentence[run], runs.kind[run]
            _extend(run, runs, path, size, bounds)
            path += 1
    for joint in range(len(runs.place)):
        first, last = _gather(runs, graph, joint, lists, bounds)
        _deal(graph, joint, units, lists, first, last)
        for i in range(graph.out[joint]):
            run = graph.outs[joint, i]
            if runs.ptr[run] < runs.ptr[run + 1]:
                path = lists.first[run]
                while path >= 0:
                    _extend(run, runs, path, size, bounds)
                    path = lists.after[path]
    return sentence, kind, size, bounds


@kernel
def flagged(edges, now, following, start, begins, links):
    """Write the strand of one position that hyperedges say.

    Args:
        edges: (T, K, D), -1 for none.
        now, following: (E + 1,) bits that each says of its token and of the next; the last row is for none.
        start: the bit that says that a mention starts.
        begins: (T, K) output: 1 where that is said.
        links: (T, K, 1) output: the links.
    """
    tokens, types, depth = edges.shape
    for t in range(tokens):
        for k in range(types):
            said = 0
            for d in range(depth):
                said |= now[edges[t, k, d]]
                if t > 0:
                    said |= following[edges[t - 1, k, d]]
            begins[t, k] = (said & start) // start
            links[t, k, 0] = said & (STAY | END)


@kernel
def stranded(edges, place, strand, start, links):
    """Write one of the strands that hyperedges say.

    Args:
        edges: (T, K, D), -1 for none; the first at each token says nothing of a strand.
        place: (E + 1, 3) strand, position and links of each; of a start, position -1 and the positions as bits.
        strand: its number.
        start: (T, K) zeros, output.
        links: (T, K, P) zeros, output.
    """
    tokens, types, depth = edges.shape
    for t in range(tokens):
        for k in range(types):
            for d in range(1, depth):
                own, position, said = place[edges[t, k, d]]
                if own == strand:
                    if position < 0:
                        start[t, k] = max(start[t, k], said)
                    else:
                        links[t, k, position] = said
