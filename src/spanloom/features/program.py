"""Compilation of templates to arrays for the kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spanloom.features import kernels_keys as kernels
from spanloom.features.columns import ORTHOGRAPHY, SET_COLUMN, boundary
from spanloom.features.kernels_keys import FeatureProgram
from spanloom.features.template import Bag, Column, Feature
from spanloom.hashing import UInt64, hash_text


def compile_features(features: Sequence[Feature], columns: Sequence[Column]) -> FeatureProgram:
    """Compile features to arrays, for values of these columns."""
    number = {column: c for c, column in enumerate(columns)}
    kinds, read, shifts, places, reach = [], [], [], [0], 0
    for feature in features:
        if isinstance(feature, Bag):
            kinds.append(kernels.BAG)
            read += [number[feature.column]] * 2
            shifts += [feature.first, feature.last]
        else:
            offsets = [place.offset for place in feature.places]
            is_set = any(column.name == SET_COLUMN for column in feature.columns)
            kinds.append(kernels.SET if is_set else kernels.CONJUNCTION)
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
    most = 0
    for feature in features:
        if isinstance(feature, Bag):
            most += feature.last - feature.first + 1
        else:
            most += len(ORTHOGRAPHY) if any(c.name == SET_COLUMN for c in feature.columns) else 1
    return most


def boundaries(reach: int) -> tuple[UInt64, UInt64]:
    """Return the values before and after a sentence, so many each, in text order."""
    before = hashes([boundary(-distance) for distance in range(reach, 0, -1)])
    return before, hashes([boundary(distance) for distance in range(1, reach + 1)])


def hashes(texts: Sequence[str]) -> UInt64:
    """Return the hash of each text."""
    return np.array([hash_text(text) for text in texts], np.uint64)
