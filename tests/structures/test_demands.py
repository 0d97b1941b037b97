"""Structures that must keep to some paths, and to none of others, against all structures of short sentences."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structure_helpers import TYPES, lane_scores, offsets_of, random_potentials

from spanloom.errors import UsageError
from spanloom.hypergraph import ENGINES, reference
from spanloom.hypergraph.guards import Demands, GuardedEngine
from spanloom.structures import STRUCTURES, MentionTable

NAMES = tuple(name for name, structure in STRUCTURES.items() if not structure.heads)
LONGEST = {"shared": 3, "split": 3, "seven_tag": 4}  # that are listed in no time; 5 of the others


@cache
def every_mention(name, length):
    """All mentions of the first type that a structure can hold, of up to two components."""
    ranges = [((a, b),) for a in range(length) for b in range(a + 1, length + 1)]
    gapped = [(*one, *two) for one in ranges for two in ranges if one[0][1] < two[0][0]]
    table = MentionTable.build([(0, 0, pieces) for pieces in (*ranges, *gapped)])
    return table.take(STRUCTURES[name].holds(table))


@cache
def every_structure(name, length):
    """All structures of a copy of the template, as choices and as hyperedges, and which paths of which mentions each
    keeps to."""
    structure = STRUCTURES[name]
    template = structure.template(TYPES)
    paths = structure.paths(every_mention(name, length), TYPES)
    found = []
    for choices in reference.subgraphs(template, length):
        kept = [
            all(paths.spread(q)[t - first, e] for t, e in choices if first <= t < first + len(paths.spread(q)))
            for q, first in enumerate(paths.first.tolist())
        ]
        found.append((choices, np.array(kept).reshape(len(every_mention(name, length)), -1).any(1)))
    return found


def check(name, seed, length, spread=None):
    """Compare what the engine says under random demands with all structures."""
    random = np.random.default_rng(seed)
    structure = STRUCTURES[name]
    mentions = every_mention(name, length)
    count = int(random.integers(1, 6))
    asked = np.sort(random.choice(len(mentions), min(count, len(mentions)), replace=False))
    wanted = random.random(len(asked)) < 0.3
    template = structure.template(TYPES)
    base = ENGINES["subgraphs"](template)
    potentials = random_potentials(
        template, length, structure.lanes(TYPES), seed, spread or float(random.choice([1, 6]))
    )
    offsets = offsets_of([length])
    paths = structure.paths(mentions.take(asked), TYPES)
    ways = len(paths.sentence) // len(asked)
    demands = Demands(paths, np.repeat(np.arange(len(asked)), ways), wanted)
    engine = GuardedEngine(base, offsets, structure.lanes(TYPES), demands)
    scores = lane_scores(template, potentials, offsets, 0, 0)
    left = [
        (sum(scores[t][e] for t, e in choices), kept)
        for choices, kept in every_structure(name, length)
        if (kept[asked] == wanted).all()
    ]
    best, total = engine.viterbi(potentials, offsets), engine.log_partition(potentials, offsets)[0, 0]
    if not left:
        assert np.isneginf(best.score[0, 0])
        assert np.isneginf(total)
        assert (best.edges[:, 0] == -1).all()
        return
    weights = np.array([score for score, _ in left])
    assert total == pytest.approx(np.logaddexp.reduce(weights), abs=1e-4)
    assert best.score[0, 0] == pytest.approx(weights.max(), abs=1e-4)
    shares = np.exp(weights - np.logaddexp.reduce(weights))
    expected = shares @ np.array([kept for _, kept in left])
    every = structure.paths(mentions, TYPES)
    found = engine.path_probability(potentials, offsets, every).reshape(len(mentions), -1).sum(1)
    np.testing.assert_allclose(found, expected, atol=2e-5)
    read = set(structure.decode(best.edges, offsets, TYPES, "all").rows())
    picked = mentions.take(asked).rows()
    assert not read & {row for row, want in zip(picked, wanted, strict=True) if not want}
    own = base.log_probability(potentials, offsets, best.edges)[0, 0] + base.log_partition(potentials, offsets)[0, 0]
    assert own == pytest.approx(weights.max(), abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 2**32 - 1), length=st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_what_meets_demands_is_counted_and_nothing_else(name, seed, length):
    check(name, seed, min(length, LONGEST.get(name, 5)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(5))
def test_enormous_scores_are_added_as_logarithms(name, seed):
    check(name, seed, 3, spread=200.0)


def test_many_overlapping_demands_are_met():
    """Mentions that begin at 12 tokens and end at 13 others; paths that ask for the same are one state."""
    structure, length = STRUCTURES["separators"], 24
    every = [(0, 0, ((a, b),)) for a in range(12) for b in range(12, length + 1) if (a * 7 + b * 5) % 3]
    table = MentionTable.build(every)
    demands = Demands(structure.paths(table, TYPES), np.arange(len(table)), np.zeros(len(table), bool))
    offsets = offsets_of([length])
    engine = GuardedEngine(ENGINES["subgraphs"](structure.template(TYPES)), offsets, 2, demands)
    potentials = random_potentials(structure.template(TYPES), length, 2, 0)
    found = engine.viterbi(potentials, offsets)
    assert not set(structure.decode(found.edges, offsets, TYPES, "all").rows()) & set(every)


def test_nothing_is_forbidden_where_derivations_share_nodes():
    structure = STRUCTURES["mention_hypergraph"]
    table = MentionTable.build([(0, 0, ((0, 1),))])
    demands = Demands(structure.paths(table, TYPES), np.zeros(1, np.int64), np.zeros(1, bool))
    with pytest.raises(UsageError, match="counts derivations, in which a mention cannot be forbidden"):
        GuardedEngine(ENGINES["derivations"](structure.template(TYPES)), offsets_of([2]), 2, demands)
