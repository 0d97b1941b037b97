"""The lattices against enumeration: best tags, sums, probabilities of words and mentions; tags and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from segment_helpers import TYPES, enumerate_joint, random_potentials

from spanloom.errors import UsageError
from spanloom.segment.constraints import allowed_pairs, constraints_of
from spanloom.segment.lattice import (
    Labels,
    Lattice,
    Segments,
    mention_lattice,
    pair_lattice,
    product_lattice,
    segments,
    word_lattice,
)
from spanloom.segment.tags import begins, word_numbers

CONSTRAINTS = {
    "whole words": constraints_of(TYPES),
    "single word": constraints_of(TYPES, ["drug"]),
    "of a user": constraints_of(TYPES, ["drug"], ["long name begins -> word continues", "* inside -> not word ends"]),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("seed", range(4))
def test_the_product_is_the_best_of_all_pairs_and_their_sum(name: str, seed: int) -> None:
    constraints = CONSTRAINTS[name]
    random = np.random.default_rng(seed)
    words, mentions = word_lattice(), mention_lattice(TYPES)
    product = product_lattice(TYPES, allowed_pairs(constraints, TYPES))
    offsets = np.array([0, 4, 5, 5, 7])
    sides = random_potentials(words, 7, random), random_potentials(mentions, 7, random)
    weight = 0.5 + seed / 2
    potentials = product.potentials(*sides, weight)
    labels, score = product.best(potentials, offsets), product.engine.viterbi(potentials, offsets).score
    total = product.engine.log_partition(potentials, offsets)
    for n, span in enumerate(zip(offsets.tolist(), offsets[1:].tolist(), strict=False)):
        if span[0] == span[1]:
            continue
        every = enumerate_joint((words, sides[0]), (mentions, sides[1]), constraints, span, weight)
        best = max(every)
        assert score[n, 0] == pytest.approx(best.score, abs=1e-4)
        assert tuple(labels.words[slice(*span)].tolist()) == best.words
        assert tuple(labels.mentions[slice(*span)].tolist()) == best.mentions
        assert total[n, 0] == pytest.approx(np.logaddexp.reduce([joint.score for joint in every]), abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_of_words_and_mentions_are_shares_of_the_sum(seed: int) -> None:
    constraints = CONSTRAINTS["single word"]
    random = np.random.default_rng(seed)
    words, mentions = word_lattice(), mention_lattice(TYPES)
    product = product_lattice(TYPES, allowed_pairs(constraints, TYPES))
    offsets = np.array([0, 1, 5])
    sides = random_potentials(words, 5, random), random_potentials(mentions, 5, random)
    potentials = product.potentials(*sides)
    every = enumerate_joint((words, sides[0]), (mentions, sides[1]), constraints, (1, 5))
    chances = np.exp([joint.score for joint in every])
    chances /= chances.sum()
    spans = [(first, end) for first in range(4) for end in range(first + 1, 5)]
    for side, bases in ((0, [0]), (1, [1, 5])):
        for base in bases:
            asked = Segments(np.ones(len(spans), np.int64), *np.array(spans).T.copy(), np.full(len(spans), base))
            found = product.probabilities(potentials, offsets, asked, words=side == 0)
            expected = np.zeros(len(spans))
            for joint, chance in zip(every, chances, strict=True):
                tags = np.array(joint[1 + side])
                own = segments(tags, np.array([0, 4]), outside=side == 1)
                for i, span in enumerate(spans):
                    expected[i] += chance * any(
                        (first, end, kind) == (*span, base)
                        for first, end, kind in zip(*map(np.ndarray.tolist, own[1:]), strict=True)
                    )
            assert found == pytest.approx(expected, abs=1e-5)


def test_words_on_their_own_have_probabilities_too() -> None:
    words = word_lattice()
    random = np.random.default_rng(0)
    potentials, offsets = random_potentials(words, 2, random), np.array([0, 2])
    one, two = (
        Segments(*(np.array(column) for column in ([0], [0], [2], [0]))),
        Segments(*(np.array(column) for column in ([0], [0], [1], [0]))),
    )
    both = [words.probabilities(potentials, offsets, asked, words=True)[0] for asked in (one, two)]
    assert sum(both) == pytest.approx(1)


@given(st.lists(st.lists(st.booleans(), max_size=6), max_size=4))
@settings(max_examples=50, deadline=None)
def test_words_become_tags_and_tags_words(sentences: list[list[bool]]) -> None:
    starts = np.array([bool(i == 0 or begin) for sentence in sentences for i, begin in enumerate(sentence)], bool)
    offsets = np.cumsum([0, *map(len, sentences)])
    numbers = word_numbers(starts, offsets)
    assert begins(numbers).tolist() == starts.tolist()
    lattice = word_lattice()
    labels = Labels(numbers, numbers[:0])
    if len(numbers):
        assert lattice.read(lattice.write(labels, offsets)).words.tolist() == numbers.tolist()
    found = segments(numbers, offsets, outside=False)
    assert int((found.end - found.first).sum()) == len(numbers)


@pytest.mark.parametrize("make", [pair_lattice, product_lattice])
def test_pairs_are_written_and_read(make: object) -> None:
    lattice: Lattice = make(TYPES, allowed_pairs(CONSTRAINTS["whole words"], TYPES))  # type: ignore[operator]
    labels = Labels(np.array([0, 2, 3, 0, 2]), np.array([1, 2, 3, 0, 0]))
    offsets = np.array([0, 3, 5])
    edges = lattice.write(labels, offsets)
    assert [side.tolist() for side in lattice.read(edges)] == [side.tolist() for side in labels]
    assert lattice.engine.role_counts(edges, offsets)[0].sum() == (10 if make is product_lattice else 15)


def test_too_many_types_are_refused() -> None:
    types = [f"type{i}" for i in range(61)]
    with pytest.raises(UsageError, match="there are 61 mention types, but this lattice holds at most 60"):
        mention_lattice(types)
    for make in (pair_lattice, product_lattice):
        with pytest.raises(UsageError, match="25 mention types, but this lattice holds at most 24"):
            make(types[:25], allowed_pairs(constraints_of(types[:25]), types[:25]))
