"""The strongest features of each role, with readable names, to be kept beside the weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spanloom.document import Document
from spanloom.features import Built, FeatureSet, name_rows
from spanloom.hypergraph import Singles
from spanloom.recognize.tagger import Tagger

KEPT = 50
"""How many features are kept for each role and type, half of them for it and half against it."""
_NAMES = 3  # of a row that several features share

Strongest = dict[str, list[tuple[str, float]]]
"""Role (and type) -> names and weights, from the most positive to the most negative."""


def strongest_features(tagger: Tagger, features: FeatureSet, documents: Sequence[Document], built: Built) -> Strongest:
    """The strongest features of each role.

    Names are made while the training text is at hand: a key of 64 bits does not tell what it was made of.

    Args:
        tagger: trained.
        features: its feature set.
        documents: the training data.
        built: the index of their keys.
    """
    weights = tagger.weights.features
    columns = [
        (f"{role} {tagger.types[k]}" if weights.shape[2] > 1 else role, weights[:, r, k])
        for r, role in enumerate(tagger.engine.template.roles)
        for k in range(weights.shape[2])
    ]
    if not tagger.structure.joint and weights.shape[2] == 1:
        columns = [(f"{name} {tagger.types[0]}", column) for name, column in columns]
    picked = {name: _extremes(column) for name, column in columns}
    rows = sorted({row for chosen in picked.values() for row in chosen})
    names = {
        row: " = ".join(members[:_NAMES]) + (f" = {len(members) - _NAMES} more" if len(members) > _NAMES else "")
        for row, members in zip(rows, name_rows(features, documents, built, rows), strict=True)
    }
    return {name: [(names[row], float(column[row])) for row in picked[name] if column[row]] for name, column in columns}


def _extremes(column: Singles) -> list[int]:
    """The rows of the largest and the smallest weights, from the largest to the smallest."""
    count = min(KEPT // 2, len(column) // 2)
    if not count:
        return list(range(len(column)))
    top = np.argpartition(-column, count - 1)[:count]
    low = np.argpartition(column, count - 1)[:count]
    rows = np.unique(np.concatenate([top, low]))
    return [int(row) for row in rows[np.argsort(-column[rows], kind="stable")]]
