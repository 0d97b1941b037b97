"""SPLIT: a strand for each number of components (Muis and Lu 2016, section 3.2)."""

from __future__ import annotations

from spanloom.structures.discontiguous import Discontiguous, component_shape
from spanloom.structures.stranded import Shape


class Split(Discontiguous):
    """As `Shared`, with nodes of their own for mentions of one, two, three components; less ambiguous.

    The strands share no node, so they are counted apart: for three components with 1, 3 and 5 bits instead of 9.

    >>> Split(2).template(()).kinds
    ('A', 'T/1', 'B1/1', 'T/2', 'B1/2', 'O2/2', 'B2/2')
    """

    name = "split"

    def shapes(self) -> tuple[Shape, ...]:
        """A strand for each number of components; a mention ends only in the last."""
        return tuple(component_shape(f"/{j}", j, j) for j in range(1, self.components + 1))
