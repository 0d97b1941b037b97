"""Explanations in a sentence: which words speak for a mention, and which against it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from spanloom.document import Document, Mention
from spanloom.errors import one_line
from spanloom.scoring.explanation import Contribution

_OFFSET = re.compile(r"\[(-?\d+)\]")
_SHOWN: Final = 2  # words for the answer
_LONG: Final = 30  # characters of a word


def in_words(document: Document, mention: Mention, contributions: Iterable[Contribution], predicted: bool) -> str:
    """Return a sentence that names the words that speak most for a mention, and the one that speaks most against it.

    The contribution of a word is a sum over all features that use it, at any token, and over all roles in which the
    structures with the mention and without it differ. A feature of several words counts for each in equal parts.

    Args:
        document: with tokens.
        mention: that is found, or not.
        contributions: what differs between the best structure with it and the best one without it.
        predicted: whether it is found.

    >>> from spanloom.scoring import Part
    >>> document = Document("No chest pain", tokens=[[0, 2], [3, 8], [9, 13]])
    >>> start = Contribution("S", 1, 1.6, 1, features=(Part("low[-1]=no", 1.0), Part("low[0]=chest", 0.6)))
    >>> in_words(document, Mention("problem", [(3, 13)]), [start], True)
    'found, above all for “No” (just before it, +1.00) and “chest” (its first word, +0.60)'
    """
    if document.tokens is None:
        return ""
    added = _by_word(contributions)
    order = sorted((token for token in added if 0 <= token < len(document.tokens)), key=lambda token: -added[token])
    sign = 1 if predicted else -1
    strongest = [token for token in order[::sign] if sign * added[token] > 0][:_SHOWN]
    against = next((token for token in order[::-sign] if sign * added[token] < 0), None)
    if not strongest:
        return ""
    words = [_worded(document, mention, token, added[token]) for token in strongest]
    found = f"{'found' if predicted else 'not found'}, above all for {' and '.join(words)}"
    if against is None:
        return found
    return f"{found}; against that speaks {_worded(document, mention, against, added[against])}"


def _by_word(contributions: Iterable[Contribution]) -> dict[int, float]:
    """Return what the words add, by their number in the document."""
    added: dict[int, float] = defaultdict(float)
    for one in contributions:
        if one.token is None:
            continue
        for name, score in one.features:
            offsets = set(map(int, _OFFSET.findall(name.partition("=")[0])))
            for offset in offsets:
                added[one.token + offset] += one.times * score / len(offsets)
    return added


def _worded(document: Document, mention: Mention, token: int, score: float) -> str:
    assert document.tokens is not None  # the caller looked
    start, end = document.tokens[token].tolist()
    word = one_line(document.text[start:end])
    shown = word if len(word) <= _LONG else f"{word[: _LONG - 1]}…"
    return f"“{shown}” ({_place(document.tokens.tolist(), mention, token)}, {score:+.2f})"


def _place(tokens: Sequence[Sequence[int]], mention: Mention, token: int) -> str:
    """Return the position of a word relative to a mention."""
    own = [i for i, (start, end) in enumerate(tokens) if any(start < b and a < end for a, b in mention.spans)]
    if token in own:
        if len(own) == 1:
            return "the word itself"
        return "its first word" if token == own[0] else "its last word" if token == own[-1] else "within it"
    if own[0] < token < own[-1]:
        return "in its gap"
    distance = own[0] - token if token < own[0] else token - own[-1]
    side = "before" if token < own[0] else "after"
    return f"just {side} it" if distance == 1 else f"{distance} words {side} it"
