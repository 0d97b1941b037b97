"""Gold words and mentions as tags of characters, and what no chain can hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spanloom.document import Batch, Document
from spanloom.model.corpus import CROSSES_SENTENCES, CUTS_TOKEN, Gold, Lost
from spanloom.segment.characters import Characters, split, word_starts, words_at
from spanloom.segment.constraints import WHOLE_WORDS, parse
from spanloom.structures import MentionTable
from spanloom.structures.product import WORD_CHAIN, Constraint, Labels, Product

CUTS_WORD = "it begins or ends inside a word"
_REASONS = {CUTS_TOKEN: CUTS_WORD, CROSSES_SENTENCES: CROSSES_SENTENCES}


@dataclass(frozen=True)
class GoldLabels:
    """The gold tags of a corpus.

    Args:
        batch: its characters.
        labels: tags of all characters.
        lost: the mentions that the tags do not hold.
        total: how many mentions there are.
    """

    batch: Characters
    labels: Labels
    lost: tuple[Lost, ...]
    total: int


def gold_labels(
    documents: Sequence[Document], types: Sequence[str], constraints: Iterable[Constraint] | None = None
) -> GoldLabels:
    """The gold tags of documents.

    Args:
        documents: with words and sentences.
        types: K names; mentions of other types are left out.
        constraints: mentions that break one are lost; only those of `WHOLE_WORDS` count when ``None``.

    Raises:
        DataError: words that do not add up to the text.
    """
    batch = split(documents)
    begins = word_starts(batch.batch)
    words, _ = WORD_CHAIN.tags_of(words_at(batch.batch, begins), batch.offsets)
    gold = Gold(Batch.of(batch.batch.documents), types)
    lost = [Lost(item.document, item.mention, item.text, _REASONS.get(item.reason, item.reason)) for item in gold.lost]
    product = Product(tuple(map(parse, WHOLE_WORDS) if constraints is None else constraints))
    table, offsets = gold.table, batch.offsets
    starts = np.append(np.flatnonzero(begins), len(begins))
    base = np.repeat(table.sentence, np.diff(table.ptr))
    word = np.searchsorted(starts, offsets)[base]  # the first one of each range's sentence
    first, end = (starts[word + places] - offsets[base] for places in (table.first, table.end))
    table = MentionTable(table.sentence, table.kind, table.ptr, first, end, table.heads)
    mentions, reasons = product.beside(words, table, batch.offsets, types)
    rows = [
        Lost(d.id, mention, mention.text(d.text), reasons[i])
        for i, (d, mention) in enumerate(gold.owners)
        if i in reasons
    ]
    return GoldLabels(batch, Labels(words, mentions), (*lost, *rows), gold.total)
