"""The linear scorer: sums of weights of sparse features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from spanloom.document import Batch, Document
from spanloom.errors import ModelError
from spanloom.features import FeatureIndex, FeatureSet, Sparse
from spanloom.features.word_vectors import VECTOR_COLUMN
from spanloom.hypergraph import Ints, Potentials, Singles
from spanloom.modelfile import COMPACT, ModelPart
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring.base import Outputs, Part
from spanloom.scoring.packing import packed_weights, quantized, rows_with_weights, stored_weights
from spanloom.scoring.product import Weights, role_scores


class NamedFeatures(NamedTuple):
    """The features of a token that a model knows.

    Args:
        names: readable.
        rows: of the index.
        weights: of single features.
        vectors: position -> the dense columns there, (D,); the last is 1 where the word has no vector.
    """

    names: list[str]
    rows: Ints
    weights: Weights
    vectors: Mapping[int, Singles] = MappingProxyType({})

    def parts(self, role: int, kind: int, factor: float = 1.0) -> list[Part]:
        """See `spanloom.scoring.base.Named`."""
        values = self.weights.features[self.rows, role, kind].tolist()
        named = [*zip(self.names, values, strict=True), *self._dense(self.weights.features[:, role, kind])]
        return [Part(name, factor * value) for name, value in named if value]

    def _dense(self, weights: Singles) -> Iterator[tuple[str, float]]:
        """Yield what each position's vector adds in all; its single numbers mean nothing to a reader."""
        at = len(weights) - sum(map(len, self.vectors.values()))
        for position, vector in self.vectors.items():
            own, at = weights[at : at + len(vector)], at + len(vector)
            yield f"{VECTOR_COLUMN}[{position}]{'=none' if vector[-1] else ''}", float(np.einsum("d,d->", own, vector))


@dataclass(frozen=True)
class LinearScorer:
    """A feature set with weights.

    Args:
        features: templates.
        index: which feature has which weights.
        weights: of each single feature: those of a row that g features share are divided by g.
        scales: (R, K) float32, of which weights of a compact model are multiples; ``None`` for any other.
    """

    features: FeatureSet
    index: FeatureIndex
    weights: Weights
    scales: Singles | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that documents must bring."""
        return self.features.needs

    def prepare(self, batch: Batch) -> Batch:
        """Return the batch with the computed columns that templates name."""
        return self.features.enrich(batch)

    def matrix(self, batch: Batch, run: Executor = SERIAL) -> Sparse:
        """Return which weights each token has, (T, F)."""
        return self.index.lookup_shared(self.features.shared_keys(batch, run=run), run=run)

    def score(self, batch: Batch, run: Executor = SERIAL) -> Potentials:
        """Return the potentials of a batch."""
        return role_scores(self.matrix(batch, run), self.weights, run=run)

    def describe(self) -> dict[str, Any]:
        """Describe the templates, and word vectors, where there are any."""
        vectors = self.features.resources.vectors
        described = {"templates": [str(template) for template in self.features.templates]}
        if vectors is None:
            return described
        return {**described, "vectors": vectors.describe()}

    def named(self, document: Document, token: int) -> NamedFeatures:
        """Return the features of a token; those that the index does not know are left out."""
        [pairs] = self.features.named_keys(document, [token])
        rows = self.index.rows(np.array([key for _, key in pairs], np.uint64))
        known = rows >= 0
        names = [name for (name, _), keep in zip(pairs, known.tolist(), strict=True) if keep]
        dense = self.features.dense(Batch.of([document]))
        vectors = {} if dense is None else dict(zip(self.features.positions, dense.at(token), strict=True))
        return NamedFeatures(names, rows[known].astype(int), self.weights, vectors)

    def with_weights(self, weights: Weights) -> LinearScorer:
        """Return the same with other weights."""
        return replace(self, weights=weights, scales=None)

    def scaled(self, factor: float) -> LinearScorer:
        """Return the same with all scores multiplied."""
        own = np.float32(factor)
        return self.with_weights(Weights(own * self.weights.features, own * self.weights.constants))

    def compacted(self, threshold: float) -> LinearScorer:
        """Return the same with weights of eight bits, and without features that have none.

        Args:
            threshold: weights that are nearer to 0 are left out, but those of dense columns.
        """
        keyed = self.index.keyed
        weights, scales = quantized(self.weights.features, threshold, keyed)
        stays = rows_with_weights(weights, keyed)
        own = Weights(weights[stays], self.weights.constants)
        return replace(self, index=self.index.keeping(stays), weights=own, scales=scales)

    def to_part(self) -> ModelPart:
        """Return the index and the weights as a part of a model file."""
        weights, constants = self.weights
        parts = {"index": self.index.to_part()}
        if self.scales is not None:
            return ModelPart({}, {"constants": constants}, {**parts, COMPACT: packed_weights(weights, self.scales)})
        return ModelPart({}, {"weights": weights, "constants": constants}, parts)

    @classmethod
    def from_part(
        cls, part: ModelPart, features: FeatureSet, outputs: Outputs, types: int, index: FeatureIndex | None = None
    ) -> LinearScorer:
        """Return the scorer that `to_part` gave.

        Args:
            part: that one.
            features: templates.
            outputs: roles and constants that have weights, such as a template's.
            types: K.
            index: where several scorers share one; the part's own when ``None``.

        Raises:
            ModelError: an index that no training makes, or weights of another shape.
        """
        index = FeatureIndex.from_part(part.part("index")) if index is None else index
        if features.width and index.keyed + features.width != len(index):
            found = f"{len(index) - index.keyed:,} rows of weights for {features.width:,} numbers of word vectors"
            raise ModelError(f"found {found}; the model is damaged")
        rows, scales = stored_weights(part, len(index), len(outputs.roles), types)
        constants = part.array("constants", np.float32, len(outputs.constants), types)
        return cls(features, index, Weights(rows, constants), scales)
