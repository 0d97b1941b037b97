"""Training and development data as characters with gold tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spanloom.document import Batch, Document, Mention, Span
from spanloom.errors import DataError
from spanloom.segment.characters import Characters
from spanloom.structures import MentionTable
from spanloom.structures.product import MENTION_CHAIN, WORD_CHAIN, Labels
from spanloom.text import prepare


@dataclass(frozen=True)
class Corpus:
    """Annotated text.

    Args:
        text: characters, with all columns that features read.
        labels: gold tags.
        missed: how many mentions the tags do not hold.
    """

    text: Characters
    labels: Labels
    missed: int = 0

    def f1(self, found: Labels) -> float:
        """F1 of words, of mentions, or the mean of both, as tags are found of them."""
        return float(np.mean(self.each_f1(found)))

    def each_f1(self, found: Labels) -> list[float]:
        """F1 of words and F1 of mentions, of which tags are found."""
        offsets = self.text.offsets
        sides = zip((WORD_CHAIN, MENTION_CHAIN), found, self.labels, (0, self.missed), strict=True)
        return [
            segment_f1(chain.mentions_of(own, offsets), chain.mentions_of(gold, offsets), missed)
            for chain, own, gold, missed in sides
            if len(own) == len(gold)
        ]

    def take(self, rows: Sequence[int]) -> Corpus:
        """Some of the documents."""
        batch, first, inner, _ = self.text
        edges = batch.starts
        places = np.concatenate([np.zeros(0, np.int64), *(np.arange(edges[i], edges[i + 1]) for i in rows)])
        text = Characters(batch.take(rows), first[places], inner[places])
        return Corpus(text, Labels(*(tags[places] for tags in self.labels)))

    def on(self, batch: Batch) -> Corpus:
        """With another batch of the same characters, which has further columns."""
        return Corpus(self.text._replace(batch=batch), self.labels, self.missed)

    def with_columns(self, columns: Mapping[str, Sequence[str]]) -> Corpus:
        """With further columns, of one value for each of the T characters."""
        return Corpus(self.text.with_columns(columns), self.labels, self.missed)


def segment_f1(found: MentionTable, gold: MentionTable, missed: int = 0) -> float:
    """F1 of words, or of mentions.

    Args:
        found, gold: contiguous.
        missed: further gold ones, which no chain holds.
    """
    columns = [np.stack([*table[:2], table.first, table.end - table.first], 1) for table in (found, gold)]
    size = np.concatenate(columns).max(0, initial=0) + 1
    one, other = (np.ravel_multi_index(tuple(rows.T), tuple(size.tolist())) for rows in columns)
    correct = len(np.intersect1d(one, other, assume_unique=True))
    return 2 * correct / max(1, len(one) + len(other) + missed)


def sentences_of(document: Document) -> list[Document]:
    """Each sentence of a document as a document with a text of its own; a mention stays where it begins.

    >>> document = Document("痛。无。", tokens=[[0, 1], [1, 2], [2, 3], [3, 4]], sentences=[[0, 2], [2, 4]])
    >>> [part.text for part in sentences_of(document)]
    ['痛。', '无。']
    """
    if document.tokens is None or document.sentences is None or len(document.sentences) < 2:
        return [document]
    tokens = document.tokens
    edges = [0, *tokens[document.sentences[1:, 0], 0].tolist(), len(document.text)]
    parts = []
    for (first, end), start, stop in zip(document.sentences.tolist(), edges, edges[1:], strict=False):
        mentions = [_moved(mention, start) for mention in document.mentions if start <= mention.start < stop]
        parts.append(
            Document(
                document.text[start:stop], document.id, tokens[first:end] - start,
                np.array([[0, end - first]]), mentions=mentions,
            )
        )  # fmt: skip
    return parts


def _moved(mention: Mention, by: int) -> Mention:
    return mention.replace(spans=tuple(Span(start - by, end - by) for start, end in mention.spans), head=None)


def with_words(document: Document) -> Document:
    """Return a document with sentences, whose tokens are its words.

    Raises:
        DataError: it has no tokens.
    """
    if document.tokens is None:
        raise DataError(f"document {document.id!r} has no words; give them as its tokens")
    return prepare(document)
