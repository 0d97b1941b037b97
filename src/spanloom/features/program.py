"""Compilation of templates to arrays for the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.features.columns import ORTHOGRAPHY, SET_COLUMN, boundary
from spanloom.features.template import Bag, Column, Feature
from spanloom.hashing import UInt64, hashes

_CONJUNCTION: Final = 0
_BAG: Final = 1
_SET: Final = 2


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
    kinds, read, shifts, places, reach = [], [], [], [0], 0
    for feature in features:
        if isinstance(feature, Bag):
            kinds.append(_BAG)
            read += [number[feature.column]] * 2
            shifts += [feature.first, feature.last]
        else:
            offsets = [place.offset for place in feature.places]
            kinds.append(_SET if is_set(feature) else _CONJUNCTION)
            read += [number[place.column] for place in feature.places]
            shifts += offsets
            reach = max(reach, *map(abs, offsets), 0)
        places.append(len(shifts))
    before, after = boundaries(reach)
    return FeatureProgram(
        np.array(kinds, np.int64),
        hashes([str(feature) for feature in features]),
        np.array(places, np.int64),
        np.array(read, np.int64),
        np.array(shifts, np.int64),
        before,
        after,
        hashes(ORTHOGRAPHY),
    )


def most_keys(features: Sequence[Feature]) -> int:
    """Return the most keys that a token can have."""
    windows = sum(feature.last - feature.first + 1 for feature in features if isinstance(feature, Bag))
    return windows + sum(
        len(ORTHOGRAPHY) if is_set(feature) else 1 for feature in features if not isinstance(feature, Bag)
    )


def is_set(feature: Feature) -> bool:
    """Return whether a feature, which is no bag, has several values at a token."""
    return any(column.name == SET_COLUMN for column in feature.columns)


def boundaries(reach: int) -> tuple[UInt64, UInt64]:
    """Return the values before and after a sentence, so many each, in text order."""
    before = hashes([boundary(-distance) for distance in range(reach, 0, -1)])
    return before, hashes([boundary(distance) for distance in range(1, reach + 1)])
