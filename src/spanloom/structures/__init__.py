"""Structures: how mentions become hyperedges of a template, and hyperedges mentions."""

from spanloom.structures.base import MOST_MENTIONS, READINGS, Crowd, Encoded, MentionTable, Structure, TokenMention
from spanloom.structures.chain import Bilou, Bio, chain_template
from spanloom.structures.heads import Heads
from spanloom.structures.mention_hypergraph import MentionHypergraph
from spanloom.structures.semi_markov import SemiMarkov
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
        SemiMarkov(),
        MentionHypergraph(),
        Heads(),
        Separators(),
        SeparatorStates(),
        SevenTag(),
        Shared(),
        Split(),
    )
}


def configured(name: str, components: int = 3, longest: int | None = None) -> Structure:
    """A structure of `STRUCTURES`, for mentions of at most so many components and tokens.

    >>> configured("semi_markov", longest=2).template(["x"]).kinds
    ('START', 'after O', 'after x', 'x 1', 'x 2')
    """
    return STRUCTURES[name].with_components(components).with_longest(longest)


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
    "configured",
]
