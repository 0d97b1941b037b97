"""Kernels over the paths of a template's automaton, one sentence and type at a time, in the log domain.

The sums of `kernels_subgraphs` where those are not safe, the best structure and the k best, and the probability of a
constrained path. An arc's score is that of its hyperedge; b and a are inside and outside scores, as there.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def log_add(x, y):
    """log(exp(x) + exp(y))."""
    top = max(x, y)
    if top == -np.inf:
        return top
    return top + np.log1p(np.exp(min(x, y) - top))


@njit(cache=True, nogil=True, error_model="numpy")
def _log_weights(w, scores, constants, start, end, k, token, role_ptr, role_index, role_step, edge_constant):
    for e in range(len(edge_constant)):
        w[e] = constants[edge_constant[e], k] if edge_constant[e] >= 0 else 0.0
        for i in range(role_ptr[e], role_ptr[e + 1]):
            row = start + token + role_step[i]
            if row < end:
                w[e] += scores[row, role_index[i], k]


@njit(cache=True, nogil=True, error_model="numpy")
def log_inside(beta, w, b, scores, constants, start, end, k, tables):
    """Inside scores of entries in the log domain, (T + 1, S); returns log_partition."""
    source, target, edge, exit_state, accept, role_ptr, role_index, role_step, _, edge_constant, root = tables
    length = end - start
    _log_accept(beta[length], accept)
    for token in range(length - 1, -1, -1):
        _log_weights(w, scores, constants, start, end, k, token, role_ptr, role_index, role_step, edge_constant)
        _log_pull(b, beta[token + 1], w, source, target, edge, exit_state)
        for x in range(len(exit_state)):
            beta[token, x] = b[x]
    return beta[0, root]


@njit(cache=True, nogil=True, error_model="numpy")
def _log_accept(entry, accept):
    for x in range(len(accept)):
        entry[x] = 0.0 if accept[x] else -np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def _log_pull(b, following, w, source, target, edge, exit_state):
    for s in range(len(b)):
        b[s] = -np.inf
    for x in range(len(exit_state)):
        b[exit_state[x]] = following[x]
    for i in range(len(source) - 1, -1, -1):
        b[source[i]] = log_add(b[source[i]], w[edge[i]] + b[target[i]])


@njit(cache=True, nogil=True, error_model="numpy")
def log_sums(scores, constants, start, end, k, states, tables, expected, totals):
    """One sentence and type in the log domain: returns log_partition, adds to ``expected`` if it has rows."""
    source, target, edge, exit_state, _, role_ptr, role_index, role_step, _, edge_constant, root = tables
    entries = len(exit_state)
    beta = np.empty((end - start + 1, entries))
    w = np.empty(len(edge_constant))
    b = np.empty(states)
    a = np.empty(states)
    log_z = log_inside(beta, w, b, scores, constants, start, end, k, tables)
    if len(expected) == 0 or not np.isfinite(log_z):
        return log_z
    entry = np.full(entries, -np.inf)
    entry[root] = 0.0
    for token in range(end - start):
        _log_weights(w, scores, constants, start, end, k, token, role_ptr, role_index, role_step, edge_constant)
        _log_pull(b, beta[token + 1], w, source, target, edge, exit_state)
        for s in range(states):
            a[s] = entry[s] if s < entries else -np.inf
        for i in range(len(source)):
            s, d, e = source[i], target[i], edge[i]
            a[d] = log_add(a[d], a[s] + w[e])
            count = np.exp(a[s] + w[e] + b[d] - log_z)
            if edge_constant[e] >= 0:
                totals[edge_constant[e], k] += count
            for j in range(role_ptr[e], role_ptr[e + 1]):
                row = start + token + role_step[j]
                if row < end:
                    expected[row, role_index[j], k] += count
        for x in range(entries):
            entry[x] = a[exit_state[x]]
    return log_z


@njit(cache=True, nogil=True, error_model="numpy")
def best(scores, constants, sentences, offsets, states, tables, score, edges):
    """The best sub-hypergraph of each sentence and type; of equal choices the first hyperedge wins.

    Args:
        score: (N, K), filled in; -inf where every structure is forbidden.
        edges: (T, K, D) the hyperedges picked at each token, in order, -1 for no more; filled in.
    """
    source, target, edge, exit_state, accept, role_ptr, role_index, role_step, _, edge_constant, root = tables
    entries = len(exit_state)
    types = scores.shape[2]
    real = len(edge_constant)
    w = np.empty(real)
    b = np.empty(states)
    entry_of = np.full(states, -1)
    for x in range(entries):
        entry_of[exit_state[x]] = x
    longest = 0
    for n in sentences:
        longest = max(longest, offsets[n + 1] - offsets[n])
    choice = np.empty((longest, states), np.int16)
    following = np.empty(entries)
    for n in sentences:
        start, end = offsets[n], offsets[n + 1]
        for k in range(types):
            if start == end:
                continue
            _log_accept(following, accept)
            for token in range(end - start - 1, -1, -1):
                _log_weights(w, scores, constants, start, end, k, token, role_ptr, role_index, role_step, edge_constant)
                for s in range(states):
                    b[s] = -np.inf
                    choice[token, s] = -1
                for x in range(entries):
                    b[exit_state[x]] = following[x]
                for i in range(len(source) - 1, -1, -1):
                    value = w[edge[i]] + b[target[i]]
                    if value >= b[source[i]] and value > -np.inf:
                        b[source[i]] = value
                        choice[token, source[i]] = i
                for x in range(entries):
                    following[x] = b[x]
            score[n, k] = following[root]
            for row in range(start, end):
                for d in range(edges.shape[2]):
                    edges[row, k, d] = -1
            if following[root] == -np.inf:
                continue
            state = root
            for token in range(end - start):
                d = 0
                while choice[token, state] >= 0:
                    i = choice[token, state]
                    if edge[i] < real - 1:  # the last hyperedge of the tables is the one that stands for none
                        edges[start + token, k, d] = edge[i]
                        d += 1
                    state = target[i]
                state = entry_of[state]


@njit(cache=True, nogil=True, error_model="numpy")
def kbest(scores, constants, start, end, k, count, states, tables, score, edges):
    """The ``count`` best sub-hypergraphs of one sentence and type, best first.

    Args:
        score: (count,), filled in; -inf where there are fewer.
        edges: (count, T, D) the hyperedges picked at each token, -1 for no more; filled in.
    """
    source, target, edge, exit_state, accept, role_ptr, role_index, role_step, _, edge_constant, root = tables
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
        _log_weights(w, scores, constants, start, end, k, token, role_ptr, role_index, role_step, edge_constant)
        value[:] = -np.inf
        for x in range(entries):
            value[exit_state[x]] = following[x]
        for i in range(len(source) - 1, -1, -1):
            s = source[i]
            for j in range(count - 1, -1, -1):  # from the worst, so that of equals the better-ranked ends first
                candidate = w[edge[i]] + value[target[i], j]
                if candidate == -np.inf or candidate < value[s, count - 1]:
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
        if score[c] == -np.inf:
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


@njit(cache=True, nogil=True, error_model="numpy")
def path_probability(
    scores,
    constants,
    offsets,
    sentence,
    kind,
    first,
    step_ptr,
    steps,
    allowed,
    query_order,
    states,
    tables,
    probability,
):
    """The probability that a sub-hypergraph keeps, at some tokens, to some hyperedges.

    Args:
        sentence: (Q,) the sentence of each query.
        kind: (Q,) its type.
        first: (Q,) its first token, in the sentence.
        step_ptr: (Q + 1,) where its steps begin.
        steps: the row of ``allowed`` for each token in turn from ``first`` on.
        allowed: (M, E + 1) 1 where a hyperedge may be picked.
        query_order: queries sorted by sentence and type, so that each pair's inside scores are computed once.
        probability: (Q,), filled in.
    """
    source, target, edge, exit_state, _, role_ptr, role_index, role_step, _, edge_constant, root = tables
    entries = len(exit_state)
    longest = 0
    for q in query_order:
        longest = max(longest, offsets[sentence[q] + 1] - offsets[sentence[q]])
    beta = np.empty((longest + 1, entries))
    alpha = np.empty((longest + 1, entries))
    w = np.empty(len(edge_constant))
    b = np.empty(states)
    entry = np.empty(entries)
    last_n, last_k, log_z = -1, -1, 0.0
    for q in query_order:
        n, k = sentence[q], kind[q]
        start, end = offsets[n], offsets[n + 1]
        if n != last_n or k != last_k:
            log_z = log_inside(beta[: end - start + 1], w, b, scores, constants, start, end, k, tables)
            for x in range(entries):
                alpha[0, x] = 0.0 if x == root else -np.inf
            for token in range(end - start):
                _log_weights(w, scores, constants, start, end, k, token, role_ptr, role_index, role_step, edge_constant)
                _log_push(alpha[token], alpha[token + 1], b, w, source, target, edge, exit_state)
            last_n, last_k = n, k
        for x in range(entries):
            entry[x] = alpha[first[q], x]
        for i in range(step_ptr[q], step_ptr[q + 1]):
            token = first[q] + i - step_ptr[q]
            _log_weights(w, scores, constants, start, end, k, token, role_ptr, role_index, role_step, edge_constant)
            for e in range(len(edge_constant)):
                if not allowed[steps[i], e]:
                    w[e] = -np.inf
            _log_push(entry, entry, b, w, source, target, edge, exit_state)
        total = -np.inf
        after = first[q] + step_ptr[q + 1] - step_ptr[q]
        for x in range(entries):
            total = log_add(total, entry[x] + beta[after, x])
        probability[q] = min(1.0, np.exp(total - log_z))


@njit(cache=True, nogil=True, error_model="numpy")
def _log_push(before, after, a, w, source, target, edge, exit_state):
    for s in range(len(a)):
        a[s] = before[s] if s < len(exit_state) else -np.inf
    for i in range(len(source)):
        a[target[i]] = log_add(a[target[i]], a[source[i]] + w[edge[i]])
    for x in range(len(exit_state)):
        after[x] = a[exit_state[x]]
