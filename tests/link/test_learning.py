"""The perceptron: early update at the right step, averages as the plain definition has them, determinism."""

from __future__ import annotations

import numpy as np
import pytest
from link_cases import grow, listed, make_data, weight
from link_cases import search as search_once

from spanloom.features import Sparse
from spanloom.hashing import mixed
from spanloom.learn import Epoch
from spanloom.link.arrays import Forms
from spanloom.link.learning import (
    FREE,
    GoldDerivations,
    History,
    KeyedWeights,
    Search,
    averaged,
    grown,
    new_table,
    perceptron,
)
from spanloom.native import Kernel

NO_HISTORY = History(np.zeros(9, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))


def make_search(types: int = 1, width: int = 4, groups: int = 255) -> Search:
    return Search(Forms(mixed(2, np.arange(6)), mixed(3, np.arange(6)), np.arange(6) % 3 + 1), groups, types, 3, width)


def make_matrix(tokens: int, features: int, seed: int) -> Sparse:
    random = np.random.default_rng(seed)
    rows = [np.sort(random.choice(features, 3, replace=False)) for _ in range(tokens)]
    return Sparse(np.concatenate(rows).astype(np.int32), np.arange(0, 3 * tokens + 1, 3).astype(np.int64))


def make_gold(offsets: np.ndarray, seed: int) -> GoldDerivations:
    random = np.random.default_rng(seed)
    labels, choices = np.zeros(int(offsets[-1]), np.int32), np.full(int(offsets[-1]), -1, np.int32)
    for first, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        start = int(random.integers(first, end))
        stop = min(end, start + 2)
        labels[start], labels[start + 1 : stop] = 1, 2
        choices[stop - 1] = 0
    return GoldDerivations(labels, choices)


def step(width: int, local_bias: float) -> tuple[int, bool]:
    """A sentence of three tokens whose gold is O B I, searched while learning, with a score for O O O."""
    data = make_data([3], 1, seed=1, share=0)
    search = make_search(width=width, groups=0)
    local = np.zeros((3, search.roles), np.float32)
    local[0, 1] = -10.0  # B at the first token
    local[1, 0] = local_bias  # O at the second token
    gold = GoldDerivations(np.array([0, 1, 2], np.int32), np.array([-1, -1, 0], np.int32))
    work = search.workspace(data)
    free = np.full(3, FREE, np.int32)
    return search_once(
        search.model(new_table(256)), data, work, 0, local, width, free, gold.labels, gold.choices, True, 0.0
    )


def test_early_update_stops_where_gold_leaves_the_beam() -> None:
    assert step(1, 5.0) == (2, False)  # O wins at the second token, and a beam of 1 holds nothing else
    assert step(2, 5.0) == (3, False)  # a beam of 2 holds O B, and then O O O and O O B
    assert step(9, 5.0) == (4, False)  # a wide beam holds gold to the end, but it is not the best
    assert step(9, -5.0)[0] == 4


def test_margin_makes_gold_lose_what_it_would_win() -> None:
    data = make_data([1], 1, seed=1, share=0)
    search = make_search(groups=0)
    local = np.zeros((1, search.roles), np.float32)
    local[0, 0] = 1.0
    gold = GoldDerivations(np.zeros(1, np.int32), np.full(1, -1, np.int32))
    free = np.full(1, FREE, np.int32)
    for margin, right in ((0.0, True), (0.4, True), (0.6, False)):  # it counts for the label and for the link
        model, work = search.model(new_table(256)), search.workspace(data)
        found = search_once(model, data, work, 0, local, 4, free, gold.labels, gold.choices, True, margin)
        assert found == (2, right)


@pytest.mark.parametrize(("margin", "rate"), [(0.0, 1.0), (3.0, 1.0), (3.0, 0.25)])
def test_averages_are_those_of_the_plain_definition(margin: float, rate: float) -> None:
    """Every sentence apart, through the kernel, with the weights written down after each."""
    lengths = [3, 4, 2, 5]
    data, gold = make_data(lengths, 1, 4), make_gold(np.concatenate([[0], np.cumsum(lengths)]), 4)
    matrix, sizes = make_matrix(sum(lengths), 8, 4), np.array([1, 4, 1, 1, 9, 1, 1, 1], np.float32)
    search = make_search()
    last: list[Epoch[KeyedWeights]] = []
    perceptron(
        search, data, matrix, sizes, gold, NO_HISTORY, passes=3, seed=5, margin=margin, word_rate=rate,
        callback=lambda done: bool(last.append(done)),
    )  # fmt: skip

    weights, sums = np.zeros((8, search.roles), np.float32), np.zeros((8, search.roles))
    table, work = new_table(1 << 14), search.workspace(data)
    total, keyed, steps = np.zeros_like(sums), {}, 0
    random = np.random.default_rng(5)
    values = np.sqrt(np.float32(rate) * sizes)[matrix.indices]
    for _ in last:
        for n in random.permutation(4):
            Kernel("link_train")(
                search.model(table), data, matrix.indices, matrix.offsets, values, *gold, *NO_HISTORY, np.array([n]), 0,
                steps, weights, sums, work, np.zeros((len(work.parent), search.roles), np.float32), search.width,
                np.full(sum(lengths), FREE, np.int32), margin, np.zeros(2, np.int64),
            )  # fmt: skip
            steps += 1
            total += weights
            for key, value in zip(table.keys.tolist(), table.weights.tolist(), strict=True):
                keyed[key] = keyed.get(key, 0.0) + value
    means = KeyedWeights(total / steps * np.sqrt(rate / sizes)[:, None], table)
    np.testing.assert_allclose(last[-1].weights.roles, means.roles, atol=1e-4)
    learned = last[-1].weights.table
    found = dict(zip(learned.keys.tolist(), learned.weights.tolist(), strict=True))
    for key, value in keyed.items():
        assert key == 0 or found.get(key, 0.0) == pytest.approx(value / steps, abs=1e-4)


def test_the_same_seed_gives_the_same_weights() -> None:
    lengths = [3, 4, 2, 5]
    data, gold = make_data(lengths, 2, 6), make_gold(np.concatenate([[0], np.cumsum(lengths)]), 6)
    matrix, sizes = make_matrix(sum(lengths), 8, 6), np.ones(8, np.float32)
    runs: list[list[Epoch[KeyedWeights]]] = [[], []]
    for run in runs:
        perceptron(make_search(2), data, matrix, sizes, gold, NO_HISTORY, passes=2, seed=1,
                   callback=lambda done, run=run: bool(run.append(done)))  # fmt: skip
    for one, other in zip(*runs, strict=True):
        assert one.objective == other.objective
        assert one.weights.roles.tobytes() == other.weights.roles.tobytes()
        assert one.weights.table.keys.tobytes() == other.weights.table.keys.tobytes()
        assert one.weights.table.weights.tobytes() == other.weights.table.weights.tobytes()


def test_it_learns_its_training_data() -> None:
    lengths = [3, 4, 2, 5]
    data, gold = make_data(lengths, 1, 8), make_gold(np.concatenate([[0], np.cumsum(lengths)]), 8)
    tokens = sum(lengths)
    matrix = Sparse(np.arange(tokens, dtype=np.int32), np.arange(tokens + 1))  # each token has a feature of its own
    updates: list[float] = []
    perceptron(make_search(), data, matrix, np.ones(tokens, np.float32), gold, NO_HISTORY, passes=60, seed=0,
               callback=lambda done: bool(updates.append(done.objective)))  # fmt: skip
    assert updates[-1] == 0


def test_a_table_keeps_everything_when_it_grows() -> None:
    keys = [key << 59 | key for key in range(1, 8)]  # their slots are neighbours
    table = grow(keys, [float(key) for key in range(1, 8)])
    larger = grown(table)
    assert len(larger.keys) == 2 * len(table.keys)
    assert larger.used[0] == 7
    for step, key in enumerate(keys, 1):
        assert weight(larger, np.uint64(key)) == weight(table, np.uint64(key)) == step
        assert larger.sums[list(larger.keys).index(key)] == step * step
    assert weight(larger, np.uint64(9 << 59 | 9)) == weight(larger, np.uint64(0)) == 0
    assert sorted(averaged(larger, 7).keys.tolist()) == sorted(keys[:-1])  # w - u / 7 is 0 for the last


def test_a_table_with_too_little_room_stops_before_a_sentence() -> None:
    """Nothing is written behind the end, and with more room it goes on as if there had been enough."""
    lengths = [3, 4, 2, 5]
    data, gold = make_data(lengths, 1, 6), make_gold(np.concatenate([[0], np.cumsum(lengths)]), 6)
    search, free = make_search(), np.full(sum(lengths), FREE, np.int32)
    matrix, work = make_matrix(sum(lengths), 8, 6), search.workspace(data)
    arrays = (matrix.indices, matrix.offsets, np.ones(len(matrix.indices), np.float32))
    found = []
    for room in (1 << 11, 1 << 16):
        table, at, stops = new_table(room), 0, 0
        weights, sums = np.zeros((8, search.roles), np.float32), np.zeros((8, search.roles))
        while at < 4:
            reached = np.zeros(2, np.int64)
            Kernel("link_train")(
                search.model(table), data, *arrays, *gold, *NO_HISTORY, np.arange(4), at, at, weights, sums, work,
                np.zeros((len(work.parent), search.roles), np.float32), search.width, free, 0.0, reached,
            )  # fmt: skip
            at = int(reached[0])
            if at < 4:
                table, stops = grown(table), stops + 1
        used = int(table.used[0])
        found.append((table.keys[:used].tolist(), table.weights[:used].tolist()))
    assert stops == 0
    assert found[0] == found[1]


def test_gold_and_own_features_differ_only_from_the_first_difference_on() -> None:
    from link_cases import make_case, weigh

    case = make_case(3, 1, 3, width=4)
    table = weigh(case, 1)
    one, _ = listed(case, table, [0, 0, 1, 0], [-1, -1, -1, 0])
    other, _ = listed(case, table, [0, 0, 0, 0], [-1, -1, -1, -1])
    assert one[:4] == other[:4]
