"""Features that depend on one value near the token, such as a word's, computed once for each distinct value.

Most templates read the word, or a column of the data, at one distance from the token. Their features are the same for
each token with the same value there, and a batch has many more tokens than distinct words. They are therefore stored as
features of *values*: a row for each value and distance, to which tokens refer. Only templates that join several
distances or sources are evaluated at each token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.features.columns import ORTHOGRAPHY
from spanloom.features.program import FeatureProgram, boundaries, compile_features, is_set, most_keys
from spanloom.features.tables import WORD_SOURCE, source_of, sources_of
from spanloom.features.template import Bag, Column, Feature
from spanloom.hashing import Int64, hashes


class SharedProgram(NamedTuple):
    """Compiled features of G groups; all of a group read the same value.

    Args:
        source: (G,) int64, of the value: the word is 0, each other one a column of the data.
        first, last: (G,) int64, the offsets of the value, in tokens from the current one. Groups of one place have the
            same number twice; bags have each value between the two, except the current token.
        bag: (G,) bool.
        features: (G + 1,) int64, offsets of each group's features.
        seeds: (features,) the hash of the feature's text.
        sets: (features,) bool: whether the value is a set, whose members are features.
        places: (features + 1,) int64, offsets of each feature's columns.
        columns: int64, numbers of columns.
        before, after: (reach,) boundary values, in text order.
        members: the hashes of the members of a set, by bit.
    """

    source: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    bag: NDArray[np.bool_]
    features: NDArray[np.int64]
    seeds: NDArray[np.uint64]
    sets: NDArray[np.bool_]
    places: NDArray[np.int64]
    columns: NDArray[np.int64]
    before: NDArray[np.uint64]
    after: NDArray[np.uint64]
    members: NDArray[np.uint64]


class Group(NamedTuple):
    """The common properties of the features of a group.

    Args:
        source: of the value: a column of the data, or the word.
        first, last: its offsets, in tokens from the current one; the same number twice for one place.
        bag: the column whose values in a window are meant; ``None`` for a place.
    """

    source: str
    first: int
    last: int
    bag: Column | None = None


def group_of(feature: Feature) -> Group | None:
    """Return the group of a feature; ``None`` where it joins several distances or sources.

    What every token has goes with the token's own word.

    >>> from spanloom.features.template import parse
    >>> [group_of(feature) for feature in parse("ngrams(pos,1..2)").features]
    [Group(source='pos', first=0, last=0, bag=None), None, None]
    """
    if isinstance(feature, Bag):
        return Group(source_of(feature.column), feature.first, feature.last, feature.column)
    found = {(source_of(place.column), place.offset) for place in feature.places} or {(WORD_SOURCE, 0)}
    if len(found) > 1:
        return None
    [(source, offset)] = found
    return Group(source, offset, offset)


class Divided(NamedTuple):
    """Features, divided into those of values and those of tokens.

    Args:
        groups: of the features of values, in the order in which their sums are added; bags are the last.
        shared: their features.
        own: the features of tokens.
        columns: numbers of the columns that these read.
        most: the most keys that a token has of its own.
        most_of_values: (G,) the most keys that a value has in each group.
        outside: (G,) how many distances from the sentence the place of each group can have.
        references: the most values that a token has.
    """

    groups: tuple[Group, ...]
    shared: SharedProgram
    own: FeatureProgram
    columns: Int64
    most: int
    most_of_values: Int64
    outside: Int64
    references: int


def divide(features: Sequence[Feature], columns: Sequence[Column]) -> Divided:
    """Divide features; ``columns`` are all that they read."""
    grouped: dict[Group, list[Feature]] = {}
    own: list[Feature] = []
    for feature in features:
        group = group_of(feature)
        (own if group is None else grouped.setdefault(group, [])).append(feature)
    groups = sorted(grouped, key=lambda group: group.bag is not None)
    outside = [abs(group.first) if group.bag is None else 0 for group in groups]
    most = [sum(1 if isinstance(one, Bag) else most_keys([one]) for one in grouped[group]) for group in groups]
    read = [c for c in columns if any(c in feature.columns for feature in own)]
    sources, flat = sources_of(columns), [feature for group in groups for feature in grouped[group]]
    before, after = boundaries(max(outside, default=0))
    shared = SharedProgram(
        np.array([sources.index(group.source) for group in groups], np.int64),
        np.array([group.first for group in groups], np.int64),
        np.array([group.last for group in groups], np.int64),
        np.array([group.bag is not None for group in groups], np.bool_),
        np.cumsum([0, *(len(grouped[group]) for group in groups)]),
        hashes([str(feature) for feature in flat]),
        np.array([not isinstance(one, Bag) and is_set(one) for one in flat], np.bool_),
        np.cumsum([0, *(len(feature.columns) for feature in flat)]),
        np.array([columns.index(c) for feature in flat for c in feature.columns], np.int64),
        before,
        after,
        hashes(ORTHOGRAPHY),
    )
    return Divided(
        tuple(groups),
        shared,
        compile_features(own, read),
        np.array([columns.index(c) for c in read], np.int64),
        most_keys(own),
        np.array(most, np.int64),
        np.array(outside, np.int64),
        sum(1 if group.bag is None else group.last - group.first + 1 for group in groups),
    )
