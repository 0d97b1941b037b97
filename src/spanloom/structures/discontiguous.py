"""What SHARED and SPLIT have in common: strands of components and gaps (Muis and Lu 2016, section 3.2).

For each type, ``A`` stands for all mentions that start here or later, ``T`` for those that start here. From T a mention
runs along a *strand* of nodes: ``B1``, its first component, ``O2``, the gap before the second, ``B2``, and so on. A
node B goes on to itself at the next token, to the gap after it, ends, or any of these at once; a node O goes on to
itself, to the component after it, or both. The models differ only in which strands there are and where they may end.

A hyperedge's roles say what it takes up: ``S`` a mention starts at this token; ``Ci`` its component i goes on to the
next token, ``Gi`` a gap follows, ``Ei`` the mention ends; ``Oi`` the gap before component i goes on, ``Ri`` the
component begins at the next token. All strands share S; the others are a strand's own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Child, Edges, Hyperedge, Ints, Paths, Role, Template
from spanloom.structures.base import MOST_MENTIONS, Crowd, Encoded, MentionTable, Structure, check_components
from spanloom.structures.steps import ADVANCE, END, STAY, steps
from spanloom.structures.strands import Strand, crowded, lay, read_all, read_enough


class Shape(NamedTuple):
    """One strand of a structure.

    Args:
        suffix: of its nodes' names.
        components: of the longest mention on it.
        least: of the shortest: a B before that component may not end.
    """

    suffix: str
    components: int
    least: int

    @property
    def nodes(self) -> tuple[str, ...]:
        """B1, O2, B2, ...: positions 0, 1, 2, ..."""
        names = [name for i in range(1, self.components + 1) for name in (f"O{i}", f"B{i}")][1:]
        return tuple(name + self.suffix for name in names)

    def links(self, position: int) -> tuple[int, ...]:
        """What a node may take up, as sets of STAY, ADVANCE and END, in the order of its hyperedges."""
        allowed = STAY
        if position < 2 * self.components - 2:
            allowed |= ADVANCE
        if position % 2 == 0 and position // 2 + 1 >= self.least:
            allowed |= END
        return tuple(links for links in (END, ADVANCE, ADVANCE | END, STAY, STAY | END, STAY | ADVANCE, 7)
                     if links & ~allowed == 0)  # fmt: skip


class _Table(NamedTuple):
    """A template, and what its hyperedges mean.

    Args:
        template: of the structure.
        edge: (strands, positions, 8) the hyperedge of a node that takes up a set of links.
        start: (strands, 2) the hyperedge of T where no mention starts, and where one does.
        place: (E + 1, 3) strand, position (-1 for T where a mention starts) and links of each hyperedge; the last row
            is for none.
        allowed: (strands * positions * 6, E) the hyperedges that one step of a mention allows.
    """

    template: Template
    edge: NDArray[np.int16]
    start: NDArray[np.int16]
    place: Ints
    allowed: NDArray[np.uint8]


class Discontiguous(Structure):
    """Mentions of up to so many components, which may overlap, cross and share components.

    Args:
        components: at most, of a mention.

    Raises:
        UsageError: ``components`` is below 1 or above `MOST_COMPONENTS`.
    """

    def __init__(self, components: int = 3) -> None:
        self.components = check_components(components)

    @abstractmethod
    def shapes(self) -> tuple[Shape, ...]:
        """The strands, in order of their numbers of components."""

    def with_components(self, components: int) -> Self:
        """The same for mentions of at most so many components."""
        return type(self)(components)

    @cached_property
    def _table(self) -> _Table:
        return _tabulate(self.shapes())

    def template(self, types: Sequence[str]) -> Template:
        """Kinds A, and for each strand T and its nodes; the leaf X has no node."""
        return self._table.template

    def start_roles(self, types: Sequence[str]) -> frozenset[str]:
        """S."""
        return frozenset("S")

    def holds(self, mentions: MentionTable) -> NDArray[np.bool_]:
        """(M,) whether a mention has so few components."""
        few: NDArray[np.bool_] = np.diff(mentions.ptr) <= self.components
        return few

    def encode(self, mentions: MentionTable, offsets: Ints, types: Sequence[str]) -> Encoded:
        """As `Structure.encode`; mentions of more components are lost."""
        count = np.diff(mentions.ptr)
        lost = {
            i: f"it has {count[i]} components, and the model was made for at most {self.components}"
            for i in np.flatnonzero(count > self.components).tolist()
        }
        table, shapes = self._table, self.shapes()
        slots = [np.zeros((int(offsets[-1]), len(types), 1), np.int16)]
        for j, (strand, shape) in enumerate(zip(self._lay(mentions, offsets, types), shapes, strict=True)):
            positions = np.arange(len(shape.nodes))
            slots += [table.start[j][strand.start.astype(np.int8)][..., None], table.edge[j][positions, strand.links]]
        edges = np.concatenate(slots, 2)
        busy = (edges[..., 1 + len(shapes) :] >= 0).any(2)
        order = np.argsort(edges[busy] < 0, axis=1, kind="stable")
        edges[busy] = np.take_along_axis(edges[busy], order, 1)
        return Encoded(edges, lost)

    def _lay(self, mentions: MentionTable, offsets: Ints, types: Sequence[str]) -> list[Strand]:
        count = np.diff(mentions.ptr)
        return [
            lay(mentions.take((count >= shape.least) & (count <= shape.components)), offsets, len(types),
                shape.components)
            for shape in self.shapes()
        ]  # fmt: skip

    def decode(self, edges: Edges, offsets: Ints, types: Sequence[str], reading: str = "enough") -> MentionTable:
        """As `Structure.decode`."""
        found = [
            read_enough(strand, offsets) if reading == "enough" else read_all(strand, offsets, MOST_MENTIONS)
            for strand in self._strands(edges)
        ]
        return found[0] if len(found) == 1 else MentionTable.merge(found)

    def crowded(self, edges: Edges, offsets: Ints, types: Sequence[str]) -> list[Crowd]:
        """As `Structure.crowded`; strands are counted by themselves."""
        return [crowd for strand in self._strands(edges) for crowd in crowded(strand, offsets, MOST_MENTIONS)]

    def _strands(self, edges: Edges) -> list[Strand]:
        table, shapes = self._table, self.shapes()
        strand, position, links = table.place[edges[..., 1:]].transpose(3, 0, 1, 2)
        result = []
        for j, shape in enumerate(shapes):
            own = strand == j
            found = np.zeros((*edges.shape[:2], len(shape.nodes)), np.uint8)
            token, kind, slot = np.nonzero(own & (position >= 0))
            found[token, kind, position[token, kind, slot]] = links[token, kind, slot]
            result.append(Strand((own & (position < 0)).any(2), found))
        return result

    def paths(self, mentions: MentionTable, types: Sequence[str]) -> Paths:
        """As `Structure.paths`."""
        owner, _, position, link = steps(mentions)
        count = np.diff(mentions.ptr)
        shapes = self.shapes()
        strand = np.searchsorted([shape.components for shape in shapes], count)
        first = np.diff(owner, prepend=-1) > 0
        bit = np.array([0, 0, 1, 0, 2])[link]
        width = self._table.edge.shape[1]
        rows = ((strand[owner] * width + position) * 2 + first) * 3 + bit
        step_ptr = np.append(np.flatnonzero(first), len(owner))
        start = mentions.first[mentions.ptr[:-1]]
        return Paths(mentions.sentence, mentions.kind, start, step_ptr, rows, self._table.allowed)


def _tabulate(shapes: Sequence[Shape]) -> _Table:
    starts = [f"T{shape.suffix}" for shape in shapes]
    edges = [Hyperedge("A", "A", (*(Child(kind) for kind in starts), Child("A", 1)))]
    place = [(-1, 0, 0)]
    width = max(len(shape.nodes) for shape in shapes)
    start = np.zeros((len(shapes), 2), np.int16)
    edge = np.full((len(shapes), width, 8), -1, np.int16)
    for j, (shape, kind) in enumerate(zip(shapes, starts, strict=True)):
        nodes = shape.nodes
        start[j] = len(edges), len(edges) + 1
        edges += [
            Hyperedge(f"{kind}-X", kind),
            Hyperedge(f"{kind}-{nodes[0]}", kind, (Child(nodes[0]),), (Role("S"),)),
        ]
        place += [(-1, 0, 0), (j, -1, 0)]
        for position, links in ((p, links) for p in range(len(nodes)) for links in shape.links(p)):
            edge[j, position, links] = len(edges)
            edges.append(_edge(shape, position, links))
            place.append((j, position, links))
    place.append((-1, 0, 0))
    kinds = ["A", *(kind for t, shape in zip(starts, shapes, strict=True) for kind in (t, *shape.nodes))]
    template = Template(tuple(kinds), "A", frozenset("A"), tuple(edges))
    places = np.array(place)
    return _Table(template, edge, start, places, _allowed(places[:-1], start, width))


def _edge(shape: Shape, position: int, links: int) -> Hyperedge:
    nodes, number = shape.nodes, position // 2 + 1 + position % 2
    inside, leaving = "CG" if position % 2 == 0 else "OR"
    taken = []
    if links & ADVANCE:
        taken.append((nodes[position + 1], Role(f"{leaving}{number}{shape.suffix}")))
    if links & STAY:
        taken.append((nodes[position], Role(f"{inside}{number}{shape.suffix}")))
    ends = [("X", Role(f"E{number}{shape.suffix}"))] if links & END else []
    return Hyperedge(
        f"{nodes[position]}-{' '.join(name for name, _ in taken + ends)}",
        nodes[position],
        tuple(Child(name, 1) for name, _ in taken),
        tuple(role for _, role in taken + ends),
    )


def _allowed(place: Ints, start: NDArray[np.int16], width: int) -> NDArray[np.uint8]:
    """For each strand, position, whether the mention starts here, and link: the hyperedges that a path may pick."""
    strand, position, links = place.T
    rows = np.ones((len(start) * width * 6, len(place)), np.uint8)
    for row, (j, p, first, link) in zip(
        rows, product(range(len(start)), range(width), (0, 1), (STAY, ADVANCE, END)), strict=True
    ):
        row[(strand == j) & (position == p) & (links & link == 0)] = 0
        if first:
            row[start[j, 0]] = 0
    return rows
