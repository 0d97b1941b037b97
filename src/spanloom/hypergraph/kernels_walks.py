"""Kernel of path probabilities, in either way of counting.

At a token each *state* picks one of its *choices*, each of which leads on to states: to later ones of this token, or to
*exits*, the *entries* of the next. For sub-hypergraphs these are the arcs of the automaton, for derivations the
hyperedges of the template. With b the inside scores, and w the scores of hyperedges,

    p[c] = exp(w[c] + sum over its targets d of b[d] - b[source of c])

is the probability of a choice at its state (see `kernels_chances`): a number between 0 and 1 at every token, whatever
the scores. So flows along choices need neither logarithms nor scale factors, and what becomes too small for a float64
is nothing to 300 digits.

A path is a few *runs*, each of one row of allowed hyperedges for some tokens. A step multiplies a flow, one number for
each entry, by a matrix that depends on token and row alone. Where more runs of one row lie side by side than there are
entries, as where a thousand mentions cover one another, the products of 16 matrices, of 32, of 64 and so on are made
once, and a run takes the largest that lie within it: paths of total length n^2 are walked in n log n steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph.kernels_chances import WalkedSentence, fill, moves_of, nothing, role_weights, slot_of
from spanloom.kernels import kernel, kernel_only, kernel_only_no_refcount

_HELD = 1 << 20  # probabilities of choices that are kept; those of other tokens are computed when they are needed
_LEAST = 1e-300  # a flow below it is none: a float64 holds it with fewer digits, and computes with it slowly
_SHORTEST = 16  # tokens of the shortest product

Ints = NDArray[np.int64]


class Paths(NamedTuple):
    """Q paths: from a token on, a structure picks only allowed hyperedges.

    Args:
        sentence: (Q,).
        kind: (Q,) the type's number.
        first: (Q,) the first token, counted in the sentence.
        run_ptr: (Q + 1,) offsets of the runs of each.
        row: for each of the consecutive runs, a row of ``allowed``.
        size: the number of tokens of each run, at least 1.
        allowed: (M, E) 1 where a hyperedge may be picked.
    """

    sentence: Ints
    kind: Ints
    first: Ints
    run_ptr: Ints
    row: Ints
    size: Ints
    allowed: NDArray[np.uint8]

    @classmethod
    def build(cls, sentence: Ints, kind: Ints, first: Ints, row: Ints, size: Ints, allowed: NDArray[np.uint8]) -> Paths:
        """Make paths from (Q, P) rows and sizes of runs; runs of no token are left out."""
        kept = size > 0
        run_ptr = np.concatenate([[0], np.cumsum(kept.sum(1))])
        return cls(sentence, kind, first, run_ptr, row[kept], size[kept], allowed)

    def spread(self, number: int) -> NDArray[np.uint8]:
        """Return (S, E) the hyperedges that one of the paths allows at each of its tokens."""
        runs = slice(self.run_ptr[number], self.run_ptr[number + 1])
        return self.allowed[np.repeat(self.row[runs], self.size[runs])]


class ProductRange(NamedTuple):
    """Range of tokens for which a row of hyperedges has precomputed products, and their place; filled in by `_plan`.

    Args:
        member: (M, X) the entries of its matrices.
        size: (M,) their number.
        width: (M,) the tokens of the shortest product.
        products: (M,) the number of products of that width.
        low: (M,) the first token.
        base: (M,) the offset of the products.
    """

    member: NDArray[np.int64]
    size: NDArray[np.int64]
    width: NDArray[np.int64]
    products: NDArray[np.int64]
    low: NDArray[np.int64]
    base: NDArray[np.int64]


@kernel_only_no_refcount
def _step(flow, a, p, usable, moves):
    """Lead a flow through one token by usable choices; return the part that reaches its last state there."""
    exits = len(moves.order)
    a[:] = 0.0
    for x in range(len(flow)):
        a[x] = flow[x]
    arrived = 0.0
    for j in range(exits):
        s = moves.order[j]
        whole = a[s]
        if whole < _LEAST:
            continue
        for c in range(moves.first[s], moves.stop[s]):
            if not usable[c]:
                continue
            part = whole * p[c]
            if moves.simple:
                a[moves.target[c]] += part
                if moves.target[c] >= exits:
                    arrived += part
                continue
            arrives = True
            for i in range(moves.target_ptr[c], moves.target_ptr[c + 1]):
                a[moves.target[i]] += part
                arrives &= moves.target[i] >= exits
            if arrives:
                arrived += part
    for x in range(len(flow)):
        flow[x] = a[exits + x]
    return arrived


@kernel_only
def _visits(visits, a, usable, late, last, at):
    """Compute the flow into each entry up to a token: its probability or, ``late``, the expected visits."""
    flow = np.zeros(visits.shape[1])
    flow[at.automaton.root] = 1.0
    if at.moves.simple and not late:
        _visits_simple(visits, a, flow, last, at)
        return
    for token in range(last + 1):
        slot = slot_of(token, at)
        for x in range(len(flow)):
            visits[token, x] = flow[x]
        _step(flow, a, at.chance[slot], usable, at.moves)
        for x in range(len(flow) if late else 0):
            visits[token, x] = a[x]


@kernel_only
def _visits_simple(visits, a, flow, last, at):
    """Do the same where each choice leads to one state, and all are usable: half of the time of a step and more."""
    order, first_of, stop_of, target, chance = at.moves.order, at.moves.first, at.moves.stop, at.moves.target, at.chance
    exits, entries = len(order), len(flow)
    for token in range(last + 1):
        slot = slot_of(token, at)
        for x in range(entries):
            visits[token, x] = a[x] = flow[x]
        for s in range(entries, len(a)):
            a[s] = 0.0
        for j in range(exits):
            s = order[j]
            whole = a[s]
            if whole >= _LEAST:
                for c in range(first_of[s], stop_of[s]):
                    a[target[c]] += whole * chance[slot, c]
        for x in range(entries):
            flow[x] = a[exits + x]


@kernel_only
def _lasting(usable, automaton):
    """Find the entries at which a flow can be between two steps of a run."""
    moves = moves_of(automaton)
    entries, states = len(automaton.accept), len(automaton.first)
    lasting = np.ones(entries, np.bool_)
    flow, a = np.empty(entries), np.empty(states)
    likely = np.ones(len(usable))
    changed = True
    while changed:
        reached = np.zeros(entries, np.bool_)
        leads = np.zeros(entries, np.bool_)
        for x in range(entries):
            if not lasting[x]:
                continue
            flow[:] = 0.0
            flow[x] = 1.0
            _step(flow, a, likely, usable, moves)
            for y in range(entries):
                if flow[y] > 0.0 and lasting[y]:
                    reached[y] = leads[x] = True
        changed = False
        for x in range(entries):
            if lasting[x] and not (reached[x] and leads[x]):
                lasting[x] = False
                changed = True
    return np.flatnonzero(lasting)


@kernel_only
def _plan(span, queries, paths, usable, automaton):
    """Choose the rows to precompute products for: fill in ``span``, return the total size of the products."""
    entries = len(automaton.accept)
    total = np.zeros(len(usable), np.int64)
    high = np.zeros(len(usable), np.int64)
    span.low[:] = 1 << 62
    span.products[:] = 0
    for q in queries:
        token = paths.first[q]
        for i in range(paths.run_ptr[q], paths.run_ptr[q + 1]):
            row, after = paths.row[i], token + paths.size[i]
            if paths.size[i] > _SHORTEST:
                total[row] += paths.size[i]
                span.low[row] = min(span.low[row], token + 1)
                high[row] = max(high[row], after - 1)
            token = after
    length = 0
    for row in range(len(usable)):
        if total[row] <= entries * (high[row] - span.low[row]):
            continue
        lasting = _lasting(usable[row], automaton)
        size = len(lasting)
        if size == 0:
            continue
        span.member[row, :size] = lasting
        span.size[row] = size
        span.width[row] = max(_SHORTEST, size)
        span.products[row] = count = (high[row] - span.low[row]) // span.width[row]
        span.base[row] = length
        while count > 0:
            length += count * size * size
            count //= 2
    return length


@kernel_only
def _multiply(span, row, usable, products, a, at):
    """Compute a row's products: of ``span.width`` tokens in turn from ``span.low``, of twice as many, and so on."""
    size, count, width = span.size[row], span.products[row], span.width[row]
    members = span.member[row, :size]
    flows = np.empty((size, len(at.automaton.accept)))
    area = size * size
    base = span.base[row]
    for block in range(count):
        flows[:] = 0.0
        for i in range(size):
            flows[i, members[i]] = 1.0
        for token in range(span.low[row] + block * width, span.low[row] + (block + 1) * width):
            slot = slot_of(token, at)
            for i in range(size):
                _step(flows[i], a, at.chance[slot], usable, at.moves)
        for i in range(size):
            for j in range(size):
                products[base + block * area + i * size + j] = flows[i, members[j]]
    while count > 1:
        below, base, count = base, base + count * area, count // 2
        for block in range(count):
            one, result = below + 2 * block * area, base + block * area
            two = one + area
            products[result : result + area] = 0.0
            for i in range(size):
                for m in range(size):
                    part = products[one + i * size + m]
                    if part >= _LEAST:
                        for j in range(size):
                            products[result + i * size + j] += part * products[two + m * size + j]


@kernel_only_no_refcount
def _leap(flow, one, two, token, stop, row, span, products):
    """Lead a flow through the largest products that fit, one after the other; return the token reached."""
    least, low = span.width[row], span.low[row]
    if token < low or (token - low) % least or token + least > stop:
        return token
    size = span.size[row]
    for i in range(size):
        one[i] = flow[span.member[row, i]]
    while token + least <= stop and (token - low) // least < span.products[row]:
        base, width, count, block = span.base[row], least, span.products[row], (token - low) // least
        while block % 2 == 0 and block // 2 < count // 2 and token + 2 * width <= stop:
            base += count * size * size
            width, count, block = 2 * width, count // 2, block // 2
        base += block * size * size
        for j in range(size):
            two[j] = 0.0
        for i in range(size):
            if one[i] >= _LEAST:
                part, at = one[i], base + i * size
                for j in range(size):
                    two[j] += part * products[at + j]
        for j in range(size):
            one[j] = two[j]
        token += width
    for x in range(len(flow)):
        flow[x] = 0.0
    for i in range(size):
        flow[span.member[row, i]] = one[i]
    return token


@kernel
def sample(scores, constants, allowed, start, end, kind, random, automaton, edges):
    """Draw structures of one sentence and type, each with its probability; return whether there are any.

    Args:
        scores, constants, allowed: as below.
        start, end: the rows of the sentence.
        kind: the type.
        random: (B, T, D) numbers drawn between 0 and 1.
        automaton: the tables, without bundles, where each choice leads to one state.
        edges: (B, T, D) the hyperedges picked at each token, -1 for no more; filled in.
    """
    entries, choices, states, length = len(automaton.accept), len(automaton.edge), len(automaton.first), end - start
    ahead, b, own = np.empty((length + 1, entries)), np.empty(states), np.empty(len(automaton.number))
    chance, held = np.zeros((length, choices)), np.empty(length, np.int64)
    at = WalkedSentence(
        scores, constants, allowed, start, end, kind, automaton, False, ahead, b, own, own, np.empty((0, 0)), chance,
        held, moves_of(automaton),
    )  # fmt: skip
    for x in range(entries):
        ahead[length, x] = 0.0 if automaton.accept[x] else -np.inf
    fill(0, length, at)
    if length > 0 and ahead[0, automaton.root] == -np.inf:
        return False
    exits = len(automaton.order)
    for sample in range(len(edges)):
        state = automaton.root
        for token in range(length):
            depth = 0
            steps = 0
            while state < exits:
                left = random[sample, token, steps]
                steps += 1
                picked = -1
                for c in range(automaton.first[state], automaton.stop[state]):
                    if chance[token, c] > 0.0 and (picked < 0 or left >= 0.0):
                        picked = c
                        left -= chance[token, c]
                number = automaton.number[automaton.edge[picked]]
                if number >= 0:
                    edges[sample, token, depth] = number
                    depth += 1
                state = automaton.target[picked]
            state -= exits
    return True


@kernel
def path_probability(scores, constants, allowed, offsets, paths, starts, order, span, late, automaton, probability):
    """Compute the probability of each path or, ``late``, the expected number of times in a derivation, 1 at most.

    Args:
        scores: (T, R, K) role scores.
        constants: (C, K) scores of constants.
        allowed: (T, E times K) 0 where a hyperedge is forbidden; no rows where none is.
        offsets: (N + 1,) first token of each sentence.
        paths: Q of them; ``allowed`` is here of choices, and one more row allows all.
        starts: (M, X) 1 for the entries where a path may begin.
        order: paths sorted by sentence and type, and then by token, so that inside scores are computed once.
        span: scratch for the result of `_plan` for each row.
        late: whether ``visits`` counts flow to an entry from its own token.
        automaton: the tables, without bundles.
        probability: (Q,), filled in.
    """
    entries, choices, states = len(automaton.accept), len(automaton.edge), len(automaton.first)
    usable = paths.allowed
    longest = 0
    for q in order:
        longest = max(longest, offsets[paths.sentence[q] + 1] - offsets[paths.sentence[q]])
    slots = min(longest, max(_SHORTEST, _HELD // max(choices, 1)))
    ahead, visits = np.empty((longest + 1, entries)), np.empty((longest, entries))
    b, own, a = np.empty(states), np.empty(len(automaton.number)), np.empty(states)
    chance, held = np.empty((slots, choices)), np.empty(slots, np.int64)
    flow, one, two = np.empty(entries), np.empty(entries), np.empty(entries)
    moves = moves_of(automaton)
    base, p = np.empty(len(own)), np.empty((longest if moves.simple else 0, scores.shape[1]))
    i = 0
    while i < len(order):
        n, k = paths.sentence[order[i]], paths.kind[order[i]]
        j = i
        while j < len(order) and paths.sentence[order[j]] == n and paths.kind[order[j]] == k:
            j += 1
        linear = moves.simple and role_weights(base, p, scores, constants, offsets[n], offsets[n + 1], k, automaton)
        filled = False
        while not filled:
            at = WalkedSentence(
                scores, constants, allowed, offsets[n], offsets[n + 1], k, automaton, linear, ahead, b, own, base, p,
                chance, held, moves,
            )  # fmt: skip
            held[:] = -1
            for x in range(entries):
                ahead[at.end - at.start, x] = (1.0 if linear else 0.0) if automaton.accept[x] else nothing(linear)
            filled = fill(0, at.end - at.start, at)
            linear = False
        _visits(visits, a, usable[len(usable) - 1], late, paths.first[order[j - 1]], at)
        products = np.empty(_plan(span, order[i:j], paths, usable, automaton))
        for row in range(len(usable)):
            if span.products[row] > 0:
                _multiply(span, row, usable[row], products, a, at)
        for q in order[i:j]:
            token, arrived = paths.first[q], 0.0
            for x in range(entries):
                flow[x] = visits[token, x] if starts[paths.row[paths.run_ptr[q]], x] else 0.0
            for run in range(paths.run_ptr[q], paths.run_ptr[q + 1]):
                row, begin, stop = paths.row[run], token, token + paths.size[run]
                while token < stop:
                    after = token
                    if token > begin and span.products[row] > 0:  # from here on the flow is where `_lasting` says
                        after = _leap(flow, one, two, token, stop - 1, row, span, products)
                    if after == token:
                        arrived = _step(flow, a, chance[slot_of(token, at)], usable[row], at.moves)
                        after += 1
                    token = after
            probability[q] = min(1.0, arrived)
        i = j
