"""What several annotators say, against all structures of short sentences and counts by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learn_helpers import corpus

from spanloom.hypergraph import ENGINES, Potentials, reference
from spanloom.learn import Objective
from spanloom.learn.annotators import _DRAWS, _SHARE, Rates, Voice, VotesTarget, mixture, rates_of, votes_of
from spanloom.structures import STRUCTURES, MentionTable


def edges_of(picks: Any, length: int, depth: int) -> Any:
    edges = np.full((length, 1, depth), -1, np.int16)
    for token, edge in picks:
        edges[token, 0, (edges[token, 0] >= 0).sum()] = edge
    return edges


@cache
def listed(name: str, length: int) -> tuple[Any, ...]:
    """All structures of a sentence, and their counts of roles and of constants."""
    engine = ENGINES["subgraphs"](STRUCTURES[name].template(["x"]))
    every = list(reference.subgraphs(engine.template, length))
    counts = [engine.role_counts(edges_of(picks, length, engine.depth), np.array([0, length])) for picks in every]
    return every, *(np.array(each) for each in zip(*counts, strict=True))


class Short:
    """A short sentence of a structure: all that it could hold, and what three annotators say."""

    def __init__(self, name: str, data: Any) -> None:
        self.template = STRUCTURES[name].template(["x"])
        self.engine = ENGINES["subgraphs"](self.template)
        self.length = min(reference.listable(self.template), 4)
        self.offsets = np.array([0, self.length])
        self.every, self.counts, self.constants = listed(name, self.length)
        roles = STRUCTURES[name].start_roles(["x"])
        self.starts = np.array([i for i, role in enumerate(self.template.roles) if role in roles], np.int64)
        flags = st.lists(st.booleans(), min_size=self.length, max_size=self.length)
        self.voices = [
            Voice.of(
                self.engine, self.offsets, edges_of(data.draw(st.sampled_from(self.every)), self.length, self.depth),
                self.starts, np.array(data.draw(flags))[:, None], data.draw(st.booleans()),
            )
            for _ in range(3)
        ]  # fmt: skip
        self.random = np.random.default_rng(data.draw(st.integers(0, 99)))

    @property
    def depth(self) -> int:
        return self.engine.depth


@pytest.mark.parametrize("name", STRUCTURES)
@given(data=st.data())
@settings(max_examples=6, deadline=None)
def test_posterior_is_that_of_all_structures(name: str, data: Any) -> None:
    short = Short(name, data)
    shape = short.length, len(short.template.roles), 1
    scores = Potentials(
        short.random.normal(size=shape).astype(np.float32),
        short.random.normal(size=(len(short.template.constants), 1)).astype(np.float32),
    )
    expected = short.random.uniform(size=shape).astype(np.float32)
    rates = [rates_of(voice, expected, short.starts) for voice in short.voices]
    tokens = np.arange(short.length)
    roles = scores.roles + sum(votes_of(v, r, short.starts, tokens) for v, r in zip(short.voices, rates, strict=True))
    found = short.engine.expectations(Potentials(roles, scores.constants), short.offsets)
    logs = np.tensordot(short.counts, scores.roles, 3) + np.tensordot(short.constants, scores.constants, 2)
    for voice, own in zip(short.voices, rates, strict=True):
        said = [[_said(voice, own, short.starts, t, r) for r in range(shape[1])] for t in range(short.length)]
        logs += np.tensordot(short.counts[..., 0], np.array(said), 2)
    chances = np.exp(logs - np.max(logs))
    chances /= chances.sum()
    np.testing.assert_allclose(found.roles, np.tensordot(chances, short.counts, 1), atol=1e-4)


def _said(voice: Voice, rates: Rates, starts: Any, token: int, role: int) -> float:
    """How much likelier a role of y makes what is said at its token, in logarithms, from probabilities."""
    if not voice.speaks[token, 0]:
        return 0.0
    if role not in starts:
        return float(_SHARE * rates.others[voice.marks[token, 0], role])
    row = starts.tolist().index(role)
    found, false = rates.found[row, 0], rates.false[row, 0]
    if voice.starts[token, row, 0]:
        return float(_SHARE * np.log(found / false))
    return float(np.log((1 - found) / (1 - false))) if voice.whole else 0.0


@pytest.mark.parametrize("name", STRUCTURES)
@given(data=st.data())
@settings(max_examples=4, deadline=None)
def test_rates_are_counts(name: str, data: Any) -> None:
    """What is said at a token, given the token before and what starts, counted in dictionaries."""
    short = Short(name, data)
    expected = short.random.uniform(size=(short.length, len(short.template.roles), 1)).astype(np.float32)
    others = [r for r in range(len(short.template.roles)) if r not in short.starts]
    for voice in short.voices:
        has = short.engine.role_counts(voice.edges, short.offsets)[0][..., 0] > 0
        rates = rates_of(voice, expected, short.starts)
        said, context = Counter[Any](), Counter[Any]()
        keys = []
        for token in range(short.length):
            before = None if token == 0 else tuple(has[token - 1].tolist())
            where = before, tuple(has[token, short.starts].tolist())
            keys.append((where, (where, tuple(has[token, others].tolist()))))
            if voice.speaks[token, 0]:
                context[where] += 1
                said[keys[-1][1]] += 1
        for role in others:
            for where, what in keys:
                if not said[what]:
                    continue
                usual = said[what] / context[where]
                rows = [t for t in range(short.length) if voice.speaks[t, 0]]
                both = sum(float(expected[t, role, 0]) for t in rows if keys[t][1] == what)
                total = sum(float(expected[t, role, 0]) for t in rows if keys[t][0] == where)
                chance = (both + _DRAWS * usual) / (total + _DRAWS)
                number = voice.marks[[one[1] for one in keys].index(what), 0]
                np.testing.assert_allclose(rates.others[number, role], np.log(chance / usual), atol=1e-6)


def test_who_marks_nothing_says_nothing_of_borders_and_counts_once() -> None:
    structure = STRUCTURES["separators"]
    engine, offsets = ENGINES["subgraphs"](structure.template(["x"])), np.array([0, 5])
    none, long = (
        structure.encode(MentionTable.build(rows), offsets, ["x"]).edges for rows in ([], [(0, 0, ((0, 5),))])
    )
    starts = np.array([0])
    speaks = np.ones((5, 1), bool)
    silent, loud = (Voice.of(engine, offsets, edges, starts, speaks, True) for edges in (none, long))
    expected = engine.role_counts(long, offsets)[0]
    votes = votes_of(silent, rates_of(silent, expected, starts), starts, np.arange(5))
    assert (votes[:, 0] < 0).all()
    np.testing.assert_allclose(votes[:, 1:], 0, atol=1e-6)
    votes = votes_of(loud, rates_of(loud, expected, starts), starts, np.arange(5))
    assert votes[0, 0] > 0
    assert votes[4, 1] > 0  # where the annotator ends the mention, its end is likelier


def test_mixture_is_the_mean_of_those_who_say_something() -> None:
    structure = STRUCTURES["separators"]
    engine, offsets = ENGINES["subgraphs"](structure.template(["x"])), np.array([0, 2, 4])
    tables = [[(0, 0, ((0, 1),)), (1, 0, ((0, 1),))], [(1, 0, ((1, 2),))]]
    edges = [structure.encode(MentionTable.build(rows), offsets, ["x"]).edges for rows in tables]
    speaks = [np.ones((4, 1), bool), np.array([[False], [False], [True], [True]])]
    voices = [Voice.of(engine, offsets, e, np.array([0]), s, True) for e, s in zip(edges, speaks, strict=True)]
    found = mixture(engine, offsets, voices).roles[:, 0, 0]
    np.testing.assert_allclose(found.astype(float), [1, 0, 0.5, 0.5], atol=1e-3)


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", ["bio", "separators", "mention_hypergraph", "shared"])
def test_gradient_under_votes_is_the_difference_quotient(name: str, counting: str) -> None:
    data, _, _ = corpus(name, counting, 2, [4, 0, 3, 5])
    rng = np.random.default_rng(1)
    _, tokens, roles, _, types = data.target.shape
    votes = rng.normal(0, 2, (tokens, roles, types)).astype(np.float32)
    objective = Objective(replace(data, target=VotesTarget(data.engine, data.offsets, votes)), l2=0.1)
    point, gradient = rng.normal(0, 1, objective.size), np.empty(objective.size, np.float32)
    objective.value_and_gradient(point.astype(np.float32), gradient)
    for _ in range(4):
        step = rng.normal(0, 1, objective.size)
        step *= 2.0**-6 / np.linalg.norm(step)
        more, less = (
            objective.value_and_gradient((point + side * step).astype(np.float32), np.empty_like(gradient))
            for side in (1, -1)
        )
        assert more - less == pytest.approx(2 * gradient.astype(float) @ step, rel=0.02, abs=2e-4)


def test_who_says_nothing_teaches_nothing() -> None:
    data, _, _ = corpus("separators", "subgraphs", 2, [4, 0, 3, 5])
    _, tokens, roles, constants, types = data.target.shape
    scores = np.random.default_rng(3).normal(0, 1, (tokens, roles, types)).astype(np.float32)
    potentials = Potentials(scores, np.zeros((constants, types), np.float32))
    silent = VotesTarget(data.engine, data.offsets, np.zeros_like(scores))
    np.testing.assert_array_equal(
        silent.target_counts(potentials).roles, data.engine.expectations(potentials, data.offsets).roles
    )
    some, rows = np.array([3, 0]), np.r_[7:12, 0:4]
    part = silent.target_counts(Potentials(scores[rows], potentials.constants), some, rows)
    np.testing.assert_allclose(part.roles, silent.target_counts(potentials).roles[rows], atol=1e-6)
