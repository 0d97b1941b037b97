"""Abbreviations that a document defines: wherever the short form stands, how likely its long form is a mention."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document
from spanloom.hashing import Int64
from spanloom.link.evidence import Evidence
from spanloom.text.abbreviations import find_abbreviations

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
    for base, document in zip(batch.starts.tolist(), batch.documents, strict=False):
        for (first, end), longs in _of_document(document):
            if any(base + at in limits for at in range(first + 1, end)):
                continue  # it crosses a sentence
            row = found.setdefault((base + first, base + end), np.zeros(types))
            for _, stop in longs:
                for _, kind, probability in by_end.get(base + stop, ()):
                    row[kind] = max(row[kind], probability)
    pairs = np.array(list(found), np.int64).reshape(-1, 2)
    return ShortForms(pairs[:, 0], pairs[:, 1], np.array(list(found.values())).reshape(-1, types))


def _of_document(document: Document) -> Iterator[tuple[tuple[int, int], list[tuple[int, int]]]]:
    """Tokens of each short form in a document, with the tokens of its long forms."""
    definitions = find_abbreviations(document.text)
    if not definitions or document.tokens is None:
        return
    starts = {start: t for t, start in enumerate(document.tokens[:, 0].tolist())}
    ends = {end: t + 1 for t, end in enumerate(document.tokens[:, 1].tolist())}
    longs: dict[str, list[tuple[int, int]]] = {}
    for short, long in definitions:
        if long.start in starts and long.end in ends:
            longs.setdefault(document.text[slice(*short)], []).append((starts[long.start], ends[long.end]))
    if not longs:
        return
    forms = "|".join(re.escape(form) for form in sorted(longs, key=len, reverse=True))
    for match in re.finditer(rf"(?<!\w)({forms})s?(?!\w)", document.text):
        first, end = starts.get(match.start()), ends.get(match.end())
        if first is not None and end is not None:
            yield (first, end), longs[match[1]]
