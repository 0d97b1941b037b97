"""The multigraph of Muis and Lu (2017), section 4: eight separators between neighbouring tokens.

``I`` means that a mention of the type covers the token, ``O`` that no mention does. The separator after a token means
that a mention ends at it (E), continues to the next (C), or starts at the next (S); X means no such event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Child, Edges, Hyperedge, Role, Template
from spanloom.structures.flagged import Boundaries, Flagged

# A separator's number among its node's hyperedges: from O by S, from I by E, C and S as bits.
FROM_O = ("X", "S")
FROM_I = ("E", "C", "EC", "ES", "CS", "ECS")


def separator_roles(name: str) -> tuple[Role, ...]:
    """Return the roles of a separator: E and C of the token before it, S of the token after it; X has none.

    >>> separator_roles("CS")
    (Role(name='C', step=0), Role(name='S', step=1))
    """
    return tuple(Role(letter, int(letter == "S")) for letter in name if letter != "X")


def covers_next(name: str) -> bool:
    """Return whether the token after a separator belongs to a mention."""
    return "C" in name or "S" in name


def _edge(head: str, name: str) -> Hyperedge:
    return Hyperedge(name, head, (Child("I" if covers_next(name) else "O", 1),), separator_roles(name))


_TEMPLATE = Template(
    kinds=("T", "O", "I"),
    root="T",
    final=frozenset({"O"}),
    edges=(
        Hyperedge("T-O", "T", (Child("O"),)),
        Hyperedge("T-I", "T", (Child("I"),), (Role("S"),)),
        *(_edge("O", name) for name in FROM_O),
        *(_edge("I", name) for name in FROM_I),
    ),
)
_NUMBER = {edge.label: i for i, edge in enumerate(_TEMPLATE.edges)}


def separator_table() -> list[str]:
    """The separator for E + 2 C + 4 S, as bits; the empty one is X."""
    return ["".join(letter for letter, bit in (("E", 1), ("C", 2), ("S", 4)) if code & bit) or "X" for code in range(8)]


def separator_codes(found: Boundaries, first: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(T, K) E + 2 C + 4 S of the separator after each token; nothing starts after the last token of a sentence."""
    starts_next = np.zeros_like(found.start)
    starts_next[:-1] = found.start[1:] & ~first[1:, None]
    codes: NDArray[np.int64] = found.end + 2 * found.go_on.astype(np.int64) + 4 * starts_next
    return codes


@dataclass(frozen=True)
class Separators(Flagged):
    """Separators between tokens (Muis and Lu 2017, section 4): each set of boundaries is one path, counted once.

    - Finds: nested and overlapping mentions of any length, of each type apart.
    - Cannot: hold gaps, or pair starts with ends: of mentions that cross, a nested pair comes back.
    - Use: it by default, for everything but discontinuous mentions.

    >>> from spanloom.structures import MentionTable
    >>> table, offsets = MentionTable.build([(0, 0, ((0, 3),)), (0, 0, ((1, 4),))]), np.array([0, 4])  # they cross
    >>> edges = Separators().encode(table, offsets, ["x"]).edges
    >>> [spans for _, _, spans in Separators().decode(edges, offsets, ["x"]).rows()]
    [((0, 4),), ((1, 3),)]
    """

    name = "separators"
    ahead = True

    def template(self, types: Sequence[str]) -> Template:
        """Kinds T (the first token only), O, I; eight hyperedges between neighbours."""
        return _TEMPLATE

    def fill(self, found: Boundaries, covered: NDArray[np.bool_], first: NDArray[np.bool_], edges: Edges) -> None:
        """One separator a token; the first token has T-O or T-I before it."""
        numbers = np.array([_NUMBER[name] for name in separator_table()], np.int16)
        picked = numbers[separator_codes(found, first)]
        edges[..., 0] = picked
        edges[first, :, 0] = found.start[first]
        edges[first, :, 1] = picked[first]
