"""Reads a vocabulary, whatever its format."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Final

from spanloom.errors import DataError, UsageError, meant
from spanloom.files.staging import warn_of_leftovers
from spanloom.formats.source import unreadable
from spanloom.vocabulary import rrf
from spanloom.vocabulary.medic import scan_medic
from spanloom.vocabulary.mesh import ROOTS, scan_mesh
from spanloom.vocabulary.notes import Notes
from spanloom.vocabulary.obo import scan_obo
from spanloom.vocabulary.obo_graph import scan_obo_graph
from spanloom.vocabulary.records import Record
from spanloom.vocabulary.rrf import scan_rrf
from spanloom.vocabulary.store import Vocabulary
from spanloom.vocabulary.table import scan_table

_Scan = Callable[..., Iterator[Record]]
SCANNERS: Final = MappingProxyType[str, _Scan](
    {
        "medic": scan_medic,
        "mesh": scan_mesh,
        "obo": scan_obo,
        "obograph": scan_obo_graph,
        "rrf": scan_rrf,
        "table": scan_table,
    }
)
INDEX: Final = "index"  # what `Vocabulary.save` writes
VOCABULARY_FORMATS: Final = (*SCANNERS, INDEX)
"""The formats that `read_vocabulary` knows."""

_BEGINNING = 1 << 16  # bytes of a file that are looked at
_ROOT = re.compile(r"<([A-Za-z][\w.:-]*)")
_BEFORE_ROOT = (("<?", "?>"), ("<!--", "-->"), ("<!", ">"))  # how what may stand there begins and ends


def read_vocabulary(
    path: str | Path,
    format: str | None = None,
    *,
    languages: Collection[str] | None = None,
    sources: Collection[str] | None = None,
) -> Vocabulary:
    """Reads a vocabulary, or opens the index of one.

    Args:
        path: a file, or the folder of an index or of UMLS files.
        format: one of `VOCABULARY_FORMATS`; found from names and contents when ``None``.
        languages: of UMLS names, ``("ENG",)`` when ``None``; an empty one stands for all.
        sources: of UMLS names, definitions and relationships; all when ``None``.

    Raises:
        DataError: the file cannot be read, or is not of its format; no concept in it.
        ModelError: an index that is damaged or of another version.
        UsageError: an unknown format, or languages or sources of something other than UMLS files.

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
    try:
        warn_of_leftovers(path)
        name = _format_of(Path(path)) if format is None else format
        chosen = {"languages": languages, "sources": sources}
        options = {option: value for option, value in chosen.items() if value is not None}
        if options and name != "rrf":
            raise UsageError(f"found {' and '.join(options)} for {path}, which is of the format {name}, expected rrf")
        if name == INDEX:
            return Vocabulary.open(path)
        notes = Notes()
        return Vocabulary.of_records(SCANNERS[name](path, notes, **options), path, notes)
    except OSError as error:
        raise unreadable(path, error) from error


def _format_of(path: Path) -> str:
    if path.is_dir():
        if (path / rrf.NAMES).exists():
            return "rrf"
        if (path / "model.json").exists():
            return INDEX
        raise DataError(f"found a folder, expected one with {rrf.NAMES}, or an index of a vocabulary", path=path)
    if path.name == rrf.NAMES:
        return "rrf"
    with path.open("rb") as file:
        raw = file.read(_BEGINNING)
    if raw.startswith((b"\x1f\x8b", b"PK\x03\x04")):
        raise DataError("found a compressed file, expected text; unpack it first", path=path)
    wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = raw.decode("utf-16" if wide else "utf-8-sig", errors="replace").lstrip()
    name = _format_of_text(text)
    if name is None:
        kinds = ", ".join(SCANNERS)
        raise DataError(f"found {text[:40]!r} at its start, which is no vocabulary of the formats {kinds}", path=path)
    return name


def _format_of_text(text: str) -> str | None:
    if text.startswith("<"):
        root = _root(text)
        # a root that neither knows is left to the reader of MEDIC, which names it
        return "mesh" if root in ROOTS else "medic"
    if text.startswith("{"):
        return "obograph"
    if re.search(r"^(?:\[Term\]|format-version:)", text, re.MULTILINE):
        return "obo"
    if re.search(r"^#?\s*(?:\w+[,\t])*(?:Disease|Chemical)(?:ID|Name)\b", text, re.MULTILINE):
        return "medic"
    first = text.partition("\n")[0]
    return "table" if "\t" in first or not text else None


def _root(text: str) -> str:
    """The name of the outermost element of XML; empty if no element begins here.

    >>> _root('<?xml version="1.0"?><!-- <a> --> <!DOCTYPE b [ <!ELEMENT b (#PCDATA)> ]> <b>')
    'b'
    """
    at = 0
    while (at := text.find("<", at)) >= 0:
        closing = next((end for begin, end in _BEFORE_ROOT if text.startswith(begin, at)), "")
        if not closing:
            root = _ROOT.match(text, at)
            return "" if root is None else root[1]
        end = text.find(closing, at)
        inner = text.find("[", at, end)
        if closing == ">" and inner >= 0:  # declarations within a document type
            end = text.find(">", text.find("]", inner))
        if end < 0:
            return ""
        at = end
    return ""
