"""Report of the training of the linking stage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class ConceptReport:
    """Report of the training of the linking stage.

    Args:
        mentions: of training whose concepts the vocabulary has, or that have none.
        lacking: training mentions whose concepts the vocabulary lacks.
        reached: share of the former whose concept is among the candidates.
        l2: lambda.
        measured: development mentions of the same kind.
        first: share of them of which the most similar candidate is right.
        right: share of them whose concept is right.
        unseen: those whose concept no training mention has.
        unseen_right: share of the unseen ones whose concept is right.
    """

    mentions: int
    lacking: int
    reached: float
    l2: float
    measured: int
    first: float
    right: float
    unseen: int
    unseen_right: float

    def lines(self) -> Iterator[str]:
        """Describe it."""
        lacking = f"; the vocabulary lacks those of {self.lacking:,} more" if self.lacking else ""
        yield (
            f"concepts: those of {self.mentions:,} training mentions, {100 * self.reached:.1f} % of them among the "
            f"candidates, lambda {self.l2:g}{lacking}"
        )
        unseen = f", {100 * self.unseen_right:.1f} % of {self.unseen:,} unseen ones" if self.unseen else ""
        yield (
            f"concepts of {self.measured:,} given development mentions: {100 * self.right:.1f} % right{unseen}; by the "
            f"most similar name or training mention {100 * self.first:.1f} %"
        )
