"""Abbreviations that a document defines: wherever the short form stands, how likely its long form is a mention."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.hashing import Int64
from spanloom.link.evidence import Evidence
from spanloom.text.abbreviations import short_form_places

UNDEFINED = -1.0


class ShortForms(NamedTuple):
    """A short forms in the text.

    Args:
        first, end: (A,) tokens, counted over all documents.
        probability: (A, K) the highest that a span has which ends where one of its long forms does.
    """

    first: Int64
    end: Int64
    probability: NDArray[np.float64]


def find_short_forms(batch: Batch, evidence: Evidence, types: int) -> ShortForms:
    """The short forms that documents define, wherever they stand, each once.

    Args:
        batch: of the documents.
        evidence: of the same batch.
        types: K.
    """
    begin = batch.sentences[evidence.sentence]
    by_end: dict[int, list[tuple[int, int, float]]] = {}
    columns = (begin + evidence.first, begin + evidence.end, evidence.kind, evidence.probability)
    for first, end, kind, probability in zip(*(column.tolist() for column in columns), strict=True):
        by_end.setdefault(end, []).append((first, kind, probability))
    limits = set(batch.sentences.tolist())
    found: dict[tuple[int, int], NDArray[np.float64]] = {}
    for document, (base, stop) in zip(batch.documents, pairwise(batch.starts.tolist()), strict=True):
        for (first, end), longs in short_form_places(document.text, batch.tokens[base:stop]):
            if any(base + at in limits for at in range(first + 1, end)):
                continue  # it crosses a sentence
            row = found.setdefault((base + first, base + end), np.zeros(types))
            for _, stop in longs:
                for _, kind, probability in by_end.get(base + stop, ()):
                    row[kind] = max(row[kind], probability)
    pairs = np.array(list(found), np.int64).reshape(-1, 2)
    return ShortForms(pairs[:, 0], pairs[:, 1], np.array(list(found.values())).reshape(-1, types))
