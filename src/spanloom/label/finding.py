"""Rules made ready: what each looks up, and what it matches in a batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spanloom.hashing import Int64
from spanloom.label.matches import Matches, longest
from spanloom.label.phrases import FoldedPhrases, GappedPhrases, WordPhrases, words_of
from spanloom.label.rules import Context, LabelRule, parts_of
from spanloom.label.sequences import find_sequences
from spanloom.label.text import LabelText

__all__ = ["Finder"]


class Finder:
    """A rule made ready.

    Args:
        rule: the rule.
    """

    def __init__(self, rule: LabelRule) -> None:
        self.rule = rule
        self._find = _finder(rule)
        conditions = [element.condition for pattern in rule.patterns for element in pattern]
        self.columns = sorted(set[str]().union(*(one.asked() for one in conditions)))

    def find(self, text: LabelText) -> Matches:
        """Return the matches of the rule in a batch."""
        found = self._find(text)
        for context in self.rule.contexts:
            found = found.take(np.flatnonzero(_near(text, found, context, self.rule) == context.wanted))
        return longest(found) if self.rule.overlaps == "longest" else found


def _finder(rule: LabelRule) -> Callable[[LabelText], Matches]:
    if rule.kind == "pattern":
        return lambda text: find_sequences(text, rule.patterns)
    if rule.kind == "gapped":
        parts = [[words_of(part) for part in parts_of(phrase)] for phrase in rule.phrases]
        return GappedPhrases(parts, rule.gap, rule.match).find
    if rule.match in ("folded", "loose"):
        return FoldedPhrases(rule.phrases, rule.match, capitals=rule.kind == "vocabulary").find
    return WordPhrases([words_of(phrase) for phrase in rule.phrases], rule.match).find


def _near(text: LabelText, found: Matches, context: Context, rule: LabelRule) -> Int64:
    """Return (M,) whether a word of a context stands near each match."""
    folded = rule.match != "exact"
    marked = text.where(lambda word: (word.casefold() if folded else word) in context.words)
    sums = np.append(0, marked.cumsum())
    first, end = found.first, found.end
    before = sums[first] - sums[np.maximum(first - context.before, text.begin[first])]
    after = sums[np.minimum(end + context.after, text.limit[end - 1])] - sums[end]
    near: Int64 = before + after > 0
    return near
