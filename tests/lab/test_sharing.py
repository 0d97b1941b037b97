"""Shared nodes, against a list of all structures: only where they are shared do the two ways of counting differ."""

from __future__ import annotations

import pytest

from spanloom.hypergraph import Child, Hyperedge, Template
from spanloom.hypergraph.reference import derivations, subgraphs
from spanloom.structures import STRUCTURES, structure_of
from spanloom_lab.sharing import shares_nodes

LENGTH = 3  # tokens; with two components, all that is shared is shared within them


@pytest.mark.parametrize("name", STRUCTURES)
def test_it_agrees_with_a_list_of_all_structures(name):
    template = structure_of(name, components=2).template(("mention",))
    counts = [sum(1 for _ in every(template, LENGTH)) for every in (derivations, subgraphs)]
    assert shares_nodes(template) == (counts[0] != counts[1])


def template(*edges: Hyperedge) -> Template:
    return Template(("A", "B", "C"), "A", frozenset("ABC"), edges)


def test_the_same_child_twice():
    assert shares_nodes(template(Hyperedge("twice", "A", (Child("B"), Child("B")))))


def test_a_child_that_is_a_sibling_too():
    fork = Hyperedge("fork", "A", (Child("B"), Child("C")))
    assert shares_nodes(template(fork, Hyperedge("down", "B", (Child("C"),))))
    assert not shares_nodes(template(fork, Hyperedge("end", "B"), Hyperedge("end too", "C")))


def test_a_node_that_nothing_reaches_shares_nothing():
    assert not shares_nodes(template(Hyperedge("end", "A"), Hyperedge("twice", "B", (Child("C"), Child("C")))))


def test_paths_that_meet_at_the_next_token():
    fork = Hyperedge("fork", "A", (Child("B"), Child("C")))
    onward = Hyperedge("onward", "B", (Child("C", 1),)), Hyperedge("stay", "C", (Child("C", 1),))
    assert shares_nodes(template(fork, *onward))
