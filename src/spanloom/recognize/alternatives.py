"""Mentions that a recognizer finds with other mention penalties than the tuned one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from spanloom.document import Batch, Document
from spanloom.model.corpus import place
from spanloom.model.structured import LinearModel
from spanloom.structures import MentionTable

LEAST = 0.05  # the probability below which a mention is not worth a look
_STEPS = (1.0, 2.0, 3.0)  # added to the mention penalty; with 3, a mention at odds of 1 to 20 is found


def alternatives(model: LinearModel, data: Iterable[Batch], reading: str) -> Iterator[Document]:
    """Documents with mentions that the model would find if it were keener on mentions; lazily, in batches.

    The best structures with several higher mention penalties propose mentions. The probability of each does not depend
    on the penalty, so it is the score that the mention would have if it were found; those of at least `LEAST` are
    given. A mention that no such structure holds is not among them, however probable.

    Args:
        model: trained.
        data: batches of documents, with the columns that the model reads.
        reading: of overlapping mentions.

    >>> from spanloom import Document, Mention, Recognizer
    >>> documents = [Document("no chest pain", mentions=[Mention("problem", [(3, 13)])])] * 50
    >>> recognizer = Recognizer(features=["bias", "w[0]", "w[-1]"]).fit(documents)
    >>> [found] = recognizer.predict([Document("pain")])
    >>> [more] = recognizer.alternatives([Document("pain")])
    >>> len(found.mentions), len(more.mentions), 0.05 < more.mentions[0].score < 0.5
    (0, 1, True)
    """
    for batch in data:
        potentials, offsets = model.score(batch), batch.sentences
        found = set(model.decode(potentials, offsets, reading).headed())
        proposed = [
            model.with_penalty(model.penalty + step).decode(potentials, offsets, reading).headed() for step in _STEPS
        ]
        rows = sorted({row for table in proposed for row in table} - found)
        table = MentionTable.build([row for row, _ in rows], [head for _, head in rows])
        yield from place(batch, table, model.types, model.probabilities(potentials, offsets, table), LEAST)


def sweep(model: LinearModel, data: Iterable[Batch], penalties: Sequence[float], reading: str) -> list[list[Document]]:
    """The documents with what is found, for each penalty; features are scored once.

    Args:
        model: trained.
        data: batches of documents, with the columns that the model reads.
        penalties: in place of the model's own.
        reading: of overlapping mentions.

    Returns:
        Mentions have the score 1: their probabilities are not computed.
    """
    found: list[list[Document]] = [[] for _ in penalties]
    for batch in data:
        potentials, offsets = model.score(batch), batch.sentences
        for penalty, marked in zip(penalties, found, strict=True):
            table = model.with_penalty(penalty).decode(potentials, offsets, reading)
            marked += place(batch, table, model.types, np.ones(len(table)), 0.0)
    return found
