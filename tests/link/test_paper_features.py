"""The templates of the paper's Table 2 against an extraction of their own, over all derivations of small sentences."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import paper_features
import pytest
from link_cases import Case, derivations, listed, make_case, weigh
from test_beam import search

from spanloom.link import phases as groups

PAPER = groups.RECOGNITION | groups.NORMALIZATION | groups.JOINT | groups.LANGUAGE | groups.NIL
SIZES = [(1, 1, 0), (3, 1, 1), (4, 1, 2), (4, 1, 3), (5, 1, 6), (3, 2, 4), (3, 2, 5)]
Derivation = tuple[tuple[int, ...], tuple[int, ...]]


def every(case: Case) -> list[Derivation]:
    search_of = case.search
    found = derivations(len(case.local), search_of.types, search_of.longest, case.data)
    return [(tuple(labels), tuple(choices)) for labels, choices in found]


def columns(counts: list[Counter[Any]]) -> dict[Any, tuple[tuple[int, int], ...]]:
    """Of each feature, the derivations that have it, and how often."""
    rows: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for number, features in enumerate(counts):
        for feature, times in features.items():
            rows[feature].append((number, times))
    return {feature: tuple(row) for feature, row in rows.items()}


def both(case: Case, table: object) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """The columns of the features from Table 2, and of the keys that the program lists."""
    plain = [paper_features.features(case, list(labels), list(choices)) for labels, choices in every(case)]
    keys = [
        Counter(filter(None, listed(case, table, list(labels), list(choices))[0])) for labels, choices in every(case)
    ]
    return columns(plain), columns(keys)


@pytest.mark.parametrize(("length", "types", "seed"), SIZES)
def test_derivations_have_the_features_of_table_2(length: int, types: int, seed: int) -> None:
    """A feature that is missing, late or too much stands in other derivations than the plain one does."""
    case = make_case(length, types, seed, width=16, groups=PAPER)
    plain, keys = both(case, weigh(case, seed))
    assert Counter(keys.values()) == Counter(plain.values())


@pytest.mark.parametrize(("length", "types", "seed"), SIZES)
def test_scores_are_those_of_table_2(length: int, types: int, seed: int) -> None:
    """The best derivation of an unlimited beam, and its score, from plain features with the same weights."""
    case = make_case(length, types, seed, width=20_000, groups=PAPER)
    table: Any = weigh(case, seed)
    weights = dict(zip(table.keys.tolist(), table.weights.tolist(), strict=True))
    plain, keys = both(case, table)
    # features that stand in the same derivations are told apart by nothing, so any of their keys will do
    of_column: dict[Any, list[int]] = defaultdict(list)
    for key, column in keys.items():
        of_column[column].append(key)
    weight = {feature: weights[of_column[column].pop()] for feature, column in plain.items()}

    def score(labels: tuple[int, ...], choices: tuple[int, ...]) -> float:
        features = paper_features.features(case, list(labels), list(choices))
        return sum(weight[feature] * times for feature, times in features.items()) + roles(case, labels)

    totals = {(labels, choices): score(labels, choices) for labels, choices in every(case)}
    labels, choices, value = search(case, table)
    assert value == pytest.approx(max(totals.values()), abs=1e-3)
    assert totals[tuple(labels), tuple(choices)] == pytest.approx(value, abs=1e-3)


def roles(case: Case, labels: tuple[int, ...]) -> float:
    """What the words around the tokens say: each label, and each pair of labels as far as the roles tell it."""
    types, total = case.search.types, 0.0
    pairs = 1 + 2 * types
    before = 0
    for t, label in enumerate(labels[:-1]):
        kind = (label - 1) // 2
        if label == 0:
            pair = pairs if before == 0 else pairs + 1 + (before - 1) // 2
        elif label % 2:
            pair = pairs + 1 + types + 2 * kind + (before != 0)
        else:
            pair = pairs + 1 + 3 * types + 2 * kind + (before == label)
        total += float(case.local[t, label]) + float(case.local[t, pair])
        before = label
    return total


def test_an_entity_is_seen_by_the_action_that_closes_it() -> None:
    case = make_case(3, 1, 3, width=4, groups=groups.RECOGNITION)
    word = ("word", int(case.data.words[0]))
    found = paper_features.features(case, [1, 0, 0, 0], [-1, 0, -1, -1])
    assert found["4b", (word,), 1, 0] == found["4b", (word,), 0, 0] == 1  # by the action that closes it, and the next
    assert found["6", "nothing", word, 0] == 2
