"""Evaluation of tokens: words compared by offsets, recall of words unseen in training, and token columns."""

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
from spanloom.evaluate.rows import Ints, ReportRow, bootstrap, percentile_interval, row, scores, unit_counts
from spanloom.evaluate.units import name, pair, units, with_sentences


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


# Accuracy of a token column, such as parts of speech.


@dataclass(frozen=True)
class TagReport(Printed):
    """Accuracy of a token column, with its interval.

    Args:
        column: its name.
        tokens: of the gold documents.
        correct: the number of tokens with the gold value.
        accuracy: the fraction of correct tokens.
        low, high: its 95 % interval over sentences, by bootstrap.
    """

    column: str
    tokens: int
    correct: int
    accuracy: float
    low: float
    high: float

    def to_text(self) -> str:
        """Return the report in one line."""
        interval = f"95 % interval {100 * self.low:.2f} to {100 * self.high:.2f}"
        tokens = f"{self.correct:,} of {self.tokens:,} tokens"
        return f"{self.column}: accuracy {100 * self.accuracy:.2f} ({interval}), {tokens}\n"


def evaluate_tags(
    gold: Sequence[Document], predicted: Sequence[Document], column: str = "pos", *, samples: int = 1000, seed: int = 0
) -> TagReport:
    """Compare a column token by token.

    Args:
        gold: with tokens, sentences and the column.
        predicted: the same texts and tokens, with the column.
        column: its name.
        samples: of the bootstrap (see `spanloom.evaluate.rows`).
        seed: of the bootstrap.

    Raises:
        DataError: documents, tokens or columns are missing or do not match.

    >>> tokens, sentences = [(0, 4), (5, 9)], [(0, 2)]
    >>> gold = Document("left lung", tokens=tokens, sentences=sentences, columns={"pos": ["JJ", "NN"]})
    >>> evaluate_tags([gold], [gold.copy(columns={"pos": ["NN", "NN"]})]).accuracy
    0.5
    """
    counts = [
        _counts(one, other, column, i) for i, (one, other) in enumerate(zip(gold, pair(gold, predicted), strict=True))
    ]
    correct, sizes = np.concatenate([np.zeros((0, 2), np.int64), *counts]).T
    right, every = (np.repeat(np.arange(len(sizes)), count) for count in (correct, sizes))
    if not len(every):
        raise DataError("the gold documents hold no tokens; give annotated text")
    # precision, recall and F1 are one where each token has one value on either side
    drawn = bootstrap(unit_counts([ReportRow.matched(every, every, right)], len(sizes)), 1, samples, seed)[:, 0, 2]
    low, high = percentile_interval(drawn).tolist()
    return TagReport(column, len(every), len(right), len(right) / len(every), low, high)


def _counts(gold: Document, predicted: Document, column: str, number: int) -> Ints:
    """Count the right tokens and all tokens of each sentence, (N, 2)."""
    place = f"document {name(gold, number)}"
    if gold.tokens is None or gold.sentences is None or predicted.tokens is None:
        raise DataError(f"{place}: a side has no tokens or sentences; give documents that do, such as JSONL")
    if not np.array_equal(gold.tokens, predicted.tokens):
        raise DataError(f"{place}: the predicted tokens are not those of gold; predict on the gold documents")
    size = len(gold.tokens)
    sides = []
    for side, document in (("gold", gold), ("predicted", predicted)):
        values = document.columns.get(column, [] if not size else None)
        if values is None or len(values) != size:
            found = f"no column {column!r}" if values is None else f"{len(values)} values in column {column!r}"
            raise DataError(f"{place}: the {side} document has {found}, expected one for each of {size} tokens")
        sides.append(np.array(values, object))
    right = np.append(0, np.cumsum(sides[0] == sides[1]))
    first, end = gold.sentences.T
    return np.stack([right[end] - right[first], end - first], 1).astype(np.int64)
