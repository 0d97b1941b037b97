"""Layouts of column files: what divides fields, which column is what, how tags are spelled, and what they mark."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from types import MappingProxyType

from spanloom.document import from_tags
from spanloom.document.tags import TypedRange, from_levels
from spanloom.formats.tag_dialects import BRACKETS, USUAL, TagDialect, in_brackets, read_tag

TAB, BLANKS = "\t", " "
SENTENCE, DOCUMENT = "sentence-id", "document-id"  # columns in which a new value begins a sentence or a document
SPECIAL = ("word", "tag", "id", "_", SENTENCE, DOCUMENT)

_FIELDS = re.compile(r"[ \t]+")
_QUOTED = MappingProxyType(
    {divider: re.compile(rf'(?:\A|[{divider}]) ?"(?:[^"]|"")*"(?:[{divider}]|\Z)') for divider in ",;|/_"}
)


@dataclass(frozen=True)
class ColumnLayout:
    """The columns of a file.

    Args:
        names: one for each column: ``"word"``, ``"tag"`` (several are nested levels), ``"id"`` (numbers that are not
            kept), ``"_"`` (skipped), ``"sentence-id"`` and ``"document-id"`` (a new value begins a sentence or a
            document), or the name of a column of the document, such as ``"pos"``.
        divider: the separator of fields: a tab, ``" "`` for any blanks, or another character.
        dialects: of the columns of tags.
        more: whether any number of tags may follow the last column.
        rest: whether any number of fields may follow that are not read.
        least: the smallest number of fields of a line.
        inline: whether a line is a sentence, its tokens between blanks.
        header: the fields of the header line, which is not a token.
        unread: the columns of tags that are not read.
        added: what files add to each word, such as a language before it, and is left out.
    """

    names: tuple[str, ...]
    divider: str = BLANKS
    dialects: tuple[TagDialect, ...] = (USUAL,)
    more: bool = False
    rest: bool = False
    least: int = 0
    inline: bool = False
    header: tuple[str, ...] = ()
    unread: tuple[int, ...] = field(default=(), compare=False)
    added: re.Pattern[str] | None = None

    def fields(self, line: str) -> list[str]:
        """Return the fields of a line."""
        found = split(line, self.divider)
        width = len(self.names)
        if len(found) == width:
            return found
        if len(found) == width + 1 and not found[-1]:
            found.pop()  # each field may end in a divider
        if len(found) == 1 and self.divider == TAB and len(other := split(line, BLANKS)) == width:
            return other
        surplus = 0 if self.more or self.rest or self.divider in (TAB, BLANKS) else len(found) - width
        if surplus > 0:  # the word holds the divider
            found[self.word : self.word + surplus + 1] = [self.divider.join(found[self.word : self.word + surplus + 1])]
        return found

    def fits(self, line: str) -> bool:
        """Return whether a line has the fields of a token, and valid tags."""
        row = self.fields(line)
        return self.has_width(row) and bool(row[self.word]) and self.wrong_tag(row) is None

    def has_width(self, row: Sequence[str]) -> bool:
        """Return whether a line has the right number of fields."""
        if self.more or self.rest:
            return len(row) >= (self.least or len(self.names))
        return len(row) == len(self.names)

    def wrong_tag(self, row: Sequence[str]) -> tuple[str, TagDialect] | None:
        """Return the first field with an invalid tag, and the expected dialect."""
        for i, end, dialect, read in self._readers:
            for value in row[i:end]:
                if read(value) is None:
                    return value, dialect
        return None

    def mentions(self, rows: Sequence[Sequence[str]]) -> list[TypedRange]:
        """Return the mentions of a sentence, of which all tags are valid."""
        found: list[TypedRange] = []
        for i, end, dialect, read in self._readers:
            if end is None:
                found += of_levels([tuple(tag for value in row[i:] for tag in read(value) or ("O",)) for row in rows])
            elif dialect.divider == BRACKETS:
                found += in_brackets(row[i] for row in rows)
            elif dialect.joint:
                found += of_levels([read(row[i]) or () for row in rows])
            else:
                found += from_tags([(read(row[i]) or ("O",))[0] for row in rows])
        return found

    @cached_property
    def _readers(self) -> list[tuple[int, int | None, TagDialect, Callable[[str], tuple[str, ...] | None]]]:
        """For each column of tags where it begins and ends, its dialect, and a function that reads a value of it."""
        return [
            (i, None if i in self.open_tags else i + 1, dialect, lru_cache(1 << 12)(partial(read_tag, dialect=dialect)))
            for i, dialect in zip(self.tags, self.dialects, strict=True)
        ]

    @cached_property
    def word(self) -> int:
        """The index of the word column."""
        return self.names.index("word")

    @cached_property
    def tags(self) -> list[int]:
        """The indices of the tag columns."""
        return [i for i, name in enumerate(self.names) if name == "tag"]

    @cached_property
    def open_tags(self) -> list[int]:
        """The index of the tag column that any number of tags may follow, if there is one."""
        return self.tags[-1:] if self.more else []

    @cached_property
    def number(self) -> int | None:
        """The index of the column of token numbers, if there is one."""
        return self.names.index("id") if "id" in self.names else None

    @cached_property
    def counters(self) -> dict[str, int]:
        """The columns that number documents and sentences: name -> index."""
        return {name: self.names.index(name) for name in (DOCUMENT, SENTENCE) if name in self.names}

    @cached_property
    def others(self) -> dict[str, int]:
        """The columns of the document: name -> index."""
        return {name: i for i, name in enumerate(self.names) if name not in SPECIAL}

    @property
    def option(self) -> str:
        """The names of the columns as the option ``--columns`` takes them."""
        return ",".join(self.names) + "*" * self.more + ",_*" * self.rest


def of_levels(rows: list[tuple[str, ...]]) -> list[TypedRange]:
    """Return the mentions of tokens with several tags: of columns, where ``O`` fills them up, else of mentions."""
    widths = {len(row) for row in rows}
    if len(widths) == 1 and any(len(row) > 1 and "O" in row for row in rows):
        return [mention for level in zip(*rows, strict=True) for mention in from_tags(level)]
    return from_levels(rows)


def split(line: str, divider: str) -> list[str]:
    """Return the fields of a line, at single tabs, at any blanks, or at another character.

    >>> split("EU  NNP B-ORG", " "), split('"a,b",O', ",")
    (['EU', 'NNP', 'B-ORG'], ['a,b', 'O'])
    """
    if divider == TAB:
        return line.split(TAB)
    if divider == BLANKS:
        return _FIELDS.split(line.strip(" \t"))
    if '"' in line and _QUOTED[divider].search(line):
        return [cell.strip(" ") for cell in next(csv.reader([line], delimiter=divider, skipinitialspace=True), [])]
    return [cell.strip(" \t") for cell in line.split(divider)]
