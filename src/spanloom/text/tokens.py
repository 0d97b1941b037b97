"""Tokenization by one regular expression, tried from left to right.

Words are split at every punctuation mark, also at hyphens and slashes (``IL-2-induced`` is five tokens), because
mentions begin and end there: Muis and Lu 2017, appendix D. Numbers with a decimal point or thousands are not.

Repetitions are possessive (``++``), without backtracking. No string, however long, is scanned more than a fixed
number of times. Most stretches of text between white space are so plain that a kernel finds the same tokens.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Offsets
from spanloom.hashing import code_points
from spanloom.native import Kernel
from spanloom.text.characters import CJK, EMOJI, IGNORED, MARKS
from spanloom.text.patterns import pattern

_easy_tokens = Kernel("easy_tokens")
_HARD, _SPACE, _LETTER_CLASS, _DIGIT, _SINGLE, _MARK, _STOP, _COMMA = range(8)  # classes of characters
_UNITS: Final = (
    "mcg|µg|μg|ug|mg|ng|pg|kg|dl|dL|ml|mL|µl|μl|ul|µL|μL|uL|µm|μm|um|nm|mm|cm|km|µM|μM|uM|nM|pM|mM|mmol|nmol|mol|meq|mEq"
    "|kDa|kD|kb|kbp|bp|Hz|kHz|MHz|kV|mV|mmHg|min|hr|hrs|yo|yrs|IU|cc|lb|lbs|oz"
)
_LETTER: Final = rf"[^\W_{CJK}]"  # a letter or digit
_INNER: Final = (  # a quotation mark that is a letter's part: ד"ר, ג'ורג', об'єм
    r"(?:(?<=[א-ת])(?:[\"״](?=[א-ת](?!\w))|['’׳](?=[א-ת]))|(?<=[А-яҐґЄєІіЇї])['’](?=[А-яҐґЄєІіЇї]))"
)

_SHORTCUTS: Final = (  # what most tokens are: the expressions below would find the same, in twice the time
    r"[A-Za-z]++(?=[ \n,;)])",
    r"[-,;:()/.](?=[ \nA-Za-z])",
)
_EXPRESSIONS: Final = (
    r"(?:https?://|www\.)[^\s<>\"]*[\w/]",  # an address, up to its last letter, digit or slash
    rf"\d++(?=(?:{_UNITS})(?!\w))",  # 10 in 10mg
    r"\d{1,3}+(?:,\d{3})++(?!\d)(?:\.\d++)?+",  # 1,000.5
    r"\d++(?:[.٫]\d++)++",  # 3.5, 3.4.21.4, ٣٫٥
    r"(?<!['’‘])\d++['’′](?!s\b)",  # 5' in 5'-end, but not in '5'
    r"(?<![\w.])(?:[A-Za-z]\.){2,}+(?!\w)",  # e.g., b.i.d.
    r"(?=[A-Za-z]++(?<=n)['’]t(?!\w))[A-Za-z]+(?=n['’]t)",  # do in don't
    r"n['’]t(?!\w)",
    r"[A-Za-z]\d++\.\d++(?!\w)",  # E13.5
    rf"{_LETTER}++(?:(?:[{MARKS}]++|{_INNER}){_LETTER}*+)*+",
    r"(?<=\w)['’](?:s|S|re|ve|ll|d|m)(?!\w)",  # 's, 've
    rf"[{CJK}][{MARKS}]*+",
    r"(?<![\w)\]])\.\d++",  # .5
    r"°[CF](?!\w)",
    r"\[\*\*|\*\*\]",  # the brackets of a de-identified name
    r"([-.=_*~#–—])\2++",  # a dash of several hyphens, a rule, an ellipsis
    r"[\U0001f1e6-\U0001f1ff]{2}",  # a flag
    rf"[{EMOJI}][{MARKS}]*+(?:(?<=\u200d)[{EMOJI}][{MARKS}]*+)*+",
    rf"[^{IGNORED}][{MARKS}]*+",
)
_SPECIAL: Final = r"_*'’‘′°٫\u0590-\u05ff"  # what, beside the classes named there, the expressions treat separately
_TOKEN: Final = pattern(rf"[ \n]?+({'|'.join((*_SHORTCUTS, *_EXPRESSIONS))})")
"""A token, and a space before it, at which none of the expressions need be tried then."""


def tokenize(text: str) -> Offsets:
    """Split a text into tokens.

    Punctuation marks are tokens of their own. Kept together are numbers such as 3.5 and 1,000, single letters with
    full stops (``b.i.d.``), 5′, addresses of the web, and rules such as ``-----``. Taken apart are numbers and
    units (``10mg``), ``n't`` and ``'s``, and each character of a script without spaces. Marks stay with their letter.

    Returns:
        (T, 2) start and end of each token in characters. White space, control characters and characters without width
        are outside the tokens.

    >>> text = "IL-2-induced CD4+ cells, 3.5mg b.i.d. (5'-end)"
    >>> [text[start:end] for start, end in tokenize(text)]
    ['IL', '-', '2', '-', 'induced', 'CD4', '+', 'cells', ',', '3.5', 'mg', 'b.i.d.', '(', "5'", '-', 'end', ')']
    """
    codes = code_points(text)
    tokens, hard = np.empty((len(codes), 2), np.int64), np.empty((len(codes), 2), np.int64)
    remaining = np.empty(1, np.int64)
    found, left = _easy_tokens(codes, _classes(), tokens, hard, remaining), int(remaining[0])
    easy = tokens[:found]
    if not left:
        return easy.copy()  # what is kept for long is no larger than it needs be
    matches = chain.from_iterable(_TOKEN.finditer(text, *stretch) for stretch in hard[:left].tolist())
    others = np.fromiter(chain.from_iterable(match.span(1) for match in matches), np.int64).reshape(-1, 2)
    at = easy[:, 0].searchsorted(others[:, 0]) + np.arange(len(others))
    merged, rest = np.empty((found + len(others), 2), np.int64), np.ones(found + len(others), np.bool_)
    rest[at] = False
    merged[at], merged[np.flatnonzero(rest)] = others, easy  # `np.insert` takes three times as long
    return merged


@cache
def _classes() -> NDArray[np.uint8]:
    """The class of each character of the Basic Multilingual Plane, see `native/text.c`."""
    classes = np.full(1 << 16, _HARD, np.uint8)
    characters = "".join(map(chr, range(len(classes))))
    for expression, kind in [
        (rf"[^\w{IGNORED}]++", _MARK),
        (r"\s++", _SPACE),
        (rf"[^\W\d_{CJK}]++", _LETTER_CLASS),
        (r"[0-9]++", _DIGIT),
        (rf"[{CJK}]++", _SINGLE),
        (r"\.", _STOP),
        (r",", _COMMA),
        (rf"[{MARKS}{EMOJI}{_SPECIAL}]++", _HARD),
    ]:
        for match in re.finditer(expression, characters):
            classes[slice(*match.span())] = kind
    return classes
