"""Features of columns beside an encoder, which reads text alone: their weights are trained along with it."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from spanloom.document import Batch
from spanloom.features import FeatureSet, index_batch
from spanloom.hypergraph import Ints, Potentials
from spanloom.parallel import Executor
from spanloom.scoring import LinearScorer, Weights, role_scores
from spanloom.scoring.encoder.scorer import EncoderScorer
from spanloom.scoring.sum import SumScorer, summed


class ColumnWeights:
    """Weights of features that are a part of an encoder's network while it is trained.

    So the optimizer changes them, the best pass keeps them, and the loss is that of the sum of both scores.

    Args:
        scorer: of the encoder, about to be trained.
        features: of columns, such as the outputs of other models.
        known, unseen: training and development data, with these columns.
        run: how features are looked up.
    """

    def __init__(self, scorer: EncoderScorer, features: FeatureSet, known: Batch, unseen: Batch, run: Executor) -> None:
        built = index_batch(features, known, run=run)
        self._scorer, self._features, self._index = scorer, features, built.index
        self._matrix = built.matrix
        self._unseen = built.index.lookup_shared(features.shared_keys(unseen, run=run), run=run)
        device = scorer.network.head.weight.device
        self._weights = nn.Parameter(torch.zeros(len(built.index), scorer.roles * scorer.types, device=device))
        scorer.network.register_parameter("columns", self._weights)

    def scores(self, rows: Ints) -> Tensor:
        """Return the (T, R * K) scores of some tokens of the training data."""
        if not len(self._index):  # all columns are empty
            return self._weights.new_zeros(len(rows), self._weights.shape[1])
        starts, ends = self._matrix.offsets[rows], self._matrix.offsets[rows + 1]
        bounds = np.append(0, (ends - starts).cumsum())
        places = np.repeat(starts - bounds[:-1], ends - starts) + np.arange(bounds[-1])
        indices, offsets = self._matrix.indices[places].astype(np.int64), bounds[:-1]
        found: Tensor = nn.functional.embedding_bag(
            torch.from_numpy(indices).to(self._weights.device), self._weights,
            torch.from_numpy(offsets).to(self._weights.device), mode="sum",
        )  # fmt: skip
        return found

    def added(self, potentials: Potentials) -> Potentials:
        """Return an encoder's potentials of the development data with those of the weights as they are now."""
        return summed(potentials, role_scores(self._unseen, self._single()))

    def summed(self) -> SumScorer:
        """Take the weights out of the network; return the encoder and the features as one scorer."""
        linear = LinearScorer(self._features, self._index, self._single())
        del self._scorer.network.columns
        return SumScorer(linear, self._scorer)

    def _single(self) -> Weights:
        """Return weights of single features; those of a row that several share are divided by their number."""
        shape = len(self._index), self._scorer.roles, self._scorer.types
        rows = self._weights.detach().cpu().numpy().reshape(shape) / self._index.group_sizes[:, None, None]
        constants = self._scorer.network.constants
        return Weights(rows.astype(np.float32), np.zeros(tuple(constants.shape), np.float32))
