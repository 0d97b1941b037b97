"""A corpus as learning needs it: the matrix of features, the engine, and the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import UsageError
from spanloom.features import Built, Sparse
from spanloom.files.scratch import MEMORY, Scratch
from spanloom.hypergraph import Edges, Engine, Floats, Ints, Potentials, Singles
from spanloom.learn.target import EdgeTarget, Target, tokens_of
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import Weights


class Residual(NamedTuple):
    """What a model expects of sentences minus what is wanted, each sentence times its weight.

    Args:
        loss: summed over the sentences: log-partition minus the score of what is wanted.
        roles: (T, R, K) the gradient of the loss in the scores of roles.
        constants: (C, K) the gradient in the constants.
    """

    loss: float
    roles: Singles
    constants: Floats


@dataclass(frozen=True)
class TrainingSet:
    """A corpus as arrays.

    Args:
        engine: the structure's template, with a way of counting.
        matrix: (T, F) binary, except for dense columns.
        offsets: (N + 1,) first token of each sentence.
        target: the target of training, such as gold structures.
        group_sizes: (F,) the number of features that share each row; a row's penalty is divided by it.
        counts: (F,) the number of tokens with each feature.
        weights: (N,) of each sentence's loss; all are 1 when ``None``.
        silent: (N, K) sentences without information on a type, and without loss there; none when ``None``.
        scratch: storage of the arrays, also for others of their size that training needs.

    Raises:
        UsageError: the target is of another corpus or another structure; or a weight is negative or not finite.
    """

    engine: Engine
    matrix: Sparse
    offsets: Ints
    target: Target
    group_sizes: Singles
    counts: NDArray[np.int32]
    weights: Floats | None = None
    silent: NDArray[np.bool_] | None = None
    scratch: Scratch = MEMORY

    def __post_init__(self) -> None:
        template, found = self.engine.template, [*self.target.shape[:4]]
        expected = [len(self.offsets) - 1, int(self.offsets[-1]), len(template.roles), len(template.constants)]
        if found != expected:
            raise UsageError(
                f"the target is of {found} sentences, tokens, roles and constants, the corpus of {expected}; "
                "give the target of this corpus and this structure"
            )
        weights = np.ones(found[0]) if self.weights is None else self.weights
        if weights.shape != (found[0],) or not (np.isfinite(weights) & (weights >= 0)).all():
            raise UsageError(f"weights of sentences are wrong, expected {found[0]} numbers, none of them below 0")

    @classmethod
    def of_edges(
        cls, engine: Engine, built: Built, offsets: Ints, edges: Edges, scratch: Scratch = MEMORY, name: str = ""
    ) -> TrainingSet:
        """Return the corpus of an index with its matrix, with gold structures; arguments are those of `EdgeTarget`."""
        target, sizes = EdgeTarget(engine, offsets, edges, scratch, name), built.index.group_sizes
        return cls(engine, built.matrix, offsets, target, sizes, built.counts, scratch=scratch)

    @property
    def zeros(self) -> Weights:
        """Weights of the right shapes, all zero."""
        *_, roles, constants, types = self.target.shape
        return Weights.zeros(len(self.group_sizes), roles, constants, types)

    def single(self, weights: Weights) -> Weights:
        """Return weights of single features: those of a row that g share, divided by g."""
        return Weights(weights.features / self.group_sizes[:, None, None], weights.constants)

    def residual(
        self, potentials: Potentials, offsets: Ints, sentences: Ints | None = None, tokens: Ints | None = None,
        run: Executor = SERIAL,
    ) -> Residual:  # fmt: skip
        """Return the loss of some sentences under a model's scores, and its gradient.

        Args:
            potentials: the model's, of these tokens.
            offsets: (N + 1,) first token of each sentence, counted among these tokens.
            sentences: (N,) their numbers in the corpus; all when ``None``.
            tokens: (T,) the numbers of their tokens in the corpus.
            run: how pieces of the work are run; the result does not depend on it.
        """
        if self.weights is None:
            return self._residual(potentials, offsets, sentences, tokens, run)
        # Constants are counted over all sentences that the engine is given, so those of each weight are given apart.
        each = self.weights if sentences is None else self.weights[sentences]
        loss, roles = 0.0, np.zeros_like(potentials.roles)
        constants = np.zeros(potentials.constants.shape)
        for weight in np.unique(each).tolist():
            own = np.flatnonzero(each == weight)
            bounds, rows = tokens_of(offsets, own)
            part = self._residual(
                Potentials(potentials.roles[rows], potentials.constants), bounds,
                own if sentences is None else sentences[own], rows if tokens is None else tokens[rows], run,
            )  # fmt: skip
            loss += weight * part.loss
            roles[rows] = np.float32(weight) * part.roles
            constants += weight * part.constants
        return Residual(loss, roles, constants)

    def _residual(
        self, potentials: Potentials, offsets: Ints, sentences: Ints | None, tokens: Ints | None, run: Executor
    ) -> Residual:
        if self.silent is not None:
            silent = self.silent if sentences is None else self.silent[sentences]
            annotated = np.repeat(~silent, np.diff(offsets), axis=0)[:, None]
            potentials = Potentials(
                potentials.roles * annotated, potentials.constants
            )  # 0, so that the score is 0 there
        sums = self.engine.expectations(potentials, offsets, run)
        target_counts = self.target.target_counts(potentials, sentences, tokens)
        loss = float(sums.log_partition.sum()) - target_counts.score[0] - target_counts.score[1]
        roles = np.subtract(sums.roles, target_counts.roles, out=sums.roles)
        if self.silent is not None:
            loss -= float(sums.log_partition[silent].sum())
            roles *= annotated
        return Residual(loss, roles, sums.constants - target_counts.constants)
