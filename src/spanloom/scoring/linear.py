"""The linear scorer: sums of weights of sparse features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from spanloom.document import Batch, Document
from spanloom.errors import ModelError
from spanloom.features import FeatureIndex, FeatureSet, Sparse
from spanloom.hypergraph import Ints, Potentials
from spanloom.modelfile import Array
from spanloom.parallel import threads
from spanloom.scoring.base import Part
from spanloom.scoring.product import Weights, role_scores

__all__ = ["LinearScorer", "NamedFeatures"]

_INDEX = "index."


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

    def matrix(self, batch: Batch, n_jobs: int = 1) -> Sparse:
        """Return which weights each token has, (T, F)."""
        return self.index.lookup(self.features.keys(batch, n_jobs=n_jobs), n_jobs=n_jobs)

    def score(self, batch: Batch, n_jobs: int = 1) -> Potentials:
        """Return the potentials of a batch."""
        matrix = self.matrix(batch, n_jobs)
        with threads(n_jobs) as run:
            return role_scores(matrix, self.weights, run=run)

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

    def arrays(self, prefix: str = "") -> dict[str, Array]:
        """Return the arrays of a model file, under names that begin with a prefix."""
        arrays: dict[str, Array] = {f"{prefix}{_INDEX}{name}": array for name, array in self.index.state().items()}
        arrays[prefix + "weights"], arrays[prefix + "constants"] = self.weights
        return arrays

    @classmethod
    def from_arrays(cls, features: FeatureSet, arrays: Mapping[str, Array], prefix: str = "") -> LinearScorer:
        """Return the scorer that `arrays` was taken from.

        Raises:
            ModelError: an index that no training makes.
            KeyError: an array is missing.
        """
        weights = Weights(arrays[prefix + "weights"], arrays[prefix + "constants"])
        return cls(features, read_index(arrays, prefix), weights)

    def check(self, roles: int, constants: int, types: int, prefix: str = "") -> None:
        """Refuse weights that are not those of so many roles, constants and types.

        Raises:
            ModelError: they are not; names the array after the prefix.
        """
        shapes = ((len(self.index), roles, types), (constants, types))
        for name, array, shape in zip(("weights", "constants"), self.weights, shapes, strict=True):
            if array.shape != shape or array.dtype != np.float32:
                raise ModelError(f"{prefix + name!r} is {array.dtype} of shape {array.shape}, expected float32 {shape}")


def read_index(arrays: Mapping[str, Array], prefix: str = "") -> FeatureIndex:
    """Return the index that a model file holds under names that begin with a prefix."""
    start = prefix + _INDEX
    return FeatureIndex.from_state(
        {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
    )
