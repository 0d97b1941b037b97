"""What a tagger has learned: a structured model over tags, applied to prepared documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from spanloom.document import Batch, Document
from spanloom.errors import DataError, ModelError
from spanloom.features import FeatureSet
from spanloom.hypergraph import Ints
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.modelfile import Array
from spanloom.scoring import LinearScorer
from spanloom.structures import Tags

TAGS: Final = Tags()
_CONSTANTS, _TRANSITIONS = "constants", "transitions"  # as the scorer and as model files call them


def tag_model(tags: Sequence[str], scorer: LinearScorer) -> LinearModel:
    """The model of L tags, whose constants are the L * L transitions, of tag i before tag j at ``i * L + j``."""
    return StructuredModel.build(TAGS, "subgraphs", tags, scorer)


def best_tags(model: LinearModel, batch: Batch, n_jobs: int = 1) -> Ints:
    """Return the number of the best tag of each token, (T,)."""
    return TAGS.read_tags(model.best(model.score(batch, n_jobs), batch.sentences, n_jobs), model.types)


def tag_arrays(model: LinearModel, prefix: str = "") -> dict[str, Array]:
    """The arrays of a model file, under names that begin with ``prefix``."""
    arrays = model.scorer.arrays(prefix)
    arrays[prefix + _TRANSITIONS] = arrays.pop(prefix + _CONSTANTS)
    return arrays


def read_tag_model(
    tags: Sequence[str], templates: Sequence[str], arrays: Mapping[str, Array], prefix: str = ""
) -> LinearModel:
    """The model that `tag_arrays` was taken from.

    Raises:
        ModelError: tags or arrays that do not belong together.
        UsageError: more tags than a template holds.
        KeyError: an array is missing.
    """
    if not tags or len(set(tags)) < len(tags):
        raise ModelError(f"the tags are {', '.join(tags) or 'none'}, expected several, each once")
    renamed = {**arrays, prefix + _CONSTANTS: arrays[prefix + _TRANSITIONS]}
    scorer = LinearScorer.from_arrays(FeatureSet(templates), renamed, prefix)
    scorer.check(len(tags), len(tags) ** 2, 1, prefix)
    return tag_model(tags, scorer)


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
