"""The kernel that finds the probability of paths, in either way of counting.

At a token each *state* picks one of its *choices*, each of which leads on to states: to later ones of this token, or to
*exits*, the *entries* of the next. For sub-hypergraphs these are the arcs of the automaton, for derivations the
hyperedges of the template. With b the inside scores, and w the scores of hyperedges,

    p[c] = exp(w[c] + sum over its targets d of b[d] - b[source of c])

is the probability of a choice at its state: a number between 0 and 1 at every token, whatever the scores. So flows
along choices need neither logarithms nor scale factors, and what becomes too small for a float64 is nothing to 300
digits.

A path is a few *runs*, each of one row of allowed hyperedges for some tokens. A step multiplies a flow, one number for
each entry, by a matrix that depends on token and row alone. Where more runs of one row lie side by side than there are
entries, as where a thousand mentions cover one another, the products of 16 matrices, of 32, of 64 and so on are made
once, and a run takes the largest that lie within it: paths of total length n^2 are walked in n log n steps.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel, kernel_only, kernel_only_no_refcount

_HELD = 1 << 20  # probabilities of choices that are kept; those of other tokens are computed when they are needed
_LEAST = 1e-300  # a flow below it is none: a float64 holds it with fewer digits, and computes with it slowly
_SHORTEST = 16  # tokens of the shortest product


class Walk(NamedTuple):
    """D states that choose, those before others that lead to them, and their C choices.

    Args:
        source: (D,) the states.
        choice_ptr: (D + 1,) where the choices of each begin.
        edge: (C,) the hyperedge that is scored.
        target_ptr, target: the states that a choice leads to.
        exit: (X,) the state that stands for each entry of the next token; state x is entry x of this one.
        accept: (X,) 1 where the text may end before this entry.
        arrives: (C,) 1 where a path that ends at this token ends with this choice.
        role_ptr, role, role_step: the roles of each hyperedge.
        constant: the constant of each hyperedge, -1 for none.
    """

    source: NDArray[np.int64]
    choice_ptr: NDArray[np.int64]
    edge: NDArray[np.int64]
    target_ptr: NDArray[np.int64]
    target: NDArray[np.int64]
    exit: NDArray[np.int64]
    accept: NDArray[np.int64]
    arrives: NDArray[np.uint8]
    role_ptr: NDArray[np.int64]
    role: NDArray[np.int64]
    role_step: NDArray[np.int64]
    constant: NDArray[np.int64]


class Span(NamedTuple):
    """Room for a kernel's notes: for which tokens a row of hyperedges has products, and where they are.

    Args:
        member: (M, X) the entries of its matrices.
        size: (M,) how many they are.
        width: (M,) tokens of the shortest product.
        products: (M,) how many of that width there are.
        low: (M,) the first token.
        base: (M,) where the products begin.
    """

    member: NDArray[np.int64]
    size: NDArray[np.int64]
    width: NDArray[np.int64]
    products: NDArray[np.int64]
    low: NDArray[np.int64]
    base: NDArray[np.int64]


@kernel_only_no_refcount
def _fill(token, at):
    """The probabilities of a token's choices, which ``at.chance[slot]`` then holds; returns the slot."""
    scores, constants, start, end, k, walk, ahead, b, own, chance, held = at
    slot = token % len(held)
    if held[slot] == token:
        return slot
    held[slot] = token
    p = chance[slot]
    for e in range(len(own)):
        value = np.float64(constants[walk.constant[e], k]) if walk.constant[e] >= 0 else 0.0
        for i in range(walk.role_ptr[e], walk.role_ptr[e + 1]):
            row = start + token + walk.role_step[i]
            if row < end:
                value += scores[row, walk.role[i], k]
        own[e] = value
    b[:] = -np.inf
    for x in range(len(walk.exit)):
        b[walk.exit[x]] = ahead[token + 1, x]
    for j in range(len(walk.source) - 1, -1, -1):
        first, stop = walk.choice_ptr[j], walk.choice_ptr[j + 1]
        top = -np.inf
        for c in range(first, stop):
            value = own[walk.edge[c]]
            for i in range(walk.target_ptr[c], walk.target_ptr[c + 1]):
                value += b[walk.target[i]]
            p[c] = value
            top = max(top, value)
        total = 0.0
        for c in range(first, stop):
            p[c] = np.exp(p[c] - top) if top > -np.inf else 0.0
            total += p[c]
        if top > -np.inf:
            b[walk.source[j]] = top + np.log(total)
            for c in range(first, stop):
                p[c] /= total
    return slot


@kernel_only_no_refcount
def _step(flow, a, p, usable, walk):
    """Lead a flow through one token by usable choices; returns how much reaches its last state there."""
    a[:] = 0.0
    for x in range(len(flow)):
        a[x] = flow[x]
    arrived = 0.0
    for j in range(len(walk.source)):
        whole = a[walk.source[j]]
        if whole < _LEAST:
            continue
        for c in range(walk.choice_ptr[j], walk.choice_ptr[j + 1]):
            if not usable[c]:
                continue
            part = whole * p[c]
            if walk.arrives[c]:
                arrived += part
            for i in range(walk.target_ptr[c], walk.target_ptr[c + 1]):
                a[walk.target[i]] += part
    for x in range(len(flow)):
        flow[x] = a[walk.exit[x]]
    return arrived


@kernel_only
def _visits(visits, a, usable, root, late, at):
    """The flow into each entry at each token: the probability of being there or, ``late``, the expected visits."""
    start, end, walk = at[2], at[3], at[5]
    flow = np.zeros(visits.shape[1])
    flow[root] = 1.0
    for token in range(end - start):
        slot = _fill(token, at)
        for x in range(len(flow)):
            visits[token, x] = flow[x]
        _step(flow, a, at[9][slot], usable, walk)
        for x in range(len(flow) if late else 0):
            visits[token, x] = a[x]


@kernel_only
def _lasting(usable, entries, states, walk):
    """The entries at which a flow can be between two steps of a run."""
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
            _step(flow, a, likely, usable, walk)
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
def _plan(span, queries, first, run_ptr, run_row, run_size, usable, states, walk):
    """Which rows are worth products: fills in ``span``, and returns how many numbers they are."""
    entries = len(walk.exit)
    total = np.zeros(len(usable), np.int64)
    high = np.zeros(len(usable), np.int64)
    span.low[:] = 1 << 62
    span.products[:] = 0
    for q in queries:
        token = first[q]
        for i in range(run_ptr[q], run_ptr[q + 1]):
            row, after = run_row[i], token + run_size[i]
            if run_size[i] > _SHORTEST:
                total[row] += run_size[i]
                span.low[row] = min(span.low[row], token + 1)
                high[row] = max(high[row], after - 1)
            token = after
    length = 0
    for row in range(len(usable)):
        if total[row] <= entries * (high[row] - span.low[row]):
            continue
        lasting = _lasting(usable[row], entries, states, walk)
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
    """The products of a row: of ``span.width`` tokens side by side from ``span.low``, of twice as many, and so on."""
    size, count, width = span.size[row], span.products[row], span.width[row]
    members = span.member[row, :size]
    flows = np.empty((size, len(at[5].exit)))
    area = size * size
    base = span.base[row]
    for block in range(count):
        flows[:] = 0.0
        for i in range(size):
            flows[i, members[i]] = 1.0
        for token in range(span.low[row] + block * width, span.low[row] + (block + 1) * width):
            slot = _fill(token, at)
            for i in range(size):
                _step(flows[i], a, at[9][slot], usable, at[5])
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
    """Lead a flow through the largest products that fit, one after the other, to the token that is returned."""
    least, low = span.width[row], span.low[row]
    if span.products[row] == 0 or token < low or (token - low) % least or token + least > stop:
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
def path_probability(
    scores, constants, offsets, sentence, kind, first, run_ptr, run_row, run_size, usable, starts, order, span, root,
    late, states, edges, walk, probability,
):  # fmt: skip
    """The probability of each path or, ``late``, how often a derivation is expected to hold it, 1 at most.

    Args:
        sentence: (Q,) the sentence of each path.
        kind: (Q,) its type.
        first: (Q,) its first token, in the sentence.
        run_ptr: (Q + 1,) where its runs begin.
        run_row: the row of ``usable`` for each run.
        run_size: for how many tokens.
        usable: (M, C) 1 where a choice may be picked; one more row allows all.
        starts: (M, X) 1 for the entries where a path may begin.
        order: paths sorted by sentence and type, and then by token, so that inside scores are computed once.
        span: room for what `_plan` says of each row.
        root: the entry at the first token.
        late: whether ``visits`` counts what comes to an entry from its own token.
        states, edges: how many there are.
        walk: the tables.
        probability: (Q,), filled in.
    """
    entries, choices = len(walk.exit), len(walk.edge)
    longest = 0
    for q in order:
        longest = max(longest, offsets[sentence[q] + 1] - offsets[sentence[q]])
    slots = min(longest, max(_SHORTEST, _HELD // max(choices, 1)))
    ahead, visits = np.empty((longest + 1, entries)), np.empty((longest, entries))
    b, own, a = np.empty(states), np.empty(edges), np.empty(states)
    chance, held = np.empty((slots, choices)), np.empty(slots, np.int64)
    flow, one, two = np.empty(entries), np.empty(entries), np.empty(entries)
    i = 0
    while i < len(order):
        n, k = sentence[order[i]], kind[order[i]]
        j = i
        while j < len(order) and sentence[order[j]] == n and kind[order[j]] == k:
            j += 1
        start, end = offsets[n], offsets[n + 1]
        at = (scores, constants, start, end, k, walk, ahead, b, own, chance, held)
        held[:] = -1
        for x in range(entries):
            ahead[end - start, x] = 0.0 if walk.accept[x] else -np.inf
        for token in range(end - start - 1, -1, -1):
            _fill(token, at)
            for x in range(entries):
                ahead[token, x] = b[x]
        _visits(visits, a, usable[len(usable) - 1], root, late, at)
        products = np.empty(_plan(span, order[i:j], first, run_ptr, run_row, run_size, usable, states, walk))
        for row in range(len(usable)):
            if span.products[row] > 0:
                _multiply(span, row, usable[row], products, a, at)
        for q in order[i:j]:
            token, arrived = first[q], 0.0
            for x in range(entries):
                flow[x] = visits[token, x] if starts[run_row[run_ptr[q]], x] else 0.0
            for run in range(run_ptr[q], run_ptr[q + 1]):
                row, begin, stop = run_row[run], token, token + run_size[run]
                while token < stop:
                    after = token
                    if token > begin:  # from here on the flow is where `_lasting` says
                        after = _leap(flow, one, two, token, stop - 1, row, span, products)
                    if after == token:
                        arrived = _step(flow, a, chance[_fill(token, at)], usable[row], walk)
                        after += 1
                    token = after
            probability[q] = min(1.0, arrived)
        i = j
