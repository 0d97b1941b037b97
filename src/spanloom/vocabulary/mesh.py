"""MeSH of the National Library of Medicine: descriptors, qualifiers and supplementary records, as XML and as ASCII."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from spanloom.errors import DataError
from spanloom.formats.source import raw_lines
from spanloom.vocabulary.concept import Concept
from spanloom.vocabulary.notes import Notes
from spanloom.vocabulary.records import Record, lines_of
from spanloom.vocabulary.xml_records import xml_records

ROOTS: Final = ("DescriptorRecordSet", "QualifierRecordSet", "SupplementalRecordSet")
_PREFIXES: Final = {
    "DescriptorRecord": "Descriptor", "QualifierRecord": "Qualifier", "SupplementalRecord": "SupplementalRecord",
}  # of UI and Name # fmt: skip
NEW_RECORD: Final = "*NEWRECORD"
"""What begins each record of the ASCII files."""
_NAMES: Final = ("MH", "NM", "SH")  # fields of a record's name in ASCII
_TERMS: Final = ("ENTRY", "PRINT ENTRY", "SY", "QE")


def scan_mesh(path: str | Path, notes: Notes) -> Iterator[Record]:
    """The records of a MeSH file.

    All terms of a record are names of it. Parents are the descriptors one step up in the trees, and those that a
    supplementary record is mapped to. The category is the letters of the trees, such as ``C|F``.

    Raises:
        DataError: the file cannot be read, is neither XML nor ASCII of MeSH, or not of this form.
    """
    first = next((line for _, line in raw_lines(path) if line.strip()), b"").strip()
    trees: dict[str, str] = {}  # tree number -> the descriptor there
    found: list[tuple[Concept, list[str], int]] = []
    for concept, numbers, line in _ascii(path) if first == NEW_RECORD.encode() else _xml(path):
        for number in numbers:
            if trees.setdefault(number, concept.id) != concept.id:
                notes.add("tree numbers of several descriptors, which mean the first", number)
        found.append((concept, numbers, line))
    for concept, numbers, line in found:
        above = [trees[number.rpartition(".")[0]] for number in numbers if number.rpartition(".")[0] in trees]
        parents = (*concept.parents, *above)
        yield Record(
            Concept(concept.id, concept.name, concept.synonyms, (), parents, concept.definition, concept.category), line
        )


def _xml(path: str | Path) -> Iterator[tuple[Concept, list[str], int]]:
    """The concepts of a file, their tree numbers and lines."""
    for element, line in xml_records(path, ROOTS, _PREFIXES):
        kind = _PREFIXES[element.tag]
        identifier, name = (_text(element, f"{kind}{part}", path, line) for part in ("UI", "Name/String"))
        numbers = [number.text.strip() for number in element.iterfind("TreeNumberList/TreeNumber") if number.text]
        terms = tuple(term.text or "" for term in element.iterfind("ConceptList/Concept/TermList/Term/String"))
        # a star marks a mapping to a main topic
        mapped = element.iterfind("HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo/DescriptorUI")
        parents = tuple((parent.text or "").lstrip("*") for parent in mapped)
        definition = element.findtext("ConceptList/Concept[@PreferredConceptYN='Y']/ScopeNote", "")
        category = "|".join(dict.fromkeys(number[0] for number in numbers))
        yield Concept(identifier, name, terms, (), parents, definition, category), numbers, line


def _ascii(path: str | Path) -> Iterator[tuple[Concept, list[str], int]]:
    record: dict[str, list[str]] = {}
    start = 1
    for number, line in lines_of(path):
        text = line.strip()
        if text == NEW_RECORD:
            if record:
                yield _ascii_concept(record, path, start)
            record, start = {}, number
            continue
        name, equals, value = text.partition(" = ")
        if text and not equals:
            message = f"found {text[:80]!r}, expected a field such as MH = Heart"
            raise DataError(message, path=path, line=number)
        if text:
            record.setdefault(name, []).append(value.strip())
    if record:
        yield _ascii_concept(record, path, start)


def _ascii_concept(record: dict[str, list[str]], path: str | Path, line: int) -> tuple[Concept, list[str], int]:
    def values(*names: str) -> list[str]:  # what follows a bar describes the value
        return [value.partition("|")[0].strip() for name in names for value in record.get(name, ())]

    names, identifiers, numbers = values(*_NAMES), values("UI"), values("MN")
    for found, expected in ((identifiers, "UI"), (names, "MH, NM or SH")):
        if not found:
            raise DataError(f"found a record without {expected}, expected each to have one", path=path, line=line)
    # the names of descriptors that a supplementary record is mapped to are no identifiers, so there are no parents
    category = "|".join(dict.fromkeys(number[0] for number in numbers if number))
    definition = next(iter(record.get("MS", [])), "")
    return Concept(identifiers[0], names[0], tuple(values(*_TERMS)), (), (), definition, category), numbers, line


def _text(element: Element, where: str, path: str | Path, line: int) -> str:
    text = (element.findtext(where) or "").strip()
    if not text:
        message = f"found a {element.tag} without {where.partition('/')[0]}, expected each to have one"
        raise DataError(message, path=path, line=line)
    return text
