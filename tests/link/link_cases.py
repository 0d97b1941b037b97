"""Small searches with random weights, and their derivations listed one by one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from spanloom.hashing import mixed
from spanloom.link.arrays import Data, Forms, WeightTable
from spanloom.link.learning import Search, filled_table, new_table
from spanloom.native import Kernel

ALL = 255


def search(model, data, work, sentence, local, width, forced, labels, choices, learn, margin):
    """How many steps were taken, and whether the best derivation is the gold one; its back pointers are in ``work``."""
    found, picked = np.empty(len(work.parent), np.int32), np.empty(len(work.parent), np.int32)
    right = np.zeros(1, np.int64)
    given = (model, data, work, sentence, local, width, forced, labels, choices, learn, margin)
    return Kernel("link_search")(*given, found, picked, right), bool(right[0])


def trace(work, steps, labels, choices):
    slot = 0
    for i in range(steps - 1, -1, -1):
        labels[i], choices[i], slot = work.label[i, slot], work.choice[i, slot], work.parent[i, slot]


def change(table, key, delta, step):
    Kernel("link_change")(table, np.array([key], np.uint64), np.array([delta], float), step)


def weight(table, key):
    found = np.empty(1, np.float32)
    Kernel("link_weights")(table, np.array([key], np.uint64), found)
    return found[0]


class Case(NamedTuple):
    """A sentence to search."""

    search: Search
    data: Data
    local: np.ndarray


def make_data(lengths: list[int], types: int, seed: int, share: float = 0.5, concepts: int = 6) -> Data:
    """Sentences of one document each, with random spans and candidates."""
    random = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    tokens = int(offsets[-1])
    words = mixed(1, random.integers(0, 5, tokens))
    rows, counts = [], []
    for length in lengths:
        own = [(a, b) for a in range(length) for b in range(a + 1, length + 1) if random.random() < share]
        rows += own
        counts.append(len(own))
    sizes = random.integers(0, 4, len(rows))
    candidates = [random.permutation(concepts)[:size] for size in sizes]
    concept = np.concatenate([np.zeros(0, np.int64), *candidates]).astype(np.int32)
    spans = np.array(rows, np.int32).reshape(-1, 2)
    keys = random.integers(1, 50, (len(rows), types, 2)).astype(np.uint64)
    return Data(
        offsets, np.arange(len(lengths)), words, words + np.uint64(1), words + np.uint64(2),
        random.integers(0, 3, (tokens, 2)).astype(np.uint8),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), spans[:, 0].copy(), spans[:, 1].copy(),
        random.integers(0, 2, len(rows)).astype(np.uint8), keys,
        random.integers(50, 60, (len(rows), 2)).astype(np.uint64),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), concept,
        random.integers(1, 4, len(concept)).astype(np.uint8),
        random.integers(60, 90, (len(concept), 3)).astype(np.uint64),
    )  # fmt: skip


def make_case(length: int, types: int, seed: int, width: int, longest: int = 3, groups: int = ALL) -> Case:
    """A sentence with random scores of roles; weights come by `weigh`."""
    random = np.random.default_rng(seed + 1000)
    data = make_data([length], types, seed)
    names = mixed(2, np.arange(6)), mixed(3, np.arange(6)), np.arange(6) % 3 + 1
    search = Search(Forms(*names), groups, types, longest, width)
    return Case(search, data, random.normal(size=(length, search.roles)).astype(np.float32))


def derivations(length: int, types: int, longest: int, data: Data) -> Iterator[tuple[list[int], list[int]]]:
    """All derivations of the first sentence: labels and choices at the actions, the closing step with them."""
    spans = {pair: n for n, pair in enumerate(zip(data.span_first.tolist(), data.span_end.tolist(), strict=True))}
    for labels in product(range(1 + 2 * types), repeat=length):
        entities, first = [], -1
        sound = True
        for t, label in enumerate([*labels, 0]):
            inside = label > 0 and label % 2 == 0
            if inside and (first < 0 or labels[t - 1] not in (label, label - 1) or t - first >= longest):
                sound = False
                break
            if first >= 0 and not inside:
                entities.append((first, t))
                first = -1
            if label % 2 == 1:
                first = t
        if not sound:
            continue
        ways = []
        for pair in entities:
            span = spans.get(pair, -1)
            ways.append(range(1 + (0 if span < 0 else int(data.cand_ptr[span + 1] - data.cand_ptr[span]))))
        for picked in product(*ways):
            choices = [-1] * (length + 1)
            for (_, end), choice in zip(entities, picked, strict=True):
                choices[end] = choice
            yield [*labels, 0], choices


def score(case: Case, table: WeightTable, labels: list[int], choices: list[int]) -> float:
    """The score of a derivation: the weights of its features, as `walk` lists them, one by one."""
    keys, roles = listed(case, table, labels, choices)
    known = dict(zip(table.keys.tolist(), table.weights.tolist(), strict=True))
    total = sum(known.get(key, 0.0) for key in keys if key)
    return total + sum(float(case.local[t, r]) for t, r in roles)


def listed(case: Case, table: object, labels: list[int], choices: list[int], begin: int = 0) -> tuple[list[int], list]:
    """The keys and roles of a derivation."""
    steps = len(labels)
    work = case.search.workspace(case.data)
    model = case.search.model(table)
    roles, keys = np.empty((2 * steps, 2), np.int64), np.empty(steps * 192, np.uint64)
    counts = np.zeros(2, np.int64)
    Kernel("link_walk")(
        model, case.data, work, 0, np.array(labels, np.int32), np.array(choices, np.int32), begin, steps, False, roles,
        keys, counts,
    )  # fmt: skip
    a, b = counts.tolist()
    return keys[:b].tolist(), roles[:a].tolist()


def weigh(case: Case, seed: int) -> object:
    """A table that gives every feature of every derivation a random weight."""
    length = len(case.local)
    empty = new_table(0)
    seen: dict[int, None] = {}
    for labels, choices in derivations(length, case.search.types, case.search.longest, case.data):
        seen.update(dict.fromkeys(listed(case, empty, labels, choices)[0]))
    keys = np.array([key for key in seen if key], np.uint64)
    return filled_table(keys, np.random.default_rng(seed).normal(size=len(keys)).astype(np.float32))


def grow(keys: list[int], deltas: list[float]) -> object:
    """A table after some changes."""
    table = new_table(1024)
    for step, (key, delta) in enumerate(zip(keys, deltas, strict=True), 1):
        change(table, np.uint64(key), delta, step)
    return table
