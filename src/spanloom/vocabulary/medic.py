"""MEDIC, the diseases of the Comparative Toxicogenomics Database, in three of the forms that CTD offers: XML, CSV, TSV.

Davis et al. 2012, "MEDIC: a practical disease vocabulary used at the Comparative Toxicogenomics Database". CTD's table
of chemicals has the same form and is read as well. For the OBO file of MEDIC see `spanloom.vocabulary.obo`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final

from spanloom.errors import DataError
from spanloom.formats.source import raw_lines
from spanloom.vocabulary.concept import Concept
from spanloom.vocabulary.notes import Notes
from spanloom.vocabulary.records import Record, lines_of, split_values
from spanloom.vocabulary.xml_records import xml_records

KINDS: Final = ("Disease", "Chemical")  # a file is of one kind, and its columns are called after it


def scan_medic(path: str | Path, notes: Notes) -> Iterator[Record]:
    """Yield the concepts of a CTD file: XML if it begins with ``<``, else a table with the divider of its header line.

    Raises:
        DataError: the file cannot be read, is not UTF-8, or has another format.
    """
    first = next((line.strip() for _, line in raw_lines(path) if line.strip()), b"")
    # UTF-16 begins with a mark; as a table it would be refused anyway
    rows = _xml_rows(path) if first.startswith((b"<", b"\xff\xfe", b"\xfe\xff")) else _table_rows(path)
    for row, line in rows:
        kind = next((kind for kind in KINDS if f"{kind}ID" in row or f"{kind}Name" in row), None)
        if kind is None:
            message = f"found a row with {', '.join(row)[:80] or 'nothing'}, expected DiseaseName and DiseaseID"
            raise DataError(message, path=path, line=line)
        one = dict.fromkeys(("Definition", f"{kind}ID", f"{kind}Name"), "") | row
        synonyms, alternatives, parents, categories = (
            split_values(row.get(name, "")) for name in ("Synonyms", f"Alt{kind}IDs", "ParentIDs", "SlimMappings")
        )
        concept = Concept(
            one[f"{kind}ID"], one[f"{kind}Name"], synonyms, alternatives, parents, one["Definition"],
            "|".join(categories),
        )  # fmt: skip
        yield Record(concept, line)


def _xml_rows(path: str | Path) -> Iterator[tuple[dict[str, str], int]]:
    for element, line in xml_records(path, roots=["RowSet"], records=["Row"]):
        row: dict[str, str] = {}
        for child in element:
            if child.tag in row:
                message = f"found {child.tag[:80]} twice in a row, expected it once; values have | between"
                raise DataError(message, path=path, line=line)
            row[child.tag] = (child.text or "").strip()
        yield row, line


def _table_rows(path: str | Path) -> Iterator[tuple[dict[str, str], int]]:
    """Yield the rows of a table; its columns are named in a comment, or in the first other line."""
    columns: list[str] = []
    separator, number = "\t", 0
    lines = lines_of(path)
    first: list[str] = []  # the line that is the first row
    for number, line in lines:
        content = line.lstrip("#").strip()
        if columns and not line.startswith("#"):
            first = [line]
            break
        mark = "\t" if "\t" in content else ","
        cells = [cell.strip() for cell in content.split(mark)]
        if any(f"{kind}ID" in cells and f"{kind}Name" in cells for kind in KINDS):
            columns, separator = cells, mark
        elif content and not line.startswith("#"):
            message = f"found {content[:80]!r} before a line of columns, expected one with DiseaseName and DiseaseID"
            raise DataError(message, path=path, line=number)
    if not columns:
        raise DataError("found no line of columns, expected one with DiseaseName and DiseaseID", path=path)
    rows = csv.reader(
        chain(first, (line for _, line in lines)), delimiter=separator,
        quoting=csv.QUOTE_NONE if separator == "\t" else csv.QUOTE_MINIMAL, strict=True,
    )  # fmt: skip
    start = number
    try:
        for cells in rows:
            place, start = start, number + rows.line_num
            if not cells or cells[0].startswith("#"):
                continue
            if len(cells) != len(columns):
                message = f"found {len(cells)} columns, expected {len(columns)}: {', '.join(columns)}"
                raise DataError(message, path=path, line=place)
            yield dict(zip(columns, map(str.strip, cells), strict=True)), place
    except csv.Error as error:
        raise DataError(f"found a row that is no CSV ({error}); get the file again", path=path, line=start) from None
