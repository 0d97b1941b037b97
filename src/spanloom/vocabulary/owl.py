"""Ontologies and thesauri in RDF/XML: the classes of OWL with their labels and synonyms, and the concepts of SKOS.

Synonyms are those of oboInOwl, SKOS, IAO and EFO. Other syntaxes of OWL are not read, and nothing that a file imports
is fetched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from spanloom.document.identifiers import normalize_identifier
from spanloom.errors import UsageError
from spanloom.vocabulary.notes import Notes
from spanloom.vocabulary.obo import BROAD, Term, term_records
from spanloom.vocabulary.records import Record
from spanloom.vocabulary.xml_records import xml_records

_RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_OWL: Final = "http://www.w3.org/2002/07/owl#"
_SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
_OBO: Final = "http://purl.obolibrary.org/obo/"
_IN_OWL: Final = "http://www.geneontology.org/formats/oboInOwl#"
_LABEL: Final = "http://www.w3.org/2000/01/rdf-schema#label"
_LANGUAGE: Final = "http://www.w3.org/XML/1998/namespacelang"
_KINDS: Final = frozenset((f"{_OWL}Class", f"{_SKOS}Concept"))
_ONTOLOGY: Final = f"{_OWL}Ontology"
_RECORDS: Final = (*_KINDS, f"{_RDF}Description", _ONTOLOGY)
_NAMES: Final = (f"{_SKOS}prefLabel", _LABEL)
_SYNONYMS: Final = frozenset(
    (
        *(f"{_IN_OWL}has{kind}Synonym" for kind in ("Exact", "Narrow", "Related")),
        f"{_SKOS}altLabel",
        f"{_SKOS}hiddenLabel",
        f"{_OBO}IAO_0000118",
        "http://www.ebi.ac.uk/efo/alternative_term",
    )
)
_BROAD: Final = f"{_IN_OWL}hasBroadSynonym"
_ALTERNATIVES: Final = frozenset((f"{_IN_OWL}hasAlternativeId", f"{_SKOS}notation"))
_PARENTS: Final = frozenset(("http://www.w3.org/2000/01/rdf-schema#subClassOf", f"{_SKOS}broader"))
_REPLACED: Final = f"{_OBO}IAO_0100001"
_DEFINITIONS: Final = frozenset(
    (f"{_OBO}IAO_0000115", f"{_SKOS}definition", "http://www.ebi.ac.uk/efo/definition", f"{_SKOS}scopeNote")
)
_CATEGORY: Final = f"{_IN_OWL}hasOBONamespace"


def scan_owl(path: str | Path, notes: Notes, *, languages: Collection[str] = ()) -> Iterator[Record]:
    """The classes and SKOS concepts of a file; as of an OBO file.

    The name is the preferred label, else the label; of several the first in English or without a language, else the
    first. Further labels are synonyms.

    Args:
        path: the file.
        notes: to add to.
        languages: such as ``en``, of labels and synonyms that have one; all when empty.

    Raises:
        DataError: the file cannot be read or is no RDF/XML.
        UsageError: a language that no label has.
    """
    wanted = {language.lower() for language in languages}
    terms: dict[str, Term] = {}
    labels: dict[str, list[tuple[int, str]]] = {}
    typed: set[str] = set()
    seen: set[str] = set()
    for element, line in xml_records(path, [f"{_RDF}RDF"], _RECORDS, namespaces=True):
        if element.tag == _ONTOLOGY:
            for child in element:
                if child.tag == f"{_OWL}imports":
                    notes.add("imports, not followed", child.get(f"{_RDF}resource", ""))
            continue
        identifier = normalize_identifier(element.get(f"{_RDF}about") or element.get(f"{_RDF}ID") or "")
        if not identifier:
            notes.add("classes without an identifier, such as restrictions, left out")
            continue
        kinds = {child.get(f"{_RDF}resource") for child in element if child.tag == f"{_RDF}type"}
        if element.tag in _KINDS or not kinds.isdisjoint(_KINDS):
            typed.add(identifier)
        term = terms.setdefault(identifier, Term(identifier, line))
        for child in element:
            language = child.get(_LANGUAGE, "").lower()
            if child.tag in _NAMES or child.tag in _SYNONYMS:
                seen.update((language, language.partition("-")[0]))
                if wanted and language and wanted.isdisjoint((language, language.partition("-")[0])):
                    notes.add("names in other languages, left out")
                    continue
            if child.tag in _NAMES:
                foreign = language and language.partition("-")[0] != "en"
                labels.setdefault(identifier, []).append((2 * bool(foreign) + _NAMES.index(child.tag), _text(child)))
            else:
                _add(term, child, notes)
    if unknown := sorted(wanted - seen):
        known = ", ".join(sorted(filter(None, seen))) or "none"
        raise UsageError(f"{path}: found no name of the language {unknown[0]!r}, expected one of {known}")
    for identifier, term in terms.items():
        if identifier not in typed:
            notes.add("descriptions of what is no class, left out", identifier)
        ranked = sorted(labels.get(identifier, ()), key=lambda pair: pair[0])
        names = [text for _, text in ranked if text]
        term.name, term.synonyms = "".join(names[:1]), [*names[1:], *term.synonyms]
    return term_records((term for identifier, term in terms.items() if identifier in typed), notes)


def _add(term: Term, child: Element, notes: Notes) -> None:
    """Add what an element says of a term, but its labels."""
    tag, text = child.tag, _text(child)
    value = normalize_identifier(child.get(f"{_RDF}resource") or text)
    if tag in _SYNONYMS and text:
        term.synonyms.append(text)
    elif tag == _BROAD:
        notes.add(BROAD, repr(text))
    elif tag in _DEFINITIONS:
        term.definition = term.definition or text
    elif tag == _CATEGORY:
        term.category = text
    elif tag == f"{_OWL}deprecated":
        term.obsolete = text.lower() in ("true", "1")
    elif value:
        lists = {_REPLACED: term.replaced_by} | dict.fromkeys(_ALTERNATIVES, term.alternatives)
        lists |= dict.fromkeys(_PARENTS, term.parents)
        if tag in lists:
            lists[tag].append(value)


def _text(element: Element) -> str:
    return (element.text or "").strip()
