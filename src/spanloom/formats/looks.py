"""What annotation looks like in a file that is read as plain text, and how such a file is read instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from spanloom.formats.layouts import plain, words
from spanloom.text.patterns import pattern

SHAPE: Final = words(  # elements that only shape a text, of HTML, JATS and TEI
    "a b i em strong u s p br hr sub sup span div font table tr td th li ul ol h1 h2 h3 h4 body html head title italic "
    "bold underline xref ref extlink sec section caption label "
    "graphic inlineformula hi lb pb seg sentence sent w tok token"
)
_SAMPLE: Final = 1 << 16  # characters in which annotation must show
_FIELD: Final = r"[\"'](?:text|tokens|words|content|sentence|sentences|entities|label|labels|data)[\"']\s*:"
_LINES: Final = pattern(r"\{[^\n]*" + _FIELD + r"[^\n]*\}[ \t\r]*(?:\n|\Z)")
_RECORDS: Final = pattern(r"\s*[\[{](?:\s|[\[({]){0,20}(?:[\"']|\Z)(?s:.){0,2000}?" + _FIELD)
_AROUND: Final = pattern(
    r"(?:\w[ ,(]|\w)<(\w[\w.-]{0,60})(?:\s[^<>]{0,300})?>[^<>]{1,300}</\1>"
    r"|<(\w[\w.-]{0,60})(?:\s[^<>]{0,300})?>[^<>]{1,300}</\2>\s{0,9}\w"
)
_LINKED: Final = pattern(r"\[[^\[\]\n]{1,100}\]\([A-Za-z][\w -]{0,40}\)")  # of Rasa
_TAGGED: Final = pattern(r".*\S[\t ]+(?:O|[BIESLUMW]-[^\W\d_]\S*)\s*")
_INSIDE: Final = pattern(r".*\S[\t ]+[BIESLUMW]-[^\W\d_]\S*\s*")
_CELLS: Final = pattern(r"\t|\|\|?")
_NUMBERS: Final = pattern(r"(\d{1,9})(?:[ \-](\d{1,9}))?")
_TABLE: Final = (
    "a table of mentions; put a line with the names of its columns on top, such as doc_id, start, end, type and text, "
    "and name the texts (--input-format tsv --texts TEXTS)"
)


def shows_elements(text: str) -> bool:
    """Return whether a text holds elements around some of its words, which are not those of HTML.

    >>> [shows_elements(f"No <{name}>pain</{name}>.") for name in ("problem", "b")]
    [True, False]
    """
    return any(plain(one[1] or one[2]) not in SHAPE for one in _AROUND.finditer(text))


def looks_like(text: str) -> str | None:
    r"""Return what a text looks like, and how it is read; ``None`` if it looks like a text.

    >>> looks_like("n1\t3\t7\tpain\tproblem\n")[:20], looks_like("No pain.")
    ('a table of mentions;', None)
    """
    head = text[:_SAMPLE]
    return next((advice for looks, advice in _KINDS if looks(head)), None)


def _is_tagged(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    tagged = sum(map(bool, map(_TAGGED.fullmatch, lines)))
    return 2 * tagged >= len(lines) > 2 and any(map(_INSIDE.fullmatch, lines))


def _is_table(text: str) -> bool:
    """Return whether nearly each line has two offsets, and the file's name or a text that is as long."""
    rows = [[cell.strip() for cell in _CELLS.split(line)] for line in text.splitlines() if line.strip()]
    return bool(rows) and sum(map(_is_row, rows)) >= 0.8 * len(rows)


def _is_row(cells: list[str]) -> bool:
    numbers = [found for cell in cells if (found := _NUMBERS.fullmatch(cell)) is not None]
    lengths = {int(one[2]) - int(one[1]) for one in numbers if one[2]}
    lengths |= {int(end[1]) - int(start[1]) for start, end in pairwise(numbers)}
    named = cells[0].endswith((".txt", ".text")) and len(cells) > 2
    return (
        named
        if any(length > 0 for length in lengths) and named
        else any(len(cell) in lengths or len(cell) - 1 in lengths for cell in cells if re.search(r"[^\W\d_]", cell))
    )


_KINDS: Final[tuple[tuple[Callable[[str], object], str], ...]] = (
    (_LINES.match, "records; name their format (--input-format jsonl)"),
    (_RECORDS.match, "records; name their format (--input-format json)"),
    (shows_elements, "a text with elements around mentions; name its format (--input-format markup)"),
    (_LINKED.search, "a text with mentions as [TEXT](TYPE); name its format (--input-format markup)"),
    (_is_table, _TABLE),
    (_is_tagged, "a column file; name its format (--input-format conll, with --columns word,tag)"),
)
