"""Columns that the linker's templates may name: what a dictionary and a language model say of each token."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from spanloom.document import Document
from spanloom.link.names import LONGEST_NAME, Names, all_runs
from spanloom.link.runs import CLOSE, document_runs
from spanloom.lm.language_model import LanguageModel

DICTIONARY = "dictionary"
COMMON = "common"
BIGRAM, TRIGRAM = "bigram", "trigram"
DICTIONARY_TEMPLATES = (
    "dictionary[-1..1]",
    "dictionary[0]|low[0]",
    "dictionary[0]|dictionary[1]",
    "dictionary[-1]|dictionary[0]",
)
LANGUAGE_TEMPLATES = ("bigram[0..1]", "trigram[0..2]")


def with_columns(
    documents: Sequence[Document], names: Names, language: LanguageModel | None, common: Collection[str] | None = None
) -> list[Document]:
    """Prepared documents with the column ``dictionary``, and with a language model ``bigram`` and ``trigram``.

    ``dictionary`` is B at the first token of a name of the vocabulary, I behind it and O elsewhere; of the names that
    begin at a token the longest is taken, and the next one is looked for behind it. The others are the ranges of
    `LanguageModel.ranges`. With common words, ``common`` says of each token whether it is one of them.
    """
    tags = _dictionary(documents, names)
    ranges = None if language is None else language.ranges(documents).astype(str)
    result, base = [], 0
    for document in documents:
        size = document.token_count
        columns = {**document.columns, DICTIONARY: tags[base : base + size]}
        if common is not None:
            columns[COMMON] = ["yes" if word.lower() in common else "no" for word in document.words]
        if ranges is not None:
            columns |= {BIGRAM: ranges[base : base + size, 0].tolist(), TRIGRAM: ranges[base : base + size, 1].tolist()}
        result.append(document.copy(columns=columns))
        base += size
    return result


def _dictionary(documents: Sequence[Document], names: Names) -> list[str]:
    first, end = all_runs(documents, LONGEST_NAME)
    hit = names.close.find(document_runs(documents).keys(CLOSE, first, end)) >= 0
    tags = ["O"] * sum(document.token_count for document in documents)
    best: dict[int, int] = {}
    for start, stop in zip(first[hit].tolist(), end[hit].tolist(), strict=True):
        best[start] = stop  # runs come in the order of their length
    reached = 0
    for start, stop in best.items():
        if start >= reached:
            tags[start:stop] = ["B", *["I"] * (stop - start - 1)]
            reached = stop
    return tags


def language_ranges(documents: Sequence[Document]) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """(T, 2) the ranges in the columns, counted from 1; 0 where there are none."""
    rows = [
        [
            [int(value) + 1 for value in document.columns[name]]
            if name in document.columns
            else [0] * document.token_count
            for name in (BIGRAM, TRIGRAM)
        ]
        for document in documents
    ]
    parts = [np.array(pair, np.uint8).reshape(2, -1).T for pair in rows]
    return np.ascontiguousarray(np.concatenate([np.zeros((0, 2), np.uint8), *parts]))
