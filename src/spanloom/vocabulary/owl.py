"""Ontologies and thesauri in XML: RDF/XML, and the XML of OWL itself; and in Turtle.

Other syntaxes of OWL are not read, and nothing that a file imports is fetched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from spanloom.vocabulary.notes import Notes
from spanloom.vocabulary.ontology import IMPORTS, KINDS, OWL, PARENT, RDF, RDFS, TYPE, Ontology, Statement
from spanloom.vocabulary.records import Record
from spanloom.vocabulary.turtle import turtle_statements
from spanloom.vocabulary.xml_records import xml_records

_LANGUAGE: Final = "http://www.w3.org/XML/1998/namespacelang"
_ONTOLOGY: Final = f"{OWL}Ontology"
_RECORDS: Final = (*KINDS, f"{RDF}Description", _ONTOLOGY)
_AXIOMS: Final = tuple(
    f"{OWL}{name}" for name in ("Prefix", "Import", "Declaration", "SubClassOf", "AnnotationAssertion")
)
_PREFIXES: Final = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": "http://www.w3.org/2001/XMLSchema#"}


def scan_owl(path: str | Path, notes: Notes, *, languages: Collection[str] = ()) -> Iterator[Record]:
    """The classes and SKOS concepts of a file in RDF/XML; as of an OBO file.

    Args:
        path: the file.
        notes: to add to.
        languages: such as ``en``, of labels and synonyms that have one; all when empty.

    Raises:
        DataError: the file cannot be read or is no RDF/XML.
        UsageError: a language that no label has.
    """
    ontology = Ontology(path, notes, languages)
    for element, line in xml_records(path, [f"{RDF}RDF"], _RECORDS, namespaces=True):
        subject = element.get(f"{RDF}about") or element.get(f"{RDF}ID") or ""
        if element.tag == _ONTOLOGY:
            children = [child for child in element if child.tag == IMPORTS]
        elif subject:
            children = list(element)
            ontology.add(Statement(subject, TYPE, reference=element.tag, line=line))
        else:
            notes.add("classes without an identifier, such as restrictions, left out")
            continue
        for child in children:
            language, reference = child.get(_LANGUAGE, ""), child.get(f"{RDF}resource", "")
            ontology.add(Statement(subject, child.tag, _text(child), language, reference, line))
    yield from ontology.records()


def scan_owlxml(path: str | Path, notes: Notes, *, languages: Collection[str] = ()) -> Iterator[Record]:
    """The classes of a file in OWL/XML, with what is asserted of them; arguments and errors as of `scan_owl`."""
    ontology = Ontology(path, notes, languages)
    prefixes = dict(_PREFIXES)
    for element, line in xml_records(path, [_ONTOLOGY], _AXIOMS, namespaces=True):
        parts = [child for child in element if child.tag != f"{OWL}Annotation"]
        named = [_address(part, prefixes) for part in parts]
        if element.tag == f"{OWL}Prefix":
            prefixes[element.get("name", "")] = element.get("IRI", "")
        elif element.tag == f"{OWL}Import":
            ontology.add(Statement("", IMPORTS, reference=_text(element), line=line))
        elif element.tag == f"{OWL}Declaration":
            if parts and parts[0].tag in KINDS:
                ontology.add(Statement(named[0], TYPE, reference=parts[0].tag, line=line))
        elif element.tag == f"{OWL}SubClassOf":
            if [part.tag in KINDS for part in parts] == [True, True]:
                ontology.add(Statement(named[0], PARENT, reference=named[1], line=line))
        elif len(parts) == 3:
            (predicate, subject, reference), text = named, _text(parts[2])
            ontology.add(Statement(subject, predicate, text, parts[2].get(_LANGUAGE, ""), reference, line))
    yield from ontology.records()


def scan_turtle(path: str | Path, notes: Notes, *, languages: Collection[str] = ()) -> Iterator[Record]:
    """The classes and SKOS concepts of a file in Turtle or N-Triples; arguments and errors as of `scan_owl`."""
    ontology = Ontology(path, notes, languages)
    for statement in turtle_statements(path):
        ontology.add(statement)
    yield from ontology.records()


def _address(element: Element, prefixes: dict[str, str]) -> str:
    """Return the address that an element of OWL/XML holds, in full or behind a prefix; empty if it holds none."""
    kind = element.tag.removeprefix(OWL)
    full = element.get("IRI") or (_text(element) if kind == "IRI" else "")
    short = element.get("abbreviatedIRI") or (_text(element) if kind == "AbbreviatedIRI" else "")
    prefix, _, name = short.partition(":")
    return full or (prefixes.get(prefix, f"{prefix}:") + name if short else "")


def _text(element: Element) -> str:
    return (element.text or "").strip()
