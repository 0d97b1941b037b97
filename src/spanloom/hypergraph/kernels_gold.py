"""Kernels that count the roles and constants of given sub-hypergraphs, such as the gold ones."""

import numpy as np

from spanloom.kernels import kernel


@kernel
def count_roles(
    edges, sentences, offsets, root, head, child_ptr, child_kind, child_step, final, role_ptr, role_index, role_step,
    edge_constant, unfold, roles, constants,
):  # fmt: skip
    """Add up how often each role and constant occurs; with ``unfold``, a shared node once for each parent.

    Args:
        edges: (T, K, D) hyperedges picked at each token, parents first, -1 for no more.
        roles: (T, R, K), added to; no rows if only constants are wanted.
        constants: (C, K), added to.

    Returns:
        The first token whose hyperedges are not those of the nodes reached there; -1 if all is well.
    """
    kinds = len(final)
    for n in sentences:
        start, end = offsets[n], offsets[n + 1]
        for k in range(edges.shape[1]):
            now = np.zeros(kinds)
            now[root] = 1.0
            following = np.zeros(kinds)
            for row in range(start, end):
                for d in range(edges.shape[2]):
                    e = edges[row, k, d]
                    if e < 0:
                        break
                    times = now[head[e]]
                    if times == 0.0:
                        return row
                    now[head[e]] = 0.0
                    for i in range(child_ptr[e], child_ptr[e + 1]):
                        if row + child_step[i] == end and not final[child_kind[i]]:
                            return row
                        if child_step[i]:
                            following[child_kind[i]] += times
                        else:
                            now[child_kind[i]] += times
                    counted = times if unfold else 1.0
                    if edge_constant[e] >= 0:
                        constants[edge_constant[e], k] += counted
                    if len(roles) == 0:
                        continue
                    for i in range(role_ptr[e], role_ptr[e + 1]):
                        if row + role_step[i] < end:
                            roles[row + role_step[i], role_index[i], k] += counted
                for v in range(kinds):
                    if now[v] > 0.0:  # a node was reached and chose nothing
                        return row
                for v in range(kinds):
                    now[v], following[v] = following[v], 0.0
    return -1


@kernel
def count_constants(edges, sentences, offsets, edge_constant, constants):
    """Add up how often each constant occurs where a hyperedge counts once, without a look at what reaches what.

    Args:
        edges: (T, K, D) hyperedges picked at each token, -1 for no more.
        constants: (C, K), added to.
    """
    for n in sentences:
        for row in range(offsets[n], offsets[n + 1]):
            for k in range(edges.shape[1]):
                for d in range(edges.shape[2]):
                    e = edges[row, k, d]
                    if e < 0:
                        break
                    if edge_constant[e] >= 0:
                        constants[edge_constant[e], k] += 1.0
