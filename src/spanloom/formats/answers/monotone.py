"""Monotone alignment of a copy of a text with the text: which character of the copy is which of the text.

Words that stand once in both are anchors; the longest chain of them that is in order in both counts (patience sorting).
Between anchors the same is done again, and where no word stands once, a longest common subsequence is computed. So a
copy that is cut short, or leaves out or adds sentences, is aligned in little more than the time to read it.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from rapidfuzz.distance import LCSseq

from spanloom.text.characters import CJK

_WORD: Final = re.compile(rf"[{CJK}]|[^\W{CJK}]++|[^\w\s]")
_DEEPEST: Final = 24  # rounds of anchors between anchors
_CELLS: Final = 100_000_000  # of the table of a longest common subsequence, a bit each
_Range = tuple[int, int, int, int]  # words of the copy from, to; of the text from, to


class CopyAlignment:
    """Alignment of a copy with its text, both folded.

    Args:
        copy: of C characters.
        text: of D characters.

    >>> aligned = CopyAlignment("Sure! She has mild pain, and fever.", "She has mild pain.\\nNo fever. No mild cold.")
    >>> aligned.place(14, 23), aligned.place(24, 34), round(aligned.of_copy, 2), round(aligned.of_text, 2)
    ((8, 17), None, 0.6, 0.5)
    >>> aligned.window(25, 28)
    (17, 22)
    """

    def __init__(self, copy: str, text: str) -> None:
        self._copy, self._text = copy, text
        self._words, words = _bounds(copy), _bounds(text)
        of_copy, of_text = _numbers(copy, self._words, text, words)
        pairs = sorted(_pairs(of_copy, of_text))
        self._from = [self._words[0][one] for one, _ in pairs]
        self._to = [words[0][other] for _, other in pairs]
        self._ends = [words[1][other] for _, other in pairs]
        self.of_copy = len(pairs) / max(1, len(of_copy))
        """The share of the copy's words that are words of the text."""
        self.of_text = len(pairs) / max(1, len(of_text))
        """The share of the text's words that the copy has."""

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the characters of the text that a piece of the copy is; ``None`` if the text has not just these."""
        first, last = self._place(start), self._place(end - 1)
        if first is None or last is None or self._copy[start:end] != self._text[first : last + 1]:
            return None
        return first, last + 1

    def _place(self, character: int) -> int | None:
        pair = bisect_left(self._from, character + 1) - 1
        if pair < 0:
            return None
        place = self._to[pair] + character - self._from[pair]
        return place if place < self._ends[pair] else None

    def window(self, start: int, end: int) -> tuple[int, int]:
        """Return the characters of the text in which a piece of the copy must stand, by what is aligned around it."""
        before, behind = bisect_left(self._from, start) - 1, bisect_left(self._from, end)
        if before >= 0 and self._from[before] + self._ends[before] - self._to[before] > start:
            before -= 1  # the piece begins inside this word
        return (
            self._ends[before] if before >= 0 else 0,
            self._to[behind] if behind < len(self._to) else len(self._text),
        )


def _bounds(text: str) -> tuple[array[int], array[int]]:
    starts, ends = array("q"), array("q")
    for match in _WORD.finditer(text):
        starts.append(match.start())
        ends.append(match.end())
    return starts, ends


def _numbers(
    copy: str, copied: tuple[array[int], array[int]], text: str, words: tuple[array[int], array[int]]
) -> tuple[list[int], list[int]]:
    """Return the words of both as numbers."""
    known: dict[str, int] = {}
    of_copy, of_text = (
        [known.setdefault(one[start:end], len(known)) for start, end in zip(*bounds, strict=True)]
        for one, bounds in ((copy, copied), (text, words))
    )
    return of_copy, of_text


def _pairs(copy: Sequence[int], text: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of equal words, monotone when they are sorted."""
    ranges: list[tuple[_Range, int]] = [((0, len(copy), 0, len(text)), 0)]
    while ranges:
        (first, end, start, stop), depth = ranges.pop()
        while first < end and start < stop and copy[first] == text[start]:
            yield first, start
            first, start = first + 1, start + 1
        while first < end and start < stop and copy[end - 1] == text[stop - 1]:
            end, stop = end - 1, stop - 1
            yield end, stop
        if first == end or start == stop:
            continue
        anchors = _anchors(copy, text, (first, end, start, stop)) if depth < _DEEPEST else []
        if anchors:
            yield from anchors
            around = [(first - 1, start - 1), *anchors, (end, stop)]
            ranges += [((a + 1, c, b + 1, d), depth + 1) for (a, b), (c, d) in pairwise(around)]
        elif (end - first) * (stop - start) <= _CELLS:
            yield from _common(copy[first:end], text[start:stop], first, start)


def _anchors(copy: Sequence[int], text: Sequence[int], within: _Range) -> list[tuple[int, int]]:
    """Return the longest chain, in order in both, of words that stand once in both ranges."""
    first, end, start, stop = within
    counts, others = Counter(copy[first:end]), Counter(text[start:stop])
    places = {text[j]: j for j in range(start, stop) if others[text[j]] == 1}
    pairs = [(i, places[copy[i]]) for i in range(first, end) if counts[copy[i]] == 1 and copy[i] in places]
    lasts: list[int] = []  # of the chains of each length, the one whose end is the first in the text
    chains: list[int] = []  # the pair that ends it
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(lasts, place)
        before.append(chains[length - 1] if length else -1)
        lasts[length : length + 1] = [place]
        chains[length : length + 1] = [number]
    chain: list[tuple[int, int]] = []
    number = chains[-1] if chains else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _common(copy: Sequence[int], text: Sequence[int], first: int, start: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of a longest common subsequence of two ranges that begin at ``first`` and ``start``."""
    for block in LCSseq.opcodes(copy, text).as_matching_blocks():
        yield from ((first + block.a + step, start + block.b + step) for step in range(block.size))
