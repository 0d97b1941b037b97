"""Suggestions: mentions that a model, or the other annotators, would mark, each with a probability."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from spanloom.annotate.history import differences
from spanloom.document import Document
from spanloom.errors import SpanloomError
from spanloom.formats import to_record
from spanloom.formats.store import ADJUDICATED, Store
from spanloom.modelfile import read_digest
from spanloom.models import locate
from spanloom.serve.answers import Job
from spanloom.serve.limits import Refused
from spanloom.serve.served import Served
from spanloom.serve.work import Workers

_PART: Final = 5_000  # characters after which a part of a document ends with the sentence


def sentences_of(document: Document) -> list[list[int]]:
    """Return the first and the end character of each sentence, of a prepared document."""
    if document.tokens is None or document.sentences is None:
        return []
    tokens = document.tokens.tolist()
    return [[tokens[first][0], tokens[end - 1][1]] for first, end in document.sentences.tolist() if first < end]


def parts_of(document: Document) -> list[tuple[int, int]]:
    """Return parts of a document as ranges of sentences; a model is asked about one at a time."""
    found, first, start = [], 0, 0
    sentences = sentences_of(document)
    for number, (_, end) in enumerate(sentences, 1):
        if end - start >= _PART or number == len(sentences):
            found.append((first, number))
            first, start = number, end
    return found


def _part(document: Document, first: int, end: int) -> tuple[Document, int]:
    """Return some sentences of a document as a document, and the character where they begin."""
    assert document.tokens is not None and document.sentences is not None
    low, high = int(document.sentences[first, 0]), int(document.sentences[end - 1, 1])
    tokens = document.tokens[low:high]
    start, stop = int(tokens[0, 0]), int(tokens[-1, 1])
    columns = {name: values[low:high] for name, values in document.columns.items()}
    sentences = document.sentences[first:end] - low
    return Document(document.text[start:stop], document.id, tokens - start, sentences, columns), start


class Suggestions:
    """Suggestions of a model, kept in the store.

    Args:
        store: open for writing.
        served: the model; ``None`` until one is learned.
        workers: processes that ask it.
    """

    def __init__(self, store: Store, served: Served | None, workers: Workers) -> None:
        self._store, self._workers = store, workers
        self._name, self._model, self._others = "", "", False
        if served is not None:
            self._name, self._others = served.name, served.considers
            self._model = read_digest(locate(served.folder))

    @property
    def ready(self) -> bool:
        """True if there is a model."""
        return bool(self._name)

    async def replace(self, folder: str) -> str:
        """Ask another model from now on, a recognizer; return why that cannot be, empty if it can."""
        try:
            digest = read_digest(folder)
            name = f"learned-{digest[:12]}"
            self._workers.load(name, folder)
            await self._send(Job("predict", name), {"text": "No."}, _never)
        except (SpanloomError, Refused, OSError) as error:
            return str(error)
        self._name, self._model, self._others = name, digest, True
        return ""

    async def of_part(
        self, number: int, document: Document, part: int, values: Mapping[str, Any],
        gone: Callable[[], Awaitable[None]],
    ) -> dict[str, Any]:  # fmt: skip
        """Return the suggestions for a part of a document, by probability, and why they disregard what was marked.

        Args:
            number: of the document.
            document: prepared.
            part: its number.
            values: of the document in a layer: suggestions take into account what is marked and rejected.
            gone: ends when the client hangs up.
        """
        piece, start = _part(document, *parts_of(document)[part])
        end = start + len(piece.text)
        own: dict[str, list[dict[str, Any]]] = {"m": [], "r": []}
        for key, value in values.items():
            if key[0] in own and start <= value["spans"][0][0] and value["spans"][-1][1] <= end:
                own[key[0]].append(_moved({"type": value["type"], "spans": value["spans"]}, -start))
        if own["m"] or own["r"]:
            body = {"document": {**to_record(piece), "mentions": own["m"]}, "rejected": own["r"]}
            found: dict[str, Any] = await self._send(Job("suggest", self._name), body, gone)
            return {**found, "mentions": [_moved(mention, start) for mention in found["mentions"]]}
        # where nothing is marked, they are kept in the store
        place = number, part, self._model  # that of the name which is asked, also if it is replaced meanwhile
        row = self._store.connection.execute(
            "SELECT mentions FROM suggestions WHERE document = ? AND part = ? AND model = ?", place
        ).fetchone()
        if row is not None:
            return {"mentions": json.loads(row[0]), "problem": ""}
        record = await self._send(Job("predict", self._name, others=self._others), to_record(piece), gone)
        considered = record.get("meta", {}).get("others", [])
        mentions = [_moved(mention, start) for mention in [*record["mentions"], *considered]]
        mentions.sort(key=lambda one: -one.get("score", 1))
        with self._store.writing(durable=False):
            old = "DELETE FROM suggestions WHERE document = ? AND part = ? AND model <> ?"
            self._store.connection.execute(old, place)
            new = (*place, json.dumps(mentions))
            self._store.connection.execute("INSERT OR REPLACE INTO suggestions VALUES (?, ?, ?, ?)", new)
        return {"mentions": mentions, "problem": ""}

    async def explain(self, document: Document, mention: dict[str, Any], gone: Callable[[], Awaitable[None]]) -> Any:
        """Return why the model suggests a mention, or does not.

        Raises:
            Refused: the model has no answer.
        """
        sentences, spans = sentences_of(document), mention["spans"]
        inside = [n for n, (start, end) in enumerate(sentences) if start < spans[-1][1] and spans[0][0] < end]
        ranges = [pair for pair in parts_of(document) if inside and pair[0] <= inside[0] and inside[-1] < pair[1]]
        if not ranges:
            raise Refused(422, "the mention lies in two sentences, which a model reads one by one")
        part, start = _part(document, *ranges[0])
        moved = _moved({"type": mention["type"], "spans": spans}, -start)
        return await self._send(Job("explain", self._name), {"document": to_record(part), "mention": moved}, gone)

    async def _send(self, job: Job, body: Any, gone: Callable[[], Awaitable[None]]) -> Any:
        async with self._workers.ticket():
            answer = await self._workers.run(job, json.dumps(body).encode(), gone)
        value = json.loads(answer.body)
        if answer.status != 200:
            raise Refused(answer.status, value["error"])
        return value


async def _never() -> None:
    """Wait for ever, as for a client that stays."""
    await asyncio.Event().wait()


def _moved(mention: dict[str, Any], by: int) -> dict[str, Any]:
    moved = {**mention, "spans": [[start + by, end + by] for start, end in mention["spans"]]}
    moved.pop("text", None)
    if mention.get("head"):
        moved["head"] = [place + by for place in mention["head"]]
    return moved


def of_annotators(store: Store, number: int) -> list[dict[str, Any]]:
    """Return the mentions of all annotators of a document.

    Each has the share and names of those who marked it (``by``) or did not (``without``), the attributes and concepts
    that most of them gave, and what they disagree on (``disputed``): a name, and the value that each one gave.
    """
    layers = [layer for layer in store.layers(number) if layer != ADJUDICATED]
    by_key: dict[tuple[str, str], dict[str, dict[str, Any]]] = defaultdict(dict)
    for layer in layers:
        for key, value in store.state(number, layer).values.items():
            if key[0] == "m":
                by_key[value["type"], str(value["spans"])][layer] = value
    found = []
    for votes in by_key.values():
        given = [str((value.get("attributes"), value.get("concepts"))) for value in votes.values()]
        usual = [*votes.values()][given.index(Counter(given).most_common(1)[0][0])]
        kept = {name: part for name, part in usual.items() if name not in ("id", "score")}
        without = [layer for layer in layers if layer not in votes]
        row = {"score": len(votes) / len(layers), "by": [*votes], "without": without, "disputed": _disputed(votes)}
        found.append({**kept, **row})
    return sorted(found, key=lambda one: (-one["score"], one["spans"]))


def _disputed(votes: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, dict[str, str]]]:
    facts = {layer: dict(one.partition(": ")[::2] for one in differences({}, value)) for layer, value in votes.items()}
    names = sorted({name for own in facts.values() for name in own})
    rows = [(name, {layer: own.get(name, "none") for layer, own in facts.items()}) for name in names]
    return [(name, row) for name, row in rows if len({*row.values()}) > 1]
