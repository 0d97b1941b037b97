"""Label Studio: the JSON that it exports and imports, a list of tasks.

A region (``"type": "labels"``) is a mention. Regions that a relation labelled ``fragment`` joins are the spans of one
mention, because a region has no gaps; the text area ``concept`` of a region holds its concepts. Choices, a taxonomy, a
rating, a number or another text area of a region are an attribute, under the name of their control. Of several
annotations of a task, the one that is marked as ground truth is read, else the first that was not skipped; predictions
are read if there is no annotation. The task is kept in ``Document.meta["label_studio"]``.

Label Studio counts characters since 2021, and counted UTF-16 units before: the texts of the regions decide (see
`spanloom.formats.settling`).

Mentions with scores are written as predictions, others as annotations.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

from spanloom.document import Document, Mention, Span
from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip
from spanloom.formats.attributes import OTHERWISE, from_texts, held, to_text
from spanloom.formats.base import (
    CONCEPT_SCORES,
    TWICE,
    Beside,
    Losses,
    Scanned,
    Surface,
    count_meta,
    count_unwritten,
    unwritable,
    writing_as,
)
from spanloom.formats.json_text import loads, to_json
from spanloom.formats.layouts import OF_TEXT, OF_WORDS, named
from spanloom.formats.packed import output_file
from spanloom.formats.record import scan_record
from spanloom.formats.record_fields import Columns, RecordFields, TagNames
from spanloom.formats.source import BOM, begins_with, read_bytes

TEXT_FIELD = "label_studio_text"  # of meta: the field of the data with the text, if it is another than text
FRAGMENT, CONCEPT = "fragment", "concept"  # the label of the relation, and the name of the text area

MARK = re.compile(
    rb'"data"\s*:\s*\{|"(?:annotations|predictions|completions)"\s*:\s*\[\s*\{[^{}]{0,2000}"result"\s*:\s*\['
)
# kind of a result about a region -> the field of its value
_VALUED = {"choices": "choices", "taxonomy": "taxonomy", "textarea": "text", "rating": "rating", "number": "number"}
_KINDS = ("annotations", "completions", "predictions")  # completions are the annotations of versions before 1.0
_LARGEST = 2**31
_MOST_SURFACES = 100  # of a task, by which its text is found
_MODEL = "spanloom"


@dataclass(slots=True)
class Understood:
    """A task as a document, and its remaining results.

    Args:
        document: without ``meta``.
        text_field: the field of the task's data with the text.
        surfaces: the file's own text for each span of each mention; ``None`` where it gives none.
        others: results that are no part of a mention.
        valued: results that are attributes, by region and control.
        problems: in the order in which they were found.
    """

    document: Document
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


def scan(path: str | Path, columns: Columns = None, tag_names: TagNames = None) -> Iterator[Scanned]:
    """Yield the documents of a file of tasks.

    Args:
        path: the file, or ``-``.
        columns: our names -> fields of the tasks' ``data``, for ``text`` and ``id``.
        tag_names: as of JSONL, for records that are no tasks.
    """
    fields = RecordFields(columns, tag_names)
    value = loads(read_bytes(path).removeprefix(BOM), path)
    tasks = value if isinstance(value, list) else [value]
    if not tasks:
        raise DataError("the file holds no task; expected a list of Label Studio's tasks")
    for number, task in enumerate(tasks):
        place = f"tasks[{number}]"
        if isinstance(task, dict) and not is_task(task) and next(named(task, (*OF_TEXT, *OF_WORDS)), None):
            yield from scan_record(task, True, fields, str(path), place=place)
        else:
            yield _scan_task(task, fields, str(path), None, place)


def scan_any(
    record: Any, mentions: bool, fields: RecordFields, path: str, line: int | None = None, place: str = ""
) -> list[Scanned]:
    """Return the documents of a task, or of a record of any other layout, as `scan_record` does."""
    if is_task(record):
        return [_scan_task(record, fields, path, line, place)]
    return scan_record(record, mentions, fields, path, line, place)


def is_task(record: object) -> bool:
    """Return whether a record is a task: its text is in an object ``data``."""
    return isinstance(record, dict) and isinstance(record.get("data"), dict) and not isinstance(record.get("text"), str)


def _scan_task(task: object, fields: RecordFields, path: str, line: int | None, place: str) -> Scanned:
    try:
        found = understand(task, fields.names)
    except DataError as error:
        return Scanned(None, [Problem("error", "wrong field", error.message, place, path=path, line=line)], path, line)
    document = found.document
    assert isinstance(task, dict)  # else it would not have been understood
    kept = task | {"data": {name: value for name, value in task["data"].items() if name != found.text_field}}
    if kept != {"data": {}}:
        document.meta["label_studio"] = kept
    if found.text_field != "text":
        document.meta[TEXT_FIELD] = found.text_field
    problems = [replace(problem, path=path, line=line) for problem in found.problems]
    return Scanned(document, problems, path, line, beside=Beside(found.surfaces, within=place))


def understand(task: object, names: Mapping[str, str] = MappingProxyType({})) -> Understood:
    """Convert a task to a document.

    Args:
        task: as exported.
        names: ``text`` and ``id`` -> the fields of its ``data``, where the user names them.

    Raises:
        DataError: a field is missing, or not of Label Studio's type.
    """
    data = _field(task, "data", dict, "the task")
    slot = chosen(task)  # type: ignore[arg-type]
    results = [] if slot is None else _field(slot.value, "result", list, slot.kind)
    own = {ours: theirs.removeprefix("data.") for ours, theirs in names.items()}
    name = own["text"] if "text" in own else _text_field(data, results)
    text = _field(data, name, str, "data")
    ids = (data.get(own["id"]),) if "id" in own else (data.get("id"), task.get("id"))  # type: ignore[attr-defined]
    known = (str(name) for name in ids if isinstance(name, str | int) and not isinstance(name, bool))
    found = Understood(Document(text, id=next(known, "")), name)
    if slot is None:
        return found
    if slot.others:
        message = f"the task has {slot.others + 1} {slot.kind}; read is that of {slot.author}, the others are kept"
        found.problems.append(Problem("warning", "several annotations", message))
    _add_mentions(found, results)
    return found


def _text_field(data: dict[str, Any], results: list[Any]) -> str:
    """Return the field of the text: ``text``, or the one with the surfaces of regions, or the only text.

    Raises:
        DataError: it is not clear which.
    """
    if "text" in data:
        return "text"
    texts = {name: value for name, value in data.items() if isinstance(value, str)}
    values = [
        result["value"] for result in results if isinstance(result, dict) and isinstance(result.get("value"), dict)
    ]
    surfaces = [value["text"] for value in values if isinstance(value.get("text"), str) and "start" in value]
    wanted = [_stripped(surface) for surface in surfaces[:_MOST_SURFACES]]
    whole = {name: _stripped(text) for name, text in texts.items()}
    holding = [name for name, text in whole.items() if wanted and all(surface in text for surface in wanted)]
    worded = [name for name, text in texts.items() if len(text.split()) > 1]
    found = next((names for names in (holding, list(texts), worded) if len(names) == 1), None)
    if found is None and texts:
        shown = ", ".join(map(clip, list(texts)[:20]))
        raise DataError(
            f"data: 'text' is missing, expected a text; name the field of the text, one of {shown}: --columns text=NAME"
        )
    return found[0] if found else "text"


def _stripped(text: str) -> str:
    return "".join(text.replace("\\n", "").split())


@dataclass(frozen=True, slots=True)
class Slot:
    """The annotation or prediction that is read: ``task[kind][index]``, and the number of other candidates."""

    kind: str
    index: int
    value: dict[str, Any]
    others: int

    @property
    def author(self) -> str:
        """The author, if the file names one."""
        author = self.value.get("completed_by", self.value.get("model_version"))
        if isinstance(author, dict):
            author = author.get("email", author.get("id"))
        return "the first" if author is None else repr(author)


def chosen(task: dict[str, Any]) -> Slot | None:
    """Return the annotation to read, else the prediction; ``None`` if there is neither.

    Raises:
        DataError: they are no lists of objects.
    """
    slots: list[Slot] = []
    for kind in _KINDS:
        values = task.get(kind) or []
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise DataError(f"{kind} is no list of objects; export the tasks as JSON")
        done = [(i, value) for i, value in enumerate(values) if not value.get("was_cancelled")]
        if done:
            index, value = next(((i, value) for i, value in done if value.get("ground_truth")), done[0])
            slots.append(Slot(kind, index, value, len(done) - 1))
    return slots[0] if slots else None


def _field(value: object, name: str, kind: type, where: str) -> Any:
    if not isinstance(value, dict):
        raise DataError(f"{where} is no object, expected an object with {name!r}")
    found = value.get(name)
    if not isinstance(found, kind):
        expected = {"dict": "an object", "list": "a list", "str": "a text"}[kind.__name__]
        is_there = "missing" if found is None else f"of type {type(found).__name__}"
        raise DataError(f"{where}: {name!r} is {is_there}, expected {expected}")
    return found


def _add_mentions(found: Understood, results: list[Any]) -> None:
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
        if result.get("type") in _VALUED and result.get("id") in labelled and not _is_concept(result):
            about.append(result)
        elif _is_region(result, number):
            name = result.get("id")
            name = name if isinstance(name, str) and name else f"result[{number}]"
            other = regions.get(name)
            if other is None:
                regions[name] = _region(result)
            elif other.control == result.get("from_name"):
                raise DataError(f"two regions have the id {name[:40]!r}; regions of a task have ids of their own")
            elif not other.labels and other.span == _region(result).span:  # labels in a control of their own
                regions[name] = _region(result)
            else:
                found.others.append(result)
        elif result.get("type") == "relation" and _are(result.get("labels"), str) and FRAGMENT in result["labels"]:
            joins.append(result)
        elif not _is_concept(result):
            found.others.append(result)
    for result in results:
        if _is_concept(result):
            _add_concepts(found, regions, result)
    for result in about:
        _add_value(found, regions, result)
    groups = {name: deque([name]) for name in regions}
    for join in joins:
        if not _join(groups, regions, join.get("from_id"), join.get("to_id")):
            found.others.append(join)
            message = "a relation 'fragment' that joins no two regions of one label; it is kept as a relation"
            found.problems.append(Problem("warning", "relation", message))
    for names in {id(group): group for group in groups.values()}.values():
        _add_group(found, list(names), [regions[name] for name in names])
    unread = sum(isinstance(other, dict) and other.get("type") != "relation" for other in found.others)
    unlabelled = sum(isinstance(one, dict) and _has_offsets(one) for one in found.others)
    if unlabelled and not found.document.mentions:
        message = f"results with offsets and without labels: {unlabelled}; no mention was read, and they are kept"
        found.problems.append(Problem("warning", "annotation not read", message, altered=True))
    if unread:
        message = f"results that are no mentions: {unread}; they are kept"
        found.problems.append(Problem("warning", "results not read", message))


def _is_region(result: dict[str, Any], number: int) -> bool:
    """Return whether a result is a region of the text with labels.

    Raises:
        DataError: one that should be has no labels or offsets.
    """
    value, kind = result.get("value"), result.get("type")
    if isinstance(value, dict) and kind != "labels":
        offsets = (*_offsets_of(value), value.get("text"))
        return all(type(part) is int for part in offsets[:2]) and bool(_labels(result)) and kind != "textarea"
    if kind != "labels":
        return False
    if not isinstance(value, dict) or not _are(value.get("labels"), str):
        raise DataError(f"result[{number}]: value is no object with a list of 'labels'; export the tasks as JSON")
    start, end = _offsets_of(value)
    if not all(type(offset) is int and -_LARGEST < offset < _LARGEST for offset in (start, end)):
        raise DataError(
            f"result[{number}]: start and end are {str(start)[:20]!r} and {str(end)[:20]!r}, expected integers"
        )
    return bool(value["labels"])


def _has_offsets(result: dict[str, Any]) -> bool:
    value = result.get("value")
    return isinstance(value, dict) and all(type(part) is int for part in _offsets_of(value))


def _offsets_of(value: dict[str, Any]) -> tuple[Any, Any]:
    """Return the offsets of a region; of one in HTML those in the text as shown."""
    given = value.get("globalOffsets")
    if type(value.get("start")) is not int and isinstance(given, dict):
        return given.get("start"), given.get("end")
    return value.get("start"), value.get("end")


def _labels(result: dict[str, Any]) -> list[str]:
    """Return the labels of a result, in the field that its control has; parts of a taxonomy's path are joined."""
    value, kind = result["value"], result.get("type")
    names = [kind, *(name for name in value if name != "text")] if isinstance(kind, str) else list(value)
    for name in names:
        if _are(labels := value.get(name), str) and labels:
            return list(labels)
        if isinstance(labels, list) and labels and all(_are(path, str) and path for path in labels):
            return ["/".join(path) for path in labels]
    return []


def _are(values: object, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _region(result: dict[str, Any]) -> _Region:
    value = result["value"]
    surface = value.get("text") if isinstance(value.get("text"), str) else None
    return _Region(_labels(result), _offsets_of(value), surface, _score_of(result), result.get("from_name"))


def _is_concept(result: dict[str, Any]) -> bool:
    return (result.get("type"), result.get("from_name")) == ("textarea", CONCEPT)


def _add_concepts(found: Understood, regions: dict[str, _Region], result: dict[str, Any]) -> None:
    texts = result["value"].get("text") if isinstance(result.get("value"), dict) else None
    texts = [texts] if isinstance(texts, str) else texts
    name = result.get("id")
    if isinstance(name, str) and name in regions and _are(texts, str):
        regions[name].concepts += texts  # type: ignore[arg-type]
    else:
        found.others.append(result)


def _add_value(found: Understood, regions: dict[str, _Region], result: dict[str, Any]) -> None:
    """Add an attribute to a region."""
    value, control = result.get("value"), result.get("from_name")
    given = value.get(_VALUED[result["type"]]) if isinstance(value, dict) else None
    texts = []
    for one in given if isinstance(given, list) else [given]:
        path = one if isinstance(one, list) else [one]
        if not path or not all(isinstance(part, str | int | float) for part in path):
            break
        texts.append("/".join(to_text(part) if isinstance(part, bool) else str(part) for part in path))
    else:
        name = result["id"]
        if name in regions and isinstance(control, str) and control and texts:
            region = regions[name]
            region.attributes.setdefault(control, []).extend(texts)
            if (score := _score_of(result)) is not None:
                region.sure[control] = score
            found.valued.setdefault((name, control), []).append(result)
            return
    found.others.append(result)


def _score_of(result: dict[str, Any]) -> float | None:
    score = result.get("score")
    return float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None


def _join(groups: dict[str, deque[str]], regions: dict[str, _Region], one: object, other: object) -> bool:
    if not isinstance(one, str) or not isinstance(other, str) or not {one, other} <= regions.keys():
        return False
    if regions[one].labels != regions[other].labels:
        return False
    first, second = groups[one], groups[other]
    if first is second:
        return True
    # the shorter one moves, so that no chain of relations takes more than a logarithm of moves for each region
    moved = second if len(second) <= len(first) else first
    for name in moved:
        groups[name] = first if moved is second else second
    if moved is second:
        first.extend(second)
    else:
        second.extendleft(reversed(first))
    return True


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


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write a list of tasks, which Label Studio imports.

    The mentions of a document are a prediction if one of them has a score, else an annotation. A task that was read and
    whose mentions did not change is written as it was; else its other annotations and predictions stay.

    Args:
        documents: tokens are not needed.
        path: the file, or ``-``.
        force: replace an existing file.

    Raises:
        DataError: ``meta["label_studio"]`` is invalid, or has no JSON form.
    """
    losses = Losses()
    with output_file(path, force=force) as file:
        before = "[\n"
        for document in documents:
            with writing_as("JSON", document, path):
                try:
                    task = _task(document)
                except DataError as error:
                    message = f": meta['label_studio'] should be a task ({error.message}); remove it"
                    raise unwritable(document, message, path) from error
                file.write(before + to_json(task))
            before = ",\n"
            losses.add("mention identifiers", sum(mention.id == "" for mention in document.mentions))
            losses.add(TWICE, sum(len(mention.concepts) - len(set(mention.concepts)) for mention in document.mentions))
            losses.add("heads", sum(mention.head is not None for mention in document.mentions))
            losses.add(OTHERWISE, sum(held(mention)[1] for mention in document.mentions if mention.attributes))
            losses.add(CONCEPT_SCORES, sum(len(mention.concept_scores) for mention in document.mentions))
            count_unwritten(losses, document, "tokens", "sentences", "token columns")
            count_meta(losses, document, "label_studio", TEXT_FIELD)
        file.write("[]\n" if before == "[\n" else "\n]\n")
    return losses


def _task(document: Document) -> dict[str, Any]:
    kept = document.meta.get("label_studio", {"data": {}})
    data = kept.get("data") if isinstance(kept, dict) else None
    if not isinstance(data, dict):
        raise DataError("it has no data")
    field = document.meta.get(TEXT_FIELD, "text")
    if not isinstance(field, str):
        raise DataError(f"meta['{TEXT_FIELD}'] is no name of a field")
    task: dict[str, Any] = kept | {"data": data | {field: document.text}}
    said = data.get("id", kept.get("id"))
    if document.id and (said is None or document.id != str(said)):
        task["data"] = {"id": document.id} | task["data"] | {"id": document.id}
    before = understand(task, {"text": field})
    if before.document.mentions == document.mentions:
        return task
    if any(mention.score is not None for mention in document.mentions):
        mine = [one for one in task.get("predictions") or [] if one.get("model_version") == _MODEL]
        others = [one for one in task.get("predictions") or [] if one not in mine]
        return task | {"predictions": [*others, _prediction(document)]}
    slot = chosen(task)
    if slot is None or slot.kind == "predictions":
        annotations = list(task.get("annotations") or [])
        return task | {"annotations": [*annotations, {"result": list(_results(document, {}, set(), {}))}]}
    annotations = list(task[slot.kind])
    regions = [one for one in slot.value["result"] if one.get("type") == "labels"]
    old = {one["id"]: one for one in regions if isinstance(one.get("id"), str)}
    taken = {one["id"] for one in before.others if isinstance(one.get("id"), str)}
    valued = {
        (mention.id, control): (mention.attributes[control], before.valued[mention.id, control])
        for mention in before.document.mentions
        for control in mention.attributes
        if mention.id is not None and (mention.id, control) in before.valued
    }
    result = [*_results(document, old, taken, valued), *before.others]
    annotations[slot.index] = slot.value | {"result": result}
    return task | {slot.kind: annotations}


def _prediction(document: Document) -> dict[str, Any]:
    scores = [float(mention.score) for mention in document.mentions if mention.score is not None]
    # the least sure mention decides, so that tasks can be sorted by what most needs a look
    return {"model_version": _MODEL, "score": min(scores), "result": list(_results(document, {}, set(), {}))}


def _results(
    document: Document, old: dict[str, dict[str, Any]], taken: set[str],
    valued: Mapping[tuple[str, str], tuple[bool | str, list[Any]]],
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield the regions of each mention, with other fields of the old region of the same id, and what is about them.

    Args:
        document: the document.
        old: by identifier, regions that were read.
        taken: identifiers of other results.
        valued: by mention and control, an attribute that was read, and its results, which are kept if it is the same.
    """
    taken = taken | {mention.id for mention in document.mentions if mention.id}
    count = 0
    for mention in document.mentions:
        count += not mention.id
        first = mention.id or _new_name(f"m{count}", taken)
        parts = [first, *(_new_name(f"{first}.{number}", taken) for number in range(2, len(mention.spans) + 1))]
        for name, (start, end) in zip(parts, mention.spans, strict=True):
            region = old.get(name, {"from_name": "label", "to_name": "text", "type": "labels"})
            value = {"start": int(start), "end": int(end), "text": document.text[start:end], "labels": [mention.type]}
            score = None if mention.score is None else float(mention.score)
            whole = region | {"id": name, "value": region.get("value", {}) | value, "score": score}
            yield {key: part for key, part in whole.items() if key != "score" or part is not None}
        for one, other in pairwise(parts):
            yield {"type": "relation", "from_id": one, "to_id": other, "direction": "right", "labels": [FRAGMENT]}
        place = {"start": int(mention.spans[0].start), "end": int(mention.spans[0].end)}
        for control, text in held(mention)[0].items() if mention.attributes else ():
            before = valued.get((first, control))
            if before is not None and before[0] == mention.attributes[control]:
                yield from before[1]
                continue
            choices = {"from_name": control, "to_name": "text", "type": "choices"}
            sure = {"score": mention.attribute_scores[control]} if control in mention.attribute_scores else {}
            yield {"id": first, **choices, "value": place | {"choices": text.split("|")}, **sure}
        if mention.concepts:
            concepts = {"from_name": CONCEPT, "to_name": "text", "type": "textarea"}
            yield {"id": first, **concepts, "value": place | {"text": list(mention.concepts)}}


def _new_name(name: str, taken: set[str]) -> str:
    """Return a free name for a region and reserve it."""
    while name in taken:
        name += "x"
    taken.add(name)
    return name


def claims(path: Path) -> bool:
    """Return whether a file holds tasks of Label Studio."""
    return begins_with(MARK, ".json", path)
