"""The templates of the second stage: what it looks at of a candidate; see `CandidateValues` for the values."""

from __future__ import annotations

from typing import Final

from spanloom.rescoring.relations import RELATIONS

__all__ = ["GROUPS", "TEMPLATES"]

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "marginal": ("type", "odds", "odds|type", "level", "level|type", "level|odds.coarse"),
    "length": ("len:12", "len:12|type", "len:12|odds.coarse"),
    "edges": (
        "low[first]|type", "low[last]|type", "low[last-1]|low[last]|type", "low[first]|low[first+1]|type",
        "suffix3[last]|type", "suffix4[last]|type", "shape[first]|type", "shape[last]|type", "shape[first]|shape[last]",
        "low[first]|odds.coarse", "low[last]|odds.coarse", "cluster:6[last]|type", "cluster:10[last]|type",
        "pos[first]|type", "pos[last]|type", "pos[first]|pos[last]|len:6", "category[first]|category[last]|type",
        "brackets", "brackets|odds.coarse",
    ),
    "around": (
        "low[first-1]|type", "low[last+1]|type", "low[first-1]|low[last+1]", "low[first-1]|low[first]",
        "low[last]|low[last+1]", "low[first-1]|odds.coarse", "low[last+1]|odds.coarse", "pos[first-1]|pos[first]|type",
        "pos[last]|pos[last+1]|type", "pos[first-1]|pos[last+1]", "suffix3[last]|low[last+1]",
    ),
    "text": ("text|type", "text"),
    "seen": ("seen", "seen|odds.coarse", "seen|len:4", "seen|type"),
    "relations": tuple(
        text for name in RELATIONS for text in (name, f"{name}|odds.coarse", f"{name}.less", f"{name}.less|type")
    ),
    "document": (
        "again", "again|odds.coarse", "again.other", "again.other|odds.coarse", "again|again.other",
        "again|type",
    ),
    "gaps": (
        "parts", "parts|type", "parts|odds.coarse", "gap.len:12", "gap.len:12|odds.coarse", "gap.text", "low[gap]",
        "low[join-1]", "low[gap-1]|low[join]", "low[gap-1]|low[gap]", "low[join-1]|low[join]", "low[join]|type",
        "suffix3[gap-1]|suffix3[join-1]", "pos[gap]", "pos[join-1]", "pos[gap-1]|pos[gap]|pos[join-1]|pos[join]",
        "cluster:6[gap-1]|cluster:6[join-1]",
    ),
}  # fmt: skip
"""Templates by what they look at."""
TEMPLATES: Final = tuple(text for group in GROUPS.values() for text in group)
