"""The seven tags of Tang et al. (2013) for mentions with gaps, as Muis and Lu (2016), section 3.1, describe them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Edges, Ints, Paths
from spanloom.structures.base import (
    MOST_COMPONENTS,
    MOST_MENTIONS,
    Crowd,
    Encoded,
    MentionTable,
    check_number,
    contiguous_table,
    too_many_components,
)
from spanloom.structures.chain import Chain
from spanloom.structures.seven_tag_reading import BODY, HEAD, SevenTagRuns, find_runs, number, read_all, read_enough
from spanloom.structures.strands.pieces import STAY, component_pieces, paths_of, stretches

OVERLAP = "it overlaps one of another type that is as long or longer, and a tag has one type"


@dataclass(frozen=True)
class SevenTag(Chain):
    """A chain with tags for parts of one contiguous mention, of one discontiguous mention, and of several mentions.

    - Finds: discontinuous and overlapping mentions of one type.
    - Cannot: hold overlaps of two types; tags do not determine the mentions, which rules join.
    - Use: it as the baseline of Muis and Lu (2016); `Shared` and `Split` find more.

    *Heads*, BH and IH, are tokens of two mentions of the type or more; *bodies*, BD and ID, are the other tokens of
    discontiguous mentions; B and I are the rest; O is in no mention. A token continues (I, ID, IH) if its mention holds
    the token before it in the same component, for a head if two mentions do; else it begins (B, BD, BH). With these
    borders 1, 2, 3 and 4 tokens have 2, 8, 46 and 310 canonical encodings. Of all encodings of up to 4 tokens, I comes
    only after B, I, BH and IH; ID only after BD, ID, BH and IH; IH only after BH and IH, always of its own type; all
    others may follow any tag. `follows` allows exactly that, and so also sequences that are no encoding, such as one BD
    alone.

    The roles of a mention's start are B, BD and BH of all types, though BD and BH begin any component.

    All types share one lattice, and a token has one type: of two mentions of different types that overlap, the one with
    fewer tokens, or the later of equal ones, is left out of training.

    Args:
        components: at most, of a mention.

    Raises:
        UsageError: ``components`` is below 1 or above `MOST_COMPONENTS`.

    >>> table = MentionTable.build([(0, 0, ((0, 1),)), (0, 0, ((0, 1), (2, 4))), (0, 0, ((0, 1), (5, 6)))])
    >>> structure, offsets = SevenTag(), np.array([0, 6])  # Infarctions either water shed or embolic
    >>> edges = structure.encode(table, offsets, ["p"]).edges
    >>> [structure.tags(["p"])[tag] for tag in structure.read_tags(edges, ["p"])]
    ['BH-p', 'O', 'BD-p', 'ID-p', 'O', 'BD-p']
    >>> structure.decode(edges, offsets, ["p"]).rows()
    [(0, 0, ((0, 1), (5, 6))), (0, 0, ((0, 1), (2, 4)))]
    """

    name = "seven_tag"
    letters = ("B", "I", "BD", "ID", "BH", "IH")
    only_canonical = False

    components: int = 3

    def __post_init__(self) -> None:
        check_number("components", self.components, MOST_COMPONENTS)

    def follows(self, tag: str, after: str) -> bool:
        """Return whether ``after`` may follow ``tag``: I, ID and IH continue their own kind or a head of their type."""
        letter, _, name = after.partition("-")
        before, _, other = tag.partition("-")
        return letter[0] != "I" or (name == other and before[1:] in (letter[1:], "H"))

    def start_roles(self, types: Sequence[str]) -> frozenset[str]:
        """B, BD and BH of all types."""
        return frozenset(tag for tag in self.tags(types) if tag[0] == "B")

    def holds(self, mentions: MentionTable) -> NDArray[np.bool_]:
        """(M,) whether a mention has so few components."""
        few: NDArray[np.bool_] = np.diff(mentions.ptr) <= self.components
        return few

    def encode(self, mentions: MentionTable, offsets: Ints, types: Sequence[str]) -> Encoded:
        """As `Structure.encode`; mentions of more components are lost, and the shorter of two types that overlap."""
        lost = too_many_components(mentions, self.components)
        lost |= dict.fromkeys(_mixed(mentions, [i for i in range(len(mentions)) if i not in lost], offsets), OVERLAP)
        keep = np.ones(len(mentions), bool)
        keep[list(lost)] = False
        # a mention that is given twice is one mention; no two types meet at a token
        held = MentionTable.build(dict.fromkeys(mentions.take(keep).rows()))
        cover = _Cover(held, offsets)
        count, gaps = cover.count(), cover.count(~held.contiguous[cover.owner])
        linked = cover.count(skip=1)  # how many hold this token and the one before it
        family = np.where(count > 1, HEAD, np.where(gaps > 0, BODY, 0))
        goes_on = linked > (family == HEAD)
        kind = cover.count(held.kind[cover.owner]) // np.maximum(count, 1)
        tags = np.where(count > 0, 1 + 6 * kind + 2 * family + goes_on, 0)
        return Encoded(self.write_tags(tags, offsets, types), lost)

    def decode(self, edges: Edges, offsets: Ints, types: Sequence[str], reading: str = "enough") -> MentionTable:
        """As `Structure.decode`, see `seven_tag_reading`."""
        runs = self._runs(edges, offsets, types)
        clear = runs.clear
        plain = contiguous_table(*(column[clear] for column in (runs.sentence, runs.kind, runs.first, runs.end)))
        if clear.all():
            return plain
        rows = []
        for sentence, kind, group in runs.groups():
            if reading == "enough":
                found = read_enough(group, self.components)
            else:
                found = read_all(group, self.components, MOST_MENTIONS)
            rows += [(sentence, kind, ranges) for ranges in found]
        return MentionTable.merge([plain, MentionTable.build(rows)])

    def crowded(self, edges: Edges, offsets: Ints, types: Sequence[str]) -> list[Crowd]:
        """As `Structure.crowded`. Mentions of fewer components come first; of as many, they come from left to right."""
        counts = [
            Crowd(sentence, kind, number(group, self.components))
            for sentence, kind, group in self._runs(edges, offsets, types).groups()
        ]
        return [crowd for crowd in counts if crowd.mentions > MOST_MENTIONS]

    def _runs(self, edges: Edges, offsets: Ints, types: Sequence[str]) -> SevenTagRuns:
        tags = self.read_tags(edges, types)
        kind = np.where(tags > 0, (tags - 1) // len(self.letters), -1)
        return find_runs(kind, (tags - 1) % len(self.letters), offsets)

    def paths(self, mentions: MentionTable, types: Sequence[str]) -> Paths:
        """Return paths as `Structure.paths`: the reading ``all`` of these tags, without its limit, gives the mention.

        A component begins with B, BD, BH or IH (inside a head any mention may begin), and continues with I, ID, BH or
        IH: of B and I if the mention has one component, else of BD and ID. It does not end where I or ID continues a
        tag that is no head's. The tags in gaps are free.
        """
        pieces = component_pieces(mentions)
        parts = stretches(pieces)
        gaps = np.diff(mentions.ptr) > 1
        base = (mentions.kind * 2 + gaps)[pieces.mention]
        row = 1 + (base[:, None] * 2 + parts.first) * 2 + (parts.link != STAY)
        row[pieces.position % 2 == 1] = 0
        allowed = _allowed(self, tuple(types))
        return paths_of(mentions, np.zeros_like(mentions.kind), pieces, row, parts.size, allowed)


def _mixed(mentions: MentionTable, candidates: Sequence[int], offsets: Ints) -> list[int]:
    """Mentions that overlap one of another type that has more tokens, or as many and comes earlier."""
    cover = _Cover(mentions, offsets)
    kinds = mentions.kind[cover.owner]
    # the squares' sum times their number is the square of the sum only where all types are one
    meet = cover.count() * cover.count(kinds**2) != cover.count(kinds) ** 2
    if not meet.any():
        return []
    busy = set((np.searchsorted(offsets, np.flatnonzero(meet), side="right") - 1).tolist())
    rows = mentions.rows()
    size = [sum(end - first for first, end in ranges) for _, _, ranges in rows]
    taken = np.full(len(meet), -1)
    mixed = []
    for i in sorted((i for i in candidates if rows[i][0] in busy), key=lambda i: -size[i]):
        n, own, ranges = rows[i]
        parts = [taken[offsets[n] + first : offsets[n] + end] for first, end in ranges]
        if any(((part >= 0) & (part != own)).any() for part in parts):
            mixed.append(i)
        else:
            for part in parts:
                part[:] = own
    return mixed


class _Cover:
    """Tokens that the components of mentions cover; ``owner`` is the mention of each component."""

    def __init__(self, mentions: MentionTable, offsets: Ints) -> None:
        self.owner = np.repeat(np.arange(len(mentions)), np.diff(mentions.ptr))
        base = offsets[mentions.sentence[self.owner]]
        self._first, self._end, self._size = base + mentions.first, base + mentions.end, int(offsets[-1])

    def count(self, weight: Ints | NDArray[np.bool_] | int = 1, skip: int = 0) -> Ints:
        """(T,) the sum of the weights of the components that cover each token, without the first so many of each."""
        change = np.zeros(self._size + 1, np.int64)
        np.add.at(change, self._first + skip, weight)
        np.subtract.at(change, self._end, weight)
        return np.cumsum(change)[:-1]


@lru_cache(maxsize=64)
def _allowed(structure: SevenTag, types: tuple[str, ...]) -> NDArray[np.uint8]:
    """Hyperedges that a step allows: row 0 all; then by type, gaps or none, component begins or not, ends or not."""
    number = {tag: i for i, tag in enumerate(structure.tags(types))}
    own, after = [], []  # the tag of this token that a hyperedge speaks of, and that of the next; 0 is no matter
    for edge in structure.template(types).edges:
        child = edge.children[0].kind.strip()
        own.append(number[edge.head.strip() if edge.head != "START" else child])
        after.append(number[child] if edge.constant is not None else 0)
    own_tag, follows = np.array(own), np.array(after)
    rows = [np.ones(len(own), bool)]
    for kind, gaps, begins, ends in product(range(len(types)), (0, 1), (0, 1), (0, 1)):
        begin, head = 1 + 6 * kind + 2 * gaps, 1 + 6 * kind + 2 * HEAD
        row = np.isin(own_tag, [begin if begins else begin + 1, head, head + 1])
        if ends:
            row &= (own_tag >= head) | (follows != begin + 1)
        rows.append(row)
    return np.array(rows, np.uint8)
