"""The linear scorer: sums of weights of sparse features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from spanloom.document import Batch, Document
from spanloom.features import FeatureIndex, FeatureSet, Sparse
from spanloom.hypergraph import Ints, Potentials, Template
from spanloom.modelfile import ModelPart
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring.base import Part
from spanloom.scoring.product import Weights, role_scores

__all__ = ["LinearScorer", "NamedFeatures"]


class NamedFeatures(NamedTuple):
    """The features of a token that a model knows.

    Args:
        names: readable.
        rows: of the index.
        weights: of single features.
    """

    names: list[str]
    rows: Ints
    weights: Weights

    def parts(self, role: int, kind: int, factor: float = 1.0) -> list[Part]:
        """See `spanloom.scoring.base.Named`."""
        values = self.weights.features[self.rows, role, kind].tolist()
        return [Part(name, factor * value) for name, value in zip(self.names, values, strict=True) if value]


@dataclass(frozen=True)
class LinearScorer:
    """A feature set with weights.

    Args:
        features: templates.
        index: which feature has which weights.
        weights: of each single feature: those of a row that g features share are divided by g.
    """

    features: FeatureSet
    index: FeatureIndex
    weights: Weights

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that documents must bring."""
        return self.features.needs

    def prepare(self, batch: Batch) -> Batch:
        """Return the batch with the computed columns that templates name."""
        return self.features.enrich(batch)

    def matrix(self, batch: Batch, run: Executor = SERIAL) -> Sparse:
        """Return which weights each token has, (T, F)."""
        return self.index.lookup(self.features.keys(batch, run=run), run=run)

    def score(self, batch: Batch, run: Executor = SERIAL) -> Potentials:
        """Return the potentials of a batch."""
        return role_scores(self.matrix(batch, run), self.weights, run=run)

    def describe(self) -> dict[str, Any]:
        """Describe the templates."""
        return {"templates": [str(template) for template in self.features.templates]}

    def named(self, document: Document, token: int) -> NamedFeatures:
        """Return the features of a token; those that the index does not know are left out."""
        pairs = self.features.named_keys(document, token)
        rows = self.index.rows(np.array([key for _, key in pairs], np.uint64))
        known = rows >= 0
        names = [name for (name, _), keep in zip(pairs, known.tolist(), strict=True) if keep]
        return NamedFeatures(names, rows[known].astype(int), self.weights)

    def with_weights(self, weights: Weights) -> LinearScorer:
        """Return the same with other weights."""
        return replace(self, weights=weights)

    def to_part(self) -> ModelPart:
        """Return the index and the weights as a part of a model file."""
        weights, constants = self.weights
        return ModelPart({}, {"weights": weights, "constants": constants}, {"index": self.index.to_part()})

    @classmethod
    def from_part(
        cls, part: ModelPart, features: FeatureSet, template: Template, types: int, index: FeatureIndex | None = None
    ) -> LinearScorer:
        """Return the scorer that `to_part` gave.

        Args:
            part: that one.
            features: templates.
            template: whose roles and constants have weights.
            types: K.
            index: where several scorers share one; the part's own when ``None``.

        Raises:
            ModelError: an index that no training makes, or weights of another shape.
        """
        index = FeatureIndex.from_part(part.part("index")) if index is None else index
        rows = part.array("weights", np.float32, len(index), len(template.roles), types)
        constants = part.array("constants", np.float32, len(template.constants), types)
        return cls(features, index, Weights(rows, constants))
