"""Coordination: the mentions that a phrase with shared words stands for, as "breast cancer" and "ovarian cancer"."""

from __future__ import annotations

import re
from typing import Final

_COORDINATOR: Final = re.compile(
    r"\s*,?\s+(?:and/or|and|or|as well as|und|oder|y|e|o|u)\s+|\s+[&/]\s+|(?<=\w)/(?=\w)", re.I
)
_COMMA: Final = re.compile(r"\s*[,;]\s+")
_OPEN: Final = re.compile(r"[-‐‑–]$")
_HINGE: Final = re.compile(r"^(.*\b(?:of|in|to|from|with|against|by|for)\s+(?:the\s+|both\s+)?)(.+)$", re.I)
_MOST_PARTS, _MOST_SHARED, _LONGEST = 8, 3, 200


def coordinated(text: str) -> list[list[str]]:
    """Return the ways in which a phrase may be several mentions that share words; the texts of these mentions.

    Each way is a guess from form alone: a vocabulary, or a model, decides which of them fits.

    1. The phrase is cut at coordinators and, before the first of them, at commas.
    2. An open hyphen takes what follows the hyphen of the last part: *T- and B-lymphocytes*.
    3. The last part may end with words that all parts share: *breast and ovarian cancer*.
    4. The first part may begin with such words: *cancer of the breast and ovary*, *alpha 1, 2 and 3*.

    >>> coordinated("breast and ovarian cancer")[0], coordinated("T- and B-lymphocytes")[0]
    (['breast cancer', 'ovarian cancer'], ['T-lymphocytes', 'B-lymphocytes'])
    >>> coordinated("tumors of the lung and liver")[0]
    ['tumors of the lung', 'tumors of the liver']
    >>> coordinated("chest pain")
    []
    """
    if len(text) > _LONGEST:
        return []
    found = _COORDINATOR.search(text)
    if found is None:
        return []
    pieces = [*_COMMA.split(text[: found.start()]), *_COORDINATOR.split(text[found.end() :])]
    parts = [piece.strip() for piece in pieces if piece.strip()]
    if not 1 < len(parts) <= _MOST_PARTS:
        return []
    ways: list[list[str]] = []
    *before, last = parts
    if any(_OPEN.search(part) for part in before):
        stem = re.search(r"[-‐‑–](.+)$", last)
        closed = [f"{part}{stem[1]}" if stem and _OPEN.search(part) else part for part in before]
        ways.append([*closed, last])
        before = [part.rstrip("-‐‑–") for part in before]
    words = last.split()
    hinge = _HINGE.match(before[0])
    if hinge is not None:
        ways.append([before[0], *(hinge[1] + part for part in [*before[1:], last])])
    for shared in range(1, min(_MOST_SHARED, len(words) - 1) + 1):
        tail = " ".join(words[-shared:])
        ways.append([*(f"{part} {tail}" for part in before), last])
    head = before[0].split()
    for shared in range(1, min(_MOST_SHARED, len(head) - 1) + 1):
        front = " ".join(head[:shared])
        ways.append([before[0], *(f"{front} {part}" for part in [*before[1:], last])])
    ways.append([*before, last])
    return list({tuple(way): way for way in ways}.values())
