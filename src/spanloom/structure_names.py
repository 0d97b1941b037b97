"""The names of structures, as type checkers, editors and the command line see them."""

from __future__ import annotations

from typing import Literal, TypeAlias

StructureName: TypeAlias = Literal[
    "bio",
    "bilou",
    "semi_markov",
    "mention_hypergraph",
    "heads",
    "separators",
    "separator_states",
    "seven_tag",
    "shared",
    "split",
]
