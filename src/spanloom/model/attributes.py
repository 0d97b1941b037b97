"""How well attributes of mentions are predicted, as reports have it."""

from __future__ import annotations

from dataclasses import dataclass

from spanloom.errors import plural


@dataclass(frozen=True)
class AttributeQuality:
    """How well an attribute is predicted for training mentions that the model did not see (cross-validation).

    Args:
        mentions: of the types that have the attribute.
        marked: of these, with the attribute.
        precision, recall: of attributes with their value.
        calibration: expected calibration error of the probabilities.
    """

    mentions: int
    marked: int
    precision: float
    recall: float
    calibration: float

    @property
    def f1(self) -> float:
        """F1, 0 to 1."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def __str__(self) -> str:
        """F1, and on how many mentions."""
        return f"F1 {100 * self.f1:.1f} ({self.marked:,} of {plural(self.mentions, 'mention')})"
