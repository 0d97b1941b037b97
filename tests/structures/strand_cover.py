"""A cover of strands by few paths in plain Python, for what the kernel must do to the letter.

It goes over arcs, not runs, and its searches over joints and the runs between them; see
`spanloom.structures.strands.reading` for the steps.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from spanloom.structures.strands.graph import Strand
from spanloom.structures.strands.pieces import ADVANCE, END, STAY

START = 0
Node = tuple[int, int, int]  # token, type, position
Bounds = tuple[int, ...]


class Run(NamedTuple):
    """What lies between two joints."""

    tail: Node | None
    head: Node | None
    leaves: int
    enters: int
    bounds: Bounds
    kind: int


def steps(strand: Strand, node: Node) -> list[tuple[int, Node | None]]:
    t, k, p = node
    after = {STAY: (t + 1, k, p), ADVANCE: (t + 1, k, p + 1), END: None}
    return [(bit, after[bit]) for bit in (STAY, ADVANCE, END) if strand.links[node] & bit]


def runs_of(strand: Strand) -> tuple[list[Node], list[Run]]:
    tokens, types, positions = strand.links.shape
    nodes = [(t, k, p) for t in range(tokens) for k in range(types) for p in range(positions) if strand.links[t, k, p]]
    into = dict.fromkeys(nodes, 0)
    starts = [node for node in nodes if strand.start[node[:2]] >> node[2] & 1]
    for node in starts:
        into[node] += 1
    for node in nodes:
        for _, after in steps(strand, node):
            if after is not None:
                into[after] += 1
    joints = [node for node in nodes if into[node] != 1 or len(steps(strand, node)) != 1]

    def follow(tail: Node | None, step: int, at: Node | None, bounds: Bounds, kind: int) -> Run:
        leaves = step
        while at is not None and at not in joints:
            [(step, after)] = steps(strand, at)
            bounds += () if step == STAY else (at[0] + 1,)
            at = after
        return Run(tail, at, leaves, step, bounds, kind)

    found = [follow(None, START, node, (node[0],) * (1 + node[2]), node[1]) for node in starts]
    for node in joints:
        for step, after in steps(strand, node):
            found.append(follow(node, step, after, () if step == STAY else (node[0] + 1,), node[1]))
    return joints, found


def cover(strand: Strand) -> Iterator[tuple[int, Bounds]]:
    """Yield type and bounds of each path, bounds as tokens of the batch."""
    joints, runs = runs_of(strand)
    rank = {STAY: 0, ADVANCE: 1, START: 2}
    into = {
        j: sorted((r for r, run in enumerate(runs) if run.head == j), key=lambda r: rank[runs[r].enters])
        for j in joints
    }
    outs = {}
    for joint in joints:
        if strand.heads:
            turn = ((STAY, ADVANCE), (ADVANCE, STAY, END), (STAY, END))[joint[2]]
        else:
            turn = (ADVANCE, STAY) if joint[2] % 2 else (STAY, END, ADVANCE)
        own = [r for r, run in enumerate(runs) if run.tail == joint]
        outs[joint] = sorted(own, key=lambda r, turn=turn: turn.index(runs[r].leaves))
    units = [1 + spare for spare in spares(strand, joints, runs, into, outs)]
    loads: list[list[Bounds]] = [[] for _ in runs]
    for r, run in enumerate(runs):
        if run.tail is None:
            loads[r] = [run.bounds] * units[r]
            if run.head is None:
                yield run.kind, run.bounds
    for joint in joints:
        first, *others = into[joint]
        stack = loads[first]
        for r in others:
            for path in loads[r]:
                if strand.heads:
                    insort(stack, path, key=itemgetter(0))
                else:
                    stack.append(path)
        for r in outs[joint]:
            taken, stack = stack[: units[r]], stack[units[r] :]
            loads[r] = [path + runs[r].bounds for path in taken]
            if runs[r].head is None:
                yield from ((joint[1], path) for path in loads[r])
        assert not stack


def spares(strand, joints, runs, into, outs) -> list[int]:  # type: ignore[no-untyped-def]
    """Return the units of each run beyond the first."""
    spare = [0] * len(runs)
    given, needs = dict.fromkeys(joints, 0), dict.fromkeys(joints, 0)
    for joint in joints:
        rest = given[joint] + len(into[joint]) - len(outs[joint])
        needs[joint] = max(-rest, 0)
        if rest > 0:
            spare[outs[joint][0]] = rest
            if runs[outs[joint][0]].head is not None:
                given[runs[outs[joint][0]].head] += rest
    closed: set[Node] = set()
    for joint in joints:
        while needs[joint] and joint not in closed:
            way, seen = search(joint, runs, into, outs, spare, closed)
            if way is None:
                closed |= seen
                break
            for r, change in way:
                spare[r] += change
            needs[joint] -= 1
    for joint in reversed(joints):
        if needs[joint]:
            r = into[joint][-1 if not strand.heads and joint[2] % 2 else 0]
            spare[r] += needs[joint]
            if runs[r].tail is not None:
                needs[runs[r].tail] += needs[joint]
    return spare


def search(joint, runs, into, outs, spare, closed):  # type: ignore[no-untyped-def]
    """Return the changes along the shortest way from a joint to an end with a spare unit; and the joints seen."""
    ways = {joint: []}
    queue = deque(ways)
    while queue:
        at = queue.popleft()
        for r in outs[at]:
            if spare[r] and runs[r].head is None:
                return [*ways[at], (r, -1)], set(ways)
            if spare[r] and runs[r].head not in ways and runs[r].head not in closed:
                ways[runs[r].head] = [*ways[at], (r, -1)]
                queue.append(runs[r].head)
        for r in into[at]:
            if runs[r].tail is not None and runs[r].tail not in ways and runs[r].tail not in closed:
                ways[runs[r].tail] = [*ways[at], (r, 1)]
                queue.append(runs[r].tail)
    return None, set(ways)
