"""Kernels over the paths of a template's automaton, one sentence and type at a time, in the log domain.

The sums of `kernels_subgraphs` where those are not safe, the best structure and the k best. An arc's score is that of
its hyperedge; b and a are inside and outside scores, as there.
"""

import numpy as np

from spanloom.kernels import kernel, kernel_only

_NEGLIGIBLE = -40.0  # what is smaller by so much leaves a float64 as it is


@kernel_only
def _log_weights(w, scores, constants, start, end, k, token, tables):
    role_ptr, role_index, role_step, _, edge_constant, _ = tables[7:]
    for e in range(len(edge_constant)):
        w[e] = constants[edge_constant[e], k] if edge_constant[e] >= 0 else 0.0
        for i in range(role_ptr[e], role_ptr[e + 1]):
            row = start + token + role_step[i]
            if row < end:
                w[e] += scores[row, role_index[i], k]


@kernel_only
def _log_bundles(w, tables):
    """The weights of bundles, from those of hyperedges."""
    bundle_ptr, bundle_edge, edge_constant = tables[5], tables[6], tables[11]
    for i in range(len(bundle_ptr) - 1):
        members = bundle_edge[bundle_ptr[i] : bundle_ptr[i + 1]]
        top = -np.inf
        for e in members:
            top = max(top, w[e])
        total = 0.0
        if top > -np.inf:
            for e in members:
                total += np.exp(w[e] - top)
        w[len(edge_constant) + i] = top + np.log(total) if top > -np.inf else top


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
def _log_pull(b, following, w, orders, tables):
    """Inside scores of a token's states."""
    source, target, choice, exit_state = tables[:4]
    b[:] = -np.inf
    for x in range(len(exit_state)):
        b[exit_state[x]] = following[x]
    _log_gather(b, source, target, orders[0], w, choice)


@kernel_only
def _log_push(before, after, a, w, orders, tables):
    """Outside scores of a token's states, and from them those of the next token's entries."""
    source, target, choice, exit_state = tables[:4]
    a[:] = -np.inf
    for x in range(len(exit_state)):
        a[x] = before[x]
    _log_gather(a, target, source, orders[1], w, choice)
    for x in range(len(exit_state)):
        after[x] = a[exit_state[x]]


@kernel_only
def _log_inside(beta, w, b, scores, constants, start, end, k, orders, tables):
    """Inside scores of entries in the log domain, (T + 1, S); returns log_partition."""
    length = end - start
    _log_accept(beta[length], tables[4])
    for token in range(length - 1, -1, -1):
        _log_weights(w, scores, constants, start, end, k, token, tables)
        _log_bundles(w, tables)
        _log_pull(b, beta[token + 1], w, orders, tables)
        for x in range(len(tables[3])):
            beta[token, x] = b[x]
    return beta[0, tables[12]]


@kernel_only
def _log_accept(entry, accept):
    for x in range(len(accept)):
        entry[x] = 0.0 if accept[x] else -np.inf


@kernel
def log_sums(scores, constants, start, end, k, states, orders, tables, expected, totals):
    """One sentence and type in the log domain: returns log_partition, adds to ``expected`` if it has rows.

    Args:
        orders: the arcs by source, last stages first, and by target, first stages first.
    """
    source, target, choice, exit_state, _, bundle_ptr, bundle_edge = tables[:7]
    role_ptr, role_index, role_step, _, edge_constant, root = tables[7:]
    entries, edges = len(exit_state), len(edge_constant)
    beta = np.empty((end - start + 1, entries))
    w = np.empty(edges + len(bundle_ptr) - 1)
    count = np.empty(len(w))
    a, b = np.empty(states), np.empty(states)
    log_z = _log_inside(beta, w, b, scores, constants, start, end, k, orders, tables)
    if len(expected) == 0 or not np.isfinite(log_z):
        return log_z
    entry = np.full(entries, -np.inf)
    entry[root] = 0.0
    for token in range(end - start):
        _log_weights(w, scores, constants, start, end, k, token, tables)
        _log_bundles(w, tables)
        _log_pull(b, beta[token + 1], w, orders, tables)
        _log_push(entry, entry, a, w, orders, tables)
        count[:] = 0.0
        for i in range(len(source)):
            count[choice[i]] += np.exp(a[source[i]] + w[choice[i]] + b[target[i]] - log_z)
        for i in range(len(bundle_ptr) - 1):
            for j in range(bundle_ptr[i], bundle_ptr[i + 1]):
                if count[edges + i] > 0.0:
                    count[bundle_edge[j]] += count[edges + i] * np.exp(w[bundle_edge[j]] - w[edges + i])
        for e in range(edges):
            if edge_constant[e] >= 0:
                totals[edge_constant[e], k] += count[e]
            for j in range(role_ptr[e], role_ptr[e + 1]):
                row = start + token + role_step[j]
                if row < end:
                    expected[row, role_index[j], k] += count[e]
    return log_z


@kernel
def best(scores, constants, sentences, offsets, states, tables, score, edges):
    """The best sub-hypergraph of each sentence and type; of equal choices the first hyperedge wins.

    Args:
        score: (N, K), filled in; -inf where every structure is forbidden.
        edges: (T, K, D) the hyperedges picked at each token, in order, -1 for no more; filled in.
    """
    source, target, choice, exit_state, accept, bundle_ptr, bundle_edge = tables[:7]
    edge_constant, root = tables[11], tables[12]
    entries, real = len(exit_state), len(edge_constant)
    w = np.empty(real + len(bundle_ptr) - 1)
    first = np.arange(len(w))  # the hyperedge that is best in a bundle
    b = np.empty(states)
    entry_of = np.full(states, -1)
    for x in range(entries):
        entry_of[exit_state[x]] = x
    longest = 0
    for n in sentences:
        longest = max(longest, offsets[n + 1] - offsets[n])
    arc = np.empty((longest, states), np.int32)
    picked = np.empty((longest, states), np.int16)
    following = np.empty(entries)
    for n in sentences:
        start, end = offsets[n], offsets[n + 1]
        for k in range(scores.shape[2]):
            if start == end:
                continue
            _log_accept(following, accept)
            for token in range(end - start - 1, -1, -1):
                _log_weights(w, scores, constants, start, end, k, token, tables)
                for i in range(len(bundle_ptr) - 1):
                    top = bundle_edge[bundle_ptr[i]]
                    for j in range(bundle_ptr[i] + 1, bundle_ptr[i + 1]):
                        if w[bundle_edge[j]] > w[top]:
                            top = bundle_edge[j]
                    w[real + i], first[real + i] = w[top], top
                b[:] = -np.inf
                arc[token] = -1
                for x in range(entries):
                    b[exit_state[x]] = following[x]
                for i in range(len(source) - 1, -1, -1):
                    s, value = source[i], w[choice[i]] + b[target[i]]
                    if not value > -np.inf or value < b[s]:
                        continue
                    if value == b[s] and arc[token, s] >= 0 and picked[token, s] < first[choice[i]]:
                        continue
                    b[s], arc[token, s], picked[token, s] = value, i, first[choice[i]]
                for x in range(entries):
                    following[x] = b[x]
            score[n, k] = following[root]
            edges[start:end, k] = -1
            if not following[root] > -np.inf:
                continue
            state = root
            for token in range(end - start):
                d = 0
                while arc[token, state] >= 0:
                    if picked[token, state] < real - 1:  # the last hyperedge of the tables stands for none
                        edges[start + token, k, d] = picked[token, state]
                        d += 1
                    state = target[arc[token, state]]
                state = entry_of[state]


@kernel
def kbest(scores, constants, start, end, k, count, states, arcs, tables, score, edges):
    """The ``count`` best sub-hypergraphs of one sentence and type, best first.

    Args:
        arcs: of single hyperedges.
        score: (count,), filled in; -inf where there are fewer.
        edges: (count, T, D) the hyperedges picked at each token, -1 for no more; filled in.
    """
    source, target, edge = arcs
    exit_state, accept, edge_constant, root = tables[3], tables[4], tables[11], tables[12]
    entries = len(exit_state)
    length = end - start
    real = len(edge_constant)
    w = np.empty(real)
    value = np.empty((states, count))
    arc = np.full((length, states, count), -1)
    rank = np.zeros((length, states, count), np.int64)
    following = np.full((entries, count), -np.inf)
    for x in range(entries):
        following[x, 0] = 0.0 if accept[x] else -np.inf
    for token in range(length - 1, -1, -1):
        _log_weights(w, scores, constants, start, end, k, token, tables)
        value[:] = -np.inf
        for x in range(entries):
            value[exit_state[x]] = following[x]
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
    entry_of = np.full(states, -1)
    for x in range(entries):
        entry_of[exit_state[x]] = x
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
                if edge[i] < real - 1:
                    edges[c, token, d] = edge[i]
                    d += 1
                state = target[i]
            state = entry_of[state]
