"""The terms of an ontology or thesaurus, gathered from statements in any order, whatever the syntax.

Synonyms are those of oboInOwl, SKOS, IAO and EFO.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from spanloom.document.span import normalize_identifier
from spanloom.vocabulary.notes import Notes
from spanloom.vocabulary.obo import BROAD
from spanloom.vocabulary.records import Gathered, Record, check_asked, gathered_records, named

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
_SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
_OBO: Final = "http://purl.obolibrary.org/obo/"
_IN_OWL: Final = "http://www.geneontology.org/formats/oboInOwl#"
TYPE, IMPORTS, PARENT = f"{RDF}type", f"{OWL}imports", f"{RDFS}subClassOf"
KINDS: Final = frozenset((f"{OWL}Class", f"{_SKOS}Concept"))
_NAMES: Final = (f"{_SKOS}prefLabel", f"{RDFS}label")
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
_PARENTS: Final = frozenset((PARENT, f"{_SKOS}broader"))
_REPLACED: Final = f"{_OBO}IAO_0100001"
_DEFINITIONS: Final = frozenset(
    (f"{_OBO}IAO_0000115", f"{_SKOS}definition", "http://www.ebi.ac.uk/efo/definition", f"{_SKOS}scopeNote")
)
_CATEGORY: Final = f"{_IN_OWL}hasOBONamespace"
_RANK: Final = 9  # of synonyms, behind labels of any language


class Statement(NamedTuple):
    """A statement of an ontology.

    Args:
        subject: its address; empty if it has none.
        predicate: the address of the property.
        text: the value, if it is text, without white space at its ends.
        language: of the text, if it has one.
        reference: the value, if it is an address.
        line: where the subject, or the statement, starts.
    """

    subject: str
    predicate: str
    text: str = ""
    language: str = ""
    reference: str = ""
    line: int | None = None


class Ontology:
    """Gathers terms: classes of OWL and concepts of SKOS.

    Args:
        path: of the file.
        notes: to add to.
        languages: such as ``en``, of labels and synonyms that have one; all when empty.
    """

    def __init__(self, path: str | Path, notes: Notes, languages: Collection[str]) -> None:
        self._path, self._notes = path, notes
        self._wanted = {language.lower() for language in languages}
        self._terms: dict[str, Gathered] = {}
        self._typed: set[str] = set()
        self._seen: set[str] = set()

    def add(self, one: Statement) -> None:
        """Take a statement in."""
        if one.predicate == IMPORTS:
            self._notes.add("imports, not followed", one.reference)
            return
        identifier = normalize_identifier(one.subject)
        if not identifier:
            return
        term = self._terms.setdefault(identifier, Gathered(one.line))
        if one.predicate == TYPE:
            if one.reference in KINDS:
                self._typed.add(identifier)
            return
        language = one.language.lower()
        main = language.partition("-")[0]
        if one.predicate in _NAMES or one.predicate in _SYNONYMS:
            self._seen.update((language, main))
            if self._wanted and language and self._wanted.isdisjoint((language, main)):
                self._notes.add("names in other languages, left out")
                return
        if one.predicate in _NAMES:
            rank = 2 * (main not in ("", "en")) + _NAMES.index(one.predicate)
            term.names += [(rank, one.text)] if one.text else []
        else:
            self._describe(term, one)

    def _describe(self, term: Gathered, one: Statement) -> None:
        """Add a statement to a term, except labels."""
        predicate, text = one.predicate, one.text
        if predicate in _SYNONYMS and text:
            term.names.append((_RANK, text))
        elif predicate == _BROAD:
            self._notes.add(BROAD, repr(text))
        elif predicate in _DEFINITIONS:
            term.definition = term.definition or text
        elif predicate == _CATEGORY:
            term.categories = [text]
        elif predicate == f"{OWL}deprecated":
            term.obsolete = text.lower() in ("true", "1")
        elif value := normalize_identifier(one.reference or text):
            lists = {_REPLACED: term.replaced_by} | dict.fromkeys(_ALTERNATIVES, term.alternatives)
            lists |= dict.fromkeys(_PARENTS, term.parents)
            if predicate in lists:
                lists[predicate].append(value)

    def records(self) -> Iterator[Record]:
        """Return the terms.

        The name is the preferred label, else the label; of several the first in English or without a language, else
        the first. Further labels are synonyms.

        Raises:
            UsageError: a language that no label has.
        """
        check_asked("language", self._wanted, self._seen, self._path)
        for identifier in self._terms:
            if identifier not in self._typed:
                self._notes.add("descriptions of what is no class, left out", identifier)
        terms = ((one, named(term, _RANK)) for one, term in self._terms.items() if one in self._typed)
        return gathered_records(terms, self._notes)
