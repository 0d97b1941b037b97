"""The chains against enumeration: best tags, sums, probabilities of words and mentions; tags and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from segment_helpers import TYPES, enumerate_joint, joined, random_potentials, scored_at_random, untrained

from spanloom.errors import UsageError
from spanloom.hypergraph import SubgraphEngine
from spanloom.segment.chains import PAIRS, Tagging, product_model, taggings, write_labels
from spanloom.segment.constraints import constraints_of
from spanloom.structures import MentionTable, Words
from spanloom.structures.base import contiguous_table
from spanloom.structures.product import MENTION_CHAIN, WORD_CHAIN, WORD_TYPES, Labels

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
    chains = untrained()
    offsets = np.array([0, 4, 5, 5, 7])
    sides = scored_at_random(chains, 7, random)
    weight = 0.5 + seed / 2
    product = joined(chains, sides, constraints, weight)
    labels = product.best(offsets)
    score = product.model.engine.viterbi(product.potentials, offsets).score
    total = product.model.engine.log_partition(product.potentials, offsets)
    for n, span in enumerate(zip(offsets.tolist(), offsets[1:].tolist(), strict=False)):
        if span[0] == span[1]:
            continue
        every = enumerate_joint(*sides, constraints, span, weight)
        best = max(every)
        assert score[n, 0] == pytest.approx(best.score, abs=1e-4)
        assert tuple(labels.words[slice(*span)].tolist()) == best.words
        assert tuple(labels.mentions[slice(*span)].tolist()) == best.mentions
        assert total[n, 0] == pytest.approx(np.logaddexp.reduce([joint.score for joint in every]), abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_of_words_and_mentions_are_shares_of_the_sum(seed: int) -> None:
    constraints = CONSTRAINTS["single word"]
    random = np.random.default_rng(seed)
    chains = untrained()
    offsets = np.array([0, 1, 5])
    sides = scored_at_random(chains, 5, random)
    product = joined(chains, sides, constraints)
    every = enumerate_joint(*sides, constraints, (1, 5))
    chances = np.exp([joint.score for joint in every])
    chances /= chances.sum()
    spans = [(first, end) for first in range(4) for end in range(first + 1, 5)]
    for side, chain, kinds in ((0, WORD_CHAIN, [0]), (1, MENTION_CHAIN, [0, 1])):
        for kind in kinds:
            asked = MentionTable.build([(1, side + kind, (span,)) for span in spans])
            found = product.model.probabilities(product.potentials, offsets, asked)
            expected = np.zeros(len(spans))
            for joint, chance in zip(every, chances, strict=True):
                own = chain.mentions_of(np.array(joint[1 + side]), np.array([0, 4])).rows()
                expected += [chance * ((0, kind, (span,)) in own) for span in spans]
            assert found == pytest.approx(expected, abs=1e-5)


def test_words_on_their_own_have_probabilities_too() -> None:
    words = untrained().models["words"]
    potentials, offsets = random_potentials(words, 2, np.random.default_rng(0)), np.array([0, 2])
    asked = MentionTable.build([(0, 0, ((0, 2),)), (0, 0, ((0, 1),))])
    assert words.probabilities(potentials, offsets, asked).sum() == pytest.approx(1)


@given(st.lists(st.lists(st.booleans(), max_size=6), max_size=4))
@settings(max_examples=50, deadline=None)
def test_words_become_tags_and_tags_words(sentences: list[list[bool]]) -> None:
    starts = np.array([bool(i == 0 or begin) for sentence in sentences for i, begin in enumerate(sentence)], bool)
    offsets = np.cumsum([0, *map(len, sentences)])
    first = np.flatnonzero(starts)
    sentence = np.searchsorted(offsets, first, side="right") - 1
    base = offsets[sentence]
    words = contiguous_table(sentence, 0 * first, first - base, np.append(first[1:], len(starts))[: len(first)] - base)
    tags, lost = Words().tags_of(words, offsets)
    assert not lost
    assert [int(tag in (0, 3)) for tag in tags] == starts.astype(int).tolist()
    assert Words().mentions_of(tags, offsets).rows() == words.rows()
    edges = Words().encode(words, offsets, WORD_TYPES).edges
    assert Words().decode(edges, offsets, WORD_TYPES).rows() == words.rows()


@pytest.mark.parametrize("own", [False, True])
def test_pairs_are_written_and_read(own: bool) -> None:
    constraints = CONSTRAINTS["whole words"]
    structure, types = taggings(TYPES, constraints, pairs=True)[PAIRS]
    model = product_model(untrained(), constraints)
    labels = Labels(np.array([0, 2, 3, 0, 2]), np.array([1, 2, 3, 0, 0]))
    offsets = np.array([0, 3, 5])
    structure = structure if own else model.structure
    engine = SubgraphEngine(structure.template(types))
    edges = write_labels(Tagging(structure, types), labels, offsets)
    found = structure.project(structure.read_tags(edges, types), types)
    assert [side.tolist() for side in found] == [side.tolist() for side in labels]
    assert engine.role_counts(edges, offsets)[0].sum() == (15 if own else 10)


def test_too_many_types_are_refused() -> None:
    types = [f"type{i}" for i in range(61)]
    with pytest.raises(UsageError, match="there are 61 mention types, but this lattice holds at most 60"):
        taggings(types, (), pairs=False)
    [(structure, own)] = taggings(types[:25], constraints_of(types[:25]), pairs=True).values()
    with pytest.raises(UsageError, match="25 mention types, but this lattice holds at most 24"):
        structure.template(own)
