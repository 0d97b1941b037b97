"""The semi-Markov chain against a sum over all ways to cut a text into segments, written out from the definition."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.errors import UsageError
from spanloom.hypergraph import DerivationEngine, Potentials, SubgraphEngine
from spanloom.structures import MentionTable
from spanloom.structures.chain import OVERLAP
from spanloom.structures.semi_markov import MOST_TOKENS, SURFACES, SemiMarkov

TYPES = ("x", "y")
LONGEST = [1, 2, 3, None]


def cuts(length, longest, at=0):
    """Every way to cut tokens ``at`` to ``length``, as (first, end, type); type None for a token outside."""
    if at == length:
        yield ()
        return
    for rest in cuts(length, longest, at + 1):
        yield ((at, at + 1, None), *rest)
    for end in range(at + 1, min(length, at + (longest or length)) + 1):
        for rest in cuts(length, longest, end):
            yield from (((at, end, name), *rest) for name in TYPES)


def score(segments, roles, constants):
    """Of segments, from functions role and token -> score, and pair of labels -> score."""
    total = 0.0
    for first, end, name in segments:
        if name is None:
            total += roles("O", first)
            continue
        total += roles(f"B-{name}", first) + sum(roles(f"I-{name}", t) for t in range(first + 1, end))
        total += roles(f"E-{name}", end - 1) + roles((name, end - first), end - 1)
    return total + sum(constants(f"{a[2] or 'O'} {b[2] or 'O'}") for a, b in pairwise(segments))


def scorers(structure, seed, length):
    template = structure.template(TYPES)
    rng = np.random.default_rng(seed)
    roles = rng.normal(0, 1, (length, len(template.roles), 1)).astype(np.float32)
    constants = rng.normal(0, 1, (len(template.constants), 1)).astype(np.float32)

    def role(name, token):
        if isinstance(name, tuple):
            name = f"{name[0]} {min(name[1], structure.lengths)}"
        return float(roles[token, template.roles.index(name), 0])

    def constant(name):
        return float(constants[template.constants.index(name), 0])

    return template, Potentials(roles, constants), role, constant


@pytest.mark.parametrize("engine", [SubgraphEngine, DerivationEngine])
@pytest.mark.parametrize("longest", LONGEST)
@given(seed=st.integers(0, 2**32 - 1), length=st.integers(1, 5))
@settings(max_examples=10, deadline=None)
def test_sums_best_and_probabilities(longest, engine, seed, length):
    structure = SemiMarkov(longest)
    template, potentials, role, constant = scorers(structure, seed, length)
    offsets = np.array([0, length])
    every = list(cuts(length, longest))
    scores = np.array([score(segments, role, constant) for segments in every])
    log_z = np.logaddexp.reduce(scores)
    model = engine(template)
    assert model.log_partition(potentials, offsets)[0, 0] == pytest.approx(log_z)
    best = model.viterbi(potentials, offsets)
    assert best.score[0, 0] == pytest.approx(scores.max())
    found = structure.decode(best.edges, offsets, TYPES).rows()
    assert found == [(0, TYPES.index(k), ((a, b),)) for a, b, k in every[scores.argmax()] if k]
    mentions = sorted({piece for segments in every for piece in segments if piece[2]})
    table = MentionTable.build([(0, TYPES.index(k), ((a, b),)) for a, b, k in mentions])
    probabilities = model.path_probability(potentials, offsets, structure.paths(table, TYPES))
    for piece, probability in zip(mentions, probabilities, strict=True):
        with_it = [s for segments, s in zip(every, scores, strict=True) if piece in segments]
        assert probability == pytest.approx(np.exp(np.logaddexp.reduce(with_it) - log_z), rel=1e-5)


@pytest.mark.parametrize("longest", LONGEST)
def test_every_cut_is_written_and_read(longest):
    structure, offsets = SemiMarkov(longest), np.array([0, 4])
    engine = SubgraphEngine(structure.template(TYPES))
    for segments in cuts(4, longest):
        rows = [(0, TYPES.index(k), ((a, b),)) for a, b, k in segments if k]
        encoded = structure.encode(MentionTable.build(rows), offsets, TYPES)
        assert not encoded.lost
        engine.role_counts(encoded.edges, offsets)  # refuses what is no structure
        assert structure.decode(encoded.edges, offsets, TYPES).rows() == rows


def test_long_mentions_and_overlaps_and_gaps():
    rows = [(0, 0, ((0, 9),)), (0, 1, ((2, 4),)), (0, 0, ((10, 11), (12, 13))), (1, 1, ((0, 7),))]
    table, offsets = MentionTable.build(rows), np.array([0, 14, 24])
    any_length = SemiMarkov().encode(table, offsets, TYPES)
    assert set(any_length.lost) == {1, 2}
    assert any_length.lost[1] == OVERLAP
    assert SemiMarkov().decode(any_length.edges, offsets, TYPES).rows() == [rows[0], rows[3]]
    short = SemiMarkov(6)
    assert short.holds(table).tolist() == [False, True, False, False]
    assert short.encode(table, offsets, TYPES).lost.keys() == {0, 2, 3}
    assert "more than 6 tokens" in short.encode(table, offsets, TYPES).lost[0]
    assert short.decode(short.encode(table, offsets, TYPES).edges, offsets, TYPES).rows() == [rows[1]]


def test_the_surfaces_of_segments_are_features():
    assert SemiMarkov(2).templates() == ("w[0]", "w[-1]|w[0]")
    assert len(SemiMarkov().templates()) == SURFACES
    assert len(SemiMarkov(20).templates()) == SURFACES


@pytest.mark.parametrize("longest", [0, -1, MOST_TOKENS + 1])
def test_lengths_that_cannot_be(longest):
    with pytest.raises(UsageError, match=f"longest is {longest}"):
        SemiMarkov(longest)
