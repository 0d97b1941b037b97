"""Compilation of templates to arrays for the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.features.columns import ORTHOGRAPHY, SET_COLUMN, boundary
from spanloom.features.template import Bag, Column, Feature
from spanloom.hashing import UInt64, hashes

_CONJUNCTION, _BAG, _SET = range(3)


class FeatureProgram(NamedTuple):
    """Compiled templates for evaluation by a kernel.

    Args:
        kinds: (features,) int64: conjunction, bag or set.
        seeds: (features,) the hash of the feature's text.
        places: (features + 1,) offsets of each feature's places.
        columns: the column of each place.
        shifts: the offset of each place, in tokens from the current one; a bag has two, its first and its last.
        before, after: (margin,) boundary values, in text order.
        members: the hashes of the members of a set, by bit.
    """

    kinds: NDArray[np.int64]
    seeds: NDArray[np.uint64]
    places: NDArray[np.int64]
    columns: NDArray[np.int64]
    shifts: NDArray[np.int64]
    before: NDArray[np.uint64]
    after: NDArray[np.uint64]
    members: NDArray[np.uint64]


def compile_features(features: Sequence[Feature], columns: Sequence[Column]) -> FeatureProgram:
    """Compile features to arrays, for values of these columns."""
    number = {column: c for c, column in enumerate(columns)}
    kinds, places, reach = [], [0], 0
    read: list[tuple[int, int]] = []  # columns, and offsets
    for feature in features:
        if isinstance(feature, Bag):
            kinds.append(_BAG)
            read += [(number[feature.column], offset) for offset in (feature.first, feature.last)]
        else:
            kinds.append(_SET if is_set(feature) else _CONJUNCTION)
            read += [(number[place.column], place.offset) for place in feature.places]
            reach = max([reach, *(abs(place.offset) for place in feature.places)])
        places.append(len(read))
    columns_read, shifts = np.array(read, np.int64).reshape(-1, 2).T.copy()
    before, after = boundaries(reach)
    return FeatureProgram(
        np.array(kinds, np.int64),
        hashes([str(feature) for feature in features]),
        np.array(places, np.int64),
        columns_read,
        shifts,
        before,
        after,
        hashes(ORTHOGRAPHY),
    )


def most_keys(features: Sequence[Feature]) -> int:
    """Return the most keys that a token can have."""
    return sum(
        one.last - one.first + 1 if isinstance(one, Bag) else len(ORTHOGRAPHY) if is_set(one) else 1 for one in features
    )


def is_set(feature: Feature) -> bool:
    """Return whether a feature, which is no bag, has several values at a token."""
    return any(column.name == SET_COLUMN for column in feature.columns)


def boundaries(reach: int) -> tuple[UInt64, UInt64]:
    """Return the values before and after a sentence, so many each, in text order."""
    before = hashes([boundary(-distance) for distance in range(reach, 0, -1)])
    return before, hashes([boundary(distance) for distance in range(1, reach + 1)])
