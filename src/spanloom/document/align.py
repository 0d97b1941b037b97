"""Alignment of mentions with tokens, and of token ranges with characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spanloom.document.document import Document, Offsets
from spanloom.document.span import Mention, Span
from spanloom.errors import DataError, clip


class TokenRange(NamedTuple):
    """Tokens ``first`` to ``end``, half-open, counted in the document."""

    first: int
    end: int


class Alignment(NamedTuple):
    """A mention aligned with tokens.

    Args:
        mention: the mention, unchanged.
        ranges: its tokens; spans that touch, or that only white space separates, are one range. ``None`` if an end
            falls inside a token, in white space, or outside every token.
        sentence: the sentence that holds all of it; -1 if none does.
    """

    mention: Mention
    ranges: tuple[TokenRange, ...] | None
    sentence: int


def align(document: Document, mentions: Sequence[Mention] | None = None) -> list[Alignment]:
    """Align each mention of a document with its tokens.

    Args:
        document: tokenized.
        mentions: the mentions to align; the document's own when ``None``.

    Raises:
        DataError: the document has no tokens.

    >>> document = Document("mild or severe pain", tokens=[[0, 4], [5, 7], [8, 14], [15, 19]])
    >>> document.mentions = [Mention("problem", [(0, 4), (15, 19)]), Mention("problem", [(8, 14), (15, 19)])]
    >>> [alignment.ranges for alignment in align(document)]
    [(TokenRange(first=0, end=1), TokenRange(first=3, end=4)), (TokenRange(first=2, end=4),)]
    """
    if document.tokens is None:
        raise DataError(f"document {clip(document.id)} has no tokens; tokenize it first")
    bounds = np.zeros(0, np.int64) if document.sentences is None else document.sentences[:, 1]
    return align_with(document.tokens, bounds, document.mentions if mentions is None else mentions)


def align_with(tokens: Offsets, bounds: Offsets, mentions: Sequence[Mention]) -> list[Alignment]:
    """Align mentions with tokens, (T, 2), of sentences that end before some tokens; see `align`."""
    if not mentions:
        return []
    starts = {start: i for i, start in enumerate(tokens[:, 0].tolist())}
    ends = {end: i + 1 for i, end in enumerate(tokens[:, 1].tolist())}
    aligned = []
    for mention in mentions:
        ranges = _ranges(mention, starts, ends)
        sentence = -1
        if ranges is not None and len(bounds):
            sentence = int(np.searchsorted(bounds, ranges[0].first, side="right"))
            if sentence >= len(bounds) or ranges[-1].end > bounds[sentence]:
                sentence = -1
        aligned.append(Alignment(mention, ranges, sentence))
    return aligned


def _ranges(mention: Mention, starts: dict[int, int], ends: dict[int, int]) -> tuple[TokenRange, ...] | None:
    ranges: list[TokenRange] = []
    for start, end in mention.spans:
        first, last = starts.get(start), ends.get(end)
        if first is None or last is None or first >= last:
            return None
        if ranges and ranges[-1].end == first:
            ranges[-1] = TokenRange(ranges[-1].first, last)
        else:
            ranges.append(TokenRange(first, last))
    return tuple(ranges)


def to_spans(document: Document, ranges: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """Return token ranges as character spans.

    >>> document = Document("mild pain", tokens=[[0, 4], [5, 9]])
    >>> to_spans(document, [(0, 2)])
    (Span(start=0, end=9),)
    """
    if document.tokens is None:
        raise DataError(f"document {clip(document.id)} has no tokens; tokenize it first")
    tokens = document.tokens
    return tuple(Span(int(tokens[first, 0]), int(tokens[end - 1, 1])) for first, end in ranges)
