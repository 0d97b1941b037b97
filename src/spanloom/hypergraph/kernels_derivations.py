"""Kernels that count derivations: the papers' inside recursion, where a shared node is counted once for each parent.

Lu and Roth (2015), section 3.4; what it counts, and why it is deficient: Muis and Lu (2017), section 5.2. In the log
domain, since the product over all starts grows with the square of the length. Expected counts run from the root down,
n[child] += n[node] p(hyperedge | node), and may exceed 1.
"""

import numpy as np

from spanloom.kernels import kernel, kernel_only

_NEGLIGIBLE = -40.0  # what is smaller by so much leaves a float64 as it is


@kernel_only
def _own_scores(own, row, end, k, scores, constants, tables):
    """The score of each hyperedge by itself."""
    role_ptr, role_index, role_step, edge_constant = tables[6:]
    for e in range(len(own)):
        value = np.float64(constants[edge_constant[e], k]) if edge_constant[e] >= 0 else 0.0
        for i in range(role_ptr[e], role_ptr[e + 1]):
            if row + role_step[i] < end:
                value += scores[row + role_step[i], role_index[i], k]
        own[e] = value


@kernel_only
def _leaves(inside, final):
    """Past the last token only final kinds are leaves."""
    for v in range(len(final)):
        inside[v] = 0.0 if final[v] else -np.inf


@kernel_only
def _fill_inside(inside, chance, start, end, k, scores, constants, tables):
    """Inside scores of all nodes of a sentence, (T + 1, V), and the probability of each hyperedge at its node, (T, E).

    A hyperedge that is less likely than what a float64 resolves has probability 0.
    """
    kind_ptr, _, child_ptr, child_kind, child_step = tables[:5]
    _leaves(inside[end - start], tables[5])
    for row in range(end - 1, start - 1, -1):
        token = row - start
        chances = chance[token]
        _own_scores(chances, row, end, k, scores, constants, tables)
        for v in range(len(kind_ptr) - 2, -1, -1):
            top = -np.inf
            for e in range(kind_ptr[v], kind_ptr[v + 1]):
                value = chances[e]
                for i in range(child_ptr[e], child_ptr[e + 1]):
                    value += inside[token + child_step[i], child_kind[i]]
                chances[e] = value
                top = max(top, value)
            inside[token, v] = top
            if top == -np.inf:
                for e in range(kind_ptr[v], kind_ptr[v + 1]):
                    chances[e] = 0.0
            elif kind_ptr[v + 1] - kind_ptr[v] == 1:
                chances[kind_ptr[v]] = 1.0
            else:
                total = 0.0
                for e in range(kind_ptr[v], kind_ptr[v + 1]):
                    below = chances[e] - top
                    chances[e] = 0.0 if below < _NEGLIGIBLE else np.exp(below) if below < 0.0 else 1.0
                    total += chances[e]
                inside[token, v] += np.log(total)
                inverse = 1.0 / total
                for e in range(kind_ptr[v], kind_ptr[v + 1]):
                    chances[e] *= inverse


@kernel_only
def _descend(visits, chance, start, end, k, root, tables, expected, totals):
    """Expected visits of all nodes, (T + 1, V), from the root down; adds to ``expected`` where it has rows."""
    kind_ptr, _, child_ptr, child_kind, child_step, _, role_ptr, role_index, role_step, edge_constant = tables
    kinds = len(kind_ptr) - 1
    visits[: end - start + 1] = 0.0
    visits[0, root] = 1.0
    for row in range(start, end):
        for v in range(kinds):
            times = visits[row - start, v]
            if times == 0.0:
                continue
            for e in range(kind_ptr[v], kind_ptr[v + 1]):
                count = times * chance[row - start, e]
                for i in range(child_ptr[e], child_ptr[e + 1]):
                    visits[row - start + child_step[i], child_kind[i]] += count
                if len(expected) == 0:
                    continue
                if edge_constant[e] >= 0:
                    totals[edge_constant[e], k] += count
                for i in range(role_ptr[e], role_ptr[e + 1]):
                    if row + role_step[i] < end:
                        expected[row + role_step[i], role_index[i], k] += count


@kernel
def sums(scores, constants, sentences, offsets, root, tables, log_partition, expected, totals):
    """log_partition over derivations of each sentence and type and, where ``expected`` has rows, expected counts.

    Shapes as in the kernel of the same name for sub-hypergraphs; ``totals`` is (N, C, K) here.
    """
    kinds = len(tables[0]) - 1
    longest = 0
    for n in sentences:
        longest = max(longest, offsets[n + 1] - offsets[n])
    inside = np.empty((longest + 1, kinds))
    visits = np.empty((longest + 1, kinds))
    chance = np.empty((longest, len(tables[9])))
    for n in sentences:
        start, end = offsets[n], offsets[n + 1]
        for k in range(scores.shape[2]):
            if start == end:
                continue
            _fill_inside(inside, chance, start, end, k, scores, constants, tables)
            log_partition[n, k] = inside[0, root]
            if len(expected) > 0 and inside[0, root] > -np.inf:
                _descend(visits, chance, start, end, k, root, tables, expected, totals[n])


@kernel
def best(scores, constants, sentences, offsets, root, tables, score, edges):
    """The best derivation of each sentence and type, as the sub-hypergraph that it unfolds.

    Args:
        score: (N, K) with a shared node counted for each parent; filled in.
        edges: (T, K, D) the hyperedges picked at each token in order of kinds, -1 for no more; filled in.
    """
    kind_ptr, edge_number, child_ptr, child_kind, child_step, final = tables[:6]
    kinds = len(kind_ptr) - 1
    longest = 0
    for n in sentences:
        longest = max(longest, offsets[n + 1] - offsets[n])
    own = np.empty(len(edge_number))
    inside = np.empty((longest + 1, kinds))
    reached = np.empty((longest + 1, kinds), np.uint8)
    choice = np.empty((longest, kinds), np.int64)
    for n in sentences:
        start, end = offsets[n], offsets[n + 1]
        for k in range(scores.shape[2]):
            if start == end:
                continue
            _leaves(inside[end - start], final)
            for row in range(end - 1, start - 1, -1):
                _own_scores(own, row, end, k, scores, constants, tables)
                for v in range(kinds - 1, -1, -1):
                    inside[row - start, v] = -np.inf
                    choice[row - start, v] = kind_ptr[v]
                    for e in range(kind_ptr[v], kind_ptr[v + 1]):
                        value = own[e]
                        for i in range(child_ptr[e], child_ptr[e + 1]):
                            value += inside[row - start + child_step[i], child_kind[i]]
                        if value > inside[row - start, v]:
                            inside[row - start, v] = value
                            choice[row - start, v] = e
            score[n, k] = inside[0, root]
            edges[start:end, k] = -1
            if inside[0, root] == -np.inf:
                continue
            reached[: end - start + 1] = 0
            reached[0, root] = 1
            for row in range(start, end):
                d = 0
                for v in range(kinds):
                    if not reached[row - start, v]:
                        continue
                    e = choice[row - start, v]
                    edges[row, k, d] = edge_number[e]
                    d += 1
                    for i in range(child_ptr[e], child_ptr[e + 1]):
                        reached[row - start + child_step[i], child_kind[i]] = 1
