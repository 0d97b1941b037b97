"""The strongest features of each role, to be kept beside the weights.

A readable name holds words of the training text, which may be those of a patient. So a model has none unless they are
asked for, and then of features that several documents have.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from spanloom.document import Batch
from spanloom.errors import UsageError
from spanloom.features import Built, FeatureSet, name_rows
from spanloom.hypergraph import Ints, Singles
from spanloom.learn.target import PIECE_TOKENS
from spanloom.model.structured import LinearModel
from spanloom.parallel import whole_ranges

KEPT = 50
"""Number of features that are kept for each role and type, half of them for it and half against it."""
DOCUMENTS = 5
"""Number of training documents that must have a feature whose name is kept, unless another number is asked for."""
_NAMES = 3  # of a row that several features share

Strongest = dict[str, list[tuple[str, float]]]
"""Role (and type) -> names and weights, from the most positive to the most negative."""


def names_from(names: Any) -> int:
    """Return the number of documents that must have a feature whose readable name is kept; 0 for no names at all.

    Args:
        names: the parameter: whether, or from how many on.

    Raises:
        UsageError: no whole number from 0.

    >>> names_from(False), names_from(True), names_from(2)
    (0, 5, 2)
    """
    if isinstance(names, bool):
        return DOCUMENTS if names else 0
    if not isinstance(names, Integral) or names < 0:
        raise UsageError(f"names is {names!r}, expected true, false, or a number of documents")
    return int(names)


def strongest_features(
    tagger: LinearModel, features: FeatureSet, batch: Batch, built: Built, names: bool | int
) -> Strongest:
    """The strongest features of each role.

    Names are made while the training text is at hand: a key of 64 bits does not show what it was made of.

    Args:
        tagger: trained.
        features: its feature set.
        batch: the training data.
        built: the index of their keys.
        names: which features have their names, as of `names_from`; of the others only the templates are shown.
    """
    weights = tagger.scorer.weights.features
    columns = [
        (f"{role} {tagger.types[k]}" if weights.shape[2] > 1 else role, weights[:, r, k])
        for r, role in enumerate(tagger.engine.template.roles)
        for k in range(weights.shape[2])
    ]
    if not tagger.structure.joint and weights.shape[2] == 1:
        columns = [(f"{name} {tagger.types[0]}", column) for name, column in columns]
    picked = {name: _extremes(column) for name, column in columns}
    rows = sorted({row for chosen in picked.values() for row in chosen})
    least = names_from(names)
    common = set(np.array(rows)[_document_counts(batch, built, rows) >= least].tolist()) if least else set()
    shown = {}
    for row, members in zip(rows, name_rows(features, batch, built, rows), strict=True):
        seen = members if row in common else tuple(dict.fromkeys(map(_template, members)))
        shown[row] = " = ".join(seen[:_NAMES]) + (f" = {len(seen) - _NAMES} more" if len(seen) > _NAMES else "")
    return {name: [(shown[row], float(column[row])) for row in picked[name] if column[row]] for name, column in columns}


def _template(name: str) -> str:
    """Return what a feature looks at, without what it saw.

    >>> _template("w[-1]|w[0]=No|pain"), _template("bias")
    ('w[-1]|w[0]=...', 'bias')
    """
    template, sign, _ = name.partition("=")
    return f"{template}=..." if sign else name


def _document_counts(batch: Batch, built: Built, rows: Sequence[int]) -> Ints:
    """Count the documents that have each of some rows."""
    place = np.full(len(built.counts), -1, np.int32)
    place[rows] = np.arange(len(rows))
    counts = np.zeros(len(rows), np.int64)
    starts, (indices, offsets, *_) = batch.starts, built.matrix
    for first, end in whole_ranges(starts, PIECE_TOKENS):
        begin = offsets[starts[first]]
        own = indices[begin : offsets[starts[end]]]
        entries = np.flatnonzero((place >= 0)[own])
        owners = np.searchsorted(offsets[starts[first : end + 1]], begin + entries, side="right")
        pairs = np.unique(np.stack([place[own[entries]], owners]), axis=1)
        counts += np.bincount(pairs[0], minlength=len(rows))
    return counts


def _extremes(column: Singles) -> list[int]:
    """The rows of the largest and the smallest weights, from the largest to the smallest."""
    count = min(KEPT // 2, len(column) // 2)
    if not count:
        return list(range(len(column)))
    top = np.argpartition(-column, count - 1)[:count]
    low = np.argpartition(column, count - 1)[:count]
    rows = np.unique(np.concatenate([top, low]))
    return [int(row) for row in rows[np.argsort(-column[rows], kind="stable")]]
