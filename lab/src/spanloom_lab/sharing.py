"""Shared nodes: test whether two hyperedges of a structure may lead to one node, so that ways of counting differ."""

from __future__ import annotations

from spanloom.hypergraph.template import Template

_Node = tuple[int, int]  # token (0 or 1), and the kind's place among the kinds: in this order, parents come first


def shares_nodes(template: Template) -> bool:
    """Return whether some sub-hypergraph reaches a node from two parents, so that it has several derivations.

    It follows all pairs of nodes in one sub-hypergraph that two children of one hyperedge lead to: of a
    pair, the node that comes first chooses, and if a child is the other node, that has two parents. Muis and Lu (2017),
    section 4, call models of such structures deficient.

    >>> from spanloom.structures import STRUCTURES
    >>> [name for name in ("bio", "separators", "mention_hypergraph") if shares_nodes(STRUCTURES[name].template("K"))]
    ['mention_hypergraph']
    """
    edges = _children(template)
    alone, pairs = {template.kinds.index(template.root)}, set[tuple[_Node, _Node]]()
    agenda: list[int | tuple[_Node, _Node]] = list(alone)
    while agenda:
        entry = agenda.pop()
        if isinstance(entry, int):  # a node by itself: what follows from one of its hyperedges
            reached = edges[entry]
            new_alone = {kind for nodes in reached for _, kind in nodes} - alone
            alone |= new_alone
            agenda += new_alone
            found = [(a, b) for nodes in reached for i, a in enumerate(nodes) for b in nodes[i + 1 :]]
        else:
            (token, kind), other = entry
            found = [((token + step, child), other) for nodes in edges[kind] for step, child in nodes]
        if any(a == b for a, b in found):
            return True
        new_pairs = {_ordered(a, b) for a, b in found} - pairs
        pairs |= new_pairs
        agenda += new_pairs
    return False


def _children(template: Template) -> list[list[list[_Node]]]:
    """Return for each kind and hyperedge its children, each as step and kind."""
    order = {kind: number for number, kind in enumerate(template.kinds)}
    return [
        [
            [(child.step, order[child.kind]) for child in template.edges[edge].children]
            for edge in template.edges_of(kind)
        ]
        for kind in template.kinds
    ]


def _ordered(a: _Node, b: _Node) -> tuple[_Node, _Node]:
    """Return the pair with its first node at token 0, so that equal pairs at any tokens are equal."""
    first, second = sorted((a, b))
    return (0, first[1]), (second[0] - first[0], second[1])
