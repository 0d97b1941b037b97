"""Tables for kernels, built from templates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph.template import Hyperedge, Template

Ints = NDArray[np.int64]


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

    def take(self, kept: NDArray[np.bool_]) -> Paths:
        """Return some of the paths, (Q,)."""
        size = np.diff(self.run_ptr)
        runs = np.repeat(kept, size)
        return Paths(
            self.sentence[kept], self.kind[kept], self.first[kept], np.append(0, size[kept].cumsum()),
            self.row[runs], self.size[runs], self.allowed,
        )  # fmt: skip

    def spread(self, number: int) -> NDArray[np.uint8]:
        """Return (S, E) the hyperedges that one of the paths allows at each of its tokens."""
        runs = slice(self.run_ptr[number], self.run_ptr[number + 1])
        return self.allowed[np.repeat(self.row[runs], self.size[runs])]


def hyperedges_of(edges: Sequence[Hyperedge], template: Template) -> Hyperedges:
    """Return the tables of some hyperedges, with the numbers of roles and constants in a template."""
    roles, constants = ({name: i for i, name in enumerate(names)} for names in (template.roles, template.constants))
    return Hyperedges(
        np.array([-1 if edge.constant is None else constants[edge.constant] for edge in edges], np.int64),
        *csr([[roles[role.name] for role in edge.roles] for edge in edges]),
        np.array([role.step for edge in edges for role in edge.roles], np.int64),
        np.array([e for e, edge in enumerate(edges) if edge.roles], np.int64),
    )


def csr(rows: Iterable[list[int]]) -> tuple[Ints, Ints]:
    """Return rows of numbers in compressed form."""
    rows = list(rows)
    ptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return ptr, np.array([value for row in rows for value in row], np.int64)
