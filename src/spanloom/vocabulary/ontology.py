r"""Ontologies and thesauri in RDF/XML, OWL/XML, Turtle and N-Triples: terms, gathered from statements.

Of Turtle, statements about what has an address are read.

What has none (``[ ... ]``, ``( ... )``, ``_:b1``), such as the restrictions of OWL, is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import repeat
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

from spanloom.document.span import normalize_identifier
from spanloom.errors import DataError
from spanloom.formats.source import BOM, decode, read_bytes
from spanloom.text.patterns import pattern
from spanloom.vocabulary.obo import BROAD
from spanloom.vocabulary.records import Gathered, Notes, Record, check_chosen, gathered_records
from spanloom.vocabulary.xml_records import xml_records

# The terms of an ontology or thesaurus, gathered from statements in any order, whatever the syntax.
#
# Synonyms are those of oboInOwl, SKOS, IAO and EFO.

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
        self._chosen = {language.lower() for language in languages}
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
        predicate, text, language = one.predicate, one.text, one.language.lower()
        main = language.partition("-")[0]
        if predicate == TYPE:
            self._typed.update({identifier} if one.reference in KINDS else ())
        elif predicate in _NAMES or predicate in _SYNONYMS:
            self._seen.update((language, main))
            if self._chosen and language and self._chosen.isdisjoint((language, main)):
                self._notes.add("names in other languages, left out")
            elif text:
                label = predicate in _NAMES
                rank = 2 * (main not in ("", "en")) + _NAMES.index(predicate) if label else _RANK
                term.names.append((rank, text))
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
            lists.get(predicate, []).append(value)

    def records(self) -> Iterator[Record]:
        """Return the terms.

        The name is the preferred label, else the label; of several the first in English or without a language, else
        the first. Further labels are synonyms.

        Raises:
            UsageError: a language that no label has.
        """
        check_chosen("language", self._chosen, self._seen, self._path)
        for identifier in [one for one in self._terms if one not in self._typed]:
            self._notes.add("descriptions of what is no class, left out", identifier)
            del self._terms[identifier]
        return gathered_records(self._terms.items(), self._notes)


_TOKEN: Final = pattern(
    r"""
    (?P<skip> \s+ | \#[^\n]* )
  | (?P<address> <[^<>"{}|^`\x00-\x20]*> )
  | (?P<text> \"\"\"(?:[^"\\]|\\.|\"{1,2}(?!\"))*+\"\"\" | '''(?:[^'\\]|\\.|'{1,2}(?!'))*+'''
            | "(?:[^"\\\n\r]|\\.)*+" | '(?:[^'\\\n\r]|\\.)*+' )
  | (?P<language> @[A-Za-z]+(?:-[A-Za-z0-9]+)* )
  | (?P<mark> \^\^ | [;,\[\]()] | \.(?![\w%]) )
  | (?P<number> [+-]?(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?(?![\w:]) )
  | (?P<name> (?:_|[^\W\d_][\w.\-]*)?:(?:[\w:%\-]|\\.|\.(?=[\w:%\-\\.]))* )
  | (?P<word> [A-Za-z]+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_PLAIN: Final = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_CLOSING: Final = {"[": "]", "(": ")"}


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the kind of each token, the token, and its line; at the end an empty one again and again."""
    at, line = 0, 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            yield "character", text[at : at + 20], line
            break
        if found.lastgroup != "skip":
            yield found.lastgroup or "", found[0], line
        at, line = found.end(), line + found[0].count("\n")
    yield from repeat(("", "", line))


class _Reader:
    """The tokens of a file, and the one that is next."""

    def __init__(self, path: str | Path, text: str) -> None:
        self._path, self._tokens = path, _tokens(text)
        self._prefixes = {"": ""}  # with a colon behind each; the base has none
        self._next()

    def sentence(self) -> Iterator[Statement]:
        """Yield the statements up to the next full stop."""
        word = self._value.lower().removeprefix("@")
        if self.kind in ("language", "word") and word in ("prefix", "base"):
            dotted, prefix = self._value.startswith("@"), ""
            self._next()
            if word == "prefix":
                prefix = self._value
                self._next()
            if self.kind != "address" or (word == "prefix") != prefix.endswith(":"):
                raise self._error("a prefix and its address")
            self._prefixes[prefix] = self._address()
            if dotted:
                self._end()
            return
        line = self._line
        blank = self._value == "["
        subject = self._resource()
        while not (blank and self._value == "."):
            predicate = TYPE
            if (self.kind, self._value) == ("word", "a"):
                self._next()
            else:
                predicate = self._resource()
            while True:
                text, language, reference = self._object()
                if subject:
                    yield Statement(subject, predicate, text, language, reference, line)
                if not self._take(","):
                    break
            if not self._take(";"):
                break
            while self._take(";"):
                pass
            if self._value == "." and self.kind == "mark":
                break
        self._end()

    def _resource(self) -> str:
        """Return the address at hand; empty for what has none."""
        if self._value in _CLOSING and self.kind == "mark":
            self._skip()
            return ""
        if self.kind == "address":
            return self._address()
        if self.kind != "name":
            raise self._error("an address or a name")
        prefix, _, name = self._value.partition(":")
        if prefix != "_" and f"{prefix}:" not in self._prefixes:
            raise self._error(f"a name whose prefix is declared, as {prefix}: is not")
        self._next()
        return "" if prefix == "_" else self._prefixes[f"{prefix}:"] + _unescaped(name)

    def _object(self) -> tuple[str, str, str]:
        """Return the text, its language, and the address at hand; two of them are empty."""
        if self.kind == "text":
            quotes = 3 if self._value[:3] in ('"""', "'''") else 1
            text, language = _unescaped(self._value[quotes:-quotes]).strip(), ""
            self._next()
            if self.kind == "language":
                language = self._value[1:]
                self._next()
            elif self._take("^^"):
                self._resource()
            return text, language, ""
        if self.kind in ("number", "word"):
            value = self._value
            self._next()
            return value, "", ""
        return "", "", self._resource()

    def _skip(self) -> None:
        """Skip the content of brackets."""
        closing = [_CLOSING[self._value]]
        while closing:
            self._next()
            if not self.kind:
                raise self._error(f"a {closing[-1]}")
            if self.kind == "mark" and self._value in _CLOSING:
                closing.append(_CLOSING[self._value])
            elif self.kind == "mark" and self._value == closing[-1]:
                closing.pop()
        self._next()

    def _address(self) -> str:
        address = _unescaped(self._value[1:-1])
        self._next()
        return address if ":" in address else self._prefixes[""] + address

    def _take(self, mark: str) -> bool:
        found = self.kind == "mark" and self._value == mark
        if found:
            self._next()
        return found

    def _end(self) -> None:
        if not self._take("."):
            raise self._error("'.'")

    def _next(self) -> None:
        self.kind, self._value, self._line = next(self._tokens)
        if self.kind == "character":
            raise self._error("Turtle")

    def _error(self, expected: str) -> DataError:
        found = repr(self._value[:40]) if self.kind else "the end of the file"
        return DataError(f"found {found}, expected {expected}; get the file again", path=self._path, line=self._line)


def _unescaped(text: str) -> str:
    r"""Return text with its escapes replaced.

    >>> _unescaped(r"caf\u00e9\n\"x\"")
    'café\n"x"'
    """

    def char(found: re.Match[str]) -> str:
        code = int(found[1] or found[2] or "0", 16)
        return _PLAIN.get(found[3], found[3]) if found[3] else chr(code) if code < 0x110000 else "\ufffd"

    return _ESCAPE.sub(char, text) if "\\" in text else text


# Ontologies and thesauri in XML: RDF/XML, and the XML of OWL itself; and in Turtle.
#
# Other syntaxes of OWL are not read, and nothing that a file imports is fetched.

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
    reader = _Reader(path, decode(read_bytes(path).removeprefix(BOM), path))
    while reader.kind:
        for statement in reader.sentence():
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
