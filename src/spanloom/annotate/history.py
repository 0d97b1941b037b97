"""Who did what, and when: the actions of a store as rows to read, one for each value that an action set.

The order is that of the actions' numbers. Times are of the clock of the machine, which may have been wrong.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from spanloom.document import Document
from spanloom.document.annotators import annotator_of
from spanloom.errors import DataError, clip
from spanloom.files.output import Sink
from spanloom.formats import to_record
from spanloom.formats.csv_rows import guarded
from spanloom.formats.store import State, Store, base_of, digest
from spanloom.text import prepare

_COLUMNS: Final = ("number", "time", "author", "layer", "document", "kind", "key", "what", "type", "spans", "text")
_LONGEST: Final = 200  # characters of a surface
_REST: Final = ("score", "concept_scores", "attribute_scores", "head", "id")  # of a mention, not listed in words


class Event(NamedTuple):
    """A value that an action set.

    Args:
        number: of the action; later ones are larger.
        time: of the clock, in UTC.
        author: who did it.
        layer: of annotation.
        document: its identifier.
        kind: of the action, such as ``add`` or ``undo``.
        key: of the value, as in `spanloom.formats.store`.
        before: the value before; ``None`` if there was none.
        after: the value after.
        text: the words of the mention or sentence; empty for the document.
    """

    number: int
    time: str
    author: str
    layer: str
    document: str
    kind: str
    key: str
    before: Any
    after: Any
    text: str

    def record(self) -> dict[str, Any]:
        """Return the event as a JSON object, with what happened in words."""
        return {**self._asdict(), "what": what(self)}


def events(store: Store, number: int | None = None, layer: str | None = None) -> Iterator[Event]:
    """Yield what was done, the first first.

    Args:
        store: of the actions.
        number: of a document; all when ``None``.
        layer: of annotation; all when ``None``.
    """
    texts: dict[int, tuple[str, str]] = {}
    states: dict[tuple[int, str], State] = {}
    for action in store.actions(number, layer):
        place = action.document, action.layer
        if place not in states:
            record = store.record(action.document)
            texts[action.document] = record["text"], record.get("id", "")
            states[place] = State(base_of(record, action.layer))
        state, (text, name) = states[place], texts[action.document]
        changes = state.apply(action.number, action.kind, action.changes)
        kept = state.undone if action.kind == "undo" else state.done
        old = kept[-1] if changes and action.kind != "import" else {}
        for key, after in changes.items():
            before = old.get(key)
            if before != after:
                words = _words(text, key, after or before)
                row = (action.number, action.time, action.author, action.layer, name, action.kind, key)
                yield Event(*row, before, after, words)


def _words(text: str, key: str, value: Any) -> str:
    if key[0] == "d":
        return ""
    spans = value["spans"] if key[0] in "mr" else [[int(place) for place in key[2:].split("-")]]
    found = " … ".join(text[start:end] for start, end in spans)
    return found if len(found) <= _LONGEST else found[: _LONGEST - 1] + "…"


def what(event: Event) -> str:
    """Return in words what happened to a value.

    >>> row = (1, "", "ann", "ann", "a", "change", "m:1")
    >>> what(Event(*row, {"type": "a", "spans": [[0, 4]]}, {"type": "b", "spans": [[0, 9]], "note": "?"}, "pain"))
    'type a → b; characters 0–4 → 0–9; note: ?'
    """
    before, after = event.before, event.after
    if event.key[0] in "sd":
        name = "sentence" if event.key[0] == "s" else "document"
        return f"{name} {after}" if after else f"{name} no longer {before}"
    if event.key[0] == "r":
        return f"rejected as {after['type']}" if after else f"rejection as {before['type']} withdrawn"
    if after is None:
        return f"removed {before['type']}"
    if before is None:
        sure = f" at {100 * after['score']:.0f} %" if event.kind == "accept" and "score" in after else ""
        return "; ".join([f"marked {after['type']}{sure}", *_differences({}, after)])
    return "; ".join(_differences(before, after)) or "probabilities"


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if before and before["type"] != after["type"]:
        yield f"type {before['type']} → {after['type']}"
    if before and before["spans"] != after["spans"]:
        yield f"characters {_ranges(before['spans'])} → {_ranges(after['spans'])}"
    for name in sorted((before.keys() | after.keys()) - {"type", "spans", *_REST}):
        old, new = before.get(name) or {}, after.get(name) or {}
        if name == "attributes":
            shown = {True: "yes", False: "no", None: "none"}
            for one in sorted(old.keys() | new.keys()):
                if old.get(one) != new.get(one):
                    yield f"{one}: {shown.get(new.get(one), new.get(one))}"
        elif old != new:
            yield f"{name}: {', '.join(new) if isinstance(new, list) else new or 'none'}"


def _ranges(spans: Any) -> str:
    return ", ".join(f"{start}–{end}" for start, end in spans)


def write_events(found: Iterable[Event], file: Sink, *, as_json: bool) -> None:
    """Write events as a JSON array, or as CSV whose cells no spreadsheet takes for a formula."""
    if as_json:
        between = "[\n"
        for one in found:
            file.write(f"{between}{json.dumps(one.record(), ensure_ascii=False)}")
            between = ",\n"
        file.write("\n]\n" if between[0] == "," else "[]\n")
        return
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in found:
        value = one.after or one.before
        is_mention = one.key[0] in "mr"
        row = one.record() | {
            "type": value["type"] if is_mention else "",
            "spans": ";".join(f"{start}-{end}" for start, end in value["spans"]) if is_mention else one.key[2:],
        }
        writer.writerow([guarded(str(row[name])) for name in _COLUMNS])


# Documents into a store, and what has changed in them since.


def import_documents(store: Store, documents: Iterable[Document]) -> tuple[int, list[str]]:
    """Add documents to a store; those that it has already are compared with it.

    Mentions are what annotators begin with. Where documents name their annotator (``meta["annotator"]``), each document
    becomes one, without mentions, and those of each annotator are an action in the layer of the annotator's name.

    Args:
        store: open for writing.
        documents: with identifiers, or they are numbered.

    Returns:
        How many documents were added, and the identifiers of those that have changed since they were imported.

    Raises:
        DataError: two documents of one identifier, or two texts.
    """
    numbers, digests = store.numbers(), store.digests()
    known = set(numbers)
    seen: set[tuple[str, str | None]] = set()
    added, changed = 0, list[str]()
    layers: list[tuple[str, str, dict[str, object]]] = []
    texts: dict[str, str] = {}
    with store.writing():
        for count, given in enumerate(documents, 1):
            document = given if given.id else given.copy(id=f"document-{count:06}")
            annotator = annotator_of(document)
            if (document.id, annotator) in seen:
                raise DataError(f"two documents have the id {clip(document.id)}; give each an id of its own")
            seen.add((document.id, annotator))
            mentions = to_record(document).get("mentions", [])
            if annotator is not None:
                meta = {name: value for name, value in document.meta.items() if name != "annotator"}
                document = document.copy(mentions=[], meta=meta)
            if document.id in known:
                if digest(to_record(document)) != digests[document.id] and document.id not in changed:
                    changed.append(document.id)
                continue
            if texts.setdefault(document.id, document.text) != document.text:
                raise DataError(f"two texts have the id {clip(document.id)}; give each an id of its own")
            if document.id not in numbers:
                numbers[document.id] = 0
                store.add(prepare(document))
                added += 1
            if annotator is not None:
                layers.append((document.id, annotator, {f"m:#.{place}": one for place, one in enumerate(mentions)}))
    numbers = store.numbers()
    for name, layer, values in layers:
        store.append(numbers[name], layer, layer, "import", values)
    return added, changed
