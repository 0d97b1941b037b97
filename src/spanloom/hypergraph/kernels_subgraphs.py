"""Kernels that count each sub-hypergraph once: sums, marginals, best and k best over the automaton of a template.

Several (sentence, type) pairs run side by side as *lanes*, so that every arc is one vector operation: a group of
sentences of falling length, times K types. At token t the first ``n`` lanes are the sentences that reach it. With
p[r] = exp(score of role r) and w[e] = product of p over the roles of hyperedge e, or the sum over a bundle of them,

    b[s]   = sum over arcs s -> d with hyperedge e of w[e] b[d]        (inside, from the last token to the first)
    a[d]   = sum over arcs s -> d with hyperedge e of a[s] w[e]        (outside, from the first to the last)
    m[e]   = w[e] * sum over its arcs of a[s] b[d] / (sum over entries of a b)

in the linear domain, with one scale factor a token and lane: five times faster than logarithms. A number could only
vanish below the smallest float after it was seen to be tiny, or by one step of enormous scores. Lanes where either
happens are not *safe*; the caller computes them again in the log domain (`log_sums`). So the result is exact for any
scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel, kernel_only
from spanloom.kernels_exp import exponential

_LARGEST = 40.0  # a finite score beyond this makes a lane unsafe
_TINIEST = 1e-150  # so does a scaled value between 0 and this: the next token could take it below 1e-308

_PIECE = 64  # hyperedges whose weights stay in a cache


class Forbidden(NamedTuple):
    """What a mask forbids a group of sentences. Weights are set only where it forbids something.

    Args:
        allowed: (T, E times K) 0 where a hyperedge of the template is forbidden; no rows where none is.
        partly: (longest, sentences) whether anything is forbidden at a token; no rows without a mask.
        held: (sentences,) whether a sentence's weights are those of a token where something is.
        touched: (sentences,) scratch: those whose weights are set at a token.
        steady: (E,) whether a hyperedge weighs the same at every token, but for the mask.
        plain: (E, K) weights of hyperedges without their roles, the same for all sentences.
    """

    allowed: NDArray[np.uint8]
    partly: NDArray[np.bool_]
    held: NDArray[np.bool_]
    touched: NDArray[np.int64]
    steady: NDArray[np.bool_]
    plain: NDArray[np.float64]


@kernel_only
def _forbidden(allowed, starts, ends, base, types, automaton):
    """Look through the mask of a group, once."""
    count, plain = len(starts), base[:, :types].copy()
    partly = np.zeros((ends[0] - starts[0] if len(allowed) > 0 else 0, count), np.bool_)
    for j in range(count if len(allowed) > 0 else 0):
        for token in range(ends[j] - starts[j]):
            row, least = allowed[starts[j] + token], np.uint8(1)
            for i in range(len(row)):
                least = min(least, row[i])
            partly[token, j] = least == 0
    role_ptr, number = automaton.hyperedges.role_ptr, automaton.number
    steady = (role_ptr[:-1] == role_ptr[1:]) & (number >= 0)
    return Forbidden(allowed, partly, np.zeros(count, np.bool_), np.empty(count, np.int64), steady, plain)


@kernel_only
def _reach(starts, ends, count, token):
    """Return the number of the group's sentences that have this token."""
    while count > 0 and starts[count - 1] + token >= ends[count - 1]:
        count -= 1
    return count


@kernel_only
def _exponentials(p, scores, starts, ends, types, safe):
    """Compute exp(score of each role) at the tokens of a group, (T, R, lanes)."""
    roles = scores.shape[1]
    for token in range(ends[0] - starts[0]):
        reach = _reach(starts, ends, len(starts), token)
        for j in range(reach):
            row = starts[j] + token
            for r in range(roles):
                for k in range(types):
                    p[token, r, j * types + k] = scores[row, r, k]
        for r in range(roles):  # apart from the above, so that it is a loop of vector operations
            for lane in range(reach * types):
                score = p[token, r, lane]
                safe[lane] &= abs(score) <= _LARGEST or score == -np.inf
                p[token, r, lane] = exponential(score)


@kernel_only
def _forbid(w, mask, starts, types, token, count, automaton):
    """Forbid hyperedges at a token of the first sentences, and lift what was forbidden where weights stayed.

    Hyperedges are gone through in pieces, since the weights of one lie side by side for all sentences.
    """
    number, touched = automaton.number, 0
    for j in range(len(starts)):
        forbidden = j < count and mask.partly[token, j]
        if forbidden or mask.held[j]:
            mask.touched[touched] = j
            touched += 1
        mask.held[j] = forbidden
    for begin in range(0, len(number) if touched > 0 else 0, _PIECE):
        end = min(begin + _PIECE, len(number))
        for i in range(touched):
            j = mask.touched[i]
            for k in range(types):
                _forbid_lane(w, mask, begin, end, starts[j] + token, mask.held[j], k, j * types + k, types, number)


@kernel_only
def _forbid_lane(w, mask, begin, end, row, held, k, lane, types, number):
    allowed = mask.allowed[row if held else 0]
    for e in range(begin, end):
        if number[e] >= 0:
            weight = mask.plain[e, k] if mask.steady[e] else w[e, lane]
            w[e, lane] = 0.0 if held and allowed[number[e] * types + k] == 0 else weight


@kernel_only
def _weigh(w, base, p, mask, starts, types, token, lanes, lanes_next, automaton):
    bundle_ptr, bundle_edge, hyperedges = automaton.bundle_ptr, automaton.bundle_edge, automaton.hyperedges
    for e in hyperedges.varying:
        first = hyperedges.role_ptr[e]
        r, step = hyperedges.role[first], hyperedges.step[first]
        reached = lanes_next if step else lanes
        for lane in range(reached):
            w[e, lane] = base[e, lane] * p[token + step, r, lane]
        for lane in range(reached, lanes):
            w[e, lane] = base[e, lane]
        for i in range(first + 1, hyperedges.role_ptr[e + 1]):
            r, step = hyperedges.role[i], hyperedges.step[i]
            for lane in range(lanes_next if step else lanes):
                w[e, lane] *= p[token + step, r, lane]
    if len(mask.allowed) > 0:
        _forbid(w, mask, starts, types, token, lanes // types, automaton)
    for i in range(len(bundle_ptr) - 1):
        bundle = len(hyperedges.constant) + i
        for lane in range(lanes):
            w[bundle, lane] = 0.0
        for j in range(bundle_ptr[i], bundle_ptr[i + 1]):
            for lane in range(lanes):
                w[bundle, lane] += w[bundle_edge[j], lane]


@kernel_only
def _pull(b, beta, token, lanes, w, automaton):
    """Compute the inside scores of a token's states, from those of the next token's entries."""
    source, target, edge = automaton.source, automaton.target, automaton.edge
    exits = len(automaton.order)
    for s in range(len(b)):
        for lane in range(lanes):
            b[s, lane] = 0.0
    for x in range(len(automaton.accept)):
        for lane in range(lanes):
            b[exits + x, lane] = beta[token + 1, x, lane]
    for i in range(len(source) - 1, -1, -1):
        s, d, e = source[i], target[i], edge[i]
        for lane in range(lanes):
            b[s, lane] += w[e, lane] * b[d, lane]


@kernel_only
def _scale(values, begin, lanes, result, safe, logarithm):
    """Scale rows from ``begin`` on to sum 1, into ``result``; add the logarithm of the sum."""
    for lane in range(lanes):
        total = 0.0
        for x in range(len(result)):
            total += values[begin + x, lane]
        logarithm[lane] += np.log(total)
        inverse = 1.0 / total if total > 0.0 else 0.0  # everything is forbidden
        for x in range(len(result)):
            value = values[begin + x, lane] * inverse
            result[x, lane] = value
            safe[lane] &= value >= _TINIEST or value == 0.0


@kernel_only
def _inside(beta, log_partition, safe, base, p, w, b, mask, starts, ends, types, automaton):
    """Compute the scaled inside scores of entries, (T + 1, S, lanes), and log_partition of each lane."""
    accept, entries = automaton.accept, len(automaton.accept)
    for lane in range(len(log_partition)):
        log_partition[lane] = 0.0
    lanes_next = 0
    for token in range(ends[0] - starts[0] - 1, -1, -1):
        lanes = _reach(starts, ends, len(starts), token) * types
        for x in range(entries):
            for lane in range(lanes_next, lanes):
                beta[token + 1, x, lane] = accept[x]
        _weigh(w, base, p, mask, starts, types, token, lanes, lanes_next, automaton)
        _pull(b, beta, token, lanes, w, automaton)
        _scale(b, 0, lanes, beta[token], safe, log_partition)
        lanes_next = lanes
    for lane in range(lanes_next):
        log_partition[lane] += np.log(beta[0, automaton.root, lane])


@kernel_only
def _lane_weights(constants, lanes, automaton):
    """Compute the weights of hyperedges without their roles, (E, lanes), and which lanes they leave safe.

    A lane's type is that of its number, so the first lanes of many are those of few.
    """
    edge_constant = automaton.hyperedges.constant
    base = np.ones((len(edge_constant) + len(automaton.bundle_ptr) - 1, lanes))
    safe = np.ones(lanes, np.bool_)
    for e in range(len(edge_constant)):
        if edge_constant[e] >= 0:
            for lane in range(lanes):
                score = np.float64(constants[edge_constant[e], lane % constants.shape[1]])
                base[e, lane] = exponential(score)
                safe[lane] &= abs(score) <= _LARGEST or score == -np.inf
    return base, safe


@kernel_only
def _write(expected, counts, occurring, starts, types, token, reach):
    """Write the counts of a token's roles, (R, lanes), for the first sentences."""
    for r in occurring:
        for j in range(reach):
            row = starts[j] + token
            for k in range(types):
                expected[row, r, k] = counts[r, j * types + k]


@kernel
def sums(scores, constants, allowed, group_ptr, order, offsets, automaton, log_partition, safely, expected, totals):
    """Compute log_partition of each sentence and type and, where ``expected`` has rows, expected counts.

    Args:
        scores: (T, R, K) role scores.
        constants: (C, K) scores of constants.
        allowed: (T, E times K) 0 where a hyperedge of the template is forbidden; no rows where none is.
        group_ptr: groups of sentences, as ranges of ``order``.
        order: sentences, longest first, of all groups.
        offsets: (N + 1,) first token of each sentence.
        automaton: the tables, with bundles.
        log_partition: (N, K), filled in.
        safely: (N, K), made false where a lane must be computed again; nothing of it is in ``expected`` and ``totals``.
        expected: (T, R, K) expected role counts, filled in; no rows to skip them.
        totals: (N, C, K) expected counts of constants, filled in.
    """
    source, target, edge = automaton.source, automaton.target, automaton.edge
    bundle_ptr, bundle_edge, hyperedges = automaton.bundle_ptr, automaton.bundle_edge, automaton.hyperedges
    edge_constant, role_ptr = hyperedges.constant, hyperedges.role_ptr
    states, entries, exits = len(automaton.first), len(automaton.accept), len(automaton.order)
    edges, bundles, types = len(edge_constant), len(bundle_ptr) - 1, scores.shape[2]
    # hyperedges without roles weigh the same at each token, but for a mask: without one their sum is weighed at the end
    masked = len(allowed) > 0
    varies = np.zeros(edges + bundles, np.bool_)
    varies[hyperedges.varying] = True
    varies[edges:] = True
    occurring = np.unique(hyperedges.role)
    # of the first group, which is the longest; others take as much of it as they need
    longest, most = offsets[order[group_ptr[0]] + 1] - offsets[order[group_ptr[0]]], 0
    for g in range(len(group_ptr) - 1):
        most = max(most, (group_ptr[g + 1] - group_ptr[g]) * types)
    base, fits = _lane_weights(constants, most, automaton)
    w, b = base.copy(), np.empty((states, most))
    p, beta = np.empty((longest + 1, scores.shape[1], most)), np.empty((longest + 1, entries, most))
    for g in range(len(group_ptr) - 1):
        sentences = order[group_ptr[g] : group_ptr[g + 1]]
        starts, ends = np.empty(len(sentences), np.int64), np.empty(len(sentences), np.int64)
        for j in range(len(sentences)):
            starts[j], ends[j] = offsets[sentences[j]], offsets[sentences[j] + 1]
        safe, log_z = fits[: len(sentences) * types].copy(), np.empty(len(sentences) * types)
        _exponentials(p, scores, starts, ends, types, safe)
        if masked:  # which leaves weights that it forbids
            w[:] = base
        mask = _forbidden(allowed, starts, ends, base, types, automaton)
        _inside(beta, log_z, safe, base, p, w, b, mask, starts, ends, types, automaton)
        for lane in range(len(log_z)):
            log_partition[sentences[lane // types], lane % types] = log_z[lane]
            safely[sentences[lane // types], lane % types] = safe[lane] and log_z[lane] < np.inf
        if len(expected) == 0:
            continue

        lanes_all = len(log_z)
        a = np.empty((states, lanes_all))
        count = np.zeros((edges + bundles, lanes_all))
        share = np.zeros((edges, lanes_all))
        unused = np.zeros(lanes_all)
        norm = np.empty(lanes_all)
        entry = np.zeros((entries, lanes_all))
        # counts of roles at this token and at the next: lanes lie side by side here, and rows apart in `expected`
        present, following = np.zeros((2, expected.shape[1], lanes_all), np.float32)
        for lane in range(lanes_all):
            entry[automaton.root, lane] = 1.0
        for token in range(ends[0] - starts[0]):
            reach = _reach(starts, ends, len(starts), token)
            lanes = reach * types
            lanes_next = _reach(starts, ends, reach, token + 1) * types
            _weigh(w, base, p, mask, starts, types, token, lanes, lanes_next, automaton)
            _pull(b, beta, token, lanes, w, automaton)
            for lane in range(lanes):
                z = 0.0
                for x in range(entries):
                    z += entry[x, lane] * b[x, lane]
                norm[lane] = 1.0 / z if z > 0.0 else 0.0
            for s in range(states):
                for lane in range(lanes):
                    a[s, lane] = entry[s, lane] * norm[lane] if s < entries else 0.0
            for e in range(len(count)):
                if varies[e]:
                    for lane in range(lanes):
                        count[e, lane] = 0.0
            for i in range(len(source)):
                s, d, e = source[i], target[i], edge[i]
                for lane in range(lanes):
                    a[d, lane] += a[s, lane] * w[e, lane]
                if varies[e]:
                    for lane in range(lanes):
                        count[e, lane] += a[s, lane] * b[d, lane]
                elif edge_constant[e] >= 0 and masked:
                    for lane in range(lanes):
                        share[e, lane] += a[s, lane] * w[e, lane] * b[d, lane]
                elif edge_constant[e] >= 0:
                    for lane in range(lanes):
                        share[e, lane] += a[s, lane] * b[d, lane]
            for i in range(bundles):
                for j in range(bundle_ptr[i], bundle_ptr[i + 1]):
                    e = bundle_edge[j]
                    if varies[e]:
                        for lane in range(lanes):
                            count[e, lane] += count[edges + i, lane]
                    elif edge_constant[e] >= 0 and masked:
                        for lane in range(lanes):
                            share[e, lane] += count[edges + i, lane] * w[e, lane]
                    elif edge_constant[e] >= 0:
                        for lane in range(lanes):
                            share[e, lane] += count[edges + i, lane]
            _scale(a, exits, lanes, entry, safe, unused)
            for e in hyperedges.varying:
                for lane in range(lanes):
                    count[e, lane] *= w[e, lane]
                if edge_constant[e] >= 0:
                    for lane in range(lanes):
                        share[e, lane] += count[e, lane]
                for i in range(role_ptr[e], role_ptr[e + 1]):
                    if hyperedges.step[i]:
                        for lane in range(lanes_next):
                            following[hyperedges.role[i], lane] += count[e, lane]
                    else:
                        for lane in range(lanes):
                            present[hyperedges.role[i], lane] += count[e, lane]
            _write(expected, present, occurring, starts, types, token, reach)
            present, following = following, present
            for r in range(len(following)):
                for lane in range(lanes):
                    following[r, lane] = 0.0
        for lane in range(lanes_all):
            n, k = sentences[lane // types], lane % types
            if safe[lane] and log_z[lane] < np.inf:
                for e in range(edges):
                    if edge_constant[e] >= 0:
                        weight = 1.0 if varies[e] or masked else base[e, lane]
                        totals[n, edge_constant[e], k] += share[e, lane] * weight
                continue
            safely[n, k] = False
            for row in range(offsets[n], offsets[n + 1]):
                for r in range(expected.shape[1]):
                    expected[row, r, k] = 0.0
