"""Structures: how mentions become hyperedges of a template, and hyperedges mentions."""

from spanloom.structures.base import MOST_MENTIONS, READINGS, Crowd, Encoded, MentionTable, Structure, TokenMention
from spanloom.structures.chain import Bilou, Bio, chain_template
from spanloom.structures.mention_hypergraph import MentionHypergraph
from spanloom.structures.separator_states import SeparatorStates
from spanloom.structures.separators import Separators
from spanloom.structures.seven_tag import SevenTag
from spanloom.structures.shared import Shared
from spanloom.structures.split import Split

STRUCTURES: dict[str, Structure] = {
    structure.name: structure
    for structure in (
        Bio(),
        Bilou(),
        MentionHypergraph(),
        Separators(),
        SeparatorStates(),
        SevenTag(),
        Shared(),
        Split(),
    )
}

__all__ = [
    "MOST_MENTIONS",
    "READINGS",
    "STRUCTURES",
    "Crowd",
    "Encoded",
    "MentionTable",
    "Structure",
    "TokenMention",
    "chain_template",
]
