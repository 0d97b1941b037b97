"""Partial annotation as masks, against all structures of short sentences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.document.annotation import COMPLETE, UNKNOWN
from spanloom.errors import DataError
from spanloom.hypergraph import ENGINES, reference
from spanloom.model.partial import allowed_structures, given_mentions
from spanloom.structures import STRUCTURES, MentionTable

AT_LEAST = 1


def edges_of(picks, length, depth):
    edges = np.full((length, 1, depth), -1, np.int16)
    for token, edge in picks:
        edges[token, 0, (edges[token, 0] >= 0).sum()] = edge
    return edges


@pytest.mark.parametrize("name", STRUCTURES)
@given(data=st.data())
@settings(max_examples=4, deadline=None)
def test_structures_that_annotation_allows(name, data):
    structure = STRUCTURES[name]
    template = structure.template(["x"])
    engine = ENGINES["subgraphs"](template)
    length = min(reference.listable(template), 4)
    offsets = np.array([0, length])
    every = list(reference.subgraphs(template, length))
    drawn = data.draw(st.sampled_from(every))
    found = structure.decode(edges_of(drawn, length, engine.depth), offsets, ["x"])
    encoded = structure.encode(found, offsets, ["x"])
    table = found.take(np.array([i not in encoded.lost for i in range(len(found))], bool))
    said = np.array(data.draw(st.lists(st.integers(0, 2), min_size=length, max_size=length)), np.uint8)[:, None]
    allowed = allowed_structures(structure, engine, table, encoded.edges, said, offsets, ("x",))
    own = {(t, e) for t, row in enumerate(encoded.edges[:, 0].tolist()) for e in row if e >= 0}
    wanted = set(table.headed())
    several = len(structure.paths(table, ["x"]).sentence) > len(table)
    for picks in every:
        kept = all(allowed[token, edge, 0] for token, edge in picks)
        whole = {pick for pick in picks if said[pick[0], 0] == COMPLETE}
        read = structure.decode(edges_of(picks, length, engine.depth), offsets, ["x"], "all")
        holds = whole <= own and wanted <= set(read.headed())
        assert kept <= holds  # where a mention may be written in several ways, one of them is taken
        if not several:
            assert kept == holds
    assert all(allowed[token, edge, 0] for token, edge in own)


def test_mentions_of_which_nothing_is_said_are_left_out():
    table = MentionTable.build([(0, 0, ((0, 2),)), (0, 1, ((0, 2),)), (1, 0, ((0, 1), (2, 3)))])
    said = np.full((6, 2), UNKNOWN, np.uint8)
    said[1, 0] = AT_LEAST
    assert given_mentions(table, said, np.array([0, 3, 6])).tolist() == [True, False, False]
    said[4, 0] = COMPLETE  # in the gap
    assert not given_mentions(table, said, np.array([0, 3, 6]))[2]
    said[5, 0] = COMPLETE
    assert given_mentions(table, said, np.array([0, 3, 6]))[2]


def test_joined_types_of_which_different_things_are_said():
    name = next(name for name, structure in STRUCTURES.items() if structure.joint)
    structure = STRUCTURES[name]
    engine, offsets = ENGINES["subgraphs"](structure.template(["x", "y"])), np.array([0, 2])
    encoded = structure.encode(MentionTable.build([]), offsets, ["x", "y"])
    with pytest.raises(DataError, match="joins them"):
        allowed_structures(
            structure, engine, MentionTable.build([]), encoded.edges, np.array([[0, 1], [0, 1]], np.uint8), offsets,
            ("x", "y"),
        )  # fmt: skip
