"""Kernels that count the roles and constants of given sub-hypergraphs, such as gold ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph.kernels_automaton import Hyperedges
from spanloom.kernels import kernel


class Graph(NamedTuple):
    """E hyperedges of a template with V kinds.

    Args:
        root: a kind.
        head: (E,) kinds.
        child_ptr: (E + 1,) offsets of the children of each.
        child: their kinds.
        step: 0 for a child at this token, 1 at the next.
        final: (V,) 1 for kinds that are leaves past the last token.
        hyperedges: their roles and constants.
    """

    root: int
    head: NDArray[np.int64]
    child_ptr: NDArray[np.int64]
    child: NDArray[np.int64]
    step: NDArray[np.int64]
    final: NDArray[np.uint8]
    hyperedges: Hyperedges


@kernel
def count_roles(edges, sentences, offsets, graph, unfold, roles, constants):
    """Count each role and constant; with ``unfold``, a shared node once for each parent.

    Args:
        edges: (T, K, D) hyperedges picked at each token, parents first, -1 for no more.
        sentences: the numbers of the sentences to count.
        offsets: (N + 1,) first token of each sentence.
        graph: the template.
        roles: (T, R, K), added to; no rows to count constants only.
        constants: (C, K), added to.

    Returns:
        The first token whose hyperedges are not those of the nodes reached there; -1 if there is none.
    """
    head, final, hyperedges = graph.head, graph.final, graph.hyperedges
    kinds = len(final)
    for n in sentences:
        start, end = offsets[n], offsets[n + 1]
        for k in range(edges.shape[1]):
            now = np.zeros(kinds)
            now[graph.root] = 1.0
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
                    for i in range(graph.child_ptr[e], graph.child_ptr[e + 1]):
                        if row + graph.step[i] == end and not final[graph.child[i]]:
                            return row
                        if graph.step[i]:
                            following[graph.child[i]] += times
                        else:
                            now[graph.child[i]] += times
                    counted = times if unfold else 1.0
                    if hyperedges.constant[e] >= 0:
                        constants[hyperedges.constant[e], k] += counted
                    if len(roles) == 0:
                        continue
                    for i in range(hyperedges.role_ptr[e], hyperedges.role_ptr[e + 1]):
                        if row + hyperedges.step[i] < end:
                            roles[row + hyperedges.step[i], hyperedges.role[i], k] += counted
                for v in range(kinds):
                    if now[v] > 0.0:  # a node was reached and chose nothing
                        return row
                for v in range(kinds):
                    now[v], following[v] = following[v], 0.0
    return -1


@kernel
def count_constants(edges, sentences, offsets, edge_constant, constants):
    """Count each constant where a hyperedge counts once, without a check of the structure.

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
