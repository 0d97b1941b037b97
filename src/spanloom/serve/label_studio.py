"""The protocol of Label Studio's ML backends: a model suggests regions for the tasks of a project.

The labelling setup of a project, XML, declares which control marks which text with which labels. A mention becomes a
region of the control that has its type as a label; types without a label are left out, as are attributes and concepts
without a control (`Choices`, and a `TextArea` called ``concept``). The spans of one mention are regions that a relation
``fragment`` joins, as `spanloom.formats.label_studio` writes and reads them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from xml.parsers.expat import ExpatError, ParserCreate, errors

from spanloom.document import Document
from spanloom.errors import DataError, clip, one_line
from spanloom.formats.label_regions import CONCEPT, Task, text_of
from spanloom.formats.label_studio import new_results
from spanloom.serve.answers import NO_TRAINING, encode, parse, ready
from spanloom.serve.limits import Limits, Refused
from spanloom.serve.served import Served

_TEXTS: Final = {"Labels": ("Text",), "HyperTextLabels": ("HyperText", "Text"), "ParagraphLabels": ("Paragraphs",)}
_DEEPEST: Final = 100  # elements within elements


@dataclass
class _Control:
    """An element of the labelling setup with a name, and what it offers."""

    kind: str
    given: Mapping[str, str]
    values: list[str] = field(default_factory=list)


def setup(served: Served, raw: bytes) -> bytes:
    """Return the version of the model, if the project that asks has labels for it, or no setup yet.

    Raises:
        Refused: the labelling setup cannot be read, or has none of the model's types as a label.
    """
    body = _object(parse(raw))
    config = body.get("schema", body.get("label_config", ""))
    if config and any(one.kind in _TEXTS for one in _controls(config)):
        _Regions(served, config)
    return encode({"model_version": served.version})


def webhook(raw: bytes) -> bytes:
    """Acknowledge what has happened in a project; nothing is kept of it.

    Raises:
        Refused: training is asked for.
    """
    action = _object(parse(raw)).get("action")
    if not isinstance(action, str):
        raise Refused(422, f"action is {clip(str(action))}, expected the name of an event")
    if action == "START_TRAINING":
        raise Refused(422, NO_TRAINING)
    return encode({"status": "ok", "result": "events change nothing here"})


def predict(served: Served, raw: bytes, limits: Limits) -> bytes:
    """Return a prediction for each task.

    Raises:
        Refused: the body has no tasks, or no labelling setup with a type of the model; or a task has no text.
    """
    body = _object(parse(raw))
    tasks = body.get("tasks")
    if not isinstance(tasks, list):
        raise Refused(422, f"tasks is {clip(str(tasks))}, expected a list of tasks")
    if len(tasks) > limits.documents:
        raise Refused(413, f"the batch has {len(tasks):,} tasks, at most {limits.documents:,} are taken; split it")
    regions = _Regions(served, body.get("label_config", ""))
    shown = [regions.text(task, f"tasks[{number}]") for number, task in enumerate(tasks)]
    documents = ready([Document(one.text, str(number)) for number, one in enumerate(shown)], limits)
    found = list(map(regions.prediction, served.stream(documents), shown))
    return encode({"results": found, "model_version": served.version})


class _Regions:
    """How a project has regions: the text that is marked, and the controls.

    Args:
        served: the model.
        config: the labelling setup.

    Raises:
        Refused: the setup is invalid, or marks no text with a type of the model.
    """

    def __init__(self, served: Served, config: object) -> None:
        self._served = served
        controls = _controls(config)
        texts = {one.given.get("name", ""): one for one in controls if one.kind in ("Text", "HyperText", "Paragraphs")}
        by_text: dict[str, dict[str, tuple[_Control, str]]] = defaultdict(dict)
        offered: dict[str, None] = {}
        for one in controls:
            place = one.given.get("toName", "")
            if place in texts and texts[place].kind in _TEXTS.get(one.kind, ()):
                offered |= dict.fromkeys(one.values)
                exact, folded = set(one.values), {value.casefold(): value for value in one.values}
                for type_ in served.model.types_:
                    label = type_ if type_ in exact else folded.get(type_.casefold())
                    if label is not None:
                        by_text[place].setdefault(type_, (one, label))
        if not by_text:
            has = f"the labels {clip(', '.join(offered))}" if offered else "no labels of a text"
            types = clip(", ".join(served.model.types_))
            raise Refused(422, f"the labelling setup has {has}; the model finds {types}: add labels of these names")
        self._name = max(by_text, key=lambda place: len(by_text[place]))
        self._labels, text = by_text[self._name], texts[self._name]
        self._field = text.given.get("value", "").removeprefix("$")
        self._html = text.kind == "HyperText"
        if text.given.get("valueType", "text") != "text":
            raise Refused(422, "the texts of the project are addresses, which are not fetched; set valueType to text")
        beside = [one for one in controls if one.given.get("toName") == self._name]
        self._choices = {one.given.get("name", ""): {*one.values} for one in beside if one.kind == "Choices"}
        self._concepts = any(one.kind == "TextArea" and one.given.get("name") == CONCEPT for one in beside)

    def text(self, task: object, place: str) -> Task:
        """Return the text of a task.

        Raises:
            Refused: it has none.
        """
        data = task.get("data") if isinstance(task, dict) else None
        if not isinstance(data, dict):
            raise Refused(422, f"{place} is no task, expected an object with an object 'data'")
        found = text_of(data.get(self._field), self._html, unmarked=True)
        if found is None:
            value = clip(str(data.get(self._field)))
            raise Refused(422, f"{place}: data.{clip(self._field)} is {value}, expected the text")
        return found

    def prediction(self, document: Document, shown: Task) -> dict[str, Any]:
        """Return the prediction that a document with mentions is; the least sure mention is its score."""
        mentions = [one for one in document.mentions if one.type in self._labels]
        scores = [float(one.score) for one in mentions if one.score is not None]
        found: dict[str, Any] = {"result": [], "model_version": self._served.version}
        for result in new_results(document.copy(mentions=mentions), shown):
            found["result"] += self._of_project(result)
        return found | ({"score": min(scores)} if scores else {})

    def _of_project(self, result: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield a result with the names of the project's controls, if it has one for it."""
        kind, value = result["type"], result.get("value", {})
        if kind == "relation":
            yield result
        elif kind == "choices":
            if self._choices.get(result["from_name"], set()).issuperset(value["choices"]):
                yield result | {"to_name": self._name}
        elif kind == "textarea":
            if self._concepts:
                yield result | {"to_name": self._name}
        else:
            control, label = self._labels[value[kind][0]]
            named = {name: part for name, part in value.items() if name != kind} | {control.kind.lower(): [label]}
            names = {"from_name": control.given.get("name", ""), "to_name": self._name, "type": control.kind.lower()}
            yield result | names | {"value": named}


def _object(body: object) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise Refused(422, f"the body is {clip(str(body))}, expected an object as Label Studio sends it")
    return body


def _controls(config: object) -> list[_Control]:
    """Return the elements of a labelling setup, each with the labels or choices within it.

    Expat reads neither files nor addresses; what it accepts here has no document type, and so no entities.

    Raises:
        Refused: it is no XML, or has a document type.
    """
    if not isinstance(config, str):
        raise Refused(422, f"label_config is {clip(str(config))}, expected the labelling setup as XML")
    found: list[_Control] = []
    stack: list[_Control] = []
    parser = ParserCreate()

    def refuse(*_: object) -> None:
        raise DataError("found a document type (<!DOCTYPE), which may define entities; expected none: remove it")

    def opened(tag: str, given: dict[str, str]) -> None:
        if len(stack) == _DEEPEST:
            raise DataError(f"found more than {_DEEPEST} elements within each other")
        if tag in ("Label", "Choice"):
            outer = next((one for one in reversed(stack) if one.kind not in ("Label", "Choice", "View")), None)
            if outer is not None:
                outer.values.append(given.get("alias") or given.get("value", ""))
        stack.append(_Control(tag, given))
        found.append(stack[-1])

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = opened
    parser.EndElementHandler = lambda _: stack.pop()
    try:
        parser.Parse(config.encode(), True)
    except ExpatError as error:
        reason = errors.messages.get(error.code, "unknown")
        raise Refused(422, f"the labelling setup is no XML (line {error.lineno}: {reason}); save it again") from None
    except (DataError, LookupError, ValueError) as error:
        raise Refused(422, f"the labelling setup cannot be read: {one_line(str(error))}") from None
    return found
