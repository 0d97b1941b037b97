"""Trained part of a tagger: a structured model over tags, applied to prepared documents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

from spanloom.document import Batch, Document
from spanloom.errors import DataError
from spanloom.hypergraph import Ints
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import LinearScorer
from spanloom.structures import Tags

TAGS: Final = Tags()


def tag_model(tags: Sequence[str], scorer: LinearScorer) -> LinearModel:
    """The model of L tags, whose constants are the L * L transitions, of tag i before tag j at ``i * L + j``."""
    return StructuredModel.build(TAGS, "subgraphs", tags, scorer)


def best_tags(model: LinearModel, batch: Batch, run: Executor = SERIAL) -> Ints:
    """Return the number of the best tag of each token, (T,)."""
    return TAGS.read_tags(model.best(model.score(batch, run), batch.sentences, run), model.types)


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
