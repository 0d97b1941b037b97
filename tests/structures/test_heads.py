"""Mentions with heads: every set of mentions of short sentences, every sub-hypergraph, every path."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structure_helpers import lane_scores, offsets_of, random_potentials

from spanloom.errors import UsageError
from spanloom.hypergraph import ENGINES, SubgraphEngine, reference
from spanloom.structures import READINGS, STRUCTURES, Crowd, MentionTable
from spanloom_lab.canonical import canonical_encodings, possible_mentions
from spanloom_lab.transitions import counts

HEADS = STRUCTURES["heads"]
TEMPLATE = HEADS.template(())
COUNTS = [counts(TEMPLATE, 4)[length - 1] for length in (1, 2, 3, 4)]


def every_headed(length):
    """(first, end, head's first, head's end)."""
    bounds = range(length + 1)
    return [
        (first, end, *head) for first, end in combinations(bounds, 2) for head in combinations(range(first, end + 1), 2)
    ]


def table(mentions):
    """From (sentence, type, first, end, head's first, head's end)."""
    rows = list(mentions)
    return MentionTable.build([(n, k, ((a, b),)) for n, k, a, b, *_ in rows], [row[4:] for row in rows])


def rows(mentions):
    return [(n, k, *piece, *head) for (n, k, (piece,)), head in mentions.headed()]


def arcs(first, end, head, head_end):
    """The steps of one path, one token at a time: an oracle for `encode`."""
    place = ["IB" if t < head else "IW" if t < head_end else "IA" for t in range(first, end)]
    return {("T", first, place[0])} | {
        (here, t, after) for t, here, after in zip(range(first, end), place, [*place[1:], "X"], strict=True)
    }


def said(choices):
    """What the hyperedges of a sub-hypergraph say, in the same form."""
    return {
        (edge.head, t, name)
        for t, e in choices
        for edge in [TEMPLATE.edges[e]]
        if edge.head != "A"
        for name in edge.label.split("-")[1].split()
        if (edge.head, name) != ("T", "X")
    }


def test_the_template_is_that_of_section_3_6():
    assert [edge.label for edge in TEMPLATE.edges] == [
        "A", "T-X", "T-IB", "T-IW", "T-IB IW", "IB-IW", "IB-IB", "IB-IW IB", "IW-X", "IW-IA", "IW-IA X", "IW-IW",
        "IW-IW X", "IW-IA IW", "IW-IA IW X", "IA-X", "IA-IA", "IA-IA X",
    ]  # fmt: skip
    assert TEMPLATE.final == {"A"}


@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_set_of_mentions(length):
    """2, 16 and 32,768 sets; what is read of each encoding, against the listing of all sets that have it."""
    mentions = every_headed(length)
    numbers: dict = {}
    single = [sum(1 << numbers.setdefault(arc, len(numbers)) for arc in arcs(*m)) for m in mentions]
    union, size, smallest = [0], [0], {0: (0, 0)}
    for chosen in range(1, 1 << len(mentions)):
        rest = chosen & (chosen - 1)
        union.append(union[rest] | single[(chosen ^ rest).bit_length() - 1])
        size.append(size[rest] + 1)
        if size[-1] < smallest.get(union[-1], (len(mentions) + 1, 0))[0]:
            smallest[union[-1]] = size[-1], chosen
    assert len(mentions) == possible_mentions(length, 1, heads=True)
    assert len(smallest) == COUNTS[length - 1] == sum(1 for _ in reference.subgraphs(TEMPLATE, length))

    sets = [[m for i, m in enumerate(mentions) if chosen >> i & 1] for _, chosen in smallest.values()]
    offsets = offsets_of([length] * len(sets))
    encoded = HEADS.encode(table((n, 0, *m) for n, chosen in enumerate(sets) for m in chosen), offsets, ["x"])
    assert not encoded.lost
    SubgraphEngine(TEMPLATE).role_counts(encoded.edges, offsets)  # refuses what is no structure
    few, every = (HEADS.decode(encoded.edges, offsets, ["x"], reading) for reading in READINGS)
    assert Counter(few.sentence.tolist()) == Counter(
        {n: least for n, (least, _) in enumerate(smallest.values()) if least}
    )
    np.testing.assert_array_equal(HEADS.encode(few, offsets, ["x"]).edges, encoded.edges)
    expected = [
        (n, 0, *m)
        for n, whole in enumerate(smallest)
        for m, own in zip(mentions, single, strict=True)
        if own & whole == own
    ]
    assert rows(every) == sorted(expected, key=lambda row: (row[0], row[2], -row[3], -row[4], row[5]))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_sub_hypergraph_is_read_and_written_again(length):
    every = list(reference.subgraphs(TEMPLATE, length))
    edges = np.full((len(every) * length, 1, SubgraphEngine(TEMPLATE).depth), -1, np.int16)
    for n, choices in enumerate(every):
        for t in range(length):
            own = sorted(e for token, e in choices if token == t)
            edges[n * length + t, 0, : len(own)] = own
    offsets = offsets_of([length] * len(every))
    for reading in READINGS:
        found = HEADS.decode(edges, offsets, ["x"], reading)
        np.testing.assert_array_equal(HEADS.encode(found, offsets, ["x"]).edges, edges)
    listed = [set() for _ in every]
    for n, _, *mention in rows(found):
        listed[n] |= arcs(*mention)
    assert listed == [said(choices) for choices in every]


@st.composite
def batches(draw, longest=9):
    lengths = draw(st.lists(st.integers(0, longest), min_size=1, max_size=4))
    places = [(n, k, *m) for n, length in enumerate(lengths) for k in (0, 1) for m in every_headed(length)]
    chosen = draw(st.lists(st.sampled_from(places), max_size=12, unique=True)) if places else []
    return chosen, offsets_of(lengths)


@given(batches())
@settings(max_examples=60, deadline=None)
def test_any_mentions_of_any_batch(batch):
    chosen, offsets = batch
    encoded = HEADS.encode(table(chosen), offsets, ["x", "y"])
    assert not encoded.lost
    for engine in ENGINES.values():
        engine(TEMPLATE).role_counts(encoded.edges, offsets)
    few, every = (HEADS.decode(encoded.edges, offsets, ["x", "y"], reading) for reading in READINGS)
    assert set(chosen) | set(rows(few)) <= set(rows(every))
    assert len(few) <= len(set(chosen))
    for found in (few, every):
        np.testing.assert_array_equal(HEADS.encode(found, offsets, ["x", "y"]).edges, encoded.edges)
        assert all(column.dtype == np.int64 for column in found)


@given(batches(longest=12))
@settings(max_examples=60, deadline=None)
def test_a_head_that_is_the_whole_mention_gives_the_mention_hypergraph(batch):
    chosen, offsets = batch
    whole = table({(n, k, a, b, a, b) for n, k, a, b, *_ in chosen})
    plain = STRUCTURES["mention_hypergraph"]
    for reading in READINGS:
        with_heads, without = (
            structure.decode(structure.encode(whole, offsets, ["x", "y"]).edges, offsets, ["x", "y"], reading)
            for structure in (HEADS, plain)
        )
        assert with_heads.rows() == without.rows()
        assert all(pieces == (head,) for (_, _, pieces), head in with_heads.headed())


@pytest.mark.parametrize(
    "mentions",
    [
        [(0, 6, 1, 2), (0, 2, 1, 2)],  # two mentions share their start and their head
        [(0, 6, 1, 2), (0, 6, 4, 6)],  # one span, two heads
        [(0, 6, 2, 3), (1, 4, 2, 3)],  # nested, one head
        [(0, 6, 0, 1), (2, 6, 2, 3)],  # the inner one stands after the head of the outer one
        [(0, 6, 5, 6), (1, 4, 3, 4)],  # the inner one stands before the head of the outer one: the inner head first
        [(0, 6, 3, 4), (2, 6, 3, 6)],  # one start of two heads: the inner head is the longer one
    ],
)
def test_nested_mentions_come_back(mentions):
    offsets = offsets_of([6])
    edges = HEADS.encode(table((0, 0, *m) for m in mentions), offsets, ["x"]).edges
    assert sorted(row[2:] for row in rows(HEADS.decode(edges, offsets, ["x"]))) == sorted(mentions)


def test_heads_that_cannot_be_held():
    pieces = [((0, 3),)] * 5 + [((0, 1), (2, 3))]
    heads = [(-1, -1), (2, 2), (2, 4), (2, 1), (1, 2), (0, 1)]
    given_ = MentionTable.build([(0, 0, ranges) for ranges in pieces], heads)
    lost = HEADS.encode(given_, offsets_of([5]), ["x"]).lost
    assert {i: why.split(";")[0] for i, why in lost.items()} == {
        0: "it has no head", 1: "its head is not within it", 2: "its head is not within it",
        3: "its head is not within it", 5: "it has a gap",
    }  # fmt: skip
    assert HEADS.holds(given_).tolist() == [False, False, False, False, True, False]


def test_mentions_without_heads_are_not_listed():
    with pytest.raises(UsageError, match="count_canonical"):
        canonical_encodings(HEADS, 2, 1)


def test_crowded_sentences_are_counted_and_cut():
    """All mentions with all heads: four borders of which the inner two may meet the outer ones, but not each other."""
    length = 12
    everything = table((0, 0, *m) for m in every_headed(length))
    edges = HEADS.encode(everything, offsets_of([length]), ["x"]).edges
    assert len(everything) == math.comb(length + 3, 4) == 1365
    assert HEADS.crowded(edges, offsets_of([length]), ["x"]) == [Crowd(0, 0, 1365)]
    found = rows(HEADS.decode(edges, offsets_of([length]), ["x"], "all"))
    ordered = sorted(every_headed(length), key=lambda m: (m[0], -m[1], -m[2], m[3]))
    assert [row[2:] for row in found] == ordered[:1000]


@pytest.mark.parametrize("length", [1, 2, 3])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=8, deadline=None)
def test_probability_of_a_path_is_the_share_of_structures_with_it(length, seed):
    offsets, mentions = offsets_of([length]), every_headed(length)
    potentials = random_potentials(TEMPLATE, length, 1, seed)
    paths = HEADS.paths(table((0, 0, *m) for m in mentions), ["x"])
    found = SubgraphEngine(TEMPLATE).path_probability(potentials, offsets, paths)
    scores = lane_scores(TEMPLATE, potentials, offsets, 0, 0)
    weights = [
        (math.exp(sum(scores[t][e] for t, e in choices)), said(choices))
        for choices in reference.subgraphs(TEMPLATE, length)
    ]
    whole = math.fsum(weight for weight, _ in weights)
    expected = [math.fsum(weight for weight, own in weights if arcs(*m) <= own) / whole for m in mentions]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def ways(node, token, length, weight):
    """Each set of (head's end or None so far, end) that a derivation below a node holds, with its weight.

    Below a node every copy is independent: what two children hold is joined, their weights multiplied.
    """
    for number in TEMPLATE.edges_of(node):
        edge = TEMPLATE.edges[number]
        below = [[(frozenset(), 1.0)]]
        if "X" in edge.label.split("-")[1].split():
            below = [[(frozenset({((token, node),)}), 1.0)]]
        for child in edge.children:
            if token + child.step >= length:
                break
            deeper = ways(child.kind, token + child.step, length, weight)
            below.append([(frozenset(((token, node), *path) for path in held), w) for held, w in deeper])
        else:
            for parts in product(*below):
                yield (
                    frozenset().union(*(held for held, _ in parts)),
                    weight[token][number] * math.prod(w for _, w in parts),
                )


@pytest.mark.parametrize("length", [1, 2, 3])
def test_probability_of_a_path_in_derivations(length):
    """Starts at different tokens have copies of their own, so each is enumerated by itself."""
    offsets, mentions = offsets_of([length]), every_headed(length)
    potentials = random_potentials(TEMPLATE, length, 1, 17, spread=1.0)
    paths = HEADS.paths(table((0, 0, *m) for m in mentions), ["x"])
    found = ENGINES["derivations"](TEMPLATE).path_probability(potentials, offsets, paths)
    weight = [[math.exp(value) for value in row] for row in lane_scores(TEMPLATE, potentials, offsets, 0, 0)]
    expected = []
    for first, end, head, head_end in mentions:
        place = ["IB" if t < head else "IW" if t < head_end else "IA" for t in range(first, end)]
        wanted = ((first, "T"), *zip(range(first, end), place, strict=True))
        every = list(ways("T", first, length, weight))
        expected.append(math.fsum(w for held, w in every if wanted in held) / math.fsum(w for _, w in every))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("counting", ENGINES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_sums_are_those_of_the_listing_and_their_differences_the_gradient(counting, seed):
    length, offsets = 3, offsets_of([3])
    engine, potentials = ENGINES[counting](TEMPLATE), random_potentials(TEMPLATE, length, 1, seed)
    scores = lane_scores(TEMPLATE, potentials, offsets, 0, 0)
    every = (reference.subgraphs if counting == "subgraphs" else reference.derivations)(TEMPLATE, length)
    listed = reference.log_sum([sum(scores[t][e] for t, e in choices) for choices in every])
    sums = engine.expectations(potentials, offsets)
    assert sums.log_partition[0, 0] == pytest.approx(listed, rel=1e-5)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        t, r = int(rng.integers(length)), int(rng.integers(len(TEMPLATE.roles)))
        high, low = potentials.roles.copy(), potentials.roles.copy()
        high[t, r], low[t, r] = high[t, r] + 2.0**-7, low[t, r] - 2.0**-7
        width = float(high[t, r, 0] - low[t, r, 0])
        ends = [engine.log_partition(potentials._replace(roles=roles), offsets)[0, 0] for roles in (high, low)]
        assert (ends[0] - ends[1]) / width == pytest.approx(sums.roles[t, r, 0], abs=1e-3)
