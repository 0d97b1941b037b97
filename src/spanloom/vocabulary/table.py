"""A vocabulary as a table: one concept a line, columns between tabs, the first line names them.

::

    id          name              synonyms                parents     category
    SPL:0002    left ventricle    LV|left ventricular     SPL:0001    anatomy

``id`` and ``name`` must be there; ``synonyms``, ``alternatives``, ``parents``, ``definition`` and ``category`` may be.
The first three of these are lists with ``|`` between. Other columns are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spanloom.errors import DataError, clip
from spanloom.formats.source import BOM, decode
from spanloom.vocabulary.concept import Concept
from spanloom.vocabulary.notes import Notes
from spanloom.vocabulary.records import Record, split_values

REQUIRED = ("id", "name")
SEVERAL = ("synonyms", "alternatives", "parents")
OPTIONAL = (*SEVERAL, "definition", "category")


def read_concepts(path: str | Path) -> list[Concept]:
    """Reads a table of concepts, in the file's order.

    Empty lines do not count; white space around a value does not either.

    Raises:
        DataError: a line with more or fewer columns than the first, a column that is missing or stands twice, an id or
            a name that is empty, an id that stands twice, no concept at all, or bytes that are not UTF-8.
        OSError: the file cannot be read.

    >>> from spanloom.data import clinical
    >>> concepts = read_concepts(clinical() / "vocabulary.tsv")
    >>> len(concepts), concepts[1].names, concepts[1].parents, concepts[1].category
    (449, ('left ventricle', 'LV', 'left ventricular'), ('SPL:0001',), 'anatomy')
    """
    concepts: dict[str, Concept] = {}
    for concept, line in scan_table(path, Notes()):
        if concept.id in concepts:
            message = f"found the id {clip(concept.id)} twice, expected a line for each; write synonyms with | between"
            raise DataError(message, path=path, line=line)
        concepts[concept.id] = concept
    if not concepts:
        raise DataError("found no concept, expected a line of column names and then a line for each", path=path)
    return list(concepts.values())


def scan_table(path: str | Path, notes: Notes) -> Iterator[Record]:
    """The concepts of a table with their lines. Errors are those of `read_concepts`, but an id may stand twice."""
    columns: list[str] = []
    for number, cells in _lines(path):
        if columns:
            yield Record(_concept(columns, cells, path, number), number)
        else:
            columns = _header(cells, path, number)


def _lines(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    with Path(path).open("rb") as file:
        for number, raw in enumerate(file, 1):
            line = decode(raw.removeprefix(BOM) if number == 1 else raw, path, number)
            if line.strip():
                yield number, [cell.strip() for cell in line.rstrip("\r\n").split("\t")]


def _header(cells: list[str], path: str | Path, line: int) -> list[str]:
    missing = [name for name in REQUIRED if name not in cells]
    if missing:
        expected = f"expected {', '.join(REQUIRED)} and perhaps {', '.join(OPTIONAL)}, between tabs"
        raise DataError(f"found the columns {', '.join(cells)[:80]}, {expected}", path=path, line=line)
    twice = next((name for name in (*REQUIRED, *OPTIONAL) if cells.count(name) > 1), None)
    if twice:
        raise DataError(f"found the column {twice!r} twice, expected it once", path=path, line=line)
    return cells


def _concept(columns: list[str], cells: list[str], path: str | Path, line: int) -> Concept:
    if len(cells) != len(columns):
        message = f"found {len(cells)} columns, expected {len(columns)} as in the first line, between tabs"
        raise DataError(message, path=path, line=line)
    row = dict(zip(columns, cells, strict=True))
    for name in REQUIRED:
        if not row[name]:
            raise DataError(f"found an empty {name}, expected each concept to have one", path=path, line=line)
    synonyms, alternatives, parents = (split_values(row.get(name, "")) for name in SEVERAL)
    definition, category = (row.get(name, "") for name in ("definition", "category"))
    return Concept(row["id"], row["name"], synonyms, alternatives, parents, definition, category)
