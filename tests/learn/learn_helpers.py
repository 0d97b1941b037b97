"""What the tests of learning share: small random corpora, and the objective by enumeration in double precision."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from spanloom.features import FeatureIndex, Sparse, build_index
from spanloom.features.featureset import Keys
from spanloom.hypergraph import ENGINES, reference
from spanloom.learn import EdgeTarget, Objective, TrainingSet
from spanloom.structures import STRUCTURES, MentionTable

TYPES = ("x", "y")
A_GAP = MentionTable.build([(0, 0, ((0, 1), (2, 3)))])


def random_keys(rng: np.random.Generator, lengths: list[int], vocabulary: int) -> Keys:
    """Sentences of random words; each word has a few features of its own, so many features are equal everywhere."""
    words = rng.integers(0, vocabulary, sum(lengths))
    own = [rng.integers(1, 2**63, rng.integers(1, 4)).astype(np.uint64) for _ in range(vocabulary)]
    shared = rng.integers(1, 2**63, 3).astype(np.uint64)
    rows = [np.concatenate([own[word], shared[rng.random(3) < 0.5], shared[:1]]) for word in words]
    rows = [row[np.sort(np.unique(row, return_index=True)[1])] for row in rows]
    offsets = np.cumsum([0, *map(len, rows)])
    return Keys(np.concatenate([*rows, np.zeros(0, np.uint64)]), offsets)


def random_gold(rng: np.random.Generator, lengths: list[int], gaps: bool = False) -> MentionTable:
    """About one mention a sentence and type, overlapping ones too; on request some with a gap. All have heads."""
    rows, heads = [], []
    for n, length in enumerate(lengths):
        for _ in range(int(rng.integers(0, 4)) if length else 0):
            first, last = sorted(rng.integers(0, length, 2).tolist())
            middle = first + 1 + int(rng.integers(0, 2))
            whole, parted = ((first, last + 1),), ((first, middle), (last, last + 1))
            kind = int(rng.integers(0, len(TYPES)))
            rows.append((n, kind, parted if gaps and middle < last else whole))
            head = first + len(rows) % (last - first + 1)
            heads.append((head, head + 1 + (last > head and len(rows) % 2)))
    return MentionTable.build(rows, heads)


def corpus(
    name: str, counting: str, seed: int, lengths: list[int], vocabulary: int = 6, merged: bool = True
) -> tuple[TrainingSet, Keys, FeatureIndex]:
    """A training set of a structure with a way of counting; with equal features in one row each, or apart."""
    rng = np.random.default_rng(seed)
    structure = STRUCTURES[name]
    gaps = bool(structure.holds(A_GAP).all())
    keys, gold = random_keys(rng, lengths, vocabulary), random_gold(rng, lengths, gaps)
    engine = ENGINES[counting](structure.template(TYPES))
    offsets = np.cumsum([0, *lengths])
    edges = structure.encode(gold, offsets, TYPES).edges
    built = build_index(keys)
    matrix, sizes, counts = built.matrix, built.index.group_sizes, built.counts
    if not merged:
        _, numbers, counts = np.unique(keys.ids, return_inverse=True, return_counts=True)
        matrix = Sparse(numbers.astype(np.int32), keys.offsets)
        sizes, counts = np.ones(len(counts), np.float32), counts.astype(np.int32)
    target = EdgeTarget(engine, offsets, edges)
    return TrainingSet(engine, matrix, offsets, target, sizes, counts), keys, built.index


def oracle_point(objective: Objective, point: np.ndarray) -> np.ndarray:
    """A point of `Objective` as one of `Oracle`: weights, those of features over the root of their group's size."""
    weights = objective.weights(point.astype(np.float32))
    features = weights.features / np.sqrt(objective.data.group_sizes)[:, None, None]
    return np.concatenate([features.ravel(), weights.constants.ravel()]).astype(float)


class Oracle:
    """The objective of a training set of short sentences, by listing every structure; all in double precision.

    The point is the weights, those of features divided by the root of the size of their group.
    """

    def __init__(self, data: TrainingSet, l2: float) -> None:
        self.data, self.l2 = data, l2
        self.template, self.counting = data.engine.template, data.engine.counting
        self.roles, self.types = data.target.roles.shape[1:]
        self.features, self.constants = len(data.group_sizes), len(self.template.constants)
        self.scale = np.sqrt(data.group_sizes.astype(float))[:, None, None]
        bounds = data.offsets
        self.matrix = np.zeros((int(bounds[-1]), self.features))
        at = np.repeat(np.arange(int(bounds[-1])), np.diff(data.matrix.offsets))
        np.add.at(self.matrix, (at, data.matrix.indices), 1)
        self.cells = [
            (slice(a, b), k, *self._counts(data.target.edges[a:b, k].tolist(), int(b - a)))
            for a, b in pairwise(bounds)
            if b > a
            for k in range(self.types)
        ]

    def _counts(self, edges: list[list[int]], length: int) -> tuple[np.ndarray, np.ndarray]:
        """(S, T R + C) how often each structure has each role and constant; and the same of the gold one."""
        picked = tuple(sorted((t, e) for t, row in enumerate(edges) for e in row if e >= 0))
        plain = self.counting == "subgraphs"
        every = (reference.subgraphs if plain else reference.derivations)(self.template, length)
        gold = Counter(picked) if plain else reference.multiplicity(self.template, picked, length)
        return np.array([self._row(Counter(one), length) for one in every]), self._row(gold, length)

    def _row(self, choices: Counter[tuple[int, int]], length: int) -> np.ndarray:
        roles, constants = np.zeros((length, self.roles)), np.zeros(self.constants)
        for (token, number), times in choices.items():
            edge = self.template.edges[number]
            if edge.constant is not None:
                constants[self.template.constants.index(edge.constant)] += times
            for role in edge.roles:
                if token + role.step < length:
                    roles[token + role.step, self.template.roles.index(role.name)] += times
        return np.concatenate([roles.ravel(), constants])

    @property
    def size(self) -> int:
        return (self.features * self.roles + self.constants) * self.types

    def __call__(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        cut = self.features * self.roles * self.types
        weights = point[:cut].reshape(self.features, self.roles, self.types) * self.scale
        constants = point[cut:].reshape(self.constants, self.types)
        scores = np.einsum("tf,frk->trk", self.matrix, weights)
        residual, total = np.zeros_like(scores), 0.0
        of_constants = np.zeros_like(constants)
        for rows, k, counts, gold in self.cells:
            potentials = np.concatenate([scores[rows, :, k].ravel(), constants[:, k]])
            values = counts @ potentials
            top = values.max()
            log_z = top + np.log(np.exp(values - top).sum())
            total += log_z - gold @ potentials
            change = np.exp(values - log_z) @ counts - gold
            split = len(change) - self.constants
            residual[rows, :, k] = change[:split].reshape(-1, self.roles)
            of_constants[:, k] += change[split:]
        gradient = np.einsum("tf,trk->frk", self.matrix, residual) * self.scale
        flat = np.concatenate([gradient.ravel(), of_constants.ravel()])
        return total + self.l2 * float(point @ point), flat + 2 * self.l2 * point
