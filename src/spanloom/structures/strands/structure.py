"""Base of the structures whose mentions run along strands of nodes.

For each type, ``A`` represents all mentions that start here or later, ``T`` those that start here. From T a mention
enters a *strand* of nodes: it stays at a node for some tokens, advances to the following one, and so on, until it ends.
A node takes several of these links at once if the mentions that share it part there. Structures differ in their
strands, in where a mention may enter and leave them, and in the roles of a node.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Child, Edges, Hyperedge, Ints, Paths, Role, Template
from spanloom.native import Kernel
from spanloom.structures.base import MOST_MENTIONS, Crowd, Encoded, MentionTable, Structure
from spanloom.structures.strands.graph import Strand, draw
from spanloom.structures.strands.pieces import ADVANCE, END, STAY, StrandPieces, paths_of, stretches
from spanloom.structures.strands.reading import FoundPaths, crowded, read

_stranded = Kernel("stranded")
_SETS = (END, ADVANCE, ADVANCE | END, STAY, STAY | END, STAY | ADVANCE, STAY | ADVANCE | END)


class Shape(NamedTuple):
    """One strand of a structure.

    Args:
        suffix: of the name of its T.
        nodes: their kinds, by position.
        enters: the roles of entering at a position, for those where a mention may start.
        roles: for each position and each link that its node may take up, the roles of that.
        heads: whether the positions are those of heads.
    """

    suffix: str
    nodes: tuple[str, ...]
    enters: Mapping[int, tuple[str, ...]]
    roles: Mapping[tuple[int, int], tuple[str, ...]]
    heads: bool = False

    @property
    def start(self) -> str:
        """The kind of T."""
        return f"T{self.suffix}"

    def entries(self) -> list[tuple[int, ...]]:
        """Return the places where mentions start, as sets of positions, in the order of T's hyperedges."""
        known = sorted(self.enters)
        return [tuple(p for i, p in enumerate(known) if bits >> i & 1) for bits in range(2 ** len(known))]

    def links(self, position: int) -> list[int]:
        """Return the links that a node may take up, sets of STAY, ADVANCE and END, in the order of its hyperedges."""
        return [links for links in _SETS if all(links & bit == 0 or (position, bit) in self.roles for bit in (1, 2, 4))]


class _Table(NamedTuple):
    """A template, and what its hyperedges mean.

    Args:
        template: of the structure.
        edge: (strands, positions, 8) the hyperedge of a node that takes up a set of links.
        start: (strands, 2 ** positions) the hyperedge of T for a set of positions at which mentions start.
        place: (E + 1, 3) strand, position and links of each hyperedge; of T, position -1 and where mentions start; the
            last row is for none.
        allowed: (strands * positions * 6, E) the hyperedges that one step of a mention allows.
    """

    template: Template
    edge: NDArray[np.int16]
    start: NDArray[np.int16]
    place: Ints
    allowed: NDArray[np.uint8]


class Stranded(Structure):
    """Mentions as paths along strands."""

    @abstractmethod
    def shapes(self) -> tuple[Shape, ...]:
        """The strands."""

    @abstractmethod
    def refused(self, mentions: MentionTable) -> dict[int, str]:
        """Number of a mention -> why the structure cannot hold it."""

    @abstractmethod
    def pieces(self, mentions: MentionTable) -> StrandPieces:
        """The pieces of mentions that the structure holds, by position."""

    @abstractmethod
    def strand_of(self, mentions: MentionTable) -> Ints:
        """(M,) the number of the strand of each mention."""

    @abstractmethod
    def mentions(self, found: FoundPaths) -> MentionTable:
        """Paths as mentions."""

    @cached_property
    def _shapes(self) -> tuple[Shape, ...]:
        return self.shapes()

    @cached_property
    def _table(self) -> _Table:
        return _tabulate(self._shapes)

    def template(self, types: Sequence[str]) -> Template:
        """Kinds A, and for each strand T and its nodes; the leaf X has no node."""
        return self._table.template

    def start_roles(self, types: Sequence[str]) -> frozenset[str]:
        """S."""
        return frozenset("S")

    def holds(self, mentions: MentionTable) -> NDArray[np.bool_]:
        """(M,) whether the structure can hold each mention by itself."""
        kept = np.ones(len(mentions), bool)
        kept[list(self.refused(mentions))] = False
        return kept

    def encode(self, mentions: MentionTable, offsets: Ints, types: Sequence[str]) -> Encoded:
        """As `Structure.encode`."""
        lost = self.refused(mentions)
        kept = mentions.take(self.holds(mentions)) if lost else mentions
        table, shapes = self._table, self._shapes
        slots = [np.zeros((int(offsets[-1]), len(types), 1), np.int16)]
        pieces = self.pieces(kept)
        strand_of = self.strand_of(kept)[pieces.mention]
        for j, shape in enumerate(shapes):
            own = StrandPieces(*(column[strand_of == j] for column in pieces))
            strand = draw(own, kept, offsets, len(types), len(shape.nodes), shape.heads)
            positions = np.arange(len(shape.nodes))
            slots += [table.start[j][strand.start][..., None], table.edge[j][positions, strand.links]]
        edges = np.concatenate(slots, 2)
        busy = (edges[..., 1 + len(shapes) :] >= 0).any(2)
        order = np.argsort(edges[busy] < 0, axis=1, kind="stable")
        edges[busy] = np.take_along_axis(edges[busy], order, 1)
        return Encoded(edges, lost)

    def decode(self, edges: Edges, offsets: Ints, types: Sequence[str], reading: str = "enough") -> MentionTable:
        """As `Structure.decode`."""
        found = [self.mentions(read(strand, offsets, reading)) for strand in self._strands(edges)]
        return found[0] if len(found) == 1 else MentionTable.merge(found)

    def crowded(self, edges: Edges, offsets: Ints, types: Sequence[str]) -> list[Crowd]:
        """As `Structure.crowded`; strands are counted by themselves."""
        return [crowd for strand in self._strands(edges) for crowd in crowded(strand, offsets, MOST_MENTIONS)]

    def _strands(self, edges: Edges) -> list[Strand]:
        result = []
        for j, shape in enumerate(self._shapes):
            start = np.zeros(edges.shape[:2], np.uint8)
            links = np.zeros((*edges.shape[:2], len(shape.nodes)), np.uint8)
            _stranded(edges, self._table.place, j, start, links)
            result.append(Strand(start, links, shape.heads))
        return result

    def paths(self, mentions: MentionTable, types: Sequence[str]) -> Paths:
        """As `Structure.paths`."""
        pieces = self.pieces(mentions)
        parts = stretches(pieces)
        begins = parts.first & (np.diff(pieces.mention, prepend=-1) > 0)[:, None]
        bit = np.array([0, 0, 1, 0, 2])[parts.link]
        width = self._table.edge.shape[1]
        place = self.strand_of(mentions)[pieces.mention] * width + pieces.position
        rows = (place[:, None] * 2 + begins) * 3 + bit
        return paths_of(mentions, mentions.kind, pieces, rows, parts.size, self._table.allowed)


def _tabulate(shapes: Sequence[Shape]) -> _Table:
    edges = [Hyperedge("A", "A", (*(Child(shape.start) for shape in shapes), Child("A", 1)))]
    place = [(-1, 0, 0)]
    width = max(len(shape.nodes) for shape in shapes)
    start = np.full((len(shapes), 1 << max(max(shape.enters) for shape in shapes) + 1), -1, np.int16)
    edge = np.full((len(shapes), width, 8), -1, np.int16)
    for j, shape in enumerate(shapes):
        for entry in shape.entries():
            bits = sum(1 << position for position in entry)
            start[j, bits] = len(edges)
            edges.append(_start(shape, entry))
            place.append((j, -1, bits))
        for position, links in ((p, links) for p in range(len(shape.nodes)) for links in shape.links(p)):
            edge[j, position, links] = len(edges)
            edges.append(_edge(shape, position, links))
            place.append((j, position, links))
    place.append((-1, 0, 0))
    kinds = ["A", *(kind for shape in shapes for kind in (shape.start, *shape.nodes))]
    template = Template(tuple(kinds), "A", frozenset("A"), tuple(edges))
    places = np.array(place)
    return _Table(template, edge, start, places, _allowed(places[:-1], len(shapes), width))


def _start(shape: Shape, entry: Sequence[int]) -> Hyperedge:
    nodes = [shape.nodes[position] for position in entry]
    label = f"{shape.start}-{' '.join(nodes) or 'X'}"
    return Hyperedge(label, shape.start, tuple(map(Child, nodes)), _roles(shape.enters[p] for p in entry))


def _edge(shape: Shape, position: int, links: int) -> Hyperedge:
    head, ahead = shape.nodes[position], (*shape.nodes[position + 1 :], "")[0]
    taken = [(bit, name) for bit, name in ((ADVANCE, ahead), (STAY, head), (END, "X")) if links & bit]
    return Hyperedge(
        f"{head}-{' '.join(name for _, name in taken)}",
        head,
        tuple(Child(name, 1) for bit, name in taken if bit != END),
        _roles(shape.roles[position, bit] for bit, _ in taken),
    )


def _roles(groups: Iterable[tuple[str, ...]]) -> tuple[Role, ...]:
    """Return each role once, so that repetition does not change the score."""
    return tuple(Role(name) for name in dict.fromkeys(name for group in groups for name in group))


def _allowed(place: Ints, strands: int, width: int) -> NDArray[np.uint8]:
    """For each strand, position, whether the mention starts here, and link: the hyperedges that a path may pick."""
    strand, position, links = place.T
    rows = np.ones((strands * width * 6, len(place)), np.uint8)
    for row, (j, p, first, link) in zip(
        rows, product(range(strands), range(width), (0, 1), (STAY, ADVANCE, END)), strict=True
    ):
        row[(strand == j) & (position == p) & (links & link == 0)] = 0
        if first:
            row[(strand == j) & (position < 0) & (links >> p & 1 == 0)] = 0
    return rows
