"""Tables of concepts: CSV, TSV and columns between bars, with a line of column names.

::

    id          name              synonyms                parents     category
    SPL:0002    left ventricle    LV|left ventricular     SPL:0001    anatomy

Columns with other usual names are recognized (`spanloom.vocabulary.fields`), and users may name them. Several rows of
one concept are joined. Lists have ``|`` between their values, or ``;`` where no list of the column has ``|``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from spanloom.errors import DataError, UsageError
from spanloom.vocabulary.fields import Columns, Gathering, assigned, given_columns
from spanloom.vocabulary.notes import Concept, Notes
from spanloom.vocabulary.records import Record, gathered_records, lines_of, merge

_CODE: Final = re.compile(r"\S*\d\S*")  # an identifier, in a table without a line of column names
_EXPECTED: Final = "expected id, name and perhaps synonyms; name the columns (--columns id=NAME,name=NAME)"

_Cells = tuple[int, list[str]]


def read_concepts(path: str | Path, columns: Columns = None) -> list[Concept]:
    """Reads a table of concepts, in the order of their first rows.

    Empty lines do not count; white space around a value does not either. Several rows of one concept are joined.

    Args:
        path: the file, which may be packed by gzip.
        columns: our names of columns -> those of the file, or their numbers from 1 where it has no line of names.

    Raises:
        DataError: a line with more or fewer columns than the first, a column that is missing or occurs twice, an id or
            a name that is empty, no concept at all, or bytes that are not UTF-8.
        UsageError: a column that the file does not have.

    >>> from spanloom.data import clinical
    >>> concepts = read_concepts(clinical() / "vocabulary.tsv")
    >>> len(concepts), concepts[1].names, concepts[1].parents, concepts[1].category
    (449, ('left ventricle', 'LV', 'left ventricular'), ('SPL:0001',), 'anatomy')
    """
    notes = Notes()
    return merge(scan_table(path, notes, columns=columns), notes, path)


def scan_table(
    path: str | Path,
    notes: Notes,
    *,
    columns: Columns = None,
    languages: Collection[str] = (),
    sources: Collection[str] = (),
) -> Iterator[Record]:
    """The concepts of a table with their lines. Arguments and errors are those of `read_concepts` and `Gathering`."""
    lines = rows_of(path)
    header, places, lines = _header(lines, given_columns(columns), notes, path)
    gathering = Gathering(path, notes, languages, sources)
    for number, cells in lines:
        if len(cells) != len(header):
            message = f"found {len(cells)} columns, expected {len(header)} as in the first line"
            raise DataError(message, path=path, line=number)
        gathering.add({ours: [cells[place] for place in several] for ours, several in places.items()}, number)
    yield from gathered_records(gathering.finish().items(), notes)


def rows_of(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table; in CSV a cell may be quoted, between tabs or bars one that is quoted as a whole is."""
    first = next((line for _, line in lines_of(path) if line.strip()), "")
    delimiter = delimiter_of(first)
    if delimiter in (",", ";"):
        reader = csv.reader((line for _, line in lines_of(path)), delimiter=delimiter, strict=True)
        while True:
            start = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                message = f'found a row that is no CSV ({error}); expected cells with " around, and "" for one within'
                raise DataError(message, path=path, line=start) from None
            if row is None:
                return
            if any(cell.strip() for cell in row):
                yield start, [cell.strip() for cell in row]
    for number, line in lines_of(path):
        if line.strip():
            cells = line.rstrip("\r\n").split(delimiter) if delimiter else [line]
            yield number, [_unquoted(cell.strip()) for cell in cells]


def _unquoted(cell: str) -> str:
    whole = len(cell) > 1 and cell[0] == cell[-1] == '"' and cell.count('"') % 2 == 0
    return cell[1:-1].replace('""', '"').strip() if whole else cell


def delimiter_of(line: str) -> str:
    """Return what divides the cells of a line; empty if nothing does.

    >>> delimiter_of("id;name;synonyms|more"), delimiter_of("D1||heart"), delimiter_of("heart")
    (';', '||', '')
    """
    unquoted = re.sub(r'"[^"]*"', "", line)
    certain = next((mark for mark in ("\t", "||") if mark in unquoted), None)
    if certain is not None:
        return certain
    best = max((",", ";", "|"), key=unquoted.count)
    return best if best in unquoted else ""


def _header(
    lines: Iterator[_Cells], given: Mapping[str, Sequence[str]], notes: Notes, path: str | Path
) -> tuple[Sequence[str], Mapping[str, Sequence[int]], Iterator[_Cells]]:
    """Return the names of columns, our name -> places of columns, and the rows that follow."""
    if given and all(name.isdigit() for names in given.values() for name in names):
        first = next(lines, None)
        if first is None:
            return (), {}, lines
        places = {ours: [int(name) - 1 for name in names] for ours, names in given.items()}
        last = max(map(max, places.values()))
        if min(map(min, places.values())) < 0 or last >= len(first[1]):
            raise UsageError(f"{path}: found {len(first[1])} columns, expected numbers of columns from 1 to that")
        if "name" not in places:
            raise UsageError("found no column of names, expected one, such as id=1,name=2")
        return _complete(first[1], places, notes, chain([first], lines))
    for number, cells in lines:
        try:
            found = assigned(cells, given)
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from None
        if found and ("id" in found or not any(map(_CODE.fullmatch, cells))):
            return _named(cells, found, notes, lines, path, number, certain="name" in given)
        if cells[0].startswith("#"):
            notes.add("comment lines before the columns, left out", cells[0])
            continue
        codes = [place for place, cell in enumerate(cells) if _CODE.fullmatch(cell)]
        if len(cells) != 2 or len(codes) != 1:
            raise DataError(f"found the columns {', '.join(cells)[:80]}, {_EXPECTED}", path=path, line=number)
        notes.add("tables without a line of columns, read as an identifier and a name", cells[codes[0]])
        return _complete(cells, {"id": codes, "name": [1 - codes[0]]}, notes, chain([(number, cells)], lines))
    return (), {}, lines


def _named(
    cells: Sequence[str], found: Mapping[str, Sequence[str]], notes: Notes, lines: Iterator[_Cells], path: str | Path,
    line: int, certain: bool,
) -> tuple[Sequence[str], Mapping[str, Sequence[int]], Iterator[_Cells]]:  # fmt: skip
    used = [name for names in found.values() for name in names]
    unread = [name for name in cells if name and name not in used]
    twice = next((name for name in used if cells.count(name) > 1), None)
    if twice:
        raise DataError(f"found the column {twice!r} twice, expected it once", path=path, line=line)
    if "id" not in found and unread and not certain:
        raise DataError(f"found the columns {', '.join(cells)[:80]}, {_EXPECTED}", path=path, line=line)
    for name in unread:
        notes.add("columns that are not read", name)
    return _complete(
        cells, {ours: [cells.index(name) for name in names] for ours, names in found.items()}, notes, lines
    )


def _complete(
    header: Sequence[str], places: Mapping[str, Sequence[int]], notes: Notes, lines: Iterator[_Cells]
) -> tuple[Sequence[str], Mapping[str, Sequence[int]], Iterator[_Cells]]:
    if "id" not in places:
        notes.add("tables without identifiers, whose names are the identifiers")
        places = {**places, "id": places["name"]}
    return header, places, lines
