"""OBO files and OBO graphs: the ontologies of the OBO Foundry, and CTD's MEDIC.

OBO Flat File Format 1.4 (Mungall et al.), and the synonym tags of 1.0. Read line by line, with the order of everything
kept; nothing that a file imports is fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

from spanloom.document.span import normalize_identifier
from spanloom.errors import DataError, clip
from spanloom.formats.source import BOM, decode, read_bytes
from spanloom.vocabulary.records import Gathered, Notes, Record, gathered_records, lines_of

_QUOTED = re.compile(r'\s*"((?:[^"\\]|\\.)*)"\s*(\w*)')  # a definition or a synonym, and the synonym's scope
_TRAILING = re.compile(r'(?<!\s)\s+\{\w+="(?:[^"\\]|\\.)*"(?:,\s*\w+="(?:[^"\\]|\\.)*")*\}\s*$')  # qualifiers of a line
_COMMENT = re.compile(r"\s!(?:\s.*)?$")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED: Final = {"n": " ", "t": " ", "W": " "}
_SYNONYMS: Final = ("synonym", "exact_synonym", "narrow_synonym", "related_synonym", "broad_synonym")
BROAD: Final = "broad synonyms, left out, as they name something wider"


def scan_obo(path: str | Path, notes: Notes) -> Iterator[Record]:
    """The terms of an OBO file.

    Names are the term's name and its synonyms but the broad ones; the category is its namespace.

    Raises:
        DataError: the file cannot be read, is not UTF-8, or a line of a term is not of this form.
    """
    return gathered_records(_terms(path, notes), notes)


def _terms(path: str | Path, notes: Notes) -> Iterator[tuple[str, Gathered]]:
    term: Gathered | None = None
    identifier = namespace = stanza = ""
    for line, text in chain(_lines(path), [(0, "[]")]):
        if text.startswith("["):
            if term is not None:
                if not identifier:
                    message = "found a [Term] without an id, expected a line such as id: DOID:4"
                    raise DataError(message, path=path, line=term.line)
                yield identifier, term
            stanza, identifier = text.partition("]")[0][1:], ""
            term = Gathered(line, categories=[namespace]) if stanza == "Term" else None
            continue
        tag, colon, value = text.partition(":")
        if not colon:
            expected = "a tag, a colon and a value, or a stanza such as [Term]"
            raise DataError(f"found {text[:80]!r}, expected {expected}; is this an OBO file?", path=path, line=line)
        tag = tag.strip()
        if term is not None and tag == "id":
            if identifier:
                message = f"found a second id, {value.strip()[:80]!r}, in the term {clip(identifier)}"
                raise DataError(f"{message}; expected a [Term] before it", path=path, line=line)
            identifier = _identifier(value)
        elif term is not None:
            _add(term, tag, value, notes, path, line)
        elif not stanza and tag == "default-namespace":
            namespace = _plain(value)
        elif not stanza and tag == "import":
            notes.add("imports, not followed", value.strip())


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


def _add(term: Gathered, tag: str, value: str, notes: Notes, path: str | Path, line: int) -> None:
    if tag == "name":
        if any(rank == 0 for rank, _ in term.names):
            message = f"found a second name, {value.strip()[:80]!r}, expected one; make it a synonym"
            raise DataError(message, path=path, line=line)
        term.names += [(0, text)] if (text := _plain(value)) else []
    elif tag in _SYNONYMS:
        text, scope = _quoted(tag, value, path, line)
        if tag == "broad_synonym" or scope == "BROAD":
            notes.add(BROAD, repr(text))
        else:
            term.names.append((1, text))
    elif tag == "def":
        term.definition, _ = _quoted(tag, value, path, line)
    elif tag == "namespace":
        term.categories = [_plain(value)]
    elif tag == "is_obsolete":
        term.obsolete = _plain(value).lower() == "true"
    else:
        lists = {"alt_id": term.alternatives, "is_a": term.parents, "replaced_by": term.replaced_by}
        lists.get(tag, []).append(_identifier(value))


def _quoted(tag: str, value: str, path: str | Path, line: int) -> tuple[str, str]:
    if (found := _QUOTED.match(value)) is None:
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


# OBO graphs: ontologies as JSON, with the fields that the OBO Foundry's tools write (Mungall et al., obographs).

_KINDS: Final = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
# the last parts of the addresses of properties
_ALTERNATIVE, _NAMESPACE, _REPLACED = "hasAlternativeId", "hasOBONamespace", "IAO_0100001"


def scan_obo_graph(path: str | Path, notes: Notes) -> Iterator[Record]:
    """The classes of all graphs of a file; as of an OBO file.

    Raises:
        DataError: the file cannot be read, is no JSON in UTF-8, or not of this form.
    """
    terms: dict[str, Gathered] = {}
    text = decode(read_bytes(path).removeprefix(BOM), path)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"found no JSON in column {error.colno} ({error.msg}); get the file again, or correct it"
        raise DataError(message, path=path, line=error.lineno) from None
    except (RecursionError, ValueError) as error:  # nested thousands of times, or a number of thousands of digits
        raise DataError(f"found JSON that cannot be read ({error}); expected an OBO graph", path=path) from None
    if not isinstance(value, dict) or "graphs" not in value:
        raise DataError("found JSON without graphs, expected an OBO graph document", path=path)
    for name, graph in _each(value, "graphs", "", path):
        for place, node in _each(graph, "nodes", f"{name}.", path):
            if _get(node, "type", str, place, path) in ("", "CLASS"):
                identifier = normalize_identifier(_get(node, "id", str, place, path))
                if not identifier:
                    raise DataError(f"{place}: found no id, expected each node to have one", path=path)
                if identifier in terms:
                    message = f"{place}: found the id {clip(identifier)} twice, expected one node for each"
                    raise DataError(message, path=path)
                terms[identifier] = _term(node, place, notes, path)
        for place, edge in _each(graph, "edges", f"{name}.", path):
            if _get(edge, "pred", str, place, path) == "is_a":
                child, parent = (normalize_identifier(_get(edge, end, str, place, path)) for end in ("sub", "obj"))
                if child in terms:
                    terms[child].parents.append(parent)
    return gathered_records(terms.items(), notes)


def _term(node: dict[str, Any], place: str, notes: Notes, path: str | Path) -> Gathered:
    meta = _get(node, "meta", dict, place, path)
    name = _get(node, "lbl", str, place, path)
    term = Gathered(names=[(0, name)] if name else [])
    term.definition = _get(_get(meta, "definition", dict, place, path), "val", str, place, path)
    term.obsolete = _get(meta, "deprecated", bool, place, path)
    for inner, synonym in _each(meta, "synonyms", f"{place}.meta.", path):
        text = _get(synonym, "val", str, inner, path)
        if _last(_get(synonym, "pred", str, inner, path)) == "hasBroadSynonym":
            notes.add(BROAD, repr(text))
        else:
            term.names.append((1, text))
    for inner, pair in _each(meta, "basicPropertyValues", f"{place}.meta.", path):
        predicate, value = _last(_get(pair, "pred", str, inner, path)), pair.get("val")
        if predicate in (_ALTERNATIVE, _REPLACED):
            text = normalize_identifier(_get(pair, "val", str, inner, path))
            (term.alternatives if predicate == _ALTERNATIVE else term.replaced_by).append(text)
        elif predicate == _NAMESPACE and isinstance(value, str):
            term.categories = [value]
    return term


def _last(address: str) -> str:
    return address.replace("#", "/").rpartition("/")[2]


def _each(parent: Mapping[str, Any], key: str, place: str, path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, value in enumerate(_get(parent, key, list, place.rstrip("."), path)):
        here = f"{place}{key}[{number}]"
        if not isinstance(value, dict):
            raise DataError(f"{here}: found {json.dumps(value)[:80]}, expected an object", path=path)
        yield here, value


def _get(parent: Mapping[str, Any], key: str, kind: type, place: str, path: str | Path) -> Any:
    value = parent.get(key)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        message = f"{place or 'the file'}: found {json.dumps(value)[:80]} as {key}, expected {_KINDS[kind]}"
        raise DataError(message, path=path)
    return value
