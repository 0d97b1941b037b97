"""Label Studio: the JSON that it exports and imports, a list of tasks.

A region (``"type": "labels"``) is a mention. Regions that a relation labelled ``fragment`` joins are the spans of one
mention, because a region has no gaps; the text area ``concept`` of a region holds its concepts. Choices, a taxonomy, a
rating, a number or another text area of a region are an attribute, under the name of their control. Of several
annotations of a task, the one that is marked as ground truth is read, else the first that was not skipped; predictions
are read if there is no annotation, and cannot be read where the file has their numbers alone. The task is kept in
``Document.meta["label_studio"]``.

The text may be plain, HTML, or the paragraphs of a dialogue (see `spanloom.formats.label_regions`).

Label Studio counts characters since 2021, and counted UTF-16 units before: the texts of the regions decide (see
`spanloom.formats.settling`).

Mentions with scores are written as predictions, others as annotations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

from spanloom.document import Document
from spanloom.errors import DataError, clip
from spanloom.formats.attributes import OTHERWISE, held
from spanloom.formats.base import (
    CONCEPT_SCORES,
    TWICE,
    Beside,
    Losses,
    Scanned,
    altered,
    count_mention,
    count_unwritten,
    unwritable,
    writing_as,
)
from spanloom.formats.json_text import are, field_of, loads, some, to_json, write_list
from spanloom.formats.label_regions import CONCEPT, FRAGMENT, HTML, PARAGRAPHS, Task, Understood, add_mentions, text_of
from spanloom.formats.layouts import OF_TEXT, OF_WORDS, named
from spanloom.formats.listed import scan_bioc
from spanloom.formats.record import scan_record
from spanloom.formats.record_fields import Columns, RecordFields, TagNames
from spanloom.formats.source import BOM, begins_with, output_file, read_bytes
from spanloom.formats.tag_dialects import in_turn

TEXT_FIELD = "label_studio_text"  # of meta: the field of the data with the text, if it is another than text

MARK = re.compile(
    rb'"data"\s*:\s*\{|"(?:annotations|predictions|completions)"\s*:\s*\[\s*\{[^{}]{0,2000}"result"\s*:\s*\['
)
_KINDS = ("annotations", "completions", "predictions")  # completions are the annotations of versions before 1.0
_MOST_SURFACES = 100  # of a task, by which its text is found
_MODEL = "spanloom"
_OF_MIN = ("annotation_id", "annotator", "lead_time", "created_at", "updated_at")  # fields of JSON-MIN


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
    # where one shows that the project is of HTML, it is of all tasks
    html = any(isinstance(task, dict) and _shows_html(task) for task in tasks)

    read = partial(scan_any, mentions=True, fields=fields, path=str(path), html=html, tasks=True)
    calls = (partial(read, task, place=f"tasks[{number}]") for number, task in enumerate(tasks))
    yield from in_turn((fields.tags, fields.kinds), calls)


def scan_any(
    record: Any, mentions: bool, fields: RecordFields, path: str, line: int | None = None, place: str = "",
    html: bool = False, tasks: bool = False,
) -> list[Scanned]:  # fmt: skip
    """Return the documents of a task, or of a record of any other layout, as `scan_record` does.

    Args:
        record: the task or record.
        mentions: as in `scan_record`; likewise `fields`, `path`, `line` and `place`.
        html: whether the text of a task is HTML even where no region shows it.
        tasks: whether what is neither should be a task.
    """
    known = record if isinstance(record, dict) else {}
    passages = known.get("passages")
    if some(passages, dict) and "offset" in passages[0] and "offsets" not in passages[0]:  # of BioC, not of BigBIO
        return [scan_bioc(record, path, line, place)]
    task = record if is_task(record) else _task_of_fields(known)
    if task is None and not (tasks and next(named(known, (*OF_TEXT, *OF_WORDS)), None) is None):
        return scan_record(record, mentions, fields, path, line, place)
    return [_scan_task(record if task is None else task, fields, path, line, place, html)]


def is_task(record: object) -> bool:
    """Return whether a record is a task: its text is in an object ``data``."""
    return isinstance(record, dict) and isinstance(record.get("data"), dict) and not isinstance(record.get("text"), str)


def _task_of_fields(record: dict[str, Any]) -> dict[str, Any] | None:
    """Return the task of a record of JSON-MIN whose regions are of HTML or of a dialogue; ``None`` for others."""
    lists = {name: value for name, value in record.items() if isinstance(value, list) and some(value, dict)}
    controls = [name for name, parts in lists.items() if all("startOffset" in part for part in parts)]
    if not (regions := [(name, one) for name in controls for one in lists[name] if HTML in one or PARAGRAPHS in one]):
        return None
    own = {name: value for name, value in record.items() if name in ("id", *_OF_MIN)}
    results = [{"from_name": name, "type": HTML if HTML in one else PARAGRAPHS, "value": one} for name, one in regions]
    data = {name: value for name, value in record.items() if name not in controls and name not in own}
    annotation = {"completed_by": own["annotator"]} if "annotator" in own else {}
    return {**own, "data": data, "annotations": [{**annotation, "result": results}]}


def _shows_html(task: dict[str, Any]) -> bool:
    """Return whether a region of a task names a node of HTML."""
    with suppress(DataError):
        slot = chosen(task)
        results = [] if slot is None else slot.value.get("result")
        for result in results if isinstance(results, list) else ():
            value = result.get("value") if isinstance(result, dict) else None
            if isinstance(value, dict) and (result.get("type") == HTML or str(value.get("start")).startswith("/")):
                return True
    return False


def _scan_task(task: object, fields: RecordFields, path: str, line: int | None, place: str, html: bool) -> Scanned:
    try:
        found = understand(task, fields.names, html)
    except DataError as error:
        return Scanned.failed("wrong field", error.message, path, line, place)
    document = found.document
    assert isinstance(task, dict)  # else it would not have been understood
    kept = dict(task)
    if found.shown.is_plain:  # else the document's text is not that of the task
        kept["data"] = {name: value for name, value in task["data"].items() if name != found.text_field}
    if kept != {"data": {}}:
        document.meta["label_studio"] = kept
    if found.text_field != "text" or not found.shown.is_plain:
        document.meta[TEXT_FIELD] = found.text_field
    problems = [replace(problem, path=path, line=line) for problem in found.problems]
    return Scanned(document, problems, path, line, beside=Beside(found.surfaces, within=place))


def understand(task: object, names: Mapping[str, str] = MappingProxyType({}), html: bool = False) -> Understood:
    """Convert a task to a document.

    Args:
        task: as exported.
        names: ``text`` and ``id`` -> the fields of its ``data``, where the user names them.
        html: whether its text is HTML even where no region shows it.

    Raises:
        DataError: a field is missing, or not of Label Studio's type.
    """
    data = field_of(task, "data", dict, "the task")
    slot = chosen(task)  # type: ignore[arg-type]
    results = [] if slot is None else field_of(slot.value, "result", list, slot.kind)
    own = {ours: theirs.removeprefix("data.") for ours, theirs in names.items()}
    name = own["text"] if "text" in own else _text_field(data, results)
    shown = text_of(data.get(name), html or _shows_html(task))  # type: ignore[arg-type]
    if shown is None:
        shown = Task(field_of(data, name, str, "data"))
    ids = (data.get(own["id"]),) if "id" in own else (data.get("id"), task.get("id"))  # type: ignore[attr-defined]
    known = (str(name) for name in ids if isinstance(name, str | int) and not isinstance(name, bool))
    found = Understood(Document(shown.text, id=next(known, "")), shown, name)
    preferred = _KINDS[: None if slot is None else _KINDS.index(slot.kind)]
    if numbered := [kind for kind in preferred if some(task.get(kind), int)]:  # type: ignore[attr-defined]
        kinds = " and ".join(numbered)
        message = f"the file has the numbers of {kinds} and no regions; export them whole ('only_id': false)"
        found.problems.append(altered("annotation not read", message))
    if slot is None:
        drafts = task.get("drafts")  # type: ignore[attr-defined]
        if isinstance(drafts, list) and any(isinstance(one, dict) and one.get("result") for one in drafts):
            message = "the task has drafts and no annotation; drafts are not read: submit them in Label Studio"
            found.problems.append(altered("drafts", message))
        return found
    if slot.others:
        message = f"the task has {slot.others + 1} {slot.kind}; read is that of {slot.author}, the others are kept"
        found.problems.append(altered("several annotations", message))
    add_mentions(found, results)
    return found


def _text_field(data: dict[str, Any], results: list[Any]) -> str:
    """Return the field of the text: ``text``, or the one with the surfaces of regions, or the only text.

    Raises:
        DataError: it is not clear which.
    """
    if "text" in data:
        return "text"
    texts = {name: value for name, value in data.items() if isinstance(value, str)}
    tried = {name: text_of(value, False) for name, value in data.items() if name not in texts}
    dialogues = {name: shown.text for name, shown in tried.items() if shown is not None}
    if dialogues and (not texts or any(isinstance(one, dict) and one.get("type") == PARAGRAPHS for one in results)):
        texts = dialogues
    values = [one["value"] for one in results if isinstance(one, dict) and isinstance(one.get("value"), dict)]
    surfaces = [value["text"] for value in values if isinstance(value.get("text"), str) and "start" in value]
    shown_surfaces = [_stripped(surface) for surface in surfaces[:_MOST_SURFACES]]
    whole = {name: _stripped(text) for name, text in texts.items()}
    holding = [name for name, text in whole.items() if all(surface in text for surface in shown_surfaces)]
    holding = holding if shown_surfaces else []
    worded = [name for name, text in texts.items() if len(text.split()) > 1]
    found = next((names for names in (holding, list(texts), worded) if len(names) == 1), None)
    if found is None and texts:
        shown = ", ".join(map(clip, list(texts)[:20]))
        advice = f"name the field of the text, one of {shown}: --columns text=NAME"
        raise DataError(f"data: 'text' is missing, expected a text; {advice}")
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
        DataError: they are no lists of objects, or of numbers.
    """
    slots: list[Slot] = []
    for kind in _KINDS:
        values = task.get(kind) or []
        if not are(values, dict) and not are(values, int):  # the latter are identifiers, as of the option 'only_id'
            entries = values if isinstance(values, list) else []
            wrong = ((f"{kind}[{i}]", one, "an object") for i, one in enumerate(entries) if type(one) is not dict)
            name, found, expected = next(wrong, (kind, values, "a list of objects"))
            raise DataError(f"{name} is {clip(str(found))}, expected {expected}; export the tasks as JSON")
        done = [(i, value) for i, value in enumerate(values) if type(value) is dict and not value.get("was_cancelled")]
        if done:
            index, value = next(((i, value) for i, value in done if value.get("ground_truth")), done[0])
            slots.append(Slot(kind, index, value, len(done) - 1))
    return slots[0] if slots else None


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
        write_list(file, (_written(document, losses, path) for document in documents))
    return losses


def _written(document: Document, losses: Losses, path: str | Path) -> str:
    """Return the task of a document as JSON, and count what it cannot hold."""
    with writing_as("JSON", document, path):
        try:
            task = _task(document)
        except DataError as error:
            message = f": meta['label_studio'] should be a task ({error.message}); remove it"
            raise unwritable(document, message, path) from error
        text = to_json(task)
    for mention in document.mentions:
        losses.add("mention identifiers", mention.id == "")
        losses.add(TWICE, len(mention.concepts) - len(set(mention.concepts)))
        losses.add(OTHERWISE, held(mention)[1] if mention.attributes else 0)
        count_mention(losses, mention, "heads", CONCEPT_SCORES)
    count_unwritten(losses, document, "tokens", "sentences", "token columns", held=("label_studio", TEXT_FIELD))
    return text


def _task(document: Document) -> dict[str, Any]:
    kept = document.meta.get("label_studio", {"data": {}})
    data = field_of(kept, "data", dict, "it")
    field = field_of({TEXT_FIELD: "text", **document.meta}, TEXT_FIELD, str, "meta")
    source = text_of(data.get(field), True)
    shown = Task(document.text)
    task: dict[str, Any] = dict(kept)
    if source is not None and not source.is_plain and source.text == document.text:
        shown = source
    else:
        task["data"] = data | {field: document.text}
    stored_id = data.get("id", kept.get("id"))
    if document.id and (stored_id is None or document.id != str(stored_id)):
        task["data"] = {"id": document.id} | task["data"] | {"id": document.id}
    before = understand(task, {"text": field}, not shown.is_plain)
    if before.document.mentions == document.mentions:
        return task
    if scores := [float(mention.score) for mention in document.mentions if mention.score is not None]:
        others = [one for one in task.get("predictions") or () if isinstance(one, dict)]  # a number is of no use
        others = [one for one in others if one.get("model_version") != _MODEL]
        # the least sure mention decides, so that tasks can be sorted by what most needs a look
        own = {"model_version": _MODEL, "score": min(scores), "result": new_results(document, shown)}
        return task | {"predictions": [*others, own]}
    if (slot := chosen(task)) is None or slot.kind == "predictions":
        return task | {"annotations": [*(task.get("annotations") or ()), {"result": new_results(document, shown)}]}
    annotations = list(task[slot.kind])
    regions = [one for one in slot.value["result"] if one.get("type") in ("labels", HTML, PARAGRAPHS)]
    old = {one["id"]: one for one in regions if isinstance(one.get("id"), str)}
    taken = {one["id"] for one in before.others if isinstance(one.get("id"), str)}
    read = (
        (one.id or "", control, value) for one in before.document.mentions for control, value in one.attributes.items()
    )
    valued = {key[:2]: (key[2], before.valued[key[:2]]) for key in read if key[:2] in before.valued}
    annotations[slot.index] = slot.value | {"result": [*_results(document, shown, old, taken, valued), *before.others]}
    return task | {slot.kind: annotations}


def new_results(document: Document, shown: Task) -> list[dict[str, Any]]:
    """Return the regions of a document's mentions, with what joins and describes them.

    Args:
        document: the document.
        shown: its text, as the task has it.

    >>> from spanloom import Mention
    >>> found = new_results(Document("No pain.", mentions=[Mention("problem", [(3, 7)])]), Task("No pain."))
    >>> found[0]["value"]
    {'start': 3, 'end': 7, 'text': 'pain', 'labels': ['problem']}
    """
    return list(_results(document, shown, {}, set(), {}))


def _results(
    document: Document, shown: Task, old: dict[str, dict[str, Any]], taken: set[str],
    valued: Mapping[tuple[str, str], tuple[bool | str, list[Any]]],
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield the regions of each mention, with other fields of the old region of the same id, and what is about them.

    Args:
        document: the document.
        shown: its text, as the task has it.
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
            kind, value = shown.region(int(start), int(end), mention.type)
            region = old.get(name, {"from_name": "label", "to_name": "text", "type": kind})
            score = None if mention.score is None else float(mention.score)
            whole = region | {"id": name, "value": region.get("value", {}) | value, "score": score}
            yield {key: part for key, part in whole.items() if key != "score" or part is not None}
        for one, other in pairwise(parts):
            yield {"type": "relation", "from_id": one, "to_id": other, "direction": "right", "labels": [FRAGMENT]}
        place = {"start": int(mention.spans[0].start), "end": int(mention.spans[0].end)}
        for control, text in held(mention)[0].items() if mention.attributes else ():
            if (before := valued.get((first, control))) is not None and before[0] == mention.attributes[control]:
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
