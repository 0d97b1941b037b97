"""Mentions that a recognizer considers beside those that it finds, with their calibrated probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spanloom.document import Batch, Document, batches
from spanloom.model.corpus import place
from spanloom.recognize import Recognizer
from spanloom.recognize.recognizer import BATCH_TOKENS
from spanloom.structures import MentionTable
from spanloom.tag.filling import fill_batch
from spanloom.text import prepare

LEAST = 0.05  # the probability below which a mention is not worth a look
_STEPS = (1.0, 2.0, 3.0)  # added to the mention penalty; with 3, a mention at odds of 1 to 20 is found


def others(recognizer: Recognizer, documents: Iterable[Document]) -> Iterator[Document]:
    """Documents with mentions that the model would find if it were keener on mentions; lazily, in batches.

    The best structures with several higher mention penalties propose mentions. The probability of each does not depend
    on the penalty, so it is the score that the mention would have if it were found; those of at least `LEAST` are
    given. A mention that no such structure holds is not among them, however probable.

    Args:
        recognizer: trained.
        documents: tokens and sentences are made where they are missing.

    >>> from spanloom.document import Mention
    >>> documents = [Document("no chest pain", mentions=[Mention("problem", [(3, 13)])])] * 50
    >>> recognizer = Recognizer(features=["bias", "w[0]", "w[-1]"]).fit(documents)
    >>> [found] = recognizer.predict([Document("pain")])
    >>> [more] = others(recognizer, [Document("pain")])
    >>> len(found.mentions), len(more.mentions), 0.05 < more.mentions[0].score < 0.5
    (0, 1, True)
    """
    tagger, reading = recognizer.fitted, recognizer.reading
    for ready in batches(documents, BATCH_TOKENS, prepare):
        batch = fill_batch(Batch.of(ready), recognizer.pos_)
        potentials, offsets = tagger.score(batch), batch.sentences
        found = set(tagger.decode(potentials, offsets, reading).headed())
        proposed = [
            tagger.with_penalty(tagger.penalty + step).decode(potentials, offsets, reading).headed() for step in _STEPS
        ]
        rows = sorted({row for table in proposed for row in table} - found)
        table = MentionTable.build([row for row, _ in rows], [head for _, head in rows])
        yield from place(batch, table, tagger.types, tagger.probabilities(potentials, offsets, table), LEAST)
