"""What annotation looks like in a file that is read as plain text, and how such a file is read instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from spanloom.errors import clip
from spanloom.formats.inline_marks import SHAPE, shows_marks, unpaired
from spanloom.formats.layouts import plain, words
from spanloom.text.patterns import pattern

_SAMPLE: Final = 1 << 16  # characters in which annotation must show
_FIELD: Final = r"[\"'](?:text|tokens|words|content|sentence|sentences|entities|label|labels|data)[\"']\s*:"
_NAMED: Final = pattern(_FIELD)
_RECORDS: Final = pattern(r"\s*[\[{](?:\s|[\[({]){0,20}(?:[\"']|\Z)(?s:.){0,2000}?" + _FIELD)
_INNER: Final = r"(?:[^<>]|</?(?:i|b|em|sub|sup|hi|italic)\b[^<>]{0,100}>){1,300}"
_AROUND: Final = pattern(
    r"(?:\w[ ,(]|\w)<(\w[\w.:-]{0,60})(?:\s[^<>]{0,300})?>" + _INNER + r"</\1>"
    r"|<(\w[\w.:-]{0,60})(?:\s[^<>]{0,300})?>" + _INNER + r"</\2>(?:\s{0,9}</[\w.]{1,60}>){0,5}\s{0,9}\w"
)
TYPED: Final = words("span mark em font")  # elements of HTML that mark mentions if they have an attribute with a type
_TYPE: Final = pattern(r"<\w+\s[^<>]{0,300}?\b(?:class|type|categ|data-\w+)\s{0,3}=", re.IGNORECASE)
_LINKED: Final = pattern(r"(?<!\w)\[[^\[\]\n]{1,100}\]\([A-Za-z][\w -]{0,40}\)")  # of Rasa
_TAGGED: Final = pattern(r".*\S[\t ]+(?:O|X|\[(?:CLS|SEP)\]|[BIESLUMW]-[^\W\d_]\S*)\s*")
_OUTSIDE: Final = frozenset(words("other none outside out null nil"))
_TAGS: Final = pattern(r"[ \t]*(?:(?:O|[BIESLUM]-\S+)[ \t]+)+(?:O|[BIESLUM]-\S+)[ \t]*")
_ANSWERS: Final = frozenset(words("yes no Yes No YES NO true false True False positive negative Positive Negative H L"))
_KIND: Final = pattern(r"[^\W\d_][\w-]{0,40}")
_INSIDE: Final = pattern(r".*\S[\t ]+[BIESLUMW]-[^\W\d_]\S*\s*")
_CELLS: Final = pattern(r"\t|\|\|?")
_NUMBERS: Final = pattern(r"(?:[\w.]{1,60}:)?(\d{1,9})(?:[ \-](\d{1,9}))?")
_PAIRED: Final = pattern(r"@@[^@#\n]{1,100}##")
_ENTRIES: Final = pattern(r"^\w{1,9}=\"[^\"\n]*\"(?: \d{1,6}:\d{1,6}){2}(?:,[ \d:]+)?\|\|", re.MULTILINE)
_PUBTATOR: Final = pattern(r"\s*([^\s|]{1,60})\|[ta]\|[^\n]*\n(?:\1\|[a-z]\|[^\n]*\n)*\1\t\d+\t\d+\t")
_DOUBLE: Final = pattern(r"\[\[(?=[^\[\]\n]{0,100}[A-Za-z])[^\[\]\n]{1,100}\]\]")
_BEHIND: Final = pattern(
    r"\|\|\|\s*\d{1,6}\s+\d{1,6}\s+\w[^|\n]{0,60}\|\|\||(?:^|[\t,])\d{1,6}:\d{1,6}:[A-Z]\w"
)  # of CCKS, of MTOP
_RANGES: Final = pattern(r"^\d{1,4},\d{1,4} \w\S*(?: ?\|\d{1,4},\d{1,4} \w\S*)*[ \t\r]*$", re.MULTILINE)
_PRINTED: Final = pattern(r"^Sentence(?:\[\d+\])?: .*(?:→|Token-Labels)", re.MULTILINE)
_SLASHED: Final = pattern(r"\S{1,60}/[A-Za-z]{1,12}")
_COMPLETE: Final = "add it, and name its format (--input-format markup)"
AS_LINES: Final = "write them as JSON lines: text, and entities with start, end and type"
_TABLE: Final = (
    "a table of mentions; put a line with the names of its columns on top, such as doc_id, start, end, type and text, "
    "and name the texts (--input-format tsv --texts TEXTS)"
)


def shows_elements(text: str) -> bool:
    """Return whether a text holds elements around some of its words, which are not those of HTML.

    >>> [shows_elements(f"No <{name}>pain</{name}>.") for name in ("problem", "b")]
    [True, False]
    """
    found = ((plain((one[1] or one[2]).rpartition(":")[2]), one[0]) for one in _AROUND.finditer(text))
    return any(name not in SHAPE or (name in TYPED and _TYPE.search(whole)) for name, whole in found)


def shows_annotation(text: str) -> bool:
    """Return whether the beginning of a text holds marks or elements around mentions."""
    head = text[:_SAMPLE]
    return ("<" in head or "[" in head) and (
        shows_elements(head) or shows_marks(head) or bool(unpaired(head, plain_text=True))
    )


def looks_like(text: str) -> str | None:
    r"""Return what a text looks like, and how it is read; ``None`` if it looks like a text.

    >>> looks_like("n1\t3\t7\tpain\tproblem\n")[:20], looks_like("No pain.")
    ('a table of mentions;', None)
    """
    head = text[:_SAMPLE]
    found = next((advice for looks, advice in _KINDS if looks(head)), None)
    if found is None and ("<" in head or "[" in head) and (halves := unpaired(head, plain_text=True)):
        at, mark = halves[0]
        line = head.count("\n", 0, at) + 1
        return f"a text with marks, of which {clip(mark, 40)} in line {line} lacks the other half; {_COMPLETE}"
    return found


def _is_slashed(text: str) -> bool:
    """Return whether nearly all words have a tag behind them, as in ``Oslo/ns``, of few kinds."""
    items = text.split()
    tagged = [item for item in items if _SLASHED.fullmatch(item)]
    kinds = {item.rpartition("/")[2] for item in tagged}
    return len(items) > 19 and len(tagged) >= 0.8 * len(items) and 3 * len(kinds) <= len(tagged)


def _is_typed(text: str) -> bool:
    """Return whether nearly all lines are a word and one of a few types, as in ``aspirin<tab>Drug``."""
    lines = [line for line in text.splitlines() if line.strip()]
    rows = [line.split("\t") for line in lines]
    pairs = [(row[0], row[1].strip()) for row in rows if len(row) == 2 and row[0].strip()]
    kinds, named = {kind for _, kind in pairs}, {word for word, _ in pairs}
    few = len(kinds) < len(named) and 2 * len(kinds) <= len(pairs) + 1 and not kinds & _ANSWERS
    few = few and any(kind[:1].isupper() or kind in _OUTSIDE for kind in kinds)
    return len(pairs) > 2 and len(pairs) >= 0.95 * len(rows) and few and all(map(_KIND.fullmatch, kinds))


def _begins_with_record(text: str) -> bool:
    """Return whether the first line is a JSON object that has a field of a record."""
    line = text.partition("\n")[0].rstrip(" \t\r")
    return line.startswith("{") and line.endswith("}") and _NAMED.search(line) is not None


def _is_numbered(text: str) -> bool:
    """Return whether nearly all lines are a word and a small number, most often 0, as tags that are numbers are."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    numbers = [
        int(row[1]) for row in rows if len(row) == 2 and row[1].isascii() and row[1].isdecimal() and len(row[1]) < 3
    ]
    some = {number for number in numbers if number and any(any(map(str.isalpha, row[0])) for row in rows)}
    return len(numbers) > 3 and len(numbers) >= 0.95 * len(rows) and bool(some) and 2 * numbers.count(0) >= len(numbers)


def _in_turn(text: str) -> bool:
    """Return whether a third of the lines or more are tags alone, as those below lines of words."""
    lines = [line for line in text.splitlines() if line.strip()]
    tags = [line for line in lines if _TAGS.fullmatch(line)]
    return 0.3 * len(lines) <= len(tags) <= 0.5 * len(lines) and any("-" in line for line in tags)


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
    (_begins_with_record, "records; name their format (--input-format jsonl)"),
    (_RECORDS.match, "records; name their format (--input-format json)"),
    (_PUBTATOR.match, "PubTator; name its format (--input-format pubtator)"),
    (shows_elements, "a text with elements around mentions; name its format (--input-format markup)"),
    (_LINKED.search, "a text with mentions as [TEXT](TYPE); name its format (--input-format markup)"),
    (shows_marks, "a text with marked mentions; name its format (--input-format markup)"),
    (_PAIRED.search, "a text with mentions as @@TEXT##; name its format (--input-format markup)"),
    (
        _DOUBLE.search,
        "a text with [[...]]; where these are mentions, write <TYPE>...</TYPE>, and name the format markup",
    ),
    (_ENTRIES.search, f"entries of i2b2 2009, whose texts are in other files; {AS_LINES}"),
    (_BEHIND.search, f"texts with offsets behind each; {AS_LINES} (where the last character is included, add 1)"),
    (_RANGES.search, "sentences with ranges of tokens below each; write each as a JSON line: tokens, and entities"),
    (_PRINTED.search, f"sentences as Flair prints them; {AS_LINES} (sentence.to_dict gives them)"),
    (_is_table, _TABLE),
    (_is_slashed, "words with a tag behind each; write a word and a tag a line, and name the format (conll)"),
    (
        _in_turn,
        "lines of words and lines of their tags; write a word and its tag a line, or lists of JSON (tokens, tags)",
    ),
    (_is_numbered, "a column file whose tags are numbers; put their names in their place"),
    (_is_typed, "a column file; name its format (--input-format conll, with --columns word,tag)"),
    (_is_tagged, "a column file; name its format (--input-format conll, with --columns word,tag)"),
)
