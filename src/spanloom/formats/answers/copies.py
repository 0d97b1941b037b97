"""A copy of a text with marks, aligned with the text."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import Final

from spanloom.document import Span
from spanloom.formats.answers.finding import Finder, Occurrences
from spanloom.formats.answers.folded import Folded, fold
from spanloom.formats.answers.monotone import CopyAlignment
from spanloom.formats.answers.tags import Mark, Marked

_NEARLY_ALL: Final = 0.9  # share of the text's words in a copy that is not cut short, and of the copy's in the text


class Copy:
    """A text as a model wrote it again, with marks.

    Args:
        marked: the copy.
        finder: of the text.

    >>> from spanloom.formats.answers.tags import read_markup
    >>> text = "He has mild\\nchest pain today, and no fever."
    >>> copy = Copy(read_markup("he has <x>mild chest pain</x>, and no <x>cough</x>.", text), Finder(text))
    >>> [copy.find(mark) for mark in copy.marked.marks]
    [Occurrences(spans=[(Span(start=7, end=22),)], exact=False, whole=True, too_many=False), None]
    """

    def __init__(self, marked: Marked, finder: Finder) -> None:
        self.marked = marked
        self._finder = finder

    @cached_property
    def _folded(self) -> Folded:
        return fold(self.marked.text, case=True)

    @cached_property
    def aligned(self) -> CopyAlignment:
        """The alignment of the folded copy with the folded text."""
        return CopyAlignment(self._folded.text, self._finder.caseless.text)

    def cut(self) -> str | None:
        """Describe how much of the text is not in the copy, if it is cut short."""
        share = self.aligned.of_text
        return None if share >= _NEARLY_ALL else f"it has {share:.0%} of the document's words"

    def added(self) -> str | None:
        """Describe how much of the copy is not in the text, if it is not nearly nothing."""
        share = 1 - self.aligned.of_copy
        return None if share <= 1 - _NEARLY_ALL else f"{share:.0%} of the answer's words are not the document's"

    def quote(self, mark: Mark) -> str:
        """Return what is marked."""
        return self.marked.text[mark.start : mark.end].strip()

    def find(self, mark: Mark) -> Occurrences | None:
        """Return where a marked piece stands: at its aligned place, else between the aligned words around it."""
        quote, text = self.quote(mark), self._folded.text
        first, end = (bisect_left(self._folded.starts, place) for place in (mark.start, mark.end))
        while first < end and text[first] == " ":
            first += 1
        while first < end and text[end - 1] == " ":
            end -= 1
        if first == end:
            return None
        original = self._finder.caseless
        ends = self._folded.ends
        cut = ends[end - 1] > mark.end  # between a letter and its accent
        while first and ends[first - 1] > mark.start:
            first, cut = first - 1, True
        place = None if cut else self.aligned.place(first, end)
        span = None if place is None else original.span(*place)
        if span is not None:
            return Occurrences([(Span(*span),)], self._finder.text[slice(*span)] == quote)
        return self._between(quote, self.aligned.window(first, end))

    def _between(self, quote: str, window: tuple[int, int]) -> Occurrences | None:
        found = self._finder.find(quote)
        if found is None or window[0] >= window[1]:
            return None
        original = self._finder.caseless
        start, end = original.starts[window[0]], original.ends[window[1] - 1]
        spans = [one for one in found.spans if start <= one[0].start and one[-1].end <= end]
        return found._replace(spans=spans) if spans else None
