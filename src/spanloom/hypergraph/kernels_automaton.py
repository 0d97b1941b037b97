"""Tables for the kernels of both engines, and the scores of hyperedges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel_only_no_refcount


class Hyperedges(NamedTuple):
    """Roles and constants of E hyperedges, whose scores are their sums.

    Args:
        constant: (E,) the number of a constant, -1 for none.
        role_ptr: (E + 1,) offsets of the roles of each.
        role: their numbers.
        step: 0 for a role of this token, 1 for one of the next.
        varying: the hyperedges that have roles.
    """

    constant: NDArray[np.int64]
    role_ptr: NDArray[np.int64]
    role: NDArray[np.int64]
    step: NDArray[np.int64]
    varying: NDArray[np.int64]


class Automaton(NamedTuple):
    """S states of a token, and C choices that lead from state to state.

    The first X states are *entries*, in which a token can begin; the last X are *exits*: state S - X + x is entry x of
    the next token. For sub-hypergraphs a state is a set of nodes (see `program`) and a choice leads to one state. For
    derivations states are the nodes of a token and those of the next, and a choice leads to a hyperedge's children.

    Args:
        order: (S - X,) the states that are no exits, each before those that it leads to.
        first, stop: (S,) the choices of each state, as a range.
        source: (C,) the state that chooses.
        edge: (C,) the hyperedge of each choice or, from E on, the bundle.
        target_ptr: (C + 1,) offsets of the targets of each choice.
        target: the states that it leads to.
        bundle_ptr, bundle_edge: hyperedges between the same states, of which one is picked, for each bundle.
        accept: (X,) 1 where the text may end before this entry.
        root: the entry at the first token.
        number: (E,) the number of a hyperedge in the template, -1 where nothing is picked.
        hyperedges: their roles and constants.
    """

    order: NDArray[np.int64]
    first: NDArray[np.int64]
    stop: NDArray[np.int64]
    source: NDArray[np.int64]
    edge: NDArray[np.int64]
    target_ptr: NDArray[np.int64]
    target: NDArray[np.int64]
    bundle_ptr: NDArray[np.int64]
    bundle_edge: NDArray[np.int64]
    accept: NDArray[np.int64]
    root: int
    number: NDArray[np.int16]
    hyperedges: Hyperedges


@kernel_only_no_refcount
def score_all(w, scores, constants, allowed, row, end, k, automaton):
    """Compute the scores of all hyperedges at a token; roles of the token past the last are ignored.

    Those that ``allowed``, (T, E times K) or without rows, forbids have the score -inf.
    """
    hyperedges, number = automaton.hyperedges, automaton.number
    constant, role_ptr, role, step = hyperedges.constant, hyperedges.role_ptr, hyperedges.role, hyperedges.step
    for e in range(len(constant)):
        value = np.float64(constants[constant[e], k]) if constant[e] >= 0 else 0.0
        for i in range(role_ptr[e], role_ptr[e + 1]):
            if row + step[i] < end:
                value += scores[row + step[i], role[i], k]
        if len(allowed) > 0 and number[e] >= 0 and not allowed[row, number[e] * constants.shape[1] + k]:
            value = -np.inf
        w[e] = value
