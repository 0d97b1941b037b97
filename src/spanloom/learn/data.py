"""What learning needs of a corpus: the matrix of features, the engine, and the gold counts."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray

from spanloom.features import Sparse
from spanloom.hypergraph import Engine, Floats, Ints, Singles
from spanloom.scoring import Weights


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """A corpus as arrays.

    Args:
        engine: the structure's template, with a way of counting.
        matrix: (T, F) binary.
        offsets: (N + 1,) first token of each sentence.
        gold_roles: (T, R, K) how often the gold structures have each role.
        gold_constants: (C, K).
        group_sizes: (F,) how many features share each row; a row's penalty is divided by it.
        counts: (F,) int, how many tokens have each feature.
    """

    engine: Engine
    matrix: Sparse
    offsets: Ints
    gold_roles: Singles
    gold_constants: Floats
    group_sizes: Singles
    counts: NDArray

    @property
    def zeros(self) -> Weights:
        """Weights of the right shapes, all zero."""
        _, roles, types = self.gold_roles.shape
        return Weights.zeros(len(self.group_sizes), roles, len(self.gold_constants), types)
