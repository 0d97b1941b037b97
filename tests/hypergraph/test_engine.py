"""Both engines against enumeration, for every template, on random potentials."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.errors import SpanloomError, UsageError
from spanloom.hypergraph import (
    ENGINES,
    Child,
    DerivationEngine,
    Hyperedge,
    Paths,
    Potentials,
    Role,
    SubgraphEngine,
    Template,
    reference,
)
from spanloom.parallel import SERIAL, Threads
from spanloom.structures import STRUCTURES, chain_template

# Templates that no model has: the same child twice, a dead kind, two shared children, a structure that ends early, as
# many children as hyperedges, hyperedges between the same nodes with another between them.
NASTY = {
    "twins": Template(
        ("A", "B"),
        "A",
        frozenset({"A", "B"}),
        (
            Hyperedge("two", "A", (Child("B", 1), Child("B", 1)), (Role("r"),)),
            Hyperedge("one", "A", (Child("B"),), (Role("s", 1),)),
            Hyperedge("loop", "B", (Child("B", 1), Child("A", 1)), (Role("r"), Role("s"))),
            Hyperedge("stop", "B", (), (Role("s"),), "c"),
        ),
    ),
    "dead": Template(
        ("A", "D"),
        "A",
        frozenset({"A"}),
        (
            Hyperedge("on", "A", (Child("A", 1),), (Role("r"),), "c"),
            Hyperedge("into", "A", (Child("D", 1),), (Role("s"),)),
            Hyperedge("end", "A", (), (Role("s", 1),), "d"),
        ),
    ),
    "diamond": Template(
        ("A", "L", "R", "J"),
        "A",
        frozenset({"A", "J"}),
        (
            Hyperedge("both", "A", (Child("L"), Child("R"), Child("A", 1))),
            Hyperedge("L0", "L", (), (Role("r"),)),
            Hyperedge("L1", "L", (Child("J", 1),), (Role("s"),)),
            Hyperedge("R0", "R", (Child("J"),), (Role("r"),)),
            Hyperedge("R1", "R", (Child("J", 1), Child("J")), (Role("s"),)),
            Hyperedge("J0", "J", (), (Role("s"),), "c"),
            Hyperedge("J1", "J", (Child("J", 1),), (Role("r"),)),
        ),
    ),
    "balanced": Template(
        ("A", "B"),
        "A",
        frozenset({"A"}),
        (
            Hyperedge("both", "A", (Child("B"), Child("A", 1)), (Role("r"),)),
            Hyperedge("none", "B", (), (Role("s"),)),
        ),
    ),
    "between": Template(
        ("A", "B"),
        "A",
        frozenset({"A", "B"}),
        (
            Hyperedge("0", "A", (Child("A", 1),), (Role("r"),)),
            Hyperedge("1", "A", (Child("B", 1),), (Role("s"),)),
            Hyperedge("2", "A", (Child("A", 1),), (Role("t"),)),
            Hyperedge("3", "B", (Child("A", 1),), (Role("s"),)),
            Hyperedge("4", "B", (Child("B", 1),), (Role("t"),)),
            Hyperedge("5", "B", (Child("A", 1),), (Role("r"),)),
        ),
    ),
}
TYPES = ("x", "y")
TEMPLATES = {**{name: s.template(TYPES) for name, s in STRUCTURES.items()}, **NASTY}


def potentials(template, lengths, kinds, seed, spread=2.0, forbidden=0.0):
    rng = np.random.default_rng(seed)
    roles = rng.normal(0, spread, (sum(lengths), len(template.roles), kinds)).astype(np.float32)
    roles[rng.random(roles.shape) < forbidden] = -np.inf
    constants = rng.normal(0, 1, (len(template.constants), kinds)).astype(np.float32)
    return Potentials(roles, constants), np.cumsum([0, *lengths])


def mask(template, offsets, kinds, seed, forbidden):
    """Return a mask that forbids a share of hyperedges, or none."""
    shape = int(offsets[-1]), len(template.edges), kinds
    return None if forbidden is None else np.random.default_rng([seed, 1]).random(shape) >= forbidden


def sentence_scores(template, given, offsets, n, k, allowed=None):
    rows = given.roles[offsets[n] : offsets[n + 1], :, k]
    roles = [dict(zip(template.roles, map(float, row), strict=True)) for row in rows]
    constants = dict(zip(template.constants, map(float, given.constants[:, k]), strict=True))
    return reference.edge_scores(
        template, roles, constants, () if allowed is None else allowed[offsets[n] : offsets[n + 1], :, k].tolist()
    )


def structures(template, length, counting):
    return list((reference.subgraphs if counting == "subgraphs" else reference.derivations)(template, length))


def total(scores, structure):
    return sum(scores[token][edge] for token, edge in structure)


def expected_roles(template, scores, every, log_z, length):
    roles = np.zeros((length, len(template.roles)))
    constants = np.zeros(len(template.constants))
    for structure in every:
        p = math.exp(total(scores, structure) - log_z)
        for (token, number), times in Counter(structure).items():
            edge = template.edges[number]
            if edge.constant:
                constants[template.constants.index(edge.constant)] += p * times
            for role in edge.roles:
                if token + role.step < length:
                    roles[token + role.step, template.roles.index(role.name)] += p * times
    return roles, constants


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", TEMPLATES)
@given(seed=st.integers(0, 2**32 - 1), data=st.data())
@settings(max_examples=8, deadline=None)
def test_agrees_with_enumeration(name, counting, seed, data):
    template = TEMPLATES[name]
    lengths = data.draw(st.lists(st.integers(0, reference.listable(template)), min_size=1, max_size=5))
    forbidden = data.draw(st.sampled_from([0.0, 0.0, 0.2, 1.0]))
    spread = data.draw(st.sampled_from([0.0, 2.0, 60.0, 600.0]))
    kinds = data.draw(st.integers(1, 3))
    given_, offsets = potentials(template, lengths, kinds, seed, spread, forbidden)
    engine = ENGINES[counting](template)
    allowed = mask(template, offsets, kinds, seed, data.draw(st.sampled_from([None, None, 0.0, 0.15, 0.4])))
    sums = engine.expectations(given_, offsets, run=Threads(2), allowed=allowed)
    only = engine.log_partition(given_, offsets, allowed=allowed)
    best = engine.viterbi(given_, offsets, allowed=allowed)
    entropy = engine.entropy(given_, offsets, allowed=allowed)
    constants = np.zeros((len(template.constants), kinds))
    for n, length in enumerate(lengths):
        if not length:
            assert not sums.log_partition[n].any()
            continue
        every = structures(template, length, counting)
        for k in range(kinds):
            scores = sentence_scores(template, given_, offsets, n, k, allowed)
            totals = [total(scores, structure) for structure in every]
            log_z = reference.log_sum(totals)
            assert sums.log_partition[n, k] == pytest.approx(log_z, rel=1e-6, abs=1e-6)
            assert only[n, k] == pytest.approx(log_z, rel=1e-6, abs=1e-6)
            assert best.score[n, k] == pytest.approx(max(totals, default=-math.inf), rel=1e-9, abs=1e-9)
            rows = slice(offsets[n], offsets[n + 1])
            if log_z == -math.inf:
                assert (best.edges[rows, k] == -1).all()
                assert not sums.roles[rows, :, k].any()
                assert not sums.each[n, :, k].any()
                assert entropy[n, k] == 0
                continue
            terms = [(value - log_z) * math.exp(value - log_z) for value in totals if value > -math.inf]
            assert entropy[n, k] == pytest.approx(-sum(terms), rel=1e-4, abs=1e-5 * max(1, spread) * length)
            roles, mine = expected_roles(template, scores, every, log_z, length)
            np.testing.assert_allclose(sums.roles[rows, :, k], roles, atol=2e-5, rtol=1e-5)
            np.testing.assert_allclose(sums.each[n, :, k], mine, atol=1e-5, rtol=1e-5)
            constants[:, k] += mine
            picked = tuple(sorted((t, e) for t, row in enumerate(best.edges[rows, k].tolist()) for e in row if e >= 0))
            if counting == "derivations":
                picked = tuple(sorted(reference.multiplicity(template, picked, length).elements()))
            assert picked in every
            assert total(scores, picked) == pytest.approx(best.score[n, k], rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(sums.constants, constants, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", TEMPLATES)
def test_reference_inside_and_outside(name):
    template = TEMPLATES[name]
    given_, offsets = potentials(template, [3], 1, seed=4)
    scores = sentence_scores(template, given_, offsets, 0, 0)
    values = reference.inside(template, scores, reference.log_sum)
    log_z = reference.log_sum([total(scores, s) for s in structures(template, 3, "derivations")])
    assert values[reference.TokenNode(0, template.root)] == pytest.approx(log_z)
    best = reference.inside(template, scores, lambda terms: max(terms, default=-math.inf))
    assert best[reference.TokenNode(0, template.root)] == pytest.approx(
        max(total(scores, s) for s in structures(template, 3, "derivations"))
    )
    beyond = reference.outside(template, scores, values)
    visits = Counter()
    for structure in structures(template, 3, "derivations"):
        for token, edge in structure:
            visits[reference.TokenNode(token, template.edges[edge].head)] += math.exp(total(scores, structure) - log_z)
    for node, value in values.items():
        assert math.exp(value + beyond[node] - log_z) == pytest.approx(visits[node], abs=1e-9)


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", TEMPLATES)
@given(
    seed=st.integers(0, 2**32 - 1), count=st.integers(1, 12), length=st.integers(1, 3),
    forbidden=st.sampled_from([None, 0.2]),
)  # fmt: skip
@settings(max_examples=8, deadline=None)
def test_kbest_agrees_with_enumeration(name, counting, seed, count, length, forbidden):
    template = TEMPLATES[name]
    length = min(length, reference.listable(template))
    given_, offsets = potentials(template, [2, length], 2, seed)
    engine = ENGINES[counting](template)
    allowed = mask(template, offsets, 2, seed, forbidden)
    best = engine.kbest(given_, offsets, sentence=1, kind=1, count=count, allowed=allowed)
    scores = sentence_scores(template, given_, offsets, 1, 1, allowed)
    every = [s for s in structures(template, length, counting) if total(scores, s) > -math.inf]
    expected = sorted((total(scores, s) for s in every), reverse=True)[:count]
    expected += [-math.inf] * (count - len(expected))
    assert list(best.score) == pytest.approx(expected)
    found = best.structures
    assert len(found) == min(count, len(every))
    for score, choices in zip(best.score, found, strict=False):
        assert total(scores, choices) == pytest.approx(score)
        assert choices in every
    if counting == "subgraphs":
        assert len(set(found)) == len(found)


@pytest.mark.parametrize("name", TEMPLATES)
def test_first_hyperedge_wins_ties(name):
    template = TEMPLATES[name]
    given_, offsets = potentials(template, [3, 1], 1, seed=0, spread=0.0)
    given_.constants[:] = 0
    subgraphs = SubgraphEngine(template).viterbi(given_, offsets)
    if name in STRUCTURES:  # every node has one parent at most, or its parents agree
        np.testing.assert_array_equal(subgraphs.edges, DerivationEngine(template).viterbi(given_, offsets).edges)
    first = next(iter(reference.subgraphs(template, 3)))
    picked = sorted((t, e) for t, row in enumerate(subgraphs.edges[:3, 0].tolist()) for e in row if e >= 0)
    assert tuple(picked) == first


@pytest.mark.parametrize("name", TEMPLATES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_of_equally_good_structures_the_first_wins(name, seed):
    template, length = TEMPLATES[name], min(reference.listable(TEMPLATES[name]), 3)
    given_, offsets = potentials(template, [length, 1], 2, seed)
    given_.roles[:] = np.sign(np.round(given_.roles / 2))
    given_.constants[:] = 0
    scores = sentence_scores(template, given_, offsets, 0, 1)
    best = SubgraphEngine(template).viterbi(given_, offsets)
    picked = sorted((t, e) for t, row in enumerate(best.edges[:length, 1].tolist()) for e in row if e >= 0)
    assert tuple(picked) == max(reference.subgraphs(template, length), key=lambda structure: total(scores, structure))


@pytest.mark.parametrize("counting", ENGINES)
def test_role_counts_and_illegal_structures(counting):
    template = TEMPLATES["mention_hypergraph"]
    engine = ENGINES[counting](template)
    given_, offsets = potentials(template, [4, 3], 2, seed=3)
    best = engine.viterbi(given_, offsets)
    roles, _ = engine.role_counts(best.edges, offsets)
    assert (roles * given_.roles).sum() == pytest.approx(best.score.sum(), rel=1e-5)
    broken = best.edges.copy()
    broken[1, 0] = -1
    with pytest.raises(SpanloomError, match="token 1"):
        engine.role_counts(broken, offsets)


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", ["mention_hypergraph", "separators", "separator_states", "bilou"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_gradient_is_the_difference_quotient(name, counting, seed):
    template = TEMPLATES[name]
    given_, offsets = potentials(template, [5, 2], 2, seed)
    engine = ENGINES[counting](template)
    sums = engine.expectations(given_, offsets)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        t, r, k = (int(rng.integers(size)) for size in given_.roles.shape)
        step = np.float32(2.0**-7)
        up, down = given_.roles.copy(), given_.roles.copy()
        up[t, r, k] += step
        down[t, r, k] -= step
        width = float(up[t, r, k]) - float(down[t, r, k])
        high = engine.log_partition(Potentials(up, given_.constants), offsets).sum()
        low = engine.log_partition(Potentials(down, given_.constants), offsets).sum()
        assert (high - low) / width == pytest.approx(sums.roles[t, r, k], abs=1e-3)


@pytest.mark.parametrize("method", ["expectations", "viterbi"])
def test_threads_change_nothing(method):
    template = TEMPLATES["bilou"]
    given_, offsets = potentials(template, list(range(40)), 1, seed=1)
    work = getattr(SubgraphEngine(template), method)
    for a, b in zip(work(given_, offsets, SERIAL), work(given_, offsets, Threads(2)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("score", [30.0, -30.0])
def test_sums_of_a_long_text_are_beyond_any_float(score):
    """Every tag scores the same, so that log Z is known: exp(60,000) at 2,000 tokens."""
    template = chain_template([str(tag) for tag in range(5)], lambda tag, after: True)
    same = Potentials(np.full((2003, 5, 1), score, np.float32), np.zeros((25, 1), np.float32))
    sums = SubgraphEngine(template).expectations(same, np.array([0, 2000, 2003]))
    assert sums.log_partition[:, 0] == pytest.approx([n * (score + math.log(5)) for n in (2000, 3)])
    assert sums.roles == pytest.approx(np.full(same.roles.shape, 0.2))


@pytest.mark.parametrize("forbidden", [None, 0.2])
@pytest.mark.parametrize("name", ["bilou", "separators", "semi_markov"])
def test_sentences_side_by_side_change_nothing(name, forbidden):
    template, lengths = TEMPLATES[name], [3, 17, 1, 9, 40, 9, 2]
    given_, offsets = potentials(template, lengths, 2, seed=5)
    allowed, engine = mask(template, offsets, 2, 5, forbidden), SubgraphEngine(template)
    together = engine.expectations(given_, offsets, allowed=allowed)
    for n, rows in enumerate(map(slice, offsets[:-1].tolist(), offsets[1:].tolist())):
        own = None if allowed is None else allowed[rows]
        alone = engine.expectations(
            Potentials(given_.roles[rows], given_.constants), np.array([0, lengths[n]]), allowed=own
        )
        np.testing.assert_array_equal(alone.log_partition[0], together.log_partition[n])
        np.testing.assert_array_equal(alone.roles, together.roles[rows])
        np.testing.assert_array_equal(alone.each[0], together.each[n])


@pytest.mark.parametrize("forbidden", [None, 0.2])
@pytest.mark.parametrize("counts", [True, False])
def test_types_that_need_much_room_take_turns_and_change_nothing(forbidden, counts, monkeypatch):
    template, kinds = TEMPLATES["separators"], 5
    given_, offsets = potentials(template, [3, 40, 1, 9], kinds, seed=5)
    allowed, engine = mask(template, offsets, kinds, 5, forbidden), SubgraphEngine(template)
    work = engine.expectations if counts else engine.log_partition
    at_once = work(given_, offsets, allowed=allowed)
    for types in (1, 2, 3):
        states = engine.parts[0].program.states
        monkeypatch.setattr("spanloom.hypergraph.subgraphs._ROOM", 8 * 40 * types * (len(template.roles) + states))
        for whole, part in zip(at_once, work(given_, offsets, allowed=allowed), strict=True):
            np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("name", ["bio", "separators", "bilou"])
def test_constants_that_are_no_numbers_are_never_nothing(name):
    """A weight that is NaN shows in what it takes part in; what it takes no part in is as without it."""
    template = TEMPLATES[name]
    for number in range(len(template.constants)):
        given_, offsets = potentials(template, [1], 1, seed=2)
        without = SubgraphEngine(template).expectations(given_, offsets)
        given_.constants[number] = np.nan
        found = SubgraphEngine(template).expectations(given_, offsets)
        assert np.isnan(found.log_partition).any() or found.roles == pytest.approx(without.roles)


@pytest.mark.parametrize("forbidden", [None, 0.2])
def test_constrained_paths(forbidden):
    """Any set of allowed hyperedges at some tokens: the sum over the structures that keep to it."""
    template = TEMPLATES["separators"]
    given_, offsets = potentials(template, [2, 5], 2, seed=8)
    rng = np.random.default_rng(5)
    free = mask(template, offsets, 2, 6, forbidden)
    allowed = (rng.random((3, len(template.edges))) < 0.7).astype(np.uint8)
    paths = Paths(
        np.array([1, 1]),
        np.array([1, 0]),
        np.array([1, 3]),
        np.array([0, 3, 4]),
        np.array([0, 1, 2, 1]),
        np.ones(4, np.int64),
        allowed,
    )
    found = SubgraphEngine(template).path_probability(given_, offsets, paths, allowed=free)
    for q, (k, steps) in enumerate([(1, {1: 0, 2: 1, 3: 2}), (0, {3: 1})]):
        scores = sentence_scores(template, given_, offsets, 1, k, free)
        weights = {s: math.exp(total(scores, s)) for s in reference.subgraphs(template, 5)}
        kept = sum(w for s, w in weights.items() if all(allowed[steps[t], e] for t, e in s if t in steps))
        assert found[q] == pytest.approx(kept / sum(weights.values()))
        assert kept < sum(weights.values())


@pytest.mark.parametrize("forbidden", [None, 0.1])
@pytest.mark.parametrize("name", ["bilou", "separators", "semi_markov"])
def test_paths_side_by_side_change_nothing(name, forbidden):
    """Each probability is the same to the last bit, whatever else is asked: also beside scores that are enormous."""
    template, lengths = TEMPLATES[name], [3, 17, 1, 9, 40, 9, 2, 9, 8, 7, 300, 5]
    given_, offsets = potentials(template, lengths, 2, seed=4)
    given_.roles[offsets[5] : offsets[6]] *= 30
    free, rng = mask(template, offsets, 2, 4, forbidden), np.random.default_rng(7)
    allowed = (rng.random((3, len(template.edges))) < 0.9).astype(np.uint8)
    sentence = np.repeat(np.arange(len(lengths)), 6)
    first = rng.integers(0, np.array(lengths)[sentence])
    size = np.minimum(rng.integers(1, 30, len(sentence)), np.array(lengths)[sentence] - first)
    number, kind, row = np.arange(len(sentence)), rng.integers(0, 2, len(sentence)), rng.integers(0, 3, len(sentence))
    engine = SubgraphEngine(template)
    together = engine.path_probability(
        given_, offsets, Paths(sentence, kind, first, np.append(number, len(number)), row, size, allowed), allowed=free
    )
    assert np.count_nonzero((together > 0) & (together < 1)) > 0
    for q in number:
        one = slice(q, q + 1)
        paths = Paths(sentence[one], kind[one], first[one], np.array([0, 1]), row[one], size[one], allowed)
        np.testing.assert_array_equal(engine.path_probability(given_, offsets, paths, allowed=free), together[one])


@pytest.mark.parametrize("size", [0, 1, 12, 35, 300])
@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", ["bilou", "separators", "semi_markov"])
def test_paths_of_enormous_scores(name, counting, size):
    """Where numbers could vanish, flows are led in the log domain: no probability shows which was taken."""
    template, length = TEMPLATES[name], 4
    given_, offsets = potentials(template, [length], 1, seed=3)
    roles, constants = (np.float32(size) * part for part in given_)
    roles[1, 0] = -np.inf
    given_, rng = Potentials(roles, constants), np.random.default_rng(size)
    allowed = (rng.random((4, len(template.edges))) < 0.7).astype(np.uint8)
    ones = np.ones(4, np.int64)
    paths = Paths(0 * ones, 0 * ones, np.array([0, 1, 2, 3]), np.arange(5), np.arange(4), ones, allowed)
    found = ENGINES[counting](template).path_probability(given_, offsets, paths)
    scores = sentence_scores(template, given_, offsets, 0, 0, None)
    listed = [(total(scores, one), one) for one in getattr(reference, counting)(template, length)]
    every = reference.log_sum([score for score, _ in listed])
    for q in range(4):
        kept = [score for score, one in listed if all(allowed[q, e] for t, e in one if t == q)]
        expected = math.exp(reference.log_sum(kept) - every) if kept else 0.0
        assert found[q] == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", TEMPLATES)
@given(seed=st.integers(0, 2**32 - 1), forbidden=st.sampled_from([None, 0.15]))
@settings(max_examples=3, deadline=None)
def test_samples_come_with_their_probabilities(name, counting, seed, forbidden):
    template, draws = TEMPLATES[name], 2000
    length = min(reference.listable(template, 60), 3)
    given_, offsets = potentials(template, [2, length], 2, seed)
    allowed = mask(template, offsets, 2, seed, forbidden)
    engine = ENGINES[counting](template)
    drawn = engine.sample(given_, offsets, 1, 1, draws, seed=seed, allowed=allowed)
    assert drawn == engine.sample(given_, offsets, 1, 1, draws, seed=seed, allowed=allowed)
    scores = sentence_scores(template, given_, offsets, 1, 1, allowed)
    weights = Counter()
    for structure in structures(template, length, counting):
        weights[structure] += math.exp(total(scores, structure))
    whole = sum(weights.values())
    assert len(drawn) == (draws if whole else 0)
    found = Counter(drawn)
    assert found.keys() <= {structure for structure, weight in weights.items() if weight}
    for structure, weight in weights.items() if whole else ():
        p = weight / whole
        assert abs(found[structure] - draws * p) <= 6 * math.sqrt(draws * p * (1 - p)) + 3


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", ["shared", "separators", "mention_hypergraph"])
def test_probability_of_a_structure_under_a_mask(name, counting):
    template = TEMPLATES[name]
    engine = ENGINES[counting](template)
    given_, offsets = potentials(template, [3, 4], 2, seed=3)
    best = engine.viterbi(given_, offsets)
    allowed = np.ones((7, len(template.edges), 2), bool)
    heads = [edge.head for edge in template.edges]
    chosen = next(e for e in best.edges[2, 0].tolist() if heads.count(heads[e]) > 1)
    allowed[2, chosen, 0] = False
    plain = engine.log_probability(given_, offsets, best.edges)
    found = engine.log_probability(given_, offsets, best.edges, allowed=allowed)
    assert np.isneginf(found[0, 0])
    np.testing.assert_array_equal(found[1], plain[1])
    other = engine.viterbi(given_, offsets, allowed=allowed)
    within = engine.log_probability(given_, offsets, other.edges, allowed=allowed)
    assert within[0, 0] > engine.log_probability(given_, offsets, other.edges)[0, 0]


@pytest.mark.parametrize("wrong", [np.ones((7, 2, 2), bool), np.ones((7, 11, 2))])
def test_masks_of_other_shapes_or_types(wrong):
    engine = SubgraphEngine(TEMPLATES["separators"])
    given_, offsets = potentials(engine.template, [3, 4], 2, seed=3)
    with pytest.raises(UsageError, match="allowed is of shape"):
        engine.expectations(given_, offsets, allowed=wrong)
