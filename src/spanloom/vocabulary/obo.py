"""OBO files, the stanzas and tags of terms in them: the ontologies of the OBO Foundry, and CTD's MEDIC.

OBO Flat File Format 1.4 (Mungall et al.), and the synonym tags of 1.0. Read line by line, with the order of everything
kept; nothing that a file imports is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from spanloom.errors import DataError, clip
from spanloom.vocabulary.concept import Concept
from spanloom.vocabulary.notes import Notes
from spanloom.vocabulary.records import Record, lines_of

_QUOTED = re.compile(r'\s*"((?:[^"\\]|\\.)*)"\s*(\w*)')  # a definition or a synonym, and the synonym's scope
_TRAILING = re.compile(r'(?<!\s)\s+\{\w+="(?:[^"\\]|\\.)*"(?:,\s*\w+="(?:[^"\\]|\\.)*")*\}\s*$')  # qualifiers of a line
_COMMENT = re.compile(r"\s!(?:\s.*)?$")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED: Final = {"n": " ", "t": " ", "W": " "}
_SYNONYMS: Final = ("synonym", "exact_synonym", "narrow_synonym", "related_synonym", "broad_synonym")
BROAD: Final = "broad synonyms, left out, as they name something wider"


@dataclass(slots=True)
class Term:
    """A term of an ontology, obsolete ones among them.

    Args:
        id: its identifier.
        line: where it starts; ``None`` where that is not known.
        replaced_by: what an obsolete term refers to in its place.
    """

    id: str
    line: int | None
    name: str = ""
    synonyms: list[str] = field(default_factory=list)
    alternatives: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    replaced_by: list[str] = field(default_factory=list)
    definition: str = ""
    category: str = ""
    obsolete: bool = False


def scan_obo(path: str | Path, notes: Notes) -> Iterator[Record]:
    """The terms of an OBO file.

    Names are the term's name and its synonyms but the broad ones; the category is its namespace.

    Raises:
        DataError: the file cannot be read, is not UTF-8, or a line of a term is not of this form.
    """
    return term_records(_terms(path, notes), notes)


def term_records(terms: Iterable[Term], notes: Notes) -> Iterator[Record]:
    """The terms that can be used. An obsolete one becomes an alternative identifier of the one that replaces it."""
    listed = list(terms)
    replaced: dict[str, list[str]] = {}
    for term in listed:
        if term.obsolete:
            notes.add("obsolete terms, left out", term.id)
            if len(term.replaced_by) == 1:
                replaced.setdefault(term.replaced_by[0], []).append(term.id)
        elif not term.name:
            notes.add("terms without a name, left out", term.id)
    for term in listed:
        if not term.obsolete and term.name:
            alternatives = (*term.alternatives, *replaced.get(term.id, ()))
            synonyms, parents = tuple(term.synonyms), tuple(term.parents)
            concept = Concept(term.id, term.name, synonyms, alternatives, parents, term.definition, term.category)
            yield Record(concept, term.line)


def _terms(path: str | Path, notes: Notes) -> Iterator[Term]:
    term: Term | None = None
    namespace = stanza = ""
    for line, text in _lines(path):
        if text.startswith("["):
            if term is not None:
                yield _complete(term, path)
            stanza = text.partition("]")[0][1:]
            term = Term("", line, category=namespace) if stanza == "Term" else None
            continue
        tag, colon, value = text.partition(":")
        if not colon:
            expected = "a tag, a colon and a value, or a stanza such as [Term]"
            raise DataError(f"found {text[:80]!r}, expected {expected}; is this an OBO file?", path=path, line=line)
        if term is not None:
            _add(term, tag.strip(), value, notes, path, line)
        elif not stanza and tag == "default-namespace":
            namespace = _plain(value)
        elif not stanza and tag == "import":
            notes.add("imports, not followed", value.strip())
    if term is not None:
        yield _complete(term, path)


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Lines that hold something, with those that a backslash at their end continues joined."""
    held, start = "", 0
    for number, line in lines_of(path):
        text = line.rstrip("\r\n")
        if not held:
            start = number
        if text.endswith("\\") and not text.endswith("\\\\"):
            held += text[:-1] + " "
            continue
        text, held = held + text, ""
        if text.strip() and not text.startswith("!"):
            yield start, text.strip()
    if held.strip():
        raise DataError("found the end of the file in a line that continues, expected its rest", path=path, line=start)


def _add(term: Term, tag: str, value: str, notes: Notes, path: str | Path, line: int) -> None:
    if tag == "id":
        if term.id:
            message = (
                f"found a second id, {value.strip()[:80]!r}, in the term {clip(term.id)}; expected a [Term] before it"
            )
            raise DataError(message, path=path, line=line)
        term.id = _identifier(value)
    elif tag == "name":
        if term.name:
            message = f"found a second name, {value.strip()[:80]!r}, expected one; make it a synonym"
            raise DataError(message, path=path, line=line)
        term.name = _plain(value)
    elif tag in _SYNONYMS:
        text, scope = _quoted(tag, value, path, line)
        if tag == "broad_synonym" or scope == "BROAD":
            notes.add(BROAD, repr(text))
        else:
            term.synonyms.append(text)
    elif tag == "def":
        term.definition, _ = _quoted(tag, value, path, line)
    elif tag == "namespace":
        term.category = _plain(value)
    elif tag == "is_obsolete":
        term.obsolete = _plain(value).lower() == "true"
    else:
        lists = {"alt_id": term.alternatives, "is_a": term.parents, "replaced_by": term.replaced_by}
        if tag in lists:
            lists[tag].append(_identifier(value))


def _complete(term: Term, path: str | Path) -> Term:
    if not term.id:
        raise DataError("found a [Term] without an id, expected a line such as id: DOID:4", path=path, line=term.line)
    return term


def _quoted(tag: str, value: str, path: str | Path, line: int) -> tuple[str, str]:
    found = _QUOTED.match(value)
    if found is None:
        message = f"found {value.strip()[:80]!r} as {tag}, expected a text between double quotes"
        raise DataError(message, path=path, line=line)
    return _unescaped(found[1]), found[2]


def _identifier(value: str) -> str:
    # a comment or qualifiers may follow; white space belongs to no identifier
    return _unescaped((value.split() or [""])[0])


def _plain(value: str) -> str:
    return _unescaped(_TRAILING.sub("", _COMMENT.sub("", value)).strip())


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text) if "\\" in text else text
