"""Counts of sub-hypergraphs: the figures of Muis and Lu (2016), supplement, section 1, and enumeration."""

from __future__ import annotations

from itertools import combinations
from math import sqrt

import numpy as np
import pytest

from spanloom.errors import UsageError
from spanloom.hypergraph import Child, Hyperedge, Template, reference
from spanloom.structures import STRUCTURES, structure_of
from spanloom_lab.transitions import counts, growth, relative_ambiguity, transitions

TABLE_1 = {"shared": [2, 8, 80, 3584, 533504], "split": [2, 8, 80, 6656, 2367488]}

# rows and columns are sets of B_1, O_2, B_2 as binary numbers, B_1 first
SHARED_2 = [
    [1, 0, 0, 0, 1, 0, 0, 0],
    [1, 2, 0, 0, 1, 2, 0, 0],
    [0, 1, 1, 1, 0, 1, 1, 1],
    [0, 3, 1, 5, 0, 3, 1, 5],
    [1, 0, 2, 0, 5, 0, 6, 0],
    [1, 2, 2, 4, 5, 10, 6, 12],
    [0, 1, 3, 5, 0, 5, 11, 17],
    [0, 3, 3, 21, 0, 15, 11, 73],
]

# The supplement's Figure 1: from each node but the lowest one may go on, go down, or both; the text ends at the bottom.
LEVELS = ("L2", "L1", "L0")
SIMPLE = Template(
    LEVELS,
    "L2",
    frozenset({"L0"}),
    tuple(
        Hyperedge(f"{level} {name}", level, tuple(Child(kind, 1) for kind in kinds))
        for level, below in zip(LEVELS, (*LEVELS[1:], ""), strict=True)
        for name, kinds in (("on", (level,)), ("down", (below,)), ("both", (level, below)))
        if "" not in kinds
    ),
)
# Without the empty set, which is never reached. The supplement prints row 101 as row 100, which contradicts its own
# equation 8; with both nodes the lowest goes on whatever the highest does.
SIMPLE_MATRIX = [
    [1, 0, 0, 0, 0, 0, 0],
    [1, 1, 1, 0, 0, 0, 0],
    [1, 0, 2, 0, 0, 0, 0],
    [0, 1, 0, 1, 0, 1, 0],
    [0, 0, 1, 0, 1, 0, 1],
    [0, 1, 2, 0, 1, 2, 3],
    [0, 0, 3, 0, 1, 0, 5],
]


def shared(components, name="shared"):
    return structure_of(name, components=components).template(())


@pytest.mark.parametrize("name", TABLE_1)
def test_table_1(name):
    assert counts(shared(3, name), 5) == TABLE_1[name]


def test_matrix_of_shared_with_two_components():
    [found] = transitions(shared(2))
    assert found.kinds == ("B1", "O2", "B2")
    assert found.states[:3] == (frozenset(), {"B2"}, {"O2"})
    assert found.matrix.tolist() == SHARED_2


def test_largest_eigenvalues():
    assert round(growth(shared(2)), 2) == 80.61
    assert round(growth(shared(3)), 2) == 1261.86
    assert growth(shared(3, "split")) > 2**15
    assert [len(part.states) for part in transitions(shared(3, "split"))] == [2, 8, 32]


def test_relative_ambiguity_of_the_paper():
    assert relative_ambiguity(7, growth(shared(3))) > 10 / 3
    assert relative_ambiguity(growth(shared(3)), growth(shared(3, "split"))) > 15 / 11
    assert relative_ambiguity(1, 2) == float("inf")


def test_simple_graph_of_the_supplement():
    [found] = transitions(SIMPLE)
    assert found.kinds == LEVELS
    assert found.matrix.tolist() == SIMPLE_MATRIX
    assert growth(SIMPLE) == pytest.approx(3 + sqrt(5))
    for n in range(3, 12):  # equation 8, where position 1 is the end of the text, not a token
        expected = (3 + sqrt(5)) ** (n - 1) / (4 * sqrt(5) + 10) - (3 - sqrt(5)) ** (n - 1) / (4 * sqrt(5) - 10) - 1
        assert counts(SIMPLE, n - 1)[-1] == round(expected)


def test_counts_are_exact_where_floating_point_is_not():
    [found] = transitions(shared(3))
    prime = 1_000_003
    row = found.initial
    for _ in range(99):
        row = row @ found.matrix % prime
    number = counts(shared(3), 100)[-1]
    assert number > 2**900
    assert number % prime == row @ found.final % prime


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_structure_is_counted_as_it_is_enumerated(name):
    template = structure_of(name, components=2).template(("x",))
    assert counts(template, 3) == [sum(1 for _ in reference.subgraphs(template, n)) for n in (1, 2, 3)]


def random_template(seed):
    """Four kinds; half the time the first is always active, sometimes others too; some kinds may have no hyperedge."""
    rng = np.random.default_rng(seed)
    kinds = ("A", "B", "C", "D")
    always = rng.random() < 0.5
    edges = []
    for i, kind in enumerate(kinds):
        for number in range(rng.integers(0 if i else 1, 4)):
            here = [Child(other) for other in kinds[i + 1 :] if rng.random() < 0.4]
            ahead = [Child(other, 1) for other in kinds if rng.random() < (0 if always and not i else 0.3)]
            root = [Child("A", 1)] if always and not i else []
            edges.append(Hyperedge(f"{kind}{number}", kind, (*here, *root, *ahead)))
    final = {kind for kind in kinds if rng.random() < 0.6}
    return Template(kinds, "A", frozenset(final | {"A"}), tuple(edges))


@pytest.mark.parametrize("seed", range(60))
def test_random_templates_are_counted_as_they_are_enumerated(seed):
    template = random_template(seed)
    assert counts(template, 3) == [sum(1 for _ in reference.subgraphs(template, n)) for n in (1, 2, 3)]


def test_parts_multiply():
    strands = [("T/1", "B"), ("T/2", "C")]
    edges = [Hyperedge("A", "A", (Child("T/1"), Child("T/2"), Child("A", 1)))]
    for start, node in strands:
        edges += [Hyperedge(f"{start} no", start), Hyperedge(f"{start} yes", start, (Child(node),))]
        options = [(), (Child(node, 1),)]
        edges += [Hyperedge(f"{node}{i}", node, children) for i, children in enumerate(options)]
    both = Template(("A", "T/1", "T/2", "B", "C"), "A", frozenset("A"), tuple(edges))
    one, other = transitions(both)
    assert one.matrix.tolist() == other.matrix.tolist() == [[1, 1], [1, 3]]
    assert growth(both) == pytest.approx(one.growth**2)
    assert counts(both, 3) == [number**2 for number in one.counts(3)]


def test_wrong_use():
    with pytest.raises(UsageError, match="fewer components"):
        transitions(shared(20))
    nothing = Template(("A",), "A", frozenset(), (Hyperedge("on", "A", (Child("A", 1),)),))
    assert (counts(nothing, 3), growth(nothing)) == ([0, 0, 0], 0)


def test_states_are_in_binary_order():
    [found] = transitions(shared(2))
    numbers = [sum(4 >> i for i, kind in enumerate(found.kinds) if kind in state) for state in found.states]
    assert numbers == sorted(numbers)
    assert len(found.states) == sum(1 for size in range(4) for _ in combinations(range(3), size))
