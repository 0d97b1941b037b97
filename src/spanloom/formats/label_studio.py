"""Label Studio: the JSON that it exports and imports, a list of tasks.

A region (``"type": "labels"``) is a mention. Regions that a relation labelled ``fragment`` joins are the spans of one
mention, because a region has no gaps; the text area ``concept`` of a region holds its concepts. Of several annotations
of a task, the one that is marked as ground truth is read, else the first that was not skipped; predictions are read if
there is no annotation. The task is kept in ``Document.meta["label_studio"]``.

Label Studio counts characters since 2021, and counted UTF-16 units before: the texts of the regions decide (see
`spanloom.formats.settling`).

Mentions with scores are written as predictions, others as annotations.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from spanloom.document import Document, Mention, Span
from spanloom.document.validate import Problem
from spanloom.errors import DataError
from spanloom.formats.base import (
    TWICE,
    Beside,
    Format,
    Losses,
    Scanned,
    Surface,
    count_meta,
    count_unwritten,
    unwritable,
    writing_as,
)
from spanloom.formats.json_text import loads, to_json
from spanloom.formats.packed import output_file
from spanloom.formats.source import BOM, begins_with, read_bytes

FRAGMENT, CONCEPT = "fragment", "concept"  # the label of the relation, and the name of the text area

MARK = re.compile(rb'"(?:data|annotations|predictions)"\s*:\s*[\[{]')
_LARGEST = 2**31
_MODEL = "spanloom"


@dataclass(slots=True)
class Understood:
    """A task as a document, and its remaining results.

    Args:
        document: without ``meta``.
        surfaces: the file's own text for each span of each mention; ``None`` where it gives none.
        others: results that are no part of a mention.
        problems: in the order in which they were found.
    """

    document: Document
    surfaces: list[Surface] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class _Region:
    labels: list[str]
    span: tuple[int, int]
    surface: str | None
    score: float | None
    concepts: list[str] = field(default_factory=list)


def scan(path: str | Path) -> Iterator[Scanned]:
    """Yield the documents of a file of tasks."""
    value = loads(read_bytes(path).removeprefix(BOM), path)
    tasks = value if isinstance(value, list) else [value]
    if not tasks:
        raise DataError("the file holds no task; expected a list of Label Studio's tasks")
    for number, task in enumerate(tasks):
        yield _scanned(task, f"tasks[{number}]", str(path))


def _scanned(task: object, place: str, path: str) -> Scanned:
    try:
        found = understand(task)
    except DataError as error:
        return Scanned(None, [Problem("error", "wrong field", error.message, place, path=path)], path)
    document = found.document
    assert isinstance(task, dict)  # else it would not have been understood
    kept = task | {"data": {name: value for name, value in task["data"].items() if name != "text"}}
    if kept != {"data": {}}:
        document.meta["label_studio"] = kept
    problems = [replace(problem, path=path) for problem in found.problems]
    return Scanned(document, problems, path, beside=Beside(found.surfaces, within=place))


def understand(task: object) -> Understood:
    """Convert a task to a document.

    Raises:
        DataError: a field is missing, or not of Label Studio's type.
    """
    data = _field(task, "data", dict, "the task")
    text = _field(data, "text", str, "data")
    names = (data.get("id"), task.get("id"))  # type: ignore[attr-defined]
    known = (str(name) for name in names if isinstance(name, str | int) and not isinstance(name, bool))
    found = Understood(Document(text, id=next(known, "")))
    slot = chosen(task)  # type: ignore[arg-type]
    if slot is None:
        return found
    if slot.others:
        message = f"the task has {slot.others + 1} {slot.kind}; read is that of {slot.author}, the others are kept"
        found.problems.append(Problem("warning", "several annotations", message))
    _add_mentions(found, _field(slot.value, "result", list, slot.kind))
    return found


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
    for kind in ("annotations", "predictions"):
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
    for number, result in enumerate(results):
        if not isinstance(result, dict):
            raise DataError(f"result[{number}] is no object, expected a region")
        if result.get("type") == "labels" and _is_region(result, number):
            name = result.get("id")
            name = name if isinstance(name, str) and name else f"result[{number}]"
            if name in regions:
                raise DataError(f"two regions have the id {name[:40]!r}; regions of a task have ids of their own")
            regions[name] = _region(result)
        elif result.get("type") == "relation" and _are(result.get("labels"), str) and FRAGMENT in result["labels"]:
            joins.append(result)
        elif not _is_concept(result):
            found.others.append(result)
    for result in results:
        if _is_concept(result):
            _add_concepts(found, regions, result)
    groups = {name: deque([name]) for name in regions}
    for join in joins:
        if not _join(groups, regions, join.get("from_id"), join.get("to_id")):
            found.others.append(join)
            message = "a relation 'fragment' that joins no two regions of one label; it is kept as a relation"
            found.problems.append(Problem("warning", "relation", message))
    for names in {id(group): group for group in groups.values()}.values():
        _add_group(found, list(names), [regions[name] for name in names])
    unread = sum(isinstance(other, dict) and other.get("type") != "relation" for other in found.others)
    if unread:
        message = f"results that are no mentions: {unread}; they are kept"
        found.problems.append(Problem("warning", "results not read", message))


def _is_region(result: dict[str, Any], number: int) -> bool:
    value = result.get("value")
    if not isinstance(value, dict) or not _are(value.get("labels"), str):
        raise DataError(f"result[{number}]: value is no object with a list of 'labels'; export the tasks as JSON")
    start, end = value.get("start"), value.get("end")
    if not all(type(offset) is int and -_LARGEST < offset < _LARGEST for offset in (start, end)):
        raise DataError(
            f"result[{number}]: start and end are {str(start)[:20]!r} and {str(end)[:20]!r}, expected integers"
        )
    return bool(value["labels"])


def _are(values: object, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _region(result: dict[str, Any]) -> _Region:
    value, score = result["value"], result.get("score")
    surface = value.get("text") if isinstance(value.get("text"), str) else None
    number = float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None
    return _Region(value["labels"], (value["start"], value["end"]), surface, number)


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
    for number, label in enumerate(parts[0].labels, start=1):
        name = names[0] if number == 1 else f"{names[0]}#{number}"
        spans = tuple(Span(*part.span) for part in ordered)
        found.document.mentions.append(Mention(label, spans, name, None, concepts, parts[0].score))
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
            count_unwritten(losses, document, "tokens", "sentences", "token columns")
            count_meta(losses, document, "label_studio")
        file.write("[]\n" if before == "[\n" else "\n]\n")
    return losses


def _task(document: Document) -> dict[str, Any]:
    kept = document.meta.get("label_studio", {"data": {}})
    data = kept.get("data") if isinstance(kept, dict) else None
    if not isinstance(data, dict):
        raise DataError("it has no data")
    task: dict[str, Any] = kept | {"data": data | {"text": document.text}}
    said = data.get("id", kept.get("id"))
    if document.id and (said is None or document.id != str(said)):
        task["data"] = {"id": document.id} | task["data"] | {"id": document.id}
    before = understand(task)
    if before.document.mentions == document.mentions:
        return task
    if any(mention.score is not None for mention in document.mentions):
        mine = [one for one in task.get("predictions") or [] if one.get("model_version") == _MODEL]
        others = [one for one in task.get("predictions") or [] if one not in mine]
        return task | {"predictions": [*others, _prediction(document)]}
    slot = chosen(task)
    annotations = list(task.get("annotations") or [])
    if slot is None or slot.kind == "predictions":
        return task | {"annotations": [*annotations, {"result": list(_results(document, {}, set()))}]}
    regions = [one for one in slot.value["result"] if one.get("type") == "labels"]
    old = {one["id"]: one for one in regions if isinstance(one.get("id"), str)}
    taken = {one["id"] for one in before.others if isinstance(one.get("id"), str)}
    result = [*_results(document, old, taken), *before.others]
    annotations[slot.index] = slot.value | {"result": result}
    return task | {"annotations": annotations}


def _prediction(document: Document) -> dict[str, Any]:
    scores = [float(mention.score) for mention in document.mentions if mention.score is not None]
    # the least sure mention decides, so that tasks can be sorted by what most needs a look
    return {"model_version": _MODEL, "score": min(scores), "result": list(_results(document, {}, set()))}


def _results(document: Document, old: dict[str, dict[str, Any]], taken: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the regions of each mention, with other fields of the old region of the same id, and their relations."""
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
        if mention.concepts:
            place = {"start": int(mention.spans[0].start), "end": int(mention.spans[0].end)}
            concepts = {"from_name": CONCEPT, "to_name": "text", "type": "textarea"}
            yield {"id": first, **concepts, "value": place | {"text": list(mention.concepts)}}


def _new_name(name: str, taken: set[str]) -> str:
    """Return a free name for a region and reserve it."""
    while name in taken:
        name += "x"
    taken.add(name)
    return name


LABEL_STUDIO = Format(
    "label-studio",
    (".json",),
    scan,
    write,
    claims=partial(begins_with, MARK, ".json"),
    gaps=True,
    keeps_ids=True,
    counts=True,
)
