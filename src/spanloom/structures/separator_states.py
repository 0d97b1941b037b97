"""The state-based counterpart of the multigraph: Muis and Lu (2017), section 5.1.

Each separator is a state of a chain over the gaps between tokens. Neighbouring separators then have a weight of their
own, dependencies that the multigraph does without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Child, Edges, Hyperedge, Template
from spanloom.hypergraph.template import Role
from spanloom.structures.flagged import Boundaries, Flagged
from spanloom.structures.separators import (
    FROM_I,
    FROM_O,
    covers_next,
    separator_codes,
    separator_roles,
    separator_table,
)

_STATES = (*FROM_O, *FROM_I)  # a node shows which separator is before its token

_TEMPLATE = Template(
    kinds=("T", *_STATES),
    root="T",
    final=frozenset(state for state in _STATES if not covers_next(state)),
    edges=(
        Hyperedge("T-X", "T", (Child("X"),)),
        Hyperedge("T-S", "T", (Child("S"),), (Role("S"),)),
        *(
            Hyperedge(f"{before}-{after}", before, (Child(after, 1),), separator_roles(after), f"{before}-{after}")
            for before in _STATES
            for after in (FROM_I if covers_next(before) else FROM_O)
        ),
    ),
)
_NUMBER = {edge.label: i for i, edge in enumerate(_TEMPLATE.edges)}


@dataclass(frozen=True)
class SeparatorStates(Flagged):
    """As `Separators`, with a weight for each pair of neighbouring separators (Muis and Lu 2017, section 5.1).

    - Finds: what `Separators` finds.
    - Cannot: what `Separators` cannot; a token costs 42 arcs instead of 10.
    - Use: it to compare with the paper: the pairs make no significant difference on GENIA.

    >>> from spanloom.structures import MentionTable
    >>> table, offsets = MentionTable.build([(0, 0, ((0, 4),)), (0, 0, ((1, 3),))]), np.array([0, 4])  # they nest
    >>> edges = SeparatorStates().encode(table, offsets, ["x"]).edges
    >>> [spans for _, _, spans in SeparatorStates().decode(edges, offsets, ["x"]).rows()]
    [((0, 4),), ((1, 3),)]
    """

    name = "separator_states"
    ahead = True

    def template(self, types: Sequence[str]) -> Template:
        """Kinds T (the first token only) and the eight separators."""
        return _TEMPLATE

    def fill(self, found: Boundaries, covered: NDArray[np.bool_], first: NDArray[np.bool_], edges: Edges) -> None:
        """One pair of separators a token; the first token has T-X or T-S before it."""
        names = separator_table()
        numbers = np.array([[_NUMBER.get(f"{a}-{b}", -1) for b in names] for a in names], np.int16)
        after = separator_codes(found, first)
        before = np.zeros_like(after)
        before[1:] = after[:-1]
        before[first] = 4 * found.start[first]
        picked = numbers[before, after]
        edges[..., 0] = picked
        edges[first, :, 0] = found.start[first]
        edges[first, :, 1] = picked[first]
