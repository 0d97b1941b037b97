"""Mentions to hyperedges and back: by brute force on short sentences, with hypothesis on long ones."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structure_helpers import (
    CHAINS,
    COVERING,
    EVERY,
    FLAGGED,
    LISTED,
    TYPES,
    WITHOUT_GAPS,
    batches,
    every_set,
    laid,
    mentions_with_path,
    offsets_of,
    picks,
    quads,
    readings,
    sub_hypergraphs,
    table,
    types_of,
)

from spanloom.errors import DataError, UsageError
from spanloom.hypergraph import ENGINES, SubgraphEngine
from spanloom.structures import READINGS, STRUCTURES, MentionTable, structure_of
from spanloom.structures.flagged import Boundaries, boundaries

LONGEST = 4


def cross(a, b):
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


def comes_back(mentions):
    """When the nested reading of an encoding is what was encoded, for (first, end) of one type.

    No two mentions cross; where two start together, no other that covers the start begins before it; where two end
    together, no other that covers the end goes on after it. In short: they nest, and none but an outermost mention
    shares a boundary.
    """
    return not any(
        cross(a, b)
        or (a[0] == b[0] and any(c[0] < a[0] < c[1] for c in mentions))
        or (a[1] == b[1] and any(c[0] < a[1] < c[1] for c in mentions))
        for a, b in combinations(mentions, 2)
    )


def ambiguous(mentions):
    """Lu and Roth (2015), section 3.2: two mentions of one type overlap, and their boundaries are all different."""
    return any(a[0] < b[1] and b[0] < a[1] and a[0] != b[0] and a[1] != b[1] for a, b in combinations(mentions, 2))


def batch(sets, length):
    """One sentence a set, all of one type."""
    rows = [(n, 0, first, end) for n, chosen in enumerate(sets) for first, end in chosen]
    return table(rows), offsets_of([length] * len(sets))


def split(mentions, count):
    found = [[] for _ in range(count)]
    for n, _, first, end in quads(mentions):
        found[n].append((first, end))
    return [tuple(sorted(chosen)) for chosen in found]


def by_encoding(edges, sets, length):
    groups = defaultdict(list)
    for chosen, rows in zip(sets, edges.reshape(len(sets), length, -1), strict=True):
        groups[rows.tobytes()].append(chosen)
    return groups.values()


@pytest.mark.parametrize("length", range(1, LONGEST + 1))
@pytest.mark.parametrize("name", FLAGGED)
def test_every_set_of_mentions_of_a_short_sentence(name, length):
    structure, sets = STRUCTURES[name], every_set(length)
    mentions, offsets = batch(sets, length)
    encoded = structure.encode(mentions, offsets, ["x"])
    assert not encoded.lost
    SubgraphEngine(structure.template(["x"])).role_counts(encoded.edges, offsets)  # refuses what is no structure
    nested, everything = (
        split(structure.decode(encoded.edges, offsets, ["x"], reading), len(sets)) for reading in READINGS
    )
    again, _ = batch(nested, length)
    np.testing.assert_array_equal(structure.encode(again, offsets, ["x"]).edges, encoded.edges)
    answer = dict(zip(sets, zip(nested, everything, strict=True), strict=True))
    for chosen, (one, _) in answer.items():
        assert (one == chosen) == comes_back(chosen), chosen
        assert comes_back(one)  # so reading twice changes nothing
    groups = by_encoding(encoded.edges, sets, length)
    assert len(groups) == len(sub_hypergraphs(name, length))
    for group in groups:
        one, most = answer[group[0]]
        laminar = [chosen for chosen in group if not any(cross(a, b) for a, b in combinations(chosen, 2))]
        assert one in laminar
        assert len(one) == min(map(len, laminar))
        assert most in group  # all mentions with a path are a reading themselves, the largest
        assert set(most) == {mention for chosen in group for mention in chosen}
        assert all(answer[chosen] == (one, most) for chosen in group)
        assert all(ambiguous(chosen) == (len(group) > 1) for chosen in group)


@pytest.mark.parametrize("length", range(1, LONGEST))
def test_readings_are_the_sets_with_one_encoding(length):
    sets = every_set(length)
    mentions, offsets = batch(sets, length)
    groups = by_encoding(STRUCTURES["separators"].encode(mentions, offsets, ["x"]).edges, sets, length)
    found = boundaries(mentions, offsets, 1)
    for group in groups:
        n = sets.index(group[0])
        own = Boundaries(*(flags[offsets[n] : offsets[n + 1]] for flags in found))
        listed = [tuple(sorted(chosen)) for chosen in readings(own)]
        assert sorted(listed) == sorted(group)


@pytest.mark.parametrize("name", LISTED)
@pytest.mark.parametrize("length", range(1, LONGEST + 1))
def test_every_sub_hypergraph_is_read_and_written_again(name, length):
    """No sub-hypergraph is without meaning, none means two things, and the path of a mention is what is read."""
    structure = EVERY[name]
    every = sub_hypergraphs(name, length)
    template = structure.template(types_of(structure))
    edges = laid(template, [choices for choices, _ in every], length)
    offsets, types = offsets_of([length] * len(every)), types_of(structure) if structure.joint else TYPES[:1]
    for reading in READINGS:
        mentions = structure.decode(edges, offsets, types, reading)
        encoded = structure.encode(mentions, offsets, types)
        np.testing.assert_array_equal(encoded.edges, edges)
        assert not encoded.lost
    listed = [set() for _ in every]
    for n, kind, first, end in quads(mentions):  # of the reading `all`
        listed[n].add((kind, first, end))
    assert listed == [with_path for _, with_path in every]
    for (choices, _), own in zip(every, listed, strict=True):
        assert mentions_with_path(structure, [(t, template.edges[e]) for t, e in choices], length) == own


def per_type(rows):
    groups = defaultdict(set)
    for n, kind, ((first, end),) in rows:
        groups[n, kind].add((first, end))
    return groups


@pytest.mark.parametrize("name", FLAGGED)
@given(document=batches())
@settings(max_examples=50, deadline=None)
def test_any_mentions_of_any_batch(name, document):
    lengths, rows = document
    structure, offsets = STRUCTURES[name], offsets_of(lengths)
    encoded = structure.encode(MentionTable.build(rows), offsets, TYPES)
    assert encoded.edges.shape[:2] == (sum(lengths), 2)
    assert not encoded.lost
    for engine in ENGINES.values():
        engine(structure.template(TYPES)).role_counts(encoded.edges, offsets)
    nested = structure.decode(encoded.edges, offsets, TYPES)
    everything = per_type(structure.decode(encoded.edges, offsets, TYPES, "all").rows())
    np.testing.assert_array_equal(structure.encode(nested, offsets, TYPES).edges, encoded.edges)
    gold, read = per_type(rows), per_type(nested.rows())
    assert gold.keys() == read.keys() == everything.keys()
    for key, chosen in gold.items():
        assert chosen | read[key] <= everything[key]
        assert not any(cross(a, b) for a, b in combinations(read[key], 2))
        assert (chosen == read[key]) == comes_back(chosen)


@pytest.mark.parametrize("name", FLAGGED)
@given(document=batches(kinds=3))
@settings(max_examples=50, deadline=None)
def test_types_and_sentences_never_interact(name, document):
    lengths, rows = document
    structure, types = STRUCTURES[name], ("x", "y", "z")
    offsets = offsets_of(lengths)
    edges = structure.encode(MentionTable.build(rows), offsets, types).edges
    for n, length in enumerate(lengths):
        for k in range(3):
            own = [(0, 0, pieces) for m, kind, pieces in rows if (m, kind) == (n, k)]
            alone = structure.encode(MentionTable.build(own), offsets_of([length]), ["x"]).edges
            np.testing.assert_array_equal(alone[:, 0], edges[offsets[n] : offsets[n + 1], k])


@pytest.mark.parametrize("name", WITHOUT_GAPS)
@given(document=batches(components=2), reading=st.sampled_from(READINGS))
@settings(max_examples=50, deadline=None)
def test_separate_mentions_come_back_and_gaps_are_lost(name, document, reading):
    lengths, rows = document
    separate = []
    for row in rows:
        if len(row[2]) == 1 and all(
            row[0] != other[0] or row[2][0][0] >= other[2][0][1] or other[2][0][0] >= row[2][0][1] for other in separate
        ):
            separate.append(row)
    broken = [row for row in rows if len(row[2]) > 1]
    structure, offsets = STRUCTURES[name], offsets_of(lengths)
    encoded = structure.encode(MentionTable.build(broken + separate), offsets, TYPES)
    assert sorted(encoded.lost) == list(range(len(broken)))
    assert all("gap" in why for why in encoded.lost.values())
    assert sorted(structure.decode(encoded.edges, offsets, TYPES, reading).rows()) == sorted(separate)


@pytest.mark.parametrize("name", CHAINS)
@given(document=batches(components=2))
@settings(max_examples=50, deadline=None)
def test_chains_keep_the_longer_of_two_and_name_the_other(name, document):
    lengths, rows = document
    structure, offsets = STRUCTURES[name], offsets_of(lengths)
    encoded = structure.encode(MentionTable.build(rows), offsets, TYPES)
    SubgraphEngine(structure.template(TYPES)).role_counts(encoded.edges, offsets)
    kept = [row for i, row in enumerate(rows) if i not in encoded.lost]
    assert sorted(structure.decode(encoded.edges, offsets, TYPES).rows()) == sorted(kept)

    def longer(i, other):
        """A kept mention in the way: longer, or as long and given earlier."""
        (first, end), (start, stop) = rows[i][2][0], other[2][0]
        size = (stop - start, -rows.index(other))
        return rows[i][0] == other[0] and first < stop and start < end and size > (end - first, -i)

    for i, why in encoded.lost.items():
        assert ("gap" in why) == (len(rows[i][2]) > 1)
        assert "gap" in why or any(longer(i, other) for other in kept)


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("lengths", [[], [0], [0, 0], [1], [0, 1, 0]])
def test_nothing_to_encode(name, lengths):
    structure, offsets = STRUCTURES[name], offsets_of(lengths)
    none = MentionTable.build([])
    encoded = structure.encode(none, offsets, TYPES)
    template = structure.template(TYPES)
    assert encoded.edges.shape == (sum(lengths), structure.lanes(TYPES), SubgraphEngine(template).depth)
    assert encoded.edges.dtype == np.int16
    for reading in READINGS:
        assert not len(structure.decode(encoded.edges, offsets, TYPES, reading))
        assert not len(structure.decode(np.full_like(encoded.edges, -1), offsets, TYPES, reading))
    assert not len(structure.paths(none, TYPES).sentence)
    SubgraphEngine(template).role_counts(encoded.edges, offsets)


@pytest.mark.parametrize("name", WITHOUT_GAPS)
def test_encoding_of_the_empty_set_is_a_sub_hypergraph(name):
    structure = STRUCTURES[name]
    edges = structure.encode(MentionTable.build([]), offsets_of([3]), TYPES).edges
    assert picks(edges[:, 0]) in [choices for choices, with_path in sub_hypergraphs(name, 3) if not with_path]


@pytest.mark.parametrize("structure", COVERING.values(), ids=str)
def test_mentions_that_leave_a_token_out_are_refused_where_every_token_is_held(structure):
    some = table([(0, 0, 0, 1), (0, 0, 1, 2), (1, 0, 0, 1)])
    with pytest.raises(DataError, match=r"token 1 of sentence 1 is in no mention; the structure (tags|words) holds"):
        structure.encode(some, offsets_of([2, 2]), TYPES)
    with pytest.raises(UsageError, match=r"structure is .*, which holds every token; take one that leaves tokens out"):
        structure_of(structure)


def test_a_token_has_one_tag():
    rows = [(0, 1, ((0, 1),)), (0, 0, ((0, 1),)), (0, 0, ((1, 3),)), (0, 0, ((1, 2),)), (0, 1, ((0, 1), (2, 3)))]
    rows.append((0, 1, ((2, 3),)))
    encoded = COVERING["tags"].encode(MentionTable.build(rows), offsets_of([3]), TYPES)
    assert encoded.lost == {
        1: "its token has a tag already",
        2: "it holds several tokens, and a tag is of one",
        4: "it holds several tokens, and a tag is of one",
    }
    assert COVERING["tags"].read_tags(encoded.edges, TYPES).tolist() == [1, 0, 1]
