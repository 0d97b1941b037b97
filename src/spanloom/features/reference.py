"""The features of one token in plain Python: readable names, and the oracle of the kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import numpy as np

from spanloom.document import Document
from spanloom.errors import DataError, clip
from spanloom.features.clusters import Clusters
from spanloom.features.columns import (
    BAND_COLUMN,
    SET_COLUMN,
    boundary,
    cluster_value,
    cut,
    is_cluster_column,
    orthography,
    word_column,
)
from spanloom.features.template import Bag, Column, Feature
from spanloom.hashing import hash_text, mix

Values = Callable[[Column, int], tuple[str, ...]]  # the values of a column at a token: none, one, or a set


def named_features(
    features: Iterable[Feature], document: Document, token: int, clusters: Clusters
) -> Iterator[tuple[str, int]]:
    """Yield the name and the key of each feature of a token, in the order of the features.

    Args:
        features: features, such as those of `FeatureSet.features`.
        document: tokenized and split into sentences, with all columns that the features read.
        token: counted in the document.
        clusters: for the columns of clusters.

    Raises:
        DataError: no sentence holds the token.
    """
    bounds = np.zeros((0, 2), np.int64) if document.sentences is None else document.sentences
    at = np.flatnonzero((bounds[:, 0] <= token) & (token < bounds[:, 1]))
    if not len(at):
        message = f"document {clip(document.id)} has no sentence with token {token}; split it into sentences first"
        raise DataError(message)
    first, end = bounds[at[0]].tolist()

    def values(column: Column, at: int) -> tuple[str, ...]:
        if not first <= at < end:
            return (boundary(at - first if at < first else at - end + 1),)
        return _values(document, column, at, clusters)

    for feature in features:
        name, seed = _head(feature)
        for combination in _combinations(feature, token, values, range(first, end)):
            key = seed
            for value in combination:
                key = mix(key, hash_text(value))
            yield f"{name}={'|'.join(combination)}" if combination else name, key


@lru_cache(4096)
def _head(feature: Feature) -> tuple[str, int]:
    return str(feature), hash_text(str(feature))


def _combinations(feature: Feature, token: int, values: Values, sentence: range) -> list[tuple[str, ...]]:
    if isinstance(feature, Bag):
        window = [at for at in range(token + feature.first, token + feature.last + 1) if at != token and at in sentence]
        return list(dict.fromkeys((value,) for at in window for value in values(feature.column, at)))
    found = [values(place.column, token + place.offset) for place in feature.places]
    if len(found) == 1:
        return [(value,) for value in found[0]]
    return [tuple(value for (value,) in found)] if all(found) else []


def _values(document: Document, column: Column, at: int, clusters: Clusters) -> tuple[str, ...]:
    if document.tokens is None:
        return ()
    start, end = document.tokens[at].tolist()
    word = document.text[start:end]
    if column.name == SET_COLUMN:
        return orthography(word)
    if (rule := word_column(column)) is not None:
        value = rule[2](word)
        return () if value is None else (value,)
    if is_cluster_column(column.name):
        value = cluster_value(column, clusters.band(word) if column.name == BAND_COLUMN else clusters.bits(word))
    else:
        value = cut(document.columns[column.name][at], column.size)
    return (value,) if value else ()
