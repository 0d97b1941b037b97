"""Two layers: what they hold, by a definition of its own on short sentences; each sequence of tags; ways and paths."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from functools import cache
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structure_helpers import TYPES, batches, laid, lane_scores, offsets_of, picks, random_potentials

from spanloom import Document, Mention, Recognizer
from spanloom.hypergraph import ENGINES, Potentials, SubgraphEngine, reference
from spanloom.model.structured import StructuredModel
from spanloom.structures import READINGS, MentionTable
from spanloom_lab.canonical import canonical_encodings, every_mention
from spanloom_lab.transitions import counts
from spanloom_lab.two_layer import APART, TwoLayer
from spanloom_lab.two_layer_sets import held_together

TWO = TwoLayer()
TEMPLATE = TWO.template(["x"])
TAGS = {"O", "CB", "CI", "DB-Bx", "DB-By", "DI-Bx", "DI-By", "DI-Ix", "DI-Iy", "DI-O"}
LONGEST = 5


def tokens_of(ranges):
    return {token for first, end in ranges for token in range(first, end)}


def is_part(tokens):
    return bool(tokens) and max(tokens) - min(tokens) + 1 == len(tokens)


def is_set(mentions):
    """One mention of one part or two; or several that have one part in common, and one apart."""
    if len(mentions) == 1:
        return len(mentions[0]) <= 2
    every = [tokens_of(ranges) for ranges in mentions]
    shared = set.intersection(*every)
    others = [own - shared for own in every]
    return is_part(shared) and all(map(is_part, others)) and not any(one & two for one, two in combinations(others, 2))


def clusters(mentions):
    """Mentions between whose first and last tokens others begin or end, side by side."""
    found = []
    for ranges in sorted(mentions):
        if not found or ranges[0][0] >= max(own[-1][1] for own in found[-1]):
            found.append([])
        found[-1].append(ranges)
    return found


def holdable(mentions):
    return all(is_set(own) for own in clusters(mentions))


def encodings_of(mentions):
    """Either part of a mention with a gap may be the shared one, where it shares none."""
    return 2 ** sum(len(own) == 1 and len(own[0]) == 2 for own in clusters(mentions))


def subsets(mentions):
    return chain.from_iterable(combinations(mentions, size) for size in range(len(mentions) + 1))


@cache
def every_sequence(length):
    """Every sub-hypergraph of one type, its hyperedges, and its mentions."""
    every = list(reference.subgraphs(TEMPLATE, length))
    edges = laid(TEMPLATE, every, length)
    found = [set() for _ in every]
    for n, _, ranges in TWO.decode(edges, offsets_of([length] * len(every)), ["x"]).rows():
        assert ranges not in found[n]
        found[n].add(ranges)
    return every, edges, [frozenset(own) for own in found]


@pytest.mark.parametrize("length", range(1, LONGEST))
def test_held_is_what_the_definition_says(length):
    mentions = every_mention(length, 2)
    held = {frozenset(chosen) for chosen in subsets(mentions) if holdable(chosen)}
    assert set(every_sequence(length)[2]) == held
    assert all(chosen - {ranges} in held for chosen in held for ranges in chosen)  # what is left can be held, too


@pytest.mark.parametrize(("length", "sequences", "readings"), [
    (1, 2, 2), (2, 5, 5), (3, 18, 17), (4, 79, 72), (5, 349, 317),
])  # fmt: skip
def test_numbers_of_sequences(length, sequences, readings):
    every, _, found = every_sequence(length)
    number = Counter(found)
    assert (len(every), len(number)) == (sequences, readings)
    assert counts(TEMPLATE, length)[-1] == sequences
    assert all(encodings_of(own) == ways for own, ways in number.items())
    if length < LONGEST:
        assert canonical_encodings(TWO, length, 2) == readings


@pytest.mark.parametrize("length", range(1, LONGEST + 1))
def test_every_sequence_is_read_and_written_again(length):
    """As itself, or as the one with the same mentions in which what shares nothing has its first part shared."""
    every, edges, found = every_sequence(length)
    offsets = offsets_of([length] * len(every))
    assert set(TWO.tags_of(edges).ravel()) <= TAGS
    for reading in READINGS:
        encoded = TWO.encode(TWO.decode(edges, offsets, ["x"], reading), offsets, ["x"])
        assert not encoded.lost
        again = [picks(rows[:, 0]) for rows in np.split(encoded.edges, offsets[1:-1])]
        groups = defaultdict(set)
        for own, choices, written in zip(found, every, again, strict=True):
            groups[own].add(written)
            assert found[every.index(written)] == own
            assert written == choices or encodings_of(own) > 1
        assert all(len(written) == 1 for written in groups.values())


@pytest.mark.parametrize("length", range(1, LONGEST + 1))
def test_all_encodings_allows_those_with_the_same_mentions_and_no_other(length):
    every, edges, found = every_sequence(length)
    masks = TWO.all_encodings(edges, offsets_of([length] * len(every))).reshape(len(every), length, -1)
    for own, mask in zip(found, masks, strict=True):
        kept = [n for n, choices in enumerate(every) if all(mask[choice] for choice in choices)]
        assert kept == [n for n, other in enumerate(found) if other == own]


def test_all_encodings_of_sets_that_touch():
    """Each may be written in its own way: four encodings."""
    gaps = [(0, 0, ((0, 1), (2, 3))), (0, 0, ((3, 4), (5, 6))), (0, 1, ((1, 2), (3, 4)))]
    offsets = offsets_of([6])
    edges = TWO.encode(MentionTable.build(gaps), offsets, TYPES).edges
    mask = TWO.all_encodings(edges, offsets)
    assert mask.shape == (6, len(TEMPLATE.edges), 2)
    kept = [[c for c in reference.subgraphs(TEMPLATE, 6) if all(mask[t, e, k] for t, e in c)] for k in (0, 1)]
    assert [len(own) for own in kept] == [4, 2]
    for k, own in enumerate(kept):
        assert picks(edges[:, k]) in own
        read = TWO.decode(laid(TEMPLATE, own, 6), offsets_of([6] * len(own)), ["x"]).rows()
        assert Counter(ranges for _, _, ranges in read) == {ranges: len(own) for _, kind, ranges in gaps if kind == k}


@given(seed=st.integers(0, 2**32 - 1), length=st.integers(1, 4))
@settings(max_examples=10, deadline=None)
def test_likelihood_of_mentions_is_that_of_all_their_sequences(seed, length):
    every, edges, found = every_sequence(length)
    one = random_potentials(TEMPLATE, length, 1, seed)
    scores = lane_scores(TEMPLATE, one, offsets_of([length]), 0, 0)
    weights = [math.exp(sum(scores[t][e] for t, e in choices)) for choices in every]
    expected = defaultdict(float)
    for own, weight in zip(found, weights, strict=True):
        expected[own] += weight / math.fsum(weights)
    potentials = Potentials(np.tile(one.roles, (len(every), 1, 1)), one.constants)
    model = StructuredModel.build(TWO, "subgraphs", ["x"], None)
    given_back = np.exp(model.log_likelihood(potentials, offsets_of([length] * len(every)), edges))[:, 0]
    np.testing.assert_allclose(given_back, [expected[own] for own in found], rtol=1e-5)
    assert sum(dict(zip(found, given_back.tolist(), strict=True)).values()) == pytest.approx(1)


@st.composite
def mentions_of_a_type(draw):
    """Up to 8 mentions of one sentence: any, or such as have a part in common."""
    length = draw(st.integers(1, 8))
    every = every_mention(length, 2)
    first = draw(st.integers(0, length - 1))
    shared = set(range(first, draw(st.integers(first + 1, length))))
    sharing = [own for own in every if shared < tokens_of(own) and is_part(tokens_of(own) - shared)]
    return draw(st.lists(st.sampled_from(every) | st.sampled_from(sharing or every), max_size=8, unique=True))


@given(mentions=mentions_of_a_type())
@settings(max_examples=300, deadline=None)
def test_the_most_are_kept_and_of_as_many_those_with_most_tokens(mentions):
    kept = [mentions[i] for i in held_together(mentions)]
    assert holdable(kept)

    def worth(chosen):
        return len(chosen), sum(len(tokens_of(ranges)) for ranges in chosen)

    assert worth(kept) == max(worth(chosen) for chosen in subsets(mentions) if holdable(chosen))


@given(batch=batches(components=3, longest=25, most=10, again=2))
@settings(max_examples=200, deadline=None)
def test_any_mentions_of_any_batch(batch):
    lengths, rows = batch
    table, offsets = MentionTable.build(rows), offsets_of(lengths)
    encoded = TWO.encode(table, offsets, TYPES)
    for engine in ENGINES.values():
        engine(TWO.template(TYPES)).role_counts(encoded.edges, offsets)  # refuses what is no structure
    kept = {row for i, row in enumerate(rows) if i not in encoded.lost}
    for reading in READINGS:
        found = TWO.decode(encoded.edges, offsets, TYPES, reading)
        assert found.rows() == MentionTable.merge([found]).rows()  # in the order of the other structures
        assert sorted(found.rows()) == sorted(kept)
    assert TWO.holds(table).tolist() == [len(ranges) <= 2 for _, _, ranges in rows]
    for i, why in encoded.lost.items():
        assert rows[i] not in kept
        if len(rows[i][2]) > 2:
            assert why == "it has 3 components, and two layers hold mentions of one or two"
        else:
            own = [ranges for n, kind, ranges in kept if (n, kind) == rows[i][:2]]
            assert why == APART
            assert not holdable([*own, rows[i][2]])
    started = encoded_starts(encoded.edges)
    assert started == len(kept)


def encoded_starts(edges):
    """How many roles that say that a mention starts are in hyperedges."""
    starts = TWO.start_roles(TYPES)
    says = [any(role.name in starts for role in edge.roles) for edge in TEMPLATE.edges]
    return sum(says[e] for e in edges.ravel().tolist() if e >= 0)


@given(batch=batches(components=3, longest=25, most=10, again=2))
@settings(max_examples=50, deadline=None)
def test_types_and_sentences_never_interact(batch):
    lengths, rows = batch
    offsets = offsets_of(lengths)
    edges = TWO.encode(MentionTable.build(rows), offsets, TYPES).edges
    for n, length in enumerate(lengths):
        for kind in range(len(TYPES)):
            own = MentionTable.build((0, 0, ranges) for m, k, ranges in rows if (m, k) == (n, kind))
            alone = TWO.encode(own, offsets_of([length]), ["x"]).edges
            np.testing.assert_array_equal(alone[:, 0], edges[offsets[n] : offsets[n + 1], kind])


@pytest.mark.parametrize("counting", ENGINES)
@given(seed=st.integers(0, 2**32 - 1), lengths=st.lists(st.integers(0, 5), min_size=1, max_size=2))
@settings(max_examples=6, deadline=None)
def test_the_ways_of_a_mention_add_up_to_the_share_of_sequences_that_have_it(counting, seed, lengths):
    offsets = offsets_of(lengths)
    potentials = random_potentials(TEMPLATE, sum(lengths), 2, seed)
    rows, expected = [], []
    for n, length in enumerate(lengths):
        for kind in range(2) if length else ():
            scores = lane_scores(TEMPLATE, potentials, offsets, n, kind)
            every, _, found = every_sequence(length)
            weights = [math.exp(sum(scores[t][e] for t, e in choices)) for choices in every]
            for ranges in every_mention(length, 2):
                having = math.fsum(weight for weight, own in zip(weights, found, strict=True) if ranges in own)
                rows.append((n, kind, ranges))
                expected.append(having / math.fsum(weights))
    paths = TWO.paths(MentionTable.build(rows), TYPES)
    found = ENGINES[counting](TEMPLATE).path_probability(potentials, offsets, paths)
    assert len(found) == 2 * len(rows)
    np.testing.assert_allclose(found.reshape(len(rows), 2).sum(1), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("length", range(1, LONGEST))
def test_no_sequence_has_a_mention_in_two_ways(length):
    mentions = every_mention(length, 2)
    paths = TWO.paths(MentionTable.build((0, 0, ranges) for ranges in mentions), ["x"])
    spread = [(first, paths.spread(q)) for q, first in enumerate(paths.first.tolist())]
    for choices, own in zip(every_sequence(length)[0], every_sequence(length)[2], strict=True):
        kept = [all(rows[t - first, e] for t, e in choices if first <= t < first + len(rows)) for first, rows in spread]
        ways = [sum(kept[2 * m : 2 * m + 2]) for m in range(len(mentions))]
        assert ways == [int(ranges in own) for ranges in mentions]


@pytest.mark.parametrize(("mentions", "tags"), [
    ([((0, 2), (3, 4)), ((0, 2), (5, 6))], "DB-Bx DI-Ix DI-O DI-By DI-O DI-By"),
    ([((0, 1), (3, 4)), ((2, 4),)], "DB-By DI-O DI-By DI-Bx O O"),
    ([((0, 1), (2, 4))], "DB-Bx DI-O DI-By DI-Iy O O"),
    ([((0, 2),), ((1, 3),), ((1, 2), (4, 5))], "DB-By DI-Bx DI-By DI-O DI-By O"),
    ([((0, 2),), ((2, 3),), ((5, 6),)], "CB CI CB O O CB"),
    ([((0, 2),), ((1, 4),)], "DB-By DI-Bx DI-By DI-Iy O O"),
    ([((0, 1), (2, 3)), ((3, 4), (5, 6))], "DB-Bx DI-O DI-By DB-Bx DI-O DI-By"),
])  # fmt: skip
def test_tags(mentions, tags):
    """A first part shared; a last; nothing; neighbours on both sides; contiguous; crossing; two sets that touch."""
    encoded = TWO.encode(MentionTable.build((0, 0, ranges) for ranges in mentions), offsets_of([6]), ["x"])
    assert not encoded.lost
    assert " ".join(TWO.tags_of(encoded.edges)[:, 0]) == tags


@pytest.mark.parametrize(("mentions", "lost"), [
    ([((0, 1), (2, 3), (4, 5))], {0: "it has 3 components, and two layers hold mentions of one or two"}),
    ([((0, 1), (4, 6)), ((2, 3),)], {1: APART}),  # in the gap of another
    ([((0, 1), (2, 3)), ((1, 2), (3, 4))], {1: APART}),  # interleaved
    ([((0, 1), (2, 3)), ((0, 1), (2, 4))], {0: APART}),  # parts that overlap
    ([((0, 3),), ((0, 1),)], {1: APART}),  # nested
    ([((0, 2),), ((1, 4),)], {}),  # crossing
    ([((0, 2),), ((1, 4),), ((3, 6),)], {0: APART}),  # three in a row that cross
    ([((0, 1), (2, 3)), ((0, 1), (2, 3))], {}),  # the same twice
    ([((0, 1),), ((0, 1), (2, 3)), ((0, 1), (4, 5))], {0: APART}),  # the shared part alone
])  # fmt: skip
def test_what_is_lost_and_why(mentions, lost):
    encoded = TWO.encode(MentionTable.build((0, 0, ranges) for ranges in mentions), offsets_of([6]), ["x"])
    assert encoded.lost == lost


def test_a_thousand_mentions_of_one_sentence_are_arranged_in_time():
    """Time grows with the mentions that a part has in common, and not with pairs of all mentions."""
    length = 3000
    rows = [((0, 1), (i, i + 1)) for i in range(2, length, 3)] + [((i, length - i),) for i in range(1, 1000)]
    encoded = TWO.encode(MentionTable.build((0, 0, ranges) for ranges in rows), offsets_of([length]), ["x"])
    assert sorted(encoded.lost) == list(range(1000, 1999))


@pytest.mark.filterwarnings("ignore::spanloom.errors.LostWarning")
def test_a_recognizer_learns_mentions_that_share_a_part(tmp_path):
    text = "pain in arms and shoulders ."
    notes = [Document(text, mentions=[Mention("p", [(0, 7), (17, 26)]), Mention("p", [(0, 12)])])] * 20
    model = Recognizer(TWO, features=["bias", "w[0]"], epochs=5, rate=0.5).fit(notes, dev=notes)
    found = model.predict(text)
    assert [mention.key for mention in found.mentions] == [mention.key for mention in notes[0].mentions]
    assert all(p > 0.9 for p in model.marginals(notes[0], calibrated=False))


def test_potentials_that_want_it_get_it():
    """The best structure is the gold one; its mentions are certain, and nothing else is."""
    rows = [(0, 0, ((0, 1), (3, 5))), (0, 0, ((2, 5),)), (0, 1, ((1, 2), (4, 5))), (1, 0, ((0, 2),))]
    offsets = offsets_of([6, 3])
    edges = TWO.encode(MentionTable.build(rows), offsets, TYPES).edges
    engine = SubgraphEngine(TEMPLATE)
    gold, constants = engine.role_counts(edges, offsets)
    potentials = Potentials(80 * gold - 40, np.zeros_like(constants, np.float32))
    np.testing.assert_array_equal(engine.viterbi(potentials, offsets).edges, edges)
    every = [(n, k, r) for n, length in enumerate((6, 3)) for k in (0, 1) for r in every_mention(length, 2)]
    found = engine.path_probability(potentials, offsets, TWO.paths(MentionTable.build(every), TYPES))
    np.testing.assert_allclose(found.reshape(-1, 2).sum(1), [row in rows for row in every], atol=1e-5)
