"""Reads a vocabulary, whatever its format."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Final
from warnings import warn

from spanloom.errors import DataError, DataWarning, UsageError, meant
from spanloom.files.staging import warn_of_leftovers
from spanloom.formats.source import bare, checked_encoding, decoding, opened, plain_or_packed, unreadable
from spanloom.text.patterns import pattern
from spanloom.vocabulary.fields import JOINED, Columns, assigned
from spanloom.vocabulary.json_records import scan_json
from spanloom.vocabulary.obo import scan_obo, scan_obo_graph
from spanloom.vocabulary.ontology import scan_owl, scan_owlxml, scan_turtle
from spanloom.vocabulary.records import Notes, Record
from spanloom.vocabulary.releases import (
    DESCRIPTIONS,
    TABLE,
    is_omop,
    release_files,
    scan_omop,
    scan_rrf,
    scan_snomed,
    table_of,
)
from spanloom.vocabulary.releases import NAMES as RRF
from spanloom.vocabulary.store import Vocabulary
from spanloom.vocabulary.table import (
    CODE_LINE,
    TAXA,
    delimiter_of,
    is_list_of_names,
    scan_codes,
    scan_table,
    scan_taxonomy,
    scan_words,
)
from spanloom.vocabulary.xml_records import NEW_RECORD, ROOTS, scan_medic, scan_mesh

_Scan = Callable[..., Iterator[Record]]
SCANNERS: Final = MappingProxyType[str, _Scan](
    {
        "codes": scan_codes,
        "json": scan_json,
        "medic": scan_medic,
        "mesh": scan_mesh,
        "obo": scan_obo,
        "obograph": scan_obo_graph,
        "omop": scan_omop,
        "owl": scan_owl,
        "owlxml": scan_owlxml,
        "rrf": scan_rrf,
        "snomed": scan_snomed,
        "table": scan_table,
        "taxonomy": scan_taxonomy,
        "turtle": scan_turtle,
        "words": scan_words,
    }
)
INDEX: Final = "index"  # what `Vocabulary.save` writes
VOCABULARY_FORMATS: Final = (*SCANNERS, INDEX)
"""The formats that `read_vocabulary` knows."""
_OPTIONS: Final = {  # of which formats
    "columns": ("json", "table"),
    "languages": ("json", "owl", "owlxml", "rrf", "snomed", "table", "turtle"),
    "sources": ("json", "omop", "rrf", "table"),
}

_BEGINNING = 1 << 16  # bytes of a file that are looked at
_JSON: Final = re.compile(r"\{|\[\s*[\[{\]\"\d]")
_TURTLE: Final = re.compile(
    r"(?:#[^\n]*\n\s*)*(?:@(?:prefix|base)\s|prefix\s+[\w.-]*:\s*<|base\s+<|<\w+:[^\s<>]*>\s+(?:<|a\s|[\w.-]*:))",
    re.IGNORECASE,
)
_OTHER_OWL: Final = re.compile(r"(?:Prefix|Ontology)\s*[(:]", re.IGNORECASE)
_GRAPHS: Final = re.compile(r'"graphs"\s*:')
_MARKS: Final = MappingProxyType(  # of texts that show what they are
    {
        "obo": re.compile(r"^(?:\[Term\]|format-version:)", re.MULTILINE),
        "medic": re.compile(r"^#?\s*(?:\w+[,\t])*(?:Disease|Chemical)(?:ID|Name)\b", re.MULTILINE),
        "mesh": re.compile(re.escape(NEW_RECORD)),
        "taxonomy": re.compile(r"\d+\s*\|[^|\n]+\|[^|\n]*\|[^|\n]+\|$", re.MULTILINE),
        "rrf": re.compile(r"[^|\n]+\|[A-Z]{3}\|(?:[^|\n]*\|){15,16}[^|\n]*$", re.MULTILINE),
    }
)
_ROOT: Final = pattern(  # the outermost element of XML, behind what may be before it
    r"(?:[^<]*(?:<\?.*?\?>|<!--.*?-->|<!(?!--)[^\[>]*(?:\[[^\]]*\][^>]*)?>))*+[^<]*<([A-Za-z][\w.:-]*)", re.DOTALL
)


def read_vocabulary(
    path: str | Path,
    format: str | None = None,
    *,
    columns: Columns = None,
    languages: Collection[str] | None = None,
    sources: Collection[str] | None = None,
    encoding: str | None = None,
) -> Vocabulary:
    """Read a vocabulary, or open the index of one.

    Args:
        path: a file, possibly compressed by gzip, or the folder of an index, of UMLS, RxNorm, SNOMED CT or OMOP files.
        format: one of `VOCABULARY_FORMATS`; inferred from names and contents when ``None``.
        columns: of a table or of JSON, the column or field of the ``id``, the ``name``, the ``synonyms`` and so on, as
            ``{"id": "cui", "name": "str"}`` or ``"id=cui,name=str"``; numbers from 1 for a table without a header.
            Usual names are recognized without it.
        languages: of names, as the files write them; when ``None``, ``("ENG",)`` of UMLS, and all of other formats. An
            empty one means all.
        sources: of UMLS names, definitions and relationships, or of the rows of a table; all when ``None``.
        encoding: of files that are not in UTF-8, such as ``"cp1252"``.

    Raises:
        DataError: the file cannot be read, is not of its format, or has no concept.
        ModelError: an index that is damaged or of another version.
        UsageError: an unknown format, missing columns, or an option that the format does not have.

    A `DataWarning` names the columns of a table, or fields of JSON, that are not read, and counts the rows left out.

    >>> from spanloom.data import clinical
    >>> vocabulary = read_vocabulary(clinical() / "vocabulary.tsv")
    >>> vocabulary[vocabulary.find("SPL:0002")].names
    ('left ventricle', 'LV', 'left ventricular')
    """
    if format is not None and format not in VOCABULARY_FORMATS:
        known = ", ".join(VOCABULARY_FORMATS)
        raise UsageError(
            f"found the vocabulary format {format!r}, expected one of {known}{meant(format, VOCABULARY_FORMATS)}"
        )
    chosen = {"columns": columns, "languages": languages, "sources": sources}
    options = {option: value for option, value in chosen.items() if value is not None}
    notes = Notes()
    try:
        with decoding(checked_encoding(encoding)):
            warn_of_leftovers(path)
            if Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()):
                raise DataError("found a pipe, which can be read only once; write it to a file", path=path)
            name = _format_of(Path(path), columns) if format is None else format
            if wrong := [option for option in options if name not in _OPTIONS[option]]:
                expected = ", ".join(_OPTIONS[wrong[0]])
                found = f"found {' and '.join(wrong)} for {path}, which is of the format {name}"
                raise UsageError(f"{found}, expected one of the formats {expected}")
            if name == INDEX:
                return Vocabulary.open(path)
            records = list(SCANNERS[name](path, notes, **options))
    except OSError as error:
        raise unreadable(path, error) from error
    noted = [str(note) for note in notes.to_tuple() if note.kind != JOINED]
    if noted and name in _OPTIONS["columns"]:  # columns may have been taken for others
        warn(f"vocabulary {path}: {'; '.join(noted)}", DataWarning, stacklevel=2)
    return Vocabulary.of_records(records, path, notes)


def _format_of(path: Path, columns: Columns) -> str:
    if path.is_dir():
        if (path / "model.json").exists():
            return INDEX
        known = (*((name, "rrf") for name in RRF), (TAXA, "taxonomy"))
        name = next((format for file, format in known if plain_or_packed(path / file)), "")
        if name or table_of(path, TABLE):
            return name or "omop"
        if release_files(path, DESCRIPTIONS):
            return "snomed"
        expected = f"{', '.join(RRF)}, {TABLE}.csv, {TAXA} or {DESCRIPTIONS}.txt, or an index of a vocabulary"
        raise DataError(f"found a folder, expected one with {expected}", path=path)
    if bare(path).name in RRF:
        return "rrf"
    with opened(path) as file:
        raw = file.read(_BEGINNING)
    if raw.startswith((b"\x1f\x8b", b"PK\x03\x04")):
        raise DataError("found a compressed file, expected text, or gzip with a name in .gz; unpack it", path=path)
    wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = raw.decode("utf-16" if wide else "utf-8-sig", errors="replace").lstrip()
    if len(raw) == _BEGINNING and not text.startswith("<"):
        text = text.rpartition("\n")[0] or text  # the last line may be cut
    found = _format_of_text(text, path, columns)
    if found is None:
        kinds = ", ".join(SCANNERS)
        raise DataError(f"found {text[:40]!r} at its start, which is no vocabulary of the formats {kinds}", path=path)
    return found


def _format_of_text(text: str, path: Path, columns: Columns) -> str | None:
    if _OTHER_OWL.match(text):
        message = (
            "found an ontology in functional or Manchester syntax, expected RDF/XML, OWL/XML or Turtle; convert it "
            "(robot convert --input IN --output OUT.owl)"
        )
        raise DataError(message, path=path)
    if _TURTLE.match(text):
        return "turtle"
    if text.startswith("<"):
        found = _ROOT.match(text)
        root = "" if found is None else found[1]
        if (kind := {"RDF": "owl", "Ontology": "owlxml"}.get(root.rpartition(":")[2])) is not None:
            return kind
        # a root that neither knows is left to the reader of MEDIC, which names it
        return "mesh" if root in ROOTS else "medic"
    if _JSON.match(text):
        return "obograph" if text.startswith("{") and _GRAPHS.search(text) and columns is None else "json"
    for name, mark in _MARKS.items():
        if (mark.search if name in ("obo", "medic") else mark.match)(text):
            return name
    lines = [line.rstrip("\r") for line in text.split("\n") if line.strip()]
    if not lines or columns is not None:
        return "table"
    first = next((line for line in lines if not line.startswith("# ")), lines[0])
    delimiter = delimiter_of(first)
    cells = [cell.strip() for cell in first.split(delimiter)] if delimiter else [first]
    if is_omop(bare(path).stem, cells):
        return "omop"
    if {"conceptId", "typeId", "term"} <= set(cells):
        return "snomed"
    if delimiter in ("\t", "||"):
        return "table"
    if all(CODE_LINE.fullmatch(line) for line in lines):
        return "codes"
    # names have commas, too; in a table each line has as many, or the first names what a table of concepts has
    alike = len(lines) > 1 and len({line.count(delimiter) for line in lines}) == 1
    if delimiter and (alike or assigned(cells, {}).keys() >= {"id", "name"}):
        return "table"
    return "words" if is_list_of_names(path.name, lines) else "table" if delimiter and assigned(cells, {}) else None
