"""Actions of a store: what they become, who did what and when, and the agreement of annotators.

The history has a row for each value that an action set.

The order is that of the actions' numbers. Times are of the clock of the machine, which may have been wrong.
"""

from __future__ import annotations

import csv
import json
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np

from spanloom.document import Document, Mention
from spanloom.document.annotators import annotator_of
from spanloom.document.markup import shorten
from spanloom.errors import DataError, DataWarning, clip, plural
from spanloom.files.output import Sink
from spanloom.formats import to_record
from spanloom.formats.csv_rows import guarded
from spanloom.formats.store import State, Store, base_of, digest, document_of, meta_without_noted, values_of
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
                value: Any = after or before
                of_sentence = [list(map(int, key[2:].split("-")))] if key[0] == "s" else []
                spans = value["spans"] if key[0] in "mr" else of_sentence
                words = shorten(" … ".join(text[start:end] for start, end in spans), _LONGEST)
                row = (action.number, action.time, action.author, action.layer, name, action.kind, key)
                yield Event(*row, before, after, words)


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
        return "; ".join([f"marked {after['type']}{sure}", *differences({}, after)])
    return "; ".join(differences(before, after)) or "probabilities"


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield what has changed in a mention, each as a name and the new value; probabilities are left out."""
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
    added, lost, several, changed = 0, 0, 0, list[str]()
    layers: list[tuple[str, str, dict[str, Any]]] = []
    firsts: dict[str, Document] = {}
    with store.writing():
        for count, given in enumerate(documents, 1):
            document = given if given.id else given.copy(id=f"document-{count:06}")
            annotator = annotator_of(document)
            if (document.id, annotator) in seen:
                raise DataError(f"two documents have the id {clip(document.id)}; give each an id of its own")
            seen.add((document.id, annotator))
            record = to_record(document)
            if annotator is not None:
                meta = meta_without_noted(record)
                meta = {name: meta[name] for name in meta if name not in ("annotator", "annotation")}
                document = document.copy(mentions=[], meta=meta)
            if document.id in known:
                if digest(to_record(document)) != digests[document.id] and document.id not in changed:
                    changed.append(document.id)
                continue
            first = firsts.setdefault(document.id, document)
            if first.text != document.text:
                raise DataError(f"two texts have the id {clip(document.id)}; give each an id of its own")
            several += first.meta != document.meta
            if document.id not in numbers:
                numbers[document.id] = 0
                ready = prepare(document)
                store.add(ready)
                added += 1
                if annotator is None:
                    lost += _loses(to_record(ready))
            if annotator is not None:
                layers.append((document.id, annotator, record))
    numbers = store.numbers()
    for name, layer, record in layers:
        own = {"mentions": record.get("mentions", []), "meta": record.get("meta", {})}
        record = store.record(numbers[name]) | own
        store.append(numbers[name], layer, layer, "import", values_of(record, "m:#."))
        lost += _loses(record)
    if lost:
        message = (
            f"the annotation of {plural(lost, 'document')} declares what a store does not keep, expected complete, "
            "at-least, zones of whole sentences for all types, and not with types; an action leaves the rest out"
        )
        warnings.warn(message, DataWarning, stacklevel=2)
    if several:
        message = f"{plural(several, 'document')} of further annotators have other meta; that of the first one is kept"
        warnings.warn(message, DataWarning, stacklevel=2)
    return added, changed


def _loses(record: Mapping[str, Any]) -> bool:
    """Return whether an action leaves out a part of what a record declares of its annotation."""
    declared = record.get("meta", {}).get("annotation", "unknown")
    if declared in ("at-least", "unknown"):
        return False
    return bool(document_of(dict(record), State(values_of(record, "m:"), version=1)).meta["annotation"] != declared)


# Agreement of annotators on mentions that may nest, overlap and have gaps: F1, and F1 corrected for chance.
#
# Kappa and alpha count units that both annotators label, such as tokens. Mentions that overlap are no such units. Here
# the unit is the mention, and chance is where it lies:
#
# 1. A mention of annotator A and one of B *match* if they have the same type and the same spans.
# 2. Observed agreement is F = 2 M / (|A| + |B|), with M matches.
# 3. By chance each annotator would have placed each mention anywhere in its sentence, independently of all others, with
#    its shape: how many tokens each part and each gap has. A shape of w tokens has n - w + 1 places in a sentence of n.
#    Types would have been drawn from the annotator's own types, independently, too.
# 4. Two mentions in one sentence with the same shape then match with probability q / (n - w + 1), where q is the sum
#    over types of p_A(type) p_B(type); all others with probability 0. The expectation of M is the sum over all pairs,
#    exact whatever overlaps, because expectations add up.
# 5. With C = 2 E[M] / (|A| + |B|), corrected agreement is (F - C) / (1 - C): 1 for equal annotation, 0 for chance.

_Place = tuple[int, int, tuple[int, ...]]  # first token of the sentence, its length, and the shape


class Agreement(NamedTuple):
    """Agreement of two annotators on the documents that both annotated.

    Args:
        first, second: their names.
        documents: how many both annotated.
        mentions: of each.
        matches: mentions with the same type and spans.
        f1: observed agreement, 0 to 1; 1 where neither has a mention.
        chance: what chance would give.
        corrected: agreement corrected for chance, at most 1.
    """

    first: str
    second: str
    documents: int
    mentions: tuple[int, int]
    matches: int
    f1: float
    chance: float
    corrected: float


def agreement(documents: Iterable[Document]) -> list[Agreement]:
    """Return the agreement of each pair of annotators who share documents.

    Args:
        documents: once for each annotator, whose name is ``meta["annotator"]``, as a store is read.

    >>> def by(name, *mentions):
    ...     return Document("No chest pain or fever.", "a", mentions=list(mentions), meta={"annotator": name})
    >>> pain, fever = Mention("problem", [(3, 13)]), Mention("problem", [(17, 22)])
    >>> [found] = agreement([by("ann", pain, fever), by("bea", pain)])
    >>> found.matches, round(found.f1, 2), round(found.corrected, 2)
    (1, 0.67, 0.62)
    """
    by_name: dict[str, dict[str, Document]] = defaultdict(dict)
    for document in documents:
        name = document.meta.get("annotator")
        if isinstance(name, str):
            by_name[name][document.id] = prepare(document)
    found = []
    for first, second in combinations(sorted(by_name), 2):
        shared = sorted(by_name[first].keys() & by_name[second].keys())
        if shared:
            found.append(_compare(first, second, [(by_name[first][id], by_name[second][id]) for id in shared]))
    return found


def compared(store: Store, *, without: str | None = None) -> Iterator[Document]:
    """Yield the documents of a store that several layers have, once for each, except one layer."""
    for number in store.numbers().values():
        names = [layer for layer in store.layers(number) if layer != without]
        if len(names) > 1:
            record = store.record(number)
            yield from (document_of(record, store.state(number, name), name) for name in names)


def _compare(first: str, second: str, pairs: Sequence[tuple[Document, Document]]) -> Agreement:
    matches, expected = 0, 0.0
    types: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for pair in pairs:
        keys = [{mention.key for mention in document.mentions} for document in pair]
        matches += len(keys[0] & keys[1])
        for count, own in zip(types, keys, strict=True):
            count.update(type for type, _ in own)
        distinct = [(one, {mention.key: mention for mention in one.mentions}.values()) for one in pair]
        places = [Counter(place_of(one, mention) for mention in mentions) for one, mentions in distinct]
        for place, times in places[0].items():
            length, shape = place[1:]
            expected += times * places[1][place] / (length - sum(shape) + 1)
    sizes = types[0].total(), types[1].total()
    # times the probability that two types are equal, each drawn from those of an annotator
    expected *= sum(count * types[1][name] for name, count in types[0].items()) / max(1, sizes[0] * sizes[1])
    f1 = 2 * matches / sum(sizes) if any(sizes) else 1.0
    chance = 2 * expected / sum(sizes) if any(sizes) else 0.0
    corrected = (f1 - chance) / (1 - chance) if chance < 1 else float(f1 == 1)
    return Agreement(first, second, len(pairs), sizes, matches, f1, chance, corrected)


def place_of(document: Document, mention: Mention) -> _Place:
    """Return the place of a mention: first token and length of the sentences that hold it, and its shape.

    A shape is the number of tokens of each part and of each gap in turn. Tokens that a mention cuts belong to it.

    >>> text = prepare(Document("No pain. Left ventricle mildly dilated."))
    >>> place_of(text, Mention("problem", [(9, 23), (31, 38)]))
    (3, 5, (2, 1, 1))
    """
    tokens, sentences = document.tokens, document.sentences
    if tokens is None or sentences is None or not len(tokens) or not len(sentences):
        return 0, 1, (1,)
    cuts: list[int] = []
    for start, end in mention.spans:
        low = int(np.searchsorted(tokens[:, 1], start, side="right"))
        high = max(int(np.searchsorted(tokens[:, 0], end, side="left")), low + 1)
        if cuts and low <= cuts[-1]:
            cuts[-1] = max(high, cuts[-1])  # parts of one token, or that only white space separates
        else:
            cuts += [low, high]
    rows = np.flatnonzero((sentences[:, 0] < cuts[-1]) & (sentences[:, 1] > cuts[0]))
    first, end = (int(sentences[rows[0], 0]), int(sentences[rows[-1], 1])) if len(rows) else (cuts[0], cuts[-1])
    return first, end - first, tuple(np.diff(cuts).tolist())
