"""SHARED and SPLIT: strands of components and gaps (Muis and Lu 2016, section 3.2).

A strand has the nodes ``B1``, the first component, ``O2``, the gap before the second, ``B2``, and so on. A node B
continues to itself at the next token or to the gap after it, ends, or does several of these; a node O continues to
itself, to the component after it, or both. The models differ only in their strands and in where these may end.

A hyperedge's roles are its events: ``S`` a mention starts at this token; ``Ci`` its component i continues to the next
token, ``Gi`` a gap follows, ``Ei`` the mention ends; ``Oi`` the gap before component i continues, ``Ri`` the component
begins at the next token. All strands share S; each has its own copy of the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Ints
from spanloom.structures.base import MOST_COMPONENTS, MentionTable, check_number, too_many_components
from spanloom.structures.strands.pieces import ADVANCE, END, STAY, StrandPieces, component_pieces
from spanloom.structures.strands.reading import FoundPaths, ranges
from spanloom.structures.strands.structure import Shape, Stranded


def component_shape(suffix: str, components: int, least: int) -> Shape:
    """The strand of components and gaps.

    Args:
        suffix: of its nodes' names.
        components: of the longest mention on it.
        least: of the shortest: a B before that component may not end.
    """
    names = [name for i in range(1, components + 1) for name in (f"O{i}", f"B{i}")][1:]
    roles = {}
    for position in range(len(names)):
        number, gap = position // 2 + 1 + position % 2, position % 2
        roles[position, STAY] = (f"{'CO'[gap]}{number}{suffix}",)
        if position < len(names) - 1:
            roles[position, ADVANCE] = (f"{'GR'[gap]}{number}{suffix}",)
        if not gap and number >= least:
            roles[position, END] = (f"E{number}{suffix}",)
    return Shape(suffix, tuple(name + suffix for name in names), {0: ("S",)}, roles)


@dataclass(frozen=True)
class Discontiguous(Stranded):
    """Mentions of up to so many components, which may overlap, cross and share components.

    Args:
        components: at most, of a mention.

    Raises:
        UsageError: ``components`` is below 1 or above `MOST_COMPONENTS`.
    """

    components: int = 3

    def __post_init__(self) -> None:
        check_number("components", self.components, MOST_COMPONENTS)

    def refused(self, mentions: MentionTable) -> dict[int, str]:
        """Mentions of more components."""
        return too_many_components(mentions, self.components)

    def holds(self, mentions: MentionTable) -> NDArray[np.bool_]:
        """(M,) whether a mention has no more components."""
        held: NDArray[np.bool_] = np.diff(mentions.ptr) <= self.components
        return held

    def pieces(self, mentions: MentionTable) -> StrandPieces:
        """Components and gaps."""
        return component_pieces(mentions)

    def strand_of(self, mentions: MentionTable) -> Ints:
        """(M,) the first strand that has as many components as the mention."""
        most = [(len(shape.nodes) + 1) // 2 for shape in self._shapes]
        return np.searchsorted(most, np.diff(mentions.ptr))

    def mentions(self, found: FoundPaths) -> MentionTable:
        """Each two bounds are a component."""
        return ranges(found)


@dataclass(frozen=True)
class Shared(Discontiguous):
    """Mentions with gaps that share nodes whatever their number of components: SHARED (Muis and Lu 2016, section 3.2).

    - Finds: discontinuous, nested, overlapping and crossing mentions of up to ``components`` parts.
    - Cannot: distinguish all sets of mentions: several may share a structure, of which `enough` reads few mentions.
    - Use: it for discontinuous mentions; `Split` is less ambiguous and slower.

    >>> Shared(2).template(()).kinds
    ('A', 'T', 'B1', 'O2', 'B2')
    """

    name = "shared"

    def shapes(self) -> tuple[Shape, ...]:
        """One strand; a mention may end in every component."""
        return (component_shape("", self.components, 1),)


@dataclass(frozen=True)
class Split(Discontiguous):
    """As `Shared`, with nodes of their own for mentions of one, two, three components: SPLIT.

    - Finds: the mentions of `Shared`.
    - Cannot: distinguish all mentions with the same number of components.
    - Use: it for discontinuous mentions where precision matters most.

    The strands share no node, so they are counted apart: for three components with 1, 3 and 5 bits instead of 9.

    >>> Split(2).template(()).kinds
    ('A', 'T/1', 'B1/1', 'T/2', 'B1/2', 'O2/2', 'B2/2')
    """

    name = "split"

    def shapes(self) -> tuple[Shape, ...]:
        """A strand for each number of components; a mention ends only in the last."""
        return tuple(component_shape(f"/{j}", j, j) for j in range(1, self.components + 1))
