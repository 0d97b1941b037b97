"""Classes of characters: what belongs to no word, what never begins one, and the column ``class``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spanloom.text.characters import IGNORED, MARKS

NO_WORD, MARK, JOINER = 1, 2, 4
_ZERO_WIDTH_JOINER = 0x200D
_LISTS: Final = {
    "numeral": "〇零一二三四五六七八九十百千万亿兩两半几数壹贰叁肆伍陆柒捌玖拾佰仟萬億Ⅰ-Ⅻⅰ-ⅻ①-⑳",
    "time": "年月日号時时分秒点點周週天岁歲",
    "conjunction": "和与與及或并並且伴而但",
    "position": "上下左右前后後内內外中侧側双雙旁间間",
    "negation": "无無未不否非没沒",
}
_LATIN = re.compile("[A-Za-zＡ-Ｚａ-ｚµΑ-Ωα-ωÀ-ɏ]")


@lru_cache(1)
def flags() -> NDArray[np.uint8]:
    """Return the class of each code point, a sum of `NO_WORD` (white space), `MARK` and `JOINER`.

    Characters without width or ink are marks: they stay with the character before them.
    """
    table = np.zeros(0x110000, np.uint8)
    everything = "".join(map(chr, range(0x110000)))
    for match in re.finditer(f"[{IGNORED}{MARKS}]+", everything):
        table[match.start() : match.end()] = MARK
    for match in re.finditer(r"\s+", everything):
        table[match.start() : match.end()] = NO_WORD
    table[_ZERO_WIDTH_JOINER] |= JOINER
    return table


def character_class(character: str) -> str:
    """The column ``class``: after Xu et al. (2014), feature set 2.

    >>> [character_class(character) for character in "左三5ｍ，和痛"]
    ['position', 'numeral', 'digit', 'letter', 'punctuation', 'conjunction', '']
    """
    for name, members in _listed().items():
        if character in members:
            return name
    if character.isdigit():
        return "digit"
    if _LATIN.match(character):
        return "letter"
    category = unicodedata.category(character)
    return {"P": "punctuation", "S": "symbol"}.get(category[0], "")


class _Classes(dict[str, str]):
    """Classes of the characters seen so far; a function of the character, so threads may share it."""

    def __missing__(self, character: str) -> str:
        name = self[character] = character_class(character)
        return name


_CLASSES = _Classes()


def classes(characters: Iterable[str]) -> list[str]:
    """The class of each character."""
    return list(map(_CLASSES.__getitem__, characters))


@lru_cache(1)
def _listed() -> dict[str, frozenset[str]]:
    everything = "".join(map(chr, range(0x3000))) + "".join(_LISTS.values())
    return {name: frozenset(re.findall(f"[{members}]", everything)) for name, members in _LISTS.items()}
