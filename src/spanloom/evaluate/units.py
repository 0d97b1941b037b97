"""Pairing of documents, and units of resampling (sentences or documents)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document, Mention
from spanloom.document.document import check_documents
from spanloom.errors import DataError, plural
from spanloom.text import prepare


def pair(gold: Sequence[Document], predicted: Sequence[Document]) -> list[Document]:
    """Return the predicted documents in the order of the gold ones.

    They are matched by id if every id is given and unique on both sides, else by order.

    Raises:
        UsageError: something else than lists of documents.
        DataError: a document is missing or extra, or its text differs; the message names it.

    >>> gold = [Document("left atrium", id="1"), Document("no pain", id="2")]
    >>> [document.id for document in pair(gold, [gold[1].copy(), gold[0].copy()])]
    ['1', '2']
    """
    check_documents(gold, "gold")
    check_documents(predicted, "the prediction")
    ids = [[document.id for document in side] for side in (gold, predicted)]
    by_id = all(all(side) and len(set(side)) == len(side) for side in ids)
    pairs = _pair_by_id(gold, predicted) if by_id else _pair_by_order(gold, predicted)
    for i, (expected, found) in enumerate(zip(gold, pairs, strict=True)):
        if expected.text != found.text:
            characters = enumerate(zip(expected.text, found.text, strict=False))
            at = next((i for i, (one, other) in characters if one != other), min(len(expected.text), len(found.text)))
            raise DataError(
                f"document {name(expected, i)}: the predicted text differs from the gold text at character {at} "
                f"(found {found.text[at : at + 20]!r}, expected {expected.text[at : at + 20]!r}); predict on that text"
            )
    return pairs


def _pair_by_id(gold: Sequence[Document], predicted: Sequence[Document]) -> list[Document]:
    found = {document.id: document for document in predicted}
    missing = [document.id for document in gold if document.id not in found]
    extra = sorted(found.keys() - {document.id for document in gold})
    if missing:
        those = plural(len(missing), "gold document has", "gold documents have")
        raise DataError(f"{those} no prediction, the first is {missing[0]!r}; predict all")
    if extra:
        those = plural(len(extra), "predicted document is", "predicted documents are")
        raise DataError(f"{those} not in gold, the first is {extra[0]!r}; remove them")
    return [found[document.id] for document in gold]


def _pair_by_order(gold: Sequence[Document], predicted: Sequence[Document]) -> list[Document]:
    for i, (expected, found) in enumerate(zip(gold, predicted, strict=False)):
        if expected.id and found.id and expected.id != found.id:
            raise DataError(
                f"document {i + 1} is {found.id!r} in the prediction and {expected.id!r} in gold; ids are missing or "
                "repeated, so the documents must come in the same order"
            )
    if len(gold) != len(predicted):
        longer, side = (gold, "gold") if len(gold) > len(predicted) else (predicted, "the prediction")
        i = min(len(gold), len(predicted))
        if longer[i].id in {document.id for document in longer[:i]} - {""}:
            raise DataError(f"{side} has two documents called {longer[i].id!r}; keep one of each")
        raise DataError(
            f"found {plural(len(predicted), 'predicted document')}, expected {len(gold)}: document "
            f"{name(longer[i], i)} is "
            f"in {side} only; give both sides the same documents"
        )
    return list(predicted)


def name(document: Document, index: int) -> str:
    """Return the name of a document in messages: its id, or its number."""
    return f"{document.id!r}" if document.id else f"number {index + 1}"


@dataclass(frozen=True, slots=True)
class ResamplingUnits:
    """A partition of the texts into U units of resampling.

    Args:
        cuts: for each document the characters at which a new unit begins, after the first.
        offsets: for each document the number of its first unit.
        count: U.
        name: the kind of unit: ``sentence``, ``document``, or ``sentence or document`` where only some documents have
            sentences.
    """

    cuts: list[NDArray[np.int64]]
    offsets: NDArray[np.int64]
    count: int
    name: str

    def of(self, document: int, mentions: Sequence[Mention]) -> NDArray[np.int64]:
        """Return (M,) the unit of each mention of one document."""
        starts = np.array([mention.start for mention in mentions], np.int64)
        return np.asarray(self.offsets[document] + np.searchsorted(self.cuts[document], starts, side="right"), np.int64)


def with_sentences(documents: Sequence[Document]) -> list[Document]:
    """Return the documents, with those without sentences split as for a model."""
    return [prepare(document) if document.sentences is None else document for document in documents]


def units(gold: Sequence[Document], *predictions: Sequence[Document]) -> ResamplingUnits:
    """Cut the gold documents into units such that every mention, gold or predicted, lies in one.

    A unit is a sentence of the gold document; sentences that a mention joins are one unit. A document without sentences
    is one unit.

    Args:
        gold: the documents whose tokens and sentences count.
        predictions: documents in the same order.
    """
    cuts = []
    for i, document in enumerate(gold):
        starts = sentence_starts(document)
        if len(starts):
            for side in (gold, *predictions):
                # without those in a mention, which is in one unit
                extents = np.array([(one.start, one.end) for one in side[i].mentions], np.int64).reshape(-1, 2)
                first = np.searchsorted(starts, extents[:, 0], side="right")
                last = np.searchsorted(starts, extents[:, 1], side="left")
                change = np.zeros(len(starts) + 1, np.int64)
                np.add.at(change, first, 1)
                np.add.at(change, np.maximum(first, last), -1)
                starts = starts[np.cumsum(change)[:-1] <= 0]
        cuts.append(starts)
    sizes = [len(starts) + 1 for starts in cuts]
    split = {document.tokens is not None and document.sentences is not None for document in gold}
    name = "sentence or document" if len(split) > 1 else "sentence" if True in split else "document"
    return ResamplingUnits(cuts, np.cumsum([0, *sizes])[: len(sizes)], sum(sizes), name)


def sentence_starts(document: Document) -> NDArray[np.int64]:
    """Return the first characters of a document's sentences but the first; none if it has no sentences."""
    if document.tokens is None or document.sentences is None:
        return np.zeros(0, np.int64)
    first = document.sentences[:, 0][document.sentences[:, 0] < document.sentences[:, 1]]
    return np.unique(document.tokens[first[1:], 0])
