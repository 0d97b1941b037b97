"""What a tagger has learned: a chain with one weight a transition, applied to prepared documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np

from spanloom.document import Batch, Document
from spanloom.errors import DataError, ModelError
from spanloom.features import FeatureIndex, FeatureSet
from spanloom.hypergraph import Ints, SubgraphEngine
from spanloom.modelfile import Array
from spanloom.parallel import threads
from spanloom.scoring import Weights, role_scores
from spanloom.structures import chain_template
from spanloom.structures.chain import read_tags

_INDEX, _WEIGHTS, _TRANSITIONS = "index.", "weights", "transitions"


@dataclass(frozen=True)
class TagModel:
    """What a tagger has learned. Using it changes nothing, so threads may share it.

    Args:
        tags: L names.
        features: templates.
        index: which feature has which weights.
        weights: features (F, L, 1) and transitions (L * L, 1), of tag i before tag j at ``i * L + j``.
    """

    tags: tuple[str, ...]
    features: FeatureSet
    index: FeatureIndex
    weights: Weights

    def best(self, batch: Batch, n_jobs: int = 1) -> Ints:
        """Return the number of the best tag of each token, (T,)."""
        matrix = self.index.lookup(self.features.keys(batch, n_jobs=n_jobs), n_jobs=n_jobs)
        with threads(n_jobs) as run:
            potentials = role_scores(matrix, self.weights, run=run)
        engine = tag_engine(self.tags)
        edges = engine.viterbi(potentials, batch.sentences, n_jobs).edges
        return read_tags(engine.template, role_names(self.tags), edges)

    def arrays(self, prefix: str = "") -> dict[str, Array]:
        """The arrays of a model file, under names that begin with ``prefix``."""
        arrays: dict[str, Array] = {_INDEX + name: array for name, array in self.index.state().items()}
        arrays[_WEIGHTS], arrays[_TRANSITIONS] = self.weights
        return {prefix + name: array for name, array in arrays.items()}

    @classmethod
    def from_arrays(
        cls, tags: Sequence[str], templates: Sequence[str], arrays: Mapping[str, Array], prefix: str = ""
    ) -> TagModel:
        """The model that `arrays` was taken from.

        Raises:
            ModelError: arrays that do not belong together.
            KeyError: one is missing.
        """
        start = prefix + _INDEX
        state = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
        index = FeatureIndex.from_state(state)
        weights = Weights(arrays[prefix + _WEIGHTS], arrays[prefix + _TRANSITIONS])
        size = len(tags)
        if not size or len(set(tags)) < size:
            raise ModelError(f"the tags are {', '.join(tags) or 'none'}, expected several, each once")
        for array, shape in zip(weights, ((len(index), size, 1), (size * size, 1)), strict=True):
            if array.shape != shape or array.dtype != np.float32:
                raise ModelError(
                    f"weights of a tagger are {array.dtype} of shape {array.shape}, expected float32 {shape}"
                )
        return cls(tuple(tags), FeatureSet(templates), index, weights)


def role_names(tags: Sequence[str]) -> list[str]:
    """The roles of tags; marked, so that none is taken for one of the chain's own nodes, such as ``END``."""
    return [f"tag={tag}" for tag in tags]


@lru_cache(maxsize=16)
def tag_engine(tags: tuple[str, ...]) -> SubgraphEngine:
    """The engine of a chain in which every tag may follow every other; its constants are the L * L transitions."""
    return SubgraphEngine(chain_template(role_names(tags), lambda tag, after: True))


def given_tags(documents: Sequence[Document], column: str) -> list[str]:
    """The tags that documents have, one after the other.

    Raises:
        DataError: there are none, or one that cannot be a tag.
    """
    for document in documents:
        size = document.token_count
        values = document.columns.get(column, [] if not size else None)
        if values is None or len(values) != size:
            found = "no column" if values is None else f"{len(values)} values in the column"
            raise DataError(
                f"document {document.id!r} has {found} {column!r}, expected a tag for each of {size} tokens"
            )
        odd = next((i for i, value in enumerate(values) if not value or any(map(str.isspace, value))), None)
        if odd is not None:
            raise DataError(
                f"document {document.id!r}, token {odd}: the tag in column {column!r} is {values[odd]!r}, expected one "
                "without white space"
            )
    tags = list(chain.from_iterable(document.columns.get(column, ()) for document in documents))
    if not tags:
        raise DataError("the data hold no tokens; give annotated text")
    return tags
