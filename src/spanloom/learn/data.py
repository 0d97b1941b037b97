"""What learning needs of a corpus: the matrix of features, the engine, and the gold structures."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spanloom.features import Sparse
from spanloom.hypergraph import Edges, Engine, Floats, Ints, Singles
from spanloom.scoring import Weights


@dataclass(frozen=True)
class TrainingSet:
    """A corpus as arrays.

    Args:
        engine: the structure's template, with a way of counting.
        matrix: (T, F) binary.
        offsets: (N + 1,) first token of each sentence.
        edges: (T, K, D) the gold hyperedges.
        group_sizes: (F,) how many features share each row; a row's penalty is divided by it.
        counts: (F,) how many tokens have each feature.
    """

    engine: Engine
    matrix: Sparse
    offsets: Ints
    edges: Edges
    group_sizes: Singles
    counts: NDArray[np.int32]
    gold_roles: Singles = field(init=False)
    """(T, R, K) how often the gold structures have each role, counted as the engine counts."""
    gold_constants: Floats = field(init=False)
    """(C, K)."""

    def __post_init__(self) -> None:
        roles, constants = self.engine.role_counts(self.edges, self.offsets)
        object.__setattr__(self, "gold_roles", roles)
        object.__setattr__(self, "gold_constants", constants)

    def constant_counts(self, sentences: Ints) -> Floats:
        """(C, K) how often gold structures of some sentences use each constant."""
        return self.engine.constant_counts(self.edges, self.offsets, sentences)

    @property
    def zeros(self) -> Weights:
        """Weights of the right shapes, all zero."""
        _, roles, types = self.gold_roles.shape
        return Weights.zeros(len(self.group_sizes), roles, len(self.gold_constants), types)
