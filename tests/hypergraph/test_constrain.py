"""The best structure with a path and the best one without it, against all structures."""

from __future__ import annotations

import math
import tracemalloc
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.hypergraph import ENGINES, Child, Hyperedge, Paths, Potentials, Template, reference
from spanloom.hypergraph.constrain import meeting_kinds, rivals
from spanloom.structures import STRUCTURES, MentionTable, structure_of

TYPES = ("x", "y")
COMPONENTS = 2


def template_of(name):
    return structure_of(name, components=COMPONENTS).template(TYPES)


@cache
def every_structure(name, length):
    return list(reference.subgraphs(template_of(name), length))


@cache
def every_mention(name, length):
    """All mentions that the structure holds, of up to two components, with every head where there are heads."""
    ranges = list(combinations(range(length + 1), 2))
    found = [(r,) for r in ranges] + [(r, s) for r in ranges for s in ranges if r[1] < s[0]]
    kinds = range(len(TYPES) if STRUCTURES[name].joint else 1)
    rows = [(0, kind, pieces) for kind in kinds for pieces in found]
    heads = None
    if STRUCTURES[name].heads:
        pairs = [(row, head) for row in rows for head in ranges if row[2][0][0] <= head[0] and head[1] <= row[2][-1][1]]
        rows, heads = [row for row, _ in pairs], [head for _, head in pairs]
    table = MentionTable.build(rows, heads)
    return table.take(structure_of(name, components=COMPONENTS).holds(table))


def scores_of(template, potentials, counting, length, choices):
    names = template.roles
    roles = [dict(zip(names, row, strict=True)) for row in potentials.roles[:, :, 0].tolist()]
    constants = dict(zip(template.constants, potentials.constants[:, 0].tolist(), strict=True))
    table = reference.edge_scores(template, roles, constants)
    times = (
        reference.multiplicity(template, choices, length) if counting == "derivations" else dict.fromkeys(choices, 1)
    )
    return math.fsum(times[choice] * table[choice[0]][choice[1]] for choice in choices)


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", STRUCTURES)
@given(seed=st.integers(0, 2**32 - 1), data=st.data())
@settings(max_examples=6, deadline=None)
def test_against_all_structures(name, counting, seed, data):
    structure, template = structure_of(name, components=COMPONENTS), template_of(name)
    length = data.draw(st.integers(1, reference.listable(template)))
    rng = np.random.default_rng(seed)
    potentials = Potentials(
        rng.normal(0, 2, (length, len(template.roles), 1)).astype(np.float32),
        rng.normal(0, 1, (len(template.constants), 1)).astype(np.float32),
    )
    mentions = every_mention(name, length)
    number = data.draw(st.integers(0, len(mentions) - 1))
    paths = structure.paths(mentions.take(np.arange(len(mentions)) == number), TYPES)
    ways = [(first, paths.spread(way)) for way, first in enumerate(paths.first.tolist())]

    def has_path(choices):
        return any(
            all(rows[t - first, e] for t, e in choices if first <= t < first + len(rows)) for first, rows in ways
        )

    found = rivals(ENGINES[counting](template), potentials, paths)
    best = [-math.inf, -math.inf]
    for choices in every_structure(name, length):
        without = not has_path(choices)
        best[without] = max(best[without], scores_of(template, potentials, counting, length, choices))
    np.testing.assert_allclose(found.score, best, rtol=1e-5, atol=1e-5)
    for edges, score, wanted in zip(found.edges, found.score, (True, False), strict=True):
        choices = sorted((t, e) for t, (row,) in enumerate(edges.tolist()) for e in row if e >= 0)
        assert tuple(choices) in every_structure(name, length)
        assert has_path(choices) == wanted
        assert scores_of(template, potentials, counting, length, choices) == pytest.approx(score, abs=1e-4)


def test_where_every_structure_has_the_path():
    only = Template(("A",), "A", frozenset({"A"}), (Hyperedge("on", "A", (Child("A", 1),)),))
    nothing = Potentials(np.zeros((2, 0, 1), np.float32), np.zeros((0, 1), np.float32))
    zero = np.zeros(1, np.int64)
    always = Paths.build(zero, zero, zero, zero[:, None], zero[:, None] + 1, np.ones((1, 1), np.uint8))
    found = rivals(ENGINES["subgraphs"](only), nothing, always)
    assert found.score.tolist() == [0.0, -math.inf]


@pytest.mark.parametrize("name", STRUCTURES)
def test_kinds_that_meet(name):
    """Which kinds stand at one token of some structure, against all structures."""
    template = template_of(name)
    length = reference.listable(template)
    seen = np.zeros((2, len(template.kinds), len(template.kinds)), bool)
    for choices in every_structure(name, length):
        for token in range(length):
            heads = {template.kinds.index(template.edges[e].head) for t, e in choices if t == token}
            for a in heads:
                seen[min(token, 1), a, list(heads)] = True
    met = meeting_kinds(template)
    assert not (seen & ~met).any()
    if length >= 4:  # near the end of a text less is reached
        assert (seen == met).mean() > 0.9


def test_memory_does_not_grow_with_the_square_of_a_mention():
    structure, tokens = STRUCTURES["separators"], 1500
    template = structure.template(TYPES)
    potentials = Potentials(np.ones((tokens, len(template.roles), 1), np.float32), np.zeros((0, 1), np.float32))
    paths = structure.paths(MentionTable.build([(0, 0, ((0, tokens),))]), TYPES)
    tracemalloc.start()
    found = rivals(ENGINES["subgraphs"](template), potentials, paths)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.score[1] > -math.inf
    assert peak < 200e6
