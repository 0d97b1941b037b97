"""A vocabulary as a table: one concept a line, columns between tabs, the first line names them.

::

    id          name              synonyms                parents     category
    SPL:0002    left ventricle    LV|left ventricular     SPL:0001    anatomy

``id`` and ``name`` must be there; ``synonyms`` and ``parents`` are lists with ``|`` between; other columns are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spanloom.errors import DataError

REQUIRED = ("id", "name")
OPTIONAL = ("synonyms", "parents", "category")


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of a vocabulary.

    Args:
        id: such as ``MESH:D007674``.
        name: the preferred one.
        synonyms: its other names.
        parents: ids of broader concepts; they need not be in the table.
        category: its semantic category, such as ``anatomy``; empty if there is none.

    >>> Concept("SPL:0002", "left ventricle", ("LV",)).names
    ('left ventricle', 'LV')
    """

    id: str
    name: str
    synonyms: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    category: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """All names, the preferred one first, each once."""
        return tuple(dict.fromkeys((self.name, *self.synonyms)))


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
    columns: list[str] = []
    for number, cells in _lines(path):
        if not columns:
            columns = _header(cells, path, number)
            continue
        concept = _concept(columns, cells, path, number)
        if concept.id in concepts:
            message = f"found the id {concept.id!r} twice, expected a line for each; write synonyms with | between"
            raise DataError(message, path=path, line=number)
        concepts[concept.id] = concept
    if not concepts:
        raise DataError("found no concept, expected a line of column names and then a line for each", path=path)
    return list(concepts.values())


def _lines(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    try:
        with Path(path).open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, [cell.strip() for cell in line.rstrip("\r\n").split("\t")]
    except UnicodeDecodeError as error:
        raise DataError(f"found bytes that are not UTF-8 ({error.reason}); convert the file", path=path) from error


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
    synonyms, parents = (_several(row.get(name, "")) for name in ("synonyms", "parents"))
    return Concept(row["id"], row["name"], synonyms, parents, row.get("category", ""))


def _several(cell: str) -> tuple[str, ...]:
    return tuple(part for part in map(str.strip, cell.split("|")) if part)
