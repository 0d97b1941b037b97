"""Strands against oracles: every set of mentions of short sentences, and a cover by matching for longer ones."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from strand_cover import cover
from structure_helpers import offsets_of

from spanloom.structures import STRUCTURES
from spanloom.structures.base import Crowd, MentionTable
from spanloom.structures.strands.graph import Strand, draw
from spanloom.structures.strands.pieces import ADVANCE, END, STAY, component_pieces
from spanloom.structures.strands.reading import crowded, find_all, read
from spanloom.structures.strands.reading import ranges as as_mentions

MOST = 10**6


def lay(mentions, offsets, types, components):
    """The union of the paths of mentions with gaps."""
    return draw(component_pieces(mentions), mentions, offsets, types, 2 * components - 1)


def read_enough(strand, offsets):
    return as_mentions(read(strand, offsets, "enough"))


def read_all(strand, offsets, most):
    return as_mentions(find_all(strand, offsets, most))


def test_what_is_laid_is_read():
    strand, _ = one([((0, 1), (2, 3)), ((2, 3),)], 3, components=2)
    assert strand.start[:, 0].tolist() == [1, 0, 1]
    assert strand.links[:, 0].tolist() == [[2, 0, 0], [0, 2, 0], [4, 0, 4]]
    parallel = [((0, 1), (3, 4)), ((1, 2), (4, 5))]
    strand, offsets = one(parallel, 5, components=2)
    assert read_enough(strand, offsets).rows() == [(0, 0, mention) for mention in parallel]
    assert len(read_all(strand, offsets, most=1000)) == 4


def every_mention(length, components):
    """As ranges: 2 k of the places between tokens are the bounds of k ranges."""
    bounds = [b for k in range(1, components + 1) for b in combinations(range(length + 1), 2 * k)]
    return [tuple(zip(b[::2], b[1::2], strict=True)) for b in bounds]


def one(mentions, length, components=3):
    """The strand of one sentence and one type, with its offsets."""
    offsets = offsets_of([length])
    return lay(MentionTable.build((0, 0, m) for m in mentions), offsets, 1, components), offsets


def same(a, b):
    return np.array_equal(a.start, b.start) and np.array_equal(a.links, b.links)


def arcs_of(mention, kind=0):
    """The arcs of one path, written down step by step: an oracle for `lay`."""
    (first, _), *_ = mention
    found, position = {("start", first, kind)}, 0
    for token in range(first, mention[-1][1]):
        inside = any(a <= token < b for a, b in mention)
        assert inside == (position % 2 == 0)
        following = any(a <= token + 1 < b for a, b in mention)
        if token + 1 == mention[-1][1]:
            found.add((END, token, kind, position))
        else:
            found.add((STAY if following == inside else ADVANCE, token, kind, position))
            position += following != inside
    return found


def arcs_in(strand):
    found = {("start", token, kind) for token, kind in np.argwhere(strand.start).tolist()}
    for token, kind, position in np.argwhere(strand.links).tolist():
        found |= {
            (bit, token, kind, position) for bit in (STAY, ADVANCE, END) if strand.links[token, kind, position] & bit
        }
    return found


def order(row):
    n, kind, ranges = row
    flat = [bound for piece in ranges for bound in piece]
    return n, flat[0], -flat[-1], kind, [-bound if at % 2 else bound for at, bound in enumerate(flat)][1:]


def fewest(strand):
    """Dilworth: as few paths as use every arc = arcs - largest matching of arcs with arcs that can follow them."""
    arcs = sorted(arcs_in(strand), key=lambda arc: (arc[1], arc[0] != "start", str(arc)))
    heads = []
    for bit, token, kind, *rest in arcs:
        step = {"start": (token, kind, 0)}.get(bit) or {
            STAY: lambda t, k, p: (t + 1, k, p),
            ADVANCE: lambda t, k, p: (t + 1, k, p + 1),
            END: lambda t, k, p: None,
        }[bit](token, kind, *rest)
        heads.append(step)
    nexts = [
        [j for j, arc in enumerate(arcs) if arc[0] != "start" and arc[1:] == head] if head else [] for head in heads
    ]
    later = [set() for _ in arcs]
    for i in sorted(range(len(arcs)), key=lambda i: (-arcs[i][1], arcs[i][0] == "start")):
        later[i] = set(nexts[i]).union(*(later[j] for j in nexts[i]))
    pairs = [(i, j) for i, others in enumerate(later) for j in others]
    if not pairs:
        return len(arcs)
    rows, columns = zip(*pairs, strict=True)
    graph = csr_array((np.ones(len(pairs)), (rows, columns)), shape=(len(arcs), len(arcs)))
    return len(arcs) - int((maximum_bipartite_matching(graph) >= 0).sum())


@st.composite
def batches(draw, components=3, longest=9):
    lengths = draw(st.lists(st.integers(0, longest), min_size=1, max_size=4))
    types = draw(st.integers(1, 3))
    c = draw(st.integers(1, components))
    places = [(n, k, m) for n, length in enumerate(lengths) for k in range(types) for m in every_mention(length, c)]
    chosen = draw(st.lists(st.sampled_from(places), max_size=14, unique=True)) if places else []
    return MentionTable.build(chosen), offsets_of(lengths), types, c


@pytest.mark.parametrize(
    ("length", "components", "canonical"),
    [(1, 3, 2), (2, 1, 8), (2, 3, 8), (3, 1, 40), (3, 2, 80), (3, 3, 80), (4, 1, 208), (4, 2, 3584), (4, 3, 3584)],
)
def test_every_set_of_mentions(length, components, canonical):
    """Muis and Lu (2016), supplement, Table 1: 128 sets of three tokens, 32768 of four; and what is read of each."""
    mentions = every_mention(length, components)
    numbers: dict = {}
    single = [
        sum(1 << numbers.setdefault(arc, len(numbers)) for arc in arcs_in(one([m], length, components)[0]))
        for m in mentions
    ]
    union, size, smallest = [0], [0], {0: (0, 0)}
    for chosen in range(1, 1 << len(mentions)):
        rest = chosen & (chosen - 1)
        union.append(union[rest] | single[(chosen ^ rest).bit_length() - 1])
        size.append(size[rest] + 1)
        if size[-1] < smallest.get(union[-1], (MOST, 0))[0]:
            smallest[union[-1]] = size[-1], chosen
    assert len(union) == 2 ** len(mentions)
    assert len(smallest) == canonical

    sets = [[m for i, m in enumerate(mentions) if chosen >> i & 1] for _, chosen in smallest.values()]
    offsets = offsets_of([length] * canonical)
    strand = lay(MentionTable.build((n, 0, m) for n, chosen in enumerate(sets) for m in chosen), offsets, 1, components)
    few = read_enough(strand, offsets)
    assert Counter(few.sentence.tolist()) == Counter(
        {n: least for n, (least, _) in enumerate(smallest.values()) if least}
    )
    assert same(lay(few, offsets, 1, components), strand)
    expected = [
        (n, 0, m)
        for n, arcs in enumerate(smallest)
        for m, own in zip(mentions, single, strict=True)
        if own & arcs == own
    ]
    assert read_all(strand, offsets, MOST).rows() == sorted(expected, key=order)


@given(batches(components=4))
def test_lay_is_the_union_of_paths(batch):
    table, offsets, types, components = batch
    strand = lay(table, offsets, types, components)
    assert strand.start.shape == (offsets[-1], types)
    assert strand.links.shape == (offsets[-1], types, 2 * components - 1)
    expected = set()
    for n, kind, ranges in table.rows():
        expected |= arcs_of([(a + int(offsets[n]), b + int(offsets[n])) for a, b in ranges], kind)
    assert arcs_in(strand) == expected


@given(batches(components=4))
def test_readings_use_every_arc(batch):
    table, offsets, types, components = batch
    strand = lay(table, offsets, types, components)
    few, every = read_enough(strand, offsets), read_all(strand, offsets, MOST)
    assert same(lay(few, offsets, types, components), strand)
    assert same(lay(every, offsets, types, components), strand)
    assert len(few) == fewest(strand)
    assert set(table.rows()) <= set(every.rows())
    assert set(few.rows()) <= set(every.rows())
    for found in (few, every):
        rows = found.rows()
        assert rows == sorted(set(rows), key=order)
        assert all(column.dtype == np.int64 for column in found)


@given(batches(), st.integers(1, 8))
def test_limit(batch, most):
    table, offsets, types, components = batch
    strand = lay(table, offsets, types, components)
    every = read_all(strand, offsets, MOST).rows()
    kept, seen = [], Counter()
    for row in every:
        kept += [row] if seen[row[:2]] < most else []
        seen[row[:2]] += 1
    assert read_all(strand, offsets, most).rows() == kept
    assert crowded(strand, offsets, most) == [Crowd(*key, seen[key]) for key in sorted(seen) if seen[key] > most]


@settings(max_examples=60)
@given(batches(longest=12))
def test_the_kernel_chooses_as_plain_python_does(batch):
    table, offsets, types, components = batch
    strand = lay(table, offsets, types, components)
    assert chosen_paths(strand, offsets) == sorted(cover(strand))


@settings(max_examples=60)
@given(st.data())
def test_the_kernel_chooses_heads_as_plain_python_does(data):
    lengths = data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=3))
    bounds = [
        (n, first, end, *head)
        for n, length in enumerate(lengths)
        for first, end in combinations(range(length + 1), 2)
        for head in combinations(range(first, end + 1), 2)
    ]
    rows = data.draw(st.lists(st.tuples(st.sampled_from(bounds), st.integers(0, 1)), max_size=20, unique=True))
    table = MentionTable.build(
        [(n, kind, ((first, end),)) for (n, first, end, *_), kind in rows], [row[3:] for row, _ in rows]
    )
    offsets = offsets_of(lengths)
    strand = draw(STRUCTURES["heads"].pieces(table), table, offsets, 2, 3, heads=True)
    assert chosen_paths(strand, offsets) == sorted(cover(strand))


def chosen_paths(strand, offsets):
    """Types and bounds, as tokens of the batch."""
    found = read(strand, offsets, "enough")
    base = offsets[found.sentence].tolist()
    rows = zip(found.kind.tolist(), found.bounds.tolist(), found.size.tolist(), base, strict=True)
    return sorted((kind, tuple(first + bound for bound in own[:size])) for kind, own, size, first in rows)


def brackets(mentions):
    """The nested reading of mentions of one sentence and type without gaps: an end closes the latest open start.

    A start is closed once, unless it is the only one left and something goes on to the next token: then it stays open.
    Where nothing goes on, all open starts end.
    """
    starts, ends = {first for first, _ in mentions}, {end for _, end in mentions}
    found, opened = [], []
    for token in sorted(starts | {end - 1 for end in ends}):
        opened += [token] if token in starts else []
        if token + 1 in ends:
            goes_on = any(first <= token < end - 1 for first, end in mentions)
            closed = opened[-1:] if goes_on else opened
            found += [(first, token + 1) for first in closed]
            opened = opened[: max(len(opened) - 1, 1)] if goes_on else []
    return sorted(found, key=lambda mention: (mention[0], -mention[1]))


@given(batches(components=1, longest=12), st.integers(1, 3))
def test_without_gaps_mentions_are_brackets(batch, components):
    table, offsets, types, _ = batch
    found = read_enough(lay(table, offsets, types, components), offsets).rows()
    own: dict = {}
    for n, k, (mention,) in table.rows():
        own.setdefault((n, k), []).append(mention)
    assert sorted(found) == sorted((*key, (mention,)) for key, group in own.items() for mention in brackets(group))


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_crowded_sentences_are_covered_by_few(seed, components):
    """Many overlapping mentions, so that spare units must be led elsewhere."""
    rng = np.random.default_rng(seed)
    mentions = every_mention(8, components)
    chosen = [mentions[i] for i in rng.choice(len(mentions), size=min(40, len(mentions)))]
    strand, offsets = one(chosen, 8, components)
    found = read_enough(strand, offsets)
    assert chosen_paths(strand, offsets) == sorted(cover(strand))
    assert len(found) == fewest(strand)
    assert same(lay(found, offsets, 1, components), strand)


def spell(tokens, *mentions):
    """Mentions as ranges of tokens, from the numbers of words."""
    words = tokens.split()
    found = []
    for mention in mentions:
        at = [words.index(word) for word in mention.split()]
        cut = [i for i in range(1, len(at)) if at[i] != at[i - 1] + 1]
        found.append(tuple((at[a], at[b - 1] + 1) for a, b in zip([0, *cut], [*cut, len(at)], strict=True)))
    return found, len(words)


ENDOSCOPY = spell(
    "EGD showed hiatal hernia and vertical laceration in distal esophagus with blood in_ stomach and_ overlying lac .",
    "hiatal hernia",
    "laceration esophagus",
    "blood in_ stomach",
    "stomach lac",
)
MOUTH = spell(
    "The patient had blood in his mouth and on his_ tongue , pupils were pinpoint and_ reactive .",
    "blood in his mouth",
    "blood on his_ tongue",
    "pupils pinpoint",
)
INFARCTIONS = spell(
    "Infarctions either water shed or embolic", "Infarctions", "Infarctions water shed", "Infarctions embolic"
)
VOMIT_TEXT = "You see blood or dark / black material when you vomit or_ have a bowel movement ."
VOMIT = spell(
    VOMIT_TEXT,
    "blood vomit",
    "blood bowel movement",
    "dark material vomit",
    "dark bowel movement",
    "black material vomit",
    "black material bowel movement",
)


@pytest.mark.parametrize("case", [ENDOSCOPY, MOUTH, INFARCTIONS], ids=["Figure 1", "Figure 4, 1", "Figure 4, 2"])
def test_examples_read_as_they_are(case):
    mentions, length = case
    strand, offsets = one(mentions, length)
    assert {row[2] for row in read_enough(strand, offsets).rows()} == set(mentions)


def test_figure_4_third_example():
    """Six mentions; three components and two share their gaps, so more have a path than there are."""
    mentions, length = VOMIT
    assert len(mentions) == 6
    strand, offsets = one(mentions, length)
    every = {row[2] for row in read_all(strand, offsets, MOST).rows()}
    assert set(mentions) < every
    few = read_enough(strand, offsets)
    assert len(few) == fewest(strand) < 6
    assert same(lay(few, offsets, 1, 3), strand)


def test_figure_4_third_example_split():
    """The mention with three components has a strand of its own and is read alone."""
    mentions, length = VOMIT
    three = [m for m in mentions if len(m) == 3]
    strand, offsets = one(three, length)
    assert [row[2] for row in read_all(strand, offsets, MOST).rows()] == three
    two = [m for m in mentions if len(m) == 2]
    strand, offsets = one(two, length, 2)
    every = {row[2] for row in read_all(strand, offsets, MOST).rows()}
    assert every - set(two) == set(spell(VOMIT_TEXT, "dark vomit")[0])


def test_parallel_parts_are_joined_in_order():
    mentions, length = spell("alpha and beta chains 1 and_ 2", "alpha 1", "beta 2")
    strand, offsets = one(mentions, length, 2)
    assert len(read_all(strand, offsets, MOST)) == 4
    assert [row[2] for row in read_enough(strand, offsets).rows()] == mentions


def test_a_mention_inside_a_gap():
    mentions = [((0, 1), (4, 5)), ((2, 3),)]
    strand, offsets = one(mentions, 5)
    assert [row[2] for row in read_enough(strand, offsets).rows()] == mentions
    assert [row[2] for row in read_all(strand, offsets, 1).rows()] == mentions[:1]


@pytest.mark.parametrize("lengths", [[0], [0, 0], [3], [0, 4, 0]])
def test_nothing(lengths):
    offsets = offsets_of(lengths)
    strand = lay(MentionTable.build([]), offsets, 2, 3)
    assert not strand.links.any()
    assert (
        read_enough(strand, offsets).rows() == read_all(strand, offsets, 5).rows() == crowded(strand, offsets, 5) == []
    )


def full(length, components):
    """Every mention of a sentence at once."""
    links = np.zeros((length, 1, 2 * components - 1), np.uint8)
    for token in range(length):
        for position in range(2 * components - 1):
            least, rest = position, length - 1 - token  # tokens before, tokens after
            to_end = position % 2  # from a gap, a token is needed to end at
            if token < least or rest < to_end:
                continue
            bits = END * (position % 2 == 0)
            bits |= STAY * (rest >= 1 + to_end)
            bits |= ADVANCE * (position + 1 < 2 * components - 1 and rest >= 2 - to_end)
            links[token, 0, position] = bits
    return Strand(np.ones((length, 1), bool), links)


@pytest.mark.parametrize(("length", "components"), [(1, 2), (2, 2), (3, 2), (4, 3), (6, 3)])
def test_full_strand(length, components):
    strand, offsets = full(length, components), offsets_of([length])
    assert same(one(every_mention(length, components), length, components)[0], strand)
    assert len(read_enough(strand, offsets)) == fewest(strand)


def test_long_sentence_is_counted_exactly():
    """Supplement, section 1.2: a mention with k components is a choice of 2 k of the places between tokens."""
    length = 5000
    strand, offsets = full(length, 3), offsets_of([length])
    number = sum(comb(length + 1, 2 * k) for k in (1, 2, 3))
    assert crowded(strand, offsets, 1000) == [Crowd(0, 0, number)]
    rows = read_all(strand, offsets, 1000).rows()
    assert len(rows) == 1000
    assert rows[0] == (0, 0, ((0, length),))
    assert rows[1] == (0, 0, ((0, length - 2), (length - 1, length)))
    assert rows == sorted(rows, key=order)


def test_long_mentions_and_gaps():
    length = 5000
    mentions = [((0, 2), (4998, 4999)), ((0, 2000), (4000, 5000)), ((1, 1999), (3999, 4000))]
    strand, offsets = one(mentions, length)
    assert same(lay(read_enough(strand, offsets), offsets, 1, 3), strand)
    assert set(mentions) <= {row[2] for row in read_all(strand, offsets, MOST).rows()}


def test_long_chain_of_overlaps():
    """Every token but the last starts a mention of two tokens, and every token but the first ends one."""
    length = 5000
    mentions = [((t, t + 2),) for t in range(length - 1)]
    strand, offsets = one(mentions, length)
    found = read_enough(strand, offsets)
    assert len(found) == length - 1
    assert same(lay(found, offsets, 1, 3), strand)
    assert crowded(strand, offsets, 1) == [Crowd(0, 0, comb(length, 2) + length - 2)]


def test_many_types_and_sentences():
    rng = np.random.default_rng(5)
    mentions = every_mention(7, 3)
    rows = sorted({(int(n), int(k), mentions[i]) for n, k, i in rng.integers(0, (60, 12, len(mentions)), (500, 3))})
    lengths = [7 if n % 3 else 0 for n in range(60)]
    rows = [row for row in rows if lengths[row[0]]]
    offsets = offsets_of(lengths)
    strand = lay(MentionTable.build(rows), offsets, 12, 3)
    every = read_all(strand, offsets, MOST)
    assert same(lay(read_enough(strand, offsets), offsets, 12, 3), strand)
    assert same(lay(every, offsets, 12, 3), strand)
    alone = []
    for n, k in sorted({row[:2] for row in rows}):
        piece, at = one([row[2] for row in rows if row[:2] == (n, k)], 7)
        alone += [(n, k, row[2]) for row in read_enough(piece, at).rows()]
    assert sorted(read_enough(strand, offsets).rows()) == sorted(alone)
