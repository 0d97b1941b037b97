"""Search for quotes in a text, and alignment of a copy of a text with the text.

Both work on folded texts, which have one form for white space, quotation marks, dashes and Unicode variants. Each
character of a folded text refers to the characters of the original that it stands for, so that every match in a folded
text is a span of the original.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple
from unicodedata import category, combining, normalize

from rapidfuzz.distance import LCSseq

from spanloom.document import Span
from spanloom.text import tokenize
from spanloom.text.characters import CJK
from spanloom.text.patterns import pattern

MOST: Final = 1000  # occurrences of one quote; a quote with more is not used
_LONG: Final = 256  # characters; occurrences of longer quotes must not overlap, which keeps the search linear
_SHORT: Final = 4  # characters; shorter quotes match inside a word only in the same case: MI is not in family
_CASE, _BLANKS = 2, 3  # levels of folding that ignore case, and white space, too; 0 is no folding
_AROUND: Final = "\"'`*_“”‘’«»„.,;: \t\r\n"  # characters that models put around a quote
_CJK: Final = re.compile(f"[{CJK}]")
_FORMS: Final = {"'": "‘’‚‛′`´ʹʼ＇", '"': "“”„‟″«»〝〞＂", "-": "‐‑‒–—―−﹘﹣－"}
_ONE_FORM: Final = str.maketrans({other: one for one, others in _FORMS.items() for other in others})
_INVISIBLE: Final = frozenset({"Cc", "Cf"})  # control characters, joiners, direction marks, soft hyphens
_SELECTORS: Final = frozenset(map(chr, range(0xFE00, 0xFE10)))
_CACHED: Final = 1 << 14  # characters with their accents
_WORD: Final = pattern(rf"[{CJK}]|[^\W{CJK}]++|[^\w\s]")
_DEEPEST: Final = 24  # recursive rounds of anchors
_CELLS: Final = 100_000_000  # bits in the table of a longest common subsequence

Spans = tuple[Span, ...]


class Folded(NamedTuple):
    """A folded text of F characters.

    Args:
        text: the F characters.
        starts: (F,) start of the original characters that each character stands for.
        ends: (F,) their end.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, first: int, end: int) -> tuple[int, int] | None:
        """Return the span of the original for a range of folded characters; ``None`` if it would split a character.

        >>> folded = fold("½ cup")
        >>> folded.text, folded.span(0, 3), folded.span(0, 1)
        ('1⁄2 cup', (0, 1), None)
        """
        before = first and self.starts[first - 1] == self.starts[first]
        behind = end < len(self.text) and self.starts[end - 1] == self.starts[end]
        return None if before or behind else (self.starts[first], self.ends[end - 1])

    def without_blanks(self) -> Folded:
        """Return the folded text without white space."""
        kept = [place for place, character in enumerate(self.text) if character != " "]
        starts, ends = (array("q", [places[at] for at in kept]) for places in (self.starts, self.ends))
        return Folded(self.text.replace(" ", ""), starts, ends)


def fold(text: str, *, case: bool = False) -> Folded:
    r"""Fold a text: one form for white space, quotation marks and dashes, and NFKD normalization.

    A run of white space becomes one blank, and is removed next to a character of a script that has no blanks between
    words. Invisible characters are removed.

    Args:
        text: the text.
        case: whether to fold case, too.

    >>> fold("“Mild”\n  chest–pain").text, fold("Ångström", case=True).text == fold("ÅNGSTRÖM", case=True).text
    ('"Mild" chest-pain', True)
    >>> fold("胸\n痛 5 mg").text
    '胸痛5 mg'
    """
    out: list[str] = []
    starts, ends = array("q"), array("q")
    position, length, spaceless = 0, len(text), False
    while position < length:
        start, character = position, text[position]
        position += 1
        if character.isspace():
            folded = "" if spaceless else " "
            if out and out[-1] == " ":
                ends[-1], folded = position, ""
        else:
            while position < length and text[position] > "\u02ff" and combining(text[position]):
                position += 1
            if folded := _piece(text[start:position], case):
                spaceless = character > "\u2e7f" and _CJK.match(character) is not None
            if folded and spaceless and out and out[-1] == " ":
                del out[-1], starts[-1], ends[-1]
        for one in folded:
            out.append(one)
            starts.append(start)
            ends.append(position)
    return Folded("".join(out), starts, ends)


@lru_cache(_CACHED)
def _piece(piece: str, case: bool) -> str:
    """Fold a character with its accents; empty if it is invisible."""
    folded = normalize("NFKD", piece.translate(_ONE_FORM)).translate(_ONE_FORM)
    if case:
        folded = normalize("NFKD", folded.casefold())
    shown = (one for one in folded if category(one) not in _INVISIBLE and one not in _SELECTORS)
    return "".join(one for one in shown if not one.isspace())


class Occurrences(NamedTuple):
    """The occurrences of a quote.

    Args:
        spans: the occurrences, in text order, each with one span for each part of the quote.
        exact: whether the text has the quote verbatim.
        whole: whether the occurrences begin and end at word boundaries.
        too_many: whether there are more than `MOST`; ``spans`` has the first.
    """

    spans: Sequence[Spans]
    exact: bool = True
    whole: bool = True
    too_many: bool = False


class Finder:
    """Search for quotes in a text.

    Args:
        text: the text, of n characters; a search takes O(n) time.

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
    def caseless(self) -> Folded:
        """The folded text, with case folded."""
        return fold(self.text, case=True)

    @cached_property
    def _cased(self) -> Folded:
        return fold(self.text)

    @cached_property
    def _without_blanks(self) -> Folded:
        return self.caseless.without_blanks()

    @cached_property
    def _words(self) -> tuple[frozenset[int], frozenset[int]]:
        tokens = tokenize(self.text)
        return frozenset(tokens[:, 0].tolist()), frozenset(tokens[:, 1].tolist())

    def find(self, quote: str) -> Occurrences | None:
        """Return the occurrences of a quote, or ``None``.

        The comparison is relaxed step by step until whole words match: verbatim, folded, folded with case, without
        white space. If no whole words match, the first match inside words is returned, except for the last step. Then
        the same is tried without the punctuation around the quote.
        """
        if quote not in self._found:
            plain, bare = quote.strip(), quote.strip(_AROUND)
            self._found[quote] = self._search(plain) or (self._search(bare) if bare != plain else None)
        return self._found[quote]

    def occurs(self, quote: str) -> bool:
        """Whether the text has a quote as whole words."""
        found = self.find(quote)
        return found is not None and found.whole

    def _search(self, quote: str) -> Occurrences | None:
        inside: Occurrences | None = None
        starts, ends = self._words
        # a quote that is not in the most folded text is in none of the others
        if not quote or (quote not in self.text and self._level(_BLANKS, quote)[1] not in self._without_blanks.text):
            return None
        for level in range(_BLANKS + 1):
            text, quoted = self._level(level, quote)
            spans, more = _find_all(text, quoted)
            if whole := [(span,) for (span,) in spans if span.start in starts and span.end in ends]:
                return Occurrences(whole, level == 0, True, more)
            if spans and inside is None and (level < _CASE or (level == _CASE and len(quoted) >= _SHORT)):
                inside = Occurrences(spans, level == 0, False, more)
        return inside

    def _level(self, level: int, quote: str) -> tuple[Folded, str]:
        """Return the text and a quote at a level of folding."""
        if level == 0:
            return Folded(self.text, range(len(self.text)), range(1, len(self.text) + 1)), quote
        folded = fold(quote, case=level >= _CASE)
        if level == _BLANKS:
            return self._without_blanks, folded.without_blanks().text
        return (self.caseless if level == _CASE else self._cased), folded.text.strip()

    def find_parts(self, parts: Sequence[str]) -> Occurrences | None:
        """Return the shortest occurrences of a quote that has parts with gaps between them.

        The order of the parts may differ from that of the text. A single part may have ``...`` in place of gaps.

        >>> Finder("Mild or severe pain, later mild pain").find_parts(["Mild", "pain"]).spans
        [(Span(start=0, end=4), Span(start=15, end=19))]
        """
        if len(parts) == 1:
            pieces = parts[0].replace("…", "...").split("...")
            pieces = [piece.strip().removesuffix("[").removeprefix("]") for piece in pieces]
            pieces = [piece for piece in pieces if piece.strip(" ()[].")]
            return self.find(parts[0]) or (self.find_parts(pieces) if len(pieces) > 1 else None)
        found = [one for part in parts if (one := self.find(part)) is not None]
        if len(found) < len(parts):
            return None
        spans = _shortest(found) or _shortest(sorted(found, key=lambda one: one.spans[0]))
        exact, whole = all(one.exact for one in found), all(one.whole for one in found)
        return Occurrences(spans, exact, whole, any(one.too_many for one in found)) if spans else None


def _find_all(text: Folded, quote: str) -> tuple[list[tuple[Span]], bool]:
    """Return the spans of a quote, at most `MOST`, and whether there are more."""
    spans: list[tuple[Span]] = []
    size = len(quote)
    at = text.text.find(quote) if size else -1
    while at >= 0:
        if (span := text.span(at, at + size)) is not None:
            if len(spans) == MOST:
                return spans, True
            spans.append((Span(*span),))
        at = text.text.find(quote, at + (1 if size < _LONG else size))
    return spans, False


def _shortest(parts: Sequence[Occurrences]) -> list[Spans]:
    """Return the sequences of one occurrence of each part, in order, that contain no shorter one."""
    chains: dict[Span, Spans] = {}  # by the last span: of those that end there, the one with the latest start
    places = [0] * len(parts)
    for first, *_ in parts[0].spans:
        chain = [first]
        for number in range(1, len(parts)):
            spans = parts[number].spans
            # ends only increase, so each list is traversed once
            while places[number] < len(spans) and spans[places[number]][0].start < chain[-1].end:
                places[number] += 1
            if places[number] == len(spans):
                return list(chains.values())
            chain.append(spans[places[number]][0])
        chains[chain[-1]] = tuple(chain)
    return list(chains.values())


class CopyAlignment:
    """Monotone alignment of a copy of a text with the text, both folded.

    Words that occur once in both are candidates for anchors, and the longest increasing sequence of them is used
    (patience sorting). The ranges between anchors are aligned in the same way; where no word occurs once, by a longest
    common subsequence. This takes little more than linear time where the copy omits or adds sentences.

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
        numbers: dict[str, int] = {}
        copied, _, of_copy = _words(copy, numbers)
        starts, ends, of_text = _words(text, numbers)
        pairs = sorted(_pairs(of_copy, of_text))
        self._from = [copied[one] for one, _ in pairs]
        self._to = [starts[other] for _, other in pairs]
        self._ends = [ends[other] for _, other in pairs]
        self.of_copy = len(pairs) / max(1, len(of_copy))
        """The share of the copy's words that are aligned."""
        self.of_text = len(pairs) / max(1, len(of_text))
        """The share of the text's words that are aligned."""

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the range of the text that is aligned with a range of the copy; ``None`` if characters differ."""
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
        """Return the range of the text between the aligned words around a range of the copy."""
        before, behind = bisect_left(self._from, start) - 1, bisect_left(self._from, end)
        if before >= 0 and self._from[before] + self._ends[before] - self._to[before] > start:
            before -= 1  # the range begins inside this word
        first = self._ends[before] if before >= 0 else 0
        return first, self._to[behind] if behind < len(self._to) else len(self._text)


def _words(text: str, numbers: dict[str, int]) -> tuple[array[int], array[int], list[int]]:
    """Return the start, end and number of each word; words that have no number get the next."""
    starts, ends, found = array("q"), array("q"), list[int]()
    for match in _WORD.finditer(text):
        starts.append(match.start())
        ends.append(match.end())
        found.append(numbers.setdefault(match[0], len(numbers)))
    return starts, ends, found


def _pairs(copy: Sequence[int], text: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of equal words, which are monotone once they are sorted."""
    ranges = [(0, len(copy), 0, len(text), 0)]  # of words in the copy, of words in the text, and the depth
    while ranges:
        first, end, start, stop, depth = ranges.pop()
        while first < end and start < stop and copy[first] == text[start]:
            yield first, start
            first, start = first + 1, start + 1
        while first < end and start < stop and copy[end - 1] == text[stop - 1]:
            end, stop = end - 1, stop - 1
            yield end, stop
        if first == end or start == stop:
            continue
        copied, others = copy[first:end], text[start:stop]
        anchors = [(first + i, start + j) for i, j in _anchors(copied, others)] if depth < _DEEPEST else []
        if anchors:
            yield from anchors
            around = [(first - 1, start - 1), *anchors, (end, stop)]
            ranges += [(a + 1, c, b + 1, d, depth + 1) for (a, b), (c, d) in pairwise(around)]
        elif (end - first) * (stop - start) <= _CELLS:
            for block in LCSseq.opcodes(copied, others).as_matching_blocks():
                yield from ((first + block.a + step, start + block.b + step) for step in range(block.size))


def _anchors(copy: Sequence[int], text: Sequence[int]) -> list[tuple[int, int]]:
    """Return the longest sequence of pairs, increasing in both, of words that occur once in both."""
    counts, others = Counter(copy), Counter(text)
    places = {word: place for place, word in enumerate(text) if others[word] == 1}
    pairs = [(at, places[word]) for at, word in enumerate(copy) if counts[word] == 1 and word in places]
    lasts: list[int] = []  # for each length, the smallest last place of a sequence
    chains: list[int] = []  # for each length, the pair at that place
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
