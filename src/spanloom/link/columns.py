"""Columns that the linker's templates may name, from dictionaries and a language model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document
from spanloom.modelfile import ModelPart
from spanloom.vocabulary.lexicon import Lexicon, runs

DICTIONARY = "dictionary"
COMMON = "common"
BIGRAM, TRIGRAM = "bigram", "trigram"
LANGUAGE_MODEL: Final = "language-model"
"""The kind of a language model, which is in spanloom-lab."""
DICTIONARY_TEMPLATES = (
    "dictionary[-1..1]",
    "dictionary[0]|low[0]",
    "dictionary[0]|dictionary[1]",
    "dictionary[-1]|dictionary[0]",
)
LANGUAGE_TEMPLATES = ("bigram[0..1]", "trigram[0..2]")


class WordModel(Protocol):
    """A language model of words, as `spanloom_lab.lm.language_model.LanguageModel`."""

    def ranges(self, documents: Sequence[Document]) -> NDArray[np.uint8]:
        """Return the ranges of the probabilities of each token, (T, 2)."""

    def with_ranges(self, documents: Iterable[Document]) -> Self:
        """Return the same model with the ranges that are best for documents."""

    def to_part(self) -> ModelPart:
        """Return its part of a model file."""


def with_columns(
    batch: Batch, names: Lexicon, language: WordModel | None, common: Collection[str] | None = None
) -> Batch:
    """A batch with the column ``dictionary``, and with a language model ``bigram`` and ``trigram``.

    ``dictionary`` is B at the first token of a name of the vocabulary, I behind it and O elsewhere; of the names that
    begin at a token the longest is taken, and the next one is looked for behind it. The others are the ranges of
    `WordModel.ranges`. With common words, ``common`` marks these words.
    """
    first, end = names.runs(runs(batch.words), batch.sentences)
    tags, reached = ["O"] * len(batch.tokens), 0
    longest = dict(zip(first.tolist(), end.tolist(), strict=True))  # runs come in the order of their length
    for start, stop in longest.items():
        if start >= reached:
            tags[start:stop] = ["B", *["I"] * (stop - start - 1)]
            reached = stop
    columns = {DICTIONARY: tags}
    if common is not None:
        columns[COMMON] = ["yes" if word.lower() in common else "no" for word in batch.words]
    if language is not None:
        bigram, trigram = language.ranges(batch.documents).astype(str).T.tolist()
        columns |= {BIGRAM: bigram, TRIGRAM: trigram}
    return batch.with_columns(columns)


def language_ranges(batch: Batch) -> NDArray[np.uint8]:
    """(T, 2) the ranges in the columns, counted from 1; 0 without a language model."""
    ranges = np.zeros((len(batch.tokens), 2), np.uint8)
    for i, name in enumerate((BIGRAM, TRIGRAM)):
        if batch.has(name):
            ranges[:, i] = np.array(batch.column(name), np.uint8) + 1
    return ranges
