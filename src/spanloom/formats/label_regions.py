"""Results of Label Studio: which are mentions, parts of them, concepts and attributes; see `label_studio`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from spanloom.document import Document, Mention, Span
from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip
from spanloom.formats.attributes import from_texts, to_text
from spanloom.formats.base import Surface, altered
from spanloom.formats.json_text import are, some
from spanloom.formats.shapes import grouped
from spanloom.formats.task_texts import Task

FRAGMENT, CONCEPT = "fragment", "concept"  # the label of the relation, and the name of the text area
# kind of a result about a region -> the field of its value
_VALUED = {"choices": "choices", "taxonomy": "taxonomy", "textarea": "text", "rating": "rating", "number": "number"}
_LARGEST = 2**31
_PLACES = ("start", "startOffset", "end", "endOffset", "globalOffsets")


@dataclass(slots=True)
class Understood:
    """A task as a document, and its remaining results.

    Args:
        document: without ``meta``.
        shown: its text, and where regions are in it.
        text_field: the field of the task's data with the text.
        surfaces: the file's own text for each span of each mention; ``None`` where it gives none.
        others: results that are no part of a mention.
        valued: results that are attributes, by region and control.
        problems: in the order in which they were found.
    """

    document: Document
    shown: Task
    text_field: str = "text"
    surfaces: list[Surface] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)
    valued: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class _Region:
    labels: list[str]
    span: tuple[int, int]
    surface: str | None
    score: float | None
    control: object = None
    concepts: list[str] = field(default_factory=list)
    attributes: dict[str, list[str]] = field(default_factory=dict)
    sure: dict[str, float] = field(default_factory=dict)


def add_mentions(found: Understood, results: list[Any]) -> None:
    """Add the mentions that some results are to a document; keep the others.

    Raises:
        DataError: a result is damaged.
    """
    regions: dict[str, _Region] = {}
    joins: list[dict[str, Any]] = []
    about: list[dict[str, Any]] = []
    labelled = {
        result["id"]
        for result in results
        if isinstance(result, dict) and isinstance(result.get("id"), str) and str(result.get("type")).endswith("labels")
    }
    for number, result in enumerate(results):
        if not isinstance(result, dict):
            raise DataError(f"result[{number}] is no object, expected a region")
        if result.get("type") in _VALUED and result.get("id") in labelled:
            about.append(result)
        elif (region := _region(result, number, found)) is not None:
            name = result.get("id")
            name = name if isinstance(name, str) and name else f"result[{number}]"
            other = regions.get(name)
            if other is None:
                regions[name] = region
            elif other.control == result.get("from_name"):
                raise DataError(f"two regions have the id {name[:40]!r}; regions of a task have ids of their own")
            else:
                found.others.append(result)
        elif result.get("type") == "relation" and are(result.get("labels"), str) and FRAGMENT in result["labels"]:
            joins.append(result)
        else:
            found.others.append(result)
    for result in about:
        _add_value(found, regions, result)
    pairs: list[tuple[Any, Any]] = []
    for join in joins:
        ends = join.get("from_id"), join.get("to_id")
        labels = [regions[end].labels for end in ends if isinstance(end, str) and end in regions]
        if len(labels) == len(ends) and labels[0] == labels[1]:
            pairs.append(ends)
            continue
        found.others.append(join)
        message = "a relation 'fragment' that joins no two regions of one label; it is kept as a relation"
        found.problems.append(Problem("warning", "relation", message))
    for names in grouped(regions, pairs):
        _add_group(found, names, [regions[name] for name in names])
    unread = sum(one.get("type") != "relation" for one in found.others)
    unlabelled = sum(_has_offsets(one) and not _labels(one) for one in found.others)
    if unlabelled and not found.document.mentions:
        message = f"results with offsets and without labels: {unlabelled}; no mention was read, and they are kept"
        found.problems.append(altered("annotation not read", message))
    if unread:
        message = f"results that are no mentions: {unread}; they are kept"
        found.problems.append(Problem("warning", "results not read", message))


def _region(result: dict[str, Any], number: int, found: Understood) -> _Region | None:
    """Return the region of the text with labels that a result is; ``None`` for another.

    Raises:
        DataError: one that should be has no labels or offsets.
    """
    value, kind = result.get("value"), result.get("type")
    if kind == "labels":
        if not isinstance(value, dict) or not are(value.get("labels"), str):
            raise DataError(f"result[{number}]: value is no object with a list of 'labels'; export the tasks as JSON")
        offsets = value.get("start"), value.get("end")
        if not _has_offsets(result) or any(type(one) is int and abs(one) >= _LARGEST for one in offsets):
            start, end = (str(one)[:20] for one in offsets)
            raise DataError(f"result[{number}]: start and end are {start!r} and {end!r}, expected integers")
    if not isinstance(value, dict) or kind == "textarea" or not (labels := _labels(result)):
        return None
    span = found.shown.span(value)
    if span is None:
        if _has_offsets(result):
            place = ", ".join(f"{name} {clip(str(value[name]))}" for name in _PLACES if name in value)
            message = f"a region of {clip(labels[0])} is not in the text ({place}); it is kept, and not read"
            found.problems.append(altered("regions outside the text", message, place=f"result[{number}]"))
        return None
    surface = value.get("text") if isinstance(value.get("text"), str) else None
    return _Region(labels, span, surface, _score_of(result), result.get("from_name"))


def _has_offsets(result: dict[str, Any]) -> bool:
    """Return whether a result has offsets of a kind that regions have."""
    value = result.get("value")
    if not isinstance(value, dict):
        return False
    given = value.get("globalOffsets")
    pairs = [(value.get("start"), value.get("end")), (value.get("startOffset"), value.get("endOffset"))]
    pairs += [(given.get("start"), given.get("end"))] if isinstance(given, dict) else []
    return any(type(start) is int and type(end) is int for start, end in pairs)


def _labels(result: dict[str, Any]) -> list[str]:
    """Return the labels of a result, in the field that its control has; parts of a taxonomy's path are joined."""
    value, kind = result["value"], result.get("type")
    names = [kind, *(name for name in value if name != "text")] if isinstance(kind, str) else list(value)
    for name in names:
        if some(labels := value.get(name), str):
            return list(labels)
        if some(labels, list) and all(some(path, str) for path in labels):
            return ["/".join(path) for path in labels]
    return []


def _add_value(found: Understood, regions: dict[str, _Region], result: dict[str, Any]) -> None:
    """Add an attribute, or concepts, to a region."""
    value, control = result.get("value"), result.get("from_name")
    given = value.get(_VALUED[result["type"]]) if isinstance(value, dict) else None
    texts = []
    for one in given if isinstance(given, list) else [given]:
        path = one if isinstance(one, list) else [one]
        if not some(path, str, int, float, bool):
            break
        texts.append("/".join(to_text(part) if isinstance(part, bool) else str(part) for part in path))
    else:
        region = regions.get(result["id"])
        if region is not None and (result["type"], control) == ("textarea", CONCEPT):
            region.concepts += texts
            return
        if region is not None and isinstance(control, str) and control and texts:
            region.attributes.setdefault(control, []).extend(texts)
            if (score := _score_of(result)) is not None:
                region.sure[control] = score
            found.valued.setdefault((result["id"], control), []).append(result)
            return
    found.others.append(result)


def _score_of(result: dict[str, Any]) -> float | None:
    score = result.get("score")
    return float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None


def _add_group(found: Understood, names: list[str], parts: list[_Region]) -> None:
    """Add the mention of joined regions; one for each label, as Label Studio allows several."""
    ordered = sorted(parts, key=lambda region: region.span)
    concepts = tuple(dict.fromkeys(concept for part in parts for concept in part.concepts))
    texts: dict[str, list[str]] = {}
    sure: dict[str, float] = {}
    for part in parts:
        for control, own in part.attributes.items():
            texts[control] = list(dict.fromkeys([*texts.get(control, ()), *own])) if control in texts else own
        sure |= part.sure
    attributes = {control: from_texts(own) for control, own in texts.items()}
    for number, label in enumerate(parts[0].labels, start=1):
        name = names[0] if number == 1 else f"{names[0]}#{number}"
        spans = tuple(Span(*part.span) for part in ordered)
        found.document.mentions.append(Mention(label, spans, name, None, concepts, parts[0].score, attributes, sure))
        found.surfaces.append([part.surface for part in ordered])
