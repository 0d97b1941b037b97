"""Seven tags: the paper's figures, every set of mentions of short sentences, paths against listed tag sequences."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structure_helpers import TYPES, batches, laid, lane_scores, offsets_of, random_potentials

from spanloom.errors import UsageError
from spanloom.hypergraph import ENGINES, Potentials, SubgraphEngine, reference
from spanloom.model.structured import StructuredModel
from spanloom.parallel import Threads
from spanloom.structures import READINGS, STRUCTURES, MentionTable
from spanloom.structures.base import MOST_MENTIONS, Crowd
from spanloom.structures.seven_tag import SevenTag
from spanloom.structures.seven_tag_reading import Run, number, read_all
from spanloom_lab.canonical import every_mention

SEVEN = STRUCTURES["seven_tag"]
NAMES = ("O", "B", "I", "BD", "ID", "BH", "IH")
CASES = tomllib.loads((Path(__file__).parents[1] / "cases" / "discontiguous.toml").read_text(encoding="utf-8"))["case"]
cases = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])


def ranges_of(mentions):
    return sorted(tuple(tuple(piece) for piece in mention) for mention in mentions)


def edges_of(text, structure=SEVEN):
    """From tags of one type, as one writes them."""
    tags = np.array([NAMES.index(tag) for tag in text.split()])
    return structure.write_tags(tags, offsets_of([len(tags)]), ["x"])


def tags_in(edges):
    return [NAMES[tag] for tag in SEVEN.read_tags(edges, ["x"]).tolist()]


def read(text, reading="enough", structure=SEVEN):
    edges = edges_of(text, structure)
    return sorted(ranges for _, _, ranges in structure.decode(edges, offsets_of([len(edges)]), ["x"], reading).rows())


def encode(mentions, length):
    return SEVEN.encode(MentionTable.build([(0, 0, ranges) for ranges in mentions]), offsets_of([length]), ["x"])


@cases
def test_figures(case):
    mentions, length = ranges_of(case["mentions"]), len(case["tokens"])
    encoded = encode(mentions, length)
    assert not encoded.lost
    assert " ".join(tags_in(encoded.edges)) == case["seven_tag"]
    assert read(case["seven_tag"]) == ranges_of(case.get("enough", case["mentions"]))
    assert set(mentions) <= set(read(case["seven_tag"], "all"))


@cases
def test_potentials_that_want_it_get_it(case):
    offsets = offsets_of([len(case["tokens"])])
    edges = edges_of(case["seven_tag"])
    engine = SubgraphEngine(SEVEN.template(["x"]))
    gold, constants = engine.role_counts(edges, offsets)
    best = engine.viterbi(Potentials(20 * gold - 10, np.zeros_like(constants, np.float32)), offsets)
    np.testing.assert_array_equal(best.edges, edges)


@cache
def every_encoding(length):
    """Tags of each canonical encoding, with all mentions of the sets that have it."""
    every = every_mention(length, 3)
    sets = np.arange(2 ** len(every))[:, None] >> np.arange(len(every)) & 1
    table = MentionTable.build((n, 0, every[m]) for n, m in np.argwhere(sets).tolist())
    encoded = SEVEN.encode(table, offsets_of([length] * len(sets)), ["x"])
    assert not encoded.lost
    tags = SEVEN.read_tags(encoded.edges, ["x"]).reshape(-1, length)
    distinct, which = np.unique(tags, axis=0, return_inverse=True)
    return [
        (" ".join(NAMES[tag] for tag in row), {every[m] for m in np.flatnonzero(sets[which.ravel() == i].any(0))})
        for i, row in enumerate(distinct.tolist())
    ]


@pytest.mark.parametrize(("length", "count", "again", "beyond"), [
    (1, 2, 2, 0), (2, 8, 8, 1), (3, 46, 42, 10), (4, 310, 241, 89),
])  # fmt: skip
def test_every_canonical_encoding(length, count, again, beyond):
    """2, 8, 46 are the supplement's Table 1. ``all`` misses nothing, and gives little that no set of mentions has."""
    encodings = every_encoding(length)
    assert len(encodings) == count
    kept = more = 0
    for text, possible in encodings:
        enough, everything = read(text), set(read(text, "all"))
        assert possible <= everything
        assert set(enough) <= everything
        more += len(everything - possible)
        kept += tags_in(encode(enough, length).edges) == text.split()
    assert (kept, more) == (again, beyond)


def test_neighbours():
    """Allowed is what encodings have; ID after ID takes five tokens."""
    seen = {pair for length in (1, 2, 3, 4) for text, _ in every_encoding(length) for pair in pairwise(text.split())}
    named = [("O", *(f"{name}-{kind}" for name in NAMES[1:])) for kind in TYPES]
    allowed = {(a, b) for a in NAMES for b in NAMES if SEVEN.follows(*(named[0][NAMES.index(name)] for name in (a, b)))}
    assert allowed == seen | {("ID", "ID")}
    assert tags_in(encode([((0, 3), (4, 5))], 5).edges) == ["BD", "ID", "ID", "O", "BD"]
    assert {text.split()[0] for text, _ in every_encoding(3)} == {b for a, b in allowed if a == "O"}
    for tag in named[0][1:]:
        assert [SEVEN.follows(tag, after) for after in named[1]] == [SEVEN.follows("O", after) for after in named[1]]


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("B I O BD", [((0, 2),)]),  # section 5.4: what no set of mentions has; the lone body is in no mention
        ("BD", []),
        ("BH", [((0, 1),)]),
        ("B I BH", [((0, 3),), ((2, 3),)]),
        ("BH I I", [((0, 1),), ((0, 3),)]),
        ("BH IH O BH", [((0, 2),), ((3, 4),)]),
        ("BH BH", [((0, 1),), ((0, 2),), ((1, 2),)]),
        ("B B I", [((0, 1),), ((1, 3),)]),
        ("BD O B O BD", [((0, 1), (4, 5)), ((2, 3),)]),
        ("BD O BD O BD", [((0, 1), (2, 3), (4, 5))]),
        ("BD O BD O BD O BD", [((0, 1), (2, 3)), ((4, 5), (6, 7))]),
        ("BD BD BD BD", [((0, 1), (2, 3)), ((1, 2), (3, 4))]),  # components of a mention never touch
        ("BD O B BH", [((0, 1), (3, 4)), ((2, 4),)]),  # T - and B cells
        ("BD O BD O B BH", [((0, 1), (5, 6)), ((2, 3), (5, 6)), ((4, 6),)]),  # B, T and NK cells
        ("BD O BD O BD O B BH", [((0, 1), (7, 8)), ((2, 3), (7, 8)), ((4, 5), (7, 8)), ((6, 8),)]),  # the third
        ("BH ID O BD BH", [((0, 1), (3, 5)), ((0, 2), (4, 5))]),  # human T and B cells
        ("B BH ID O BD", [((0, 2),), ((1, 3), (4, 5))]),  # ion transport in the cells
        ("BH O BD O BD", [((0, 1), (2, 3)), ((0, 1), (4, 5))]),
        ("BD O BH O BD", [((0, 1), (2, 3)), ((2, 3), (4, 5))]),
    ],
)  # fmt: skip
def test_enough(text, mentions):
    assert read(text) == mentions


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("B I O BD", [((0, 2),)]),
        ("BH IH I", [((0, 1),), ((0, 2),), ((0, 3),), ((1, 2),), ((1, 3),)]),
        ("BH O BD", [((0, 1),), ((0, 1), (2, 3))]),
        ("BH B O BD", [((0, 1),), ((0, 1), (3, 4)), ((1, 2),)]),
        ("BH ID O BD", [((0, 1),), ((0, 1), (3, 4)), ((0, 2), (3, 4))]),
        ("BD O BD BH", [((0, 1), (2, 3)), ((0, 1), (2, 4)), ((0, 1), (3, 4)), ((3, 4),)]),
    ],
)
def test_all(text, mentions):
    assert read(text, "all") == mentions


def cells(row):
    return {(row[0], token) for first, end in row[2] for token in range(first, end)}


@given(batch=batches(components=4, longest=14, most=7), components=st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_any_mentions_of_any_batch(batch, components):
    lengths, rows = batch
    structure, offsets = SevenTag(components), offsets_of(lengths)
    table = MentionTable.build(rows)
    encoded = structure.encode(table, offsets, TYPES)
    SubgraphEngine(structure.template(TYPES)).role_counts(encoded.edges, offsets)  # refuses what is no structure
    kept = {row for i, row in enumerate(rows) if i not in encoded.lost}
    covered = {cell for row in kept for cell in cells(row)}
    enough, everything = (structure.decode(encoded.edges, offsets, TYPES, reading).rows() for reading in READINGS)
    assert not any(len(found) != len(set(found)) for found in (enough, everything))
    crowded = {(n, kind) for n, kind, _ in structure.crowded(encoded.edges, offsets, TYPES)}
    for row in kept | set(enough):
        assert row in everything or row[:2] in crowded
    for row in enough + everything:
        assert len(row[2]) <= components
        assert cells(row) <= covered
        assert all(piece[1] < after[0] for piece, after in pairwise(row[2]))
    tags = structure.read_tags(encoded.edges, TYPES)
    read = {cell for row in enough for cell in cells(row)}
    for n, token in covered - read:  # only bodies may be left alone
        assert (tags[offsets[n] + token] - 1) % 6 // 2 == 1
    assert structure.holds(table).tolist() == [len(row[2]) <= components for row in rows]


@given(batch=batches(components=4, longest=14, most=7))
@settings(max_examples=80, deadline=None)
def test_why_mentions_are_lost(batch):
    lengths, rows = batch
    encoded = SEVEN.encode(MentionTable.build(rows), offsets_of(lengths), TYPES)
    kept = [(i, row) for i, row in enumerate(rows) if i not in encoded.lost]
    for i, why in encoded.lost.items():
        if len(rows[i][2]) > 3:
            assert why == "it has 4 components, and the model was made for at most 3"
            continue
        assert "overlaps one of another type" in why
        size = len(cells(rows[i]))
        assert any(
            row[1] != rows[i][1] and cells(row) & cells(rows[i]) and (-len(cells(row)), j) < (-size, i)
            for j, row in kept
        )
    for _, one in kept:
        assert not any(one[1] != row[1] and cells(one) & cells(row) for _, row in kept)


@given(batch=batches(components=4, longest=14, most=7))
@settings(max_examples=50, deadline=None)
def test_sentences_never_interact(batch):
    lengths, rows = batch
    offsets = offsets_of(lengths)
    tags = SEVEN.read_tags(SEVEN.encode(MentionTable.build(rows), offsets, TYPES).edges, TYPES)
    for n, length in enumerate(lengths):
        alone = MentionTable.build([(0, *row[1:]) for row in rows if row[0] == n])
        edges = SEVEN.encode(alone, offsets_of([length]), TYPES).edges
        np.testing.assert_array_equal(SEVEN.read_tags(edges, TYPES), tags[offsets[n] : offsets[n + 1]])


@given(batch=batches(longest=14, most=7))
@settings(max_examples=50, deadline=None)
def test_separate_mentions_come_back(batch):
    lengths, rows = batch
    separate = []
    for row in rows:
        if not any(cells(row) & cells(other) for other in separate):
            separate.append(row)
    encoded = SEVEN.encode(MentionTable.build(separate), offsets_of(lengths), TYPES)
    assert not encoded.lost
    for reading in READINGS:
        found = SEVEN.decode(encoded.edges, offsets_of(lengths), TYPES, reading)
        assert found.rows() == sorted(separate, key=lambda row: (row[0], row[2]))


def test_types_side_by_side():
    rows = [(0, 0, ((0, 1), (3, 4))), (0, 1, ((1, 2), (4, 5))), (0, 1, ((1, 2),)), (0, 0, ((5, 6),))]
    offsets = offsets_of([6])
    encoded = SEVEN.encode(MentionTable.build(rows), offsets, TYPES)
    assert not encoded.lost
    names = [SEVEN.tags(TYPES)[tag] for tag in SEVEN.read_tags(encoded.edges, TYPES)]
    assert names == ["BD-x", "BH-y", "O", "BD-x", "BD-y", "B-x"]
    assert sorted(SEVEN.decode(encoded.edges, offsets, TYPES).rows()) == sorted(rows)


def test_a_mention_given_twice_is_no_head():
    assert tags_in(encode([((0, 2),), ((0, 2),)], 3).edges) == ["B", "I", "O"]


def test_start_roles():
    assert SEVEN.start_roles(TYPES) == {f"{tag}-{name}" for tag in ("B", "BD", "BH") for name in TYPES}


@pytest.mark.parametrize("components", [0, -1])
def test_components_below_one(components):
    with pytest.raises(UsageError, match=f"components is {components}"):
        SevenTag(components)


def test_fewer_components():
    """Bodies are paired into mentions that the structure holds."""
    two = SevenTag(2)
    assert isinstance(two, SevenTag)
    assert read("BD O BD O BD", structure=two) == [((0, 1), (2, 3))]
    assert read("BD O BD O BD", "all", two) == [((0, 1), (2, 3)), ((0, 1), (4, 5)), ((2, 3), (4, 5))]
    assert read("BH O BD", structure=SevenTag(1)) == [((0, 1),)]


@pytest.mark.parametrize("length", [1, 2, 5, 9])
@pytest.mark.parametrize("components", [1, 2, 3, 4])
def test_all_is_ordered_and_counted(length, components):
    """Inside one head every mention is possible: supplement, equation 10."""
    head = [Run(0, length, 2, False)]
    found = read_all(head, components, 10**6)
    assert len(found) == number(head, components) == sum(math.comb(length + 1, 2 * k) for k in range(1, components + 1))
    assert found == sorted(found, key=lambda ranges: (len(ranges), ranges))
    assert read_all(head, components, 7) == found[:7]


def test_all_is_cut_and_says_where():
    text = " ".join(["BH", *["IH"] * 1999])
    edges, offsets = edges_of(f"{text} O BH"), offsets_of([2002])
    mentions = SEVEN.decode(edges, offsets, ["x"], "all")
    assert len(mentions) == MOST_MENTIONS
    assert mentions.rows()[-1] == (0, 0, ((0, 1),))
    count = sum(math.comb(2001, 2 * k) for k in (1, 2, 3))
    count += 1 + sum(math.comb(2001, 2 * k) for k in (1, 2))  # the last token alone, and with one or two before it
    assert SEVEN.crowded(edges, offsets, ["x"]) == [Crowd(0, 0, count)]
    assert SEVEN.crowded(edges_of("BH O BD"), offsets_of([3]), ["x"]) == []


def test_long_sentences_are_read_in_time():
    for text in ("BD O BH O ", "BH ID O ", "BD ", "BD BH "):
        edges = edges_of(text * 5000)
        assert len(SEVEN.decode(edges, offsets_of([len(edges)]), ["x"])) >= 2500


@cache
def every_tagging(length):
    """Every path of the lattice of two types, with the mentions that ``all`` reads from it."""
    every = list(reference.subgraphs(SEVEN.template(TYPES), length))
    depth = SubgraphEngine(SEVEN.template(TYPES)).depth
    edges = np.full((len(every) * length, 1, depth), -1, np.int16)
    for n, choices in enumerate(every):
        for t in range(length):
            own = [edge for token, edge in choices if token == t]
            edges[n * length + t, 0, : len(own)] = own
    with_path = [set() for _ in every]
    for n, kind, ranges in SEVEN.decode(edges, offsets_of([length] * len(every)), TYPES, "all").rows():
        with_path[n].add((kind, ranges))
    return list(zip(every, with_path, strict=True))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_likelihood_is_that_of_one_sequence_of_tags_of_several(length):
    """Mentions are read from more sequences than the one that training takes for them, so they are more probable."""
    template, own = SEVEN.template(["x"]), random_potentials(SEVEN.template(["x"]), length, 1, length)
    every = list(reference.subgraphs(template, length))
    scores = lane_scores(template, own, offsets_of([length]), 0, 0)
    weights = np.array([math.exp(sum(scores[t][e] for t, e in choices)) for choices in every])
    found = [set() for _ in every]
    for n, _, ranges in SEVEN.decode(laid(template, every, length), offsets_of([length] * len(every)), ["x"]).rows():
        found[n].add(ranges)
    share = Counter()
    for answer, weight in zip(map(frozenset, found), weights.tolist(), strict=True):
        share[answer] += weight / weights.sum()
    rows = [(n, 0, ranges) for n, answer in enumerate(share) for ranges in sorted(answer)]
    offsets = offsets_of([length] * len(share))
    edges = SEVEN.encode(MentionTable.build(rows), offsets, ["x"]).edges
    potentials = Potentials(np.tile(own.roles, (len(share), 1, 1)), own.constants)
    likelihood = np.exp(
        StructuredModel.build(SEVEN, "subgraphs", ["x"], None).log_likelihood(potentials, offsets, edges)
    )
    assert (likelihood[:, 0] <= np.array(list(share.values())) + 1e-6).all()
    assert likelihood.sum() < 0.9 < sum(share.values())


@pytest.mark.parametrize("counting", ENGINES)
@given(seed=st.integers(0, 2**32 - 1), lengths=st.lists(st.integers(0, 3), min_size=1, max_size=2))
@settings(max_examples=6, deadline=None)
def test_path_probability_is_the_share_of_tag_sequences_that_all_reads_it_from(counting, seed, lengths):
    offsets, template = offsets_of(lengths), SEVEN.template(TYPES)
    potentials = random_potentials(template, sum(lengths), 1, seed)
    mentions, expected = [], []
    for n, length in enumerate(lengths):
        if not length:
            continue
        scores = lane_scores(template, potentials, offsets, n, 0)
        weights = [(math.exp(sum(scores[t][e] for t, e in choices)), found) for choices, found in every_tagging(length)]
        whole = math.fsum(weight for weight, _ in weights)
        for kind in range(2):
            for ranges in every_mention(length, 3):
                mentions.append((n, kind, ranges))
                expected.append(math.fsum(weight for weight, found in weights if (kind, ranges) in found) / whole)
    paths = SEVEN.paths(MentionTable.build(mentions), TYPES)
    found = ENGINES[counting](template).path_probability(potentials, offsets, paths, run=Threads(2))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
