"""What the engine says of mentions: equal models, deficient models, gold likelihoods, the probability of a path."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structure_helpers import (
    CHAINS,
    EVERY,
    FLAGGED,
    LISTED,
    TYPES,
    every_range,
    every_set,
    lane_scores,
    offsets_of,
    picks,
    quads,
    random_potentials,
    sub_hypergraphs,
    table,
    types_of,
)

from spanloom.hypergraph import ENGINES, DerivationEngine, Potentials, SubgraphEngine, reference
from spanloom.parallel import Threads
from spanloom.structures import READINGS, STRUCTURES
from spanloom_lab.sharing import shares_nodes

NONDEFICIENT = [name for name, structure in STRUCTURES.items() if not shares_nodes(structure.template(TYPES))]
SEEDS = st.integers(0, 2**32 - 1)


def every_mention(lengths, kinds):
    return [(n, k, *piece) for n, length in enumerate(lengths) for k in range(kinds) for piece in every_range(length)]


def as_roles_of(name, other, given_):
    """The potentials of one structure for another with the same roles; constants of its own are 0."""
    source, target = STRUCTURES[name].template(()), STRUCTURES[other].template(())
    order = [source.roles.index(role) for role in target.roles]
    lanes = given_.roles.shape[2]
    return Potentials(
        np.ascontiguousarray(given_.roles[:, order]), np.zeros((len(target.constants), lanes), np.float32)
    )


@pytest.mark.parametrize("other", ["separators", "separator_states"])
@given(seed=SEEDS, lengths=st.lists(st.integers(0, 12), min_size=1, max_size=4))
@settings(max_examples=20, deadline=None)
def test_mention_hypergraph_counted_by_subgraphs_is_the_multigraph(other, seed, lengths):
    """The deficiency of Muis and Lu (2017), section 5.2, is in the counting, not in the graph."""
    offsets = offsets_of(lengths)
    one, two = STRUCTURES["mention_hypergraph"], STRUCTURES[other]
    engines = [SubgraphEngine(structure.template(TYPES)) for structure in (one, two)]
    potentials = random_potentials(one.template(TYPES), sum(lengths), 2, seed)
    both = [potentials, as_roles_of(one.name, other, potentials)]
    sums = [engine.expectations(given_, offsets) for engine, given_ in zip(engines, both, strict=True)]
    np.testing.assert_allclose(sums[0].log_partition, sums[1].log_partition, rtol=1e-6, atol=1e-6)
    in_order = as_roles_of(one.name, other, Potentials(sums[0].roles, sums[0].constants)).roles
    np.testing.assert_allclose(in_order, sums[1].roles, atol=1e-5)
    mentions = table(every_mention(lengths, 2))
    found = [
        engine.path_probability(given_, offsets, structure.paths(mentions, TYPES))
        for engine, given_, structure in zip(engines, both, (one, two), strict=True)
    ]
    np.testing.assert_allclose(*found, atol=1e-6)
    best = [engine.viterbi(given_, offsets) for engine, given_ in zip(engines, both, strict=True)]
    filled = np.diff(offsets) > 0
    np.testing.assert_allclose(best[0].score[filled], best[1].score[filled], rtol=1e-5, atol=1e-5)
    for reading in READINGS:
        read = [
            structure.decode(b.edges, offsets, TYPES, reading) for structure, b in zip((one, two), best, strict=True)
        ]
        assert read[0].rows() == read[1].rows()


@pytest.mark.parametrize("name", NONDEFICIENT)
@given(seed=SEEDS, lengths=st.lists(st.integers(0, 9), min_size=1, max_size=4))
@settings(max_examples=10, deadline=None)
def test_both_countings_agree_where_no_node_is_shared(name, seed, lengths):
    structure, offsets = STRUCTURES[name], offsets_of(lengths)
    template = structure.template(TYPES)
    potentials = random_potentials(template, sum(lengths), structure.lanes(TYPES), seed)
    engines = [engine(template) for engine in ENGINES.values()]
    sums = [engine.expectations(potentials, offsets) for engine in engines]
    np.testing.assert_allclose(sums[0].log_partition, sums[1].log_partition, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(sums[0].roles, sums[1].roles, atol=1e-5)
    np.testing.assert_allclose(sums[0].constants, sums[1].constants, atol=1e-4)
    asked = structure.paths(table(every_mention(lengths, 2)), TYPES)
    found = [engine.path_probability(potentials, offsets, asked) for engine in engines]
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


@pytest.mark.parametrize("length", range(1, 7))
def test_the_mention_hypergraph_has_a_derivation_for_each_set_of_mentions(length):
    """Muis and Lu (2017), section 5.2: the normalization term scores all combinations, 2^(n (n + 1) / 2) of them."""
    template = STRUCTURES["mention_hypergraph"].template(())
    nothing, offsets = random_potentials(template, length, 1, seed=0, spread=0.0), offsets_of([length])
    derivations, subgraphs = (
        engine(template).log_partition(nothing, offsets)[0, 0] for engine in (DerivationEngine, SubgraphEngine)
    )
    assert derivations == pytest.approx(length * (length + 1) / 2 * math.log(2))
    assert math.exp(subgraphs) == pytest.approx(len(sub_hypergraphs("mention_hypergraph", length)))
    assert (derivations > subgraphs + 0.1) == (length > 2)  # two tokens: Figure 6, nothing is ambiguous


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", FLAGGED)
@given(seed=SEEDS)
@settings(max_examples=5, deadline=None)
def test_gold_is_never_more_than_certain(name, counting, seed):
    """Each gold structure is one of those that are summed, so the likelihoods of distinct ones sum to 1 at most."""
    length = 3
    structure, sets = STRUCTURES[name], every_set(length)
    template = structure.template(TYPES)
    engine = ENGINES[counting](template)
    one = random_potentials(template, length, 1, seed)
    offsets = offsets_of([length] * len(sets))
    potentials = Potentials(np.tile(one.roles, (len(sets), 1, 1)), one.constants)
    gold = structure.encode(
        table([(n, 0, *piece) for n, chosen in enumerate(sets) for piece in chosen]), offsets, ["x"]
    ).edges
    found = np.exp(engine.log_probability(potentials, offsets, gold))[:, 0]
    likelihood = {picks(rows[:, 0]): p for rows, p in zip(np.split(gold, offsets[1:-1]), found, strict=True)}
    assert len(likelihood) == len(sub_hypergraphs(name, length))
    if name == "mention_hypergraph" and counting == "derivations":
        assert sum(likelihood.values()) < 1
    else:
        assert sum(likelihood.values()) == pytest.approx(1, abs=1e-4)


def test_gold_counted_plainly_is_more_than_certain():
    """Why gold has multiplicity: the node of the second token stands under two parents and is paid for twice."""
    structure, offsets = STRUCTURES["mention_hypergraph"], offsets_of([2])
    template = structure.template(())
    gold = structure.encode(table([(0, 0, 0, 2), (0, 0, 1, 2)]), offsets, ["x"]).edges
    plain, _ = SubgraphEngine(template).role_counts(gold, offsets)
    unfolded, _ = DerivationEngine(template).role_counts(gold, offsets)
    assert plain.sum() == 4
    assert unfolded.sum() == 5
    start = np.array([role == "S" for role in template.roles])[None, :, None]  # both are certain
    roles = np.where(plain > 0, np.where(start, 60, -3), -np.inf).astype(np.float32)
    potentials = Potentials(roles, np.zeros((0, 1), np.float32))
    log_z = DerivationEngine(template).log_partition(potentials, offsets)[0, 0]
    assert (plain[plain > 0] * roles[plain > 0]).sum() > log_z + 1
    assert (unfolded[plain > 0] * roles[plain > 0]).sum() == pytest.approx(log_z)


def enumerated(structure, potentials, offsets, mentions):
    """The probability that a sub-hypergraph, drawn at random, holds each mention."""
    template, name = structure.template(types_of(structure)), str(structure)
    masses = {}
    for n in range(len(offsets) - 1):
        length = int(offsets[n + 1] - offsets[n])
        for lane in range(structure.lanes(TYPES)) if length else ():
            scores = lane_scores(template, potentials, offsets, n, lane)
            weights = [
                (math.exp(sum(scores[t][e] for t, e in choices)), with_path)
                for choices, with_path in sub_hypergraphs(name, length)
            ]
            masses[n, lane] = weights, math.fsum(weight for weight, _ in weights)
    result = []
    for n, kind, first, end in mentions:
        weights, whole = masses[n, 0 if structure.joint else kind]
        wanted = (kind if structure.joint else 0, first, end)
        result.append(math.fsum(weight for weight, with_path in weights if wanted in with_path) / whole)
    return result


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", LISTED)
@given(seed=SEEDS, lengths=st.lists(st.integers(0, 4), min_size=1, max_size=3), data=st.data())
@settings(max_examples=8, deadline=None)
def test_path_probability_is_the_share_of_structures_with_the_path(name, counting, seed, lengths, data):
    expect = unfolded_chains if (name, counting) == ("mention_hypergraph", "derivations") else enumerated
    structure, offsets = EVERY[name], offsets_of(lengths)
    types = types_of(structure)
    template = structure.template(types)
    potentials = random_potentials(template, sum(lengths), structure.lanes(types), seed)
    held = table(every_mention(lengths, len(types)))
    mentions = data.draw(st.permutations(quads(held.take(structure.holds(held)))))
    paths = structure.paths(table(mentions), types)
    found = ENGINES[counting](template).path_probability(potentials, offsets, paths, run=Threads(2))
    np.testing.assert_allclose(found, expect(structure, potentials, offsets, mentions), rtol=1e-5, atol=1e-7)


def unfolded_chains(structure, potentials, offsets, mentions):
    """The probability that a derivation of the mention hypergraph holds each mention.

    A derivation says for each token that nothing starts there, or starts a chain of its own (S): of the copies of I
    under that start, each goes on (C), ends (E), or does both. So what starts at one token is independent of the rest.
    """
    names = structure.template(TYPES).roles

    def chains(n, kind, token):
        """Each set of ends with its weight."""
        weight = dict(zip(names, np.exp(potentials.roles[offsets[n] + token, :, kind].astype(float)), strict=True))
        yield {token + 1}, weight["E"]
        if offsets[n] + token + 1 < offsets[n + 1]:
            for ends, rest in chains(n, kind, token + 1):
                yield ends, weight["C"] * rest
                yield ends | {token + 1}, weight["C"] * weight["E"] * rest

    result = []
    for n, kind, first, end in mentions:
        here = dict(zip(names, np.exp(potentials.roles[offsets[n] + first, :, kind].astype(float)), strict=True))
        every = list(chains(n, kind, first))
        whole = 1 + here["S"] * sum(weight for _, weight in every)
        result.append(here["S"] * sum(weight for ends, weight in every if end in ends) / whole)
    return result


def test_unfolded_chains_are_the_derivations_of_the_reference():
    """The independence that `unfolded_chains` relies on, in the normalization term."""
    structure, offsets = STRUCTURES["mention_hypergraph"], offsets_of([4])
    template = structure.template(TYPES)
    potentials = random_potentials(template, 4, 1, seed=6)
    scores = lane_scores(template, potentials, offsets, 0, 0)
    totals = [sum(scores[t][e] for t, e in tree) for tree in reference.derivations(template, 4)]
    log_z = DerivationEngine(template).log_partition(potentials, offsets)[0, 0]
    assert reference.log_sum(totals) == pytest.approx(log_z)
    one_token = unfolded_chains(structure, potentials, offsets, [(0, 0, 3, 4)])[0]
    weights = dict(zip(template.roles, np.exp(potentials.roles[3, :, 0].astype(float)), strict=True))
    assert one_token == pytest.approx(weights["S"] * weights["E"] / (1 + weights["S"] * weights["E"]))
    starts = [math.exp(value - log_z) for value, tree in zip(totals, derived_starts(template, 4), strict=True) if tree]
    assert math.fsum(starts) == pytest.approx(one_token)


def derived_starts(template, length):
    """Whether each derivation starts a mention at the last token, in the order of the reference."""
    start = (length - 1, template.index("T-I"))
    return [start in tree for tree in reference.derivations(template, length)]


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", STRUCTURES)
def test_paths_where_all_but_the_gold_is_forbidden(name, counting):
    """Certain mentions have probability 1 and others 0, also where forbidden hyperedges score -inf."""
    structure, offsets = STRUCTURES[name], offsets_of([0, 5, 2])
    template = structure.template(TYPES)
    gold = [(1, 0, 1, 4), (1, 1, 4, 5), (2, 1, 0, 2)]
    edges = structure.encode(table(gold), offsets, TYPES).edges
    engine = ENGINES[counting](template)
    roles, constants = SubgraphEngine(template).role_counts(edges, offsets)
    potentials = Potentials(
        np.where(roles > 0, np.float32(60), -np.inf).astype(np.float32), np.zeros_like(constants, np.float32)
    )
    mentions = every_mention([0, 5, 2], 2)
    ways = engine.path_probability(potentials, offsets, structure.paths(table(mentions), TYPES))
    found = ways.reshape(len(mentions), -1).sum(1)
    assert found.tolist() == pytest.approx([float(mention in gold) for mention in mentions])
    assert quads(structure.decode(engine.viterbi(potentials, offsets).edges, offsets, TYPES)) == gold


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", STRUCTURES)
def test_an_empty_sentence_has_one_structure_and_it_scores_nothing(name, counting):
    structure, offsets = STRUCTURES[name], offsets_of([0, 3, 0])
    template = structure.template(TYPES)
    potentials = random_potentials(template, 3, structure.lanes(TYPES), seed=1)
    engine = ENGINES[counting](template)
    for found in (engine.log_partition(potentials, offsets), engine.viterbi(potentials, offsets).score):
        assert found.shape == (3, structure.lanes(TYPES))
        assert found[1].all()
        assert not found[[0, 2]].any()


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_gives_a_token_to_one_mention(name):
    """Over all mentions that cover a token, the probabilities sum to that of any tag but O."""
    structure, offsets = STRUCTURES[name], offsets_of([12, 30])
    template = structure.template(TYPES)
    potentials = random_potentials(template, 42, 1, seed=2)
    mentions = every_mention([12, 30], 2)
    found = SubgraphEngine(template).path_probability(potentials, offsets, structure.paths(table(mentions), TYPES))
    covered = np.zeros(42)
    for (n, _, first, end), probability in zip(mentions, found, strict=True):
        covered[offsets[n] + first : offsets[n] + end] += probability
    outside = SubgraphEngine(template).expectations(potentials, offsets).roles[:, template.roles.index("O"), 0]
    np.testing.assert_allclose(covered, 1 - outside, atol=1e-5)
