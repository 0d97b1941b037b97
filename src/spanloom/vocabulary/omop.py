"""Concepts of the OMOP common data model: the tables CONCEPT and, beside it, CONCEPT_SYNONYM, as Athena hands them out.

Columns between tabs or commas, with a line of their names in any case, or without one in the order of the model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from spanloom.errors import DataError
from spanloom.formats.layouts import words
from spanloom.formats.source import bare
from spanloom.vocabulary.fields import Gathering, plain
from spanloom.vocabulary.notes import Notes
from spanloom.vocabulary.records import Record, gathered_records
from spanloom.vocabulary.table import rows_of

TABLE: Final = "CONCEPT"
_SYNONYMS: Final = "CONCEPT_SYNONYM"
_PARENTS: Final = "CONCEPT_RELATIONSHIP"
_ORDER: Final = {
    TABLE: words(
        "concept_id concept_name domain_id vocabulary_id concept_class_id standard_concept concept_code "
        "valid_start_date valid_end_date invalid_reason"
    ),
    _SYNONYMS: ("concept_id", "concept_synonym_name", "language_concept_id"),
    _PARENTS: words("concept_id_1 concept_id_2 relationship_id valid_start_date valid_end_date invalid_reason"),
}


def scan_omop(path: str | Path, notes: Notes, *, sources: Collection[str] = ()) -> Iterator[Record]:
    """The concepts of the table CONCEPT, with names of CONCEPT_SYNONYM.

    Identifiers are concept_ids; alternatives are codes with their vocabulary (``SNOMED:22298006``), the category is the
    domain, parents those of the relationship ``Is a``, if CONCEPT_RELATIONSHIP is there. Invalid concepts are left out.

    Args:
        path: the table, or its folder.
        notes: to add to.
        sources: vocabulary_ids, such as ``RxNorm``; all when empty.

    Raises:
        DataError: a file cannot be read or is not of this form.
        UsageError: a vocabulary that no concept has.
    """
    path = Path(path)
    folder = path if path.is_dir() else path.parent
    file = table_of(folder, TABLE) if path.is_dir() else path
    if file is None:
        raise DataError(f"found no {TABLE}.csv, expected one in the folder", path=path)
    gathering = Gathering(file, notes, sources=sources)
    for line, row in _rows(file, TABLE):
        values = {
            "id": row["concept_id"],
            "name": row["concept_name"],
            "alternatives": ":".join(filter(None, (row["vocabulary_id"], row["concept_code"]))),
            "category": row["domain_id"],
            "source": row["vocabulary_id"],
            "obsolete": row["invalid_reason"],
        }
        gathering.add({name: [value] for name, value in values.items() if value}, line)
    found = gathering.finish()
    synonyms, parents = (table_of(folder, name) for name in (_SYNONYMS, _PARENTS))
    if synonyms is None:
        notes.add("files that are not in the folder", f"{_SYNONYMS}.csv")
    for _, row in _rows(synonyms, _SYNONYMS) if synonyms else ():
        if row["concept_id"] in found and row["concept_synonym_name"]:
            found[row["concept_id"]].names.append((1, row["concept_synonym_name"]))
        else:
            notes.add("synonyms of concepts that are left out or not there", row["concept_id"])
    for _, row in _rows(parents, _PARENTS) if parents else ():
        child = found.get(row["concept_id_1"])
        if child is not None and row["relationship_id"] == "Is a" and not row["invalid_reason"]:
            child.parents.append(row["concept_id_2"])
    yield from gathered_records(found, notes)


def table_of(folder: Path, name: str) -> Path | None:
    """Return a table of the model in a folder, whatever the case of its name; ``None`` if it is not there."""
    names = (".csv", ".tsv", ".txt")
    files = sorted(file for file in folder.iterdir() if bare(file).stem.upper() == name)
    return next((file for file in files if bare(file).suffix.lower() in names and file.is_file()), None)


def is_omop(name: str, cells: Sequence[str]) -> bool:
    """Return whether the first row of a file is one of the table CONCEPT, its header or a concept.

    >>> is_omop("concept.csv", ["concept_id", "concept_name", "vocabulary_id"]), is_omop("a.csv", ["id", "name"])
    (True, False)
    """
    header = set(map(plain, cells))
    if {"conceptid", "conceptname", "vocabularyid"} <= header:
        return True
    order = _ORDER[TABLE]
    return name.upper() == TABLE and len(cells) == len(order) and cells[0].isdigit() and cells[7][:4].isdigit()


def _rows(path: Path, table: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    order = _ORDER[table]
    names: list[str] = []
    for line, cells in rows_of(path):
        if not names:
            names = [cell.lower() for cell in cells]
            if order[0] in names:
                continue
            names = list(order)
        if len(cells) != len(names):
            message = f"found {len(cells)} columns, expected {len(names)}: {', '.join(names)}"
            raise DataError(message, path=path, line=line)
        yield line, dict.fromkeys(order, "") | dict(zip(names, cells, strict=True))
