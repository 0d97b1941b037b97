"""SHARED: mentions of any number of components on one strand (Muis and Lu 2016, section 3.2)."""

from __future__ import annotations

from spanloom.structures.discontiguous import Discontiguous, component_shape
from spanloom.structures.stranded import Shape


class Shared(Discontiguous):
    """Discontiguous, nested and overlapping mentions that share nodes whatever their number of components.

    >>> Shared(2).template(()).kinds
    ('A', 'T', 'B1', 'O2', 'B2')
    """

    name = "shared"

    def shapes(self) -> tuple[Shape, ...]:
        """One strand; a mention may end in every component."""
        return (component_shape("", self.components, 1),)
