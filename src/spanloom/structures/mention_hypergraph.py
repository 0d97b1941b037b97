"""The mention hypergraph of Lu and Roth (2015), section 3.2.

For each type, ``A`` stands for all mentions that start here or later, ``T`` for those that start here, ``I`` for those
that cover this token. E of the paper only joins the types, which here are copies that never interact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Child, Edges, Hyperedge, Role, Template
from spanloom.structures.flagged import Boundaries, Flagged

_TEMPLATE = Template(
    kinds=("A", "T", "I"),
    root="A",
    final=frozenset({"A"}),
    edges=(
        Hyperedge("A", "A", (Child("T"), Child("A", 1))),
        Hyperedge("T-X", "T"),
        Hyperedge("T-I", "T", (Child("I"),), (Role("S"),)),
        Hyperedge("I-X", "I", (), (Role("E"),)),
        Hyperedge("I-I", "I", (Child("I", 1),), (Role("C"),)),
        Hyperedge("I-IX", "I", (Child("I", 1),), (Role("E"), Role("C"))),
    ),
)


@dataclass(frozen=True)
class MentionHypergraph(Flagged):
    """The mention hypergraph (Lu and Roth 2015, section 3.2), with ``derivations`` counting.

    With ``subgraphs`` counting its distribution is that of `Separators`.

    - Finds: nested and overlapping mentions of any length.
    - Cannot: hold gaps, or pair starts with ends; the reading ``all`` gives every mention with a path.
    - Use: it to reproduce the paper; otherwise `Separators`.

    >>> from spanloom.structures import MentionTable
    >>> table, offsets = MentionTable.build([(0, 0, ((0, 3),)), (0, 0, ((1, 4),))]), np.array([0, 4])  # they cross
    >>> edges = MentionHypergraph().encode(table, offsets, ["x"]).edges
    >>> [spans for _, _, spans in MentionHypergraph().decode(edges, offsets, ["x"]).rows()]
    [((0, 4),), ((1, 3),)]
    """

    name = "mention_hypergraph"

    def template(self, types: Sequence[str]) -> Template:
        """Kinds A, T, I; the leaf X has no node."""
        return _TEMPLATE

    def fill(self, found: Boundaries, covered: NDArray[np.bool_], first: NDArray[np.bool_], edges: Edges) -> None:
        """A, then T-X or T-I, then I-X, I-I or I-IX where the token is covered."""
        edges[..., 0] = 0
        edges[..., 1] = 1 + found.start
        edges[..., 2] = np.where(covered, np.where(found.go_on, 4 + found.end, 3), -1)
