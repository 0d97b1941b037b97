"""Templates: small pieces of hypergraph, repeated at each token, that define models.

A template names node *kinds* and *hyperedges*. A node is a kind at a token. A hyperedge leads from its head at token t
to children at t or t + 1; no children means the leaf, which the papers write X. A *sub-hypergraph* picks one hyperedge
for each node that is reached from the root at the first token. The engine knows nothing else, and no mention.

Sources: Lu and Roth (2015), section 3.2; Muis and Lu (2016), section 4; Muis and Lu (2017), section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from spanloom.errors import SpanloomError, UsageError

MOST_HYPEREDGES = 32_767  # what is picked is kept in 16 bits


class Child(NamedTuple):
    """A child node: its kind, at this token (``step`` 0) or at the next (1)."""

    kind: str
    step: int = 0


class Role(NamedTuple):
    """Label of a hyperedge at this token (``step`` 0) or the next (1); the role's score there is added."""

    name: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class Hyperedge:
    """One choice of a node.

    Args:
        head: the kind of the node that chooses.
        children: the nodes that it then reaches; empty for the leaf.
        roles: scored by the features of a token.
        constant: a score of the hyperedge's own, the same at every token; ``None`` for none.
        label: a name to read, unique in the template.
    """

    label: str
    head: str
    children: tuple[Child, ...] = ()
    roles: tuple[Role, ...] = ()
    constant: str | None = None


@dataclass(frozen=True)
class Template:
    """Node kinds and hyperedges, repeated at each token.

    Args:
        kinds: parents before children at the same token.
        root: the kind whose node at the first token every sub-hypergraph contains.
        final: the kinds that count as leaves past the last token; a hyperedge to any other kind there is forbidden.
        edges: in the order that breaks ties: of equal choices the first wins.

    Raises:
        UsageError: more than `MOST_HYPEREDGES` hyperedges.
        SpanloomError: a kind that is not declared, a child at the same token that does not come later in ``kinds``, a
            step that is neither 0 nor 1, or two hyperedges of one label.

    >>> coin = Template(("A",), "A", frozenset({"A"}), (
    ...     Hyperedge("heads", "A", (Child("A", 1),), (Role("h"),)), Hyperedge("tails", "A", (Child("A", 1),))))
    >>> coin.roles, coin.edges_of("A")
    (('h',), (0, 1))
    """

    kinds: tuple[str, ...]
    root: str
    final: frozenset[str]
    edges: tuple[Hyperedge, ...]

    def __post_init__(self) -> None:
        order = {kind: i for i, kind in enumerate(self.kinds)}
        for kind in (self.root, *self.final):
            if kind not in order:
                raise SpanloomError(f"template names kind {kind!r}; declared are {', '.join(self.kinds)}")
        if len(self.edges) > MOST_HYPEREDGES:
            raise UsageError(
                f"a template has {len(self.edges):,} hyperedges, expected {MOST_HYPEREDGES:,} at most; take fewer "
                "types, tags or components"
            )
        if len({edge.label for edge in self.edges}) != len(self.edges):
            raise SpanloomError("two hyperedges of a template have one label; give each its own")
        for edge in self.edges:
            for kind in (edge.head, *(child.kind for child in edge.children)):
                if kind not in order:
                    raise SpanloomError(
                        f"hyperedge {edge.label!r} names kind {kind!r}; declared are {', '.join(self.kinds)}"
                    )
            steps = {child.step for child in edge.children} | {role.step for role in edge.roles}
            if not steps <= {0, 1}:
                raise SpanloomError(
                    f"hyperedge {edge.label!r} has a step that is neither 0 (this token) nor 1 (the next)"
                )
            if any(child.step == 0 and order[child.kind] <= order[edge.head] for child in edge.children):
                raise SpanloomError(f"hyperedge {edge.label!r} leads back to a kind that comes before its head")

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """The roles, in order of first use: the R axis."""
        return tuple(dict.fromkeys(role.name for edge in self.edges for role in edge.roles))

    @cached_property
    def constants(self) -> tuple[str, ...]:
        """The names of constant scores, in order of first use: the C axis."""
        return tuple(dict.fromkeys(edge.constant for edge in self.edges if edge.constant is not None))

    def edges_of(self, kind: str) -> tuple[int, ...]:
        """Return the numbers of a kind's hyperedges."""
        return tuple(i for i, edge in enumerate(self.edges) if edge.head == kind)

    def index(self, label: str) -> int:
        """Return the number of the hyperedge with this label."""
        return next(i for i, edge in enumerate(self.edges) if edge.label == label)
