"""Kernels that count each sub-hypergraph once: sums, marginals, best and k best over the automaton of a template.

Several (sentence, type) pairs run side by side as *lanes*, so that every arc is one vector operation: a group of
sentences of falling length, times K types. At token t the first ``n`` lanes are the sentences that reach it. With
p[r] = exp(score of role r) and w[e] = product of p over the roles of hyperedge e,

    b[s]   = sum over arcs s -> d with hyperedge e of w[e] b[d]        (inside, from the last token to the first)
    a[d]   = sum over arcs s -> d with hyperedge e of a[s] w[e]        (outside, from the first to the last)
    m[e]   = w[e] * sum over its arcs of a[s] b[d] / (sum over entries of a b)

in the linear domain, with one scale factor a token and lane: five times faster than logarithms. A number could only
vanish below the smallest float after it was seen to be tiny, or by one step of enormous scores. Lanes where either
happens are not *safe*, and are computed again in the log domain (`_log_lane`). So the result is exact for any scores.
"""

import numpy as np
from numba import njit

_LARGEST = 40.0  # a finite score beyond this makes a lane unsafe
_TINIEST = 1e-150  # so does a scaled value between 0 and this: the next token could take it below 1e-308


@njit(cache=True, nogil=True, error_model="numpy")
def _reach(starts, ends, count, token):
    """The number of the group's sentences that have this token."""
    while count > 0 and starts[count - 1] + token >= ends[count - 1]:
        count -= 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _exponentials(scores, starts, ends, types, longest, safe):
    roles = scores.shape[1]
    p = np.empty((longest + 1, roles, len(starts) * types))
    for token in range(longest):
        for r in range(roles):
            for j in range(_reach(starts, ends, len(starts), token)):
                row = starts[j] + token
                for k in range(types):
                    score = np.float64(scores[row, r, k])
                    p[token, r, j * types + k] = np.exp(score)
                    safe[j * types + k] &= abs(score) <= _LARGEST or score == -np.inf
    return p


@njit(cache=True, nogil=True, error_model="numpy")
def _weigh(w, base, p, token, lanes, lanes_next, role_ptr, role_index, role_step, varying):
    for e in varying:
        for lane in range(lanes):
            w[e, lane] = base[e, lane]
        for i in range(role_ptr[e], role_ptr[e + 1]):
            r = role_index[i]
            step = role_step[i]
            for lane in range(lanes_next if step else lanes):
                w[e, lane] *= p[token + step, r, lane]


@njit(cache=True, nogil=True, error_model="numpy")
def _pull(b, beta, token, lanes, w, source, target, edge, exit_state):
    """Inside scores of a token's states, from those of the next token's entries."""
    b[:, :lanes] = 0.0
    for x in range(len(exit_state)):
        for lane in range(lanes):
            b[exit_state[x], lane] = beta[token + 1, x, lane]
    for i in range(len(source) - 1, -1, -1):
        s, d, e = source[i], target[i], edge[i]
        for lane in range(lanes):
            b[s, lane] += w[e, lane] * b[d, lane]


@njit(cache=True, nogil=True, error_model="numpy")
def _scale(values, picked, lanes, result, safe, logarithm):
    """Scale the picked rows to sum 1, into ``result``; add the logarithm of the sum."""
    for lane in range(lanes):
        total = 0.0
        for x in range(len(result)):
            total += values[picked[x], lane]
        logarithm[lane] += np.log(total)
        inverse = 1.0 / total
        for x in range(len(result)):
            value = values[picked[x], lane] * inverse
            result[x, lane] = value
            safe[lane] &= value >= _TINIEST or value == 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _inside(beta, log_partition, safe, base, p, w, b, starts, ends, types, tables):
    """Scaled inside scores of entries, (T + 1, S, lanes), and log_partition of each lane."""
    _, _, _, exit_state, accept, role_ptr, role_index, role_step, varying, _, root = tables
    source, target, edge = tables[:3]
    entries = len(exit_state)
    log_partition[:] = 0.0
    lanes_next = 0
    for token in range(ends[0] - starts[0] - 1, -1, -1):
        lanes = _reach(starts, ends, len(starts), token) * types
        for x in range(entries):
            for lane in range(lanes_next, lanes):
                beta[token + 1, x, lane] = accept[x]
        _weigh(w, base, p, token, lanes, lanes_next, role_ptr, role_index, role_step, varying)
        _pull(b, beta, token, lanes, w, source, target, edge, exit_state)
        _scale(b, np.arange(entries), lanes, beta[token], safe, log_partition)
        lanes_next = lanes
    for lane in range(lanes_next):
        log_partition[lane] += np.log(beta[0, root, lane])


@njit(cache=True, nogil=True, error_model="numpy")
def _prepare(scores, constants, starts, ends, types, states, entries, edge_constant):
    longest = ends[0] - starts[0]
    lanes = len(starts) * types
    edges = len(edge_constant)
    base = np.ones((edges, lanes))
    safe = np.ones(lanes, np.bool_)
    for e in range(edges):
        if edge_constant[e] >= 0:
            for lane in range(lanes):
                score = np.float64(constants[edge_constant[e], lane % types])
                base[e, lane] = np.exp(score)
                safe[lane] &= abs(score) <= _LARGEST or score == -np.inf
    p = _exponentials(scores, starts, ends, types, longest, safe)
    beta = np.empty((longest + 1, entries, lanes))
    return safe, base, p, base.copy(), beta, np.empty((states, lanes)), np.empty(lanes)


@njit(cache=True, nogil=True, error_model="numpy")
def sums(scores, constants, group_ptr, order, offsets, states, tables, log_partition, expected, totals):
    """log_partition of each sentence and type and, where ``expected`` has rows, expected counts.

    Args:
        scores: (T, R, K) role scores.
        constants: (C, K) scores of constants.
        group_ptr: groups of sentences, as ranges of ``order``.
        order: sentences, longest first within a group.
        offsets: (N + 1,) first token of each sentence.
        states: number of the automaton's states.
        tables: the automaton and the roles of its hyperedges.
        log_partition: (N, K), filled in.
        expected: (T, R, K) expected role counts, filled in; no rows if they are not wanted.
        totals: (groups, C, K) expected counts of constants, filled in.
    """
    source, target, edge, exit_state, _, role_ptr, role_index, role_step, varying, edge_constant, root = tables
    entries = len(exit_state)
    types = scores.shape[2]
    edges = len(edge_constant)
    for g in range(len(group_ptr) - 1):
        sentences = order[group_ptr[g] : group_ptr[g + 1]]
        starts, ends = offsets[sentences], offsets[sentences + 1]
        safe, base, p, w, beta, b, log_z = _prepare(
            scores, constants, starts, ends, types, states, entries, edge_constant
        )
        _inside(beta, log_z, safe, base, p, w, b, starts, ends, types, tables)
        for lane in range(len(log_z)):
            log_partition[sentences[lane // types], lane % types] = log_z[lane]
        if len(expected) == 0:
            for lane in range(len(log_z)):
                if not safe[lane] or not np.isfinite(log_z[lane]):
                    n, k = sentences[lane // types], lane % types
                    log_partition[n, k] = _log_lane(
                        scores, constants, offsets[n], offsets[n + 1], k, states, tables, expected, totals[g]
                    )
            continue

        lanes_all = len(log_z)
        a = np.empty((states, lanes_all))
        count = np.empty((edges, lanes_all))
        share = np.zeros((edges, lanes_all))
        unused = np.zeros(lanes_all)
        norm = np.empty(lanes_all)
        entry = np.zeros((entries, lanes_all))
        entry[root] = 1.0
        for token in range(ends[0] - starts[0]):
            reach = _reach(starts, ends, len(starts), token)
            lanes = reach * types
            lanes_next = _reach(starts, ends, reach, token + 1) * types
            _weigh(w, base, p, token, lanes, lanes_next, role_ptr, role_index, role_step, varying)
            _pull(b, beta, token, lanes, w, source, target, edge, exit_state)
            a[:, :lanes] = 0.0
            a[:entries, :lanes] = entry[:, :lanes]
            count[:, :lanes] = 0.0
            for i in range(len(source)):
                s, d, e = source[i], target[i], edge[i]
                for lane in range(lanes):
                    count[e, lane] += a[s, lane] * b[d, lane]
                    a[d, lane] += a[s, lane] * w[e, lane]
            for lane in range(lanes):
                z = 0.0
                for x in range(entries):
                    z += entry[x, lane] * b[x, lane]
                norm[lane] = 1.0 / z
            _scale(a, exit_state, lanes, entry, safe, unused)
            for e in range(edges):
                for lane in range(lanes):
                    count[e, lane] *= w[e, lane] * norm[lane]
                if edge_constant[e] >= 0:
                    for lane in range(lanes):
                        share[e, lane] += count[e, lane]
            for e in varying:
                for i in range(role_ptr[e], role_ptr[e + 1]):
                    r = role_index[i]
                    step = role_step[i]
                    for j in range((lanes_next if step else lanes) // types):
                        row = starts[j] + token + step
                        for k in range(types):
                            expected[row, r, k] += count[e, j * types + k]
        for lane in range(lanes_all):
            n, k = sentences[lane // types], lane % types
            if safe[lane] and np.isfinite(log_z[lane]):
                for e in range(edges):
                    if edge_constant[e] >= 0:
                        totals[g, edge_constant[e], k] += share[e, lane]
            else:
                expected[offsets[n] : offsets[n + 1], :, k] = 0.0
                log_partition[n, k] = _log_lane(
                    scores, constants, offsets[n], offsets[n + 1], k, states, tables, expected, totals[g]
                )


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
    beta[length] = np.log(accept.astype(np.float64))
    for token in range(length - 1, -1, -1):
        _log_weights(w, scores, constants, start, end, k, token, role_ptr, role_index, role_step, edge_constant)
        _log_pull(b, beta[token + 1], w, source, target, edge, exit_state)
        beta[token] = b[: len(exit_state)]
    return beta[0, root]


@njit(cache=True, nogil=True, error_model="numpy")
def _log_pull(b, following, w, source, target, edge, exit_state):
    b[:] = -np.inf
    for x in range(len(exit_state)):
        b[exit_state[x]] = following[x]
    for i in range(len(source) - 1, -1, -1):
        b[source[i]] = log_add(b[source[i]], w[edge[i]] + b[target[i]])


@njit(cache=True, nogil=True, error_model="numpy")
def _log_lane(scores, constants, start, end, k, states, tables, expected, totals):
    """One sentence and type in the log domain: returns log_partition, adds to ``expected`` and ``totals``."""
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
        a[:] = -np.inf
        a[:entries] = entry
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
            following[:] = np.log(accept.astype(np.float64))
            for token in range(end - start - 1, -1, -1):
                _log_weights(w, scores, constants, start, end, k, token, role_ptr, role_index, role_step, edge_constant)
                b[:] = -np.inf
                choice[token] = -1
                for x in range(entries):
                    b[exit_state[x]] = following[x]
                for i in range(len(source) - 1, -1, -1):
                    value = w[edge[i]] + b[target[i]]
                    if value >= b[source[i]] and value > -np.inf:
                        b[source[i]] = value
                        choice[token, source[i]] = i
                following[:] = b[:entries]
            score[n, k] = following[root]
            edges[start:end, k] = -1
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
    following[:, 0] = np.log(accept.astype(np.float64))
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
    last_n, last_k, log_z = -1, -1, 0.0
    for q in query_order:
        n, k = sentence[q], kind[q]
        start, end = offsets[n], offsets[n + 1]
        if n != last_n or k != last_k:
            log_z = log_inside(beta[: end - start + 1], w, b, scores, constants, start, end, k, tables)
            alpha[0] = -np.inf
            alpha[0, root] = 0.0
            for token in range(end - start):
                _log_weights(w, scores, constants, start, end, k, token, role_ptr, role_index, role_step, edge_constant)
                _log_push(alpha[token], alpha[token + 1], b, w, source, target, edge, exit_state)
            last_n, last_k = n, k
        entry = alpha[first[q]].copy()
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
    a[:] = -np.inf
    a[: len(exit_state)] = before
    for i in range(len(source)):
        a[target[i]] = log_add(a[target[i]], a[source[i]] + w[edge[i]])
    for x in range(len(exit_state)):
        after[x] = a[exit_state[x]]
