"""Kernels of the probabilities of choices: what paths and samples walk by (see `kernels_walks`).

With b the inside scores, and w the scores of hyperedges,

    p[c] = exp(w[c] + sum over its targets d of b[d] - b[source of c])

is the probability of a choice at its state. Where each choice leads to one state, p[c] does not change if the inside
scores of a token are all multiplied by one number. So they are computed in the linear domain then, with sums of 1, and
without logarithms; a sentence whose scores are so large that a number could vanish is computed again in the log domain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph.kernels_automaton import Automaton, score_all
from spanloom.kernels import kernel_only, kernel_only_no_refcount
from spanloom.kernels_exp import exponential

_LARGEST = 40.0  # a finite score beyond this could make a number vanish in the linear domain
_TINIEST = 1e-150  # so could a share between 0 and this


class Moves(NamedTuple):
    """Where the choices of states lead: what a step takes of an automaton, and no more, for it is handed on often.

    Args:
        order, first, stop, target_ptr, target: see `Automaton`.
        simple: whether each choice leads to one state, so that ``target`` has one for each.
    """

    order: NDArray[np.int64]
    first: NDArray[np.int64]
    stop: NDArray[np.int64]
    target_ptr: NDArray[np.int64]
    target: NDArray[np.int64]
    simple: bool


class WalkedSentence(NamedTuple):
    """A sentence and a type, with the cached probabilities of its tokens.

    Args:
        scores, constants, allowed: potentials, and what is forbidden.
        start, end: its rows in ``scores``.
        kind: the type.
        automaton: the tables, without bundles.
        linear: whether inside scores are shares of a sum, and no logarithms.
        ahead: (T + 1, X) inside scores of entries.
        b: (S,) scratch, inside scores of a token's states.
        own: (E,) scratch, scores of hyperedges, or weights.
        base: (E,) in the linear domain, weights of hyperedges without their roles.
        p: (T, R) in the linear domain, weights of roles.
        chance: (slots, C) the probability of each choice at its state, for some tokens.
        held: (slots,) the token of each slot.
        moves: where the choices lead.
    """

    scores: NDArray[np.float32]
    constants: NDArray[np.float32]
    allowed: NDArray[np.uint8]
    start: int
    end: int
    kind: int
    automaton: Automaton
    linear: bool
    ahead: NDArray[np.float64]
    b: NDArray[np.float64]
    own: NDArray[np.float64]
    base: NDArray[np.float64]
    p: NDArray[np.float64]
    chance: NDArray[np.float64]
    held: NDArray[np.int64]
    moves: Moves


@kernel_only
def moves_of(automaton):
    """Return the moves of an automaton."""
    simple = len(automaton.target) == len(automaton.edge)
    for c in range(len(automaton.edge)):
        simple &= automaton.target_ptr[c] == c
    return Moves(automaton.order, automaton.first, automaton.stop, automaton.target_ptr, automaton.target, simple)


@kernel_only_no_refcount
def fill(begin, stop, at):
    """Compute the probabilities of choices and the inside scores of entries, from the last token to the first.

    Returns whether they hold: in the linear domain a number may have vanished.
    """
    if at.linear:
        return _fill_linear(begin, stop, at)
    _fill_log(begin, stop, at)
    return True


@kernel_only
def role_weights(base, p, scores, constants, start, end, kind, automaton):
    """Compute the weights of a sentence's roles and of hyperedges without them; return whether none is enormous."""
    constant, length, safe = automaton.hyperedges.constant, end - start, True
    for e in range(len(constant)):
        score = np.float64(constants[constant[e], kind]) if constant[e] >= 0 else 0.0
        safe &= abs(score) <= _LARGEST or score == -np.inf
        base[e] = exponential(score)
    for token in range(length):
        for r in range(p.shape[1]):
            p[token, r] = scores[start + token, r, kind]
    flat = p.reshape(-1)[: length * p.shape[1]]  # which makes it a loop of vector operations
    for i in range(len(flat)):
        safe &= abs(flat[i]) <= _LARGEST or flat[i] == -np.inf
        flat[i] = exponential(flat[i])
    return safe


@kernel_only_no_refcount
def _weigh(w, token, at):
    """Compute the weights of all hyperedges at a token, as `score_all` does their scores."""
    hyperedges, number, p = at.automaton.hyperedges, at.automaton.number, at.p
    role_ptr, role, step = hyperedges.role_ptr, hyperedges.role, hyperedges.step
    types, length = at.constants.shape[1], at.end - at.start
    for e in range(len(w)):
        value = at.base[e]
        for i in range(role_ptr[e], role_ptr[e + 1]):
            if token + step[i] < length:
                value *= p[token + step[i], role[i]]
        w[e] = value
    if len(at.allowed) > 0:
        for e in range(len(w)):
            if number[e] >= 0 and not at.allowed[at.start + token, number[e] * types + at.kind]:
                w[e] = 0.0


@kernel_only_no_refcount
def _fill_linear(begin, stop, at):
    automaton, b, own, ahead, chance = at.automaton, at.b, at.own, at.ahead, at.chance
    order, first_of, stop_of = automaton.order, automaton.first, automaton.stop
    edge, target = automaton.edge, automaton.target
    exits, entries, safe = len(order), len(automaton.accept), True
    for token in range(stop - 1, begin - 1, -1):
        slot = token % len(at.held)
        at.held[slot] = token
        _weigh(own, token, at)
        for x in range(entries):
            b[exits + x] = ahead[token + 1, x]
        for j in range(exits - 1, -1, -1):
            s = order[j]
            first, last, total = first_of[s], stop_of[s], 0.0
            for c in range(first, last):
                value = own[edge[c]] * b[target[c]]
                chance[slot, c] = value
                total += value
            b[s] = total
            factor = 1.0 / total if total > 0.0 else 0.0
            for c in range(first, last):
                chance[slot, c] *= factor
        total = 0.0
        for x in range(entries):
            total += b[x]
        for x in range(entries):
            share = b[x] / total if total > 0.0 else 0.0
            ahead[token, x] = share
            safe &= share >= _TINIEST or share == 0.0
    return safe


@kernel_only_no_refcount
def _fill_log(begin, stop, at):
    automaton, b, own = at.automaton, at.b, at.own
    order, first_of, stop_of, edge = automaton.order, automaton.first, automaton.stop, automaton.edge
    target_ptr, target, ahead, held, chance = automaton.target_ptr, automaton.target, at.ahead, at.held, at.chance
    exits, entries, simple = len(order), len(automaton.accept), at.moves.simple
    for token in range(stop - 1, begin - 1, -1):
        slot = token % len(held)
        held[slot] = token
        score_all(own, at.scores, at.constants, at.allowed, at.start + token, at.end, at.kind, automaton)
        b[:] = -np.inf
        for x in range(entries):
            b[exits + x] = ahead[token + 1, x]
        for j in range(exits - 1, -1, -1):
            s = order[j]
            first, last = first_of[s], stop_of[s]
            top = -np.inf
            for c in range(first, last):
                value = own[edge[c]]
                if simple:
                    value += b[target[c]]
                else:
                    for i in range(target_ptr[c], target_ptr[c + 1]):
                        value += b[target[i]]
                chance[slot, c] = value
                top = max(top, value)
            total = 0.0
            for c in range(first, last):
                value = chance[slot, c]
                value = (np.exp(value - top) if value < top else 1.0) if value > -np.inf else 0.0
                chance[slot, c] = value
                total += value
            if total == 1.0:  # as where there is one choice
                b[s] = top
            elif top > -np.inf:
                b[s] = top + np.log(total)
                for c in range(first, last):
                    chance[slot, c] /= total
        for x in range(entries):
            ahead[token, x] = b[x]


@kernel_only_no_refcount
def nothing(linear):
    """Return the inside score of what cannot be."""
    return 0.0 if linear else -np.inf


@kernel_only_no_refcount
def slot_of(token, at):
    """Return the place of a token's probabilities; compute them, if they are not held."""
    slot = token % len(at.held)
    if at.held[slot] != token:
        fill(token, token + 1, at)
    return slot
