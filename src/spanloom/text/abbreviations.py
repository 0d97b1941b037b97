"""Abbreviation definitions in text: "Takotsubo syndrome (TS)" gives TS its long form, everywhere in the text.

The search is that of Schwartz and Hearst (2003), A simple algorithm for identifying abbreviation definitions in
biomedical text: a short form in parentheses after its long form, or the other way round; its characters are matched
from right to left, and the first one must begin a word. Beyond the paper, square brackets count as parentheses, the
plural s of a short form is left out, and of several definitions of one short form the commonest long form is taken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document, Span

_LONGEST_SHORT: Final = 10  # characters
_MOST_WORDS: Final = 2  # of a short form
_BRACKETS: Final = re.compile(r"\(([^()]{1,200})\)|\[([^\[\]]{1,200})\]")
_BREAK: Final = re.compile(r"[;,]\s|\s(?:or|and|see|also)\s|[:=]")  # what follows is about something else
_SENTENCE_END: Final = re.compile(r"[.;:!?][\s)]+(?=[A-Z(])|[()\[\]]|\n[^\S\n]*\n")
_WORD: Final = re.compile(r"\S+")
_TRIM: Final = "\"'“”‘’.,;: \t\n"
_REACH: Final = 400  # characters before a parenthesis that a long form is looked for in


class Abbreviation(NamedTuple):
    """Definition of an abbreviation.

    Args:
        short, long: the spans of both forms in the text.
    """

    short: Span
    long: Span


def find_abbreviations(text: str) -> list[Abbreviation]:
    """Find the definitions of abbreviations in a text, in text order.

    >>> text = "Takotsubo syndrome (TS) differs from AMI (acute myocardial infarction)."
    >>> [(text[slice(*short)], text[slice(*long)]) for short, long in find_abbreviations(text)]
    [('TS', 'Takotsubo syndrome'), ('AMI', 'acute myocardial infarction')]
    """
    found = []
    for match in _BRACKETS.finditer(text):
        group = 1 if match[1] is not None else 2
        turn = _BREAK.search(text, *match.span(group))
        inner = _trim(text, match.start(group), turn.start() if turn else match.end(group))
        form = text[slice(*inner)]
        near = text[max(0, match.start() - _REACH) : match.start()].rstrip(_TRIM).rsplit(None, 1)
        short = _is_short(form) and not form.islower()
        if not short and not any(map(str.isupper, near[-1] if near else "")):
            continue  # as most brackets; the rest takes more time
        start = max(0, match.start() - _REACH)  # back to the end of a sentence, or to another bracket
        start = max((one.end() for one in _SENTENCE_END.finditer(text, start, match.start())), default=start)
        before = _trim(text, start, match.start())
        definition = (_short_in_brackets(text, inner, before) if short else None) or _long_in_brackets(
            text, inner, before
        )
        if definition:
            found.append(definition)
    return found


def abbreviations(document: Document) -> dict[str, str]:
    """Return the abbreviations that a document defines, as short form -> long form.

    A short form with several long forms gets the one that is defined most often, the first of those.

    >>> abbreviations(Document("Multiple endocrine neoplasias (MENs) are rare. Two had MEN."))
    {'MEN': 'Multiple endocrine neoplasias'}
    """
    text, longs = document.text, dict[str, Counter[str]]()
    for short, long in find_abbreviations(text):
        words = " ".join(text[slice(*long)].split())
        longs.setdefault(_singular(text[slice(*short)]), Counter())[words] += 1
    return {short: counts.most_common(1)[0][0] for short, counts in longs.items()}


def short_form_places(text: str, tokens: NDArray[np.int64]) -> Iterator[tuple[Span, list[Span]]]:
    """Yield the tokens of each place of a short form that a text defines, and those of its long forms.

    Forms that do not begin and end with tokens are left out; a short form may have a plural s.

    Args:
        text: of a document.
        tokens: (T, 2) start and end of each, ascending.

    >>> tokens = np.array([[0, 5], [6, 12], [13, 14], [14, 16], [16, 17], [18, 21]])
    >>> [(tuple(place), len(longs)) for place, longs in short_form_places("Heart attack (HA) HAs", tokens)]
    [((3, 4), 1), ((5, 6), 1)]
    """
    longs: dict[str, list[Span]] = {}
    for short, long in find_abbreviations(text):
        if place := _tokens(tokens, long):
            longs.setdefault(text[slice(*short)], []).append(place)
    if longs:
        for match in _pattern(tuple(sorted(longs, key=len, reverse=True))).finditer(text):
            if place := _tokens(tokens, Span(*match.span())):
                yield place, longs[match[1]]


def _tokens(tokens: NDArray[np.int64], span: Span) -> Span | None:
    """Return the tokens of a span of characters, if it begins with one and ends with one."""
    first, last = int(np.searchsorted(tokens[:, 0], span.start)), int(np.searchsorted(tokens[:, 1], span.end))
    fits = first <= last < len(tokens) and (tokens[first, 0], tokens[last, 1]) == span
    return Span(first, last + 1) if fits else None


def expand(mention: str, defined: Mapping[str, str]) -> str | None:
    """Return a mention with its abbreviations written out; ``None`` if it has none that the text defines.

    A definition inside the mention, "long form (SF)", is written once.

    Args:
        mention: its text.
        defined: short form -> long form.

    >>> defined = {"PIH": "pregnancy-induced hypertension", "MI": "myocardial infarction"}
    >>> expand("severe PIH", defined), expand("myocardial infarctions (MIs)", defined), expand("fever", defined)
    ('severe pregnancy-induced hypertension', 'myocardial infarctions', None)
    """
    if not defined:
        return None
    pattern = _pattern(tuple(sorted(defined, key=len, reverse=True)))
    plain = _definition_inside(mention, defined)
    changed = pattern.sub(lambda match: defined[match[1]], plain)
    return changed if changed != mention else None


@lru_cache(256)
def _pattern(shorts: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, shorts))})s?(?!\w)")


def _definition_inside(mention: str, defined: Mapping[str, str]) -> str:
    """Return a mention without " (SF)" if the long form of SF is before it."""

    def plain(match: re.Match[str]) -> str:
        long = defined.get(_singular((match[1] or match[2]).strip(_TRIM)), "")
        before = _singular(mention[: match.start()].rstrip()).casefold()
        return "" if long and before.endswith(_singular(long).casefold()) else match[0]

    return " ".join(_BRACKETS.sub(plain, mention).split()) if _BRACKETS.search(mention) else mention


def _singular(form: str) -> str:
    """Remove the plural s of a form: after a capital or digit in a short form, after a letter in a long one."""
    return form[:-1] if len(form) > 2 and form[-1] == "s" and form[-2] not in "su'’" else form


def _trim(text: str, start: int, end: int) -> Span:
    first = end - len(text[start:end].lstrip(_TRIM))
    return Span(first, first + len(text[first:end].rstrip(_TRIM)))


def _is_short(form: str) -> bool:
    """Return whether a text may be a short form (section 2.1).

    It has at most two words, 2 to 10 characters, a letter, and an alphanumeric first character.
    """
    return (
        2 <= len(form) <= _LONGEST_SHORT
        and len(form.split()) <= _MOST_WORDS
        and form[0].isalnum()
        and any(character.isalpha() for character in form)
    )


def _short_in_brackets(text: str, inner: Span, before: Span) -> Abbreviation | None:
    """Match ``long (short)``, if the text in brackets may be a short form."""
    short = Span(inner.start, inner.start + len(_singular(text[slice(*inner)])))
    size = short.end - short.start
    words = [match.start() for match in _WORD.finditer(text, *before)]
    most = min(size + 5, 2 * size)  # words of the long form
    first = words[max(0, len(words) - most)] if words else before.end
    start = _match(text, short, Span(first, before.end))
    return None if start is None else _accept(text, short, Span(start, before.end))


def _long_in_brackets(text: str, inner: Span, before: Span) -> Abbreviation | None:
    """Match ``short (long)``: the word before the bracket is the short form, the long form fills the brackets."""
    words = text[slice(*before)].rstrip()
    if not words:
        return None
    end = before.start + len(words)
    whole = _trim(text, end - len(words.rsplit(None, 1)[-1]), end)
    form = _singular(text[slice(*whole)])
    short = Span(whole.start, whole.start + len(form))
    if not _is_short(form) or not any(map(str.isupper, form)):
        return None
    start = _match(text, short, inner)
    return _accept(text, short, inner) if start == inner.start else None


def _match(text: str, short: Span, long: Span) -> int | None:
    """Return the start of the shortest long form at the end of ``long`` with the short form's letters (section 2.2).

    From right to left, each letter or digit of the short form takes the nearest equal one; the first must begin a word.
    """
    at = long.end
    for s in range(short.end - 1, short.start - 1, -1):
        sought = text[s].lower()
        if not sought.isalnum():
            continue
        at -= 1
        while at >= long.start and (
            text[at].lower() != sought or (s == short.start and at > long.start and text[at - 1].isalnum())
        ):
            at -= 1
        if at < long.start:
            return None
    while at > long.start and not text[at - 1].isspace():  # the whole word: non-small-cell, not small-cell
        at -= 1
    return at


def _accept(text: str, short: Span, long: Span) -> Abbreviation | None:
    """Apply the paper's last conditions: the long form is longer, and the short form is no word of it."""
    form, words = text[slice(*short)], text[slice(*long)].split()
    size = sum(character.isalnum() for character in form)
    if long.end - long.start <= len(form) or form in words or len(words) > min(size + 5, 2 * size):
        return None
    return Abbreviation(short, long)
