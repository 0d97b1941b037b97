"""Canonical encodings by listing, and by counting sub-hypergraphs."""

from __future__ import annotations

import pytest

from spanloom.errors import UsageError
from spanloom.structures import STRUCTURES, structure_of
from spanloom_lab.canonical import (
    canonical_encodings,
    components_held,
    count_canonical,
    every_mention,
    possible_mentions,
)
from spanloom_lab.transitions import counts

CANONICAL = [name for name, structure in STRUCTURES.items() if structure.only_canonical and not structure.heads]


@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("name", CANONICAL)
def test_every_sub_hypergraph_encodes_some_mentions(name, length):
    structure = structure_of(name, components=2)
    held = components_held(structure, 2)
    assert canonical_encodings(structure, length, held) == counts(structure.template(("x",)), length)[-1]


def test_seven_tags_have_fewer_canonical_encodings_than_tag_sequences():
    structure = STRUCTURES["seven_tag"]
    assert not structure.only_canonical
    found = count_canonical(structure, 5, 3)
    assert found[:3] == [2, 8, 46]  # Table 1 of the supplement
    assert found[4] is None
    bound = counts(structure.template(("x",)), 4)
    assert all(found[n] < bound[n] <= 7 ** (n + 1) for n in range(4))


def test_possible_mentions():
    for components in (1, 2, 3):
        for length in range(1, 8):
            every = every_mention(length, components)
            assert len(every) == len(set(every)) == possible_mentions(length, components)
    assert [2 ** possible_mentions(n, 3) for n in range(1, 6)] == [2, 8, 128, 32768, 2147483648]
    assert [possible_mentions(n, n) for n in range(1, 8)] == [2**n - 1 for n in range(1, 8)]


@pytest.mark.parametrize(("name", "held"), [("bio", 1), ("separators", 1), ("shared", 2), ("split", 2)])
def test_components_held(name, held):
    assert components_held(structure_of(name, components=2), 4) == held


def test_too_many_sets_to_list():
    with pytest.raises(UsageError, match="31 possible mentions"):
        canonical_encodings(STRUCTURES["shared"], 5, 3)
