"""Longer sentences than can be listed: the engine against a slow sum over frontiers, and its derivatives.

Three components take five tokens at least, and SHARED has half a million sub-hypergraphs there.
"""

import math

import numpy as np
import pytest

from spanloom.hypergraph import Potentials, SubgraphEngine, Template, reference
from spanloom.structures import STRUCTURES, MentionTable

TEMPLATES = {name: STRUCTURES[name].template(("x",)) for name in ("shared", "split", "mention_hypergraph")}


def log_partition(template: Template, scores: list[list[float]]) -> float:
    """Kind after kind and token after token, with sets of node kinds as keys; nothing is compiled or bundled."""
    frontiers = {frozenset({template.root}): 1.0}
    for row in scores:
        states = {(now, frozenset()): weight for now, weight in frontiers.items()}
        for kind in template.kinds:
            moved: dict[tuple[frozenset[str], frozenset[str]], float] = {}
            for (now, following), weight in states.items():
                choices = [(1.0, ())] if kind not in now else [
                    (math.exp(row[e]), template.edges[e].children) for e in template.edges_of(kind)
                ]  # fmt: skip
                for factor, children in choices:
                    state = (
                        (now - {kind}) | {child.kind for child in children if child.step == 0},
                        following | {child.kind for child in children if child.step == 1},
                    )
                    moved[state] = moved.get(state, 0.0) + weight * factor
            states = moved
        frontiers = {}
        for (_, following), weight in states.items():
            frontiers[following] = frontiers.get(following, 0.0) + weight
    return math.log(sum(weight for frontier, weight in frontiers.items() if frontier <= template.final))


def scores_of(template, roles):
    rows = [dict(zip(template.roles, map(float, row), strict=True)) for row in roles]
    return reference.edge_scores(template, rows)


@pytest.mark.parametrize("name", TEMPLATES)
def test_sums_and_marginals_of_longer_sentences(name):
    template, length = TEMPLATES[name], 7
    rng = np.random.default_rng(5)
    roles = rng.normal(0, 1, (length, len(template.roles), 1))
    potentials = Potentials(roles.astype(np.float32), np.zeros((0, 1), np.float32))
    roles = potentials.roles.astype(float)[..., 0]
    found = SubgraphEngine(template).expectations(potentials, np.array([0, length]))
    assert found.log_partition[0, 0] == pytest.approx(log_partition(template, scores_of(template, roles)), abs=1e-9)
    step = 1e-5
    for _ in range(12):
        token, role = rng.integers(length), rng.integers(len(template.roles))
        up, down = roles.copy(), roles.copy()
        up[token, role] += step
        down[token, role] -= step
        rise = log_partition(template, scores_of(template, up)) - log_partition(template, scores_of(template, down))
        assert found.roles[token, role, 0] == pytest.approx(rise / (2 * step), abs=1e-5)
    last = template.roles.index("E3" if name == "shared" else "E3/3" if name == "split" else "E")
    assert found.roles[-1, last, 0] > 0  # the third component is reached


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_slow_sum_is_that_of_the_listed_ones(name):
    template = TEMPLATES[name]
    roles = np.random.default_rng(1).normal(0, 1, (3, len(template.roles)))
    scores = scores_of(template, roles)
    listed = [sum(scores[t][e] for t, e in structure) for structure in reference.subgraphs(template, 3)]
    assert log_partition(template, scores) == pytest.approx(reference.log_sum(listed))


@pytest.mark.parametrize("name", ["shared", "split"])
def test_the_probability_of_a_mention_of_three_components(name):
    """What remains of the sum where only the hyperedges of the mention's path may be picked."""
    structure, template, length = STRUCTURES[name], TEMPLATES[name], 7
    roles = np.random.default_rng(2).normal(0, 1, (length, len(template.roles), 1)).astype(np.float32)
    potentials = Potentials(roles, np.zeros((0, 1), np.float32))
    offsets = np.array([0, length])
    mentions = MentionTable.build([(0, 0, ((0, 2), (3, 4), (6, 7))), (0, 0, ((2, 3), (5, 7))), (0, 0, ((1, 4),))])
    paths = structure.paths(mentions, ["x"])
    found = SubgraphEngine(template).path_probability(potentials, offsets, paths)
    scores = scores_of(template, roles[..., 0].astype(float))
    total = log_partition(template, scores)
    for q, probability in enumerate(found):
        kept = [list(row) for row in scores]
        for token, row in enumerate(paths.spread(q), paths.first[q]):
            for e in np.flatnonzero(row == 0):
                kept[token][e] = -math.inf
        assert probability == pytest.approx(math.exp(log_partition(template, kept) - total), rel=1e-6)
    assert 0 < found.min() < found.max() < 1
