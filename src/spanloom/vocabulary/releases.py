"""Vocabularies as their publishers release them: SNOMED CT, OMOP, and UMLS and RxNorm in Rich Release Format.

Of SNOMED CT, descriptions in Release Format 2 are read, alone or in a release folder.

SNOMED International, "Release File Specifications". Identifiers stay the numbers that they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from spanloom.errors import DataError
from spanloom.formats.layouts import words
from spanloom.formats.source import bare, plain_or_packed
from spanloom.vocabulary.fields import Gathering, plain
from spanloom.vocabulary.records import (
    Gathered,
    Notes,
    Record,
    check_chosen,
    check_width,
    gathered_records,
    lines_of,
)
from spanloom.vocabulary.table import rows_of

DESCRIPTIONS: Final = "sct2_Description_*"
_COLUMNS: Final = ("id", "effectiveTime", "active", "conceptId", "languageCode", "typeId", "term")
_RELATIONS: Final = ("id", "effectiveTime", "active", "sourceId", "destinationId", "typeId")
_FULL_NAME: Final = "900000000000003001"
_DEFINITION: Final = "900000000000550004"
_IS_A: Final = "116680003"
_TAG: Final = re.compile(r"(.*\S)\s*\(([^()]+)\)")  # a fully specified name, and its semantic tag
_VIEWS: Final = ("Snapshot", "Full", "Delta")


def scan_snomed(path: str | Path, notes: Notes, *, languages: Collection[str] = ()) -> Iterator[Record]:
    """The concepts of description files, in the order of their first descriptions.

    Names are the active descriptions; of a description that is there several times, as in a full release, the latest
    counts. The preferred name is the one that equals the fully specified name without its semantic tag, else the fully
    specified name; the category is that tag. A folder's relationships give the parents.

    Args:
        path: a file of descriptions, or the folder of a release or a part of it.
        notes: to add to.
        languages: such as ``en``; all when empty.

    Raises:
        DataError: a file cannot be read or is not of this form.
        UsageError: a language that no description has.
    """
    path = Path(path)
    descriptions = release_files(path, DESCRIPTIONS) if path.is_dir() else [path]
    if not descriptions:
        raise DataError(f"found no {DESCRIPTIONS}.txt, expected the folder of a release", path=path)
    found: dict[str, Gathered] = {}
    seen: set[str] = set()
    definitions = release_files(path, "sct2_TextDefinition_*") if path.is_dir() else []
    for file in (*descriptions, *definitions):
        for line, (concept, language, kind, text) in _latest(file, _COLUMNS, notes, "inactive descriptions, left out"):
            seen.add(language)
            if languages and language not in languages:
                notes.add("descriptions in other languages, left out")
            elif kind != _DEFINITION:
                found.setdefault(concept, Gathered(line)).names.append((1 if kind == _FULL_NAME else 2, text))
            elif concept in found:
                found[concept].definition = found[concept].definition or text
    check_chosen("language", languages, seen, path)
    for file in release_files(path, "sct2_Relationship_*") if path.is_dir() else []:
        for _, (child, parent, kind) in _latest(file, _RELATIONS, notes, "inactive relationships, left out"):
            if kind == _IS_A and child in found:
                found[child].parents.append(parent)
    for gathered in found.values():
        tagged = [match for rank, text in gathered.names if rank == 1 and (match := _TAG.fullmatch(text))]
        gathered.categories = [match[2] for match in tagged]
        short = {match[1] for match in tagged}
        gathered.names = [(0 if text in short else rank, text) for rank, text in gathered.names]
    yield from gathered_records(found.items(), notes)


def release_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a release folder that match a pattern: of its snapshot, else of its other views."""
    names = [file for inner in ("", "*/", "*/*/", "*/*/*/") for file in sorted(folder.glob(f"{inner}{pattern}"))]
    files = [file for file in names if file.name.endswith((".txt", ".txt.gz")) and file.is_file()]
    return next((some for view in _VIEWS if (some := [file for file in files if view in file.name])), files)


def _latest(
    path: Path, columns: Sequence[str], notes: Notes, inactive: str
) -> Iterator[tuple[int, tuple[str, ...]]]:  # fmt: skip
    """The active rows, in their last state: the values of ``columns`` after the third, with their lines."""
    places: list[int] = []
    rows: dict[str, tuple[str, bool, int, tuple[str, ...]]] = {}
    width = 0
    for number, row in lines_of(path):
        cells = row.rstrip("\r\n").split("\t")
        if not places:
            lower = [cell.strip().lower() for cell in cells]
            missing = next((name for name in columns if name.lower() not in lower), None)
            if missing is not None:
                message = f"found no column {missing}, expected {', '.join(columns)} between tabs"
                raise DataError(message, path=path, line=number)
            places, width = [lower.index(name.lower()) for name in columns], len(cells)
            continue
        if cells == [""]:
            continue
        check_width(cells, width, " as in the first line", path, number)
        identifier, time, active, *values = (cells[place].strip() for place in places)
        if identifier not in rows or rows[identifier][0] <= time:
            rows[identifier] = (time, active == "1", number, tuple(values))
    for identifier, (_, active_, line, kept) in rows.items():
        if active_:
            yield line, kept
        else:
            notes.add(inactive, identifier)


# Concepts of the OMOP common data model: the tables CONCEPT and, beside it, CONCEPT_SYNONYM, as Athena hands them out.
#
# Columns between tabs or commas, with a line of their names in any case, or without one in the order of the model.

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
    yield from gathered_records(found.items(), notes)


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
        check_width(cells, len(names), f": {', '.join(names)}", path, line)
        yield line, dict.fromkeys(order, "") | dict(zip(names, cells, strict=True))


# Rich Release Format: the UMLS Metathesaurus and RxNorm, folders with a file of names and files on its concepts.
#
# Columns as in the UMLS Reference Manual, "Metathesaurus - Rich Release Format", and in the RxNorm technical
# documentation. Files are read line by line; names, definitions and relationships of the wanted languages and sources
# are kept.

NAMES: Final = ("MRCONSO.RRF", "RXNCONSO.RRF")
"""The files of names, of UMLS and of RxNorm."""
ENGLISH: Final = ("ENG",)
# columns of the file of names, and of those beside it, which are called MRSTY.RRF or RXNSTY.RRF
_WIDTHS: Final = {"CONSO": 18, "STY": 6, "DEF": 8, "REL": 16}
_BESIDE: Final = {"MR": ("STY", "DEF", "REL"), "RXN": ("STY", "REL")}
# types of terms that stand for a concept of a source as a whole, so that its code is an identifier of the concept; an
# entry term of MeSH, for one, has the code of its descriptor, although it may be of another concept
_MAIN: Final = frozenset({"HT", "MH", "NM", "PN", "PT"})
_PREFIXES: Final = {"MSH": "MESH"}
_FURTHER: Final = frozenset({"ET", "PSN", "SY", "TMSY"})  # types of RxNorm's own terms that are no preferred names


def scan_rrf(
    path: str | Path, notes: Notes, *, languages: Collection[str] = ENGLISH, sources: Collection[str] = ()
) -> Iterator[Record]:
    """The concepts of a folder or a file of names, in the order of that file.

    The preferred name of UMLS is the one that is marked so (TS ``P``, STT ``PF``, ISPREF ``Y``), that of RxNorm the
    source RXNORM's own; else the first. Alternatives are the codes of sources' main terms, parents those of the
    relationship ``PAR``, the category the semantic types. Suppressed names, definitions and relationships do not
    count. The other files may be missing.

    Args:
        path: the folder, or its file of names; another file of such lines is read alone.
        notes: to add to.
        languages: such as ``ENG``, of names; no language stands for all.
        sources: such as ``MSH``, of names, definitions and relationships; no source stands for all.

    Raises:
        DataError: a file cannot be read, is not UTF-8, or a line has too few columns.
        UsageError: a language or a source that no line has.
    """
    path = Path(path)
    if path.is_dir():
        path = next(filter(None, (plain_or_packed(path / name) for name in NAMES)), path / NAMES[0])
    chosen = frozenset(sources)
    found = _names(path, frozenset(languages), chosen, notes)

    family = bare(path).name.removesuffix("CONSO.RRF")
    for kind in _BESIDE.get(family, ()):
        name = f"{family}{kind}.RRF"
        beside = plain_or_packed(path.with_name(name))
        if beside is None:
            notes.add("files that are not in the folder", name)
            continue
        for _, cells in _barred(beside, kind):
            if (gathered := found.get(cells[0])) is None:
                continue
            if kind == "STY":
                gathered.categories.append(cells[3])
                continue
            source, suppressed = (cells[4], cells[6]) if kind == "DEF" else (cells[10], cells[14])
            if suppressed not in ("", "N") or (chosen and source not in chosen):
                continue
            if kind == "DEF":
                gathered.definition = gathered.definition or cells[5]
            elif cells[3] == "PAR":  # the one that the second concept has to the first: it is the parent
                gathered.parents.append(f"UMLS:{cells[4]}" if _is_umls(cells[4]) else cells[4])
    umls = {f"UMLS:{cui}" if _is_umls(cui) else cui: gathered for cui, gathered in found.items()}
    return gathered_records(umls.items(), notes)


def _is_umls(cui: str) -> bool:
    return not cui.isdigit()  # those of RxNorm are numbers


def _names(path: Path, languages: frozenset[str], sources: frozenset[str], notes: Notes) -> dict[str, Gathered]:
    found: dict[str, Gathered] = {}
    seen: tuple[set[str], set[str]] = (set(), set())
    for line, cells in _barred(path, "CONSO"):
        cui, language, ts, _, stt, _, preferred = cells[:7]
        source, kind, code, text, suppressed = cells[11], cells[12], cells[13], cells[14], cells[16]
        seen[0].add(language)
        seen[1].add(source)
        if (languages and language not in languages) or (sources and source not in sources):
            notes.add("names of other languages or sources, left out")
            continue
        if suppressed not in ("", "N"):
            notes.add("suppressed names, left out")
            continue
        if not cui:
            raise DataError("found a name without a CUI, expected each line to start with one", path=path, line=line)
        umls = _is_umls(cui)
        gathered = found.setdefault(cui, Gathered(line, alternatives=[] if umls else [f"RXNORM:{cui}"]))
        first = (ts, stt, preferred) == ("P", "PF", "Y") if umls else source == "RXNORM" and kind not in _FURTHER
        gathered.names.append((0 if first else 1, text))
        if kind in _MAIN and code and code != "NOCODE":
            gathered.alternatives.append(code if ":" in code else f"{_PREFIXES.get(source, source)}:{code}")
    check_chosen("language", languages, seen[0], path)
    check_chosen("source", sources, seen[1], path)
    return found


def _barred(path: Path, kind: str) -> Iterator[tuple[int, list[str]]]:
    expected = _WIDTHS[kind]
    for number, line in lines_of(path):
        cells = line.rstrip("\r\n").split("|")
        if cells != [""]:
            if len(cells) != expected + 1:  # each column ends with a bar, so one more cell follows the last
                check_width(cells, expected, " with | behind each", path, number)
            yield number, cells
