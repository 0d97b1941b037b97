"""Evaluation of word segmentation: words compared by offsets, and the recall of words unseen in training."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spanloom.document import Document, Mention, Span
from spanloom.document.markup import Printed
from spanloom.errors import DataError
from spanloom.evaluate.compare import Item, compare
from spanloom.evaluate.measures import Score
from spanloom.evaluate.report import score_table
from spanloom.evaluate.rows import row, scores
from spanloom.evaluate.units import pair, units, with_sentences


def words(document: Document) -> Iterator[Item]:
    """Yield the start and end of each token."""
    for start, end in [] if document.tokens is None else document.tokens.tolist():
        span = Span(start, end)
        yield span, Mention("word", (span,))


@dataclass(frozen=True, slots=True)
class WordReport(Printed):
    """Report of `evaluate_words`.

    Args:
        words: start and end equal.
        unseen: gold words that are not among the known ones, of which only recall has a meaning; ``None`` if the words
            of training are not given.
        cuts: mentions that begin or end inside a word of their own side, in ``gold`` and in ``predicted``.
    """

    words: Score
    unseen: Score | None
    cuts: dict[str, int]

    def to_text(self) -> str:
        """Return a table for a terminal; percent with two digits."""
        text = score_table("", [("words", self.words)], 14)
        if self.unseen is not None:
            recall = f"{100 * self.unseen.recall:8.2f}" if self.unseen.gold else f"{'-':>8}"
            text += f"{'unseen words':14}{'':7}{recall}{'':8}{self.unseen.gold:9,.0f}\n"
        if any(self.cuts.values()):
            text += f"mentions that cut words: {', '.join(f'{n:,} in {side}' for side, n in self.cuts.items())}\n"
        return text


def evaluate_words(
    gold: Sequence[Document], predicted: Sequence[Document], *, known: Collection[str] | None = None,
    bootstrap: int = 1000, seed: int = 0,
) -> WordReport:  # fmt: skip
    """Compare the tokens of predicted documents with those of gold ones.

    Documents are matched as by `evaluate`; the intervals are over sentences, too.

    Args:
        gold: N documents, whose tokens are words.
        predicted: predictions for the same texts.
        known: the words of the training data.
        bootstrap: samples for the 95 % intervals; 0 for no intervals.
        seed: of the random numbers.

    Raises:
        DataError: a document is missing or extra, its text differs, or it has no tokens.

    >>> gold = Document("无畏寒", tokens=[[0, 1], [1, 3]])
    >>> report = evaluate_words([gold], [gold.copy(tokens=[[0, 2], [2, 3]])], known={"无"}, bootstrap=0)
    >>> report.words.f1, report.unseen.recall, int(report.unseen.gold)
    (0.0, 0.0, 1)
    """
    predicted = pair(gold, predicted)
    for document in (*gold, *predicted):
        if document.tokens is None:
            raise DataError(f"document {document.id!r} has no tokens; to compare words, give them as its tokens")
    gold = with_sentences(gold)
    cut = units(gold, predicted)
    comparison = compare(gold, predicted, cut, words)
    rows = [row(comparison)]
    if known is not None:
        surfaces = zip(comparison.gold.document.tolist(), comparison.gold.mentions, strict=True)
        new = np.array([mention.text(gold[i].text) not in known for i, mention in surfaces], bool)
        rows.append(row(comparison, new, np.zeros(len(comparison.predicted.mentions), bool)))
    found = scores(rows, cut.count, bootstrap, seed)
    cuts = {side: sum(map(_cuts, documents)) for side, documents in (("gold", gold), ("predicted", predicted))}
    return WordReport(found[0], found[1] if known is not None else None, cuts)


def _cuts(document: Document) -> int:
    """Count the mentions of a document whose start or end is not that of a token."""
    tokens = np.zeros((0, 2), np.int64) if document.tokens is None else document.tokens
    starts, ends = set(tokens[:, 0].tolist()), set(tokens[:, 1].tolist())
    return sum(any(a not in starts or b not in ends for a, b in mention.spans) for mention in document.mentions)
