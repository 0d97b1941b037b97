"""Alignment of mentions with tokens, and conversion between mentions and tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from spanloom.document.document import Document
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
    tokens = document.tokens
    bounds = np.zeros(0, np.int64) if document.sentences is None else document.sentences[:, 1]
    starts = {start: i for i, start in enumerate(tokens[:, 0].tolist())}
    ends = {end: i + 1 for i, end in enumerate(tokens[:, 1].tolist())}
    aligned = []
    for mention in document.mentions if mentions is None else mentions:
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


# Conversion between mentions and tags: BIO and BILOU, as pure functions.
#
# A tag is ``O`` or a letter, a hyphen and a type, such as ``B-problem``. Mentions are ``(first, end, type)`` in tokens,
# half-open. Tags hold neither overlaps nor gaps; the caller must exclude them.

TypedRange = tuple[int, int, str]

_BILOU_LETTERS = {"S": "U", "E": "L", "M": "I"}  # BIOES and BMES write the same tags with other letters


def to_bio(mentions: Iterable[TypedRange], length: int) -> list[str]:
    """Return the BIO (also called IOB2) tags of a sentence.

    >>> to_bio([(0, 2, "test")], 3)
    ['B-test', 'I-test', 'O']
    """
    tags = ["O"] * length
    for first, end, kind in mentions:
        tags[first:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - first - 1)
    return tags


def to_bilou(mentions: Iterable[TypedRange], length: int) -> list[str]:
    """Return the BILOU tags of a sentence.

    >>> to_bilou([(0, 2, "test"), (2, 3, "test")], 3)
    ['B-test', 'L-test', 'U-test']
    """
    mentions = list(mentions)
    tags = to_bio(mentions, length)
    for first, end, kind in mentions:
        tags[end - 1] = f"{'U' if end - first == 1 else 'L'}-{kind}"
    return tags


def from_tags(tags: Sequence[str]) -> list[TypedRange]:
    """Return the mentions of BIO, IOB1, BILOU or BIOES tags; the scheme need not be named.

    A tag that cannot follow the one before it (``I-x`` after ``O``) starts a mention, as CoNLL's scorer reads it.

    >>> from_tags(["B-a", "I-a", "I-b", "O", "U-a"])
    [(0, 2, 'a'), (2, 3, 'b'), (4, 5, 'a')]
    >>> from_tags(["I-a", "I-a", "B-a"])
    [(0, 2, 'a'), (2, 3, 'a')]
    """
    mentions: list[TypedRange] = []
    first, open_kind = 0, ""
    for i, tag in enumerate(tags):
        letter, kind = _split(tag)
        if open_kind and (letter in "OBU" or kind != open_kind):
            mentions.append((first, i, open_kind))
            open_kind = ""
        if letter == "O":
            continue
        if not open_kind:
            first, open_kind = i, kind
        if letter in "LU":
            mentions.append((first, i + 1, kind))
            open_kind = ""
    if open_kind:
        mentions.append((first, len(tags), open_kind))
    return mentions


def from_levels(rows: Sequence[Sequence[str]]) -> list[TypedRange]:
    """Return the mentions of tokens that have a tag for each mention that they are in, as many as there are.

    A tag such as ``I-x`` continues the mention of its type that has the same place among the tags of the token before,
    else the first mention of its type that no other tag continues: places shift where a mention begins or ends.

    Args:
        rows: the tags of each token; a token outside of all mentions has none, or ``O``.

    >>> from_levels([["B-a"], ["I-a", "B-b"], ["I-b"]])
    [(0, 2, 'a'), (1, 3, 'b')]
    """
    mentions: list[TypedRange] = []
    before: dict[tuple[str, int], int] = {}  # type and place among the tags of the token before -> start
    for i, row in enumerate(rows):
        tags = [(place, *_split(tag)) for place, tag in enumerate(row) if tag != "O"]
        rest: dict[str, dict[int, int]] = {}  # type -> place -> start, of mentions that no tag continues yet
        for (kind, place), start in before.items():
            rest.setdefault(kind, {})[place] = start
        starts = {
            place: rest[kind].pop(place)
            for place, letter, kind in tags
            if letter not in "BU" and place in rest.get(kind, ())
        }
        before = {}
        for place, letter, kind in tags:
            if place not in starts:
                others = rest.get(kind) if letter not in "BU" else None
                starts[place] = others.pop(next(iter(others))) if others else i
            if letter in "LU":
                mentions.append((starts[place], i + 1, kind))
            else:
                before[kind, place] = starts[place]
        mentions += [(start, i, kind) for kind, places in rest.items() for start in places.values()]
    mentions += [(start, len(rows), kind) for (kind, _), start in before.items()]
    return sorted(mentions, key=lambda mention: (mention[0], -mention[1]))


def _split(tag: str) -> tuple[str, str]:
    letter, _, kind = tag.partition("-")
    return _BILOU_LETTERS.get(letter, letter), kind
