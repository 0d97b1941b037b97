"""Word columns: features of a word's form, each a plain function from word to value.

The functions here are the definition: they make the readable names, and tests hold the kernels to them. The kernels
(`native/features_columns.c`) compute the same values, hashed, once for each distinct word of a batch.

A value is a string, or ``None`` if the word has none, and then the feature is absent. ``orth`` has a set of values.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from spanloom.features.template import Column

_ORTHOGRAPHY = (
    "all-caps all-digits all-alphanumeric contains-digits contains-dots contains-hyphen initial-caps lonely-initial "
    "punctuation-mark roman-number single-character URL"
)
ORTHOGRAPHY = tuple(_ORTHOGRAPHY.split())
_ROMAN = re.compile(r"(?=.)M*(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})", re.DOTALL)


def boundary(distance: int) -> str:
    """Return a column's value outside the sentence: ``<s-1>`` just before it, ``<s+2>`` two tokens after its end."""
    return f"<s{distance:+d}>"


def lower(word: str) -> str:
    """Lower the case of each character (``low``); one whose lower case is two characters stays.

    >>> lower("NF-kappaB")
    'nf-kappab'
    """
    return "".join(low if len(low := character.lower()) == 1 else character for character in word)


def normal(word: str) -> str:
    """Lower the case and replace every digit by 0 (``norm``).

    >>> normal("CD28")
    'cd00'
    """
    return "".join("0" if character.isdigit() else character for character in lower(word))


def kind(character: str) -> str:
    """Return the character's kind in a word shape.

    ``X`` upper or title case, ``x`` lower case, ``d`` digit, ``o`` another letter or number; any other character of
    ASCII is itself, and the rest is ``*``.
    """
    if character.isupper() or character.istitle():
        return "X"
    if character.islower():
        return "x"
    if character.isdigit():
        return "d"
    if character.isalnum():
        return "o"
    return character if character < "\x80" else "*"


def shape(word: str) -> str:
    """Return the word's shape (``shape``).

    The kinds of its first two and of its last two characters, and between them the set of the kinds in between, in the
    order of ASCII; words of at most four characters are mapped whole. This is the shape that Finkel & Manning (2009)
    use (``chris2`` in Stanford NER), without its list of Greek letters' names.

    >>> shape("IL"), shape("interleukin-2"), shape("p65")
    ('XX', 'xxx-d', 'xdd')
    """
    kinds = [kind(character) for character in word]
    return "".join(kinds if len(kinds) <= 4 else kinds[:2] + sorted(set(kinds[2:-2])) + kinds[-2:])


def short_shape(word: str) -> str:
    """Return the kinds of all characters, equal neighbours written once (``short_shape``).

    >>> short_shape("CD28-mediated")
    'Xd-x'
    """
    kinds = [kind(character) for character in word]
    return "".join(this for before, this in zip([None, *kinds], kinds, strict=False) if this != before)


def orthography(word: str) -> tuple[str, ...]:
    """Return the word patterns of Lu & Roth (2015), footnote 2, that match (``orth``); each is a feature.

    ``all-caps``: upper case throughout; ``all-digits``; ``all-alphanumeric``: letters and digits only;
    ``contains-digits``, ``contains-dots``, ``contains-hyphen``; ``initial-caps``: begins in upper case;
    ``lonely-initial``: one upper-case letter and a full stop; ``punctuation-mark``: punctuation and symbols only
    (Unicode categories P and S); ``roman-number``: in upper case, well formed; ``single-character``;
    ``URL``: contains ``://`` or begins with ``www.``.

    >>> orthography("IV")
    ('all-caps', 'all-alphanumeric', 'initial-caps', 'roman-number')
    """
    holds = (
        bool(word) and all(character.isupper() for character in word),
        bool(word) and all(character.isdigit() for character in word),
        word.isalnum(),
        any(character.isdigit() for character in word),
        "." in word,
        "-" in word,
        word[:1].isupper(),
        len(word) == 2 and word[0].isupper() and word[1] == ".",
        bool(word) and all(is_mark(character) for character in word),
        _ROMAN.fullmatch(word) is not None,
        len(word) == 1,
        "://" in word or lower(word[:4]) == "www.",
    )
    return tuple(name for name, true in zip(ORTHOGRAPHY, holds, strict=True) if true)


def is_mark(character: str) -> bool:
    """Return whether a character is punctuation or a symbol: Unicode categories P and S."""
    return unicodedata.category(character)[0] in "PS"


def cut(value: str, size: int) -> str:
    """Return the first ``size`` characters, the last ones if negative, all if 0; shorter values stay whole."""
    return value[:size] if size > 0 else value[size:]


# Name -> code in the kernel and definition. ``w:N`` and the affixes have codes of their own below.
_PLAIN: dict[str, tuple[int, Callable[[str], str | None]]] = {
    "w": (0, lambda word: word),
    "low": (1, lower),
    "norm": (2, normal),
    "shape": (3, shape),
    "short_shape": (4, short_shape),
    "upper": (5, lambda word: str(word.isupper())),
    "title": (6, lambda word: str(word.istitle())),
    "digit": (7, lambda word: str(word.isdigit())),
    "orth": (8, lambda word: None),
}
_CUT_TOO = ("low", "norm")  # each of their characters is made of one of the word
_CUT, _AFFIX = 9, 10
_AFFIX_NAME = re.compile(r"(prefix|suffix)([1-9]\d?)")
SET_COLUMN = "orth"
CLUSTER_COLUMN = "cluster"
BAND_COLUMN = "band"
_CLUSTER_NAME = re.compile(r"cluster([1-9]\d?)?|band")
WORD_COLUMNS = (*_PLAIN, "prefix1", "prefix2", "...", "suffix1", "suffix2", "...")


def word_column(column: Column) -> tuple[int, int, Callable[[str], str | None]] | None:
    """Return the kernel's code, parameter and definition of a word column; ``None`` for other columns.

    >>> code, size, definition = word_column(Column("suffix3"))
    >>> size, definition("kinase"), definition("of")
    (-3, 'ase', None)
    """
    if column.size:
        size = column.size
        if column.name == "w":
            return _CUT, size, lambda word: cut(word, size)
        if column.name in _CUT_TOO:
            code, whole = _PLAIN[column.name]
            return code, size, lambda word: cut(whole(word) or "", size)
        return None
    if match := _AFFIX_NAME.fullmatch(column.name):
        length = int(match[2]) * (1 if match[1] == "prefix" else -1)
        return _AFFIX, length, lambda word: None if len(word) < abs(length) else cut(word, length)
    if column.name in _PLAIN:
        code, definition = _PLAIN[column.name]
        return code, 0, definition
    return None


def is_cluster_column(name: str) -> bool:
    """Return whether a column comes from word clusters: ``cluster``, a prefix such as ``cluster4``, or ``band``."""
    return _CLUSTER_NAME.fullmatch(name) is not None


def cluster_value(column: Column, bits: str) -> str:
    """Return the value of a cluster column for a word's bits: cut (``cluster:4``), or a full prefix (``cluster4``).

    >>> cluster_value(Column("cluster", 4), "010"), cluster_value(Column("cluster4"), "010")
    ('010', '')
    """
    match = _CLUSTER_NAME.fullmatch(column.name)
    size = int(match[1]) if match and match[1] else 0
    return cut(bits, column.size) if not size else bits[:size] if len(bits) >= size else ""


def is_word_column(name: str) -> bool:
    """Return whether a name is that of a column whose value depends on the word alone."""
    return name in _PLAIN or _AFFIX_NAME.fullmatch(name) is not None
