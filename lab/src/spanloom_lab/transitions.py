"""Number of sub-hypergraphs of a template, and its growth with the length of the text.

A structure with more encodings has, on average, fewer sets of mentions for each, so it is less ambiguous. Counting goes
from token to token over the sets of active kinds, as the supplement of Muis and Lu (2016), section 1, does.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spanloom.errors import UsageError
from spanloom.hypergraph.engine import Ints
from spanloom.hypergraph.program import parts
from spanloom.hypergraph.template import Child, Template

MOST_STATES = 1024  # of one matrix: with more, its largest eigenvalue takes minutes

Kinds = frozenset[str]
Ways = Counter[Kinds]  # set of kinds -> in how many ways it is reached


class Transition(NamedTuple):
    """Transition matrix between the active kinds of a token and those of the next.

    A state is a set of kinds that are active at a token. Kinds that are active at every token by themselves, such as A
    and T of the mention hypergraph, are in no state: their choices at a token are counted with the step to it.

    Args:
        kinds: the kinds that form states, in the template's order.
        states: S sets, in the order of their binary numbers, in which the first kind has the most significant bit. Only
            sets that occur in a sub-hypergraph.
        matrix: (S, S) entry [i, j] counts the ways in which the choices at a token with state i, and then those of the
            always active kinds at the next token, give state j there.
        initial: (S,) the number of ways to each state of the first token.
        final: (S,) the number of ways in which the choices at a token with a state end the text.
    """

    kinds: tuple[str, ...]
    states: tuple[Kinds, ...]
    matrix: Ints
    initial: Ints
    final: Ints

    def counts(self, length: int) -> list[int]:
        """Return the number of sub-hypergraphs of texts of 1, 2, ... ``length`` tokens, exactly."""
        row = self.initial.astype(object)
        matrix, final = self.matrix.astype(object), self.final.astype(object)
        found = []
        for _ in range(length):
            found.append(int(row @ final))
            row = row @ matrix
        return found

    @property
    def growth(self) -> float:
        """The largest eigenvalue of the matrix: the factor by which one more token multiplies the sub-hypergraphs."""
        return float(np.abs(np.linalg.eigvals(self.matrix.astype(float))).max(initial=0.0))


def transitions(template: Template) -> list[Transition]:
    """Return the transitions of each independent part of a template; the template's counts are products of the parts'.

    Raises:
        UsageError: more than `MOST_STATES` states.

    >>> from spanloom.hypergraph import Hyperedge
    >>> [coin] = transitions(Template(("A",), "A", frozenset({"A"}), (
    ...     Hyperedge("heads", "A", (Child("A", 1),)), Hyperedge("tails", "A", (Child("A", 1),)))))
    >>> coin.matrix.tolist(), coin.counts(4)
    ([[2]], [2, 4, 8, 16])
    """
    return [_transition(part) for part in parts(template)]


def counts(template: Template, length: int) -> list[int]:
    """Return the number of sub-hypergraphs of texts of 1, 2, ... ``length`` tokens, exactly.

    Raises:
        UsageError: the template has too many states, as `transitions`.

    >>> from spanloom.structures import STRUCTURES
    >>> counts(STRUCTURES["separators"].template(()), 4)
    [2, 8, 40, 208]
    """
    return multiplied(transitions(template), length)


def multiplied(parts: Sequence[Transition], length: int) -> list[int]:
    """Return the counts of a template of independent parts, from the parts' transitions."""
    return [math.prod(numbers) for numbers in zip(*(part.counts(length) for part in parts), strict=True)]


def growth(template: Template) -> float:
    """Return the factor by which one more token multiplies the sub-hypergraphs, in the limit of long texts.

    >>> from spanloom.structures import STRUCTURES
    >>> round(growth(STRUCTURES["separators"].template(())), 3)
    5.236
    """
    return math.prod(transition.growth for transition in transitions(template))


def relative_ambiguity(first: float, second: float) -> float:
    """Return the relative ambiguity of two structures, on a logarithmic scale, in the limit of long texts.

    Args:
        first: `growth` of the structure.
        second: `growth` of the one that it is compared with.

    Equation 1 of Muis and Lu (2016): the sums of counts grow as the powers of the growths. Infinite where the first has
    but a bounded number of encodings.

    >>> relative_ambiguity(2, 8)
    3.0
    """
    return math.log(second) / math.log(first) if first > 1 else math.inf


def _transition(template: Template) -> Transition:
    always = _always(template)
    opened = _opened(template, always)
    known: dict[Kinds, Ways] = {frozenset(): Counter({frozenset(): 1})}
    start = _join(Counter({frozenset({template.root}): 1}), always, opened)
    rows: dict[Kinds, Ways] = {}
    ends: dict[Kinds, int] = {}
    seen = set(start)
    agenda = deque(start)  # first come, first served: small sets before large ones, so that too many show early
    while agenda:
        state = agenda.popleft()
        reached = _reached(template, state, always, known)
        rows[state] = _join(reached, always, opened)
        ends[state] = sum(ways for kinds, ways in reached.items() if kinds | always & {template.root} <= template.final)
        agenda += rows[state].keys() - seen
        seen |= rows[state].keys()
        if len(seen) > MOST_STATES:
            raise UsageError(
                f"the template has more than {MOST_STATES:,} sets of active kinds; use fewer components or types"
            )
    return _number(template, start, rows, ends)


def _always(template: Template) -> Kinds:
    """Return the root and the kinds it reaches, if they are active at every token of every sub-hypergraph; else none.

    They are if every choice of the root leads to the root at the next token, and the others never reach beyond
    their token.
    """

    def children(kind: str) -> list[tuple[Child, ...]]:
        return [template.edges[e].children for e in template.edges_of(kind)]

    always: set[str] = set()
    if children(template.root) and all((template.root, 1) in group for group in children(template.root)):
        always.add(template.root)
    for kind in template.kinds:  # parents come before children
        if any(all((kind, 0) in group for group in children(parent)) for parent in always if children(parent)):
            always.add(kind)
    ahead = {child.kind for kind in always for group in children(kind) for child in group if child.step == 1}
    return frozenset(always) if ahead == {template.root} else frozenset()


def _opened(template: Template, always: Kinds) -> Ways:
    """Return the choices of the always active kinds at a token: sets of other kinds of the same token."""
    opened: Ways = Counter({frozenset(): 1})
    for kind in template.kinds:
        if kind in always:
            before, opened = opened, Counter()
            for e in template.edges_of(kind):
                added = frozenset(child.kind for child in template.edges[e].children if child.step == 0) - always
                for kinds, ways in before.items():
                    opened[kinds | added] += ways
    return opened


def _join(reached: Ways, always: Kinds, opened: Ways) -> Ways:
    """Return the states of a token, from the sets of kinds that are reached there from the token before."""
    joined: Ways = Counter()
    for kinds, ways in reached.items():
        for more, times in opened.items():
            joined[(kinds - always) | more] += ways * times
    return joined


def _reached(template: Template, pending: Kinds, always: Kinds, known: dict[Kinds, Ways]) -> Ways:
    """Return the sets of kinds at the next token that the choices of pending kinds, and of those below them, reach.

    With v the first pending kind in the template's order, D(P) is the sum over v's hyperedges of
    D(P - v + their children at this token), each set of it joined with their children at the next. ``known`` keeps
    results, because sets share the choices of their last kinds.
    """
    if pending in known:
        return known[pending]
    kind = min(pending, key=template.kinds.index)
    ways: Ways = Counter()
    for e in template.edges_of(kind):
        children = template.edges[e].children
        here = frozenset(child.kind for child in children if child.step == 0) - always
        ahead = frozenset(child.kind for child in children if child.step == 1)
        for kinds, times in _reached(template, (pending - {kind}) | here, always, known).items():
            ways[kinds | ahead] += times
    known[pending] = ways
    return ways


def _number(template: Template, start: Ways, rows: dict[Kinds, Ways], ends: dict[Kinds, int]) -> Transition:
    living = _living(rows, ends)
    kinds = tuple(kind for kind in template.kinds if any(kind in state for state in living))
    states = sorted(living, key=lambda state: [kind in state for kind in kinds])
    return Transition(
        kinds,
        tuple(states),
        np.array([[rows[a][b] for b in states] for a in states], np.int64).reshape(len(states), len(states)),
        np.array([start[state] for state in states], np.int64),
        np.array([ends[state] for state in states], np.int64),
    )


def _living(rows: dict[Kinds, Ways], ends: dict[Kinds, int]) -> set[Kinds]:
    """Return the states from which a text can end."""
    living = {state for state in rows if ends[state]}
    while True:
        more = {state for state, ways in rows.items() if state not in living and not living.isdisjoint(ways)}
        if not more:
            return living
        living |= more
