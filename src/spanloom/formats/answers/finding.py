"""Occurrences of a quote in a text: as it stands, else folded; whole words before parts of words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from spanloom.document import Span
from spanloom.formats.answers.folded import Folded, fold, unfolded
from spanloom.text import tokenize

MOST: Final = 1000  # occurrences of one quote; what stands more often is no mention
_LONG: Final = 256  # characters of a quote whose occurrences are not looked for inside each other, which takes long
_SHORT: Final = 4  # characters of a quote that must be written alike where it is a part of a word: MI is not in family
_CASE, _BLANKS = 2, 3  # degrees of folding; 0 is none, 1 all but these
_AROUND: Final = "\"'`*_“”‘’«»„.,;: \t\r\n"  # what a model puts around a quote


class Occurrences(NamedTuple):
    """Where a quote stands.

    Args:
        spans: the occurrences, in text order, each with one span for each part of the quote.
        exact: whether the text has the quote as it is written.
        whole: whether the occurrences begin and end with words.
        too_many: whether there are more than `MOST`; ``spans`` has the first.
    """

    spans: Sequence[tuple[Span, ...]]
    exact: bool = True
    whole: bool = True
    too_many: bool = False


class Finder:
    """Finds quotes in a text.

    Args:
        text: the text, of n characters; a search takes time in proportion to n.

    >>> finder = Finder("No chest\\n pain. Painful arm.")
    >>> finder.find("chest pain")
    Occurrences(spans=[(Span(start=3, end=14),)], exact=False, whole=True, too_many=False)
    >>> finder.find("PAIN").spans, finder.find("Pain").spans, finder.find("fever")
    ([(Span(start=10, end=14),)], [(Span(start=10, end=14),)], None)
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: dict[str, Occurrences | None] = {}

    @cached_property
    def spelled(self) -> Folded:
        """The text folded, but for case."""
        return fold(self.text)

    @cached_property
    def caseless(self) -> Folded:
        """The text folded, case too."""
        return fold(self.text, case=True)

    @cached_property
    def _without_blanks(self) -> Folded:
        """The text folded, case too, and without white space."""
        return self.caseless.without_blanks()

    @cached_property
    def _words(self) -> tuple[frozenset[int], frozenset[int]]:
        tokens = tokenize(self.text)
        return frozenset(tokens[:, 0].tolist()), frozenset(tokens[:, 1].tolist())

    def find(self, quote: str) -> Occurrences | None:
        """Return the occurrences of a quote, ``None`` if there is none.

        The first of these that stands anywhere counts: as written, spelled otherwise, in other case, with other blanks
        between words, each as whole words; then, but for the last, as a part of words; then without the marks around
        the quote.
        """
        if quote not in self._found:
            plain, bare = quote.strip(), quote.strip(_AROUND)
            self._found[quote] = self._search(plain) or (self._search(bare) if bare != plain else None)
        return self._found[quote]

    def stands(self, quote: str) -> bool:
        """Whether a quote stands in the text as whole words."""
        found = self.find(quote)
        return found is not None and found.whole

    def _search(self, quote: str) -> Occurrences | None:
        inside: Occurrences | None = None
        starts, ends = self._words
        # what does not stand in the most folded text need not be looked for in the others
        if not quote or (quote not in self.text and self._level(_BLANKS, quote)[1] not in self._without_blanks.text):
            return None
        for level in range(_BLANKS + 1):
            text, wanted = self._level(level, quote)
            spans, more = _all(text, wanted)
            whole = [(start, end) for start, end in spans if start in starts and end in ends]
            if whole:
                return Occurrences(_single(whole), level == 0, True, more)
            if spans and inside is None and (level < _CASE or (level == _CASE and len(wanted) >= _SHORT)):
                inside = Occurrences(_single(spans), level == 0, False, more)
        return inside

    def _level(self, level: int, quote: str) -> tuple[Folded, str]:
        if level == 0:
            return unfolded(self.text), quote
        folded = fold(quote, case=level >= _CASE)
        if level == _BLANKS:
            return self._without_blanks, folded.without_blanks().text
        return (self.caseless if level == _CASE else self.spelled), folded.text.strip()

    def find_parts(self, parts: Sequence[str]) -> Occurrences | None:
        """Return the occurrences of a quote in parts with gaps between them: those that are as short as can be.

        Parts may be given in another order than that of the text. A part alone is an occurrence of its own.

        >>> Finder("Mild or severe pain, later mild pain").find_parts(["Mild", "pain"]).spans
        [(Span(start=0, end=4), Span(start=15, end=19))]
        """
        if len(parts) == 1:
            return self.find(parts[0]) or self._elided(parts[0])
        found = [self.find(part) for part in parts]
        known = [one for one in found if one is not None]
        if len(known) < len(parts):
            return None
        spans = _shortest([one.spans for one in known])
        if not spans:
            known.sort(key=lambda one: one.spans[0])
            spans = _shortest([one.spans for one in known])
        exact, whole = all(one.exact for one in known), all(one.whole for one in known)
        return Occurrences(spans, exact, whole, any(one.too_many for one in known)) if spans else None

    def _elided(self, quote: str) -> Occurrences | None:
        """Return the occurrences of a quote with marks of omission between its parts."""
        parts = [part.strip().removesuffix("[").removeprefix("]") for part in quote.replace("…", "...").split("...")]
        parts = [part for part in parts if part.strip(" ()[].")]
        return self.find_parts(parts) if len(parts) > 1 else None


def _all(text: Folded, quote: str) -> tuple[list[tuple[int, int]], bool]:
    """Return the spans of a quote, at most `MOST`, and whether there are more."""
    spans: list[tuple[int, int]] = []
    size = len(quote)
    at = text.text.find(quote) if size else -1
    while at >= 0:
        span = text.span(at, at + size)
        if span is not None:
            if len(spans) == MOST:
                return spans, True
            spans.append(span)
        at = text.text.find(quote, at + (1 if size < _LONG else size))
    return spans, False


def _single(spans: Iterable[tuple[int, int]]) -> list[tuple[Span, ...]]:
    return [(Span(start, end),) for start, end in spans]


def _shortest(parts: Sequence[Sequence[tuple[Span, ...]]]) -> list[tuple[Span, ...]]:
    """Return the chains of one occurrence of each part, in order, that hold no shorter one."""
    chains: dict[Span, tuple[Span, ...]] = {}  # by the last span: the latest start is the shortest
    places = [0] * len(parts)
    for (first,) in parts[0]:
        chain = [first]
        for number in range(1, len(parts)):
            spans = parts[number]
            # the ends only grow, so that each list is walked through once
            while places[number] < len(spans) and spans[places[number]][0].start < chain[-1].end:
                places[number] += 1
            if places[number] == len(spans):
                return list(chains.values())
            chain.append(spans[places[number]][0])
        chains[chain[-1]] = tuple(chain)
    return list(chains.values())
