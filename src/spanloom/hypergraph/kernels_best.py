"""Viterbi kernel: best structures, in either way of counting.

Pairs of a sentence and a type run side by side as *lanes*, the longest sentences first. With w[e] the score of
hyperedge e, or the largest of a bundle,

    b[s] = max over the choices c of state s of (w[edge of c] + sum over targets d of c of b[d])

from the last token to the first. The choice that gives the maximum is kept for each state, token and lane; to look for
it again where the best structure comes by takes longer, as processors cannot foresee what is found. Choices stand in
the order of their hyperedges, bundles included, so the first of equal choices is the first hyperedge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel, kernel_only, kernel_only_no_refcount


class Room(NamedTuple):
    """Scratch arrays for one token, for each lane.

    Args:
        b: (S, lanes) the best scores of states.
        w: (E + bundles, lanes) the scores of hyperedges, and the largest of each bundle.
        constant: (E, lanes) the constant scores of hyperedges.
        p: (2, R, lanes) role scores of this token and the next, at its number modulo 2.
        best, pick: (lanes,) the largest score so far, and its choice.
        sum: (lanes,) a sum over several states.
        none: (lanes,) zeros.
    """

    b: NDArray[np.float64]
    w: NDArray[np.float64]
    constant: NDArray[np.float64]
    p: NDArray[np.float64]
    best: NDArray[np.float64]
    pick: NDArray[np.int64]
    sum: NDArray[np.float64]
    none: NDArray[np.float64]


@kernel_only_no_refcount
def _take(one, two, this, best, pick, lanes):
    """Keep the larger of one + two and the best so far, with its choice."""
    for lane in range(lanes):
        value = one[lane] + two[lane]
        pick[lane] = this if value > best[lane] else pick[lane]
        best[lane] = value if value > best[lane] else best[lane]


@kernel_only_no_refcount
def _weigh(room, members, allowed, starts, kinds, types, token, lanes, lanes_next, varying, automaton):
    """Compute the scores of hyperedges that vary, and of bundles with their best member, at a token."""
    w, best, pick = room.w, room.best, room.pick
    hyperedges, bundle_ptr, bundle_edge = automaton.hyperedges, automaton.bundle_ptr, automaton.bundle_edge
    for e in varying:
        for lane in range(lanes):
            w[e, lane] = room.constant[e, lane]
        for i in range(hyperedges.role_ptr[e], hyperedges.role_ptr[e + 1]):
            r, step = hyperedges.role[i], hyperedges.step[i]
            for lane in range(lanes_next if step else lanes):
                w[e, lane] += room.p[(token + step) % 2, r, lane]
        number = automaton.number[e]
        for lane in range(lanes if len(allowed) > 0 and number >= 0 else 0):
            if not allowed[starts[lane] + token, number * types + kinds[lane]]:
                w[e, lane] = -np.inf
    for i in range(len(bundle_ptr) - 1):
        for lane in range(lanes):
            best[lane], pick[lane] = -np.inf, bundle_edge[bundle_ptr[i]]
        for j in range(bundle_ptr[i], bundle_ptr[i + 1]):
            _take(w[bundle_edge[j]], room.none, bundle_edge[j], best, pick, lanes)
        for lane in range(lanes):
            w[len(hyperedges.constant) + i, lane] = best[lane]
            members[i, lane] = pick[lane]


@kernel_only_no_refcount
def _pull(room, choices, lanes, automaton):
    """Compute the best scores of a token's states, from those of its exits, and the choices that give them.

    Each choice leads to one state here. The first two are compared at once: most states have no more.
    """
    b, w, best, pick = room.b, room.w, room.best, room.pick
    edge, target = automaton.edge, automaton.target
    for j in range(len(automaton.order) - 1, -1, -1):
        s = automaton.order[j]
        first, stop = automaton.first[s], automaton.stop[s]
        if lanes == 1 or stop == first:
            for lane in range(lanes):
                b[s, lane], choices[s, lane] = -np.inf, first
                for c in range(first, stop):
                    value = w[edge[c], lane] + b[target[c], lane]
                    if value > b[s, lane]:
                        b[s, lane], choices[s, lane] = value, c
            continue
        second = first + 1 if stop > first + 1 else first
        e, d, e2, d2 = edge[first], target[first], edge[second], target[second]
        for lane in range(lanes):
            one, two = w[e, lane] + b[d, lane], w[e2, lane] + b[d2, lane]
            one = one if one > -np.inf else -np.inf
            pick[lane] = second if two > one else first
            best[lane] = two if two > one else one
        for c in range(first + 2, stop):
            _take(w[edge[c]], b[target[c]], c, best, pick, lanes)
        for lane in range(lanes):
            b[s, lane] = best[lane]
        for lane in range(lanes):
            choices[s, lane] = pick[lane]


@kernel_only_no_refcount
def _gather(room, choices, lanes, automaton):
    """Compute the same as `_pull`, where a choice leads to any number of states."""
    b, w, best, pick, total = room.b, room.w, room.best, room.pick, room.sum
    edge, target_ptr, target = automaton.edge, automaton.target_ptr, automaton.target
    for j in range(len(automaton.order) - 1, -1, -1):
        s = automaton.order[j]
        for lane in range(lanes):
            best[lane], pick[lane] = -np.inf, automaton.first[s]
        for c in range(automaton.first[s], automaton.stop[s]):
            begin, last = target_ptr[c], target_ptr[c + 1] - 1
            for lane in range(lanes):
                total[lane] = w[edge[c], lane]
            for i in range(begin, last):
                for lane in range(lanes):
                    total[lane] += b[target[i], lane]
            _take(total, b[target[last]] if begin <= last else room.none, c, best, pick, lanes)
        for lane in range(lanes):
            b[s, lane] = best[lane]
        for lane in range(lanes):
            choices[s, lane] = pick[lane]


@kernel_only_no_refcount
def _follow(choices, members, total, starts, ends, kinds, states, automaton, picked):
    """Collect the hyperedges of the best structures that are not forbidden, where each choice leads to one state.

    Lanes take turns at each token, so that the processor reads for one while it waits for another.
    """
    edge, target, number = automaton.edge, automaton.target, automaton.number
    inside, edges, bundles = len(automaton.order), len(number), len(automaton.bundle_ptr) - 1
    lanes = len(starts)
    for lane in range(lanes):
        states[lane] = automaton.root
    for token in range(ends[0] - starts[0]):
        while starts[lanes - 1] + token >= ends[lanes - 1]:
            lanes -= 1
        for lane in range(lanes):
            if total[lane] == -np.inf:
                continue
            s, row, k, depth = states[lane], starts[lane] + token, kinds[lane], 0
            while depth < picked.shape[2] and picked[row, k, depth] >= 0:  # by another part of the template
                depth += 1
            while s < inside:
                choice = choices[token * inside + s, lane]
                e = edge[choice]
                if e >= edges:
                    e = members[token * bundles + e - edges, lane]
                if number[e] >= 0:
                    picked[row, k, depth] = number[e]
                    depth += 1
                s = target[choice]
            states[lane] = s - inside


@kernel_only_no_refcount
def _reach(state, reached, count):
    """Add a state to the reached ones, once; return their number."""
    for i in range(count):
        if reached[i] == state:
            return count
    reached[count] = state
    return count + 1


@kernel_only_no_refcount
def _unfold(choices, lane, start, end, k, automaton, reached, picked):
    """Collect the same as `_follow`, where a choice leads to any number of states: from the root on, parents first."""
    edge, target_ptr, target, number = automaton.edge, automaton.target_ptr, automaton.target, automaton.number
    inside = len(automaton.order)
    reached[0, 0] = automaton.root
    count = 1
    for token in range(end - start):
        now, following = reached[token % 2], reached[(token + 1) % 2]
        ahead = depth = 0
        while count > 0:
            at = 0
            for i in range(1, count):
                at = i if now[i] < now[at] else at
            choice = choices[token * inside + now[at], lane]
            count -= 1
            now[at] = now[count]
            picked[start + token, k, depth] = number[edge[choice]]
            depth += 1
            for i in range(target_ptr[choice], target_ptr[choice + 1]):
                if target[i] < inside:
                    count = _reach(target[i], now, count)
                else:
                    ahead = _reach(target[i] - inside, following, ahead)
        count = ahead


@kernel_only
def _choose(scores, constants, allowed, starts, ends, kinds, single, automaton, choices, members, total):
    """Fill in the choices of all states, the members of all bundles and the best scores, of some lanes."""
    hyperedges, accept, inside = automaton.hyperedges, automaton.accept, len(automaton.order)
    entries, edges, bundles = len(accept), len(automaton.number), len(automaton.bundle_ptr) - 1
    lanes_all, roles = len(starts), scores.shape[1]
    b, w = np.empty((inside + entries, lanes_all)), np.empty((edges + bundles, lanes_all))
    varying = np.arange(edges) if len(allowed) > 0 else hyperedges.varying
    p = np.empty((2, roles, lanes_all))
    best, pick = np.empty(lanes_all), np.empty(lanes_all, np.int64)
    for e in range(edges):
        for lane in range(lanes_all):
            w[e, lane] = constants[hyperedges.constant[e], kinds[lane]] if hyperedges.constant[e] >= 0 else 0.0
    room = Room(b, w, w[:edges].copy(), p, best, pick, np.empty(lanes_all), np.zeros(lanes_all))
    lanes = np.int64(0)  # a literal would be another type, for which kernels are compiled, too
    for token in range(ends[0] - starts[0] - 1, -1, -1):
        lanes_next = lanes
        for x in range(entries):
            for lane in range(lanes_next):
                b[inside + x, lane] = b[x, lane]
        while lanes < lanes_all and starts[lanes] + token < ends[lanes]:
            for x in range(entries):
                b[inside + x, lanes] = 0.0 if accept[x] else -np.inf
            lanes += 1
        for lane in range(lanes):
            for r in range(roles):
                p[token % 2, r, lane] = scores[starts[lane] + token, r, kinds[lane]]
        _weigh(
            room, members[token * bundles :], allowed, starts, kinds, scores.shape[2], token, lanes, lanes_next,
            varying, automaton,
        )  # fmt: skip
        if single:
            _pull(room, choices[token * inside :], lanes, automaton)
        else:
            _gather(room, choices[token * inside :], lanes, automaton)
    for lane in range(lanes_all):
        total[lane] = b[automaton.root, lane]


@kernel
def best(scores, constants, allowed, group_ptr, sentence, kind, offsets, automaton, score, edges):
    """Find the best structure of each lane; of equal choices the first hyperedge wins.

    Args:
        scores: (T, R, K) role scores.
        constants: (C, K) scores of constants.
        allowed: (T, E times K) 0 where a hyperedge is forbidden; no rows where none is.
        group_ptr: lanes that run side by side, as ranges.
        sentence, kind: (lanes,) sentence and type of each; in a group, longest sentences first.
        offsets: (N + 1,) first token of each sentence.
        automaton: the tables, where choices of a state stand in the order of their hyperedges.
        score: (N, K), added to; -inf where every structure is forbidden.
        edges: (T, K, D) the hyperedges picked at each token, parents first; appended to existing ones.
    """
    states, bundles = len(automaton.order), len(automaton.bundle_ptr) - 1
    reached = np.empty((2, len(automaton.first)), np.int64)
    other = 0  # choices that do not lead to one state
    for c in range(len(automaton.edge)):
        other += automaton.target_ptr[c + 1] - automaton.target_ptr[c] != 1
    for g in range(len(group_ptr) - 1):
        sentences, kinds = sentence[group_ptr[g] : group_ptr[g + 1]], kind[group_ptr[g] : group_ptr[g + 1]]
        lanes = len(kinds)
        starts, ends = np.empty(lanes, np.int64), np.empty(lanes, np.int64)
        for lane in range(lanes):
            starts[lane], ends[lane] = offsets[sentences[lane]], offsets[sentences[lane] + 1]
        longest = ends[0] - starts[0]
        choices, members = np.empty((longest * states, lanes), np.int32), np.empty((longest * bundles, lanes), np.int32)
        total = np.empty(lanes)
        _choose(scores, constants, allowed, starts, ends, kinds, other == 0, automaton, choices, members, total)
        for lane in range(lanes):
            score[sentences[lane], kinds[lane]] += total[lane]
        if other == 0:
            _follow(choices, members, total, starts, ends, kinds, np.empty(lanes, np.int64), automaton, edges)
            continue
        for lane in range(lanes):
            if total[lane] > -np.inf:
                _unfold(choices, lane, starts[lane], ends[lane], kinds[lane], automaton, reached, edges)
