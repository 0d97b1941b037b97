"""What a recognizer finds with other mention penalties than the tuned one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from spanloom.document import Batch, Document, batches
from spanloom.model.corpus import place
from spanloom.recognize.recognizer import BATCH_TOKENS, Recognizer
from spanloom.tag.filling import fill_batch
from spanloom.text import prepare


def sweep(recognizer: Recognizer, documents: Iterable[Document], penalties: Sequence[float]) -> list[list[Document]]:
    """The documents with what is found, for each penalty; features are scored once.

    Args:
        recognizer: trained.
        documents: tokens and sentences are made where they are missing.
        penalties: in place of the recognizer's own.

    Returns:
        Mentions have the score 1: their probabilities are not computed.
    """
    tagger = recognizer.fitted
    found: list[list[Document]] = [[] for _ in penalties]
    for ready in batches(documents, BATCH_TOKENS, prepare):
        batch = fill_batch(Batch.of(ready), recognizer.pos_)
        potentials, offsets = tagger.score(batch), batch.sentences
        for penalty, marked in zip(penalties, found, strict=True):
            table = tagger.with_penalty(penalty).decode(potentials, offsets, recognizer.reading)
            marked += place(batch, table, tagger.types, np.ones(len(table)), 0.0)
    return found
