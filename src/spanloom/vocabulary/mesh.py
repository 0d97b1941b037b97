"""MeSH as the National Library of Medicine offers it: the XML of descriptors, and that of supplementary records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from spanloom.errors import DataError
from spanloom.vocabulary.concept import Concept
from spanloom.vocabulary.notes import Notes
from spanloom.vocabulary.records import Record
from spanloom.vocabulary.xml_records import xml_records

ROOTS: Final = ("DescriptorRecordSet", "SupplementalRecordSet")
_PREFIXES: Final = {"DescriptorRecord": "Descriptor", "SupplementalRecord": "SupplementalRecord"}  # of UI and Name


def scan_mesh(path: str | Path, notes: Notes) -> Iterator[Record]:
    """The records of a MeSH file.

    All terms of a record are names of it. Parents are the descriptors one step up in the trees, and those that a
    supplementary record is mapped to. The category is the letters of the trees, such as ``C|F``.

    Raises:
        DataError: the file cannot be read, is no XML, or not of this form.
    """
    trees: dict[str, str] = {}  # tree number -> the descriptor there
    found: list[tuple[Concept, list[str], int]] = []
    for element, line in xml_records(path, ROOTS, _PREFIXES):
        kind = _PREFIXES[element.tag]
        identifier = _text(element, f"{kind}UI", path, line)
        numbers = [number.text.strip() for number in element.iterfind("TreeNumberList/TreeNumber") if number.text]
        for number in numbers:
            if trees.setdefault(number, identifier) != identifier:
                notes.add("tree numbers of several descriptors, which mean the first", number)
        found.append((_concept(element, kind, identifier, numbers, path, line), numbers, line))
    for concept, numbers, line in found:
        above = [trees[number.rpartition(".")[0]] for number in numbers if number.rpartition(".")[0] in trees]
        parents = (*concept.parents, *above)
        yield Record(
            Concept(concept.id, concept.name, concept.synonyms, (), parents, concept.definition, concept.category), line
        )


def _concept(element: Element, kind: str, identifier: str, numbers: list[str], path: str | Path, line: int) -> Concept:
    name = _text(element, f"{kind}Name/String", path, line)
    terms = [term.text or "" for term in element.iterfind("ConceptList/Concept/TermList/Term/String")]
    # a star marks a mapping to a main topic
    mapped = element.iterfind("HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo/DescriptorUI")
    parents = tuple((parent.text or "").lstrip("*") for parent in mapped)
    definition = element.findtext("ConceptList/Concept[@PreferredConceptYN='Y']/ScopeNote", "")
    category = "|".join(dict.fromkeys(number[0] for number in numbers))
    return Concept(identifier, name, tuple(terms), (), parents, definition, category)


def _text(element: Element, where: str, path: str | Path, line: int) -> str:
    text = (element.findtext(where) or "").strip()
    if not text:
        message = f"found a {element.tag} without {where.partition('/')[0]}, expected each to have one"
        raise DataError(message, path=path, line=line)
    return text
