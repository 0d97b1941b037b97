"""Kernels in the log domain over the paths of a template's automaton, one sentence and type at a time.

The sums of `kernels_subgraphs` where those are not safe, and the k best structures. A choice's score is that of its
hyperedge; b and a are inside and outside scores, as there.
"""

import numpy as np

from spanloom.hypergraph.kernels_automaton import score_all
from spanloom.kernels import kernel, kernel_only

_NEGLIGIBLE = -40.0  # what is smaller by so much leaves a float64 as it is


@kernel_only
def _log_weights(w, scores, constants, allowed, row, end, k, automaton):
    """Compute the scores of hyperedges and of bundles."""
    bundle_ptr, bundle_edge = automaton.bundle_ptr, automaton.bundle_edge
    edges = len(automaton.hyperedges.constant)
    score_all(w, scores, constants, allowed, row, end, k, automaton)
    for i in range(len(bundle_ptr) - 1):
        members = bundle_edge[bundle_ptr[i] : bundle_ptr[i + 1]]
        top = -np.inf
        for e in members:
            top = max(top, w[e])
        total = 0.0
        if top > -np.inf:
            for e in members:
                total += np.exp(w[e] - top)
        w[edges + i] = top + np.log(total) if top > -np.inf else top


@kernel_only
def _log_gather(values, here, there, order, w, choice):
    """Add to exp(values[here]) the sum over arcs of exp(w + values[there]), arcs in runs of equal ``here``."""
    i = 0
    while i < len(order):
        state = here[order[i]]
        own = top = values[state]
        stop = i
        while stop < len(order) and here[order[stop]] == state:
            top = max(top, w[choice[order[stop]]] + values[there[order[stop]]])
            stop += 1
        if top > -np.inf:
            total = np.exp(own - top)
            for j in range(i, stop):
                below = w[choice[order[j]]] + values[there[order[j]]] - top
                if below > _NEGLIGIBLE:
                    total += np.exp(below)
            values[state] = top + np.log(total)
        i = stop


@kernel_only
def _log_pull(b, following, w, order, automaton):
    """Compute the inside scores of a token's states."""
    exits = len(automaton.order)
    b[:] = -np.inf
    for x in range(len(automaton.accept)):
        b[exits + x] = following[x]
    _log_gather(b, automaton.source, automaton.target, order, w, automaton.edge)


@kernel_only
def _log_push(before, after, a, w, order, automaton):
    """Compute the outside scores of a token's states, and from them those of the next token's entries."""
    exits = len(automaton.order)
    a[:] = -np.inf
    for x in range(len(automaton.accept)):
        a[x] = before[x]
    _log_gather(a, automaton.target, automaton.source, order, w, automaton.edge)
    for x in range(len(automaton.accept)):
        after[x] = a[exits + x]


@kernel_only
def _log_inside(beta, w, b, scores, constants, allowed, start, end, k, order, automaton):
    """Compute the inside scores of entries in the log domain, (T + 1, X); return log_partition."""
    for x in range(len(automaton.accept)):
        beta[end - start, x] = 0.0 if automaton.accept[x] else -np.inf
    for row in range(end - 1, start - 1, -1):
        _log_weights(w, scores, constants, allowed, row, end, k, automaton)
        _log_pull(b, beta[row - start + 1], w, order, automaton)
        for x in range(len(automaton.accept)):
            beta[row - start, x] = b[x]
    return beta[0, automaton.root]


@kernel
def log_sums(scores, constants, allowed, start, end, k, orders, automaton, expected, totals):
    """Compute log_partition of one sentence and type in the log domain; add to ``expected`` if it has rows.

    Args:
        orders: the choices by source, last stages first, and by target, first stages first.
        automaton: the tables, with bundles.
    """
    source, target, edge = automaton.source, automaton.target, automaton.edge
    bundle_ptr, bundle_edge, hyperedges = automaton.bundle_ptr, automaton.bundle_edge, automaton.hyperedges
    entries, edges, states = len(automaton.accept), len(hyperedges.constant), len(automaton.first)
    backward, forward = orders
    beta = np.empty((end - start + 1, entries))
    w = np.empty(edges + len(bundle_ptr) - 1)
    count = np.empty(len(w))
    a, b = np.empty(states), np.empty(states)
    log_z = _log_inside(beta, w, b, scores, constants, allowed, start, end, k, backward, automaton)
    if len(expected) == 0 or not np.isfinite(log_z):
        return log_z
    entry = np.full(entries, -np.inf)
    entry[automaton.root] = 0.0
    for row in range(start, end):
        _log_weights(w, scores, constants, allowed, row, end, k, automaton)
        _log_pull(b, beta[row - start + 1], w, backward, automaton)
        _log_push(entry, entry, a, w, forward, automaton)
        count[:] = 0.0
        for i in range(len(source)):
            count[edge[i]] += np.exp(a[source[i]] + w[edge[i]] + b[target[i]] - log_z)
        for i in range(len(bundle_ptr) - 1):
            for j in range(bundle_ptr[i], bundle_ptr[i + 1]):
                if count[edges + i] > 0.0:
                    count[bundle_edge[j]] += count[edges + i] * np.exp(w[bundle_edge[j]] - w[edges + i])
        for e in range(edges):
            if hyperedges.constant[e] >= 0:
                totals[hyperedges.constant[e], k] += count[e]
            for j in range(hyperedges.role_ptr[e], hyperedges.role_ptr[e + 1]):
                if row + hyperedges.step[j] < end:
                    expected[row + hyperedges.step[j], hyperedges.role[j], k] += count[e]
    return log_z


@kernel
def kbest(scores, constants, allowed, start, end, k, count, automaton, score, edges):
    """Find the ``count`` best sub-hypergraphs of one sentence and type, best first.

    Args:
        automaton: the tables, without bundles.
        score: (count,), filled in; -inf where there are fewer.
        edges: (count, T, D) the hyperedges picked at each token, -1 for no more; filled in.
    """
    source, target, edge, number = automaton.source, automaton.target, automaton.edge, automaton.number
    accept, root, exits = automaton.accept, automaton.root, len(automaton.order)
    states, entries = len(automaton.first), len(accept)
    length = end - start
    w = np.empty(len(number))
    value = np.empty((states, count))
    arc = np.full((length, states, count), -1)
    rank = np.zeros((length, states, count), np.int64)
    following = np.full((entries, count), -np.inf)
    for x in range(entries):
        following[x, 0] = 0.0 if accept[x] else -np.inf
    for token in range(length - 1, -1, -1):
        score_all(w, scores, constants, allowed, start + token, end, k, automaton)
        value[:] = -np.inf
        for x in range(entries):
            value[exits + x] = following[x]
        for i in range(len(source) - 1, -1, -1):
            s = source[i]
            for j in range(count - 1, -1, -1):  # from the worst, so that of equals the better-ranked ends first
                candidate = w[edge[i]] + value[target[i], j]
                if not candidate > -np.inf or candidate < value[s, count - 1]:
                    continue
                place = count - 1
                while place > 0 and value[s, place - 1] <= candidate:
                    value[s, place] = value[s, place - 1]
                    arc[token, s, place] = arc[token, s, place - 1]
                    rank[token, s, place] = rank[token, s, place - 1]
                    place -= 1
                value[s, place] = candidate
                arc[token, s, place] = i
                rank[token, s, place] = j
        for x in range(entries):
            following[x] = value[x]
    edges[:] = -1
    for c in range(count):
        score[c] = following[root, c]
        if not score[c] > -np.inf:
            continue
        state, j = root, c
        for token in range(length):
            d = 0
            while arc[token, state, j] >= 0:
                i = arc[token, state, j]
                j = rank[token, state, j]
                if number[edge[i]] >= 0:
                    edges[c, token, d] = number[edge[i]]
                    d += 1
                state = target[i]
            state -= exits
