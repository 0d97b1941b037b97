"""A corpus as learning needs it: the matrix of features, the engine, and the target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import UsageError
from spanloom.features import Sparse
from spanloom.hypergraph import Engine, Ints, Singles
from spanloom.learn.target import Target
from spanloom.scoring import Weights


@dataclass(frozen=True)
class TrainingSet:
    """A corpus as arrays.

    Args:
        engine: the structure's template, with a way of counting.
        matrix: (T, F) binary, but for dense columns.
        offsets: (N + 1,) first token of each sentence.
        target: what the model is to expect, such as gold structures.
        group_sizes: (F,) how many features share each row; a row's penalty is divided by it.
        counts: (F,) how many tokens have each feature.

    Raises:
        UsageError: the target is of another corpus or another structure.
    """

    engine: Engine
    matrix: Sparse
    offsets: Ints
    target: Target
    group_sizes: Singles
    counts: NDArray[np.int32]

    def __post_init__(self) -> None:
        template, found = self.engine.template, [*self.target.shape[:4]]
        expected = [len(self.offsets) - 1, int(self.offsets[-1]), len(template.roles), len(template.constants)]
        if found != expected:
            raise UsageError(
                f"the target is of {found} sentences, tokens, roles and constants, the corpus of {expected}; "
                "give the target of this corpus and this structure"
            )

    @property
    def zeros(self) -> Weights:
        """Weights of the right shapes, all zero."""
        *_, roles, constants, types = self.target.shape
        return Weights.zeros(len(self.group_sizes), roles, constants, types)

    def single(self, weights: Weights) -> Weights:
        """Return weights of single features: those of a row that g share, divided by g."""
        return Weights(weights.features / self.group_sizes[:, None, None], weights.constants)
