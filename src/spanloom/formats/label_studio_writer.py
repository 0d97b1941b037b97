"""Writing Label Studio's tasks: what a model found as predictions, with scores, what a person did as annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from spanloom.document import Document, Mention
from spanloom.errors import DataError
from spanloom.files.output import output_file
from spanloom.formats.base import TWICE, Format, Losses, count_meta, count_unwritten, unwritable, writing_as
from spanloom.formats.json_text import to_json
from spanloom.formats.label_studio import CONCEPT, FRAGMENT, MARK, chosen, scan, understand
from spanloom.formats.source import begins_with

_MODEL = "spanloom"


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write a list of tasks, which Label Studio imports.

    The mentions of a document are a prediction if one of them has a score, else an annotation. A task that was read and
    whose mentions did not change is written as it was; else its other annotations and predictions stay.

    Args:
        documents: tokens are not needed.
        path: the file, or ``-``.
        force: replace a file that is there.

    Raises:
        DataError: ``meta["label_studio"]`` is not what reading makes, or has no JSON form.
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
            count_unwritten(losses, document, "tokens", "sentences", "columns")
            count_meta(losses, document, held=("label_studio",))
        file.write("[]\n" if before == "[\n" else "\n]\n")
    return losses


def _task(document: Document) -> dict[str, Any]:
    kept = document.meta.get("label_studio", {"data": {}})
    data = kept.get("data") if isinstance(kept, dict) else None
    if not isinstance(data, dict):
        raise DataError("it has no data")
    task: dict[str, Any] = kept | {"data": data | {"text": document.text}}
    if document.id and document.id != str(data.get("id", kept.get("id"))):
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
    """The regions of each mention, with what else the old region of the same id says, and what joins them."""
    names = _Names(document.mentions, taken)
    for mention in document.mentions:
        first = names.first(mention)
        parts = [first, *(names.new(f"{first}.{number}") for number in range(2, len(mention.spans) + 1))]
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


class _Names:
    """Names of regions, each once: those of the mentions, and new ones."""

    def __init__(self, mentions: Iterable[Mention], taken: set[str]) -> None:
        self._taken = taken | {mention.id for mention in mentions if mention.id}
        self._count = 0

    def first(self, mention: Mention) -> str:
        if mention.id:
            return mention.id
        self._count += 1
        return self.new(f"m{self._count}")

    def new(self, name: str) -> str:
        while name in self._taken:
            name += "x"
        self._taken.add(name)
        return name


LABEL_STUDIO = Format(
    "label-studio", (".json",), scan, write, claims=partial(begins_with, MARK, ".json"), gaps=True, keeps_ids=True
)
