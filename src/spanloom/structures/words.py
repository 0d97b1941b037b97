"""Words of text without spaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spanloom.structures.chain import FlatChain


@dataclass(frozen=True)
class Words(FlatChain):
    """Tags B, I, E and S: every character belongs to a word (Xu et al. 2014). The one type is ``word``."""

    name = "words"
    letters = "BIES"
    covers = True

    def tags(self, types: Sequence[str]) -> list[str]:
        """B, I, E, S; there is no O."""
        return list(self.letters)

    def spell(self, length: int) -> str:
        """S alone, or B, I and E."""
        return "S" if length == 1 else "B" + "I" * (length - 2) + "E"

    def start_roles(self, types: Sequence[str]) -> frozenset[str]:
        """None: no penalty is tuned for words."""
        return frozenset()
