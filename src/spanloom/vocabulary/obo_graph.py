"""OBO graphs: ontologies as JSON, with the fields that the OBO Foundry's tools write (Mungall et al., obographs)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from spanloom.document.identifiers import normalize_identifier
from spanloom.errors import DataError, clip
from spanloom.formats.source import BOM, decode, read_bytes
from spanloom.vocabulary.notes import Notes
from spanloom.vocabulary.obo import BROAD, Term, term_records
from spanloom.vocabulary.records import Record

_KINDS: Final = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
# the last parts of the addresses of properties
_ALTERNATIVE, _NAMESPACE, _REPLACED = "hasAlternativeId", "hasOBONamespace", "IAO_0100001"


def scan_obo_graph(path: str | Path, notes: Notes) -> Iterator[Record]:
    """The classes of all graphs of a file; as of an OBO file.

    Raises:
        DataError: the file cannot be read, is no JSON in UTF-8, or not of this form.
    """
    terms: dict[str, Term] = {}
    for name, graph in _each(_parsed(path), "graphs", "", path):
        for place, node in _each(graph, "nodes", f"{name}.", path):
            if _get(node, "type", str, place, path) in ("", "CLASS"):
                term = _term(node, place, notes, path)
                if term.id in terms:
                    message = f"{place}: found the id {clip(term.id)} twice, expected one node for each"
                    raise DataError(message, path=path)
                terms[term.id] = term
        for place, edge in _each(graph, "edges", f"{name}.", path):
            if _get(edge, "pred", str, place, path) == "is_a":
                child, parent = (normalize_identifier(_get(edge, end, str, place, path)) for end in ("sub", "obj"))
                if child in terms:
                    terms[child].parents.append(parent)
    return term_records(terms.values(), notes)


def _parsed(path: str | Path) -> dict[str, Any]:
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
    return value


def _term(node: dict[str, Any], place: str, notes: Notes, path: str | Path) -> Term:
    identifier = _get(node, "id", str, place, path)
    if not identifier:
        raise DataError(f"{place}: found no id, expected each node to have one", path=path)
    meta = _get(node, "meta", dict, place, path)
    term = Term(normalize_identifier(identifier), None, name=_get(node, "lbl", str, place, path))
    term.definition = _get(_get(meta, "definition", dict, place, path), "val", str, place, path)
    term.obsolete = _get(meta, "deprecated", bool, place, path)
    for inner, synonym in _each(meta, "synonyms", f"{place}.meta.", path):
        text = _get(synonym, "val", str, inner, path)
        if _last(_get(synonym, "pred", str, inner, path)) == "hasBroadSynonym":
            notes.add(BROAD, repr(text))
        else:
            term.synonyms.append(text)
    for inner, pair in _each(meta, "basicPropertyValues", f"{place}.meta.", path):
        predicate, value = _last(_get(pair, "pred", str, inner, path)), pair.get("val")
        if predicate in (_ALTERNATIVE, _REPLACED):
            text = normalize_identifier(_get(pair, "val", str, inner, path))
            (term.alternatives if predicate == _ALTERNATIVE else term.replaced_by).append(text)
        elif predicate == _NAMESPACE and isinstance(value, str):
            term.category = value
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
