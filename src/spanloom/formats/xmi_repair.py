"""Annotations of XMI that no reader can place, and references to nothing: left out, and counted, before all else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from lxml import etree

from spanloom.document.counting import CountedText, Counting
from spanloom.document.validate import Problem
from spanloom.errors import clip
from spanloom.formats.base import altered

ANNOTATION: Final = "uima.tcas.Annotation"
ARRAY: Final = "uima.cas.FSArray"
DOCUMENT: Final = "uima.tcas.DocumentAnnotation"
_ID: Final = "{http://www.omg.org/XMI}id"
_UTF16: Final = Counting("utf16")
_NUMBER = re.compile(r"-?[0-9]{1,18}")
_SOFA, _VIEW, _NULL = "uima.cas.Sofa", "uima.cas.View", "uima.cas.NULL"


def repaired(raw: bytes, types: Any) -> tuple[bytes, list[Problem]]:
    """Return XMI without annotations outside their text and without references to what is not there.

    Args:
        raw: the file, well-formed and without a document type.
        types: a `cassis.TypeSystem` that has all types of the file.

    Returns:
        The file, itself if there is nothing to repair, and a warning for each annotation that is left out.
    """
    root = etree.fromstring(raw, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))
    elements = [(element, type_name(element.tag)) for element in root if isinstance(element.tag, str)]
    sofas = [element for element, kind in elements if kind == _SOFA]
    texts = {sofa.get(_ID): None if (text := sofa.get("sofaString")) is None else CountedText(text) for sofa in sofas}
    problems: list[Problem] = []
    kept, gone, changed, homeless = [], set(), False, 0
    ids: set[str | None] = set()
    for element, kind in elements:
        name, sofa = element.get(_ID), element.get("sofa")
        if sofa is not None and sofa not in texts:
            root.remove(element)
            homeless += 1
            continue
        placed = kind not in (_SOFA, _VIEW, _NULL) and _is_annotation(types, kind, element)
        twice = placed and name is not None and name in ids
        fault = "has the xmi:id of another" if twice else _fault(element, texts) if placed else None
        ids.add(name)
        if fault is not None and not twice and sofa in texts and _is_of(types, kind, DOCUMENT):  # of the whole text
            text = texts[sofa]
            element.set("begin", "0")
            element.set("end", str(0 if text is None else text.size("utf16")))
            fault, changed = None, True
        if fault is None:
            kept.append((element, kind))
        else:
            message = f"the annotation {kind} (xmi:id {name}) {fault}; it is left out"
            sort = "identifiers that occur twice" if twice else "annotations without a place"
            problems.append(altered(sort, message, element.sourceline))
            root.remove(element)
            gone |= set() if twice else {name}
    count, named = _without_dangling(kept, types, gone)
    count += homeless
    if count:
        message = f"references to annotations that are not there: {count}; they are left out"
        problems.append(altered("dangling references", message))
    for element, kind in kept:
        if element.get(_ID) not in named and "sofa" in element.attrib and _is_annotation(types, kind, element):
            message = f"the annotation {kind} (xmi:id {element.get(_ID)}) is in no view; it is left out"
            problems.append(altered("annotations in no view", message, element.sourceline))
    return (etree.tostring(root) if problems or changed else raw), problems


def type_name(tag: str) -> str:
    """Return the full name of an element's type.

    >>> type_name("{http:///a/b.ecore}c"), type_name("http:///a/b.ecore c")
    ('a.b.c', 'a.b.c')
    """
    space, _, name = tag.removeprefix("{").replace("}", " ").rpartition(" ")
    package = space.removeprefix("http:///").removesuffix(".ecore").replace("/", ".")
    return name if package in ("", "uima.noNamespace") else f"{package}.{name}"


def _is_annotation(types: Any, kind: str, element: Any) -> bool:
    """Return whether an element is about a part of the text: by its type, or by its attributes if it has none."""
    if _is_of(types, kind, ANNOTATION):
        return True
    known = types.get_type(kind) if types.contains_type(kind) else None
    return (known is None or known.supertype.name == "uima.cas.TOP") and not {"begin", "end"}.isdisjoint(element.attrib)


def _is_of(types: Any, kind: str, supertype: str) -> bool:
    return bool(types.contains_type(kind) and types.is_instance_of(kind, supertype))


def _fault(element: Any, texts: Mapping[str | None, CountedText | None]) -> str | None:
    """Return why an annotation cannot be placed, in words that follow its name; ``None`` if it can."""
    if lacking := [name for name in ("begin", "end", "sofa") if element.get(name) is None]:
        return f"has no {lacking[0]!r}"
    begin, end = element.get("begin"), element.get("end")
    if not all(_NUMBER.fullmatch(value) for value in (begin, end)):
        return f"has the offsets {clip(begin)} and {clip(end)}, expected numbers of characters"
    text = texts.get(element.get("sofa"))
    if text is None:  # of a view without a text, which is not read; or of none, which is reported as a reference
        return None
    if int(begin) > int(end):
        return f"at {begin}-{end} ends before it begins"
    if int(begin) < 0 or int(end) > text.size("utf16"):
        return f"at {begin}-{end} is outside the text of {text.size('utf16')} characters (UTF-16)"
    cut = _UTF16.to_characters(text, (int(begin), int(end))) is None
    return f"at {begin}-{end} cuts a character (UTF-16)" if cut else None


def _without_dangling(elements: list[tuple[Any, str]], types: Any, gone: set[str]) -> tuple[int, set[str]]:
    """Remove references to what is not there.

    Args:
        elements: all that are left, each of a view that is there.
        types: of the file.
        gone: identifiers of those that were left out; references to them are removed, and not counted.

    Returns:
        How many references were removed, and what the others refer to.
    """
    there = {element.get(_ID) for element, _ in elements}
    named: set[str] = set()
    count = 0
    for element, kind in elements:
        references = {"members"} if kind == _VIEW else {"elements"} if kind == ARRAY else set()
        if types.contains_type(kind):
            for feature in types.get_type(kind).all_features:
                own = feature.rangeType
                if own.name == ARRAY or not (types.is_primitive(own) or types.is_array(own)):
                    references.add(feature.name)
        for feature in references & set(map(str, element.attrib)) - {"sofa"}:
            given = element.get(feature, "").split()
            kept = [one for one in given if one in there or not one.isdigit()]
            named.update(kept)
            count += len(given) - len(kept) - sum(one in gone for one in given)
            if kept or feature in ("members", "elements"):
                element.set(feature, " ".join(kept))
            elif given:
                del element.attrib[feature]
    return count, named


def reason(error: Exception) -> str:
    """Return the library's message for invalid input."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
