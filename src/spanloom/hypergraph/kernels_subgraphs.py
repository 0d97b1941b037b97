"""Kernels that count each sub-hypergraph once: sums, marginals, best and k best over the automaton of a template.

Several (sentence, type) pairs run side by side as *lanes*, so that every arc is one vector operation: a group of
sentences of falling length, times K types. At token t the first ``n`` lanes are the sentences that reach it. With
p[r] = exp(score of role r) and w[e] = product of p over the roles of hyperedge e, or the sum over a bundle of them,

    b[s]   = sum over arcs s -> d with hyperedge e of w[e] b[d]        (inside, from the last token to the first)
    a[d]   = sum over arcs s -> d with hyperedge e of a[s] w[e]        (outside, from the first to the last)
    m[e]   = w[e] * sum over its arcs of a[s] b[d] / (sum over entries of a b)

in the linear domain, with one scale factor a token and lane: five times faster than logarithms. Inside scores of all
states are kept, so that the way back need not compute them again. A number could only vanish below the smallest float
after it was seen to be tiny, or by one step of enormous scores. Lanes where either happens are not *safe*; the caller
computes them again in the log domain (`log_sums`). So the result is exact for any scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel, kernel_only, kernel_only_no_refcount
from spanloom.kernels_exp import exponential

_LARGEST = 40.0  # a finite score beyond this makes a lane unsafe
_TINIEST = 1e-150  # so does a scaled value between 0 and this: the next token could take it below 1e-308

_NORMAL = 2.3e-308  # the smallest float64 of all its digits, about
_LOG_2 = 0.6931471805599453
_DIGITS, _BIAS = np.int64(52), np.int64(1023)  # of a float64's fraction, and of its exponent
_FRACTION, _ONE = np.int64((1 << 52) - 1), np.int64(1023 << 52)  # the bits of a fraction, and of 1

_PIECE = 64  # hyperedges whose gates stay in a cache


class Forbidden(NamedTuple):
    """What a mask forbids a group of sentences. Weights are set only at tokens where it forbids something.

    Args:
        allowed: (T, E times K) 0 where a hyperedge of the template is forbidden; no rows where none is.
        partly: (longest, sentences) whether anything is forbidden at a token; no rows without a mask.
        column: (E,) where a hyperedge's K columns of ``allowed`` begin.
        steady: (E,) whether a hyperedge weighs the same at every token, but for the mask.
        gate: (piece, lanes) scratch: what is allowed, lanes side by side.
        held: (1,) whether the weights of steady hyperedges are those of a token where something is forbidden.
    """

    allowed: NDArray[np.uint8]
    partly: NDArray[np.bool_]
    column: NDArray[np.uint64]
    steady: NDArray[np.bool_]
    gate: NDArray[np.uint8]
    held: NDArray[np.bool_]


@kernel_only
def _forbidden(allowed, starts, ends, types, automaton):
    """Look through the mask of a group, once."""
    count = len(starts)
    partly = np.zeros((ends[0] - starts[0] if len(allowed) > 0 else 0, count), np.bool_)
    for j in range(count if len(allowed) > 0 else 0):
        for token in range(ends[j] - starts[j]):
            row, zeros = allowed[starts[j] + token], 0
            for i in range(len(row)):  # faster than to stop at the first
                zeros += row[i] == 0
            partly[token, j] = zeros > 0
    role_ptr, number = automaton.hyperedges.role_ptr, automaton.number
    column = (np.maximum(number, 0) * types).astype(np.uint64)
    gate = np.empty((_PIECE, count * types), np.uint8)
    return Forbidden(allowed, partly, column, role_ptr[:-1] == role_ptr[1:], gate, np.zeros(1, np.bool_))


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
        for r in range(roles):
            for k in range(types):
                for j in range(reach):
                    p[token, r, j * types + k] = scores[starts[j] + token, r, k]
            # apart from the above, so that it is a loop of vector operations
            for lane in range(reach * types):
                score = p[token, r, lane]
                safe[lane] &= abs(score) <= _LARGEST or score == -np.inf
                p[token, r, lane] = exponential(score)


@kernel_only_no_refcount
def _forbid(w, base, mask, starts, types, token, count, automaton):
    """Forbid hyperedges at a token of the first sentences, and lift what was forbidden at the one before.

    Hyperedges are gone through in pieces, whose gates stay in a cache.
    """
    number, gate, forbidden = automaton.number, mask.gate, False
    for j in range(count):
        forbidden |= mask.partly[token, j]
    for begin in range(0, len(number) if forbidden or mask.held[0] else 0, _PIECE):
        edges = min(_PIECE, len(number) - begin)
        for i in range(edges):
            for lane in range(count * types):
                gate[i, lane] = 1
        for j in range(count):
            if mask.partly[token, j]:
                for k in range(types):
                    lane, row = j * types + k, mask.allowed[starts[j] + token, k:]
                    for i in range(edges):
                        gate[i, lane] = row[mask.column[begin + i]]
        for i in range(edges):
            e = begin + i
            if number[e] >= 0:
                weights = base[e] if mask.steady[e] else w[e]
                for lane in range(count * types):
                    w[e, lane] = weights[lane] if gate[i, lane] > 0 else 0.0
    mask.held[0] = forbidden


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
        _forbid(w, base, mask, starts, types, token, lanes // types, automaton)
    for i in range(len(bundle_ptr) - 1):
        bundle = len(hyperedges.constant) + i
        for lane in range(lanes):
            w[bundle, lane] = 0.0
        for j in range(bundle_ptr[i], bundle_ptr[i + 1]):
            for lane in range(lanes):
                w[bundle, lane] += w[bundle_edge[j], lane]


@kernel_only_no_refcount
def _gather(values, here, there, order, w, choice, lanes):
    """Add to values[here] the sum over arcs of w * values[there], arcs in runs of equal ``here``, four at once."""
    i = 0
    while i < len(order):
        first = order[i]
        s = here[first]
        if i + 3 < len(order) and here[order[i + 3]] == s:
            second, third, fourth = order[i + 1], order[i + 2], order[i + 3]
            d, d2, d3, d4 = there[first], there[second], there[third], there[fourth]
            e, e2, e3, e4 = choice[first], choice[second], choice[third], choice[fourth]
            for lane in range(lanes):
                total = values[s, lane] + w[e, lane] * values[d, lane]
                total += w[e2, lane] * values[d2, lane]
                total += w[e3, lane] * values[d3, lane]
                values[s, lane] = total + w[e4, lane] * values[d4, lane]
            i += 4
        else:
            d, e = there[first], choice[first]
            for lane in range(lanes):
                values[s, lane] += w[e, lane] * values[d, lane]
            i += 1


@kernel_only_no_refcount
def _scale(values, first, lanes, result, to, total, safe):
    """Scale rows from ``first`` on to sum 1, into as many rows of ``result``, all from ``to`` on; find their sums."""
    for lane in range(lanes):
        total[lane] = 0.0
    for x in range(len(result) - to):
        for lane in range(lanes):
            total[lane] += values[first + x, lane]
    for x in range(len(result) - to):
        for lane in range(lanes):  # 0 where everything is forbidden
            value = values[first + x, lane] / total[lane] if total[lane] > 0.0 else 0.0
            result[to + x, lane] = value
            safe[lane] &= value >= _TINIEST or value == 0.0


@kernel_only_no_refcount
def _multiply(product, exponent, factor, lanes, safe):
    """Multiply numbers in [1, 2) times powers of 2, which have no largest; a factor of 0 is left to the caller."""
    for lane in range(lanes):
        safe[lane] &= _NORMAL <= factor[lane] < np.inf or factor[lane] == 0.0
        bits = np.float64(product[lane] * factor[lane]).view(np.int64)
        exponent[lane] += (bits >> _DIGITS) - _BIAS
        product[lane] = np.int64((bits & _FRACTION) | _ONE).view(np.float64)


@kernel_only
def _inside(b, log_partition, safe, base, p, w, mask, starts, ends, types, order, automaton):
    """Compute the inside scores of states, (T, S, lanes), scaled where they are exits, and log_partition of lanes."""
    accept, exits = automaton.accept, len(automaton.order)
    product, total = np.ones(len(log_partition)), np.empty(len(log_partition))
    exponent = np.zeros(len(log_partition), np.int64)
    lanes_next = 0
    for token in range(ends[0] - starts[0] - 1, -1, -1):
        lanes, own = _reach(starts, ends, len(starts), token) * types, b[token]
        if lanes_next > 0:
            _scale(b[token + 1], 0, lanes_next, own, exits, total, safe)
            _multiply(product, exponent, total, lanes_next, safe)
        for x in range(len(accept)):
            for lane in range(lanes_next, lanes):
                own[exits + x, lane] = accept[x]
        for s in range(exits):
            for lane in range(lanes):
                own[s, lane] = 0.0
        _weigh(w, base, p, mask, starts, types, token, lanes, lanes_next, automaton)
        _gather(own, automaton.source, automaton.target, order, w, automaton.edge, lanes)
        lanes_next = lanes
    for lane in range(lanes_next):
        log_partition[lane] = np.log(b[0, automaton.root, lane]) + np.log(product[lane]) + exponent[lane] * _LOG_2


@kernel_only
def _lane_weights(constants, lanes, automaton):
    """Compute the weights of hyperedges without their roles, (E, lanes), and which lanes they leave safe.

    A lane's type is that of its number, so the first lanes of many are those of few.
    """
    edge_constant, types = automaton.hyperedges.constant, constants.shape[1]
    base = np.ones((len(edge_constant) + len(automaton.bundle_ptr) - 1, lanes))
    safe = np.ones(lanes, np.bool_)
    for e in range(len(edge_constant)):
        if edge_constant[e] >= 0:
            for k in range(types):
                score = np.float64(constants[edge_constant[e], k])
                base[e, k::types] = exponential(score)
                if not (abs(score) <= _LARGEST or score == -np.inf):  # NaN is not, either
                    safe[k::types] = False
    return base, safe


@kernel_only_no_refcount
def _begin(a, entry, b, lanes, norm):
    """Set the outside scores of a token's entries, so that with their inside scores they sum to 1, and others to 0."""
    for lane in range(lanes):
        norm[lane] = 0.0
    for x in range(len(entry)):
        for lane in range(lanes):
            norm[lane] += entry[x, lane] * b[x, lane]
    for lane in range(lanes):
        norm[lane] = 1.0 / norm[lane] if norm[lane] > 0.0 else 0.0
    for x in range(len(entry)):
        for lane in range(lanes):
            a[x, lane] = entry[x, lane] * norm[lane]
    for s in range(len(entry), len(a)):
        for lane in range(lanes):
            a[s, lane] = 0.0


@kernel_only_no_refcount
def _count(count, share, a, b, w, varies, masked, lanes, automaton):
    """Count the hyperedges and bundles of a token's arcs.

    Those that vary have their counts in ``count``, (E, lanes), but for their weights. Counts of others are added to
    ``share``, with their weights where a mask changes these.
    """
    source, target, edge = automaton.source, automaton.target, automaton.edge
    bundle_ptr, bundle_edge, constant = automaton.bundle_ptr, automaton.bundle_edge, automaton.hyperedges.constant
    for e in range(len(count)):
        if varies[e]:
            for lane in range(lanes):
                count[e, lane] = 0.0
    for i in range(len(source)):
        s, d, e = source[i], target[i], edge[i]
        if varies[e]:
            for lane in range(lanes):
                count[e, lane] += a[s, lane] * b[d, lane]
        elif constant[e] >= 0 and masked:
            for lane in range(lanes):
                share[e, lane] += a[s, lane] * w[e, lane] * b[d, lane]
        elif constant[e] >= 0:
            for lane in range(lanes):
                share[e, lane] += a[s, lane] * b[d, lane]
    for i in range(len(bundle_ptr) - 1):
        bundle = len(constant) + i
        for j in range(bundle_ptr[i], bundle_ptr[i + 1]):
            e = bundle_edge[j]
            if varies[e]:
                for lane in range(lanes):
                    count[e, lane] += count[bundle, lane]
            elif constant[e] >= 0 and masked:
                for lane in range(lanes):
                    share[e, lane] += count[bundle, lane] * w[e, lane]
            elif constant[e] >= 0:
                for lane in range(lanes):
                    share[e, lane] += count[bundle, lane]


@kernel_only_no_refcount
def _count_roles(present, following, count, share, w, lanes, lanes_next, hyperedges):
    """Count the roles of a token's hyperedges, at this token and the next, (R, lanes) each."""
    for e in hyperedges.varying:
        for lane in range(lanes):
            count[e, lane] *= w[e, lane]
        if hyperedges.constant[e] >= 0:
            for lane in range(lanes):
                share[e, lane] += count[e, lane]
        for i in range(hyperedges.role_ptr[e], hyperedges.role_ptr[e + 1]):
            r = hyperedges.role[i]
            if hyperedges.step[i]:
                for lane in range(lanes_next):
                    following[r, lane] += count[e, lane]
            else:
                for lane in range(lanes):
                    present[r, lane] += count[e, lane]


@kernel_only_no_refcount
def _write(expected, counts, occurring, starts, types, token, reach):
    """Write the counts of a token's roles, (R, lanes), for the first sentences."""
    for r in occurring:
        for k in range(types):
            for j in range(reach):
                expected[starts[j] + token, r, k] = counts[r, j * types + k]


@kernel_only
def _outside(expected, share, safe, b, base, p, w, mask, starts, ends, types, order, automaton):
    """Compute expected counts of a group: of roles, and of hyperedges in each lane, ``share``, as `_count` says."""
    lanes_all, hyperedges = len(safe), automaton.hyperedges
    states, entries, exits = len(automaton.first), len(automaton.accept), len(automaton.order)
    masked = len(mask.allowed) > 0
    varies = np.zeros(len(w), np.bool_)
    varies[hyperedges.varying] = True
    varies[len(hyperedges.constant) :] = True
    occurring = np.unique(hyperedges.role)
    a, entry = np.empty((states, lanes_all)), np.zeros((entries, lanes_all))
    entry[automaton.root] = 1.0
    count, norm = np.zeros((len(w), lanes_all)), np.empty(lanes_all)
    # counts of roles at this token and at the next: lanes lie side by side here, and rows apart in `expected`
    present, following = np.zeros((2, expected.shape[1], lanes_all), np.float32)
    for token in range(ends[0] - starts[0]):
        reach = _reach(starts, ends, len(starts), token)
        lanes = reach * types
        lanes_next = _reach(starts, ends, reach, token + 1) * types
        _weigh(w, base, p, mask, starts, types, token, lanes, lanes_next, automaton)
        _begin(a, entry, b[token], lanes, norm)
        _gather(a, automaton.target, automaton.source, order, w, automaton.edge, lanes)
        _count(count, share, a, b[token], w, varies, masked, lanes, automaton)
        _scale(a, exits, lanes, entry, 0, norm, safe)
        _count_roles(present, following, count, share, w, lanes, lanes_next, hyperedges)
        _write(expected, present, occurring, starts, types, token, reach)
        present, following = following, present
        following[:] = 0.0


@kernel_only_no_refcount
def _add_totals(totals, share, base, masked, hyperedges):
    """Add the counts of a lane's constants; hyperedges without roles are weighed now, unless there is a mask."""
    for e in range(len(share)):
        if hyperedges.constant[e] >= 0:
            steady = hyperedges.role_ptr[e] == hyperedges.role_ptr[e + 1] and not masked
            totals[hyperedges.constant[e]] += share[e] * (base[e] if steady else 1.0)


@kernel
def sums(
    scores, constants, allowed, group_ptr, sentences, offsets, orders, automaton, room, log_partition, safely, expected,
    totals,
):  # fmt: skip
    """Compute log_partition of each sentence and type and, where ``expected`` has rows, expected counts.

    Args:
        scores: (T, R, K) role scores.
        constants: (C, K) scores of constants.
        allowed: (T, E times K) 0 where a hyperedge of the template is forbidden; no rows where none is.
        group_ptr: groups of sentences, as ranges of ``sentences``.
        sentences: longest first, of all groups.
        offsets: (N + 1,) first token of each sentence.
        orders: the choices by source, last stages first, and by target, first stages first.
        automaton: the tables, with bundles.
        room: scratch, R + S numbers for each lane of a group and each token of its longest sentence.
        log_partition: (N, K), filled in.
        safely: (N, K), made false where a lane must be computed again; nothing of it is in ``expected`` and ``totals``.
        expected: (T, R, K) expected role counts, filled in; no rows to skip them.
        totals: (N, C, K) expected counts of constants, filled in.
    """
    backward, forward = orders
    hyperedges, roles, types = automaton.hyperedges, scores.shape[1], scores.shape[2]
    most = 0
    for g in range(len(group_ptr) - 1):
        most = max(most, (group_ptr[g + 1] - group_ptr[g]) * types)
    base, fits = _lane_weights(constants, most, automaton)
    w = base.copy()
    for g in range(len(group_ptr) - 1):
        group = sentences[group_ptr[g] : group_ptr[g + 1]]
        starts, ends = offsets[group], offsets[group + 1]
        lanes, tokens = len(group) * types, ends[0] - starts[0]
        cut, stop = tokens * roles * lanes, tokens * (roles + len(automaton.first)) * lanes
        p = room[:cut].reshape(tokens, roles, lanes)
        b = room[cut:stop].reshape(tokens, len(automaton.first), lanes)
        safe, log_z = fits[:lanes].copy(), np.empty(lanes)
        _exponentials(p, scores, starts, ends, types, safe)
        if len(allowed) > 0:  # which leaves weights that it forbids
            w[:] = base
        mask = _forbidden(allowed, starts, ends, types, automaton)
        _inside(b, log_z, safe, base, p, w, mask, starts, ends, types, backward, automaton)
        share = np.zeros((len(hyperedges.constant) if len(expected) > 0 else 0, lanes))
        if len(expected) > 0:
            _outside(expected, share, safe, b, base, p, w, mask, starts, ends, types, forward, automaton)
        for lane in range(lanes):
            n, k = group[lane // types], lane % types
            log_partition[n, k], safely[n, k] = log_z[lane], safe[lane] and log_z[lane] < np.inf
            if safely[n, k]:
                _add_totals(totals[n, :, k], share[:, lane], base[:, lane], len(allowed) > 0, hyperedges)
            elif len(expected) > 0:
                expected[offsets[n] : offsets[n + 1], :, k] = 0.0
