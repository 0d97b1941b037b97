"""Sentence splitting: rules for full stops, and for line ends (`lines`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Offsets
from spanloom.hashing import code_points, hash_text
from spanloom.native import Kernel
from spanloom.sparse import distinct_numbers
from spanloom.text.characters import CJK, CLOSING, OPENING
from spanloom.text.full_stops import (
    BEFORE_NUMBER,
    BEFORE_ORDINAL,
    INSIDE,
    LETTERED,
    MONTHS,
    OTHER_STARTERS,
    SOMETIMES,
    STARTERS,
    TITLES,
)
from spanloom.text.lines import line_breaks
from spanloom.text.patterns import pattern

_REACH: Final = 32  # characters that a word before a full stop is looked for in

_GREEK: Final = "\u0370-\u037d\u0386-\u03ff\u1f00-\u1fff"
_ENDS: Final = ".!?…؟۔।॥։።፧"  # also of Arabic, Urdu, Indian scripts, Armenian and Ethiopic

_CITATION: Final = r"(?:[ ]?\[\d{1,4}(?:[,–-][ ]?\d{1,4}){0,20}\])*+"  # is after the full stop, and belongs before it
_STOP: Final = pattern(
    rf"(?<![{_ENDS}])([{_ENDS}]++)([{CLOSING}“«‹]*+){_CITATION}(?=\s)"
    r"|(?<=[a-z][a-z])([.?!])()(?=[A-Z][a-z])"  # the space was forgotten
    rf"|([。！？｡]|．(?!\d)|(?<=[{CJK}])[!?]++(?=[{CJK}]))[{CLOSING}」』）]*+"
    rf"|(?<=[{_GREEK}])([;\u037e])()(?=\s++[{OPENING}]*+[{_GREEK}])"  # the Greek question mark
)
_MARKS: Final = np.array([ord(mark) for mark in f"{_ENDS}。！？｡．\u037e" if not mark.isascii()], np.uint32)
_RULED: Final = INSIDE | BEFORE_NUMBER | SOMETIMES | {"ex", *map(str.lower, TITLES)}  # words of rules
_RULED_HASHES: Final = np.array(sorted(map(hash_text, _RULED)), np.uint64)
_find_stops = Kernel("stops")
_NEXT: Final = pattern(rf"\s*+([{OPENING}]*+)(\S{{0,{_REACH}}})")
_BEFORE_LAST: Final = pattern(rf".*[\s{OPENING}/,;–—]", re.DOTALL)
_SMALL: Final = pattern(r"[a-zα-ω]{1,5}-?[A-Z0-9]|[α-ωcv]-[a-zA-Z]")  # p53, mRNA, c-Myc, c-jun, α-actin
_PART: Final = pattern(r"[a-z](?:[-–,][ ]?[a-z])?\)")  # of a figure: (a), (b-d)
_DOTTED: Final = pattern(r"(?:[^\W\d_]\.-?)+[^\W\d_]")  # b.i.d, p.o, U.S, J.-I, И.Я
_SYLLABLE: Final = pattern("[\uac00-\ud7af]")  # of Korean: a word, no initial
_NO_INITIAL: Final = pattern(r"\bи\s?т\.\s?[дп]$|[א-ת][\"״][א-ת]$")  # и т. д., ארה"ב
_DAY: Final = pattern(r"[0-9]{1,2}")
_DAY_STOP: Final = pattern(r"[0-9]{1,2}\.")
_YEAR: Final = pattern(r"(?:[0-9]{2}){1,2}[.,;:)]*")
_NUMBERING: Final = pattern(r"[\s#(]*(?:\d{1,3}(?:\.\d{1,2})*|[A-Za-z]|[ivxIVX]{1,4})")


def split_sentences(text: str, tokens: Offsets) -> NDArray[np.int64]:
    """Split tokens into sentences.

    A sentence ends at a full stop, exclamation or question mark, unless a rule excludes it, and at a line end
    that is a blank line, is beside a list item or heading, or closes a short line. No sentence ends inside a token.

    Args:
        text: the text.
        tokens: (T, 2) start and end in characters, in text order, of any tokenizer.

    Returns:
        (N, 2) first token and end token of each sentence, half-open; together they cover all tokens.

    >>> from spanloom.text import tokenize
    >>> text = "Seen by Dr. Lee on 3.5 mg p.o. b.i.d. of it. No fever.\\n\\nPLAN:\\nHome."
    >>> tokens = tokenize(text)
    >>> for first, end in split_sentences(text, tokens):
    ...     print(text[tokens[first, 0] : tokens[end - 1, 1]])
    Seen by Dr. Lee on 3.5 mg p.o. b.i.d. of it.
    No fever.
    PLAN:
    Home.
    """
    [found] = split_all([text], [tokens])
    return found


def split_all(texts: Sequence[str], tokens: Sequence[Offsets]) -> list[NDArray[np.int64]]:
    """Return the sentences of each text, as of `split_sentences`: the texts are read as one, without a border.

    A sentence begins at the first token behind each place, unless the place is inside the token before. Places behind
    the last token of a text lead to the first one of the next text, which begins a sentence in any case.

    >>> split_all(["No.", ""], [np.array([[0, 2], [2, 3]]), np.zeros((0, 2), int)])[0].tolist()
    [[0, 2]]
    """
    if not texts:
        return []
    base = np.cumsum([0, *map(len, texts)])
    bounds = np.cumsum([0, *map(len, tokens)])
    every = np.concatenate(tokens) + np.repeat(base[:-1], np.diff(bounds))[:, None]
    stops, lines = _stops(texts, base)
    breaks = [
        int(base[i]) + start
        for i in np.flatnonzero(lines & (np.diff(bounds) > 0)).tolist()
        for start in line_breaks(texts[i], int(tokens[i][-1, 0]))
    ]
    places = np.concatenate([stops, np.array(breaks, np.int64)])
    first = every[:, 0].searchsorted(places)
    inner = (first > 0) & (first < len(every))
    first = first[inner]
    ends = distinct_numbers(np.concatenate([first[every[first - 1, 1] <= places[inner]], bounds]))
    cuts = ends.searchsorted(bounds).tolist()
    found = np.stack([ends[:-1], ends[1:]], 1)
    return [found[a:b] - begin for (a, b), begin in zip(pairwise(cuts), bounds.tolist(), strict=False)]


def _stops(texts: Sequence[str], base: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the ends of the full stops that end a sentence, with their closing marks; and which texts have a line end.

    A kernel finds most full stops. The assertions of `_STOP` are tried only where there is a mark that it can begin at.

    Args:
        texts: N of them.
        base: (N + 1,) the characters before each, which are counted in the result.
    """
    codes = code_points("".join(texts))
    sure, unsure = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)
    lines, counts = np.empty(len(texts), np.bool_), np.empty(2, np.int64)
    _find_stops(codes, base, _MARKS, _RULED_HASHES, sure, unsure, lines, counts)
    marks, more = unsure[: counts[1]], list[int]()
    own = base.searchsorted(marks, side="right") - 1
    for number, group in groupby(zip(own.tolist(), marks.tolist(), strict=True), itemgetter(0)):
        first = int(base[number])
        more += (first + end for end in _stops_at(texts[number], [at - first for _, at in group]))
    return np.concatenate([sure[: counts[0]], np.array(more, np.int64)]), lines


def _stops_at(text: str, marks: Sequence[int]) -> Iterator[int]:
    """Yield the ends of the full stops among some marks that end a sentence, with their closing marks."""
    end = 0
    for at in marks:
        match = _STOP.match(text, at) if at >= end else None
        if match is not None:
            end = match.end()
            if _ends(text, match):
                yield end


def _ends(text: str, match: re.Match[str]) -> bool:
    """Return whether a sentence ends after this full stop and its closing marks."""
    if match[5]:  # CJK: no space follows
        return True
    following = _NEXT.match(text, match.end())
    if following is None or not _may_start(following[1], following[2]):
        return False
    stop, closing = match[1] or match[3] or match[6], match[2]
    return stop != "." or bool(closing) or not _is_abbreviation(text, match.start(), following[2])


def _may_start(opening: str, word: str) -> bool:
    """Return whether a sentence may start with this word: no small letter, and no mark that continues a sentence."""
    if not word:
        return False
    if word[0].islower():
        return bool(_SMALL.match(word)) or (opening == "(" and bool(_PART.match(word)))
    return word[0].isalnum() or word[0] in "-*<#•§"


def _is_abbreviation(text: str, stop: int, following: str) -> bool:
    """Return whether the full stop at ``stop`` belongs to the word before it."""
    before = text[max(0, stop - _REACH) : stop]
    last = _BEFORE_LAST.match(before)
    word = before[last.end() :] if last else before
    key = word.lower()
    if not before.isascii() and _NO_INITIAL.search(before):
        return False
    if key in INSIDE and (_has_digit(following) or not (len(word) > 1 and word.isupper()) or following.isupper()):
        return True
    if (key in BEFORE_NUMBER and _has_digit(following)) or _is_numbering(text, stop):
        return True
    if _DAY.fullmatch(word):
        return _is_ordinal(before[: -len(word)], following)
    if word in TITLES or (key == "ex" and before.endswith("p. ex")):
        return not _starts_sentence(following)
    if len(word) == 1 and word.isalpha() and not _SYLLABLE.match(word):
        return not (_starts_sentence(following) or _is_label(before[:-1]))
    if "." in word and _DOTTED.fullmatch(word):
        return not (_starts_sentence(following) or (word.islower() and _is_capitalized(following)))
    ends = _starts_sentence(following) or (key == "etc" and following.rstrip(",;:") in OTHER_STARTERS)
    return key in SOMETIMES and not ends


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


def _is_capitalized(word: str) -> bool:
    return word[:1].isupper() and word[1:2].islower()


def _is_ordinal(before: str, following: str) -> bool:
    """Return whether a number between the two is a German ordinal, and its full stop no sentence's end."""
    if following.rstrip(".,;:)") in MONTHS:
        return True
    words = before.split()
    if words and _DAY_STOP.fullmatch(words[-1]) and _YEAR.fullmatch(following):
        return True
    known = bool(words) and words[-1].lower() in BEFORE_ORDINAL
    if known and _DAY_STOP.fullmatch(following):  # the month: am 1. 5. 2003
        return True
    return known and _is_capitalized(following) and not _starts_sentence(following)


def _is_label(before: str) -> bool:
    """Return whether a single letter after ``before`` is a unit (24 h) or part of a name (vitamin D), no initial."""
    words = before.split()
    return bool(words) and (words[-1][-1].isdigit() or words[-1].lower().rpartition("-")[2] in LETTERED)


def _starts_sentence(word: str) -> bool:
    return word.rstrip(",;:") in STARTERS


def _is_numbering(text: str, stop: int) -> bool:
    """Return whether the line up to ``stop`` is nothing but the number of a list item."""
    start = max(text.rfind("\n", max(0, stop - _REACH), stop) + 1, stop - _REACH, 0)
    if start and text[start - 1] != "\n":
        return False
    return _NUMBERING.fullmatch(text, start, stop) is not None
