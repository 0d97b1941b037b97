"""Accuracy of a token column, such as parts of speech."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanloom.document import Document
from spanloom.document.markup import Printed
from spanloom.errors import DataError, check_number
from spanloom.evaluate.resample import bootstrap, percentile_interval
from spanloom.evaluate.units import name, pair


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
        samples: of the bootstrap (see `spanloom.evaluate.resample`).
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
    units = np.concatenate([np.zeros((0, 2)), *counts])
    correct, tokens = units.sum(0).astype(int).tolist() if len(units) else (0, 0)
    if not tokens:
        raise DataError("the gold documents hold no tokens; give annotated text")
    # precision, recall and F1 are one where each token has one value on either side
    check_number("samples", samples, 1, whole=True)
    check_number("seed", seed, 0, whole=True)
    found = bootstrap(units[:, [0, 1, 0, 1]], 1, samples, seed)[:, 0, 2]
    low, high = percentile_interval(found).tolist()
    return TagReport(column, tokens, correct, correct / tokens, low, high)


def _counts(gold: Document, predicted: Document, column: str, number: int) -> np.ndarray[Any, np.dtype[np.float64]]:
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
    right = np.concatenate([[0], np.cumsum(sides[0] == sides[1])]) if size else np.zeros(1)
    first, end = gold.sentences.T
    return np.stack([right[end] - right[first], end - first], 1).astype(np.float64)
