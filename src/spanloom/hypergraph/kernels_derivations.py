"""Kernels that count derivations: the papers' inside recursion, where a shared node is counted once for each parent.

Lu and Roth (2015), section 3.4; what it counts, and why it is deficient: Muis and Lu (2017), section 5.2. In the log
domain, since the product over all starts grows with the square of the length. Expected counts run from the root down,
n[child] += n[node] p(hyperedge | node), and may exceed 1.
"""

import numpy as np

from spanloom.hypergraph.kernels_automaton import score_all
from spanloom.kernels import kernel, kernel_only

_NEGLIGIBLE = -40.0  # what is smaller by so much leaves a float64 as it is


@kernel_only
def _fill_inside(inside, own, chance, start, end, k, scores, constants, allowed, automaton):
    """Compute the inside scores of a sentence's nodes, and the probability of each hyperedge at its node, (T, C).

    Node v of a token stands after those of the tokens before.
    A hyperedge whose probability underflows a float64 has probability 0.
    """
    kinds = len(automaton.accept)
    for v in range(kinds):
        inside[(end - start) * kinds + v] = 0.0 if automaton.accept[v] else -np.inf
    for row in range(end - 1, start - 1, -1):
        nodes = inside[(row - start) * kinds :]
        chances = chance[row - start]
        score_all(own, scores, constants, allowed, row, end, k, automaton)
        for v in range(kinds - 1, -1, -1):
            first, stop = automaton.first[v], automaton.stop[v]
            top = -np.inf
            for c in range(first, stop):
                value = own[automaton.edge[c]]
                for i in range(automaton.target_ptr[c], automaton.target_ptr[c + 1]):
                    value += nodes[automaton.target[i]]
                chances[c] = value
                top = max(top, value)
            nodes[v] = top
            if top == -np.inf:
                for c in range(first, stop):
                    chances[c] = 0.0
            elif stop - first == 1:
                chances[first] = 1.0
            else:
                total = 0.0
                for c in range(first, stop):
                    below = chances[c] - top
                    chances[c] = 0.0 if below < _NEGLIGIBLE else np.exp(below) if below < 0.0 else 1.0
                    total += chances[c]
                nodes[v] += np.log(total)
                inverse = 1.0 / total
                for c in range(first, stop):
                    chances[c] *= inverse


@kernel_only
def _descend(visits, chance, start, end, k, automaton, expected, totals):
    """Compute the expected visits of all nodes, from the root down; add to ``expected`` and ``totals``.

    The nodes are in the order of ``inside``.
    """
    kinds, hyperedges = len(automaton.accept), automaton.hyperedges
    visits[: (end - start + 1) * kinds] = 0.0
    visits[automaton.root] = 1.0
    for row in range(start, end):
        nodes = visits[(row - start) * kinds :]
        for v in range(kinds):
            times = nodes[v]
            if times == 0.0:
                continue
            for c in range(automaton.first[v], automaton.stop[v]):
                count, e = times * chance[row - start, c], automaton.edge[c]
                for i in range(automaton.target_ptr[c], automaton.target_ptr[c + 1]):
                    nodes[automaton.target[i]] += count
                if hyperedges.constant[e] >= 0:
                    totals[hyperedges.constant[e], k] += count
                for i in range(hyperedges.role_ptr[e], hyperedges.role_ptr[e + 1]):
                    if row + hyperedges.step[i] < end:
                        expected[row + hyperedges.step[i], hyperedges.role[i], k] += count


@kernel
def sums(scores, constants, allowed, sentences, offsets, automaton, log_partition, expected, totals):
    """Compute log_partition over derivations of each sentence and type and, if ``expected`` has rows, expected counts.

    Shapes as in the kernel of the same name for sub-hypergraphs.
    """
    kinds, root = len(automaton.accept), automaton.root
    longest = 0
    for n in sentences:
        longest = max(longest, offsets[n + 1] - offsets[n])
    inside, visits = np.empty((longest + 1) * kinds), np.empty((longest + 1) * kinds)
    own = np.empty(len(automaton.hyperedges.constant))
    chance = np.empty((longest, len(automaton.edge)))
    for n in sentences:
        start, end = offsets[n], offsets[n + 1]
        for k in range(scores.shape[2]):
            if start == end:
                continue
            _fill_inside(inside, own, chance, start, end, k, scores, constants, allowed, automaton)
            log_partition[n, k] = inside[root]
            if len(expected) > 0 and inside[root] > -np.inf:
                _descend(visits, chance, start, end, k, automaton, expected, totals[n])
