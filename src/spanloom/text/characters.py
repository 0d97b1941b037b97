"""Character classes, written for the inside of a regular expression's square brackets.

Python's ``re`` knows letters and digits (``\\w``) and white space (``\\s``), but neither marks nor scripts.
"""

from __future__ import annotations

from typing import Final

CJK: Final = (
    "\u2e80-\u2fdf"  # radicals
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b"  # iteration marks, numerals
    "\u3041-\u3096\u309b-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d"  # ideographs, half-width kana
    "\U00016fe0-\U00018aff\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)
"""Characters of scripts without spaces between words; Hangul has spaces and is not among them."""

MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489"  # accents of Latin, Greek and Cyrillic
    "\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7"  # Hebrew points
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"  # Arabic
    "\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962-\u0963"  # Devanagari
    "\u0981-\u0983\u09bc\u09be-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0a70-\u0a71\u0a81-\u0a83\u0abc\u0abe-\u0acd"
    "\u0b01-\u0b03\u0b3c\u0b3e-\u0b57\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc\u0cbe-\u0cd6"
    "\u0d00-\u0d03\u0d3b-\u0d3c\u0d3e-\u0d4d\u0d57\u0d82-\u0d83\u0dca-\u0ddf"  # other scripts of India
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u17b4-\u17d3"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099-\u309a\uff9e-\uff9f\ufe00-\ufe0f\ufe20-\ufe2f"  # selectors, general
    "\u00ad\u200c\u200d"  # soft hyphen and joiners: inside words, invisible
    "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef"  # skin tones, tags, more selectors
)
"""Characters that belong to the one before them."""

IGNORED: Final = "\\s\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
"""White space, controls, and characters without width or ink: never part of a token, unless inside a longer one."""

EMOJI: Final = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
"""Pictures; several with joiners between them are one."""

CLOSING: Final = "\"'’”»›)\\]}"
"""Characters that may be between a sentence's last full stop and the white space."""

OPENING: Final = "\"'‘“„”«»‹›¿¡(\\[{"
"""Characters that may precede a sentence's first word."""

LINE_ENDING: Final = "\n\r\x0b\x0c\x85\u2028\u2029"
"""Characters that end a line."""

LINE_END: Final = f"\r\n|[{LINE_ENDING}]"
"""A regular expression for one line end."""
